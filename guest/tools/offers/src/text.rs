//! How names, counts and times are written. Pure.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// A name between single quotes, as it stands where it can be read as one: what would end the line, repaint it or be
/// invisible is escaped, and so is a quote inside.
pub fn quote(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push('\'');
    for c in name.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Format characters that show nothing or reorder their neighbours: soft hyphen, zero-width and bidi marks, line and
/// paragraph separator, byte order mark, tags.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
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
    let (days, rest) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // The civil calendar counted in years that begin in March, so that the leap day is the last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
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
    fn times_follow_the_civil_calendar() {
        let at = |millis| timestamp(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(at(951_782_400_001), "2000-02-29T00:00:00.001Z");
        assert_eq!(at(1_779_114_801_812), "2026-05-18T14:33:21.812Z");
        assert_eq!(at(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(timestamp(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn digests_see_where_one_text_ends() {
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_eq!(hex(&[0, 255]), "00ff");
    }
}
