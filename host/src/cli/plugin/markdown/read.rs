//! Hostile texts in every place of a page, which is then read back as Markdown: each is shown whole, and nothing else is there.

#![allow(clippy::unwrap_used, clippy::panic)]

use super::page;
use crate::Level;
use crate::plugin::{Access, Declared, DeclaredDir};
use crate::text::escape;
use crate::tool::Declaration;
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};

const HOSTILE: &[&str] = &[
    "a`` <img src=x onerror=alert(1)> ``b",
    "a``` <img src=x onerror=alert(1)> ```` b",
    "`<b>` ``<b>`` ```<b>``` `",
    "` <b>",
    "``",
    "`",
    "`````",
    "<script>alert(1)</script>",
    "<!-- x",
    "&lt;b&gt; &#60; &amp;",
    "- x",
    "+ x",
    "* x",
    "1. x",
    "123456789) x",
    "# x",
    "> x",
    "---",
    "***",
    "===",
    "~~~ x",
    "``` x",
    "    x",
    "- [ ] x",
    "[a]: http://evil.io",
    "[a](javascript:alert(1)) ![b](http://evil.io/x.png)",
    "[^1] x",
    "[^1]: x",
    "www.evil.io",
    "(see WWW.EVIL.IO/a_b_c).",
    "http://evil.io and HTTPS://evil.io, ftp://evil.io",
    "<http://evil.io>",
    "mail me@evil.io or mailto:me@evil.io!",
    "a.b`c`@evil.io",
    "http://evil.io`a`",
    "`a`www.evil.io",
    "a | b | c\n| --- | --- |\n| x | y |",
    "a\\| <b>",
    "a\\\\| b",
    "|",
    "\\|",
    "\\",
    "x\\",
    "`a|b` `a\\|b` `\\`",
    "**x** _y_ ~~z~~ $a$ $$b$$",
    "a\n\n<div>\n\n# b",
    "a\u{202e}b\u{0}c\u{7}",
    " x ",
    "",
    "x  \ny",
];

/// What a page shows: its words, without marks and spaces.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '`').collect()
}

/// The texts of the page: each paragraph and each cell is one.
#[track_caller]
fn read(markdown: &str, options: Options) -> Vec<String> {
    let mut texts = vec![String::new()];
    // Words that no mark, no code and no escape keeps apart, to a reader that makes links of them.
    let mut words = String::new();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(text) => {
                words += &text;
                *texts.last_mut().unwrap() += &text;
                let small = words.to_lowercase();
                let mail = |(at, _): (usize, &str)| {
                    small[..at].ends_with(|c: char| c.is_alphanumeric()) && small[at..].contains('.')
                };
                let link = small.contains("www.") || small.contains("://") || small.match_indices('@').any(mail);
                assert!(!link, "a reader may make a link of {words:?} in\n{markdown}");
                continue;
            }
            Event::Code(text) => *texts.last_mut().unwrap() += &text,
            Event::Start(tag) => {
                match &tag {
                    Tag::Paragraph | Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell => {}
                    Tag::Heading { .. } | Tag::Strong => {}
                    Tag::Link { dest_url, .. } if dest_url.as_ref() == "#t" => {}
                    other => panic!("{other:?} in\n{markdown}"),
                }
                if matches!(tag, Tag::Paragraph | Tag::TableCell | Tag::Heading { .. }) {
                    texts.push(String::new());
                }
            }
            Event::End(_) | Event::SoftBreak => {}
            other => panic!("{other:?} in\n{markdown}"),
        }
        words.clear();
    }
    texts
}

fn everywhere(hostile: &str) -> Declaration {
    let property = |schema: Value| json!({"type": "object", "properties": {"p": schema}});
    let schema = json!({"type": "object", "required": [hostile], "properties": {
        hostile: {"type": "integer", "description": hostile, "minimum": hostile, "exclusiveMaximum": hostile},
        "default": {"type": "boolean", "default": hostile},
        "const": {"const": hostile, "description": hostile},
        "enum": {"enum": [hostile, 1, hostile]},
        "pattern": {"type": "string", "pattern": hostile, "minLength": hostile},
        "type": {"type": hostile},
        "types": {"type": [hostile, "null"]},
        "either": {"anyOf": [{"const": hostile}, {"type": "array", "items": {"type": hostile}}]},
        "deep": property(json!({"const": {hostile: [hostile]}})),
    }});
    Declaration {
        name: "t".into(),
        title: Some(hostile.into()),
        description: hostile.into(),
        output_schema: Some(schema.to_string()),
        input_schema: schema.to_string(),
        level: Level::ApprovalRequired,
        critical: true,
    }
}

#[test]
fn a_hostile_text_is_shown_as_it_is_wherever_it_stands() {
    let all = Options::all();
    for hostile in HOSTILE {
        let tool = everywhere(hostile);
        let dir = DeclaredDir { path: (*hostile).to_owned(), access: Access::ReadOnly };
        let asks = Declared { dirs: vec![dir], ..Declared::default() };
        let page = page(Some(&asks), std::slice::from_ref(&tool));
        // CommonMark has no tables: there it must be text all the same.
        read(&page, Options::empty());
        let gfm = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_GFM;
        let texts = read(&page, gfm);
        assert_eq!(read(&page, all).len(), texts.len(), "{page}");
        let texts: Vec<String> = texts.iter().map(|text| shown(text)).collect();
        let quoted = shown(&escape(&hostile.split_whitespace().collect::<Vec<_>>().join(" ")));
        let whole = shown(&escape(hostile));
        let code = if hostile.is_empty() { "\"\"" } else { &whole };
        let title = if hostile.trim().is_empty() { String::new() } else { format!("{quoted}.") };
        for expected in [
            format!("{title}{quoted}"),
            code.to_owned(),
            format!("optional,default{}", shown(&escape(&json!(hostile).to_string()))),
            format!("{code}or1or{code}"),
            format!("text,matching{code}"),
            format!("{quoted}ornull"),
            format!("{code}orlistof{quoted}"),
            shown(&escape(&json!({*hostile: [hostile]}).to_string())),
        ] {
            assert!(
                texts.iter().any(|text| text.starts_with(&expected)),
                "{expected:?} is not in {texts:#?} of\n{page}"
            );
        }
        // What it asks for, the overview, the two lines of the tool, and two tables: no text is an end of its cell.
        let description = usize::from(!hostile.trim().is_empty());
        assert_eq!(texts.len(), 2 * 3 + 1 + 2 * 3 + 2 + description + 2 * 3 * 11, "{texts:#?}");
    }
}
