//! Long texts of others by their two ends, with their length and digest between: nobody can push what matters out of sight.

use crate::digest::sha256;
use std::borrow::Cow;

/// Bytes that are shown of the beginning and of the end.
const HEAD: usize = 3_000;
const TAIL: usize = 800;

/// A text of no more than `limit` bytes as it is; of a longer one both ends. The limit is larger than the two together.
pub(crate) fn ends(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(TAIL))..).unwrap_or_default();
    Cow::Owned(format!("{head} … ({} bytes in all, SHA-256 {}) … {tail}", text.len(), sha256(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_both_ends_its_length_and_its_digest_are_shown() {
        assert_eq!(ends("short", 4096), "short");
        let long = format!("begin {}é end", "é".repeat(10_000));
        let shown = ends(&long, 4096);
        assert!(shown.len() <= 4096 && shown.starts_with("begin ") && shown.ends_with(" end"), "{shown}");
        let between = format!(" … ({} bytes in all, SHA-256 {}) … ", long.len(), sha256(long.as_bytes()));
        assert!(shown.contains(&between), "{shown}");
    }
}
