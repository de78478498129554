//! Configurations: each mistake with its line and what to do; each good form with what it means.

mod grants;
mod http;
mod loaded;
mod tools;

use counterfoil::config::{Config, StoreConfig};
use counterfoil::plugin::Access;
use counterfoil::{ErrorKind, Level};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

/// A folder with everything that a configuration can name.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for dir in ["own", "own/inner", "workspace", "workspace/inner", "other", "plugs"] {
            std::fs::create_dir(place.at(dir)).unwrap();
        }
        for file in ["own/files.wasm", "own/other.wasm", "plugs/plug.wasm"] {
            std::fs::write(place.at(file), "").unwrap();
        }
        symlink(place.at("own"), place.at("workspace-link")).unwrap();
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn load(&self, toml: impl AsRef<[u8]>) -> Result<Config, counterfoil::Error> {
        let file = self.at("own/counterfoil.toml");
        std::fs::write(&file, toml).unwrap();
        Config::load(&file)
    }
}

#[track_caller]
fn refused(toml: &str, line: usize, words: &[&str]) {
    let place = Place::new();
    let error = place.load(toml).expect_err("refused").to_string();
    let start = format!("{}:{line}:", place.at("own/counterfoil.toml").display());
    assert!(error.starts_with(&start), "line {line} for {toml}\n{error}");
    for word in words {
        assert!(error.contains(word), "{word:?} is missing in:\n{error}");
    }
}

#[track_caller]
fn accepted(toml: &str) -> Config {
    Place::new().load(toml).expect("accepted")
}

/// A plug-in with these further lines.
fn files(rest: &str) -> String {
    format!("[plugins.files]\nsource = \"files.wasm\"\n{rest}")
}

#[test]
fn an_unknown_key_is_refused_wherever_it_stands() {
    refused("[gates]\n", 1, &["unknown key `gates`", "spelling", "`gate`"]);
    refused("[gate]\n\ntttl = \"5m\"\n", 3, &["unknown key `tttl`", "`ttl`"]);
    refused("[store]\nfile = \"x\"\n", 2, &["unknown key"]);
    refused(&files("tool = [\"a\"]\n"), 3, &["unknown key `tool`"]);
    refused(
        &files("dirs = [{ host = \"../workspace\", guest = \"/f\", write = true }]\n"),
        3,
        &["unknown key `write`"],
    );
    refused(&files("[plugins.files.limits]\nmemroy = 1\n"), 4, &["unknown key `memroy`"]);
    refused(&files("[plugin.other]\nsource = \"other.wasm\"\n"), 3, &["unknown key `plugin`"]);
}

#[test]
fn what_is_no_toml_is_refused_at_its_line() {
    refused("[gate]\nttl = \"5m\n", 2, &["string"]);
    refused("[plugins.files]\nsource = files.wasm\n", 2, &["a text stands in quotes"]);
    let rule = |lines: &str| format!("[[rules]]\ntool = \"a\"\n{lines}");
    refused(&rule("when = \"args.path.contains(\"ledger\")\"\n"), 3, &["stands in single quotes"]);
    refused(&rule("when = 'true'\ndeny = yes\n"), 4, &["true and false in none"]);
    refused(&rule("when = 'true'\nlevel = \"3\"\n"), 4, &["has no quotes: write 3"]);
    refused("[gate]\nttl = \"5m\"\nttl = \"6m\"\n", 3, &["duplicate key", "keep one"]);
    refused("[gate]\n[gate]\n", 2, &["keep one"]);
    refused("plugins = 3\n", 1, &["a table belongs here"]);
    refused("[plugins.files]\n", 1, &["`source` is missing"]);
    refused("\u{202e}x = 1\n", 1, &["\\u{202e}"]);
}

#[test]
fn a_list_where_a_table_belongs_is_refused() {
    // Each would be taken for the values of the keys, in their order.
    refused("gate = [\"5m\"]\n", 1, &["a table belongs here and not a list"]);
    refused("plugins.files = [\"files.wasm\"]\n", 1, &["not a list"]);
    refused(&files("limits = [\"1s\"]\n"), 3, &["not a list"]);
    refused(&files("dirs = [[\"../workspace\", \"/f\", \"read-write\"]]\n"), 3, &["not a list"]);
    refused(&files("http = [[\"example.com\"]]\n"), 3, &["not a list"]);
    refused(
        "[[budgets]]\nname = \"a\"\n[audit]\n[store]\n[gate]\n[plugins]\n[plugins.files]\nfixed = [1]\n",
        8,
        &["not a list"],
    );
    refused("rules = [[1]]\n", 1, &["not a list"]);
    accepted("gate = {}\nplugins = {}\nrules = []\n");
}

