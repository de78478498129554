//! Where the plug-in may go: granted directories under any name, no way out, no symbolic link followed to change something.

use super::sandbox::{Level, Sandbox, ToolError};
use super::{confirm, details, read, refused};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use wasmtime_wasi::FsPerms;

/// Every tool with this path in each place where it takes one.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("list_files", json!({ "path": path })),
        ("read_file", json!({ "path": path })),
        ("search_files", json!({ "path": path, "pattern": "x" })),
        ("create_directory", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "x" })),
        ("move_file", json!({ "from": path, "to": "new" })),
        ("move_file", json!({ "from": "kept.txt", "to": path })),
        ("delete_file", json!({ "path": path })),
        ("delete_directory", json!({ "path": path })),
    ]
}

#[test]
fn no_tool_takes_a_path_that_leaves_the_granted_directory() {
    let sandbox = Sandbox::new();
    sandbox.put("kept.txt", "kept");
    for path in [
        "",
        "..",
        "../outside",
        "a/../../outside/secret.txt",
        "/",
        "/etc/passwd",
        "/files/../outside",
        "/filesystem",
        "a\0b",
    ] {
        for (tool, arguments) in calls(path) {
            println!("{tool} {path:?}");
            refused(&sandbox, tool, arguments, "");
        }
    }
    let host = sandbox.top.path().join("outside/secret.txt").display().to_string();
    for (tool, arguments) in calls(&host) {
        refused(&sandbox, tool, arguments, "in no granted directory");
    }
}

#[test]
fn no_tool_follows_a_symbolic_link_out_of_the_granted_directory() {
    let sandbox = Sandbox::new();
    sandbox.put("kept.txt", "kept");
    symlink(sandbox.top.path().join("outside"), sandbox.path("absolute")).unwrap();
    symlink("../outside", sandbox.path("relative")).unwrap();
    symlink("../outside/secret.txt", sandbox.path("file")).unwrap();
    symlink("../outside/new.txt", sandbox.path("dangling")).unwrap();
    for path in ["absolute/secret.txt", "relative/secret.txt", "relative/new", "absolute/new"] {
        for (tool, arguments) in calls(path) {
            println!("{tool} {path:?}");
            refused(&sandbox, tool, arguments, "");
        }
    }
    for path in ["file", "dangling", "relative"] {
        for tool in ["list_files", "read_file"] {
            refused(&sandbox, tool, json!({ "path": path }), "");
        }
        refused(&sandbox, "write_file", json!({ "path": path, "content": "x" }), "symbolic link");
        refused(&sandbox, "create_directory", json!({ "path": path }), "exists already");
        refused(&sandbox, "delete_directory", json!({ "path": path }), "symbolic link");
    }
    let found = read(&sandbox, "search_files", json!({ "path": ".", "pattern": "secret" }));
    assert_eq!((&found["names"], &found["lines"]), (&json!([]), &json!([])));
}

#[test]
fn of_a_symbolic_link_only_the_link_is_deleted_or_moved() {
    let sandbox = Sandbox::new();
    sandbox.put("real/a.txt", "kept");
    symlink("real", sandbox.path("link")).unwrap();
    symlink("../outside/secret.txt", sandbox.path("out")).unwrap();
    // Reading goes through a link that stays inside; changing does not.
    assert_eq!(read(&sandbox, "read_file", json!({ "path": "link/a.txt" }))["content"], json!("kept"));
    refused(&sandbox, "delete_file", json!({ "path": "link/a.txt" }), "\"link\" is a symbolic link");
    refused(&sandbox, "write_file", json!({ "path": "link/b.txt", "content": "" }), "\"link\" is a symbolic link");
    let plan = sandbox.preview("delete_file", json!({ "path": "link" })).unwrap();
    assert_eq!(plan.summary, "Will delete symbolic link \"link\" (to \"real\").");
    assert!(plan.warnings[0].contains("what it leads to stays"));
    confirm(&sandbox, "delete_file", json!({ "path": "link" }), || ()).unwrap();
    confirm(&sandbox, "move_file", json!({ "from": "out", "to": "moved" }), || ()).unwrap();
    assert_eq!(fs::read_link(sandbox.path("moved")).unwrap().to_str(), Some("../outside/secret.txt"));
    confirm(&sandbox, "delete_file", json!({ "path": "moved" }), || ()).unwrap();
    assert!(sandbox.path("real/a.txt").exists() && sandbox.top.path().join("outside/secret.txt").exists());
}

