#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

fn entry() -> ServerEntry {
    let args = ["serve", "--config", "/c.toml"].map(str::to_owned).to_vec();
    ServerEntry { command: "/bin/counterfoil".to_owned(), args, ..ServerEntry::default() }
}

fn client(name: &str) -> &'static Client {
    Client::named(name).unwrap()
}

/// Puts the entry into a text; then it is there, a second time changes nothing, and taking it out again is clean.
#[track_caller]
fn puts(name: &str, before: &str, after: &str) {
    let client = client(name);
    let text = client.put(before, "counterfoil", &entry()).unwrap();
    assert_eq!(text, after);
    assert!(client.get(&text, "counterfoil").unwrap().unwrap().is(&entry()));
    assert_eq!(client.put(&text, "counterfoil", &entry()).unwrap(), text);
    let without = client.remove(&text, "counterfoil").unwrap().unwrap();
    assert_eq!(client.get(&without, "counterfoil").unwrap(), None);
    assert_eq!(client.remove(&without, "counterfoil").unwrap(), None);
}

#[track_caller]
fn faulty(name: &str, text: &str, line: usize, column: usize, word: &str) {
    for fault in [
        client(name).put(text, "counterfoil", &entry()).unwrap_err(),
        client(name).get(text, "counterfoil").unwrap_err(),
        client(name).remove(text, "counterfoil").unwrap_err(),
    ] {
        assert_eq!((fault.line, fault.column), (line, column), "{fault}");
        assert!(fault.what.contains(word), "{fault}");
    }
}

const NEW: &str = r#"{
  "mcpServers": {
    "counterfoil": {
      "command": "/bin/counterfoil",
      "args": ["serve", "--config", "/c.toml"]
    }
  }
}
"#;

#[test]
fn a_file_that_is_empty_or_has_an_empty_object_gets_the_whole() {
    puts("windsurf", "", NEW);
    puts("windsurf", "\n", NEW);
    puts("windsurf", "{}\n", NEW);
    puts("windsurf", "{\n  \"mcpServers\": {}\n}\n", NEW);
}

#[test]
fn comments_order_indentation_and_line_ends_stay() {
    puts(
        "zed",
        "// mine\n{\n\t\"theme\": \"One\", // liked\n\t\"context_servers\": {\n\t\t/* old */\n\t\t\"a\": { \"command\": \"x\" },\n\t},\n\t\"z\": 1.50,\n}",
        "// mine\n{\n\t\"theme\": \"One\", // liked\n\t\"context_servers\": {\n\t\t/* old */\n\t\t\"a\": { \"command\": \"x\" },\n\t\t\"counterfoil\": {\n\t\t\t\"command\": \"/bin/counterfoil\",\n\t\t\t\"args\": [\"serve\", \"--config\", \"/c.toml\"],\n\t\t},\n\t},\n\t\"z\": 1.50,\n}",
    );
    puts(
        "windsurf",
        "{\r\n    \"b\": 1e5\r\n}\r\n",
        "{\r\n    \"b\": 1e5,\r\n    \"mcpServers\": {\r\n        \"counterfoil\": {\r\n            \"command\": \"/bin/counterfoil\",\r\n            \"args\": [\"serve\", \"--config\", \"/c.toml\"]\r\n        }\r\n    }\r\n}\r\n",
    );
}

#[test]
fn what_was_added_to_an_entry_stays_and_what_is_ours_is_replaced() {
    let old = "{\"servers\":{\"counterfoil\":{\"timeout\":5,\"command\":\"/bin/counterfoil\",\"args\":[],\"env\":{\"A\":\"b\"}}}}";
    let mut new = entry();
    new.env.insert("XDG_STATE_HOME".into(), "/s".into());
    let text = client("vscode").put(old, "counterfoil", &new).unwrap();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!({"timeout": 5, "type": "stdio", "command": "/bin/counterfoil",
        "args": ["serve", "--config", "/c.toml"], "env": {"A": "b", "XDG_STATE_HOME": "/s"}});
    assert_eq!(read["servers"]["counterfoil"], expected);
    // Another kind of server under our name has nothing that could stay.
    let remote = "{\"mcpServers\":{\"counterfoil\":{\"url\":\"https://example.com\"}}}";
    let text = client("cursor").put(remote, "counterfoil", &entry()).unwrap();
    assert!(!text.contains("url"), "{text}");
}

