//! What the program writes where a person reads it, of a plug-in whose every text is hostile and which repeats its password:
//! nothing that cannot be seen, nothing that moves what can, and no secret, whatever is logged.

use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const PASSWORD: &str = "correct-horse-7";
/// A name in what is secret as a whole.
const NAME: &str = "battery-staple-9";
/// As hostile as the plug-in, from whoever calls.
const CALLER: &str = "x\u{1b}[2J\u{202e}\u{200b}\u{e0041}\u{2028}\u{9b}\u{f8ff}\u{34f}\u{2800}y";

/// Whether a character cannot be seen, or changes what is seen of others. Written from Unicode's own lists and not from the
/// program's.
fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(code, 0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x180E | 0x2800 | 0x3164 | 0xFEFF)
        || (0xE000..=0xF8FF).contains(&code)
        || (0xFFF0..=0xFFFC).contains(&code)
        || (0x200B..=0x200F).contains(&code)
        || (0x2028..=0x202E).contains(&code)
        || (0x2060..=0x206F).contains(&code)
        || (0xFE00..=0xFE0F).contains(&code)
        || (0xE0000..=0xE0FFF).contains(&code)
}

struct Stage(Folder);

impl Stage {
    fn new() -> Self {
        let folder = Folder::new();
        std::fs::copy(counterfoil_tests::fixture("painted"), folder.path("work/painted.wasm")).unwrap();
        let config = "[store]\nurl = \"sqlite:state.db\"\n[plugins.painted]\nsource = \"painted.wasm\"\n";
        folder.write("work/counterfoil.toml", config);
        Self(folder)
    }

    /// Runs a verb with everything logged, and holds what comes of it to what may be shown. Returns it, and its exit code.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> (String, i32) {
        let output = self.0.command(arguments).env("COUNTERFOIL_LOG", "trace").output().unwrap();
        let shown = [output.stdout.as_slice(), b"\n", &output.stderr].concat();
        let shown = String::from_utf8(shown).unwrap();
        if let Some(c) = shown.chars().find(|c| is_hidden(*c)) {
            panic!("{arguments:?} lets {c:?} out:\n{}", shown.escape_debug());
        }
        assert!(
            ![PASSWORD, NAME].iter().any(|secret| shown.contains(secret)),
            "{arguments:?} tells a secret:\n{shown}"
        );
        (shown, output.status.code().unwrap())
    }

    #[track_caller]
    fn gave(&self, arguments: &[&str], code: i32, words: &[&str]) -> String {
        let (shown, ended) = self.run(arguments);
        assert_eq!(ended, code, "{arguments:?}:\n{shown}");
        words.iter().for_each(|word| assert!(shown.contains(word), "{word:?} is missing in:\n{shown}"));
        shown
    }
}

fn arguments(how: &str) -> String {
    json!({"how": how, "password": PASSWORD, "vault": {NAME: [{NAME: 1}]}, "note": CALLER}).to_string()
}

#[test]
fn no_verb_shows_what_cannot_be_seen_nor_a_secret() {
    let stage = Stage::new();
    let painted = r"\e[2J\u{9b}31m\u{7}\u{202e}\u{2066}\u{200b}\u{200d}\u{feff}\u{e0041}\u{2028}\u{fe0f}\u{e000}\u{fff9}\u{115f}\r";
    stage.gave(&["tools"], 0, &["paint"]);
    stage.gave(&["tools", "--json"], 0, &[r"description\\e[2J"]);
    stage.gave(&["config", "check"], 0, &["paint"]);
    stage.gave(&["plugin", "inspect", "painted.wasm"], 0, &["paint"]);
    stage.gave(&["plugin", "inspect", "painted.wasm", "--json"], 0, &["\\u202e"]);
    stage.gave(&["plugin", "inspect", "painted.wasm", "--markdown"], 0, &["paint"]);
    stage.run(&["doctor"]);

    for (how, code) in [("", 0), ("failed", 5)] {
        let shown = stage.gave(&["call", "paint", &arguments(how)], 3, &["warning:", painted, "(secret)"]);
        assert!(shown.contains("the same JSON"), "the secret is not repeated:\n{shown}");
        let json = stage.gave(&["call", "paint", &arguments(how), "--json"], 3, &["\\u202e", "(secret)"]);
        let json: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        let token = json["confirm_token"].as_str().unwrap();
        let confirm = ["call", "paint", &arguments(how), "--confirm", token];
        stage.gave(&confirm, code, &[r"\u{202e}", "(secret)"]);
        stage.gave(&[&confirm[..], &["--json"]].concat(), code, &["(secret)"]);
    }
    stage.gave(&["call", "look", &arguments("")], 0, &[r"\u{202e}"]);
    stage.gave(&["call", "paint", &arguments("refused")], 4, &["refused", r"\u{202e}"]);
    stage.gave(&["call", CALLER, "{}"], 4, &["unknown_tool", r"\u{202e}"]);
    stage.gave(&["call", CALLER, "{}", "--json"], 4, &["unknown_tool"]);
    stage.gave(&["call", "paint", CALLER], 4, &["one JSON object"]);
    let keys = json!({ CALLER: 1, "password": [PASSWORD] }).to_string();
    stage.gave(&["call", "paint", &keys], 4, &["invalid_arguments"]);
    stage.run(&["call", "look", "{}", "--owner", CALLER]);
    stage.run(&["call", "look", "{}", "--confirm", CALLER]);
    stage.run(&["--config", CALLER, "tools"]);
    stage.run(&["plugin", "inspect", CALLER]);
    stage.run(&["resolve", CALLER, "--happened"]);
    stage.run(&[CALLER]);
    stage.0.write("work/other.toml", &format!("[plugins.\"{}\"]\n", CALLER.replace('\u{1b}', "\\u001b")));
    stage.gave(&["--config", "other.toml", "tools"], 2, &["error"]);
    keeps_no_password(&stage.0.path(""));
}

