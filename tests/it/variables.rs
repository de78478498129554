//! Variables of plug-ins: they come from where the operator says, reach the plug-in, and are shown by nobody.

use counterfoil_tests::fixture;
use counterfoil_tests::program::{Folder, Ran};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// What must be in no output of the program's own.
const VALUE: &str = "hunter2-and-more";

/// A folder whose plug-in `plug` is this fixture, locked, with these lines under its `env`.
fn folder(name: &str, env: &str) -> Folder {
    let folder = Folder::new();
    std::fs::copy(fixture(name), folder.path("work/plug.wasm")).unwrap();
    // That needs no variable.
    folder.write("work/counterfoil.toml", &configuration(""));
    folder.lock();
    folder.write("work/counterfoil.toml", &configuration(env));
    folder
}

fn configuration(env: &str) -> String {
    format!("[store]\nurl = \"sqlite:state.db\"\n[plugins.plug]\nsource = \"plug.wasm\"\n[plugins.plug.env]\n{env}\n")
}

#[track_caller]
fn run(mut command: Command) -> Ran {
    Ran::of(&command.output().unwrap())
}

/// Runs the program with a variable of its own.
fn with(folder: &Folder, arguments: &[&str], name: &str, value: &str) -> Ran {
    let mut command = folder.command(arguments);
    command.env(name, value);
    run(command)
}

#[track_caller]
fn silent(ran: &Ran) {
    assert!(!ran.out.contains("hunter2") && !ran.err.contains("hunter2"), "{ran:?}");
}

