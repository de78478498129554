//! The two fonts: which character is which glyph and how wide. A character that is not drawn as itself is refused, never
//! dropped. Pure.
//!
//! Liberation Sans (SIL Open Font License, `fonts/LICENSE`) covers Latin, Greek and Cyrillic, and the signs between. Text
//! runs from left to right, and characters stand side by side without kerning: no shaper is on board.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::invalid;
use crate::shown::hidden;
use crate::text::quote;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};
use std::sync::OnceLock;

static REGULAR: &[u8] = include_bytes!("../fonts/LiberationSans-Regular.ttf");
static BOLD: &[u8] = include_bytes!("../fonts/LiberationSans-Bold.ttf");

/// From the baseline up and down, in ems: the font's own numbers.
pub const ASCENT: f64 = 0.905;
pub const DESCENT: f64 = 0.212;

/// Most characters that a refusal names.
const MAX_NAMED: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

/// A glyph and its advance in ems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glyph {
    pub id: u32,
    pub advance: f64,
}

struct Loaded {
    charmap: skrifa::charmap::Charmap<'static>,
    metrics: GlyphMetrics<'static>,
    units: f64,
}

impl Weight {
    pub fn data(self) -> &'static [u8] {
        match self {
            Self::Regular => REGULAR,
            Self::Bold => BOLD,
        }
    }

    fn loaded(self) -> Option<&'static Loaded> {
        static LOADED: [OnceLock<Option<Loaded>>; 2] = [const { OnceLock::new() }; 2];
        let [regular, bold] = &LOADED;
        let load = |data| {
            let font = FontRef::new(data).ok()?;
            let units = f64::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
            let metrics = font.glyph_metrics(Size::unscaled(), LocationRef::default());
            Some(Loaded { charmap: font.charmap(), metrics, units })
        };
        match self {
            Self::Regular => regular.get_or_init(|| load(REGULAR)).as_ref(),
            Self::Bold => bold.get_or_init(|| load(BOLD)).as_ref(),
        }
    }

    /// `None` where the font has no such glyph or it must not be drawn alone.
    pub fn glyph(self, c: char) -> Option<Glyph> {
        // Not in the font, and to be seen as a hyphen; the text keeps the character.
        let drawn = if c == '\u{2011}' { '\u{2010}' } else { c };
        if !plain(c) {
            return None;
        }
        let font = self.loaded()?;
        let id = font.charmap.map(drawn).filter(|id| id.to_u32() != 0)?;
        let advance = f64::from(font.metrics.advance_width(id)?) / font.units;
        Some(Glyph { id: id.to_u32(), advance })
    }

    /// In ems.
    pub fn advance(self, c: char) -> f64 {
        self.glyph(c).map_or(0.0, |glyph| glyph.advance)
    }
}

/// Whether it has a shape of its own from left to right: no control, no mark of direction or joining, no stand-in, nothing
/// of a script from right to left.
fn plain(c: char) -> bool {
    !right_to_left(c) && !unseen(c)
}

/// Hidden, or a stand-in for what got lost.
fn unseen(c: char) -> bool {
    hidden(c) || matches!(c, '\u{fffc}' | '\u{fffd}')
}

fn right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Refuses a text that could not be shown as it is, and names what is in the way. Line ends are no characters.
pub fn check(weight: Weight, text: &str) -> Result<(), ToolError> {
    let (mut missing, mut more) = (Vec::new(), false);
    for c in text.chars().filter(|c| *c != '\n' && weight.glyph(*c).is_none()) {
        if !missing.contains(&c) {
            more = missing.len() == MAX_NAMED;
            if more {
                break;
            }
            missing.push(c);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let name = |c: &char| format!("{} (U+{:04X})", quote(&c.to_string()), u32::from(*c));
    let names = missing.iter().map(name).collect::<Vec<_>>().join(", ");
    let why = match missing.iter().all(|c| unseen(*c)) {
        true => "nothing would be seen of them",
        false => "the font has Latin, Greek and Cyrillic letters and common signs, from left to right",
    };
    let rest = if more { " and others" } else { "" };
    Err(invalid(format!(
        "these characters cannot be set: {names}{rest}; {why}; leave them out or write them otherwise"
    )))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn letters_accents_and_signs_have_glyphs_in_both_weights() {
        for weight in [Weight::Regular, Weight::Bold] {
            for c in "AzéÉàçœŒŸ€«»’“”–—…\u{a0}\u{202f}\u{2011}ßñøłžΩλЖя№±×÷≤≥→²½•".chars()
            {
                let glyph = weight.glyph(c);
                assert!(glyph.is_some_and(|glyph| glyph.advance > 0.0), "{c:?} {weight:?} {glyph:?}");
            }
        }
        assert!(Weight::Bold.advance('i') < Weight::Bold.advance('W'));
        assert_eq!(Weight::Regular.glyph('\u{2011}'), Weight::Regular.glyph('\u{2010}'));
    }

    #[test]
    fn what_cannot_be_set_is_refused_by_name() {
        let refusal = |text| match check(Weight::Regular, text) {
            Err(ToolError::InvalidArguments(text)) => text,
            other => format!("{other:?}"),
        };
        assert!(check(Weight::Regular, "Été à 5 €\nΑθήνα Москва").is_ok());
        assert!(
            refusal("smile 😀 日本 😀").contains("\"😀\" (U+1F600), \"日\" (U+65E5), \"本\" (U+672C); the font has")
        );
        assert!(refusal("שלום").contains("U+05E9"), "the font has it, and it runs from right to left");
        assert!(refusal("a\u{202e}b\u{200b}").contains("\"\\u202e\" (U+202E)"));
        assert!(refusal("a\u{7}").contains("U+0007"));
        assert!(refusal("\u{fffd}").contains("U+FFFD"));
        assert!(refusal("一丁七万丈三上下不").contains("and others"));
    }

    #[test]
    fn the_heights_are_those_of_the_font() {
        for weight in [Weight::Regular, Weight::Bold] {
            let font = FontRef::new(weight.data()).unwrap();
            let metrics = font.metrics(Size::new(1.0), LocationRef::default());
            assert!((f64::from(metrics.ascent) - ASCENT).abs() < 0.001, "{metrics:?}");
            assert!((f64::from(-metrics.descent) - DESCENT).abs() < 0.001, "{metrics:?}");
        }
    }
}
