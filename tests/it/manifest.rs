//! What a plug-in asks for, through the program: put into a component, shown, and held against what is granted.

use counterfoil_tests::fixture;
use counterfoil_tests::program::{Folder, Ran};
use serde_json::{Value, json};

/// A folder with a fixture that says nothing of what it needs, as `work/plug.wasm`.
fn folder(name: &str) -> Folder {
    let folder = Folder::new();
    std::fs::copy(fixture(name), folder.path("work/plug.wasm")).unwrap();
    std::fs::create_dir(folder.path("work/data")).unwrap();
    std::fs::create_dir(folder.path("work/other")).unwrap();
    folder
}

const GRANTS: &str = r#"
[store]
url = "sqlite:state.db"
[plugins.plug]
source = "plug.wasm"
dirs = [
  { host = "./data", guest = "/data", access = "read-write" },
  { host = "./other", guest = "/other" },
]
"#;

/// The grants that `config check` tells: kind, what, may, and whether there is a reason.
fn grants(folder: &Folder) -> Vec<(String, String, Option<String>, bool)> {
    let checked = folder.run(&["config", "check", "--json"]).json();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let grant = |grant: &Value| {
        (text(&grant["kind"]).unwrap(), text(&grant["what"]).unwrap(), text(&grant["may"]), grant["why"].is_string())
    };
    checked["grants"].as_array().unwrap().iter().map(grant).collect()
}

#[test]
fn what_is_granted_and_not_asked_for_is_told_with_what_to_do() {
    let folder = folder("silent");
    folder.write("work/counterfoil.toml", GRANTS);
    folder.run(&["config", "check"]).gave(
        0,
        &[
            "directory /data  ",
            "not at all",
            "only what is both is given",
            "directory /data of plug: the plug-in says nothing of what it needs: say it for it under `declares`",
        ],
    );
    assert_eq!(grants(&folder)[0], ("directory".into(), "/data".into(), None, true));
    folder.run(&["plugin", "inspect", "plug.wasm"]).gave(0, &["asks for", "[plugins.NAME.declares]"]);
    assert_eq!(folder.run(&["plugin", "inspect", "plug.wasm", "--json"]).json()["declaration"], Value::Null);

    let declares = "[plugins.plug.declares]\ndirs = [{ path = \"/data\", access = \"read-write\" }]\nenv = [\"KEY\"]\n";
    folder.write("work/counterfoil.toml", &format!("{GRANTS}{declares}"));
    let expected = [
        ("directory".into(), "/data".into(), Some("read-write".into()), false),
        ("directory".into(), "/other".into(), None, true),
        ("variable".into(), "KEY".into(), None, true),
    ];
    assert_eq!(grants(&folder), expected);
    folder.run(&["config", "check"]).gave(0, &["change it (previews and safe calls: read it)", "it is not granted"]);
    folder.lock();
    folder.run(&["call", "silent", "{}"]).gave(0, &["/data"]);
}

#[test]
fn a_place_of_which_other_methods_are_granted_than_asked_for_is_told_once() {
    let folder = folder("silent");
    let with = |methods: &str| {
        let http = format!("http = [{{ host = \"api.example.com\", methods = [{methods}] }}]");
        let declares =
            "[plugins.plug.declares]\nhttp = [{ host = \"api.example.com\", methods = [\"GET\", \"HEAD\"] }]";
        folder.write("work/counterfoil.toml", &format!("[plugins.plug]\nsource = \"plug.wasm\"\n{http}\n{declares}\n"));
        folder.run(&["config", "check"])
    };
    let rows = |ran: &Ran| ran.out.lines().filter(|line| line.starts_with("plug ")).count();
    let ran = with("\"POST\"");
    ran.gave(0, &["the plug-in asks for GET,HEAD there, and POST is granted"]);
    assert_eq!((rows(&ran), ran.out.contains("does not ask for it")), (1, false), "{}", ran.out);
    let ran = with("\"POST\", \"GET\"");
    ran.gave(0, &["the plug-in asks for no more"]);
    assert_eq!(rows(&ran), 1, "{}", ran.out);
}

