//! What troubleshooting quotes: each text is one that the program can say.

use super::page;
use std::fs;
use std::path::Path;

/// Everything that the program says: its sources without comments, each text in one line, the golden answers, and what the
/// pages have from real runs.
fn said() -> String {
    let mut said = page::blocks(&page::read("troubleshooting.md"));
    for folder in ["host/src", "guest/gate-core/src"] {
        collect(&page::root().join(folder), "rs", &mut said);
    }
    collect(&page::root().join("tests/vectors/contract"), "json", &mut said);
    said
}

fn collect(folder: &Path, end: &str, said: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, end, said);
        } else if path.extension().is_some_and(|is| is == end) {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
            // A text that goes on in the next line, and quotation marks in one.
            said.push_str(&lines.collect::<Vec<_>>().join("\n").replace("\\\n", "").replace("\\\"", "\""));
        }
    }
}

/// The parts of a quote that have to be said: those between `…`, and where a text is put together, between its `; `.
fn parts(quote: &str) -> Vec<String> {
    let clauses = quote.split('…').flat_map(|part| part.split("; "));
    let parts =
        clauses.map(|part| part.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '"')).to_owned());
    parts.filter(|part| part.chars().filter(|c| c.is_alphabetic()).count() >= 6).collect()
}

/// The texts in the headings: whole headings in code, which may have code inside, or several with commas between.
fn quotes(title: &str) -> Vec<String> {
    // A heading that goes on behind its code is about others' texts, or none.
    if !title.starts_with('`') || !title.ends_with('`') {
        return Vec::new();
    }
    // In double backticks where there is code inside.
    let inner =
        title.strip_prefix("`` ").and_then(|rest| rest.strip_suffix(" ``")).unwrap_or(&title[1..title.len() - 1]);
    inner.split("`, `").map(str::to_owned).collect()
}

#[test]
fn docs_quote_what_the_program_says() {
    let (said, text) = (said(), page::read("troubleshooting.md"));
    let mut quoted = 0;
    for (at, title) in page::headings(&text) {
        for part in quotes(&title).iter().flat_map(|quote| parts(quote)) {
            assert!(said.contains(&part), "docs/troubleshooting.md:{at}: nothing says \"{part}\"");
            quoted += 1;
        }
    }
    assert!(quoted > 50, "{quoted} parts of texts were looked for");
    assert!(!said.contains("the moon is made of cheese"));
}

#[test]
fn docs_quotes_are_taken_apart_where_they_differ() {
    assert_eq!(quotes("`a … b`, `c`"), ["a … b", "c"]);
    assert_eq!(quotes("`` a `b` ``"), ["a `b`"]);
    assert!(quotes("A heading with `code`").is_empty());
    assert_eq!(parts("this call; ask again in … s"), ["this call", "ask again in"]);
}

#[test]
fn docs_name_each_reason_where_people_look_for_help() {
    let text = page::read("troubleshooting.md");
    for reason in counterfoil_gate_core::answer::Reason::ALL {
        let obvious = ["malformed_token", "unknown_tool", "denied"].contains(&reason.name());
        assert!(obvious || text.contains(&format!("`{}`", reason.name())), "{} is not explained", reason.name());
    }
}
