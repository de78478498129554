//! What of a budget is written in words: its period, and the path of what it adds up.

use std::time::Duration;

/// A period as the configuration writes it, in the units that it is a whole number of: `24h` stays `24h`.
pub(super) fn period(per: Duration) -> String {
    let millis = u64::try_from(per.as_millis()).unwrap_or(u64::MAX);
    let days = [(7 * 24 * 3_600_000, "w"), (24 * 3_600_000, "d")];
    let rest = [(3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
    // Two days are two days, and one is the 24 hours that everybody writes.
    if let Some((unit, name)) = days.iter().find(|(unit, _)| millis % unit == 0 && millis > 24 * 3_600_000) {
        return format!("{}{name}", millis / unit);
    }
    let mut left = millis;
    let mut parts = Vec::new();
    for (unit, name) in rest {
        if left >= unit {
            parts.push(format!("{}{name}", left / unit));
            left %= unit;
        }
    }
    parts.join(" ")
}

/// The names on the way to an argument, written as a condition writes them: `args.amount`, or `args["the amount"]` where a
/// name is no word. None of what would be calculated.
pub(super) fn path(argument: &str) -> Option<Vec<String>> {
    let mut rest = argument.strip_prefix("args")?;
    let mut path = Vec::new();
    while !rest.is_empty() {
        let name = if let Some(quoted) = rest.strip_prefix("[\"") {
            let (name, after) = quoted.split_once("\"]")?;
            rest = after;
            (!name.is_empty() && !name.contains(['"', '\\'])).then_some(name)?
        } else {
            let plain = rest.strip_prefix('.')?;
            let end = plain.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(plain.len());
            let (name, after) = plain.split_at(end);
            rest = after;
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then_some(name)?
        };
        path.push(name.to_owned());
    }
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_added_up_is_the_path_of_an_argument_and_no_calculation() {
        for (text, names) in [
            ("args.amount", &["amount"][..]),
            ("args.a_1._b", &["a_1", "_b"]),
            ("args[\"a - b\"]", &["a - b"]),
            ("args.a[\"b.c\"].d", &["a", "b.c", "d"]),
        ] {
            assert_eq!(path(text).unwrap(), names, "{text}");
        }
        for text in [
            "args.amount - args.b",
            "args.amount-1",
            "args.a + args.b",
            "args.a b",
            "args",
            "args.",
            "amount",
            "args..a",
            "args.1a",
            "args[0]",
            "args[\"\"]",
            "args[\"a\"",
            "args[a]",
            "args.a[\"b\"]c",
            "argsa",
            "size(args.a)",
            "",
            "args['a']",
        ] {
            assert_eq!(path(text), None, "{text}");
        }
    }

    #[test]
    fn a_period_is_shown_as_the_configuration_takes_it() {
        for (seconds, shown) in [
            (1, "1s"),
            (90, "1m 30s"),
            (3_600, "1h"),
            (86_400, "24h"),
            (90_000, "25h"),
            (172_800, "2d"),
            (604_800, "1w"),
            (86_400 * 10, "10d"),
            (86_400 * 365, "365d"),
            (86_400 + 5_400, "25h 30m"),
        ] {
            assert_eq!(period(Duration::from_secs(seconds)), shown);
        }
        assert_eq!(period(Duration::from_millis(1_500)), "1s 500ms");
    }
}
