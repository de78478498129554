//! create_directory, write_file, move_file, delete_file, delete_directory: plans, runs, and what happens when something
//! changed in between.

use super::sandbox::{Effect, Level, Sandbox, ToolError};
use super::{confirm, details, planned, refused, stale};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};
use wasmtime_wasi::FsPerms;

fn content(sandbox: &Sandbox, path: &str) -> String {
    fs::read_to_string(sandbox.path(path)).unwrap()
}

fn write(path: &str, content: &str) -> Value {
    json!({ "path": path, "content": content })
}

#[test]
fn a_directory_is_created_with_those_above_it() {
    let sandbox = Sandbox::new();
    let plan = sandbox.preview("create_directory", json!({ "path": "a/b/c" })).unwrap();
    assert_eq!(plan.summary, "Will create directory \"a/b/c\" and 2 missing directories above it.");
    assert_eq!((plan.level, &planned(&plan)["creates"]), (Some(Level::Caution), &json!(["a", "a/b", "a/b/c"])));
    let outcome = sandbox.execute("create_directory", &json!({ "path": "a/b/c" }), Level::Caution, None).unwrap();
    assert_eq!(details(&outcome)["created"], json!(["a", "a/b", "a/b/c"]));
    assert!(sandbox.path("a/b/c").is_dir());
    sandbox.put("file", "");
    refused(&sandbox, "create_directory", json!({ "path": "a" }), "exists already");
    refused(&sandbox, "create_directory", json!({ "path": "file/x" }), "not a directory");
    refused(&sandbox, "create_directory", json!({ "path": "." }), "granted directory itself");
    refused(&sandbox, "create_directory", json!({ "path": "a\nb" }), "control characters");
}

#[test]
fn a_new_file_needs_no_confirmation_and_never_overwrites() {
    let sandbox = Sandbox::new();
    let plan = sandbox.preview("write_file", write("a.txt", "hello")).unwrap();
    assert_eq!((plan.summary.as_str(), plan.level), ("Will create file \"a.txt\" with 5 bytes.", Some(Level::Caution)));
    assert_eq!((planned(&plan)["action"].as_str(), plan.warnings.len()), (Some("create"), 0));
    stale(
        &sandbox,
        "write_file",
        write("a.txt", "hello"),
        || sandbox.change("a.txt", "came first"),
        "changed since the preview",
    );
    let bare = sandbox.execute("write_file", &write("a.txt", "hello"), Level::Caution, None);
    assert!(matches!(bare, Err(ToolError::Refused(_))), "{bare:?}");
    assert_eq!(content(&sandbox, "a.txt"), "came first");
    assert_eq!(
        details(&confirm(&sandbox, "write_file", write("b.txt", "é"), || ()).unwrap())["action"],
        json!("created")
    );
    assert_eq!(content(&sandbox, "b.txt"), "é");
    // An operator may have raised the level: then a new file is confirmed, and still does not overwrite.
    sandbox.execute("write_file", &write("c.txt", ""), Level::ApprovalRequired, Some("absent".to_owned())).unwrap();
    assert_eq!(content(&sandbox, "c.txt"), "");
    refused(&sandbox, "write_file", write("none/a.txt", ""), "create_directory");
    refused(&sandbox, "write_file", write("a.txt/", ""), "names a directory");
    fs::create_dir(sandbox.path("d")).unwrap();
    refused(&sandbox, "write_file", write("d", ""), "is a directory");
}