#[test]
fn a_lost_run_is_listed_without_what_cannot_be_seen() {
    let stage = Stage::new();
    let hostile = json!({ "how": CALLER }).to_string();
    let json = stage.gave(&["call", "paint", &hostile, "--json"], 3, &[]);
    let json: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    super::cli::lose(&stage.0, json["confirm_token"].as_str().unwrap(), Duration::from_millis(1));
    for verb in
        [&["resolve"][..], &["resolve", "--json"], &["resolve", "--arguments"], &["resolve", "--arguments", "--json"]]
    {
        stage.gave(verb, 0, &["paint"]);
    }
    let long = json!({ "how": format!("{CALLER}{}{CALLER}end", "long ".repeat(600)) }).to_string();
    let json = stage.gave(&["call", "paint", &long, "--json"], 3, &[]);
    let json: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    super::cli::lose(&stage.0, json["confirm_token"].as_str().unwrap(), Duration::from_millis(1));
    let brief = stage.gave(&["resolve", "--arguments"], 0, &["in all, SHA-256 ", "--full shows them whole", "end\""]);
    let whole = stage.gave(&["resolve", "--arguments", "--full"], 0, &[&"long ".repeat(600)]);
    assert!(brief.len() + 1000 < whole.len(), "{brief}");
}

#[test]
fn a_server_logs_no_argument_and_its_prose_has_nothing_hidden() {
    let stage = Stage::new();
    let ask = |id: u8, method: &str, params: Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": CALLER, "version": "1"}});
    let call = json!({"name": "paint", "arguments": {"password": PASSWORD, "vault": {NAME: 1}, "note": "between-us"}});
    let input = ask(1, "initialize", hello) + &ask(2, "tools/list", json!({})) + &ask(3, "tools/call", call);
    let ran = stage.0.run_with_input_and_log(&["serve"], &input, "trace");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(![PASSWORD, NAME].iter().any(|secret| ran.err.contains(secret) || ran.out.contains(secret)), "{ran:?}");
    assert!(!ran.err.chars().any(is_hidden), "{}", ran.err.escape_debug());
    let own: Vec<&str> = ran.err.lines().filter(|line| !line.contains("counterfoil::plugin")).collect();
    assert!(!own.iter().any(|line| line.contains("between-us")), "an argument is logged: {own:?}");
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |id: u8| answers.iter().find(|answer| answer["id"] == id).unwrap();
    let tool = &of(2)["result"]["tools"][0];
    let plan = &of(3)["result"]["structuredContent"];
    for prose in
        [&tool["title"], &tool["description"], &tool["inputSchema"]["title"], &plan["summary"], &plan["warnings"][0]]
    {
        let prose = prose.as_str().unwrap();
        assert!(prose.contains(r"\u{202e}") && !prose.chars().any(is_hidden), "{}", prose.escape_debug());
    }
}

/// Of what the program keeps: the store with its log, caches, whatever there is.
fn keeps_no_password(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            keeps_no_password(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            for secret in [PASSWORD, NAME] {
                let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
                assert!(!found, "{secret} is in {}", path.display());
            }
        }
    }
}

#[test]
fn a_long_value_shows_its_ends_and_can_be_seen_whole() {
    let folder = Folder::ready();
    let long = format!("begin{}end", "x".repeat(3_000));
    let arguments = json!({"path": "a.txt", "content": long}).to_string();
    folder.run(&["call", "write_file", &arguments]).gave(0, &["a.txt"]);
    let read = json!({"path": "a.txt"}).to_string();
    let ran = folder.run(&["call", "read_file", &read]);
    ran.gave(0, &["\"begin", "3008 bytes in all, SHA-256 ", "; --full shows it whole) … \"x", "xend\""]);
    assert!(!ran.out.contains(&long));
    let whole = folder.run(&["call", "read_file", &read, "--full"]);
    assert!(whole.out.contains(&long) && !whole.out.contains("in all"), "{whole:?}");
    assert!(folder.run(&["call", "read_file", &read, "--json"]).out.contains(&long));
}