#[test]
fn a_granted_directory_may_have_any_name() {
    for guest in ["/files", "/", ".", "work", "/deep/er/name", "/with space"] {
        let sandbox = Sandbox::granted_as(&[guest]);
        sandbox.put("there.txt", "there").put("d/x", "x");
        println!("{guest}");
        assert_eq!(read(&sandbox, "list_files", json!({ "path": "." }))["total"], json!(2));
        confirm(&sandbox, "write_file", json!({ "path": "d/new.txt", "content": "new" }), || ()).unwrap();
        confirm(&sandbox, "write_file", json!({ "path": "there.txt", "content": "new" }), || ()).unwrap();
        confirm(&sandbox, "move_file", json!({ "from": "there.txt", "to": "d/moved.txt" }), || ()).unwrap();
        assert_eq!(fs::read_to_string(sandbox.path("d/moved.txt")).unwrap(), "new");
        confirm(&sandbox, "delete_directory", json!({ "path": "d" }), || ()).unwrap();
        assert_eq!(fs::read_dir(sandbox.path("")).unwrap().count(), 0);
    }
}

#[test]
fn several_granted_directories_are_told_apart_by_their_names() {
    let sandbox = Sandbox::granted_as(&["/one", "/two"]);
    sandbox.put("a.txt", "a");
    let listing = read(&sandbox, "list_files", json!({ "path": "." }));
    assert_eq!((&listing["entries"][0]["name"], &listing["entries"][1]["name"]), (&json!("/one"), &json!("/two")));
    refused(&sandbox, "read_file", json!({ "path": "a.txt" }), "they are \"/one\", \"/two\"");
    assert_eq!(read(&sandbox, "read_file", json!({ "path": "one/a.txt" }))["path"], json!("/one/a.txt"));
    let outcome = confirm(&sandbox, "move_file", json!({ "from": "/one/a.txt", "to": "/two/a.txt" }), || ()).unwrap();
    assert_eq!(details(&outcome)["to"], json!("/two/a.txt"));
    assert!(sandbox.top.path().join("granted2/a.txt").exists() && !sandbox.path("a.txt").exists());
    let none = Sandbox::granted_as(&[]);
    refused(&none, "list_files", json!({ "path": "." }), "no directory is granted");
}

#[test]
fn a_read_only_grant_refuses_every_change() {
    let sandbox = Sandbox::new();
    sandbox.put("a.txt", "a").put("d/x", "x");
    let before = sandbox.tree();
    for (tool, arguments) in [
        ("create_directory", json!({ "path": "new" })),
        ("write_file", json!({ "path": "new.txt", "content": "" })),
        ("write_file", json!({ "path": "a.txt", "content": "" })),
        ("move_file", json!({ "from": "a.txt", "to": "b.txt" })),
        ("move_file", json!({ "from": "d", "to": "e" })),
        ("delete_file", json!({ "path": "a.txt" })),
        ("delete_directory", json!({ "path": "d" })),
    ] {
        let plan = sandbox.preview(tool, arguments.clone()).unwrap();
        let result = sandbox.execute_with(
            FsPerms::ReadOnly,
            tool,
            &arguments,
            plan.level.unwrap(),
            plan.precondition,
            Box::new(|_, _| {}),
        );
        match &result {
            Err(ToolError::Refused(text)) => assert!(text.contains("read-only"), "{tool}: {text}"),
            Err(ToolError::Failed(failure)) => assert!(failure.message.contains("read-only"), "{tool}: {failure:?}"),
            other => panic!("{tool}: {other:?}"),
        }
        assert_eq!(before, sandbox.tree());
    }
}

#[test]
fn special_files_are_not_opened_and_names_are_shown_escaped() {
    let sandbox = Sandbox::new();
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap();
    assert!(made.success());
    sandbox.put("a\u{1b}[2J\u{202e}b", "x");
    refused(&sandbox, "read_file", json!({ "path": "pipe" }), "special file");
    refused(&sandbox, "write_file", json!({ "path": "pipe", "content": "" }), "special file");
    assert_eq!(read(&sandbox, "search_files", json!({ "path": ".", "pattern": "x" }))["truncated"], json!(false));
    let plan = sandbox.preview("delete_file", json!({ "path": "a\u{1b}[2J\u{202e}b" })).unwrap();
    assert!(plan.summary.starts_with(r#"Will delete file "a\u001b[2J\u202eb" "#), "{}", plan.summary);
    confirm(&sandbox, "delete_file", json!({ "path": "pipe" }), || ()).unwrap();
    assert!(sandbox.execute("create_directory", &json!({ "path": "d" }), Level::Safe, None).is_err());
}
