//! How names, counts and times are written. Pure.

use crate::shown::{between, civil, hidden};
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// A name between single quotes, as it stands where it can be read as one.
pub fn quote(name: &str) -> String {
    between('\'', name, hidden)
}

/// `1 active flow`, `12 active flows`, `2 sequence entries`.
pub fn count(number: u64, what: &str) -> String {
    match what.strip_suffix('y') {
        _ if number == 1 => format!("1 {what}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {what}s"),
    }
}

/// RFC 3339 in UTC, with milliseconds. A clock before 1970 counts as 1970.
pub fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.{:03}Z", civil(since.as_secs()), since.subsec_millis())
}

/// SHA-256 over texts, each with its length before it.
pub fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_name_stays_one_name_whatever_is_in_it() {
        assert_eq!(quote("Sweepstakes FR Gold"), "'Sweepstakes FR Gold'");
        assert_eq!(quote("L'été \"chaud\" 日本 😀"), r#"'L\'été "chaud" 日本 😀'"#);
        assert_eq!(
            quote("a\nb\tc\\\u{1b}[2J\u{202e}\u{200b}\u{e0041}"),
            r"'a\nb\tc\\\u001b[2J\u202e\u200b\udb40\udc41'"
        );
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        let counts = [count(1, "active flow"), count(12, "active flow"), count(0, "entry"), count(1, "entry")];
        assert_eq!(counts, ["1 active flow", "12 active flows", "0 entries", "1 entry"]);
    }

    #[test]
    fn a_time_is_in_milliseconds_from_1970_on() {
        let at = |millis| timestamp(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(at(1_779_114_801_812), "2026-05-18T14:33:21.812Z");
        assert_eq!(timestamp(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn digests_see_where_one_text_ends() {
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
    }
}
