//! How sizes, counts, times, names and bytes are written. Pure.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// A name between double quotes, escaped as in JSON; what would be invisible or repaint the line is escaped as well.
pub fn quote(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push('"');
    for c in name.chars() {
        match c {
            '"' => out.push_str("\\\""),
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
    out.push('"');
    out
}

/// Format characters that show nothing or reorder their neighbours: soft hyphen, zero-width and bidi marks, line and
/// paragraph separator, byte order mark, tags.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `1204` as `1,204`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 file`, `1,204 files`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

pub fn bytes(number: u64) -> String {
    count(number, "byte", "bytes")
}

/// RFC 3339 in UTC, whole seconds. `None` for a time before 1970.
pub fn timestamp(time: SystemTime) -> Option<String> {
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // The civil calendar counted in years that begin in March, so that the leap day is the last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// RFC 4648, section 4, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |value: u32| char::from(ALPHABET.get((value & 63) as usize).copied().unwrap_or(b'='));
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let value = chunk.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        out.push(letter(value >> 18));
        out.push(letter(value >> 12));
        out.push(if chunk.len() > 1 { letter(value >> 6) } else { '=' });
        out.push(if chunk.len() > 2 { letter(value) } else { '=' });
    }
    out
}

/// How many bytes this text takes inside a JSON string, quotes included.
pub fn encoded(text: &str) -> usize {
    2 + text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
            0..0x20 => 6,
            _ => 1,
        })
        .sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn names_are_quoted_so_that_nothing_in_them_is_invisible() {
        assert_eq!(quote("notes/a.txt"), r#""notes/a.txt""#);
        assert_eq!(quote("a\"b\\c\nd\te\rf"), r#""a\"b\\c\nd\te\rf""#);
        assert_eq!(quote("\u{1b}[2J\u{7f}\u{9b}"), r#""\u001b[2J\u007f\u009b""#);
        assert_eq!(quote("a\u{202e}txt.exe\u{200b}\u{e0041}"), r#""a\u202etxt.exe\u200b\udb40\udc41""#);
        assert_eq!(quote("café 日本 😀"), "\"café 日本 😀\"");
    }

    #[test]
    fn numbers_are_grouped_and_counted() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(
            (bytes(1), bytes(0), count(2, "file", "files")),
            ("1 byte".into(), "0 bytes".into(), "2 files".into())
        );
    }

    #[test]
    fn times_follow_the_civil_calendar() {
        let at = |seconds| timestamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(at(951_782_399).as_deref(), Some("2000-02-28T23:59:59Z"));
        assert_eq!(at(951_782_400).as_deref(), Some("2000-02-29T00:00:00Z"));
        assert_eq!(at(1_798_761_599).as_deref(), Some("2026-12-31T23:59:59Z"));
        assert_eq!(at(4_107_542_400).as_deref(), Some("2100-03-01T00:00:00Z"));
        assert_eq!(timestamp(UNIX_EPOCH - Duration::from_secs(1)), None);
    }

    #[test]
    fn bytes_are_written_as_rfc_4648_says() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[test]
    fn the_encoded_length_is_that_of_serde_json() {
        for text in ["", "plain", "\"\\\n\r\t\u{8}\u{c}\0\u{1f}\u{7f}é😀"] {
            assert_eq!(encoded(text), serde_json::Value::from(text).to_string().len());
        }
    }
}
