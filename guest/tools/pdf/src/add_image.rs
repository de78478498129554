//! add_image: an image from base64 or from a granted directory, looked at whole, kept beside the document.

use crate::add::{Added, CHANGED};
use crate::bindings::exports::counterfoil::tool::tools::{Context, Level, Outcome, Plan, ToolError};
use crate::document::{Alignment, Block, Format, Image, Page, Spot, digest};
use crate::limits::MAX_IMAGE_BYTES;
use crate::paths::Roots;
use crate::picture;
use crate::shelf::{self, Shelf};
use crate::snapshot::{Found, look};
use crate::text::bytes;
use crate::{agreed, at_least, invalid, refused};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

/// Of a pixel on a page, in points: 96 pixels an inch.
const PIXEL: f64 = 0.75;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddImage {
    document_id: String,
    image: Option<String>,
    path: Option<String>,
    alt_text: String,
    width: Option<f64>,
    height: Option<f64>,
    alignment: Option<Alignment>,
    page_break: Option<bool>,
    x: Option<f64>,
    y: Option<f64>,
}

impl AddImage {
    fn content(&self, roots: &Roots) -> Result<Vec<u8>, ToolError> {
        match (&self.image, &self.path) {
            (Some(image), None) => STANDARD
                .decode(image.split_ascii_whitespace().collect::<String>())
                .map_err(|error| invalid(format!("image is not base64: {error}"))),
            (None, Some(path)) => {
                let place = roots.resolve(path)?.file()?.changeable()?;
                match look(&place)? {
                    Found::File { .. } => shelf::read(&place, MAX_IMAGE_BYTES as u64),
                    Found::Absent => Err(refused(format!("{} does not exist", place.quoted()))),
                    other => Err(refused(format!("{} is a {}", place.quoted(), other.noun()))),
                }
            }
            _ => Err(invalid("give the image in base64 as image, or where it is as path")),
        }
    }

    fn image(&self, content: &[u8], page: &Page) -> Result<Image, ToolError> {
        let picture::Seen { format, pixels } = picture::inspect(content)?;
        let place = match (self.x, self.y) {
            (None, None) => None,
            (Some(x), Some(y)) => Some(Spot { x, y, width: page.width - x }),
            _ => return Err(invalid("give both x and y, or none of them")),
        };
        let (wide, high) = (f64::from(pixels.0) * PIXEL, f64::from(pixels.1) * PIXEL);
        let (width, height) = match (self.width, self.height) {
            (Some(width), Some(height)) => (width, height),
            (Some(width), None) => (width, width * high / wide),
            (None, Some(height)) => (height * wide / high, height),
            (None, None) => {
                let room = place.map_or((page.area_width(), page.area_height()), |spot| {
                    (page.width - spot.x, page.height - spot.y)
                });
                let scale = (room.0 / wide).min(room.1 / high).min(1.0);
                (wide * scale, high * scale)
            }
        };
        Ok(Image {
            sha256: digest(content),
            format,
            bytes: content.len() as u64,
            pixels,
            width,
            height,
            alt_text: self.alt_text.nfc().collect(),
            alignment: self.alignment.unwrap_or_default(),
            page_break: self.page_break.unwrap_or_default(),
            place,
        })
    }
}

struct WithImage {
    shelf: Shelf,
    added: Added,
    image: Image,
    content: Vec<u8>,
}

impl WithImage {
    fn new(roots: &Roots, arguments: &AddImage) -> Result<Self, ToolError> {
        let shelf = Shelf::granted(roots)?;
        let loaded = shelf.load(&arguments.document_id)?;
        let content = arguments.content(roots)?;
        let image = arguments.image(&content, &loaded.document.page)?;
        let added = Added::new(loaded, Block::Image(image.clone()))?;
        Ok(Self { shelf, added, image, content })
    }

    fn what(&self) -> String {
        let format = if self.image.format == Format::Png { "a PNG" } else { "a JPEG" };
        let (wide, high) = self.image.pixels;
        format!("{format} image of {wide} by {high} pixels, {}", bytes(self.image.bytes))
    }

    fn details(&self) -> serde_json::Value {
        let (wide, high) = self.image.pixels;
        json!({ "image": {
            "format": self.image.format, "bytes": self.image.bytes, "sha256": self.image.sha256, "pixels": [wide, high],
            "width": self.image.width, "height": self.image.height,
        } })
    }

    fn precondition(&self) -> String {
        format!("document {} image {}", self.added.loaded.digest, self.image.sha256)
    }
}

/// What would be added, for a person who is asked.
fn shown(with: &WithImage, arguments: &AddImage) -> serde_json::Value {
    let mut details = with.details();
    let more = json!({
        "path": arguments.path, "alt_text": with.image.alt_text, "alignment": with.image.alignment,
        "page_break": with.image.page_break, "place": with.image.place,
    });
    if let (Some(image), serde_json::Value::Object(more)) =
        (details.get_mut("image").and_then(serde_json::Value::as_object_mut), more)
    {
        image.extend(more);
    }
    details
}

pub fn plan(roots: &Roots, arguments: &AddImage) -> Result<Plan, ToolError> {
    let with = WithImage::new(roots, arguments)?;
    Ok(with.added.plan(&with.what(), shown(&with, arguments), with.precondition()))
}

pub fn run(roots: &Roots, arguments: &AddImage, context: &Context) -> Result<Outcome, ToolError> {
    at_least(Level::Caution, context, "adding an image")?;
    let with = WithImage::new(roots, arguments)?;
    agreed(context, &with.precondition(), CHANGED)?;
    // The image first: a document never names one that is not there.
    with.shelf.add(&arguments.document_id, &with.image, &with.content, &context.operation_id)?;
    with.shelf.update(&with.added.loaded, &context.operation_id)?;
    Ok(with.added.outcome(&with.what(), with.details()))
}