#[test]
fn a_time_is_a_length_with_its_unit_within_its_range() {
    refused("[gate]\nttl = 300\n", 2, &["length of time in quotes"]);
    refused("[gate]\nttl = \"five\"\n", 2, &["no length of time", "\"5m\""]);
    refused("[gate]\nttl = \"14s\"\n", 2, &["15 s to 1 h"]);
    refused("[gate]\nttl = \"61m\"\n", 2, &["15 s to 1 h"]);
    refused("[gate]\nreplay_window = \"0s\"\n", 2, &["zero"]);
    refused("[gate]\ntombstone = \"400d\"\n", 2, &["longer than a year"]);
    refused("[gate]\ntombstone = \"99999999999999999999w\"\n", 2, &["longer than a year"]);
    // Slips that must not make another length of it.
    for months in ["1M", "1month", "2 months", "1y", "10 years"] {
        refused(&format!("[gate]\nttl = \"{months}\"\n"), 2, &["differ in length", "\"30d\"", "m for minutes"]);
    }
    for slip in
        ["5 0m", "5 10s", "1.5h", "5", "m", "", " ", "5m5m", "30s 5m", "5m,", "+5m", "-5m", "5\u{a0}m", "5H", "5m 3"]
    {
        refused(&format!("[gate]\nttl = \"{slip}\"\n"), 2, &["no length of time", "\"5m\""]);
    }
    refused("[gate]\nrecent_window = \"1500us\"\n", 2, &["millisecond"]);
    let good = [
        ("15s", 15),
        ("1h", 3600),
        ("1m 30s", 90),
        ("1m30s", 90),
        ("5 min", 300),
        ("20000ms", 20),
        ("0d 1 hour", 3600),
    ];
    for (ttl, seconds) in good {
        assert_eq!(accepted(&format!("[gate]\nttl = \"{ttl}\"\n")).gate.ttl, Some(Duration::from_secs(seconds)));
    }
}

#[test]
fn a_limit_is_above_zero() {
    for key in [
        "max_depth",
        "max_number",
        "max_exponent",
        "pending_per_owner",
        "pending_in_all",
        "max_arguments",
        "max_plan",
        "max_precondition",
        "max_outcome",
        "max_output",
    ] {
        refused(&format!("[gate]\n{key} = 0\n"), 2, &["zero"]);
        refused(&format!("[gate]\n{key} = -1\n"), 2, &[]);
    }
    for key in [
        "memory = 0",
        "output = \"0 KiB\"",
        "log = 0",
        "preview = \"0s\"",
        "execute = \"0ms\"",
        "table_elements = 0",
        "instances = 0",
        "handles = 0",
        "max_concurrent = 0",
    ] {
        refused(&files(&format!("[plugins.files.limits]\n{key}\n")), 4, &["zero"]);
    }
}

#[test]
fn a_size_is_a_number_or_has_a_binary_unit() {
    refused("[gate]\nmax_arguments = \"256 KB\"\n", 2, &["KiB"]);
    refused("[gate]\nmax_arguments = \"256\"\n", 2, &["has no unit", "256 MiB", "256 B"]);
    refused(&files("[plugins.files.limits]\nmemory = 65535\n"), 4, &["less than 64 KiB of memory"]);
    assert_eq!(accepted(&files("[plugins.files.limits]\nmemory = 65536\n")).plugins[0].options.limits.memory, 65_536);
    refused("[gate]\nmax_arguments = \"big\"\n", 2, &["no size"]);
    refused("[gate]\nmax_arguments = \"64\\tKiB\"\n", 2, &["no size"]);
    refused("[gate]\nmax_arguments = \"4 GiB\"\n", 2, &["less than 4 GiB"]);
    refused("[gate]\nmax_arguments = \"99999999999999 GiB\"\n", 2, &["no size"]);
    for (size, bytes) in [("65536", 65_536), ("\"64 KiB\"", 65_536), ("\"1MiB\"", 1 << 20), ("\"512 B\"", 512)] {
        assert_eq!(accepted(&format!("[gate]\nmax_arguments = {size}\n")).gate.max_arguments, Some(bytes));
    }
    let config = accepted(&files("[plugins.files.limits]\nmemory = \"1 GiB\"\nexecute = \"2m\"\nmax_concurrent = 4\n"));
    let limits = &config.plugins[0].options.limits;
    assert_eq!((limits.memory, limits.execute, limits.max_concurrent), (1 << 30, Duration::from_secs(120), 4));
    assert_eq!(limits.preview, Duration::from_secs(5));
    let config = accepted(&files("[plugins.files.limits]\nhandles = 7\ninstances = 8\ntable_elements = 9\n"));
    let limits = &config.plugins[0].options.limits;
    assert_eq!((limits.handles, limits.instances, limits.table_elements), (7, 8, 9));
}

#[test]
fn the_confirm_parameter_is_a_name() {
    let long = "a".repeat(65);
    for bad in ["", "a b", "é", "a.b", &long] {
        refused(&format!("[gate]\nconfirm_parameter = \"{bad}\"\n"), 2, &["1 to 64"]);
    }
    let config = accepted("[gate]\nconfirm_parameter = \"_confirmation_token\"\n");
    assert_eq!(config.gate.confirm_parameter.as_deref(), Some("_confirmation_token"));
}