#[test]
fn of_an_entry_that_starts_another_program_nothing_stays() {
    let json =
        r#"{"mcpServers":{"counterfoil":{"command":"/bin/sh","envFile":"x","cwd":"/x","env":{"LD_PRELOAD":"/x"}}}}"#;
    let toml =
        "[mcp_servers.counterfoil]\ncommand = \"/bin/sh\"\ncwd = \"/x\"\n[mcp_servers.counterfoil.env]\nA = \"b\"\n";
    for (name, text) in [("cursor", json), ("codex", toml)] {
        assert!(client(name).get(text, "counterfoil").unwrap().unwrap().foreign().is_some());
        let text = client(name).put(text, "counterfoil", &entry()).unwrap();
        let found = client(name).get(&text, "counterfoil").unwrap().unwrap();
        assert_eq!((found.foreign(), found.env.len()), (None, 0), "{text}");
        assert!(found.is(&entry()), "{text}");
    }
}

#[test]
fn every_server_comes_from_one_look_and_too_many_are_refused() {
    let entries = |count: usize| {
        let one = |at: usize| format!("\"s{at}\":{{\"command\":\"/x\"}}");
        format!("{{\"mcpServers\":{{{}}}}}", (0..count).map(one).collect::<Vec<_>>().join(","))
    };
    assert_eq!(client("gemini-cli").all(&entries(MAX_SERVERS)).unwrap().len(), MAX_SERVERS);
    let fault = client("cursor").all(&entries(MAX_SERVERS + 1)).unwrap_err();
    assert!(fault.what.contains("more than 1000 servers"), "{fault}");
    let tables: String = (0..=MAX_SERVERS).map(|at| format!("[mcp_servers.s{at}]\ncommand = \"/x\"\n")).collect();
    assert!(client("codex").all(&tables).unwrap_err().what.contains("more than 1000 servers"));
    assert_eq!(client("codex").all("[mcp_servers.a]\ncommand = \"/x\"\n").unwrap()[0].1.command, "/x");
}

/// The entry with and without our variable, in a text that has it; whatever else is in the environment stays.
#[track_caller]
fn takes_out(name: &str, with: &str, without: &str) {
    let client = client(name);
    assert_eq!(client.put(with, "counterfoil", &entry()).unwrap(), without);
    let mut new = entry();
    new.env.insert("XDG_STATE_HOME".into(), "/s".into());
    assert_eq!(client.put(with, "counterfoil", &new).unwrap(), with);
}

