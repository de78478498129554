//! What nobody sees in a text, or what moves other characters about: by what Unicode says a character is, and not by a list
//! of what somebody has misused so far.

use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// Whether a person would not see this character, or would see something else because of it: controls, format characters,
/// separators of lines, what Unicode lets a font leave out, what is for private use, what is no character yet, and what is
/// drawn as nothing. Spaces of every width are seen as spaces.
pub(crate) fn hidden(c: char) -> bool {
    if matches!(c, ' '..='~') {
        return false;
    }
    let category = matches!(
        get_general_category(c),
        Category::Control
            | Category::Format
            | Category::LineSeparator
            | Category::ParagraphSeparator
            | Category::PrivateUse
            | Category::Surrogate
            | Category::Unassigned
    );
    category || ignorable(c) || blank(c)
}

/// Unicode's `Default_Ignorable_Code_Point`, as far as the category does not say it: fillers, joiners, variation selectors.
fn ignorable(c: char) -> bool {
    matches!(c, '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}

/// Symbols and marks that are drawn as nothing, or stand for what is not there.
fn blank(c: char) -> bool {
    matches!(c, '\u{2800}' | '\u{fffc}' | '\u{16fe4}' | '\u{1d159}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_kinds_of_characters_are_hidden() {
        for (kind, range) in [
            ("controls", '\0'..='\u{1f}'),
            ("more controls", '\u{7f}'..='\u{9f}'),
            ("signs in front of Arabic numbers", '\u{600}'..='\u{605}'),
            ("Mongolian variation selectors", '\u{180b}'..='\u{180f}'),
            ("marks and embeddings of a direction", '\u{200b}'..='\u{200f}'),
            ("separators and overrides of a direction", '\u{2028}'..='\u{202e}'),
            ("joiners, invisible operators and isolates", '\u{2060}'..='\u{206f}'),
            ("private use", '\u{e000}'..='\u{f8ff}'),
            ("variation selectors", '\u{fe00}'..='\u{fe0f}'),
            ("interlinear annotations, and what stands for an object", '\u{fff0}'..='\u{fffc}'),
            ("no characters", '\u{fdd0}'..='\u{fdef}'),
            ("format of hieroglyphs", '\u{13430}'..='\u{1343f}'),
            ("format of shorthand", '\u{1bca0}'..='\u{1bca3}'),
            ("format of music", '\u{1d173}'..='\u{1d17a}'),
            ("tags, further variation selectors and what is kept for more", '\u{e0000}'..='\u{e0fff}'),
            ("planes for private use", '\u{f0000}'..=char::MAX),
        ] {
            for c in range {
                assert!(hidden(c), "{kind}: {:x}", u32::from(c));
            }
        }
        for c in "\u{ad}\u{34f}\u{61c}\u{6dd}\u{70f}\u{8e2}\u{115f}\u{1160}\u{17b4}\u{2800}\u{3164}\u{feff}\u{ffa0}\u{110bd}\u{378}".chars() {
            assert!(hidden(c), "{:x}", u32::from(c));
        }
    }

    #[test]
    fn what_can_be_read_is_shown() {
        let text = "aZ09 ~\u{a0}éß–…€\u{3000}日本語한국어עבריתالعربيةहिन्दीไทย\u{301}🦀👍🏽𝄞\u{fffd}";
        for c in text.chars() {
            assert!(!hidden(c), "{:x}", u32::from(c));
        }
        // Most of all characters, that is: the kinds above are no letters, marks, numbers or signs.
        let shown = ('\0'..=char::MAX).filter(|c| !hidden(*c)).count();
        let readable = ('\0'..=char::MAX).filter(|c| c.is_alphanumeric() && !hidden(*c)).count();
        assert!(shown > 140_000 && readable > 130_000, "{shown} {readable}");
    }
}
