//! What a document is: its page, its words about itself, its blocks in order. Pure. Read from a file that others may have
//! written, so whoever reads one checks it.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::font::{self, Weight};
use crate::limits::{
    MAX_BLOCKS, MAX_CHARACTERS, MAX_IMAGES_BYTES, MAX_LABEL, MAX_PIXELS, MAX_SIDE, MAX_SIZE, MIN_AREA, MIN_IMAGE,
    MIN_SIDE, MIN_SIZE,
};
use crate::shown::hex;
use crate::text::{bytes, grouped, quote};
use crate::{invalid, refused};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of the file's form.
pub const FORM: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub form: u32,
    pub id: String,
    pub title: String,
    pub author: Option<String>,
    /// A language tag, as in BCP 47.
    pub language: String,
    /// RFC 3339 in UTC: the date in the PDF, so that one document gives the same bytes at any time.
    pub created: String,
    pub page: Page,
    pub blocks: Vec<Block>,
}

/// Sides and margin in points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub width: f64,
    pub height: f64,
    pub margin: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Block {
    Text(Text),
    Image(Image),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Paragraphs, one a line.
    pub text: String,
    pub style: Style,
    /// In points.
    pub size: f64,
    pub alignment: Alignment,
    pub page_break: bool,
    pub place: Option<Spot>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    pub sha256: String,
    pub format: Format,
    pub bytes: u64,
    pub pixels: (u32, u32),
    /// In points.
    pub width: f64,
    pub height: f64,
    /// What it shows, for those who do not see it. Empty for a decoration.
    pub alt_text: String,
    pub alignment: Alignment,
    pub page_break: bool,
    pub place: Option<Spot>,
}

/// A fixed place on the page, in points from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spot {
    pub x: f64,
    pub y: f64,
    /// How wide the text may run.
    pub width: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    #[default]
    Body,
    Bold,
    Heading1,
    Heading2,
    Heading3,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Alignment {
    #[default]
    Left,
    Center,
    Right,
    Justify,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Png,
    Jpeg,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
        }
    }
}

impl Style {
    /// In points.
    pub fn size(self) -> f64 {
        match self {
            Self::Body | Self::Bold => 11.0,
            Self::Heading1 => 20.0,
            Self::Heading2 => 15.0,
            Self::Heading3 => 12.5,
        }
    }

    pub fn weight(self) -> Weight {
        if self == Self::Body { Weight::Regular } else { Weight::Bold }
    }

    /// 1 to 3 for a heading.
    pub fn heading(self) -> Option<u16> {
        match self {
            Self::Body | Self::Bold => None,
            Self::Heading1 => Some(1),
            Self::Heading2 => Some(2),
            Self::Heading3 => Some(3),
        }
    }
}

impl Page {
    pub fn checked(self) -> Result<Self, ToolError> {
        let side = |name: &str, side: f64| match (MIN_SIDE..=MAX_SIDE).contains(&side) {
            true => Ok(()),
            false => Err(invalid(format!("the {name} of a page is {MIN_SIDE} to {MAX_SIDE} points"))),
        };
        side("width", self.width)?;
        side("height", self.height)?;
        if !(self.margin >= 0.0 && self.area_width() >= MIN_AREA && self.area_height() >= MIN_AREA) {
            return Err(invalid(format!("the margin leaves less than {MIN_AREA} points of the page")));
        }
        Ok(self)
    }

    pub fn area_width(&self) -> f64 {
        self.width - 2.0 * self.margin
    }

    pub fn area_height(&self) -> f64 {
        self.height - 2.0 * self.margin
    }
}

impl Spot {
    fn checked(self, page: &Page) -> Result<(), ToolError> {
        let inside = self.x >= 0.0 && self.y >= 0.0 && self.width > 0.0 && self.x + self.width <= page.width + 0.01;
        match inside && self.y < page.height {
            true => Ok(()),
            false => Err(invalid(format!(
                "that place is not on the page, which is {} by {} points",
                page.width, page.height
            ))),
        }
    }
}

