//! Rules and budgets that change between a preview and its confirmation, in one server: nothing runs on the strength of what
//! was said under others.

use super::folder;
use crate::reload::{begun, hang_up, said};
use crate::startup::{Session, request};
use counterfoil_tests::program::Folder;
use serde_json::{Value, json};

/// One confirmation that waits, and the server that issued it.
struct Waiting {
    folder: Folder,
    plain: String,
    session: Session,
    messages: std::io::BufReader<std::process::ChildStderr>,
    token: Value,
    id: u32,
}

const FILE: &str = "work/workspace/old.txt";

impl Waiting {
    fn new(policy: &str) -> Self {
        let folder = folder("");
        let plain = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
        folder.write("work/counterfoil.toml", &format!("{plain}{policy}"));
        folder.write(FILE, "kept");
        let mut session = begun(&folder);
        let messages = session.messages();
        let mut waiting = Self { folder, plain, session, messages, token: Value::Null, id: 10 };
        waiting.token = waiting.call()["confirm_token"].clone();
        assert!(waiting.token.is_string());
        waiting
    }

    fn call(&mut self) -> Value {
        let mut arguments = json!({"path": "/files/old.txt"});
        if self.token.is_string() {
            arguments["confirm_token"] = self.token.clone();
        }
        self.id += 1;
        self.session.send(&request(self.id, "tools/call", &json!({"name": "delete_file", "arguments": arguments})));
        // News of the list may come before the answer.
        loop {
            let mut line = self.session.line();
            if line["id"] == self.id {
                break line["result"]["structuredContent"].take();
            }
        }
    }

    /// Puts other rules in force while the confirmation waits.
    fn change(&mut self, policy: &str) {
        self.folder.write("work/counterfoil.toml", &format!("{}{policy}", self.plain));
        hang_up(&self.session);
        said(&mut self.messages, "is in force: ");
    }

    fn there(&self) -> bool {
        self.folder.path(FILE).exists()
    }
}

const RULE: &str =
    "\n[[rules]]\ntool = \"delete_file\"\nwhen = 'args.path.contains(\"ledger\")'\ndeny = true\nreason = \"kept\"\n";
const BUDGET: &str = "\n[[budgets]]\ntool = \"delete_file\"\ncalls = 5\nper = \"24h\"\n";

#[test]
fn a_confirmation_does_not_outlive_a_change_of_rules_or_budgets_by_a_reload() {
    let before = format!("{RULE}{BUDGET}");
    let mut waiting = Waiting::new(&before);
    for changed in [
        String::new(),
        RULE.to_owned(),
        BUDGET.to_owned(),
        before.replace("ledger", "lodger"),
        before.replace("\"kept\"", "\"it stays\""),
        before.replace("deny = true", "level = 3"),
        before.replace("calls = 5", "calls = 6"),
        before.replace("24h", "48h"),
        format!("{before}\n[[rules]]\ntool = \"*\"\nwhen = 'owner == \"name:nobody\"'\nlevel = 3\n"),
    ] {
        waiting.change(&changed);
        let answer = waiting.call();
        assert_eq!(
            (&answer["status"], &answer["reason"]),
            (&json!("rejected"), &json!("tool_changed")),
            "{changed}: {answer}"
        );
        assert!(waiting.there(), "{changed}");
    }
    // What was refused spent nothing: under what was previewed it runs, and once.
    waiting.change(&format!("{before}\n[[rules]]\ntool = \"write_file\"\nwhen = 'false'\nlevel = 3\n"));
    let answer = waiting.call();
    assert_eq!(answer["status"], "ok", "{answer}");
    assert!(!waiting.there());
    assert_eq!(waiting.session.end().0, Some(0));
}

#[test]
fn a_rule_that_denies_after_a_reload_holds_for_a_new_preview_and_for_a_token_of_before() {
    let mut waiting = Waiting::new("");
    let deny = RULE.replace("ledger", "old");
    waiting.change(&deny);
    assert_eq!(waiting.call()["reason"], "tool_changed");
    let token = std::mem::take(&mut waiting.token);
    let anew = waiting.call();
    assert_eq!((&anew["reason"], anew["confirm_token"].is_null()), (&json!("denied"), true), "{anew}");
    waiting.token = token;
    assert_eq!(waiting.call()["reason"], "tool_changed");
    assert!(waiting.there());
    // One that cannot be in force changes nothing: the rule goes on denying.
    waiting
        .folder
        .write("work/counterfoil.toml", &format!("{}{}", waiting.plain, deny.replace("args.path", "args.paht")));
    hang_up(&waiting.session);
    let told = said(&mut waiting.messages, "is not in force; what was stays");
    assert!(
        told.contains("allows no args.paht") || said(&mut waiting.messages, "args.paht").contains("allows no"),
        "{told}"
    );
    waiting.token = Value::Null;
    assert_eq!(waiting.call()["reason"], "denied");
    assert!(waiting.there());
    assert_eq!(waiting.session.end().0, Some(0));
}
