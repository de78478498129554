//! What the clients' files start: entries that lead nowhere, and servers that do not answer.

use super::{everything, mode, ready, row, says, unchanged};
use counterfoil_tests::program::Folder;
use serde_json::json;
use std::process::Command;

const CURSOR: &str = "home/.cursor/mcp.json";

/// Puts this command into the file of Cursor, with the arguments of the entry that was there.
fn starts(folder: &Folder, command: &str) {
    let config = folder.path("work/counterfoil.toml");
    let entry = json!({"command": command, "args": ["serve", "--config", config]});
    folder.write(CURSOR, &json!({"mcpServers": {"counterfoil": entry}}).to_string());
}

/// A server in a few lines of shell.
fn script(folder: &Folder, text: &str) {
    folder.write("server.sh", &format!("#!/bin/sh\n{text}\n"));
    mode(folder.path("server.sh"), 0o755);
    starts(folder, folder.path("server.sh").to_str().unwrap());
}

#[test]
fn an_entry_that_leads_nowhere_is_wrong() {
    let folder = ready();
    let good = std::fs::read_to_string(folder.path(CURSOR)).unwrap();
    starts(&folder, "/nowhere/counterfoil");
    row(
        &says(&folder, 1, &["counterfoil install --client cursor"]),
        &["wrong", "client", "Cursor", "is not there: /nowhere/counterfoil"],
    );
    folder.write(CURSOR, &good.replace("counterfoil.toml", "gone.toml"));
    row(&says(&folder, 1, &[]), &["wrong", "client", "the configuration in", "gone.toml"]);
    folder.write(CURSOR, "{\"mcpServers\": {\"counterfoil\": {\"url\": \"https://example.com\"}}}");
    row(&says(&folder, 1, &[]), &["wrong", "client", "no command"]);
    folder.write(CURSOR, &good.replace("\"command\"", "\"disabled\": true, \"command\""));
    row(&says(&folder, 0, &[]), &["warning", "client", "switched off"]);
    folder.write(CURSOR, "{\"mcpServers\": ");
    row(&says(&folder, 0, &[]), &["warning", "client", "mcp.json:1:"]);
    folder.write(CURSOR, "{}");
    row(&says(&folder, 0, &[]), &["warning", "client", "no client"]);
    folder.write(CURSOR, &good);
    mode(folder.path(CURSOR), 0o666);
    let ran = says(&folder, 1, &[]);
    row(&ran, &["wrong", "client", "mcp.json", "everybody"]);
    assert!(!ran.out.contains("of Cursor answered"), "{}", ran.out);
}

#[test]
fn what_depends_on_where_a_client_starts_it_is_pointed_out() {
    let folder = ready();
    starts(&folder, "counterfoil");
    row(&says(&folder, 1, &[]), &["warning", "client", "no absolute path"]);
    let program = counterfoil_tests::program::program();
    let entry = json!({"command": program, "args": ["serve", "--config", "counterfoil.toml"]});
    folder.write(CURSOR, &json!({"mcpServers": {"counterfoil": entry}}).to_string());
    row(&says(&folder, 1, &[]), &["warning", "client", "counterfoil.toml", "no absolute path"]);
    folder.write(CURSOR, &json!({"mcpServers": {"x": {"command": program, "args": ["serve"]}}}).to_string());
    let ran = says(&folder, 1, &[]);
    row(&ran, &["warning", "client", "names no configuration", "in the folder where the client starts it"]);
}

#[test]
fn a_server_that_does_not_answer_is_stopped_and_wrong() {
    let folder = ready();
    // What it started itself ends with it.
    script(&folder, &format!("sleep 600 & echo $! > {0}; echo $$ >> {0}; wait", folder.path("pids").display()));
    let ran = folder.run(&["doctor", "--patience", "1"]);
    ran.gave(1, &["has not answered within 1 s"]);
    let pids = std::fs::read_to_string(folder.path("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        // A process that has ended and whom nobody has waited for is a zombie: it runs nothing any more.
        let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
        let state = String::from_utf8(state.stdout).unwrap();
        assert!(state.trim().is_empty() || state.starts_with('Z'), "{pid}: {state}");
    }
}

#[test]
fn a_server_that_ends_or_speaks_something_else_is_wrong_and_its_words_are_shown() {
    let folder = ready();
    script(&folder, "printf 'it \\033[2J broke\\n' >&2; exit 3");
    let ran = says(&folder, 1, &["ended before it had answered"]);
    row(&ran, &[r"it \e[2J broke"]);
    script(&folder, "read x; echo hello; read y");
    row(&says(&folder, 1, &[]), &["wrong", "server", "not the protocol: hello"]);
    script(&folder, r#"read x; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}'; read y"#);
    row(&says(&folder, 1, &[]), &["wrong", "server", "answered with an error", "no"]);
}

#[test]
fn another_version_another_server_and_one_without_tools_are_pointed_out() {
    let folder = ready();
    let server = |name: &str, version: &str, tools: &str| {
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"serverInfo":{{"name":"{name}","version":"{version}"}}}}}}"#
        );
        let list = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":{tools}}}}}"#);
        // Something else first: a client passes over what it did not ask for.
        let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
        script(&folder, &format!("read a; echo '{log}'; echo '{hello}'; read b; read c; echo '{list}'; read d"));
    };
    server("counterfoil", "0.0.1", "[{}]");
    row(&says(&folder, 0, &["answered in"]), &["warning", "server", "starts version 0.0.1"]);
    server("other", "1", "[{}]");
    row(&says(&folder, 0, &[]), &["warning", "server", "calls itself \"other\""]);
    server("counterfoil", env!("CARGO_PKG_VERSION"), "[]");
    row(&says(&folder, 0, &[]), &["warning", "server", "has no tool"]);
}