impl Document {
    /// The bytes of its file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ToolError> {
        serde_json::to_vec(self).map_err(|error| refused(format!("the document cannot be written down: {error}")))
    }

    /// Everything that layout and the library rely on.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.form != FORM {
            return Err(refused(format!("the document has form {}, which this plug-in does not know", self.form)));
        }
        self.page.checked()?;
        label("title", &self.title)?;
        if self.title.trim().is_empty() {
            return Err(invalid("the title is empty"));
        }
        self.author.as_deref().map_or(Ok(()), |author| label("author", author))?;
        language(&self.language)?;
        if self.blocks.len() > MAX_BLOCKS {
            return Err(full("blocks", MAX_BLOCKS as u64));
        }
        if self.characters() > MAX_CHARACTERS {
            return Err(full("characters", MAX_CHARACTERS as u64));
        }
        let sum = |of: fn(&Image) -> u64| self.images().map(of).fold(0, u64::saturating_add);
        if sum(|image| image.bytes) > MAX_IMAGES_BYTES {
            let limit = bytes(MAX_IMAGES_BYTES);
            return Err(refused(format!("the images of a document take up to {limit}; begin another document")));
        }
        if sum(Image::area) > MAX_PIXELS {
            return Err(full("pixels of images", MAX_PIXELS));
        }
        self.blocks.iter().try_for_each(|block| block.check(&self.page))
    }

    pub fn characters(&self) -> usize {
        let of = |block: &Block| if let Block::Text(text) = block { text.text.chars().count() } else { 0 };
        self.blocks.iter().map(of).sum()
    }

    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.blocks.iter().filter_map(|block| if let Block::Image(image) = block { Some(image) } else { None })
    }
}

/// What changes when anything in the document does.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn full(what: &str, limit: u64) -> ToolError {
    refused(format!("a document holds up to {} {what}; begin another document", grouped(limit)))
}

impl Block {
    pub fn check(&self, page: &Page) -> Result<(), ToolError> {
        match self {
            Self::Text(text) => {
                if !(MIN_SIZE..=MAX_SIZE).contains(&text.size) {
                    return Err(invalid(format!("the size of text is {MIN_SIZE} to {MAX_SIZE} points")));
                }
                font::check(text.style.weight(), &text.text)?;
                text.place.map_or(Ok(()), |spot| spot.checked(page))
            }
            Self::Image(image) => {
                label("alt_text", &image.alt_text)?;
                if image.sha256.len() != 64 || !image.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return Err(refused("the document names an image by what is no digest"));
                }
                if !(image.width >= MIN_IMAGE && image.height >= MIN_IMAGE) {
                    return Err(invalid(format!("an image is at least {MIN_IMAGE} points wide and high")));
                }
                let (width, height) = match image.place {
                    Some(spot) => {
                        spot.checked(page)?;
                        (page.width - spot.x, page.height - spot.y)
                    }
                    None => (page.area_width(), page.area_height()),
                };
                match image.width <= width + 0.01 && image.height <= height + 0.01 {
                    true => Ok(()),
                    false => Err(invalid(format!(
                        "an image of {:.1} by {:.1} points does not fit there: {width:.1} by {height:.1} points are left",
                        image.width, image.height
                    ))),
                }
            }
        }
    }

    pub fn page_break(&self) -> bool {
        match self {
            Self::Text(text) => text.page_break,
            Self::Image(image) => image.page_break,
        }
    }
}

impl Text {
    /// Its first characters, and whether these are all.
    pub fn beginning(&self, most: usize) -> (&str, bool) {
        match self.text.char_indices().nth(most) {
            Some((end, _)) => (self.text.get(..end).unwrap_or_default(), false),
            None => (&self.text, true),
        }
    }
}

impl Image {
    pub fn area(&self) -> u64 {
        u64::from(self.pixels.0) * u64::from(self.pixels.1)
    }
}

fn label(name: &str, text: &str) -> Result<(), ToolError> {
    if text.chars().count() > MAX_LABEL {
        return Err(invalid(format!("{name} has up to {MAX_LABEL} characters")));
    }
    match text.chars().find(|c| c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')) {
        Some(c) => Err(invalid(format!("{name} has {}, which does not belong there", quote(&c.to_string())))),
        None => Ok(()),
    }
}

/// Subtags of letters and digits, the first of letters alone: `en`, `fr-CA`, `zh-Hant-TW`.
fn language(tag: &str) -> Result<(), ToolError> {
    let subtag = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut parts = tag.split('-');
    let first = parts.next().unwrap_or_default();
    let good = (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic());
    match good && parts.all(subtag) && tag.len() <= 35 {
        true => Ok(()),
        false => Err(invalid(format!("{} is no language tag; write \"en\" or \"fr-CA\"", quote(tag)))),
    }
}
