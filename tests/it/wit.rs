//! The two WIT packages are documented item by item: whoever implements or calls them has nothing else.

use std::path::Path;

/// Lines that declare something and have no doc comment above them.
fn undocumented(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declares = |line: &str| {
        let name = line.trim_start_matches('%').split([':', ',', '(', ' ', ';']).next().unwrap_or_default();
        let word = name.starts_with(|c: char| c.is_ascii_lowercase()) && !["use", "import", "export"].contains(&name);
        word && line.ends_with(['{', ',', ';', '('])
    };
    (1..lines.len()).filter(|&n| declares(lines[n]) && !lines[n - 1].starts_with("///")).map(|n| lines[n]).collect()
}

#[test]
fn every_item_has_its_comment() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    for file in ["gate/gate.wit", "tool/tool.wit"] {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(text.lines().count() > 100, "{file}");
        assert_eq!(undocumented(&text), Vec::<&str>::new(), "{file}");
    }
}

#[test]
fn an_item_without_comment_is_found() {
    assert_eq!(undocumented("x\n/// One.\na: u8,\nb: u8,\n/// Two.\nrecord c {\n"), ["b: u8,"]);
}
