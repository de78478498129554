//! Reads one line of an audit file. A function of its bytes: opens nothing, keeps nothing, and takes whatever it is given.

use serde_json::{Map, Value};

/// Longest line that is read, and more than any that is written.
pub const MAX_LINE: usize = 64 * 1024;

/// A row as it was read. Its other fields are in `fields`.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number.
    pub seq: u64,
    /// When it was written: RFC 3339.
    pub time: String,
    /// What happened.
    pub event: String,
    /// The hash that it carries: of the line before.
    pub prev: String,
    /// Every field, these four among them.
    pub fields: Map<String, Value>,
}

impl Row {
    /// A field that is text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }

    /// A field that is a count.
    pub fn count(&self, field: &str) -> Option<u64> {
        self.fields.get(field).and_then(Value::as_u64)
    }
}

/// Reads a line without its end.
///
/// # Errors
/// What is wrong with it, in words of this function's own: nothing of the line is quoted.
pub fn read(line: &[u8]) -> Result<Row, &'static str> {
    if line.len() > MAX_LINE {
        return Err("it is longer than any row");
    }
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
    let Ok(Value::Object(fields)) = crate::json::value(text) else {
        return Err("it is not one JSON object with each key once");
    };
    let word = |field: &str| fields.get(field).and_then(Value::as_str).map(str::to_owned);
    let seq = fields.get("seq").and_then(Value::as_u64).ok_or("it has no number: `seq` is missing or none")?;
    let time = word("time").filter(|time| humantime::parse_rfc3339(time).is_ok()).ok_or("`time` is missing or none")?;
    let event = word("event").ok_or("`event` is missing or no text")?;
    let prev = word("prev").filter(|prev| is_hash(prev)).ok_or("`prev` is missing or no hash")?;
    Ok(Row { seq, time, event, prev, fields })
}

/// The hash of a line, as the next one carries it.
pub fn hash(line: &[u8]) -> String {
    crate::digest::sha256(line)
}

/// What the first row carries.
pub(super) fn no_hash() -> String {
    "0".repeat(64)
}

pub(super) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;

    #[track_caller]
    fn check(line: &[u8], expected: Result<u64, &str>) {
        match (read(line), expected) {
            (Ok(row), Ok(seq)) => assert_eq!(row.seq, seq),
            (Err(what), Err(words)) => assert!(what.contains(words), "{what}"),
            (read, expected) => panic!("{read:?}, not {expected:?}"),
        }
    }

    #[test]
    fn a_line_is_a_row_or_says_what_is_wrong_with_it() {
        let zeros = no_hash();
        let good = format!(r#"{{"seq":7,"time":"2026-05-18T14:33:20.001Z","event":"started","prev":"{zeros}"}}"#);
        check(good.as_bytes(), Ok(7));
        check(good.replace("started", "of a later version").as_bytes(), Ok(7));
        check(b"", Err("JSON object"));
        check(b"[]", Err("JSON object"));
        check(good.replace('}', "").as_bytes(), Err("JSON object"));
        check(good.replace(r#""seq":7"#, r#""seq":7,"seq":8"#).as_bytes(), Err("each key once"));
        check(good.replace(":7", ":-7").as_bytes(), Err("seq"));
        check(good.replace(":7", ":7.5").as_bytes(), Err("seq"));
        check(good.replace("2026-05", "2026-55").as_bytes(), Err("time"));
        check(good.replace(r#""started""#, "1").as_bytes(), Err("event"));
        check(good.replace(&zeros, "0").as_bytes(), Err("prev"));
        check(good.replace(&zeros, &"A".repeat(64)).as_bytes(), Err("prev"));
        check(b"{\"seq\":\xff}", Err("UTF-8"));
        check(&vec![b' '; MAX_LINE + 1], Err("longer"));
        check("[".repeat(MAX_LINE).as_bytes(), Err("JSON object"));
    }
}
