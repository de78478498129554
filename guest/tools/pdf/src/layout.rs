//! Where everything goes: pages of lines and images, in points from the upper left corner. Pure; the same document gives
//! the same layout.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::document::{Alignment, Block, Document, Image, Page, Spot, Text};
use crate::font::{ASCENT, DESCENT};
use crate::limits::MAX_PAGES;
use crate::lines::{Line, wrap};
use crate::text::quote;
use crate::{invalid, refused};
use std::ops::Range;

/// From one baseline to the next, in ems.
const LEADING: f64 = 1.3;

/// After a paragraph, in ems; before a heading; after an image, in points.
const AFTER: f64 = 0.5;
const BEFORE_HEADING: f64 = 0.6;
const AFTER_IMAGE: f64 = 8.0;

/// What rounding may add up to.
const SLACK: f64 = 0.01;

#[derive(Debug, Default, PartialEq)]
pub struct Layout {
    pub pages: Vec<Vec<Item>>,
    /// The page on which each block begins, from 0.
    pub begins: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Line(Set),
    Image(Picture),
}

/// A line at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Which block, and which paragraph of it.
    pub block: usize,
    pub paragraph: usize,
    /// In the text of the block.
    pub range: Range<usize>,
    pub x: f64,
    pub baseline: f64,
    /// What each space gets on top, in points.
    pub stretch: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub block: usize,
    pub x: f64,
    pub y: f64,
}

impl Layout {
    /// Lays out a document that was checked.
    pub fn of(document: &Document) -> Result<Self, ToolError> {
        let page = &document.page;
        let mut flow = Flow { page, layout: Self::default(), y: page.margin };
        flow.new_page()?;
        for (at, block) in document.blocks.iter().enumerate() {
            if block.page_break() && at > 0 {
                flow.new_page()?;
            }
            match block {
                Block::Text(text) => flow.text(at, text)?,
                Block::Image(image) => flow.image(at, image)?,
            }
        }
        Ok(flow.layout)
    }
}

struct Flow<'a> {
    page: &'a Page,
    layout: Layout,
    /// Where the next thing begins.
    y: f64,
}

impl Flow<'_> {
    fn bottom(&self) -> f64 {
        self.page.height - self.page.margin + SLACK
    }

    fn new_page(&mut self) -> Result<(), ToolError> {
        if self.layout.pages.len() == MAX_PAGES {
            return Err(refused(format!("a document has up to {MAX_PAGES} pages; begin another document")));
        }
        self.layout.pages.push(Vec::new());
        self.y = self.page.margin;
        Ok(())
    }

    /// A new page where less than this is left of one that has something on it.
    fn room(&mut self, height: f64) -> Result<(), ToolError> {
        match self.y + height > self.bottom() && self.y > self.page.margin {
            true => self.new_page(),
            false => Ok(()),
        }
    }

    fn begin(&mut self) {
        self.layout.begins.push(self.layout.pages.len().saturating_sub(1));
    }

    fn put(&mut self, item: Item) {
        if let Some(page) = self.layout.pages.last_mut() {
            page.push(item);
        }
    }

    fn text(&mut self, block: usize, text: &Text) -> Result<(), ToolError> {
        let heading = text.style.heading().is_some();
        let height = LEADING * text.size;
        if height > self.page.area_height() + SLACK {
            return Err(invalid(format!("text of {} points is higher than the page between its margins", text.size)));
        }
        let fixed = text.place;
        let spot = fixed.unwrap_or(Spot { x: self.page.margin, y: self.y, width: self.page.area_width() });
        if heading && fixed.is_none() && self.y > self.page.margin {
            self.y += BEFORE_HEADING * text.size;
        }
        // Not to leave a heading alone at the foot of a page.
        if fixed.is_none() {
            self.room(if heading { 2.0 * height } else { height })?;
        }
        self.begin();
        let mut y = if fixed.is_some() { spot.y } else { self.y };
        let mut start = 0;
        for (paragraph, words) in text.text.split('\n').enumerate() {
            let advance = |c| text.style.weight().advance(c) * text.size;
            let lines = wrap(words, spot.width + SLACK, advance);
            self.fits(text, &spot, words, &lines)?;
            let count = lines.len();
            for (at, line) in lines.into_iter().enumerate() {
                match fixed {
                    Some(_) if y + height > self.page.height + SLACK => {
                        return Err(invalid("the text does not fit between that place and the foot of the page"));
                    }
                    Some(_) => {}
                    None => {
                        self.y = y;
                        self.room(height)?;
                        y = self.y;
                    }
                }
                let (x, stretch) = align(text.alignment, &line, &spot, at + 1 == count);
                let baseline = y + (LEADING - ASCENT - DESCENT) / 2.0 * text.size + ASCENT * text.size;
                let range = start + line.range.start..start + line.range.end;
                if !range.is_empty() {
                    self.put(Item::Line(Set { block, paragraph, range, x, baseline, stretch }));
                }
                y += height;
            }
            start += words.len() + 1;
            if !words.is_empty() && fixed.is_none() {
                y += AFTER * text.size;
            }
        }
        if fixed.is_none() {
            self.y = y;
        }
        Ok(())
    }

    /// Refuses what would be drawn past the end of its line: one character that is wider than the whole line.
    fn fits(&self, text: &Text, spot: &Spot, words: &str, lines: &[Line]) -> Result<(), ToolError> {
        let Some(line) = lines.iter().find(|line| line.width > spot.width + SLACK) else { return Ok(()) };
        let remedy = match text.place {
            Some(_) => "a place with more room to its right",
            None => "a document with wider pages or a smaller margin",
        };
        Err(invalid(format!(
            "{} is {:.1} points wide and the line has {:.1}: a smaller size, or {remedy}, is needed",
            quote(words.get(line.range.clone()).unwrap_or_default().trim_end()),
            line.width,
            spot.width
        )))
    }

    fn image(&mut self, block: usize, image: &Image) -> Result<(), ToolError> {
        if let Some(spot) = image.place {
            self.begin();
            self.put(Item::Image(Picture { block, x: spot.x, y: spot.y }));
            return Ok(());
        }
        self.room(image.height)?;
        self.begin();
        let left = self.page.area_width() - image.width;
        let x = self.page.margin
            + match image.alignment {
                Alignment::Left | Alignment::Justify => 0.0,
                Alignment::Center => left / 2.0,
                Alignment::Right => left,
            };
        self.put(Item::Image(Picture { block, x, y: self.y }));
        self.y += image.height + AFTER_IMAGE;
        Ok(())
    }
}

/// Where the line begins, and what each of its spaces gets on top.
fn align(alignment: Alignment, line: &Line, spot: &Spot, last: bool) -> (f64, f64) {
    let left = (spot.width - line.width).max(0.0);
    match alignment {
        Alignment::Left => (spot.x, 0.0),
        Alignment::Center => (spot.x + left / 2.0, 0.0),
        Alignment::Right => (spot.x + left, 0.0),
        Alignment::Justify if last || line.gaps == 0 => (spot.x, 0.0),
        Alignment::Justify => (spot.x, left / line.gaps as f64),
    }
}

#[cfg(test)]
#[path = "layout/tests.rs"]
mod tests;
