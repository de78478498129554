//! How sizes, counts, times, names and bytes are written. Pure.

use crate::shown::{between, civil, hidden};
use std::time::{SystemTime, UNIX_EPOCH};

/// A name between double quotes, escaped as in JSON, and whatever is hidden in it as well, or drawn as another character is:
/// of two names that a person cannot tell apart at least one is spelt out.
pub fn quote(name: &str) -> String {
    between('"', name, |c| hidden(c) || another(c))
}

/// Whether there is another character, or a single one for this and the one before it, that is drawn the same: spaces, and what
/// normalization (NFC) replaces or puts together in Latin, Greek, Cyrillic, Arabic, kana and Hangul. Marks that a script
/// cannot be written without are left.
fn another(c: char) -> bool {
    matches!(u32::from(c),
        // Spaces.
        0xA0 | 0x1680 | 0x2000..=0x200A | 0x202F | 0x205F | 0x3000
        // Marks that are put onto the letter before.
        | 0x300..=0x36F | 0x653..=0x655 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0x3099..=0x309A
        | 0xFE20..=0xFE2F
        // Parts of a Hangul syllable.
        | 0x1100..=0x11FF | 0xA960..=0xA97F | 0xD7B0..=0xD7FF
        // Second forms of one character: signs of units, Greek, angle brackets, ideographs.
        | 0x374 | 0x37E | 0x387 | 0x1F71 | 0x1F73 | 0x1F75 | 0x1F77 | 0x1F79 | 0x1F7B | 0x1F7D | 0x1FBB | 0x1FBE | 0x1FC9
        | 0x1FCB | 0x1FD3 | 0x1FDB | 0x1FE3 | 0x1FEB | 0x1FEE..=0x1FEF | 0x1FF9 | 0x1FFB | 0x1FFD | 0x2126 | 0x212A..=0x212B
        | 0x2329..=0x232A | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
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
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}Z", civil(since.as_secs())))
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
    fn names_that_look_alike_read_differently() {
        let alike = [
            ["\u{e9}", "e\u{301}", r#""e\u0301""#],
            ["a b", "a\u{a0}b", r#""a\u00a0b""#],
            [" ", "\u{3000}", r#""\u3000""#],
            ["\u{c5}", "\u{212b}", r#""\u212b""#],
            ["\u{ac00}", "\u{1100}\u{1161}", r#""\u1100\u1161""#],
            ["\u{304c}", "\u{304b}\u{3099}", "\"\u{304b}\\u3099\""],
            ["\u{3ac}", "\u{1f71}", r#""\u1f71""#],
        ];
        for [usual, other, spelt] in alike {
            assert_eq!(quote(other), spelt);
            assert_eq!(quote(usual), format!("\"{usual}\""));
        }
        assert_eq!(quote("हिन्दी ไทย"), "\"हिन्दी ไทย\"");
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
    fn a_time_is_in_whole_seconds_from_1970_on() {
        let at = UNIX_EPOCH + Duration::from_millis(951_782_399_999);
        assert_eq!(timestamp(at).as_deref(), Some("2000-02-28T23:59:59Z"));
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