#[test]
fn a_store_is_a_file_beside_the_configuration_or_memory() {
    for bad in ["", "sqlite:", "sqlite::memory:", "sqlite://x", "postgres://x", "memory", "state.db"] {
        refused(&format!("[store]\nurl = \"{bad}\"\n"), 2, &["sqlite:FILE", "memory:"]);
    }
    refused("[store]\nurl = \"sqlite:none/state.db\"\n", 2, &["does not exist"]);
    refused("[store]\nurl = \"sqlite:inner\"\n", 2, &["is a directory"]);
    let place = Place::new();
    assert_eq!(
        place.load("[store]\nurl = \"sqlite:state.db\"\n").unwrap().store,
        StoreConfig::Sqlite(place.at("own/state.db"))
    );
    assert_eq!(accepted("[store]\nurl = \"memory:\"\n").store, StoreConfig::Memory);
    let StoreConfig::Sqlite(default) = accepted("").store else { panic!("memory by default") };
    assert!(default.ends_with("counterfoil/state.db"), "{}", default.display());
}

#[test]
fn a_plugin_has_a_name_and_a_file() {
    refused("[plugins.\"a b\"]\nsource = \"files.wasm\"\n", 1, &["name of a plug-in", "1 to 64"]);
    refused(
        "[plugins.files]\nsource = \"none.wasm\"\n",
        2,
        &["there is no plug-in file", "none.wasm", "correct the path"],
    );
    refused("[plugins.files]\nsource = \"inner\"\n", 2, &["not a file"]);
    refused("[plugins.files]\nsource = \"~/x.wasm\"\n", 2, &["stands for no home directory"]);
    refused(&files("dirs = [{ host = \"~/x\", guest = \"/x\" }]\n"), 3, &["stands for no home directory"]);
    let place = Place::new();
    let config = place.load(files("")).unwrap();
    assert_eq!(config.plugins[0].source, place.at("own/files.wasm"));
    assert!(config.plugins[0].options.dirs.is_empty() && config.plugins[0].options.tools.is_none());
}

#[test]
fn a_file_that_cannot_be_trusted_is_not_read() {
    let place = Place::new();
    let refused = |file: &str, words: &[&str]| {
        let error = Config::load(&place.at(file)).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Config);
        for word in words {
            assert!(error.to_string().contains(word), "{word:?} is missing in {error}");
        }
    };
    refused("none.toml", &["none.toml", "there is no such file"]);
    refused("own", &["is not a file"]);
    std::fs::write(place.at("own/bad.toml"), b"[gate]\n# \xff\n").unwrap();
    refused("own/bad.toml", &["bad.toml:2:", "UTF-8"]);
    std::fs::write(place.at("own/long.toml"), "#".repeat((1 << 20) + 1)).unwrap();
    refused("own/long.toml", &["longer than 1 MiB"]);
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(place.at("other/ok.toml"), "").unwrap();
    std::fs::set_permissions(place.at("other"), std::fs::Permissions::from_mode(0o777)).unwrap();
    refused("other/ok.toml", &["everybody can replace it", "chmod go-w"]);
    std::fs::create_dir(place.at("other/in")).unwrap();
    std::fs::write(place.at("other/in/ok.toml"), "").unwrap();
    refused("other/in/ok.toml", &["everybody can replace it", "chmod o-w", "other"]);
    std::fs::set_permissions(place.at("other"), std::fs::Permissions::from_mode(0o1777)).unwrap();
    assert!(Config::load(&place.at("other/ok.toml")).is_ok());
    assert!(Config::load(&place.at("other/in/ok.toml")).is_ok());
}

#[test]
fn the_configuration_of_the_documentation_is_accepted() {
    let config = accepted(
        r#"
[gate]
ttl = "5m"
confirm_parameter = "confirm_token"
[store]
url = "sqlite:state.db"            # or "memory:"; default: sqlite in the user's state directory
[plugins.files]
source = "files.wasm"              # relative to this file
tools = ["list_files", "read_file", "write_file", "delete_file"]
dirs = [{ host = "./inner", guest = "/files", access = "read-write" }]
rename = { read_file = "read" }
[plugins.files.levels]
write_file = "approval_required"   # or 3; raises only
"#,
    );
    let plugin = &config.plugins[0];
    assert_eq!(plugin.options.rename.get("read_file").map(String::as_str), Some("read"));
    assert_eq!(plugin.levels.get("write_file"), Some(&Level::ApprovalRequired));
    assert_eq!(plugin.options.dirs[0].access, Access::ReadWrite);
}

#[test]
fn a_plugin_file_that_everybody_can_replace_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    std::fs::set_permissions(place.at("plugs"), std::fs::Permissions::from_mode(0o777)).unwrap();
    symlink(place.at("plugs/plug.wasm"), place.at("own/link.wasm")).unwrap();
    for source in ["../plugs/plug.wasm", "link.wasm"] {
        let error = place.load(format!("[plugins.p]\nsource = {source:?}\n")).expect_err("refused").to_string();
        assert!(error.contains(":2:") && error.contains("everybody can replace it"), "{error}");
    }
}