#[test]
fn the_variable_that_is_ours_is_taken_out_where_the_new_entry_has_none() {
    let json = |env: &str| {
        let args = r#""args":["serve", "--config", "/c.toml"]"#;
        format!(r#"{{"mcpServers":{{"counterfoil":{{"command":"/bin/counterfoil",{args}{env}}}}}}}"#)
    };
    takes_out("windsurf", &json(r#","env":{"XDG_STATE_HOME":"/s"}"#), &json(""));
    takes_out("windsurf", &json(r#","env":{"A":"b","XDG_STATE_HOME":"/s"}"#), &json(r#","env":{"A":"b"}"#));
    let toml =
        "[mcp_servers.counterfoil]\ncommand = \"/bin/counterfoil\"\nargs = [\"serve\", \"--config\", \"/c.toml\"]\n";
    takes_out("codex", &format!("{toml}env = {{ XDG_STATE_HOME = \"/s\" }}\n"), toml);
    let table = format!("{toml}[mcp_servers.counterfoil.env]\nA = \"b\"\n");
    takes_out("codex", &format!("{table}XDG_STATE_HOME = \"/s\"\n"), &table);
}

#[test]
fn a_server_that_is_switched_off_is_known_by_its_entry_or_by_its_clients_lists() {
    #[track_caller]
    fn off(name: &str, text: &str, expected: bool) {
        assert_eq!(client(name).get(text, "counterfoil").unwrap().unwrap().disabled, expected, "{text}");
    }
    let json = |servers: &str, more: &str, list: &str| {
        format!(r#"{{{list}"{servers}":{{"counterfoil":{{"command":"/bin/counterfoil"{more}}}}}}}"#)
    };
    off("cline", &json("mcpServers", "", ""), false);
    off("cline", &json("mcpServers", r#","disabled":true"#, ""), true);
    off("zed", &json("context_servers", r#","enabled":false"#, ""), true);
    off("codex", "[mcp_servers.counterfoil]\ncommand = \"/x\"\nenabled = false\n", true);
    for (list, expected) in [
        (r#""mcp":{"excluded":["counterfoil"]},"#, true),
        (r#""mcp":{"excluded":["other"]},"#, false),
        (r#""mcp":{"allowed":["other"]},"#, true),
        (r#""mcp":{"allowed":["other","counterfoil"]},"#, false),
        (r#""mcp":{"allowed":true},"#, false),
    ] {
        off("gemini-cli", &json("mcpServers", "", list), expected);
        off("cursor", &json("mcpServers", "", list), false);
    }
}

#[test]
fn fewer_tools_stay_fewer() {
    let text = client("copilot-cli").put("", "counterfoil", &entry()).unwrap();
    assert!(text.contains(r#""tools": ["*"]"#) && text.contains(r#""type": "local""#), "{text}");
    let fewer = text.replace("\"*\"", "\"read_file\"").replace("/c.toml", "/old.toml");
    let text = client("copilot-cli").put(&fewer, "counterfoil", &entry()).unwrap();
    assert!(text.contains("read_file") && text.contains("/c.toml"), "{text}");
}

#[test]
fn json_that_is_damaged_or_means_two_things_is_refused_with_its_place() {
    faulty("cursor", "{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9, "comma");
    faulty("cursor", "{ \"a\": ", 1, 8, "");
    faulty("cursor", "{} {}", 1, 4, "");
    faulty("cursor", "[]", 1, 1, "object");
    faulty("cursor", "{\n\"mcpServers\": []}", 2, 15, "object");
    faulty("cursor", "{\"mcpServers\": {},\n \"mcpServers\": {}}", 2, 2, "second time");
    faulty("cursor", "{\"mcpServers\": {\"counterfoil\": {}, \"counter\\u0066oil\": {}}}", 1, 36, "second time");
    faulty(
        "cursor",
        "{\"mcpServers\": {\"counterfoil\": {\"command\": \"a\",\n\"command\": \"b\"}}}",
        2,
        1,
        "second time",
    );
    faulty(
        "cursor",
        "{\"mcpServers\": {\"counterfoil\": {\"env\": {\"A\": \"a\",\n \"\\u0041\": \"b\"}}}}",
        2,
        2,
        "second time",
    );
    faulty("cursor", "{'mcpServers': {}}", 1, 2, "");
    faulty("cursor", "// nothing\n", 1, 1, "comments");
    faulty("cursor", &format!("{}1{}", "[".repeat(5000), "]".repeat(5000)), 1, 513, "depth");
}

#[test]
fn toml_keeps_its_comments_and_its_tables() {
    puts(
        "codex",
        "",
        "[mcp_servers.counterfoil]\ncommand = \"/bin/counterfoil\"\nargs = [\"serve\", \"--config\", \"/c.toml\"]\n",
    );
    puts(
        "codex",
        "model = \"x\" # liked\n\n[mcp_servers.a] # first\ncommand = 'y'\n\n[tui]\nn = 0x10\n",
        "model = \"x\" # liked\n\n[mcp_servers.a] # first\ncommand = 'y'\n\n[mcp_servers.counterfoil]\ncommand = \"/bin/counterfoil\"\nargs = [\"serve\", \"--config\", \"/c.toml\"]\n\n[tui]\nn = 0x10\n",
    );
    let text = client("codex")
        .put(
            "[mcp_servers]\ncounterfoil = { command = \"/bin/counterfoil\", startup_timeout_sec = 20 }\n",
            "counterfoil",
            &entry(),
        )
        .unwrap();
    assert_eq!(
        text,
        "[mcp_servers]\ncounterfoil = { command = \"/bin/counterfoil\", startup_timeout_sec = 20 , args = [\"serve\", \"--config\", \"/c.toml\"] }\n"
    );
    let old = "[mcp_servers.counterfoil]\ncommand = \"/bin/counterfoil\" # where it was\nargs = []\n[mcp_servers.counterfoil.env]\nA = \"b\"\n";
    let text = client("codex").put(old, "counterfoil", &entry()).unwrap();
    assert!(text.contains("command = \"/bin/counterfoil\" # where it was\n") && text.contains("A = \"b\""), "{text}");
}

#[test]
fn toml_that_is_damaged_is_refused_with_its_place() {
    faulty("codex", "a = 1\nb = \n", 2, 5, "");
    faulty("codex", "a = 1\na = 2\n", 2, 1, "duplicate");
    faulty("codex", "mcp_servers = 3\n", 1, 15, "table");
}

#[test]
fn the_configuration_of_an_entry_is_found_in_both_spellings() {
    assert_eq!(entry().config(), Some("/c.toml"));
    let mut other = entry();
    other.args = vec!["--config=/d.toml".into(), "serve".into()];
    assert_eq!(other.config(), Some("/d.toml"));
    other.args = vec!["serve".into(), "--config".into()];
    assert_eq!(other.config(), None);
}

#[test]
fn names_of_clients_are_in_order_and_their_own() {
    let names: Vec<_> = CLIENTS.iter().map(|client| client.name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(names, sorted);
}