#[test]
fn an_existing_file_is_overwritten_only_as_the_plan_saw_it() {
    let sandbox = Sandbox::new();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(951_782_400);
    let reset = || {
        sandbox.change("a.txt", "old old");
        fs::File::options().write(true).open(sandbox.path("a.txt")).unwrap().set_modified(at).unwrap();
    };
    reset();
    let plan = sandbox.preview("write_file", write("a.txt", "new")).unwrap();
    assert_eq!(plan.summary, "Will overwrite file \"a.txt\" (7 bytes, modified 2000-02-29T00:00:00Z) with 3 bytes.");
    assert_eq!((plan.level, &planned(&plan)["overwritten"]["bytes"]), (Some(Level::ApprovalRequired), &json!(7)));
    assert!(plan.warnings[0].contains("is lost"));
    stale(
        &sandbox,
        "write_file",
        write("a.txt", "new"),
        || sandbox.change("a.txt", "other!!"),
        "changed since the preview",
    );
    reset();
    stale(
        &sandbox,
        "write_file",
        write("a.txt", "new"),
        || fs::remove_file(sandbox.path("a.txt")).unwrap(),
        "nothing there now",
    );
    reset();
    let low = sandbox.execute("write_file", &write("a.txt", "new"), Level::Review, plan.precondition.clone());
    assert!(matches!(low, Err(ToolError::Refused(_))));
    // The content counts, not the time.
    confirm(&sandbox, "write_file", write("a.txt", "new"), || sandbox.change("a.txt", "old old")).unwrap();
    assert_eq!(content(&sandbox, "a.txt"), "new");
    assert_eq!(fs::read_dir(sandbox.path("")).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_file_moves_to_a_new_name_and_overwrites_only_what_the_plan_named() {
    let sandbox = Sandbox::new();
    let arguments = json!({ "from": "a", "to": "b" });
    sandbox.put("a", "from");
    let plan = sandbox.preview("move_file", arguments.clone()).unwrap();
    assert!(
        plan.summary.starts_with("Will move file \"a\" (4 bytes, ") && plan.summary.ends_with(" to \"b\"."),
        "{}",
        plan.summary
    );
    assert_eq!((plan.level, &planned(&plan)["overwrites"]), (Some(Level::ApprovalRequired), &json!(false)));
    stale(&sandbox, "move_file", arguments.clone(), || sandbox.change("b", "came first"), "changed since the preview");
    let plan = sandbox.preview("move_file", arguments.clone()).unwrap();
    assert!(
        plan.summary.contains("overwriting the file there (10 bytes") && plan.warnings[0].contains("is lost"),
        "{plan:?}"
    );
    stale(&sandbox, "move_file", arguments.clone(), || sandbox.change("b", "another one"), "changed since the preview");
    stale(&sandbox, "move_file", arguments.clone(), || sandbox.change("a", "another one"), "changed since the preview");
    stale(
        &sandbox,
        "move_file",
        arguments.clone(),
        || fs::remove_file(sandbox.path("b")).unwrap(),
        "changed since the preview",
    );
    sandbox.put("b", "to");
    assert_eq!(details(&confirm(&sandbox, "move_file", arguments.clone(), || ()).unwrap())["overwritten"], json!(true));
    assert_eq!((content(&sandbox, "b").as_str(), sandbox.path("a").exists()), ("another one", false));
    confirm(&sandbox, "move_file", json!({ "from": "b", "to": "c" }), || ()).unwrap();
    assert_eq!((content(&sandbox, "c").as_str(), sandbox.path("b").exists()), ("another one", false));
    stale(
        &sandbox,
        "move_file",
        json!({ "from": "c", "to": "d" }),
        || fs::remove_file(sandbox.path("c")).unwrap(),
        "does not exist",
    );
}

#[test]
fn a_directory_moves_with_what_the_plan_saw_in_it() {
    let sandbox = Sandbox::new();
    sandbox.put("d/x", "1").put("d/e/y", "23").put("file", "");
    fs::create_dir(sandbox.path("other")).unwrap();
    let plan = sandbox.preview("move_file", json!({ "from": "d", "to": "moved" })).unwrap();
    assert_eq!(plan.summary, "Will move directory \"d\" (2 files and 1 directory, 3 bytes in all) to \"moved\".");
    stale(
        &sandbox,
        "move_file",
        json!({ "from": "d", "to": "moved" }),
        || sandbox.change("d/e/z", ""),
        "changed since the preview",
    );
    confirm(&sandbox, "move_file", json!({ "from": "d", "to": "moved/" }), || ()).unwrap();
    assert_eq!(content(&sandbox, "moved/e/y"), "23");
    refused(&sandbox, "move_file", json!({ "from": "moved", "to": "other" }), "the new name included");
    refused(&sandbox, "move_file", json!({ "from": "moved", "to": "file" }), "cannot take its place");
    refused(&sandbox, "move_file", json!({ "from": "moved", "to": "moved/e/in" }), "into itself");
    refused(&sandbox, "move_file", json!({ "from": "moved", "to": "./moved" }), "the same path");
    refused(&sandbox, "move_file", json!({ "from": "file", "to": "none/x" }), "create_directory");
    refused(&sandbox, "move_file", json!({ "from": "file", "to": "new/" }), "names a directory");
    refused(&sandbox, "move_file", json!({ "from": ".", "to": "x" }), "granted directory itself");
}

#[test]
fn a_file_is_deleted_only_as_the_plan_saw_it() {
    let sandbox = Sandbox::new();
    let arguments = json!({ "path": "notes/a.txt" });
    sandbox.put("notes/a.txt", "x".repeat(1_204)).put("notes/b.txt", "stays");
    let plan = sandbox.preview("delete_file", arguments.clone()).unwrap();
    assert!(plan.summary.starts_with("Will delete file \"notes/a.txt\" (1,204 bytes, modified "), "{}", plan.summary);
    assert_eq!((plan.level, &planned(&plan)["bytes"]), (Some(Level::ApprovalRequired), &json!(1_204)));
    stale(
        &sandbox,
        "delete_file",
        arguments.clone(),
        || sandbox.change("notes/a.txt", "y".repeat(1_204)),
        "changed since the preview",
    );
    let replace = || {
        fs::remove_file(sandbox.path("notes/a.txt")).unwrap();
        fs::create_dir(sandbox.path("notes/a.txt")).unwrap();
    };
    stale(&sandbox, "delete_file", arguments.clone(), replace, "use delete_directory");
    fs::remove_dir(sandbox.path("notes/a.txt")).unwrap();
    sandbox.put("notes/a.txt", "x");
    for (level, precondition) in [
        (Level::ApprovalRequired, None),
        (Level::Review, sandbox.preview("delete_file", arguments.clone()).unwrap().precondition),
    ] {
        assert!(matches!(sandbox.execute("delete_file", &arguments, level, precondition), Err(ToolError::Refused(_))));
        assert_eq!(content(&sandbox, "notes/a.txt"), "x");
    }
    confirm(&sandbox, "delete_file", arguments.clone(), || ()).unwrap();
    assert_eq!((sandbox.path("notes/a.txt").exists(), content(&sandbox, "notes/b.txt").as_str()), (false, "stays"));
    refused(&sandbox, "delete_file", arguments, "does not exist");
}

#[test]
fn a_directory_is_deleted_only_with_what_the_plan_saw_in_it() {
    let sandbox = Sandbox::new();
    let arguments = json!({ "path": "d" });
    sandbox.put("d/a", "1").put("d/e/b", "23").put("stays", "");
    symlink(sandbox.top.path().join("outside"), sandbox.path("d/link")).unwrap();
    let plan = sandbox.preview("delete_directory", arguments.clone()).unwrap();
    assert_eq!(
        plan.summary,
        "Will delete directory \"d\" and everything in it: 2 files, 1 directory and 1 symbolic link, 3 bytes in all."
    );
    assert_eq!((&planned(&plan)["entries"], &planned(&plan)["more"]), (&json!(["a", "e", "link", "e/b"]), &json!(0)));
    assert!(plan.warnings[0].contains("4 entries go with it"), "{plan:?}");
    let changes: [(&str, &dyn Fn()); 5] = [
        ("a file came", &|| sandbox.change("d/e/new", "")),
        ("a file has other content", &|| sandbox.change("d/a", "2")),
        ("a directory came", &|| fs::create_dir(sandbox.path("d/f")).unwrap()),
        ("a link leads elsewhere", &|| {
            fs::remove_file(sandbox.path("d/link")).unwrap();
            symlink("elsewhere", sandbox.path("d/link")).unwrap();
        }),
        ("a file went", &|| fs::remove_file(sandbox.path("d/e/b")).unwrap()),
    ];
    for (what, change) in changes {
        println!("{what}");
        stale(&sandbox, "delete_directory", arguments.clone(), change, "changed since the preview");
    }
    let outcome = confirm(&sandbox, "delete_directory", arguments.clone(), || ()).unwrap();
    assert_eq!((&details(&outcome)["files"], sandbox.path("d").exists()), (&json!(2), false));
    assert!(sandbox.path("stays").exists() && sandbox.top.path().join("outside/secret.txt").exists());
    refused(&sandbox, "delete_directory", arguments, "does not exist");
    refused(&sandbox, "delete_directory", json!({ "path": "stays" }), "use delete_file");
    refused(&sandbox, "delete_directory", json!({ "path": "/files" }), "granted directory itself");
    fs::create_dir(sandbox.path("empty")).unwrap();
    assert_eq!(sandbox.preview("delete_directory", json!({ "path": "empty" })).unwrap().warnings, [""; 0]);
    confirm(&sandbox, "delete_directory", json!({ "path": "empty/" }), || ()).unwrap();
}

#[test]
fn what_comes_into_a_directory_while_it_is_deleted_survives_and_is_told() {
    let sandbox = Sandbox::new();
    for number in 0..600 {
        sandbox.change(&format!("d/{number:03}"), "x");
    }
    let plan = sandbox.preview("delete_directory", json!({ "path": "d" })).unwrap();
    let late = sandbox.path("d/late");
    let on_report = Box::new(move |fraction: Option<f64>, _: &str| {
        assert!(fraction.is_some_and(|fraction| fraction > 0.8 && fraction < 0.9));
        fs::write(&late, "late").unwrap();
    });
    let result = sandbox.execute_with(
        FsPerms::ReadWrite,
        "delete_directory",
        &json!({ "path": "d" }),
        Level::ApprovalRequired,
        plan.precondition,
        on_report,
    );
    let Err(ToolError::Failed(failure)) = result else { panic!("{result:?}") };
    assert_eq!(failure.effect, Effect::Partial);
    assert!(failure.message.contains("deleted 600 of 601 entries"), "{}", failure.message);
    assert_eq!(content(&sandbox, "d/late"), "late");
}

#[test]
fn a_tree_that_cannot_be_looked_at_whole_is_refused() {
    let sandbox = Sandbox::new();
    let name = "n".repeat(200);
    for number in 0..10_000 {
        sandbox.change(&format!("d/{}/{name}{number}", number % 7), "");
    }
    refused(&sandbox, "delete_directory", json!({ "path": "d" }), "more than 10,000 entries");
    for number in 0..7 {
        fs::remove_file(sandbox.path(&format!("d/{number}/{name}{number}"))).unwrap();
    }
    let plan = sandbox.preview("delete_directory", json!({ "path": "d" })).unwrap();
    assert!(plan.details.len() < 32 << 10 && plan.precondition.as_ref().unwrap().len() < 200);
    let shown = planned(&plan)["entries"].as_array().unwrap().len() as u64;
    assert_eq!(planned(&plan)["more"], json!(10_000 - shown));
    confirm(&sandbox, "delete_directory", json!({ "path": "d" }), || ()).unwrap();
}