#[test]
fn a_directory_that_a_link_leads_elsewhere_is_shown_with_where() {
    let folder = folder("silent");
    std::fs::create_dir(folder.path("elsewhere")).unwrap();
    std::fs::remove_dir_all(folder.path("work/other")).unwrap();
    std::os::unix::fs::symlink(folder.path("elsewhere"), folder.path("work/other")).unwrap();
    folder.write("work/counterfoil.toml", GRANTS);
    let leads = format!("/other -> {}", folder.path("elsewhere").canonicalize().unwrap().display());
    for verb in [&["config", "check"][..], &["plugin", "lock", "--check"]] {
        let ran = folder.run(verb);
        assert!(ran.out.contains(&leads) && ran.out.matches(" -> ").count() == 1, "{leads}: {}", ran.out);
    }
}

#[test]
fn a_mistake_in_what_is_declared_is_told_with_its_line() {
    let folder = folder("silent");
    let refused = |lines: &str, words: &[&str]| {
        folder.write("work/counterfoil.toml", &format!("{GRANTS}[plugins.plug.declares]\n{lines}\n"));
        let ran = folder.run(&["config", "check"]);
        ran.gave(2, words);
        assert!(ran.err.contains("counterfoil.toml:10:") || ran.err.contains("counterfoil.toml:11:"), "{ran:?}");
    };
    refused("dir = []", &["unknown key `dir`"]);
    refused("dirs = [{ path = \"data\" }]", &["no path of a directory"]);
    refused("env = [\"A B\"]", &["no name of a variable"]);
    refused("http = [{ host = \"*.com\" }]", &["two parts"]);
    refused("http = [{ host = \"a.example\", port = 0 }]", &["from 1 to 65535"]);
    refused("http = [{ host = \"a.example\", methods = [] }]", &["without a method"]);
    // It says so itself.
    std::fs::copy(fixture("modest"), folder.path("work/plug.wasm")).unwrap();
    refused("env = [\"A\"]", &["says itself what it needs", "plugin inspect"]);
}

#[test]
fn a_manifest_is_put_into_a_finished_component_once() {
    let folder = folder("silent");
    let manifest =
        r#"{"manifest":1,"dirs":[{"path":"/other"}],"http":[{"host":"api.example.com","methods":["POST"]}]}"#;
    folder.write("work/manifest.json", manifest);
    let before = std::fs::read(folder.path("work/plug.wasm")).unwrap();
    folder.run(&["plugin", "declare", "plug.wasm", "manifest.json", "-o", "new.wasm"]).gave(0, &["new.wasm"]);
    assert_eq!(std::fs::read(folder.path("work/plug.wasm")).unwrap(), before);
    let after = std::fs::read(folder.path("work/new.wasm")).unwrap();
    assert!(after.starts_with(&before), "the component itself has changed");
    let shown = folder.run(&["plugin", "inspect", "new.wasm", "--json"]).json();
    let expected = json!({
        "manifest": 1, "env": [], "dirs": [{"path": "/other", "access": "read-only"}],
        "http": [{"scheme": "https", "host": "api.example.com", "port": 443, "methods": ["POST"]}],
    });
    assert_eq!(shown["declaration"], expected);
    folder.run(&["plugin", "inspect", "new.wasm"]).gave(0, &["https://api.example.com", "POST", "/other", "read-only"]);
    let page = ["| directory | `/other` | read-only |", "| http | `https://api.example.com` | POST |"];
    folder.run(&["plugin", "inspect", "new.wasm", "--markdown"]).gave(0, &page);

    // Into its own file, with its mode; and not twice.
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |file: &str| std::fs::metadata(folder.path(file)).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(folder.path("work/plug.wasm"), std::fs::Permissions::from_mode(0o640)).unwrap();
    folder.run(&["plugin", "declare", "plug.wasm", "manifest.json"]).gave(0, &["plug.wasm"]);
    assert_eq!((std::fs::read(folder.path("work/plug.wasm")).unwrap(), mode("work/plug.wasm")), (after, 0o640));
    folder.run(&["plugin", "declare", "plug.wasm", "manifest.json"]).gave(2, &["plug.wasm: has a manifest already"]);
    folder.write("work/counterfoil.toml", GRANTS);
    let expected = [
        ("directory".into(), "/data".into(), None, true),
        ("directory".into(), "/other".into(), Some("read-only".into()), false),
        ("http".into(), "https://api.example.com:443".into(), None, true),
    ];
    assert_eq!(grants(&folder), expected);
}

