//! How sizes, counts, times, names and bytes are written. Pure.

use crate::shown::{between, civil};
use std::time::{SystemTime, UNIX_EPOCH};

/// A name between double quotes, escaped as in JSON, and whatever is hidden in it as well.
pub fn quote(name: &str) -> String {
    between('"', name)
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