#[test]
fn what_a_project_brings_along_is_not_started() {
    let folder = ready();
    script(&folder, &format!("touch {}", folder.path("started").display()));
    std::fs::rename(folder.path(CURSOR), folder.path("work/.mcp.json")).unwrap();
    let ran = says(&folder, 0, &["this configuration answered"]);
    row(&ran, &["warning", "client", "Claude Code", ".mcp.json", "another program", "serve --config"]);
    assert!(!folder.path("started").exists());
    // What it would run is in its arguments, told so that a terminal shows all of them.
    let entry = json!({"command": "/bin/sh", "args": ["-c", "id >here; \u{1b}[2K\u{202e}echo"]});
    folder.write("work/.mcp.json", &json!({"mcpServers": {"counterfoil": entry}}).to_string());
    let ran = says(&folder, 0, &["this configuration answered"]);
    row(&ran, &["warning", "client", "another program, /bin/sh -c 'id >here; \\e[2K\\u{202e}echo'"]);
    assert!(!folder.path("work/here").exists());
    let program = counterfoil_tests::program::program();
    let args = json!(["serve", "--config", folder.path("work/counterfoil.toml")]);
    let entry = json!({"command": program, "args": args});
    folder.write("work/.mcp.json", &json!({"mcpServers": {"counterfoil": entry}}).to_string());
    row(&says(&folder, 0, &[]), &["ok", "client", "Claude Code", "starts this program"]);
}

#[test]
fn a_store_that_the_shell_does_not_share_is_pointed_out() {
    let folder = Folder::ready();
    folder.run(&["install", "--client", "cursor", "--yes"]).gave(0, &[]);
    let before = everything(&folder.path("home"));
    let doctor = |state: Option<&str>| {
        // Which configurations were chosen is kept there as well.
        let mut command = folder.command(&["--config", "counterfoil.toml", "doctor"]);
        command.envs(state.map(|state| ("XDG_STATE_HOME", folder.path(state))));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(!doctor(None).contains("this shell finds another"));
    let shown = doctor(Some("elsewhere"));
    assert!(shown.contains("this shell finds another") && shown.contains("elsewhere"), "{shown}");
    assert!(!folder.path("elsewhere").exists());
    // Whoever closes the store last puts away what SQLite had beside it.
    doctor(None);
    unchanged(&folder.path("home"), &before);

    // What it says to do ends it, from either side, and leaves the user's own variables.
    let install = |state: Option<&str>, words: &str| {
        let mut command = folder.command(&["--config", "counterfoil.toml", "install", "--client", "cursor", "--yes"]);
        command.envs(state.map(|state| ("XDG_STATE_HOME", folder.path(state))));
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && said.contains(words), "{said}");
    };
    install(Some("elsewhere"), "wrote");
    assert!(!doctor(Some("elsewhere")).contains("this shell finds another"));
    assert!(doctor(None).contains("this shell finds another"));
    let own = std::fs::read_to_string(folder.path(CURSOR)).unwrap();
    folder.write(CURSOR, &own.replace("\"env\": {", "\"env\": { \"MINE\": \"1\","));
    install(None, "wrote");
    let written = std::fs::read_to_string(folder.path(CURSOR)).unwrap();
    assert!(written.contains("MINE") && !written.contains("XDG_STATE_HOME"), "{written}");
    assert!(!doctor(None).contains("this shell finds another"));
    install(None, "nothing to change");
}

