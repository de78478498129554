//! The words of the documents: lengths of time, sizes, levels, names, moments, amounts.

use toml::Value;

/// Milliseconds. Whole numbers with units, from the longest unit to the shortest, and no more than a year.
pub fn time(text: &str) -> Result<u128, String> {
    const UNITS: [(&str, u128); 18] = [
        ("weeks", 604_800_000),
        ("week", 604_800_000),
        ("w", 604_800_000),
        ("days", 86_400_000),
        ("day", 86_400_000),
        ("d", 86_400_000),
        ("hours", 3_600_000),
        ("hour", 3_600_000),
        ("h", 3_600_000),
        ("minutes", 60_000),
        ("minute", 60_000),
        ("min", 60_000),
        ("m", 60_000),
        ("seconds", 1000),
        ("second", 1000),
        ("sec", 1000),
        ("s", 1000),
        ("ms", 1),
    ];
    let wrong = || format!("{text:?} is no length of time");
    let (mut millis, mut last) = (0_u128, u128::MAX);
    let mut number = String::new();
    let mut unit = String::new();
    // A space at the end closes the last part like any other.
    for c in text.chars().chain(['\0']) {
        let closes = !unit.is_empty() && (c.is_ascii_digit() || c == ' ' || c == '\0');
        if closes {
            let (_, factor) = UNITS.into_iter().find(|(word, _)| *word == unit).ok_or_else(wrong)?;
            if factor >= last {
                return Err(wrong());
            }
            last = factor;
            millis += number.parse::<u128>().map_err(|_| wrong())?.min(1 << 64) * factor;
            number.clear();
            unit.clear();
        }
        match c {
            '0'..='9' if !number.ends_with(' ') => number.push(c),
            'a'..='z' if !number.is_empty() => {
                number = number.trim_end().to_owned();
                unit.push(c);
            }
            // Between a number and its unit, and between parts.
            ' ' if !number.is_empty() && unit.is_empty() => number.push(' '),
            ' ' if last < u128::MAX => {}
            '\0' if number.is_empty() && last < u128::MAX => {}
            _ => return Err(wrong()),
        }
    }
    match millis {
        0 => Err("a length of time that is none".into()),
        1..=31_622_400_000 => Ok(millis),
        _ => Err("longer than a year".into()),
    }
}

/// Bytes: a number with B, KiB, MiB or GiB behind it.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no size");
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("B", 0)];
    let (number, power) = units
        .into_iter()
        .find_map(|(unit, power)| Some((text.strip_suffix(unit)?.trim_end_matches(' '), power)))
        .ok_or_else(wrong)?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let bytes = number.parse::<u128>().map_err(|_| wrong())?.checked_mul(1 << power).ok_or_else(wrong)?;
    u64::try_from(bytes).map_err(|_| wrong())
}

/// 0 safe, 1 caution, 2 review, 3 approval_required.
pub fn level(value: &Value) -> Result<u128, String> {
    match value {
        Value::Integer(number @ 0..=3) => Ok(u128::try_from(*number).unwrap()),
        Value::String(text) => ["safe", "caution", "review", "approval_required"]
            .iter()
            .position(|name| name == text)
            .map(|at| at as u128)
            .ok_or_else(|| format!("{text:?} is no level")),
        other => Err(format!("{other} is no level")),
    }
}

/// 1 to 64 of a-z, A-Z, 0-9, _ and -.
pub fn name(text: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=64).contains(&text.len()) && text.chars().all(plain) { Ok(()) } else { Err(format!("{text:?} is no name")) }
}

/// Letters, digits and _, and no digit first.
pub fn variable(text: &str) -> Result<(), String> {
    let mut letters = text.chars();
    let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let plain = first && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { Ok(()) } else { Err(format!("{text:?} is no name of a variable")) }
}

/// A path as a plug-in has it: absolute and plain.
pub fn guest(text: &str) -> Result<(), String> {
    let odd = |part: &str| part.is_empty() || part == "." || part == ".." || part.contains(char::is_control);
    match text.strip_prefix('/') {
        Some("") => Ok(()),
        Some(rest) if !rest.split('/').any(odd) => Ok(()),
        _ => Err(format!("{text:?} is no path of a plug-in's")),
    }
}

/// A decimal above zero, with six digits behind the point at most, in its shortest form.
pub fn amount(value: &Value) -> Result<String, String> {
    let text = match value {
        Value::Integer(number) => number.to_string(),
        Value::String(text) => text.clone(),
        other => return Err(format!("{other} is no amount")),
    };
    let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (shortest, part_shortest) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    if !digits(whole) || !digits(part) || part_shortest.len() > 6 || shortest.len() > 13 {
        return Err(format!("{text:?} is no amount"));
    }
    let whole = if shortest.is_empty() { "0" } else { shortest };
    match (whole, part_shortest) {
        ("0", "") => Err(format!("{text:?} is nothing")),
        (whole, "") => Ok(whole.to_owned()),
        (whole, part) => Ok(format!("{whole}.{part}")),
    }
}

/// Nanoseconds since 1970 of a moment in UTC, such as 2026-01-01T00:00:00Z.
pub fn moment(text: &str) -> Result<u128, String> {
    let wrong = || format!("{text:?} is no moment");
    let plain = text.strip_suffix('Z').ok_or_else(wrong)?;
    let (plain, part) = plain.split_once('.').unwrap_or((plain, "0"));
    let shape: String = plain.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let digits = !part.is_empty() && part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit());
    // RFC 3339 has a space or a T between date and time.
    if !digits || !matches!(shape.as_str(), "0000-00-00T00:00:00" | "0000-00-00 00:00:00") {
        return Err(wrong());
    }
    let number = |range: std::ops::Range<usize>| plain[range].parse::<u64>().unwrap();
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let (hour, minute, second) = (number(11..13), number(14..16), number(17..19));
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let months = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let index = usize::try_from(month).unwrap().wrapping_sub(1);
    let length = *months.get(index).ok_or_else(wrong)?;
    if year < 1970 || !(1..=length).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return Err(wrong());
    }
    let years: u64 = (1970..year).map(|year| if leap(year) { 366 } else { 365 }).sum();
    let days = years + months[..index].iter().sum::<u64>() + day - 1;
    // A leap second counts as the one before.
    let second = second.min(59);
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Ok(u128::from(seconds) * 1_000_000_000 + format!("{part:0<9}").parse::<u128>().unwrap())
}
