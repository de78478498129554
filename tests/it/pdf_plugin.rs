//! The PDF plug-in through the program: what it does, what it refuses, and what two readers that are not ours find in the
//! files that it writes.

mod bounds;
mod confines;
mod documents;
mod output;
mod readers;
mod server;

use counterfoil_tests::component;
use counterfoil_tests::program::{Folder, Ran};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A folder with `documents` and `out`, which the plug-in sees, and `outside`, which it must not.
struct Desk(Folder);

impl Desk {
    fn new() -> Self {
        Self::with("")
    }

    /// With further lines of the plug-in's table.
    fn with(lines: &str) -> Self {
        Self::granted(
            r#"{ host = "../documents", guest = "/documents", access = "read-write" },
               { host = "../out", guest = "/var/lib/nextpdf/tmp", access = "read-write" }"#,
            lines,
        )
    }

    fn granted(dirs: &str, lines: &str) -> Self {
        let desk = Self(Folder::new());
        for directory in ["documents", "out", "outside"] {
            fs::create_dir(desk.0.path(directory)).unwrap();
        }
        desk.0.write("outside/secret.pdf", "secret");
        let source = Value::from(component("pdf").canonicalize().unwrap().to_str().unwrap());
        desk.0.write(
            "work/counterfoil.toml",
            &format!(
                "[gate]\nconfirm_parameter = \"_confirmation_token\"\n[store]\nurl = \"sqlite:../home/state.db\"\n\
                 [plugins.pdf]\nsource = {source}\ndirs = [{dirs}]\n{lines}"
            ),
        );
        desk.0.lock();
        desk
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path(path)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Ran {
        self.0.run_with_input(&["call", tool, "-", "--json"], &arguments.to_string())
    }

    /// A call that runs at once.
    #[track_caller]
    fn done(&self, tool: &str, arguments: Value) -> Value {
        let ran = self.call(tool, &arguments);
        assert_eq!(ran.code, 0, "{tool}: {ran:?}");
        ran.json()
    }

    /// A call that is refused, with these words, and changes nothing.
    #[track_caller]
    fn refused(&self, tool: &str, arguments: Value, words: &str) {
        let before = self.tree();
        let ran = self.call(tool, &arguments);
        assert_eq!(ran.code, 4, "{tool}: {ran:?}");
        assert!(ran.json()["error"].as_str().unwrap().contains(words), "{words:?} is missing in {}", ran.out);
        assert_eq!(before, self.tree());
    }

    /// The first call of one that needs a confirmation: its challenge. Changes nothing.
    #[track_caller]
    fn challenge(&self, tool: &str, arguments: &Value) -> Value {
        let before = self.tree();
        let ran = self.call(tool, arguments);
        assert_eq!(ran.code, 3, "{tool}: {ran:?}");
        assert_eq!(before, self.tree(), "the preview of {tool} changed something");
        ran.json()
    }

    /// The second call.
    fn confirm(&self, tool: &str, arguments: &Value, challenge: &Value) -> Ran {
        let token = challenge["confirm_token"].as_str().unwrap();
        self.0.run_with_input(&["call", tool, "-", "--confirm", token, "--json"], &arguments.to_string())
    }

    /// Both, where that works.
    #[track_caller]
    fn confirmed(&self, tool: &str, arguments: &Value) -> Value {
        let ran = self.confirm(tool, arguments, &self.challenge(tool, arguments));
        assert_eq!(ran.code, 0, "{tool}: {ran:?}");
        ran.json()
    }

    /// A new document and its id.
    fn document(&self, title: &str) -> String {
        self.done("create_document", json!({ "title": title }))["document_id"].as_str().unwrap().to_owned()
    }

    /// A new document with a line of text.
    fn written(&self) -> String {
        let id = self.document("Report");
        self.done("add_text", json!({ "document_id": id, "text": "Hello" }));
        id
    }

    /// Every file that the plug-in might reach, with its content.
    fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut found, mut open) = (BTreeMap::new(), vec![]);
        open.extend(["documents", "out", "outside"].map(|directory| self.path(directory)));
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
                match entry.file_type().unwrap() {
                    kind if kind.is_dir() => open.push(entry.path()),
                    kind if kind.is_symlink() => {
                        let target = fs::read_link(entry.path()).unwrap();
                        found.insert(entry.path(), target.into_os_string().into_encoded_bytes());
                    }
                    _ => {
                        found.insert(entry.path(), fs::read(entry.path()).unwrap());
                    }
                }
            }
        }
        found
    }
}

#[test]
fn seven_tools_are_listed_at_their_levels() {
    let listed = Desk::new().0.run(&["tools", "--json"]).json();
    let tools: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap(), tool["level"].as_str().unwrap()))
        .collect();
    let expected = [
        ("create_document", "caution"),
        ("add_text", "caution"),
        ("add_image", "caution"),
        ("output_pdf", "approval_required"),
        ("get_document", "safe"),
        ("list_documents", "safe"),
        ("delete_document", "approval_required"),
    ];
    for tool in expected {
        assert!(tools.contains(&tool), "{tool:?} is missing in {tools:?}");
    }
    assert_eq!(tools.len(), expected.len());
}