/// Writes the value into a file with this mode.
fn file(folder: &Folder, name: &str, value: &str, mode: u32) {
    let path = folder.path(name);
    std::fs::write(&path, value).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_variable_comes_from_the_programs_environment_under_the_plug_ins_name_and_no_other_does() {
    let folder = folder("reaches", "KEY = { env = \"OUTER\" }");
    let ran = with(&folder, &["call", "reaches", "{}", "--json"], "OUTER", VALUE);
    assert_eq!(ran.json()["env"], serde_json::json!(["KEY=[KEY]"]), "{ran:?}");
    silent(&ran);
    let ran = with(&folder, &["call", "reaches_confirmed", "{}", "--json"], "OUTER", VALUE);
    assert_eq!((ran.code, &ran.json()["preview"]["env"]), (3, &serde_json::json!(["KEY=[KEY]"])));
    silent(&ran);
    // What is confirmed with one value does not run with another.
    let token = ran.json()["confirm_token"].as_str().unwrap().to_owned();
    let confirm = ["call", "reaches_confirmed", "{}", "--confirm", &token];
    with(&folder, &confirm, "OUTER", "another").gave(4, &["tool_changed"]);
    with(&folder, &confirm, "OUTER", VALUE).gave(0, &[]);

    for arguments in [&["config", "check"][..], &["config", "check", "--json"], &["tools"], &["doctor"]] {
        let mut command = folder.command(arguments);
        command.env("OUTER", VALUE).env("COUNTERFOIL_LOG", "trace");
        let ran = run(command);
        silent(&ran);
        if arguments[0] == "config" {
            ran.gave(0, &["KEY", "OUTER of the environment"]);
        }
    }
}

#[test]
fn a_variable_that_is_not_set_stops_the_start_and_nothing_that_needs_no_plug_in() {
    let folder = folder("reaches", "KEY = { env = \"OUTER\" }");
    let words = ["counterfoil.toml:6:", "KEY of plug-in plug", "OUTER is not set"];
    for arguments in [&["config", "check"][..], &["serve"], &["call", "reaches", "{}"], &["tools"]] {
        folder.run(arguments).gave(2, &words);
    }
    folder.run(&["doctor"]).gave(2, &["OUTER is not set"]);
    folder.run(&["resolve"]).gave(0, &[]);
    with(&folder, &["config", "check"], "OUTER", "").gave(2, &["value is empty"]);
    with(&folder, &["config", "check"], "OUTER", &"x".repeat(40_000)).gave(2, &["32768 are allowed"]);
}

#[test]
fn a_variable_comes_from_a_file_that_nobody_else_can_read_or_write() {
    let folder = folder("reaches", "KEY = { file = \"key\" }");
    file(&folder, "work/key", &format!("{VALUE}\r\n"), 0o600);
    let ran = folder.run(&["call", "reaches", "{}", "--json"]);
    assert_eq!(ran.json()["env"], serde_json::json!(["KEY=[KEY]"]), "{ran:?}");
    silent(&ran);
    let check = folder.run(&["config", "check"]);
    check.gave(0, &["variable KEY", "the file ", "/key"]);
    silent(&check);

    for (mode, word) in [
        (0o640, "can be read by others: run `chmod go-rwx"),
        (0o604, "can be read by others"),
        (0o644, "can be read by others"),
        (0o602, "can be written by everybody"),
        (0o666, "can be written by everybody"),
    ] {
        file(&folder, "work/key", VALUE, mode);
        let ran = folder.run(&["config", "check"]);
        ran.gave(2, &["counterfoil.toml:6:", "KEY of plug-in plug", word]);
        silent(&ran);
    }
    file(&folder, "work/key", VALUE, 0o400);
    folder.run(&["config", "check"]).gave(0, &[]);
}

#[test]
fn a_value_in_the_place_of_where_it_comes_from_is_not_shown() {
    let tables = [
        format!("KEY = \"{VALUE}\""),
        format!("KEY = [\"{VALUE}\"]"),
        format!("KEY = {{ value = \"{VALUE}\" }}"),
        format!("KEY = {{ env = [\"{VALUE}\"] }}"),
        format!("KEY = {{ env = {{ value = \"{VALUE}\" }} }}"),
        format!("OTHER = 7\nKEY = \"{VALUE}\""),
        format!("KEY = \"{VALUE}"),
        format!("KEY = \"{VALUE}\"\nKEY = \"{VALUE}\""),
        format!("KEY = {VALUE}"),
        format!("KEY = {{ env = \"{VALUE}\" }}"),
        format!("KEY = {{ env = \"A\", file = \"{VALUE}\" }}"),
        format!("KEY = {{ env = \"{VALUE}\", file = \"b\" }}"),
        format!("KEY = {{ file = \"{VALUE}\" }}"),
        format!("KEY = {{ env = \"NOT_SET\" }} # {VALUE}"),
        format!("\"{VALUE}\" = {{ env = \"A\" }}"),
    ];
    for env in tables {
        let folder = folder("reaches", &env);
        for verb in [&["config", "check"][..], &["tools"], &["doctor"]] {
            let ran = folder.run(verb);
            ran.gave(2, &["counterfoil.toml:", "the line is not shown"]);
            silent(&ran);
        }
    }
    let inline = configuration("").replace("[plugins.plug.env]\n", &format!("env = {{ KEY = \"{VALUE}\" }}\n"));
    let folder = folder("reaches", "");
    folder.write("work/counterfoil.toml", &inline);
    let ran = folder.run(&["config", "check"]);
    ran.gave(2, &["counterfoil.toml:5:15:", "a table belongs here and not a text", "the line is not shown"]);
    silent(&ran);
}

#[test]
fn a_file_that_has_no_value_is_refused_without_a_word_of_it() {
    let folder = folder("reaches", "KEY = { file = \"key\" }");
    folder.run(&["config", "check"]).gave(2, &["cannot be read"]);
    file(&folder, "work/key", "\n", 0o600);
    folder.run(&["config", "check"]).gave(2, &["value is empty"]);
    file(&folder, "work/key", "hunter2\0", 0o600);
    let ran = folder.run(&["config", "check"]);
    ran.gave(2, &["NUL"]);
    silent(&ran);
    file(&folder, "work/key", &"hunter2".repeat(5000), 0o600);
    let ran = folder.run(&["config", "check"]);
    ran.gave(2, &["is longer than 32 KiB"]);
    silent(&ran);
    std::fs::write(folder.path("work/key"), b"hunter2\xff").unwrap();
    let ran = folder.run(&["config", "check"]);
    ran.gave(2, &["not UTF-8"]);
    silent(&ran);
    std::fs::remove_file(folder.path("work/key")).unwrap();
    std::fs::create_dir(folder.path("work/key")).unwrap();
    folder.run(&["config", "check"]).gave(2, &["is not a file"]);
}

#[test]
fn the_configuration_says_where_a_value_comes_from_and_never_has_one() {
    for (env, words) in [
        ("KEY = \"hunter2\"", &["a table belongs here and not a text"][..]),
        ("KEY = {}", &["say where the value comes from", "KEY = { env = \"KEY\" }"]),
        ("KEY = { env = \"A\", file = \"b\" }", &["say where the value comes from"]),
        ("KEY = { value = \"x\" }", &["unknown key `value`"]),
        ("\"A B\" = { env = \"A\" }", &["cannot be the name of a variable"]),
    ] {
        let folder = folder("reaches", env);
        folder.run(&["config", "check"]).gave(2, &[&["counterfoil.toml:6:"], words].concat());
    }
}

#[test]
fn no_grant_reaches_the_file_of_a_variable() {
    let folder = folder("reaches", "");
    std::fs::create_dir_all(folder.path("work/keys/data")).unwrap();
    file(&folder, "work/keys/key", VALUE, 0o600);
    let granted = |dir: &str| {
        let dirs = format!("source = \"plug.wasm\"\ndirs = [{{ host = \"{dir}\", guest = \"/data\" }}]");
        let text = configuration("KEY = { file = \"keys/key\" }").replace("source = \"plug.wasm\"", &dirs);
        folder.write("work/counterfoil.toml", &text);
        folder.run(&["config", "check"])
    };
    granted("keys").gave(2, &["counterfoil.toml:5:", "the file of the variable KEY", "keys/key"]);
    granted("keys/data").gave(0, &[]);
}

#[test]
fn what_a_plug_in_prints_or_tells_of_a_variable_is_its_name() {
    let folder = folder("blab", "KEY = { env = \"OUTER\" }\nMODE = { env = \"MODE\" }");
    for tool in ["blab", "blab_confirmed"] {
        for json in [&[][..], &["--json"]] {
            let arguments = [&["call", tool, "{}"][..], json].concat();
            let mut command = folder.command(&arguments);
            command.env("OUTER", VALUE).env("MODE", "fast").env("COUNTERFOIL_LOG", "trace");
            let ran = run(command);
            silent(&ran);
            assert!(ran.err.contains("ing with KEY=[KEY] MODE=fast"), "{ran:?}");
            assert!([4, 5].contains(&ran.code) && format!("{ran:?}").contains("KEY=[KEY] MODE=fast"), "{ran:?}");
        }
    }
}

#[test]
fn a_clock_and_randomness_that_are_fixed_are_shown_and_what_is_no_clock_is_refused() {
    let folder = folder("chance", "");
    let fixed = |lines: &str| {
        let text = configuration("").replace("[plugins.plug.env]", &format!("[plugins.plug.fixed]\n{lines}"));
        folder.write("work/counterfoil.toml", &text);
    };
    fixed("clock = \"2026-01-01T00:00:00Z\"\nrandom = 42");
    folder.lock();
    folder.run(&["config", "check"]).gave(0, &["clock stands at 2026-01-01T00:00:00Z", "randomness from 42"]);
    let seen = |_| folder.run(&["call", "chance_safe", "{}", "--json"]).json();
    let [one, other] = [1, 2].map(seen);
    assert_eq!(one, other);
    assert_eq!(one["now"], 1_767_225_600_000_u64);
    for (lines, words) in [
        ("clock = \"yesterday\"", "is no moment"),
        ("clock = 2026-01-01T00:00:00Z", "a moment in quotes"),
        ("clock = \"1969-01-01T00:00:00Z\"", "is no moment"),
        ("random = -1", "write a number from 0"),
        ("seed = 1", "unknown key `seed`"),
    ] {
        fixed(lines);
        folder.run(&["config", "check"]).gave(2, &["counterfoil.toml:6:", words]);
    }
}

/// A client passes on few variables of its own: the others stand in its entry, where a person puts the value.
#[test]
fn an_entry_is_installed_without_a_variable_that_the_client_has_to_give_and_says_so() {
    let folder = folder("reaches", "KEY = { env = \"OUTER\" }");
    let left = "OUTER is in the environment that the client gives it (KEY of plug-in plug";
    let print = ["install", "--client", "cursor", "--print"];
    for ran in [folder.run(&print), with(&folder, &print, "OUTER", VALUE)] {
        ran.gave(0, &["\"serve\"", left, "`env` of this entry"]);
        assert!(!ran.out.contains("OUTER"), "{ran:?}");
        silent(&ran);
    }
    let install = ["install", "--client", "cursor", "--yes"];
    let ran = with(&folder, &install, "OUTER", VALUE);
    ran.gave(0, &["wrote", left]);
    silent(&ran);
    // Whoever has put it there is told nothing more, and the server starts.
    let file = folder.path("home/.cursor/mcp.json");
    let mut written: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    written["mcpServers"]["counterfoil"]["env"]["OUTER"] = VALUE.into();
    std::fs::write(&file, written.to_string()).unwrap();
    let again = folder.run(&install);
    again.gave(0, &[]);
    assert!(!again.err.contains("OUTER is in"), "{again:?}");
    let ran = with(&folder, &["doctor"], "OUTER", VALUE);
    ran.gave(0, &["of Cursor answered in"]);
    silent(&ran);
    // What else would keep it from starting still does.
    folder.write("work/counterfoil.toml", &configuration("KEY = { env = \"OUTER\" }\nOTHER = { file = \"none\" }"));
    folder.run(&print).gave(2, &["counterfoil.toml:7:", "it is not there"]);
    // A client gives these.
    folder.write("work/counterfoil.toml", &configuration("KEY = { env = \"HOME\" }"));
    let ran = folder.run(&print);
    ran.gave(0, &["\"serve\""]);
    assert!(!ran.err.contains("HOME is in"), "{ran:?}");
}
