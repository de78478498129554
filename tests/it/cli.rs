//! The program, verb by verb and class by class of exit code, on the real plug-in.

mod next;
mod noisy;

use counterfoil::gate::{Call, Decision, Gate, GateOptions, Settings, SystemClock};
use counterfoil::store::SqliteStore;
use counterfoil_tests::program::{Folder, Ran};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const DELETE: &str = r#"{"path": "a.txt"}"#;

/// Previews a deletion of `a.txt`, which it writes, and returns the token.
#[track_caller]
pub(super) fn preview(folder: &Folder) -> String {
    folder.write("work/workspace/a.txt", "precious");
    let ran = folder.run(&["call", "delete_file", DELETE, "--json"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    token(&ran)
}

#[track_caller]
fn token(ran: &Ran) -> String {
    ran.json()["confirm_token"].as_str().expect("a token").to_owned()
}

#[test]
fn an_empty_folder_becomes_a_working_host() {
    let folder = Folder::new();
    folder.run(&["config", "init"]).gave(0, &["counterfoil config check", "install --client", "mcpServers", "serve"]);
    folder.run(&["config", "check"]).gave(
        0,
        &[
            "is in order",
            "delete_file",
            "always needs a confirmation",
            "needs a confirmation, unless",
            "runs at once",
            "/files",
            "workspace",
        ],
    );
    folder.run(&["tools"]).gave(0, &["delete_file", "approval_required", "files", "does not prove"]);
    let tools = folder.run(&["tools", "--json"]).json();
    let delete = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "delete_file").unwrap();
    assert_eq!(
        (&delete["level"], &delete["needs_confirmation"], &delete["plugin"]),
        (&json!("approval_required"), &json!(true), &json!("files"))
    );
    folder.run(&["call", "write_file", r#"{"path": "a.txt", "content": "Hello"}"#]).gave(0, &["a.txt"]);
    folder.run(&["call", "read_file", r#"{"path": "a.txt"}"#]).gave(0, &["Hello"]);
    assert_eq!(std::fs::read_to_string(folder.path("work/workspace/a.txt")).unwrap(), "Hello");
}

#[test]
fn init_never_overwrites() {
    let folder = Folder::ready();
    folder.write("work/counterfoil.toml", "# mine\n");
    folder.run(&["config", "init"]).gave(2, &["exists already"]);
    assert_eq!(std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap(), "# mine\n");
    folder.run(&["config", "init", "deep/er"]).gave(0, &["--config deep/er/counterfoil.toml"]);
    folder.run(&["--config", "deep/er/counterfoil.toml", "config", "check"]).gave(0, &["delete_file"]);
}

#[test]
fn a_call_previewed_in_one_process_is_confirmed_in_another_and_runs_once() {
    let folder = Folder::ready();
    let token = preview(&folder);
    let file = folder.path("work/workspace/a.txt");
    assert!(file.exists());
    let first = folder.run(&["call", "delete_file", DELETE, "--confirm", &token, "--json"]);
    first.gave(0, &[r#""status":"ok""#]);
    assert!(!file.exists());
    folder.write("work/workspace/a.txt", "another");
    let again = folder.run(&["call", "delete_file", DELETE, "--confirm", &token, "--json"]);
    again.gave(0, &["nothing ran now"]);
    assert_eq!(again.out, first.out);
    assert!(file.exists());
}

#[test]
fn what_is_refused_exits_with_4_and_spends_nothing() {
    let folder = Folder::ready();
    let token = preview(&folder);
    folder.write("work/workspace/b.txt", "precious");
    let rejected = |arguments: &[&str], reason: &str| {
        let ran = folder.run(arguments);
        ran.gave(4, &[]);
        assert_eq!(ran.json()["reason"], reason, "{ran:?}");
    };
    rejected(&["call", "nothing", "{}", "--json"], "unknown_tool");
    rejected(&["call", "delete_file", "{}", "--json"], "invalid_arguments");
    rejected(&["call", "delete_file", r#"{"path": "a.txt", "path": "b.txt"}"#, "--json"], "invalid_arguments");
    rejected(&["call", "delete_file", "[", "--json"], "invalid_arguments");
    rejected(&["call", "delete_file", DELETE, "--confirm", "cfm_short", "--json"], "malformed_token");
    rejected(
        &["call", "delete_file", DELETE, "--confirm", "cfm_aaaaaaaaaaaaaaaaaaaaaaaa", "--json"],
        "unknown_or_used",
    );
    rejected(&["call", "delete_file", r#"{"path": "b.txt"}"#, "--confirm", &token, "--json"], "params_changed");
    rejected(&["call", "read_file", DELETE, "--confirm", &token, "--json"], "wrong_tool");
    rejected(&["call", "delete_file", DELETE, "--confirm", &token, "--owner", "other", "--json"], "wrong_owner");
    let both = format!(r#"{{"path": "a.txt", "confirm_token": "{token}"}}"#);
    rejected(&["call", "delete_file", &both, "--confirm", &token, "--json"], "invalid_arguments");
    folder
        .run(&["call", "read_file", r#"{"path": "none"}"#])
        .gave(4, &["rejected (refused)", "This call ran nothing and spent nothing."]);
    assert!(folder.path("work/workspace/a.txt").exists() && folder.path("work/workspace/b.txt").exists());
    folder.run(&["call", "delete_file", DELETE, "--confirm", &token]).gave(0, &[]);
}

#[test]
fn a_run_that_fails_exits_with_5() {
    let folder = Folder::ready();
    let token = preview(&folder);
    folder.write("work/workspace/a.txt", "changed in between");
    let ran = folder.run(&["call", "delete_file", DELETE, "--confirm", &token]);
    ran.gave(5, &["failed (tool_error)", "Effect: nothing was changed"]);
    assert!(folder.path("work/workspace/a.txt").exists());
}

#[test]
fn arguments_come_from_standard_input_too() {
    let folder = Folder::ready();
    folder.write("work/workspace/a.txt", "precious");
    let ran = folder.run_with_input(&["call", "delete_file", "-", "--json"], DELETE);
    ran.gave(3, &[]);
    folder
        .run_with_input(&["call", "delete_file", "-", "--confirm", &token(&ran)], "{ \"path\" : \"\\u0061.txt\" }\n")
        .gave(0, &[]);
    assert!(!folder.path("work/workspace/a.txt").exists());
}

#[test]
fn a_mistake_on_the_command_line_exits_with_2_and_quotes_no_token() {
    let folder = Folder::ready();
    let secret = "cfm_abcdefghijklmnopqrstuvwx";
    for arguments in [
        &["cal"][..],
        &["call", "delete_file", DELETE, "--confirm", ""],
        &["call", "delete_file", "[]", "--confirm", secret],
        &["call", "delete_file", DELETE, secret],
        &["call", "delete_file", DELETE, "--confirn", secret],
        &["call", "delete_file", DELETE, "--owner", ""],
        &["resolve", "--happened"],
        &["resolve", "x", "--happened", "--did-not"],
        &["resolve", "x"],
        &["serve", "--owner", "a\nb"],
        // Nobody else than who it looks like: a rule for `name:a` would not hold for `name:name:a`.
        &["serve", "--owner", "name:a"],
        &["call", "delete_file", DELETE, "--owner", "name:a"],
        &["policy", "test", "delete_file", DELETE, "--owner", "os:a"],
    ] {
        let ran = folder.run(arguments);
        ran.gave(2, &[]);
        assert!(!ran.err.contains(secret) && !ran.out.contains(secret), "{ran:?}");
    }
}

#[test]
fn a_configuration_is_looked_for_and_its_absence_explained() {
    let folder = Folder::new();
    folder.run(&["tools"]).gave(2, &["config init", "--config FILE", "home/.config/counterfoil/counterfoil.toml"]);
    folder.run(&["--config", "none.toml", "tools"]).gave(2, &["none.toml", "there is no such file"]);
    let of_user = folder.path("home/.config/counterfoil");
    folder.run(&["config", "init", of_user.to_str().unwrap()]).gave(0, &[]);
    folder.run(&["tools"]).gave(0, &["delete_file"]);
    folder.write("work/counterfoil.toml", "[gate]\nttl = \"1s\"\n");
    folder.run(&["tools"]).gave(2, &["counterfoil.toml:2:7", "15 s to 1 h"]);
}

#[test]
fn what_only_the_plugin_can_tell_gets_its_line_too() {
    let folder = Folder::ready();
    let plugin = "[plugins.files]\nsource = \"files.wasm\"\n";
    for (rest, line, words) in [
        ("[plugins.files.levels]\ndelete_file = 1\n", 4, &["approval_required"][..]),
        ("[plugins.files.levels]\ndelete_files = 3\n", 4, &["no tool \"delete_files\"", "delete_file,"]),
        ("tools = [\"read_file\"]\n[plugins.files.levels]\ndelete_file = 3\n", 5, &["switched off"]),
        ("tools = [\n\"read_file\",\n\"reed_file\",\n]\n", 5, &["no tool \"reed_file\""]),
        ("rename = { read = \"r\" }\n", 3, &["no tool \"read\""]),
        ("rename = { read_file = \"list_files\" }\n", 3, &["list_files", "rename"]),
        ("[plugins.other]\nsource = \"files.wasm\"\n", 3, &["\"files\" has a tool", "rename"]),
        ("[plugins.broken]\nsource = \"counterfoil.toml\"\n", 4, &["not WebAssembly"]),
    ] {
        folder.write("work/counterfoil.toml", &format!("{plugin}{rest}"));
        let ran = folder.run(&["config", "check"]);
        ran.gave(2, words);
        assert!(ran.err.contains(&format!("counterfoil.toml:{line}:")), "line {line} for {rest}: {ran:?}");
    }
    folder.write(
        "work/counterfoil.toml",
        "[gate]\nconfirm_parameter = \"path\"\n[plugins.files]\nsource = \"files.wasm\"\n",
    );
    folder.run(&["config", "check"]).gave(2, &["counterfoil.toml:", "path"]);
    folder.write("work/counterfoil.toml", "[gate]\nmax_depth = 100000\n[plugins.files]\nsource = \"files.wasm\"\n");
    folder.run(&["config", "check"]).gave(2, &["counterfoil.toml:2:"]);
}

#[test]
fn the_operators_words_are_in_force() {
    let folder = Folder::ready();
    folder.write(
        "work/counterfoil.toml",
        r#"
[gate]
confirm_parameter = "_confirmation_token"
[store]
url = "sqlite:state.db"
[plugins.files]
source = "files.wasm"
tools = ["read_file", "write_file"]
dirs = [{ host = "./workspace", guest = "/files", access = "read-write" }]
rename = { read_file = "read" }
[plugins.files.levels]
write_file = 3
"#,
    );
    let listed = folder.run(&["tools", "--json"]).json();
    let names: Vec<&Value> = listed.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read", "write_file"]);
    folder.run(&["call", "read_file", DELETE, "--json"]).gave(4, &["unknown_tool"]);
    let write = r#"{"path": "new.txt", "content": "x"}"#;
    let ran = folder.run(&["call", "write_file", write, "--json"]);
    ran.gave(3, &["_confirmation_token"]);
    assert!(folder.path("work/state.db").exists() && !folder.path("work/workspace/new.txt").exists());
    folder.run(&["call", "write_file", write, "--confirm", &token(&ran)]).gave(0, &[]);
    folder.run(&["call", "read", r#"{"path": "new.txt"}"#]).gave(0, &["x"]);
}

#[test]
fn a_configuration_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::ready();
    let file = folder.path("work/counterfoil.toml");
    // Whether its group is somebody else depends on who runs this: see the tests of `others.rs`.
    for (mode, words) in [(0o606, "everybody"), (0o666, "everybody")] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        folder.run(&["tools"]).gave(2, &[words, "chmod go-w counterfoil.toml"]);
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    folder.run(&["tools"]).gave(0, &[]);
    std::fs::set_permissions(folder.path("work/files.wasm"), std::fs::Permissions::from_mode(0o666)).unwrap();
    folder.run(&["tools"]).gave(2, &["counterfoil.toml:", "everybody", "chmod go-w"]);
}

#[test]
fn what_decides_what_runs_is_refused_below_a_folder_that_everybody_can_write() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::ready();
    let mode = |mode| std::fs::set_permissions(folder.path(""), std::fs::Permissions::from_mode(mode)).unwrap();
    folder.run(&["tools"]).gave(0, &[]);
    mode(0o757);
    folder.run(&["tools"]).gave(2, &["counterfoil.toml", "everybody can replace it", "chmod o-w"]);
    folder.run(&["doctor"]).gave(2, &["everybody can replace it"]);
    mode(0o1757);
    folder.run(&["tools"]).gave(0, &[]);
}

#[test]
fn a_plugin_file_is_shown_without_being_granted_anything() {
    let folder = Folder::ready();
    folder
        .run(&["plugin", "inspect", "files.wasm"])
        .gave(0, &["sha256:", "counterfoil:tool/tools@0.1.0", "wasi:filesystem", "delete_file"]);
    let shown = folder.run(&["plugin", "inspect", "files.wasm", "--json"]).json();
    assert_eq!(shown["digest"].as_str().map(str::len), Some(64));
    assert_eq!(shown["tools"].as_array().map(Vec::len), Some(8));
    folder.write("work/text.wasm", "not wasm");
    folder.run(&["plugin", "inspect", "text.wasm"]).gave(2, &["text.wasm", "not WebAssembly"]);
    folder.run(&["plugin", "inspect", "none.wasm"]).gave(2, &["none.wasm"]);
}

#[test]
fn an_idle_server_ends_with_its_input_and_says_nothing() {
    let folder = Folder::ready();
    let ran = folder.run(&["--config", "counterfoil.toml", "serve"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}

#[test]
fn the_schema_describes_the_file_and_completions_are_written() {
    let folder = Folder::new();
    let schema = folder.run(&["config", "schema"]).json();
    assert_eq!(schema["title"], "counterfoil.toml");
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"]["plugins"]["additionalProperties"].is_object(), "{schema}");
    folder.run(&["completions", "bash"]).gave(0, &["counterfoil"]);
    folder.run(&["--help"]).gave(0, &["Exit codes"]);
    for verb in ["serve", "tools", "call", "resolve", "config", "doctor", "install", "plugin", "demo"] {
        folder.run(&[verb, "--help"]).gave(0, &["Usage: counterfoil"]);
    }
}

/// Spends a token as a process does that dies before it has recorded anything; the run's deadline is `limit` from now.
/// Returns the approval id.
pub(super) fn lose(folder: &Folder, token: &str, limit: Duration) -> String {
    let store = SqliteStore::open(&folder.path("work/state.db")).unwrap();
    let options = GateOptions {
        store: Arc::new(store),
        clock: Arc::new(SystemClock),
        settings: Settings::default(),
        cache: None,
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let gate = Gate::new(options).unwrap();
        let item = gate.pending(None, 100).await.unwrap().pop().expect("what was previewed last");
        let call = Call { owner: item.owner, tool: item.tool, revision: item.revision, arguments: item.arguments };
        assert!(matches!(gate.consume(token, &call, limit).await.unwrap(), Decision::Execute(_)));
        item.approval_id
    })
}

#[test]
fn a_lost_run_is_listed_settled_by_a_person_and_never_run_again() {
    let folder = Folder::ready();
    let config = "[store]\nurl = \"sqlite:state.db\"\n[plugins.files]\nsource = \"files.wasm\"\n\
                  dirs = [{ host = \"./workspace\", guest = \"/files\", access = \"read-write\" }]\n";
    folder.write("work/counterfoil.toml", config);
    let confirm = |token: &str| folder.run(&["call", "delete_file", DELETE, "--confirm", token, "--json"]);
    folder.run(&["resolve"]).gave(0, &["nothing to settle"]);

    for (answer, detail) in [("--did-not", "settled_did_not"), ("--happened", "settled_happened")] {
        let token = preview(&folder);
        let id = lose(&folder, &token, Duration::from_millis(1));
        let ran = confirm(&token);
        ran.gave(4, &["outcome_unknown"]);
        folder.run(&["call", "delete_file", DELETE, "--json"]).gave(4, &["unresolved"]);
        folder.run(&["resolve"]).gave(0, &[&id, "delete_file", "a.txt", "Look at what it changes"]);
        assert_eq!(folder.run(&["resolve", "--json"]).json()[0]["approval_id"], id);
        // Arguments may hold what a summary leaves out.
        assert!(!folder.run(&["resolve"]).out.contains(r#""path""#));
        assert!(folder.run(&["resolve", "--json"]).json()[0].get("arguments").is_none());
        folder.run(&["resolve", "--arguments"]).gave(0, &["arguments {\"path\":"]);
        let whole = folder.run(&["resolve", "--json", "--arguments"]).json();
        assert!(whole[0]["arguments"].as_str().unwrap().contains("a.txt"), "{whole}");
        folder.run(&["resolve", "--full"]).gave(2, &["--arguments"]);
        folder.run(&["resolve", &id]).gave(2, &["look first"]);
        folder.run(&["resolve", &id, answer, "--by", "alice"]).gave(0, &["settled: delete_file", "name:alice"]);
        folder.run(&["resolve", &id, answer]).gave(2, &["lists what can be settled"]);
        confirm(&token).gave(4, &[detail]);
        assert!(folder.path("work/workspace/a.txt").exists());
    }

    let token = preview(&folder);
    let id = lose(&folder, &token, Duration::from_secs(3600));
    folder
        .run(&["resolve"])
        .gave(0, &["nothing to settle yet", "may still be running", &id, "delete_file  started 2", "deadline 2"]);
    folder.run(&["resolve", &id, "--happened"]).gave(2, &["deadline"]);
    confirm(&token).gave(4, &["in_flight"]);
    folder.run(&["resolve", "nobody", "--happened"]).gave(2, &["lists what can be settled"]);
}

#[test]
fn a_preview_that_cannot_be_confirmed_from_a_shell_says_so() {
    const SAID: &str = "has ended with this process";
    let folder = Folder::ready();
    folder.write("work/workspace/a.txt", "precious");
    assert!(!folder.run(&["call", "delete_file", DELETE]).err.contains(SAID));
    let dirs = r#"dirs = [{ host = "workspace", guest = "/files", access = "read-write" }]"#;
    let config = format!("[store]\nurl = \"memory:\"\n[plugins.files]\nsource = \"files.wasm\"\n{dirs}\n");
    folder.write("work/counterfoil.toml", &config);
    folder.run(&["call", "delete_file", DELETE]).gave(3, &[SAID, "sqlite:FILE"]);
}

#[test]
fn a_store_in_memory_has_no_lost_runs_to_settle() {
    let folder = Folder::new();
    folder.write("work/counterfoil.toml", "[store]\nurl = \"memory:\"\n");
    for arguments in [&["resolve"][..], &["resolve", "--json"], &["resolve", "abc", "--happened"]] {
        let ran = folder.run(arguments);
        ran.gave(2, &["memory:", "cannot be seen from here", "sqlite:FILE"]);
        assert_eq!(ran.out, "");
    }
}
