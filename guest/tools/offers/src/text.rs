//! How names, counts and times are written. Pure.

use std::fmt::Write;

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

/// `1 active flow`, `12 active flows`.
pub fn count(number: usize, what: &str) -> String {
    let plural = match what.strip_suffix('y') {
        _ if number == 1 => return format!("1 {what}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{what}s"),
    };
    format!("{number} {plural}")
}
