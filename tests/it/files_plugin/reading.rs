//! list_files, read_file, search_files.

use super::sandbox::Sandbox;
use super::{read, refused};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt;

#[test]
fn a_listing_is_sorted_and_names_kind_and_size() {
    let sandbox = Sandbox::new();
    sandbox.put("b.txt", "12345").put("a/deep.txt", "");
    std::os::unix::fs::symlink("b.txt", sandbox.path("c")).unwrap();
    let listing = read(&sandbox, "list_files", json!({ "path": "." }));
    let entries: Vec<(&Value, &Value)> =
        listing["entries"].as_array().unwrap().iter().map(|e| (&e["name"], &e["kind"])).collect();
    let expected =
        [("a", "directory"), ("b.txt", "file"), ("c", "symbolic_link")].map(|(name, kind)| (json!(name), json!(kind)));
    assert_eq!(entries, expected.iter().map(|(name, kind)| (name, kind)).collect::<Vec<_>>());
    assert_eq!((&listing["entries"][1]["bytes"], &listing["entries"][2]["target"]), (&json!(5), &json!("b.txt")));
    assert_eq!((&listing["total"], &listing["truncated"]), (&json!(3), &json!(false)));
    assert_eq!(read(&sandbox, "list_files", json!({ "path": "/files/a/" }))["path"], json!("a"));
    refused(&sandbox, "list_files", json!({ "path": "b.txt" }), "not a directory");
    refused(&sandbox, "list_files", json!({ "path": "none" }), "does not exist");
}

#[test]
fn a_long_listing_says_that_it_is_cut() {
    let sandbox = Sandbox::new();
    for number in 0..1_001 {
        sandbox.put(&format!("{number:04}"), "");
    }
    let listing = read(&sandbox, "list_files", json!({ "path": "." }));
    assert_eq!(
        (listing["entries"].as_array().unwrap().len(), &listing["total"], &listing["truncated"]),
        (1_000, &json!(1_001), &json!(true))
    );
    fs::remove_file(sandbox.path("0000")).unwrap();
    assert_eq!(read(&sandbox, "list_files", json!({ "path": "." }))["truncated"], json!(false));
}

#[test]
fn names_that_are_not_utf8_are_counted_and_not_dropped_silently() {
    let sandbox = Sandbox::new();
    sandbox.put("d/good", "x");
    fs::write(sandbox.path("d").join(std::ffi::OsStr::from_bytes(b"bad\xff")), "x").unwrap();
    let listing = read(&sandbox, "list_files", json!({ "path": "d" }));
    assert_eq!((&listing["total"], &listing["unnameable"]), (&json!(1), &json!(1)));
    assert_eq!(
        read(&sandbox, "search_files", json!({ "path": ".", "pattern": "x" }))["skipped"]["unnameable"],
        json!(1)
    );
    refused(&sandbox, "delete_directory", json!({ "path": "d" }), "not UTF-8");
    refused(&sandbox, "move_file", json!({ "from": "d", "to": "e" }), "not UTF-8");
}

#[test]
fn a_file_comes_back_as_text_or_in_base64_up_to_its_limit() {
    let sandbox = Sandbox::new();
    sandbox.put("text", "été\n\"x\"").put("empty", "").put("bytes", [0xff, 0, 1]);
    sandbox
        .put("limit", vec![0xff; 256 << 10])
        .put("over", vec![b'a'; (256 << 10) + 1])
        .put("controls", vec![1; 256 << 10]);
    let file = |path: &str| read(&sandbox, "read_file", json!({ "path": path }));
    assert_eq!((&file("text")["content"], &file("text")["encoding"]), (&json!("été\n\"x\""), &json!("utf-8")));
    assert_eq!((&file("empty")["content"], &file("empty")["bytes"]), (&json!(""), &json!(0)));
    assert_eq!((&file("bytes")["content"], &file("bytes")["encoding"]), (&json!("/wAB"), &json!("base64")));
    for path in ["limit", "controls"] {
        assert_eq!((&file(path)["bytes"], &file(path)["encoding"]), (&json!(256 << 10), &json!("base64")));
        assert!(file(path).to_string().len() < 384 << 10);
    }
    refused(&sandbox, "read_file", json!({ "path": "over" }), "262,145 bytes");
    refused(&sandbox, "read_file", json!({ "path": "." }), "needs the path of a file");
    refused(&sandbox, "read_file", json!({ "path": "none" }), "does not exist");
    fs::create_dir(sandbox.path("d")).unwrap();
    refused(&sandbox, "read_file", json!({ "path": "d" }), "use list_files");
}

#[test]
fn a_search_finds_names_by_glob_and_text_in_names_and_lines() {
    let sandbox = Sandbox::new();
    sandbox
        .put("src/main.rs", "fn main() {\n    todo();\n}\n")
        .put("src/deep/todo.rs", "")
        .put("a.txt", "nothing")
        .put("bytes", [0, 1, 2]);
    let search =
        |path: &str, pattern: &str| read(&sandbox, "search_files", json!({ "path": path, "pattern": pattern }));
    let found = search(".", "todo");
    assert_eq!(found["names"], json!(["src/deep/todo.rs"]));
    assert_eq!(found["lines"], json!([{ "path": "src/main.rs", "line": 2, "text": "    todo();" }]));
    assert_eq!((&found["truncated"], &found["skipped"]["not_text"]), (&json!(false), &json!(1)));
    assert_eq!(search(".", "*.rs")["names"], json!(["src/main.rs", "src/deep/todo.rs"]));
    assert_eq!(search("src", "*/*.rs")["names"], json!(["src/deep/todo.rs"]));
    assert_eq!(search(".", "**/*.rs")["lines"], json!([]));
    assert_eq!(search(".", "TODO")["names"], json!([]));
    refused(&sandbox, "search_files", json!({ "path": "a.txt", "pattern": "x" }), "not a directory");
    refused(&sandbox, "search_files", json!({ "path": ".", "pattern": "" }), "1 to 256 characters");
    refused(&sandbox, "search_files", json!({ "path": ".", "pattern": "a\nb" }), "one line");
}

#[test]
fn a_search_that_finds_too_much_says_so() {
    let sandbox = Sandbox::new();
    sandbox.put("lines", "x\n".repeat(201)).put("large/x", vec![b'y'; (8 << 20) + 1]);
    let found = read(&sandbox, "search_files", json!({ "path": ".", "pattern": "x" }));
    assert_eq!((found["lines"].as_array().unwrap().len(), &found["truncated"]), (200, &json!(true)));
    let found = read(&sandbox, "search_files", json!({ "path": "large", "pattern": "x" }));
    assert_eq!((&found["truncated"], &found["skipped"]["too_large"]), (&json!(false), &json!(1)));
}