#[test]
fn what_is_no_manifest_or_no_component_is_refused_and_nothing_is_written() {
    let folder = folder("silent");
    let before = std::fs::read(folder.path("work/plug.wasm")).unwrap();
    for (manifest, words) in [
        ("{", "manifest.json: it ends too early"),
        ("{}", "manifest.json: it does not say its version"),
        (r#"{"manifest":1,"files":[]}"#, "manifest.json: unknown key `files`"),
    ] {
        folder.write("work/manifest.json", manifest);
        folder.run(&["plugin", "declare", "plug.wasm", "manifest.json"]).gave(2, &[words]);
    }
    folder.write("work/manifest.json", r#"{"manifest":1}"#);
    // What the output would take the place of stays, unless it is a component.
    let declared = |output: &str| folder.run(&["plugin", "declare", "plug.wasm", "manifest.json", "-o", output]);
    declared("manifest.json").gave(2, &["manifest.json: is the manifest itself"]);
    declared("./../work/manifest.json").gave(2, &["is the manifest itself"]);
    assert_eq!(std::fs::read_to_string(folder.path("work/manifest.json")).unwrap(), r#"{"manifest":1}"#);
    folder.write("notes.txt", "mine");
    declared("../notes.txt").gave(2, &["notes.txt: is there and no WebAssembly", "name another file"]);
    assert_eq!(std::fs::read_to_string(folder.path("notes.txt")).unwrap(), "mine");
    std::fs::copy(folder.path("work/plug.wasm"), folder.path("old.wasm")).unwrap();
    declared("../old.wasm").gave(0, &["old.wasm"]);
    folder
        .run(&["plugin", "declare", "manifest.json", "plug.wasm"])
        .gave(2, &["plug.wasm: is no text: name the manifest"]);
    folder.write("work/text.wasm", "not wasm");
    folder.write("work/core.wasm", "\0asm\u{1}\0\0\0");
    folder.run(&["plugin", "declare", "text.wasm", "manifest.json"]).gave(2, &["text.wasm: is not WebAssembly"]);
    folder.run(&["plugin", "declare", "core.wasm", "manifest.json"]).gave(2, &["core.wasm: is a core module"]);
    folder.run(&["plugin", "declare", "none.wasm", "manifest.json"]).gave(2, &["none.wasm: there is no such file"]);
    folder
        .run(&["plugin", "declare", "plug.wasm", "none.json"])
        .gave(2, &["none.json: there is no such file: correct the path"]);
    folder.run(&["plugin", "inspect", "none.wasm"]).gave(2, &["none.wasm: there is no such file: correct the path"]);
    assert_eq!(std::fs::read(folder.path("work/plug.wasm")).unwrap(), before);
    let left = std::fs::read_dir(folder.path("work")).unwrap().count();
    assert_eq!(left, 6, "something was left over");
}

#[test]
fn the_plug_ins_that_ship_ask_for_the_least_that_they_can_do_with() {
    let folder = Folder::new();
    for (name, asks) in [("files", "*"), ("offers", "/data"), ("pdf", "*")] {
        let path = counterfoil_tests::component(name);
        let shown = folder.run(&["plugin", "inspect", path.to_str().unwrap(), "--json"]).json();
        let expected = json!({"manifest": 1, "dirs": [{"path": asks, "access": "read-write"}], "http": [], "env": []});
        assert_eq!(shown["declaration"], expected, "{name}");
    }
}

#[test]
fn a_call_that_fails_for_want_of_what_was_not_granted_says_so() {
    let folder = Folder::new();
    folder.run(&["config", "init"]).gave(0, &[]);
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    let missing = "(it does not have any directory: the plug-in asks for it (read-write); it is not granted)";
    let read = ["call", "read_file", r#"{"path":"no_such.txt"}"#];
    let with = folder.run(&read);
    with.gave(4, &["no_such.txt"]);
    assert!(!format!("{with:?}").contains("does not have"), "{with:?}");
    let without: Vec<&str> = config.lines().filter(|line| !line.starts_with("dirs")).collect();
    folder.write("work/counterfoil.toml", &without.join("\n"));
    folder.run(&read).gave(4, &["no directory is granted", missing]);
}
