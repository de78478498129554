//! From a paragraph to lines that fit: at the places that Unicode's line breaking (UAX #14) allows, and within a word only
//! where the word alone is too long. Every byte of the paragraph is in exactly one line. Pure.

use std::ops::Range;
use unicode_linebreak::linebreaks;

/// One line: its bytes in the paragraph, spaces at its end included, and how wide it is without those.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub range: Range<usize>,
    pub width: f64,
    /// Spaces within it, which a justified line widens.
    pub gaps: usize,
}

/// `advance` is in the unit of `limit`. An empty paragraph is one empty line. A character that is wider than the limit is a
/// line by itself, which is wider too: whoever draws it looks.
pub fn wrap(paragraph: &str, limit: f64, advance: impl Fn(char) -> f64) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = Open::at(0);
    let mut start = 0;
    for (end, _) in linebreaks(paragraph) {
        let Some(word) = paragraph.get(start..end) else { continue };
        let seen: f64 = word.trim_end_matches(' ').chars().map(&advance).sum();
        if line.end > line.start && line.full + seen > limit {
            lines.push(line.close());
            line = Open::at(start);
        }
        // A word that no line holds is broken where the line is full.
        let fits = line.full + seen <= limit;
        for (at, c) in word.char_indices() {
            let wide = advance(c);
            if !fits && c != ' ' && line.end > line.start && line.full + wide > limit {
                lines.push(line.close());
                line = Open::at(start + at);
            }
            line.add(c, wide);
        }
        start = end;
    }
    lines.push(line.close());
    lines
}

/// A line that is being filled.
struct Open {
    start: usize,
    end: usize,
    /// With the spaces at its end, and without.
    full: f64,
    seen: f64,
    /// Spaces so far, and those of them that something follows.
    spaces: usize,
    gaps: usize,
}

impl Open {
    fn at(start: usize) -> Self {
        Self { start, end: start, full: 0.0, seen: 0.0, spaces: 0, gaps: 0 }
    }

    fn add(&mut self, c: char, wide: f64) {
        self.end += c.len_utf8();
        self.full += wide;
        if c == ' ' {
            self.spaces += 1;
        } else {
            self.seen = self.full;
            self.gaps = self.spaces;
        }
    }

    fn close(self) -> Line {
        Line { range: self.start..self.end, width: self.seen, gaps: self.gaps }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// Lines of a paragraph where every character is one wide.
    #[track_caller]
    fn check(paragraph: &str, limit: f64, expected: &[&str]) {
        let lines = wrap(paragraph, limit, |_| 1.0);
        let texts: Vec<&str> = lines.iter().map(|line| &paragraph[line.range.clone()]).collect();
        assert_eq!(texts, expected);
        assert_eq!(texts.concat(), paragraph, "nothing is lost");
        for line in &lines {
            assert!(line.width <= limit, "{line:?}");
        }
    }

    #[test]
    fn lines_break_at_spaces_and_after_hyphens() {
        check("one two three", 7.0, &["one two ", "three"]);
        check("one two three", 8.0, &["one two ", "three"]);
        check("one two three", 13.0, &["one two three"]);
        check("well-known fact", 6.0, &["well-", "known ", "fact"]);
        check("", 5.0, &[""]);
        check("a  b", 1.0, &["a  ", "b"]);
    }

    #[test]
    fn a_space_that_does_not_break_does_not() {
        check("ici\u{a0}: oui", 5.0, &["ici\u{a0}: ", "oui"]);
        check("le prix : 5\u{202f}€", 10.0, &["le prix : ", "5\u{202f}€"]);
    }

    #[test]
    fn a_word_that_no_line_holds_is_broken_within() {
        check("abcdefgh", 3.0, &["abc", "def", "gh"]);
        check("x abcdefgh y", 3.0, &["x ", "abc", "def", "gh ", "y"]);
        check("éééé", 2.0, &["éé", "éé"]);
    }

    #[test]
    fn a_line_that_is_too_narrow_for_one_character_says_so_by_its_width() {
        let widths =
            |limit| wrap("iW i", limit, |c| if c == 'W' { 3.0 } else { 1.0 }).iter().map(|line| line.width).collect();
        let (narrow, wide): (Vec<f64>, Vec<f64>) = (widths(2.0), widths(3.0));
        assert_eq!((narrow, wide), (vec![1.0, 3.0, 1.0], vec![1.0, 3.0, 1.0]));
    }

    #[test]
    fn gaps_are_the_spaces_within_a_line() {
        let lines = wrap("a b c  d e", 6.0, |_| 1.0);
        assert_eq!(lines.iter().map(|line| line.gaps).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(lines[0].width, 5.0);
    }
}
