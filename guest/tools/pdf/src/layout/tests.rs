#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::document::{FORM, Format, Style};

fn document(blocks: Vec<Block>) -> Document {
    Document {
        form: FORM,
        id: "doc_aaaaaaaaaaaaaaaa".to_owned(),
        title: "Title".to_owned(),
        author: None,
        language: "en".to_owned(),
        created: "2026-01-31T12:00:00Z".to_owned(),
        page: Page { width: 300.0, height: 200.0, margin: 50.0 },
        blocks,
    }
}

fn text(text: &str) -> Text {
    Text {
        text: text.to_owned(),
        style: Style::Body,
        size: 10.0,
        alignment: Alignment::Left,
        page_break: false,
        place: None,
    }
}

fn image(width: f64, height: f64) -> Image {
    Image {
        sha256: "0".repeat(64),
        format: Format::Png,
        bytes: 1,
        pixels: (1, 1),
        width,
        height,
        alt_text: String::new(),
        alignment: Alignment::Center,
        page_break: false,
        place: None,
    }
}

fn lay(blocks: Vec<Block>) -> Layout {
    let document = document(blocks);
    document.check().unwrap();
    Layout::of(&document).unwrap()
}

fn lines(layout: &Layout) -> Vec<Set> {
    let line = |item: &Item| if let Item::Line(line) = item { Some(line.clone()) } else { None };
    layout.pages.iter().flatten().filter_map(line).collect()
}

#[test]
fn an_empty_document_is_one_empty_page() {
    assert_eq!(lay(Vec::new()).pages, [Vec::new()]);
}

#[test]
fn text_flows_over_lines_and_pages_and_nothing_is_lost() {
    let words = "Lorem ipsum dolor sit amet. ".repeat(40);
    let layout = lay(vec![Block::Text(text(&words))]);
    // 100 points between the margins, 13 a line: seven lines a page.
    let counts: Vec<usize> = layout.pages.iter().map(Vec::len).collect();
    assert_eq!(counts[0], 7);
    assert!(counts.len() > 1 && counts[1..counts.len() - 1].iter().all(|count| *count == 7), "{counts:?}");
    assert_eq!(lines(&layout).iter().map(|line| &words[line.range.clone()]).collect::<String>(), words);
    for line in lines(&layout) {
        assert!(line.x == 50.0 && (50.0..150.0).contains(&line.baseline), "{line:?}");
    }
}

#[test]
fn paragraphs_keep_their_order_and_blank_lines_take_room() {
    let layout = lay(vec![Block::Text(text("one\n\nthree"))]);
    let lines = lines(&layout);
    assert_eq!(
        lines.iter().map(|line| (line.paragraph, line.range.clone())).collect::<Vec<_>>(),
        [(0, 0..3), (2, 5..10)]
    );
    assert!((lines[1].baseline - lines[0].baseline - (2.0 * 13.0 + 5.0)).abs() < 0.001);
}

#[test]
fn a_page_break_begins_a_page_but_not_before_the_first_block() {
    let broken = |words: &str| Block::Text(Text { page_break: true, ..text(words) });
    assert_eq!(lay(vec![broken("a")]).pages.len(), 1);
    let layout = lay(vec![broken("a"), broken("b")]);
    assert_eq!((layout.pages.len(), layout.begins), (2, vec![0, 1]));
}

#[test]
fn alignment_moves_a_line_and_justifies_all_but_the_last() {
    let at = |alignment, words: &str| lines(&lay(vec![Block::Text(Text { alignment, ..text(words) })]));
    let width = Style::Body.weight().advance('i') * 10.0;
    assert!((at(Alignment::Right, "i")[0].x - (250.0 - width)).abs() < 0.001);
    assert!((at(Alignment::Center, "i")[0].x - (150.0 - width / 2.0)).abs() < 0.001);
    let justified = at(Alignment::Justify, &"Lorem ipsum dolor ".repeat(5));
    assert!(justified.len() > 1 && justified[0].stretch > 0.0 && justified.last().unwrap().stretch == 0.0);
}