#[test]
fn a_configuration_without_a_whole_path_is_looked_for_where_the_server_is_started() {
    let folder = ready();
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    let config = config.replace("state.db", "not-yet.db").replace("\"files.wasm\"", "\"../work/files.wasm\"");
    let config = config.replace("\"workspace\"", "\"../work/workspace\"");
    let starts = |args: &[&str]| {
        let entry = json!({"command": counterfoil_tests::program::program(), "args": args});
        folder.write(CURSOR, &json!({"mcpServers": {"counterfoil": entry}}).to_string());
    };
    // The home is where it is started, and what is there decides which store a start would make.
    for (file, args) in [
        ("home/mine.toml", &["serve", "--config", "mine.toml"][..]),
        ("home/counterfoil.toml", &["serve"]),
        ("home/.config/counterfoil/counterfoil.toml", &["serve"]),
    ] {
        std::fs::create_dir_all(folder.path(file).parent().unwrap()).unwrap();
        let up = "../".repeat(file.matches('/').count() - 1);
        folder.write(file, &config.replace("../work", &format!("{up}../work")));
        starts(args);
        let before = everything(&folder.path("home"));
        let ran = says(&folder, 0, &["was not started"]);
        row(&ran, &["warning", "server", "not-yet.db"]);
        unchanged(&folder.path("home"), &before);
        std::fs::remove_file(folder.path(file)).unwrap();
    }
}

#[test]
fn a_server_that_its_client_leaves_out_by_a_list_is_pointed_out() {
    const GEMINI: &str = "home/.gemini/settings.json";
    let folder = ready();
    folder.run(&["install", "--client", "gemini-cli", "--yes"]).gave(0, &["wrote"]);
    let text = std::fs::read_to_string(folder.path(GEMINI)).unwrap();
    row(&says(&folder, 0, &[]), &["ok", "client", "Gemini CLI", "starts this program"]);
    for list in ["\"excluded\": [\"counterfoil\"]", "\"allowed\": [\"other\"]"] {
        folder.write(GEMINI, &text.replacen('{', &format!("{{ \"mcp\": {{ {list} }},"), 1));
        row(&says(&folder, 0, &[]), &["warning", "client", "Gemini CLI", "switched off"]);
        folder.run(&["install", "--client", "gemini-cli"]).gave(0, &["nothing to change", "switched off"]);
    }
    folder.write(GEMINI, &text.replacen('{', "{ \"mcp\": { \"allowed\": [\"counterfoil\"] },", 1));
    row(&says(&folder, 0, &[]), &["ok", "client", "Gemini CLI", "starts this program"]);
}

#[test]
fn what_an_entry_adds_to_what_runs_is_named_and_one_that_means_two_things_is_not_taken() {
    let folder = ready();
    let good = std::fs::read_to_string(folder.path(CURSOR)).unwrap();
    let more = r#""env": {"LD_PRELOAD": "/nowhere.so"}, "cwd": "/", "command""#;
    folder.write(CURSOR, &good.replace("\"command\"", more));
    row(&says(&folder, 0, &[]), &["warning", "client", "env LD_PRELOAD, cwd \"/\""]);
    folder.write(CURSOR, &good.replace("\"command\"", "\"command\": \"/bin/sh\", \"command\""));
    let ran = says(&folder, 0, &[]);
    row(&ran, &["warning", "client", "\"command\" stands here a second time"]);
    assert!(!ran.out.contains("of Cursor answered"), "{}", ran.out);
}

#[test]
fn a_project_of_many_servers_and_a_server_that_never_stops_talking_are_cut_short() {
    let folder = ready();
    let servers: serde_json::Map<String, serde_json::Value> =
        (0..20_000).map(|at| (format!("s{at}"), json!({"command": "/x"}))).collect();
    folder.write("work/.mcp.json", &json!({"mcpServers": servers}).to_string());
    script(&folder, "read x; head -c 5000000 /dev/zero | tr '\\0' j; echo; read y");
    let ran = says(&folder, 1, &[]);
    row(&ran, &["warning", "client", "more than 1000 servers"]);
    row(&ran, &["wrong", "server", "not the protocol: jjj", "more)"]);
    assert!(ran.out.len() < 20_000, "{}", ran.out.len());
}

/// Only root can give a folder away.
#[test]
fn a_configuration_in_a_folder_of_somebody_else_starts_nothing() {
    let folder = ready();
    folder.write(CURSOR, "{}");
    // Whose folder a store lies in is another question.
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    folder.write("work/counterfoil.toml", &config.replace("sqlite:state.db", "memory:"));
    row(&says(&folder, 0, &[]), &["ok", "server", "of this configuration answered"]);
    if std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        std::os::unix::fs::lchown(folder.path("work"), Some(65534), None).unwrap();
        for ran in [says(&folder, 2, &[]), folder.run(&["--config", "counterfoil.toml", "doctor"])] {
            row(&ran, &["wrong", "configuration", "work belongs to another user, who can replace it"]);
            assert!(!ran.out.contains("answered"), "{}", ran.out);
        }
    }
}
