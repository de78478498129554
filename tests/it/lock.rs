//! `plugin lock`, and what becomes of a plug-in that changed since: the program over one store, with a file that somebody
//! swaps.

use counterfoil_tests::fixture;
use counterfoil_tests::program::{Folder, Ran};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

const CONFIG: &str = "[store]\nurl = \"sqlite:state.db\"\n[plugins.stamp]\nsource = \"stamp.wasm\"\n\
                      dirs = [{ host = \"data\", guest = \"/data\", access = \"read-write\" }]\n";

/// A folder with the plug-in, not locked.
fn open() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("work/data")).unwrap();
    swap(&folder, "stamp");
    folder.write("work/counterfoil.toml", CONFIG);
    folder
}

fn locked() -> Folder {
    let folder = open();
    folder.lock();
    folder
}

fn swap(folder: &Folder, name: &str) {
    fs::copy(fixture(name), folder.path("work/stamp.wasm")).unwrap();
}

fn lock(folder: &Folder) -> String {
    fs::read_to_string(folder.path("work/counterfoil.lock")).unwrap()
}

#[track_caller]
fn token(ran: &Ran) -> String {
    assert_eq!(ran.code, 3, "{ran:?}");
    ran.json()["confirm_token"].as_str().unwrap().to_owned()
}

