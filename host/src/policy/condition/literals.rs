//! Numbers as a condition writes them: the tree has only the double that a fraction was read as, so one that a double does not
//! hold is found in the text.

use crate::schema;

/// The first number with a fraction or an exponent that no double holds, in a condition that can be read.
pub(super) fn rounded(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let word = |from: usize| {
            let rest = bytes.get(from..).unwrap_or_default();
            from + rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
        };
        at = match byte {
            b'0'..=b'9' | b'.' if bytes.get(at..).is_some_and(|rest| rest.iter().any(u8::is_ascii_digit)) => {
                let end = number(bytes, at);
                let written = text.get(at..end).unwrap_or_default();
                let fraction = written.contains(['.', 'e', 'E']) && !written.starts_with("0x") && written != ".";
                let whole = if written.starts_with('.') { format!("0{written}") } else { written.to_owned() };
                if fraction && !schema::is_faithful(&whole) {
                    return Some(written);
                }
                end
            }
            b'"' | b'\'' => string(bytes, at, false),
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                bytes.get(at..)?.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |line| at + line)
            }
            byte if byte.is_ascii_alphabetic() || *byte == b'_' => {
                let end = word(at);
                match bytes.get(end) {
                    Some(b'"' | b'\'') => {
                        let raw = bytes.get(at..end)?.iter().any(|byte| matches!(byte, b'r' | b'R'));
                        string(bytes, end, raw)
                    }
                    _ => end,
                }
            }
            _ => at + 1,
        };
    }
    None
}

/// The end of what is a number, or a point before a name.
fn number(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    if bytes.get(at) == Some(&b'.') && !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        return at + 1;
    }
    while let Some(byte) = bytes.get(at) {
        let sign = matches!(byte, b'+' | b'-') && matches!(bytes.get(at.wrapping_sub(1)), Some(b'e' | b'E'));
        if !(byte.is_ascii_alphanumeric() || *byte == b'.' || (sign && at > start)) {
            break;
        }
        at += 1;
    }
    at
}

/// The end of a string that begins here, with one quotation mark or three.
fn string(bytes: &[u8], start: usize, raw: bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let Some(mark) = rest.first() else { return start + 1 };
    let marks = if rest.get(..3).is_some_and(|three| three.iter().all(|byte| byte == mark)) { 3 } else { 1 };
    let mut at = start + marks;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'\\' && !raw {
            at += 2;
        } else if bytes.get(at..at + marks).is_some_and(|end| end.iter().all(|byte| byte == mark)) {
            return at + marks;
        } else {
            at += 1;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_double_holds_is_found_and_nothing_else_is() {
        for (text, found) in [
            ("args.a > 0.30000000000000001", Some("0.30000000000000001")),
            ("args.a>9007199254740993.0", Some("9007199254740993.0")),
            ("args.a > .30000000000000001", Some(".30000000000000001")),
            ("args.a > 1.00000000000000000001e+5 ", Some("1.00000000000000000001e+5")),
            ("args.l[0].x == 'a' || args.a == -123456789.12345678901", Some("123456789.12345678901")),
            (r#""\"" == args.a && 0.30000000000000001 < 1"#, Some("0.30000000000000001")),
            (r#"r"\" == args.a && 0.30000000000000001 < 1"#, Some("0.30000000000000001")),
            ("args.a > 0.1 && args.a1.b2 < 1e300 && args.l[0] >= .5", None),
            ("args.a > 9007199254740993 && args.a < 0xffffffff", None),
            ("args.a == \"0.30000000000000001\"", None),
            ("args.a == '''it's 0.30000000000000001'''", None),
            ("args.a == 1 // 0.30000000000000001", None),
            ("args.a == b'0.30000000000000001'", None),
            ("'é' == args.é0", None),
        ] {
            assert_eq!(rounded(text), found, "{text}");
        }
    }
}