#[test]
fn a_heading_is_not_left_alone_at_the_foot_of_a_page() {
    let heading = Block::Text(Text { style: Style::Heading1, size: 20.0, ..text("Heading") });
    // 70 of 100 points are taken; the heading alone would fit.
    let layout = lay(vec![Block::Image(image(50.0, 62.0)), heading, Block::Text(text("body"))]);
    assert_eq!(layout.begins, [0, 1, 1]);
}

#[test]
fn an_image_goes_to_the_next_page_where_it_fits_and_is_aligned() {
    let layout = lay(vec![Block::Text(text("a")), Block::Image(image(100.0, 95.0))]);
    assert_eq!(layout.begins, [0, 1]);
    assert_eq!(layout.pages[1], [Item::Image(Picture { block: 1, x: 100.0, y: 50.0 })]);
}

#[test]
fn what_has_a_place_of_its_own_leaves_the_flow_alone() {
    let spot = Spot { x: 10.0, y: 180.0, width: 100.0 };
    let fixed = Block::Text(Text { place: Some(spot), ..text("foot") });
    let layout = lay(vec![Block::Text(text("a")), fixed.clone(), Block::Text(text("b"))]);
    let lines = lines(&layout);
    assert_eq!((layout.pages.len(), lines[1].x), (1, 10.0));
    assert!(lines[1].baseline > 180.0 && (lines[2].baseline - lines[0].baseline - 18.0).abs() < 0.001);
    let low = Block::Text(Text { place: Some(Spot { y: 190.0, ..spot }), ..text("foot") });
    assert!(matches!(Layout::of(&document(vec![low])), Err(ToolError::InvalidArguments(_))));
}

#[test]
fn a_character_that_is_wider_than_its_line_is_refused_with_what_to_change() {
    #[track_caller]
    fn check(text: Text, expected: Option<&str>) {
        match (Layout::of(&document(vec![Block::Text(text)])), expected) {
            (Ok(_), None) => {}
            (Err(ToolError::InvalidArguments(words)), Some(expected)) => assert!(words.contains(expected), "{words}"),
            (other, expected) => panic!("{other:?} where {expected:?}"),
        }
    }
    let width = Style::Body.weight().advance('W') * 10.0;
    let at = |width| Text { place: Some(Spot { x: 10.0, y: 10.0, width }), ..text("iiWi") };
    check(at(width), None);
    check(at(width - SLACK / 2.0), None);
    check(at(width - 0.1), Some("\"W\" is 9.4 points wide and the line has 9.3: a smaller size, or a place with"));
    // 36 points between the margins.
    let mut narrow = document(vec![Block::Text(Text { size: 50.0, ..text("fine W") })]);
    narrow.page = Page { width: 136.0, ..narrow.page };
    assert!(
        matches!(Layout::of(&narrow), Err(ToolError::InvalidArguments(words)) if words.contains("a document with wider pages"))
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let refuses = |block| {
        let document = document(vec![block]);
        document.check().and_then(|()| Layout::of(&document).map(|_| ())).is_err()
    };
    assert!(refuses(Block::Image(image(201.0, 10.0))) && refuses(Block::Image(image(10.0, 101.0))));
    assert!(refuses(Block::Image(image(f64::NAN, 10.0))));
    assert!(refuses(Block::Text(Text { size: 3.0, ..text("a") })));
    assert!(refuses(Block::Text(Text { place: Some(Spot { x: 299.0, y: 1.0, width: 5.0 }), ..text("a") })));
    assert!(!refuses(Block::Image(image(200.0, 100.0))));
    assert!(Layout::of(&document(vec![Block::Text(Text { size: 90.0, ..text("a") })])).is_err());
    let blank = Block::Text(text(&"\n".repeat(MAX_PAGES * 8)));
    assert!(matches!(Layout::of(&document(vec![blank])), Err(ToolError::Refused(text)) if text.contains("pages")));
}