#[test]
fn a_plug_in_that_is_not_locked_is_named_everywhere_with_the_way_to_lock_it() {
    let folder = open();
    folder.run(&["call", "stamp"]).gave(3, &["is not locked", "plugin lock stamp"]);
    folder.run(&["call", "look"]).gave(5, &[]);
    folder.run(&["tools"]).gave(0, &["approval_required (raised from caution)", "is not locked", "plugin lock stamp"]);
    folder.run(&["config", "check"]).gave(0, &["always needs a confirmation", "is not locked", "plugin lock stamp"]);
    let served = folder.run_with_input(&["serve"], "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
    served.gave(0, &["is not locked", "plugin lock stamp"]);
    folder.run(&["doctor"]).gave(0, &["warning", "is not locked", "plugin lock stamp"]);
    assert!(!folder.path("work/data/log").exists());

    folder.lock();
    for verb in [&["tools"][..], &["config", "check"], &["doctor"]] {
        let ran = folder.run(verb);
        ran.gave(0, &[]);
        assert!(!ran.out.contains("not locked") && !ran.err.contains("not locked"), "{ran:?}");
    }
    folder.run(&["call", "stamp"]).gave(0, &["stamp of the first"]);
    folder.run(&["call", "wipe"]).gave(3, &[]);
}

#[test]
fn locking_shows_what_will_run_at_once_and_writes_only_what_somebody_agreed_to() {
    let folder = open();
    let there = || folder.path("work/counterfoil.lock").exists();
    let shows = ["stamp is not locked", "stamp.wasm sha256:", "run at once and may change something: stamp;", "/data"];
    folder.run(&["plugin", "lock"]).gave(2, &shows);
    assert!(!there());
    folder.run(&["plugin", "lock", "--check"]).gave(2, &["does not fit"]);
    assert!(!there());
    folder.run(&["plugin", "lock", "stemp", "--yes"]).gave(2, &["no plug-in \"stemp\"", "has stamp"]);
    folder.run(&["plugin", "lock", "stamp", "--yes"]).gave(0, &["wrote", "counterfoil.lock", "SIGHUP"]);
    let written = lock(&folder);
    let parts =
        ["[plugins.stamp]\nsha256 = \"", "[plugins.stamp.tools.wipe]\nlevel = \"approval_required\"", "Adds a line."];
    assert!(parts.iter().all(|part| written.contains(part)), "{written}");
    assert_eq!(fs::metadata(folder.path("work/counterfoil.lock")).unwrap().mode() & 0o022, 0);
    folder.run(&["plugin", "lock", "--check"]).gave(0, &["fits"]);
    folder.run(&["plugin", "lock"]).gave(0, &["nothing to write"]);
    assert_eq!(lock(&folder), written);
    let files = fs::read_dir(folder.path("work")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(
        files.filter(|name| name.contains("lock")).collect::<Vec<_>>(),
        ["counterfoil.lock"],
        "no draft is left"
    );
}

/// Everything that a configuration can say of a plug-in, over one that asks for anything.
const GRANTED: &str = r#"
[[plugins.fetch.http]]
host = "api.example.com"
methods = ["GET", "POST"]
preview = true
[plugins.fetch]
source = "stamp.wasm"
env = { API_KEY = { file = "key" } }
dirs = [{ host = "data", guest = "/data", access = "read-only" }]
levels = { fetch_confirmed = 3 }
rename = { fetch_safe = "look_up" }
"#;

#[test]
fn locking_shows_every_tool_at_its_level_and_all_that_the_plug_in_may_use() {
    let folder = Folder::new();
    fs::create_dir(folder.path("work/data")).unwrap();
    folder.write("work/key", "hunter2hunter2");
    fs::set_permissions(folder.path("work/key"), fs::Permissions::from_mode(0o600)).unwrap();
    swap(&folder, "fetch");
    let config = format!("[store]\nurl = \"sqlite:state.db\"\n{GRANTED}");
    folder.write("work/counterfoil.toml", &config);
    let shown = folder.run(&["plugin", "lock"]);
    let shows = [
        "run at once and may change something: fetch; no directory that it may write is granted; to send: GET,POST",
        "https://api.example.com:443",
        "(GET without a body in previews and safe calls, too)",
        "variable API_KEY",
        "fetch_safe (listed as look_up)",
    ];
    shown.gave(2, &shows);
    assert!(!format!("{shown:?}").contains("hunter2"), "{shown:?}");
    assert_eq!(happens(&shown, "fetch"), "runs at once, recorded");
    assert_eq!(happens(&shown, "fetch_safe"), "runs at once, read-only");
    assert_eq!(happens(&shown, "fetch_confirmed"), "always needs a confirmation");
    assert!(!shown.out.contains("these run at once, too"), "{shown:?}");

    // Without the operator's word the tool's plans decide, and that is said. What is switched off runs not at all.
    let (kept, _) = config.split_once("levels =").unwrap();
    folder.write("work/counterfoil.toml", &format!("{kept}tools = [\"fetch_confirmed\"]\n"));
    let shown = folder.run(&["plugin", "lock"]);
    shown.gave(2, &["no tool of it is declared to change", "milder than its level: fetch_confirmed; no directory"]);
    assert_eq!(happens(&shown, "fetch_confirmed"), "needs a confirmation, unless its plan is milder");
    assert_eq!(happens(&shown, "fetch"), "is not listed: switched off by `tools`");
}

/// What the table says that a call of a tool does.
#[track_caller]
fn happens(shown: &Ran, tool: &str) -> String {
    let row = shown.out.lines().find(|row| row.starts_with("  ") && row.split_whitespace().next() == Some(tool));
    row.unwrap_or_else(|| panic!("no row {tool} in {shown:?}")).rsplit("  ").next().unwrap().to_owned()
}

#[test]
fn locking_shows_what_is_asked_for_and_not_granted_and_what_agents_are_told() {
    let folder = Folder::new();
    folder.run(&["config", "init"]).gave(0, &[]);
    fs::remove_file(folder.path("work/counterfoil.lock")).unwrap();
    let text = fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    let without: Vec<&str> = text.lines().filter(|line| !line.starts_with("dirs")).collect();
    let whole = folder.run(&["plugin", "lock"]);
    whole.gave(2, &["granted to write: /files", "milder than its level: write_file", "Deletes one file"]);
    folder.write("work/counterfoil.toml", &without.join("\n"));
    let shown = folder.run(&["plugin", "lock"]);
    shown.gave(2, &["not at all", "not granted", "no directory that it may write is granted"]);

    // A description that goes on and on is shown by its ends, and whole on demand; what is new of one that was locked as well.
    let folder = open();
    swap(&folder, "wordy");
    let ends = ["It begins.", "bytes in all, SHA-256", "It ends."];
    folder.run(&["plugin", "lock"]).gave(2, &ends);
    let full = folder.run(&["plugin", "lock", "--full"]);
    assert!(full.out.contains(&"on and ".repeat(1_000)), "{full:?}");
    swap(&folder, "stamp");
    folder.lock();
    swap(&folder, "stamp_next");
    let shown = folder.run(&["plugin", "lock"]);
    let told = shown.out.split_once("what agents are told").unwrap().1;
    assert!(told.contains("shred: ") && !told.contains("wipe: "), "{shown:?}");
}

#[test]
fn a_plug_in_that_changed_since_is_refused_with_the_difference_until_it_is_locked_again() {
    let folder = locked();
    swap(&folder, "stamp_next");
    let difference = [
        "counterfoil.toml:4:",
        "not the one that was locked",
        "plugin lock stamp",
        "sha256",
        "the tool wipe: level approval_required → caution",
        "the tool shred is new: approval_required",
        "the tool look is gone: it was safe",
        "the tool stamp has other description:",
        r"+And \e[2J\u{202e}another.",
    ];
    for verb in [&["tools"][..], &["call", "stamp"], &["config", "check"]] {
        let ran = folder.run(verb);
        ran.gave(2, &difference);
        assert_eq!(ran.out, "");
    }
    let served = folder.run_with_input(&["serve"], "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
    served.gave(2, &difference);
    assert!(!served.out.contains("\"tools\""), "{served:?}");
    folder.run(&["doctor"]).gave(2, &difference[4..]);
    folder.run(&["plugin", "lock", "--check"]).gave(2, &difference[4..]);
    folder.run(&["plugin", "lock"]).gave(2, &["once locked, these run at once", "stamp, wipe"]);
    assert!(!folder.path("work/data/log").exists());
    folder.run(&["plugin", "lock", "--yes"]).gave(0, &difference[4..]);
    folder.run(&["call", "wipe"]).gave(0, &["wipe of the second"]);

    // Nor is a file that is no plug-in any more.
    folder.write("work/stamp.wasm", "text");
    folder.run(&["tools"]).gave(2, &["not WebAssembly"]);
}

#[test]
fn what_lists_its_tools_otherwise_when_it_is_asked_again_is_neither_locked_nor_loaded() {
    for name in ["fickle", "someday"] {
        let folder = open();
        swap(&folder, name);
        let words = ["counterfoil.toml:4:", "otherwise when it is asked again", "\"mean\" has other"];
        for verb in [&["plugin", "lock", "--yes"][..], &["tools"], &["config", "check"]] {
            folder.run(verb).gave(2, &words);
        }
        assert!(!folder.path("work/counterfoil.lock").exists());
    }
}

#[test]
fn the_same_bytes_that_say_another_thing_than_was_locked_are_refused() {
    let folder = open();
    swap(&folder, "fickle");
    let fixed = |random: u32| folder.write("work/counterfoil.toml", &format!("{CONFIG}fixed.random = {random}\n"));
    fixed(1);
    folder.lock();
    folder.run(&["tools"]).gave(0, &[]);
    fixed(2);
    let words = ["the file is the same", "the tool mean has other description:", "-Means ", "+Means "];
    folder.run(&["tools"]).gave(2, &words);
    folder.run(&["doctor"]).gave(2, &words);
}

#[test]
fn what_changed_is_looked_at_with_what_is_fixed_for_the_plug_in() {
    let folder = open();
    swap(&folder, "fickle");
    folder.write("work/counterfoil.toml", &format!("{CONFIG}fixed = {{ random = 7 }}\n"));
    folder.lock();
    folder.run(&["tools"]).gave(0, &["mean"]);
    // A section that says nothing: the file is another one, and what it says of its tools is the same.
    let mut file = fs::read(folder.path("work/stamp.wasm")).unwrap();
    file.extend(b"\0\x02\x01x");
    fs::write(folder.path("work/stamp.wasm"), file).unwrap();
    let ran = folder.run(&["tools"]);
    ran.gave(2, &["not the one that was locked", "the file: sha256 "]);
    assert!(!ran.err.contains("description"), "{ran:?}");
}

#[test]
fn a_file_that_is_swapped_between_preview_and_confirm_does_not_run() {
    let folder = locked();
    folder.run(&["call", "stamp"]).gave(0, &[]);
    let ran = token(&folder.run(&["call", "wipe", "{}", "--json"]));
    let outcome = folder.run(&["call", "wipe", "{}", "--confirm", &ran, "--json"]);
    outcome.gave(0, &["wipe of the first"]);
    let pending = token(&folder.run(&["call", "wipe", "{\"n\":1}", "--json"]));
    let gone = token(&folder.run(&["call", "wipe", "{\"n\":2}", "--json"]));
    folder.run(&["call", "stamp"]).gave(0, &[]);

    swap(&folder, "stamp_next");
    folder.run(&["call", "wipe", "{\"n\":1}", "--confirm", &pending]).gave(2, &["not the one that was locked"]);
    folder.lock();
    folder.run(&["call", "wipe", "{\"n\":1}", "--confirm", &pending, "--json"]).gave(4, &["tool_changed"]);
    assert_eq!(fs::read_to_string(folder.path("work/data/log")).unwrap(), "one\n");
    // What ran is still told, byte for byte.
    let again = folder.run(&["call", "wipe", "{}", "--confirm", &ran, "--json"]);
    assert_eq!((again.code, &again.out), (0, &outcome.out));
    // And a plug-in that came back is what was previewed.
    swap(&folder, "stamp");
    folder.lock();
    folder.run(&["call", "wipe", "{\"n\":2}", "--confirm", &gone]).gave(0, &["wipe of the first"]);
}

#[test]
fn what_was_previewed_before_a_plug_in_was_locked_is_previewed_again() {
    let folder = open();
    let asked = token(&folder.run(&["call", "stamp", "{}", "--json"]));
    folder.lock();
    folder.run(&["call", "stamp", "{}", "--confirm", &asked, "--json"]).gave(4, &["tool_changed"]);
    assert!(!folder.path("work/data/log").exists());
}

#[test]
fn a_lock_that_is_damaged_or_that_others_can_write_stops_the_start() {
    let folder = locked();
    let (path, written) = (folder.path("work/counterfoil.lock"), lock(&folder));
    let refused = |words: &[&str]| {
        for verb in [&["tools"][..], &["plugin", "lock", "--yes"], &["doctor"]] {
            folder.run(verb).gave(2, words);
        }
    };
    for mode in [0o666, 0o646] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        refused(&["counterfoil.lock", "decides what runs", "chmod go-w"]);
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    folder.run(&["tools"]).gave(0, &[]);
    for (text, words) in [
        (format!("colour = 1\n{written}"), "colour"),
        (written.replace("version = 1", "version = 9"), "not known"),
        (written.replacen("sha256 = \"", "sha256 = \"x", 1), "no SHA-256"),
        (written[..written.len() - 5].to_owned(), "counterfoil.lock:"),
    ] {
        fs::write(&path, text).unwrap();
        refused(&["counterfoil.lock", words]);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused(&["counterfoil.lock", "is not a file"]);
    fs::remove_dir(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    refused(&["counterfoil.lock", "is a link that leads nowhere", "remove the link"]);
    // One that leads somewhere stays a link, and what it leads to keeps its mode.
    fs::write(folder.path("home/real.lock"), &written).unwrap();
    fs::set_permissions(folder.path("home/real.lock"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(folder.path("home/real.lock"), &path).unwrap();
    swap(&folder, "stamp_next");
    folder.lock();
    assert!(path.is_symlink() && lock(&folder) != written);
    assert_eq!(fs::metadata(folder.path("home/real.lock")).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn no_grant_reaches_the_lock_whether_it_is_there_or_not() {
    let folder = open();
    fs::create_dir(folder.path("work/conf")).unwrap();
    fs::create_dir(folder.path("elsewhere")).unwrap();
    fs::copy(fixture("stamp"), folder.path("elsewhere/stamp.wasm")).unwrap();
    folder.write("elsewhere/counterfoil.toml", &CONFIG.replace("\"data\"", "\"../work/conf\""));
    symlink(folder.path("work/conf/real.lock"), folder.path("elsewhere/counterfoil.lock")).unwrap();
    folder.write("work/conf/real.lock", "version = 1\n");
    let config = folder.path("elsewhere/counterfoil.toml");
    folder.run(&["--config", config.to_str().unwrap(), "tools"]).gave(2, &["reaches the lock of the plug-ins"]);
    // Beside a configuration that is itself a link into another folder.
    fs::create_dir(folder.path("open")).unwrap();
    folder.write(
        "elsewhere/counterfoil.toml",
        &CONFIG.replace("\"data\"", "\".\"").replace("stamp.wasm", "../elsewhere/stamp.wasm"),
    );
    symlink(&config, folder.path("open/agent.toml")).unwrap();
    let agent = folder.path("open/agent.toml");
    folder.run(&["--config", agent.to_str().unwrap(), "tools"]).gave(2, &["this directory reaches"]);
}

#[test]
fn what_is_locked_and_no_longer_there_is_said_and_taken_out() {
    let folder = locked();
    folder.write("work/counterfoil.toml", &CONFIG.replace("plugins.stamp", "plugins.other"));
    folder
        .run(&["config", "check"])
        .gave(0, &["locks what the configuration does not have: stamp", "other is not locked"]);
    folder.run(&["doctor"]).gave(0, &["does not have: stamp"]);
    folder.run(&["plugin", "lock", "other", "--yes"]).gave(0, &[]);
    assert!(lock(&folder).contains("[plugins.stamp]") && lock(&folder).contains("[plugins.other]"));
    folder.run(&["plugin", "lock", "--yes"]).gave(0, &["does not have: stamp"]);
    assert!(!lock(&folder).contains("[plugins.stamp]") && lock(&folder).contains("[plugins.other]"));
}

#[test]
fn a_configuration_of_another_name_has_a_lock_of_its_own() {
    let folder = locked();
    folder.write("work/desk.toml", CONFIG);
    let desk = ["--config", "desk.toml"];
    folder.run(&[&desk[..], &["tools"]].concat()).gave(0, &["is not locked", "--config desk.toml plugin lock stamp"]);
    folder.run(&[&desk[..], &["plugin", "lock", "--yes"]].concat()).gave(0, &["desk.lock"]);
    let shown = folder.run(&[&desk[..], &["tools"]].concat());
    assert!(!shown.err.contains("not locked"), "{shown:?}");
}

#[test]
fn a_first_configuration_comes_with_its_lock() {
    let folder = Folder::new();
    folder.run(&["config", "init", "--plugin", "files", "--plugin", "offers"]).gave(0, &["counterfoil.lock"]);
    folder.run(&["plugin", "lock", "--check"]).gave(0, &["files is as it was locked", "offers is as it was locked"]);
    let folder = Folder::new();
    folder.write("work/counterfoil.lock", "version = 1\n");
    folder.run(&["config", "init"]).gave(2, &["counterfoil.lock exists already"]);
    assert!(!folder.path("work/counterfoil.toml").exists());
}

#[test]
fn a_lock_that_changes_while_the_question_is_asked_stays_as_it_is() {
    use crate::install::on_a_terminal_while;
    let folder = locked();
    let before = lock(&folder);
    swap(&folder, "stamp_next");
    let ask = |meanwhile: &str| on_a_terminal_while(meanwhile, &folder, "y", &["plugin", "lock"]);
    let (code, shown) = ask("rm counterfoil.lock");
    assert!(code == 2 && shown.contains("was changed meanwhile"), "{code} {shown}");
    assert!(!folder.path("work/counterfoil.lock").exists());
    folder.write("work/counterfoil.lock", &before);
    let (code, shown) = ask("true");
    assert!(code == 0 && shown.contains("wrote"), "{code} {shown}");
    assert_ne!(lock(&folder), before);
}

#[test]
fn a_damaged_file_is_called_that_and_nobody_is_told_to_look_at_what_changed() {
    let folder = locked();
    let whole = fs::read(folder.path("work/stamp.wasm")).unwrap();
    fs::write(folder.path("work/stamp.wasm"), &whole[..1000]).unwrap();
    for verb in [&["config", "check"][..], &["call", "look"]] {
        let ran = folder.run(verb);
        ran.gave(2, &["counterfoil.toml:4:", "is damaged", "not the file that was locked", "copy that one again"]);
        assert!(!ran.err.contains("if you trust it"), "{ran:?}");
    }
    fs::write(folder.path("work/stamp.wasm"), &whole).unwrap();
    folder.run(&["call", "look"]).gave(5, &[]);
}
