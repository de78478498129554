//! Rules on arguments and budgets through the real program: each call is a process of its own, on one store.

mod crash;
mod folders;
mod reload;

use counterfoil_tests::program::{Folder, Ran};
use std::process::Stdio;

/// What `config init` makes, with more behind it.
fn folder(policy: &str) -> Folder {
    let folder = Folder::ready();
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    folder.write("work/counterfoil.toml", &format!("{config}\n{policy}"));
    folder
}

const RULES: &str = r#"
[[rules]]
tool = "write_file"
when = 'args.path.startsWith("/files/prod")'
level = "approval_required"
reason = "production"

[[rules]]
tool = ["write_file", "delete_file"]
when = 'args.path.contains("ledger") || owner == "name:guest"'
deny = true
reason = "the ledger is kept as it is"

[[rules]]
tool = ["list_files", "search_files"]
when = 'args.path == "/files/hidden" && args.pattern == "*"'
level = 3
"#;

fn denied(ran: &Ran, words: &str) {
    assert_eq!((ran.code, ran.json()["reason"].as_str()), (4, Some("denied")), "{ran:?}");
    assert!(ran.json()["error"].as_str().unwrap().contains(words), "{ran:?}");
}

#[test]
fn rules_raise_and_deny_single_calls() {
    let folder = folder(RULES);
    let call = |tool: &str, arguments: &str| folder.run(&["call", tool, arguments, "--json"]);
    call("write_file", r#"{"path":"/files/a.txt","content":"x"}"#).gave(0, &[]);
    let production = r#"{"path":"/files/prod.txt","content":"x"}"#;
    let preview = call("write_file", production);
    preview.gave(3, &["rule 1 of the operator makes this call approval_required: production"]);
    assert!(!folder.path("work/workspace/prod.txt").exists());
    let token = preview.json()["confirm_token"].as_str().unwrap().to_owned();
    folder.run(&["call", "write_file", production, "--confirm", &token, "--json"]).gave(0, &[]);
    assert!(folder.path("work/workspace/prod.txt").exists());

    denied(&call("delete_file", r#"{"path":"/files/ledger.csv"}"#), "rule 2: the ledger is kept as it is");
    call("delete_file", r#"{"path":"/files/a.txt"}"#).gave(3, &[]);
    let guest = ["call", "delete_file", r#"{"path":"/files/a.txt"}"#, "--owner", "guest", "--json"];
    denied(&folder.run(&guest), "rule 2");
    // Only the other tool has a `pattern`, so that this one call has no answer.
    let unsaid = call("list_files", r#"{"path":"/files/hidden"}"#);
    denied(&unsaid, "rule 3 has no answer for this call: it reads \"pattern\"");
    call("list_files", r#"{"path":"/files"}"#).gave(0, &[]);

    let tools = folder.run(&["tools", "--json"]).json();
    let listed = |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    let raised = listed("list_files");
    assert_eq!((&raised["level"], &raised["declared"]), (&"approval_required".into(), &"safe".into()), "{raised}");
    assert_eq!((&raised["needs_confirmation"], &raised["confirmed_by_rule"]), (&true.into(), &true.into()), "{raised}");
    assert_eq!(listed("read_file")["needs_confirmation"], false);
    folder
        .run(&["config", "check"])
        .gave(0, &["RULE", "the call is approval_required at least: production", "denied: the ledger"]);
    folder.run(&["config", "check"]).gave(0, &["runs at once, unless a rule asks for a confirmation"]);
}

#[test]
fn a_tool_that_only_a_rule_raises_is_listed_to_agents_with_the_confirm_parameter() {
    let folder = folder(RULES);
    let greeting = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let listing = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let ran = folder.run_with_input(&["serve"], &format!("{greeting}\n{listing}\n"));
    let answer: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{ran:?}"));
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    for (name, raised) in [("list_files", true), ("read_file", false)] {
        let tool = tool(name);
        assert_eq!(tool["inputSchema"]["properties"].get("confirm_token").is_some(), raised, "{tool}");
        assert_eq!(tool["annotations"]["destructiveHint"] == true, raised, "{tool}");
    }
}

#[test]
fn policy_test_says_what_would_come_of_a_call_and_does_nothing() {
    let folder = folder(&format!("{RULES}\n[[budgets]]\ntool = \"write_file\"\ncalls = 2\nper = \"24h\"\n"));
    let test = |tool: &str, arguments: &str| folder.run(&["policy", "test", tool, arguments]);
    for _ in 0..3 {
        let free = test("write_file", r#"{"path":"/files/a.txt","content":"hunter2"}"#);
        free.gave(
            3,
            &[
                "rule 1 does not match",
                "rule 2 does not match",
                "budget 1 allows 2 calls in 24h: 2 left",
                "unless its plan is milder",
            ],
        );
        assert!(!free.out.contains("hunter2"), "{free:?}");
    }
    assert!(!folder.path("work/workspace/a.txt").exists());
    test("write_file", r#"{"path":"/files/prod.txt","content":"x"}"#)
        .gave(3, &["rule 1 matches", "needs a confirmation"]);
    test("delete_file", r#"{"path":"/files/ledger"}"#).gave(4, &["rule 2 matches", "denied: rule 2: the ledger"]);
    let unsaid = test("list_files", r#"{"path":"/files/hidden"}"#);
    unsaid.gave(4, &["rule 3 has no answer: it reads \"pattern\"", "denied: rule 3 has no answer"]);
    test("read_file", r#"{"path":"/files/a.txt"}"#)
        .gave(0, &["no rule is about this tool", "would run at once, as safe"]);
    test("read_file", r#"{"pfad":"/files/a.txt"}"#).gave(4, &["rejected"]);
    test("no_such_tool", "{}").gave(4, &["no_such_tool"]);
    let owned = folder.run(&["policy", "test", "delete_file", r#"{"path":"/files/a"}"#, "--owner", "guest", "--json"]);
    assert_eq!((owned.code, owned.json()["result"].as_str()), (4, Some("denied")), "{owned:?}");
    assert_eq!(owned.json()["rules"], serde_json::json!([{"rule": 2, "matches": true}]), "{owned:?}");
    assert!(folder.run(&["resolve"]).out.find("apr_").is_none());
}

const BUDGET: &str = "\n[[budgets]]\ntool = \"write_file\"\ncalls = 4\nper = \"24h\"\n";

#[test]
fn a_restart_keeps_what_was_counted() {
    let folder = folder(BUDGET);
    let write = |n: usize| {
        let arguments = format!(r#"{{"path":"/files/{n}.txt","content":"x"}}"#);
        folder.run(&["call", "write_file", &arguments, "--json"])
    };
    for n in 0..4 {
        write(n).gave(0, &[]);
    }
    denied(&write(4), "budget 1 allows 4 calls in 24h, of which 0 is left: ask again in ");
    assert!(!folder.path("work/workspace/4.txt").exists());
    let other = ["call", "write_file", r#"{"path":"/files/5.txt","content":"x"}"#, "--owner", "ci", "--json"];
    folder.run(&other).gave(0, &[]);
    let arguments = r#"{"path":"/files/6.txt","content":"x"}"#;
    folder.run(&["policy", "test", "write_file", arguments]).gave(4, &["0 left", "denied: budget 1"]);
    folder.run(&["config", "check"]).gave(0, &["EACH OWNER MAY", "4 calls in 24h"]);
}

#[test]
fn of_sixteen_processes_at_once_as_many_run_as_the_budget_allows() {
    let folder = folder(BUDGET);
    let children: Vec<_> = (0..16)
        .map(|n| {
            let arguments = format!(r#"{{"path":"/files/{n}.txt","content":"x"}}"#);
            let mut command = folder.command(&["call", "write_file", &arguments, "--json"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let ran = outputs.iter().filter(|output| output.status.code() == Some(0)).count();
    assert_eq!(ran, 4, "{outputs:?}");
    let written = std::fs::read_dir(folder.path("work/workspace")).unwrap();
    let written =
        written.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".txt")).count();
    assert_eq!(written, 4);
    for output in outputs.iter().filter(|output| output.status.code() != Some(0)) {
        let payload: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(payload["reason"], "denied", "{payload}");
    }
}

#[test]
fn what_no_tool_lists_and_its_schema_leaves_open_is_told_and_taken() {
    let folder = Folder::ready();
    std::fs::copy(counterfoil_tests::fixture("echo"), folder.path("work/echo.wasm")).unwrap();
    let check = |read: &str, sum: &str| {
        let policy = format!(
            "[[rules]]\ntool = \"echo\"\nwhen = 'has(args.{read})'\ndeny = true\nreason = \"no\"\n\
             [[budgets]]\ntool = \"echo\"\ncalls = 9\nper = \"1h\"\n\
             [[budgets]]\ntool = \"echo\"\nsum = \"args.{sum}\"\nat_most = 5\nper = \"1h\"\n"
        );
        folder.write("work/counterfoil.toml", &format!("[plugins.echo]\nsource = \"echo.wasm\"\n{policy}"));
        let ran = folder.run(&["config", "check"]);
        ran.gave(0, &["5 of args."]);
        let told: Vec<String> = ran.out.lines().filter(|line| line.contains("lists")).map(str::to_owned).collect();
        told
    };
    assert_eq!(
        check("txet", "m"),
        [
            "no tool of rule 1 lists args.txet: look whether it is spelt so",
            "no tool of budget 2 lists args.m: look whether it is spelt so"
        ]
    );
    assert_eq!(check("text", "n"), [""; 0]);
}

#[test]
fn a_tool_of_which_a_rule_denies_every_call_is_shown_so() {
    let folder = folder(
        "[[rules]]\ntool = [\"delete_file\", \"move_file\"]\nwhen = 'args.path.contains(\"x\")'\ndeny = true\nreason = \"no\"\n\
         [[rules]]\ntool = \"write_file\"\nwhen = 'true'\ndeny = true\nreason = \"no\"",
    );
    let ran = folder.run(&["config", "check"]);
    ran.gave(
        0,
        &["rule 1 has no answer for any call of move_file (its schema allows no args.path)", "a rule of its own"],
    );
    let row = |ran: &Ran, tool: &str| ran.out.lines().find(|line| line.starts_with(tool)).unwrap().to_owned();
    for ran in [ran, folder.run(&["tools"])] {
        assert!(row(&ran, "move_file").contains("denied: rule 1 has no answer"), "{}", ran.out);
        assert!(row(&ran, "write_file").contains("denied by rule 2"), "{}", ran.out);
        assert!(row(&ran, "delete_file").contains("always needs a confirmation"), "{}", ran.out);
    }
    let tools = folder.run(&["tools", "--json"]).json();
    let told = |name: &str| {
        tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap()["denied_by_rule"].clone()
    };
    assert_eq!(
        [told("move_file"), told("write_file"), told("delete_file")].map(|rule| rule.as_u64()),
        [Some(1), Some(2), None]
    );
    // And so it is.
    folder.run(&["policy", "test", "move_file", r#"{"from":"a","to":"b"}"#]).gave(4, &["rule 1 has no answer"]);
}

#[track_caller]
fn stops(policy: &str, says: &[&str]) {
    let ran = folder(policy).run(&["config", "check"]);
    assert_eq!(ran.code, 2, "{policy}: {ran:?}");
    for word in says {
        assert!(ran.err.contains(word), "{policy}: {word:?} is missing in {}", ran.err);
    }
}

#[test]
fn a_mistake_in_a_rule_or_a_budget_stops_the_start_with_its_line() {
    let rule = |lines: &str| format!("[[rules]]\ntool = \"write_file\"\n{lines}");
    let deny = "deny = true\nreason = \"no\"";
    for (policy, says) in [
        (rule(&format!("when = 'argz.path == \"\"'\n{deny}")), ["there is no \"argz\"", "when = 'argz.path == "]),
        (rule(&format!("when = 'args.path =='\n{deny}")), ["the condition is wrong at 1:", "when = 'args.path =='"]),
        (rule(&format!("when = 'args.path'\n{deny}\nlevel = 3")), ["has a level or denies", "deny = true"]),
        (rule("when = 'true'"), ["this rule does nothing", "tool = \"write_file\""]),
        (rule("when = 'true'\ndeny = false"), ["this denies nothing", "deny = false"]),
        (rule("when = 'true'\ndeny = true"), ["add a line reason", "deny = true"]),
        (rule("when = 'true'\ndeny = true\nreason = ''"), ["write a reason", "reason = ''"]),
        (rule("when = 'true'\nlevel = 'safe'"), ["safe raises nothing", "level = 'safe'"]),
        (rule("when = 'true'\nlevel = 2"), ["would lower that", "tool = \"write_file\""]),
        (rule(&format!("if = 'true'\n{deny}")), ["unknown key `if`", "if = 'true'"]),
        (
            format!("[[rules]]\ntool = \"write\"\nwhen = 'true'\n{deny}"),
            ["there is no tool \"write\"", "tool = \"write\""],
        ),
        (rule(&format!("when = 'args.paht == \"\"'\n{deny}")), ["allows no args.paht", "when = 'args.paht"]),
        (rule(&format!("when = 'args.path == 5'\n{deny}")), ["args.path is a text", "when = '"]),
        (rule(&format!("when = '\"a\" in args.path'\n{deny}")), ["args.path is a text", "when = '"]),
        (rule(&format!("when = 'owner == \"ci\"'\n{deny}")), ["owner is never \"ci\"", "when = 'owner"]),
        (rule(&format!("when = 'tool == \"nope\"'\n{deny}")), ["there is no tool \"nope\"", "when = 'tool"]),
        (rule(&format!("when = 'tool == \"read_file\"'\n{deny}")), ["is not about \"read_file\"", "when = 'tool"]),
        (
            rule(&format!("when = 'owner.startsWith(\"nightly\")'\n{deny}")),
            ["never begins with \"nightly\"", "os:NAME"],
        ),
        (rule(&format!("when = 'owner.matches(\"^nightly$\")'\n{deny}")), ["never matches", "when = 'owner"]),
        (
            rule(&format!("when = 'owner.startsWith(\"key:\")'\n{deny}")),
            ["never begins with \"key:\" here", "name:NAME"],
        ),
        (
            rule(&format!("when = 'tool.startsWith(\"wriet_\")'\n{deny}")),
            ["never begins with \"wriet_\"", "when = 'tool"],
        ),
        (rule(&format!("when = '!args.path'\n{deny}")), ["args.path is a text", "taken for true or false"]),
        (rule(&format!("when = 'size(args.path) > \"3\"'\n{deny}")), ["size(…) is a number", "when = 'size"]),
        (rule(&format!("when = 'args.path = \"x\"'\n{deny}")), ["compared with ==", "when = 'args.path = "]),
        (
            "[[budgets]]\ntool = \"write_file\"\nsum = \"args.content\"\nat_most = 5\nper = \"1h\"".into(),
            ["adds up numbers", "sum = \"args.content\""],
        ),
        (format!("[[rules]]\ntool = []\nwhen = 'true'\n{deny}"), ["no tool is named", "tool = []"]),
        ("[[budgets]]\ntool = []\ncalls = 1\nper = \"1h\"".into(), ["no tool is named: name one", "tool = []"]),
        (format!("[[rules]]\ntool = [\"*\", \"a\"]\nwhen = 'true'\n{deny}"), ["stands alone", "tool = ["]),
        (
            "[[budgets]]\ntool = \"nothing\"\ncalls = 1\nper = \"1h\"".into(),
            ["there is no tool \"nothing\"", "tool = \"nothing\""],
        ),
        ("[[budgets]]\ntool = \"*\"\nper = \"1h\"".into(), ["counts nothing", "tool = \"*\""]),
        (
            "[[budgets]]\ntool = \"*\"\ncalls = 0\nper = \"1h\"".into(),
            ["write a rule with when = \"true\"", "calls = 0"],
        ),
        ("[rules]\ntool = \"*\"".into(), ["where a list of tables belongs: write [[rules]]", "[rules]"]),
        (
            "[[budgets]]\ntool = \"*\"\ncalls = \"x\"\nper = \"1h\"".into(),
            ["a text stands here where a whole number belongs", "calls = \"x\""],
        ),
        (
            "[[budgets]]\ntool = \"*\"\ncalls = 1\nper = \"5ms\"".into(),
            ["a period lasts from a second", "per = \"5ms\""],
        ),
        ("[[budgets]]\ntool = \"*\"\nsum = \"args.n\"\nper = \"1h\"".into(), ["at_most = 500", "sum = \"args.n\""]),
        (
            "[[budgets]]\ntool = \"*\"\nsum = \"n\"\nat_most = 5\nper = \"1h\"".into(),
            ["no path to an argument", "sum = \"n\""],
        ),
        (
            "[[budgets]]\ntool = \"*\"\nsum = \"args.n\"\nat_most = 5.5\nper = \"1h\"".into(),
            ["exact only in quotes", "at_most = 5.5"],
        ),
        (
            "[[budgets]]\ntool = \"*\"\nsum = \"args.n\"\nat_most = \"99.9e5\"\nper = \"1h\"".into(),
            ["exponent: write the number out", "at_most = \"99.9e5\""],
        ),
        (
            "[[budgets]]\ntool = \"*\"\nsum = \"args.n\"\nat_most = -5\nper = \"1h\"".into(),
            ["is negative", "at_most = -5"],
        ),
        (
            "[[budgets]]\ntool = \"*\"\ncalls = 1\nper = \"1h\"\n[[budgets]]\ntool = \"*\"\ncalls = 2\nper = \"60m\""
                .into(),
            ["budget 2 counts the same as budget 1", "tool = \"*\""],
        ),
    ] {
        stops(&policy, &says);
    }
}
