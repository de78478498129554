//! From a laid out document to the bytes of its PDF: PDF/A-2a, tagged, fonts embedded as subsets. Pure; reads no clock: the
//! same document and images give the same bytes, so that what a preview digests is what is written.

use crate::bindings::exports::counterfoil::tool::tools::{Effect, ToolError};
use crate::document::{Block, Document, Format, Image, Text};
use crate::failed;
use crate::font::Weight;
use crate::layout::{Item, Layout, Picture, Set};
use krilla::SerializeSettings;
use krilla::configure::{Archival, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::error::KrillaError;
use krilla::geom::{Point, Size, Transform};
use krilla::metadata::{DateTime, Metadata};
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, Node, SpanTag, Tag, TagGroup, TagKind, TagTree};
use krilla::text::{Font, GlyphId, KrillaGlyph};
use std::collections::BTreeMap;
use std::num::NonZeroU16;

/// The files of a document's images, by digest.
pub type Files = BTreeMap<String, Vec<u8>>;

pub fn write(document: &Document, layout: &Layout, files: &Files) -> Result<Vec<u8>, ToolError> {
    let mut writer = Writer::new(document, files)?;
    let configuration = ConfigurationBuilder::new()
        .with_archival_validator(Archival::A2_A)
        .finish()
        .map_err(|error| broken(&format!("{error:?}")))?;
    let mut pdf = krilla::Document::new_with(SerializeSettings { configuration, ..SerializeSettings::default() });
    let size = (document.page.width as f32, document.page.height as f32);
    for items in &layout.pages {
        let settings = PageSettings::from_wh(size.0, size.1).ok_or_else(|| broken("no size of a page"))?;
        let mut page = pdf.start_page_with(settings);
        let mut surface = page.surface();
        for item in items {
            match item {
                Item::Line(line) => writer.line(&mut surface, line),
                Item::Image(picture) => writer.image(&mut surface, picture)?,
            }
        }
        surface.finish();
        page.finish();
    }
    writer.close();
    if let Some(outline) = outline(document, layout) {
        pdf.set_outline(outline);
    }
    pdf.set_tag_tree(writer.tree.with_lang(Some(document.language.clone())));
    pdf.set_metadata(metadata(document));
    pdf.finish().map_err(|error| match error {
        KrillaError::Validation(errors) => {
            let names: Vec<String> = errors.iter().map(|(error, _)| format!("{error:?}")).collect();
            broken(&names.join(", "))
        }
        KrillaError::Image(_, _, text) => crate::refused(format!("an image of the document is damaged: {text}")),
        other => broken(&other.to_string()),
    })
}

fn broken(what: &str) -> ToolError {
    failed(format!("the PDF could not be written: {what}"), Effect::None)
}

struct Writer<'a> {
    document: &'a Document,
    regular: Font,
    bold: Font,
    images: BTreeMap<&'a str, krilla::image::Image>,
    tree: TagTree,
    /// The paragraph that lines are being added to: block, paragraph, tags so far.
    open: Option<(usize, usize, TagGroup)>,
}

impl<'a> Writer<'a> {
    fn new(document: &'a Document, files: &Files) -> Result<Self, ToolError> {
        let font = |weight: Weight| Font::new(weight.data().into(), 0).ok_or_else(|| broken("no font"));
        let mut images = BTreeMap::new();
        for image in document.images() {
            if !images.contains_key(image.sha256.as_str()) {
                images.insert(image.sha256.as_str(), load(image, files)?);
            }
        }
        let (regular, bold) = (font(Weight::Regular)?, font(Weight::Bold)?);
        Ok(Self { document, regular, bold, images, tree: TagTree::new(), open: None })
    }

    fn line(&mut self, surface: &mut Surface, line: &Set) {
        let document = self.document;
        let Some(Block::Text(text)) = document.blocks.get(line.block) else { return };
        let Some(words) = text.text.get(line.range.clone()) else { return };
        let weight = text.style.weight();
        let mut glyphs = Vec::with_capacity(words.len());
        for (at, c) in words.char_indices() {
            // What has no glyph was refused when it came.
            if let Some(glyph) = weight.glyph(c) {
                let wider = if c == ' ' { line.stretch / text.size } else { 0.0 };
                let advance = (glyph.advance + wider) as f32;
                let range = at..at + c.len_utf8();
                glyphs.push(KrillaGlyph::new(GlyphId::new(glyph.id), advance, 0.0, 0.0, 0.0, range, None));
            }
        }
        let font = if weight == Weight::Bold { &self.bold } else { &self.regular };
        let start = Point::from_xy(line.x as f32, line.baseline as f32);
        let tag = surface.start_tagged(ContentTag::Span(SpanTag::empty()));
        surface.draw_glyphs(start, &glyphs, font.clone(), words, text.size as f32, false);
        surface.end_tagged();
        if !matches!(&self.open, Some((block, paragraph, _)) if (*block, *paragraph) == (line.block, line.paragraph)) {
            self.close();
            self.open = Some((line.block, line.paragraph, TagGroup::new(paragraph(text, words))));
        }
        if let Some((_, _, group)) = &mut self.open {
            group.push(tag);
        }
    }

