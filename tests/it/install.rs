//! `counterfoil install` on real files: what is written, what is left, and what is refused.

mod files;

use super::doctor::{everything, unchanged};
use counterfoil_tests::program::{Folder, Ran};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CURSOR: &str = "home/.cursor/mcp.json";

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn mode(path: PathBuf, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A folder with a configuration, and this text in the file of Cursor.
fn with_cursor(text: &str) -> Folder {
    let folder = Folder::ready();
    std::fs::create_dir(folder.path("home/.cursor")).unwrap();
    folder.write(CURSOR, text);
    folder
}

/// Names in the folder of Cursor.
fn names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder.path("home/.cursor"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Installs for Cursor; exit code, words, and the file as it was.
#[track_caller]
fn refuses(folder: &Folder, code: i32, words: &[&str]) {
    let (text, all) = (std::fs::read(folder.path(CURSOR)).unwrap(), names(folder));
    folder.run(&["install", "--client", "cursor", "--yes"]).gave(code, words);
    assert_eq!(std::fs::read(folder.path(CURSOR)).unwrap(), text);
    assert_eq!(names(folder), all);
}

/// Starts a server as an MCP client does, and returns what it answers to `initialize` and `tools/list`.
fn started(folder: &Folder, entry: &Value) -> (Value, Value) {
    let command = entry["command"].as_str().unwrap();
    let args: Vec<&str> = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    assert!(Path::new(command).is_absolute(), "{command}");
    // Elsewhere, and with little in its environment: a client may run anywhere.
    let ours = folder.command(&[]);
    let mut child = Command::new(command);
    child.args(args).current_dir("/").env_clear();
    child.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    let mut ask = |message: Value| writeln!(input, "{message}").unwrap();
    let mut answer = || -> Value { serde_json::from_str(&output.next().unwrap().unwrap()).unwrap() };
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    let initialized = answer();
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    let tools = answer();
    drop(input);
    assert!(child.wait().unwrap().success());
    (initialized, tools)
}

#[test]
fn what_is_installed_for_each_client_starts_the_server_and_lists_the_tools() {
    let folder = Folder::ready();
    for (client, file, servers) in [
        ("claude-code", "home/.claude.json", "mcpServers"),
        ("claude-desktop", "home/.config/Claude/claude_desktop_config.json", "mcpServers"),
        ("cline", "home/.cline/data/settings/cline_mcp_settings.json", "mcpServers"),
        ("copilot-cli", "home/.copilot/mcp-config.json", "mcpServers"),
        ("cursor", CURSOR, "mcpServers"),
        ("gemini-cli", "home/.gemini/settings.json", "mcpServers"),
        ("kiro", "home/.kiro/settings/mcp.json", "mcpServers"),
        ("vscode", "home/.config/Code/User/mcp.json", "servers"),
        ("windsurf", "home/.codeium/windsurf/mcp_config.json", "mcpServers"),
        ("zed", "home/.config/zed/settings.json", "context_servers"),
    ] {
        let applications = if cfg!(target_os = "macos") { "Library/Application Support/C" } else { ".config/C" };
        let file = &file.replace(".config/C", applications);
        folder.run(&["install", "--client", client, "--yes"]).gave(0, &["wrote", "+++"]);
        let written: Value = serde_json::from_str(&read(folder.path(file))).unwrap();
        let entry = &written[servers]["counterfoil"];
        assert_eq!(folder.path(file).metadata().unwrap().mode() & 0o777, 0o600);
        let config = folder.path("work/counterfoil.toml").canonicalize().unwrap();
        assert_eq!(entry["args"], json!(["serve", "--config", config]), "{client}");
        let (initialized, tools) = started(&folder, entry);
        assert_eq!(initialized["result"]["serverInfo"]["name"], "counterfoil", "{client}: {initialized}");
        assert!(tools.to_string().contains("delete_file"), "{client}: {tools}");
    }
    folder.run(&["install", "--client", "codex", "--yes"]).gave(0, &["wrote"]);
    let python = "import json, sys, tomllib; print(json.dumps(tomllib.load(open(sys.argv[1], 'rb'))))";
    let file = folder.path("home/.codex/config.toml");
    let output = Command::new("python3").args(["-c", python]).arg(file).output().unwrap();
    let written: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    let (_, tools) = started(&folder, &written["mcp_servers"]["counterfoil"]);
    assert!(tools.to_string().contains("delete_file"));
    let list = folder.run(&["install"]);
    assert_eq!(list.out.matches("has \"counterfoil\"").count(), 11, "{}", list.out);
}

#[test]
fn without_consent_nothing_is_written() {
    let folder = with_cursor("{}");
    folder.run(&["install", "--client", "cursor"]).gave(2, &["+++", "no terminal", "--yes"]);
    folder.run(&["install", "--client", "cursor", "--dry-run"]).gave(0, &["+++", "--dry-run"]);
    folder.run_with_input(&["install", "--client", "cursor"], "y\n").gave(2, &["no terminal"]);
    assert_eq!((read(folder.path(CURSOR)).as_str(), names(&folder)), ("{}", vec!["mcp.json".to_owned()]));
    // Where the client's folder is not there either, it is not made.
    folder.run(&["install", "--client", "kiro"]).gave(2, &["will be made"]);
    assert!(!folder.path("home/.kiro").exists());
}

#[test]
fn what_only_shows_changes_nothing_at_all() {
    let folder = Folder::ready();
    let before = everything(&folder.path(""));
    for arguments in [&["--client", "kiro", "--dry-run"][..], &["--client", "codex", "--print"], &["--list"]] {
        let mut command = folder.command(&[&["install"], arguments].concat());
        let output = command.env("XDG_CACHE_HOME", folder.path("cache")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        unchanged(&folder.path(""), &before);
    }
    // With compiled code at hand it is as little.
    let cached = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        assert!(command.env("XDG_CACHE_HOME", folder.path("cache")).output().unwrap().status.success());
    };
    cached(&["tools"]);
    let before = everything(&folder.path(""));
    cached(&["install", "--client", "kiro", "--dry-run"]);
    unchanged(&folder.path(""), &before);
}

#[test]
fn a_server_that_is_switched_off_is_not_called_ready() {
    for (client, file, key) in [
        ("cursor", CURSOR, "\"disabled\": true, \"command\""),
        ("zed", "home/.config/zed/settings.json", "\"enabled\": false, \"command\""),
    ] {
        let folder = Folder::ready();
        folder.run(&["install", "--client", client, "--yes"]).gave(0, &["wrote"]);
        let ran = folder.run(&["install", "--client", client]);
        assert!(ran.code == 0 && !ran.err.contains("switched off"), "{ran:?}");
        folder.write(file, &read(folder.path(file)).replace("\"command\"", key));
        folder.run(&["install", "--client", client]).gave(0, &["nothing to change", "switched off", "switch it on"]);
        folder.run(&["config", "init", "second"]).gave(0, &[]);
        let other = ["--config", "second/counterfoil.toml", "install", "--client", client, "--yes"];
        folder.run(&other).gave(0, &["wrote", "switched off"]);
    }
    let folder = Folder::ready();
    folder.run(&["install", "--client", "codex", "--yes"]).gave(0, &["wrote"]);
    let text = read(folder.path("home/.codex/config.toml"));
    folder.write("home/.codex/config.toml", &format!("{text}enabled = false\n"));
    folder.run(&["install", "--client", "codex"]).gave(0, &["nothing to change", "switched off"]);
}

#[test]
fn a_new_file_is_not_put_where_everybody_can_write() {
    let folder = Folder::ready();
    let install = ["install", "--client", "cursor", "--yes"];
    std::fs::create_dir(folder.path("home/.cursor")).unwrap();
    mode(folder.path("home/.cursor"), 0o777);
    folder.run(&install).gave(2, &["everybody can replace it", "chmod go-w", ".cursor"]);
    assert!(names(&folder).is_empty());
    mode(folder.path("home/.cursor"), 0o755);
    // A folder on the way to one that is not there yet.
    std::fs::create_dir(folder.path("home/.codeium")).unwrap();
    mode(folder.path("home/.codeium"), 0o757);
    let windsurf = ["install", "--client", "windsurf", "--yes"];
    folder.run(&windsurf).gave(2, &["everybody can replace it", "chmod o-w", ".codeium"]);
    assert!(!folder.path("home/.codeium/windsurf").exists());
    mode(folder.path("home/.codeium"), 0o755);
    folder.run(&windsurf).gave(0, &["wrote"]);
    folder.run(&install).gave(0, &["wrote"]);
}

/// Root may read everywhere: the program runs as somebody else then, who owns all of the folder.
#[test]
fn what_is_written_and_perhaps_not_on_disk_is_not_called_unchanged() {
    const NOBODY: u32 = 65534;
    let folder = with_cursor("{}");
    std::fs::copy(counterfoil_tests::program::program(), folder.path("program")).unwrap();
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if root {
        for path in everything(&folder.path("")).into_keys().chain([folder.path("")]) {
            std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    // Files can be put into it; it cannot be opened, and so nobody can wait until its names are on disk.
    mode(folder.path("home/.cursor"), 0o300);
    let mut command = Command::new(folder.path("program"));
    command.args(["install", "--client", "cursor", "--yes"]).current_dir(folder.path("work")).env_clear();
    command.env("HOME", folder.path("home")).env("XDG_CACHE_HOME", folder.path("cache"));
    if root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    mode(folder.path("home/.cursor"), 0o700);
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    assert!(read(folder.path(CURSOR)).contains("counterfoil.toml"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("perhaps not yet on disk") && said.contains("counterfoil-backup-1"), "{said}");
    assert!(!said.contains("nothing was changed"), "{said}");
}

/// Runs the program on a terminal, where somebody types an answer.
fn on_a_terminal(folder: &Folder, answer: &str, arguments: &[&str]) -> (i32, String) {
    on_a_terminal_while("true", folder, answer, arguments)
}

/// The same; what the shell does `meanwhile` has happened before the answer.
pub(crate) fn on_a_terminal_while(meanwhile: &str, folder: &Folder, answer: &str, arguments: &[&str]) -> (i32, String) {
    let built = std::env::current_exe().unwrap();
    let python = built.ancestors().nth(3).unwrap().join("venv/bin/python");
    assert!(python.exists(), "{} is missing: run `just python`", python.display());
    let command = folder.command(arguments);
    let mut terminal = Command::new(python);
    terminal.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("python/terminal.py")).arg(answer).arg(meanwhile);
    terminal.arg(command.get_program()).args(arguments).current_dir(folder.path("work")).env_clear();
    terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = terminal.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn on_a_terminal_it_asks_and_takes_no_for_an_answer() {
    let folder = with_cursor("{}");
    for no in ["", "n", "yep"] {
        let (code, shown) = on_a_terminal(&folder, no, &["install", "--client", "cursor"]);
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains("[y/N]") && shown.contains("nothing was written"), "{shown}");
        assert_eq!(read(folder.path(CURSOR)), "{}");
    }
    let (code, shown) = on_a_terminal(&folder, "y", &["install", "--client", "cursor"]);
    assert_eq!(code, 0, "{shown}");
    assert!(read(folder.path(CURSOR)).contains("counterfoil.toml"));
}

#[test]
fn a_second_time_there_is_nothing_to_change_and_another_configuration_is_shown() {
    let folder = with_cursor("{\n  // mine\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } },\n}\n");
    folder.run(&["install", "--client", "cursor", "--yes"]).gave(0, &["wrote", "to undo it"]);
    let first = read(folder.path(CURSOR));
    assert!(first.contains("// mine") && first.contains("\"other\": { \"command\": \"x\" }"), "{first}");
    folder.run(&["install", "--client", "cursor"]).gave(0, &["nothing to change"]);
    assert_eq!(names(&folder), ["mcp.json", "mcp.json.counterfoil-backup-1"]);

    folder.run(&["config", "init", "second"]).gave(0, &[]);
    let other = ["--config", "second/counterfoil.toml", "install", "--client", "cursor"];
    let ran = folder.run(&other);
    ran.gave(2, &["-", "second/counterfoil.toml"]);
    assert!(ran.out.lines().any(|row| row.starts_with('-') && row.contains("work/counterfoil.toml")), "{}", ran.out);
    folder.run(&[&other[..], &["--yes"]].concat()).gave(0, &["wrote"]);
    assert!(read(folder.path(CURSOR)).contains("second/counterfoil.toml"));
    assert_eq!(read(folder.path("home/.cursor/mcp.json.counterfoil-backup-2")), first);
    assert!(read(folder.path("home/.cursor/mcp.json.counterfoil-backup-1")).contains("\"x\" } },\n}"));
    // The printed command puts a backup back.
    let undo = folder.run(&["install", "--client", "cursor", "--remove", "--yes"]);
    undo.gave(0, &["wrote"]);
    assert!(!read(folder.path(CURSOR)).contains("counterfoil.toml"));
    folder.run(&["install", "--client", "cursor", "--remove", "--yes"]).gave(0, &["nothing to change"]);
    let command = undo.out.lines().find_map(|row| row.strip_prefix("to undo it: ")).unwrap();
    assert!(Command::new("sh").args(["-c", command]).status().unwrap().success());
    assert!(read(folder.path(CURSOR)).contains("second/counterfoil.toml"));
}

#[test]
fn a_configuration_that_does_not_start_is_not_installed() {
    let folder = with_cursor("{}");
    folder.write("work/counterfoil.toml", "[plugins.files]\nsource = \"none.wasm\"\n");
    refuses(&folder, 2, &["counterfoil.toml:2:", "none.wasm", "correct the path"]);
    folder.run(&["install", "--client", "cursor", "--print"]).gave(2, &["none.wasm"]);
    std::fs::copy(counterfoil_tests::fixture("noisy"), folder.path("work/none.wasm")).unwrap();
    folder.write("work/none.wasm", "not wasm");
    refuses(&folder, 2, &["not WebAssembly"]);
    std::fs::remove_file(folder.path("work/counterfoil.toml")).unwrap();
    refuses(&folder, 2, &["config init"]);
}

#[test]
fn what_clients_would_take_for_a_variable_is_refused() {
    let folder = Folder::new();
    folder.run(&["config", "init", "$HOME"]).gave(0, &[]);
    let ran = folder.run(&["--config", "$HOME/counterfoil.toml", "install", "--client", "gemini-cli", "--yes"]);
    ran.gave(2, &["$", "variable"]);
    assert!(!folder.path("home/.gemini").exists());

    let folder = Folder::ready();
    for state in ["$x", "a\nb", "\u{1b}[2J"] {
        let mut command =
            folder.command(&["--config", "counterfoil.toml", "install", "--client", "gemini-cli", "--yes"]);
        let output = command.env("XDG_STATE_HOME", folder.path(state)).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("variable") || said.contains("plain name"), "{said}");
        assert!(!folder.path("home/.gemini").exists());
    }
}

#[test]
fn a_store_that_only_this_shell_finds_is_found_by_the_client_too() {
    let folder = Folder::ready();
    let install = |client: &str| -> Ran {
        let state = folder.path("state");
        let mut output = folder.command(&["--config", "counterfoil.toml", "install", "--client", client, "--print"]);
        let output = output.env("XDG_STATE_HOME", state).output();
        let output = output.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    };
    let state = folder.path("state");
    let read: Value = install("cursor").json();
    assert_eq!(read["mcpServers"]["counterfoil"]["env"], json!({"XDG_STATE_HOME": state}));
    install("codex").gave(0, &["env = { XDG_STATE_HOME = "]);
    folder.write("work/counterfoil.toml", "[store]\nurl = \"sqlite:state.db\"\n");
    assert!(!install("cursor").out.contains("env"));
}

#[test]
fn the_documented_snippets_are_what_is_printed() {
    let folder = Folder::ready();
    let doc = read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/clients.md"));
    let program = counterfoil_tests::program::program().canonicalize().unwrap();
    let config = folder.path("work/counterfoil.toml").canonicalize().unwrap();
    let list = folder.run(&["install"]).out;
    let clients: Vec<&str> =
        list.lines().skip(1).take_while(|row| !row.is_empty()).filter_map(|row| row.split(' ').next()).collect();
    assert!(clients.len() >= 9, "{list}");
    for client in &clients {
        let printed = folder.run(&["install", "--client", client, "--print"]).out;
        let printed = printed
            .replace(config.to_str().unwrap(), "/absolute/path/to/counterfoil.toml")
            .replace(program.to_str().unwrap(), "/absolute/path/to/counterfoil");
        let (_, section) = doc.split_once(&format!("\n## `{client}`")).unwrap_or_else(|| panic!("no section {client}"));
        let section = section.split("\n## ").next().unwrap();
        let block = section.split("```").nth(1).unwrap_or_else(|| panic!("no snippet for {client}"));
        let (_, block) = block.split_once('\n').unwrap();
        assert_eq!(block, printed, "{client}");
    }
    assert_eq!(doc.matches("\n## `").count(), clients.len(), "a section too many");
}

#[test]
fn what_is_written_and_said_holds_from_anywhere() {
    let folder = with_cursor("{}");
    let config = ["--config", "../work/counterfoil.toml"];
    let ran = folder.run(&[&config[..], &["install", "--client", "cursor", "--yes"]].concat());
    ran.gave(0, &["Cursor: ", " --config ../work/counterfoil.toml doctor` starts the server"]);
    let file: Value = serde_json::from_str(&read(folder.path(CURSOR))).unwrap();
    let written = file["mcpServers"]["counterfoil"]["args"][2].as_str().unwrap();
    assert!(!written.contains("..") && Path::new(written).is_file(), "{written}");

    let removed = folder.run(&["install", "--client", "cursor", "--remove", "--yes"]);
    removed.gave(0, &["wrote "]);
    assert!(!removed.out.contains("Cursor: ") && !removed.out.contains("doctor"), "{}", removed.out);
}
