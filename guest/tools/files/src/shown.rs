//! How anything that a person reads is written so that nothing in it hides, ends the line or repaints it. The same in all of
//! our plug-ins, which share this file. Pure.

use std::fmt::Write;

/// A name between two of these marks, as it stands; escaped are the mark itself, what would end the line, and what is to be
/// spelt out: what is [`hidden`] at least.
pub fn between(mark: char, name: &str, spelt: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push(mark);
    for c in name.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == mark => out.extend(['\\', c]),
            c if spelt(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push(mark);
    out
}

/// Whether a person would not see this character, or would see something else moved by it: C0, C1, and what Unicode lists
/// as format characters, default-ignorable code points and line separators. The host's own list.
pub fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xAD | 0x34F | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x890..=0x891 | 0x8E2
            | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800
            | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
            | 0x110BD | 0x110CD | 0x13430..=0x1343F | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
            | 0xE0000..=0xE0FFF)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The civil date and time of day in UTC, as in RFC 3339, of so many seconds since 1970: `2026-01-31T12:00:00`.
pub fn civil(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Counted in years that begin in March, so that the leap day is the last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", rest / 3_600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_so_that_nothing_in_them_is_hidden() {
        let quote = |name| between('"', name, hidden);
        assert_eq!(quote("notes/a.txt"), r#""notes/a.txt""#);
        assert_eq!(quote("a\"b\\c\nd\te\rf'g"), r#""a\"b\\c\nd\te\rf'g""#);
        assert_eq!(quote("\u{1b}[2J\u{7f}\u{9b}"), r#""\u001b[2J\u007f\u009b""#);
        assert_eq!(quote("a\u{202e}txt.exe\u{200b}\u{e0041}"), r#""a\u202etxt.exe\u200b\udb40\udc41""#);
        assert_eq!(quote("\u{34f}\u{61c}\u{3164}\u{fe0e}\u{fff0}"), r#""\u034f\u061c\u3164\ufe0e\ufff0""#);
        assert_eq!(quote("café 日本 😀"), "\"café 日本 😀\"");
        assert_eq!(between('\'', "L'été \"chaud\"", hidden), r#"'L\'été "chaud"'"#);
    }

    #[test]
    fn times_follow_the_civil_calendar() {
        assert_eq!(civil(0), "1970-01-01T00:00:00");
        assert_eq!(civil(951_782_399), "2000-02-28T23:59:59");
        assert_eq!(civil(951_782_400), "2000-02-29T00:00:00");
        assert_eq!(civil(1_798_761_599), "2026-12-31T23:59:59");
        assert_eq!(civil(4_107_542_400), "2100-03-01T00:00:00");
    }
}