    fn image(&mut self, surface: &mut Surface, picture: &Picture) -> Result<(), ToolError> {
        let Some(Block::Image(image)) = self.document.blocks.get(picture.block) else { return Ok(()) };
        let drawn = self.images.get(image.sha256.as_str()).ok_or_else(|| broken("an image is missing"))?;
        let size =
            Size::from_wh(image.width as f32, image.height as f32).ok_or_else(|| broken("no size of an image"))?;
        let decoration = image.alt_text.is_empty();
        let tag = surface.start_tagged(match decoration {
            true => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)),
            false => ContentTag::Other,
        });
        surface.push_transform(&Transform::from_translate(picture.x as f32, picture.y as f32));
        surface.draw_image(drawn.clone(), size);
        surface.pop();
        surface.end_tagged();
        if !decoration {
            self.close();
            let mut group = TagGroup::new(TagKind::from(Tag::Figure(Some(image.alt_text.clone()))));
            group.push(tag);
            self.tree.push(Node::Group(group));
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some((_, _, group)) = self.open.take() {
            self.tree.push(Node::Group(group));
        }
    }
}

fn load(image: &Image, files: &Files) -> Result<krilla::image::Image, ToolError> {
    let data = files.get(&image.sha256).ok_or_else(|| broken("an image is missing"))?.clone();
    let loaded = match image.format {
        Format::Png => krilla::image::Image::from_png(data.into(), false),
        Format::Jpeg => krilla::image::Image::from_jpeg(data.into(), false),
    };
    loaded.map_err(|error| crate::refused(format!("an image of the document is damaged: {error}")))
}

fn paragraph(text: &Text, words: &str) -> TagKind {
    match text.style.heading().and_then(NonZeroU16::new) {
        Some(level) => Tag::Hn(level, Some(words.trim().to_owned())).into(),
        None => Tag::P.into(),
    }
}

/// The headings, each below the last one of a higher rank. `None` where there are none.
fn outline(document: &Document, layout: &Layout) -> Option<Outline> {
    let mut outline = Outline::new();
    let mut open: Vec<(u16, OutlineNode)> = Vec::new();
    let mut some = false;
    for (block, page) in document.blocks.iter().zip(&layout.begins) {
        let Block::Text(text) = block else { continue };
        let Some(level) = text.style.heading() else { continue };
        let words = text.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            continue;
        }
        some = true;
        while open.last().is_some_and(|(above, _)| *above >= level) {
            fold(&mut open, &mut outline);
        }
        // The top of the page: near enough, and in every reader.
        open.push((level, OutlineNode::new(words, XyzDestination::new(*page, Point::from_xy(0.0, 0.0)))));
    }
    while !open.is_empty() {
        fold(&mut open, &mut outline);
    }
    some.then_some(outline)
}

/// Puts the last open heading into the one above it.
fn fold(open: &mut Vec<(u16, OutlineNode)>, outline: &mut Outline) {
    if let Some((_, node)) = open.pop() {
        match open.last_mut() {
            Some((_, above)) => above.push_child(node),
            None => outline.push_child(node),
        }
    }
}

fn metadata(document: &Document) -> Metadata {
    let mut metadata = Metadata::new()
        .title(document.title.clone())
        .language(document.language.clone())
        .creator("Counterfoil".to_owned())
        .producer(format!("counterfoil-pdf {}", env!("CARGO_PKG_VERSION")))
        .document_id(document.id.clone());
    if let Some(author) = &document.author {
        metadata = metadata.authors(vec![author.clone()]);
    }
    match date(&document.created) {
        Some(date) => metadata.creation_date(date),
        None => metadata,
    }
}

/// `YYYY-MM-DDTHH:MM:SSZ`.
fn date(text: &str) -> Option<DateTime> {
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<u8>().ok();
    let year = text.get(0..4)?.parse().ok()?;
    let date = DateTime::new(year).month(part(5..7)?).day(part(8..10)?);
    Some(date.hour(part(11..13)?).minute(part(14..16)?).second(part(17..19)?).utc_offset_hour(0))
}
