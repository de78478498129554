//! Directories that a plug-in is granted: there, each with a path of its own, and none through which the program's own files or
//! another grant are reached.

use super::{Place, accepted, files, refused};
use counterfoil::plugin::Access;
use std::os::unix::fs::symlink;

#[test]
fn a_directory_exists_and_has_a_path_of_its_own() {
    let dirs = |host: &str, guest: &str| files(&format!("dirs = [{{ host = \"{host}\", guest = \"{guest}\" }}]\n"));
    refused(&dirs("../none", "/f"), 3, &["does not exist", "make it"]);
    refused(&dirs("files.wasm", "/f"), 3, &["is a file: grant the directory"]);
    refused(&dirs("", "/f"), 3, &["this is empty", "./workspace"]);
    refused(&files("dirs = { host = \"../workspace\", guest = \"/f\" }\n"), 3, &["write dirs = [{"]);
    for guest in ["", "f", "/f/../g", "/f//g", "/f/", "./f", "/f/."] {
        refused(&dirs("../workspace", guest), 3, &["/files"]);
    }
    let two = "dirs = [\n{ host = \"../workspace\", guest = \"/f\" },\n{ host = \"../other\", guest = \"/f\" },\n]\n";
    refused(&files(two), 5, &["another path"]);
    refused(&files("dirs = [{ host = \"../workspace\", guest = \"/f\", access = \"write\" }]\n"), 3, &["read-write"]);
    let place = Place::new();
    let config = place.load(dirs("../workspace", "/f")).unwrap();
    let dir = &config.plugins[0].options.dirs[0];
    assert_eq!(
        (&dir.host, dir.guest.as_str(), dir.access),
        (&place.at("workspace").canonicalize().unwrap(), "/f", Access::ReadOnly)
    );
    // A link stays in the path: it may be turned while the program runs.
    symlink(place.at("workspace"), place.at("plugs/current")).unwrap();
    let config = place.load(dirs("../plugs/current", "/f")).unwrap();
    assert!(config.plugins[0].options.dirs[0].host.ends_with("plugs/current"), "{config:?}");
}

#[test]
fn a_grant_that_reaches_the_programs_own_files_is_refused() {
    let dirs = |host: &str| files(&format!("dirs = [{{ host = \"{host}\", guest = \"/f\" }}]\n"));
    refused(&dirs("."), 3, &["the configuration", "counterfoil.toml"]);
    refused(&dirs(".."), 3, &["the configuration"]);
    refused(&dirs("/"), 3, &["reaches"]);
    refused(&dirs("../workspace-link"), 3, &["the configuration"]);
    let linked = |access: &str, own: &str| {
        let place = Place::new();
        let toml = dirs("../workspace").replace("\"/f\"", &format!("\"/f\", access = \"{access}\""));
        let toml = format!("[store]\nurl = \"sqlite:state.db\"\n{toml}");
        std::fs::write(place.at("own/state.db"), "").unwrap();
        std::fs::write(place.at("own/counterfoil.toml"), "").unwrap();
        std::fs::hard_link(place.at(own), place.at("workspace/inner/name")).unwrap();
        place.load(toml).map_err(|error| error.to_string())
    };
    for access in ["read-only", "read-write"] {
        for (own, what) in [
            ("own/counterfoil.toml", "the configuration"),
            ("own/state.db", "the store"),
            ("own/files.wasm", "a plug-in file"),
        ] {
            let error = linked(access, own).expect_err(own);
            assert!(
                error.contains(":5:") && error.contains(what) && error.contains("workspace/inner/name (a hard link)"),
                "{error}"
            );
        }
        assert!(linked(access, "own/other.wasm").is_ok());
    }
    refused(&dirs("/proc"), 3, &["/proc"]);
    let store = |url: &str| format!("[store]\nurl = \"sqlite:{url}\"\n{}", dirs("../workspace"));
    refused(&store("../workspace/state.db"), 5, &["the store", "state.db"]);
    refused(&store("../workspace/inner/state.db"), 5, &["the store"]);
    // A grant of one plug-in, and the file of another.
    let two = format!("{}[plugins.plug]\nsource = \"../plugs/plug.wasm\"\n", dirs("../plugs"));
    refused(&two, 3, &["a plug-in file", "plug.wasm"]);
    accepted(&dirs("inner"));
    accepted(&store("../other/state.db"));
}

#[test]
fn a_grant_inside_one_that_can_be_written_is_refused() {
    let outer = |access: &str| {
        files(&format!("dirs = [{{ host = \"../workspace\", guest = \"/f\", access = \"{access}\" }}]\n"))
    };
    let inner = |host: &str, access: &str| {
        format!(
            "[plugins.plug]\nsource = \"../plugs/plug.wasm\"\n\
             dirs = [{{ host = \"{host}\", guest = \"/g\", access = \"{access}\" }}]\n"
        )
    };
    for access in ["read-only", "read-write"] {
        let toml = outer("read-write") + &inner("../workspace/inner", access);
        refused(&toml, 6, &["\"plug\"", "workspace/inner", "lies inside", "\"files\" may write"]);
        accepted(&(outer("read-only") + &inner("../workspace/inner", access)));
        // The same directory for both: neither can replace it.
        accepted(&(outer("read-write") + &inner("../workspace", access)));
        accepted(&(outer("read-only") + &inner("../workspace", access)));
        accepted(&(outer("read-write") + &inner("../other", access)));
    }
    // Within one plug-in, too: at the next start the path would be followed anew.
    let both = "dirs = [\n{ host = \"../workspace/inner\", guest = \"/g\" },\n\
                { host = \"../workspace\", guest = \"/f\", access = \"read-write\" },\n]\n";
    refused(&files(both), 4, &["lies inside"]);
    // A link in a directory that can be written leads where its writer wants.
    let place = Place::new();
    symlink(place.at("other"), place.at("workspace/way")).unwrap();
    let error = place.load(outer("read-write") + &inner("../workspace/way", "read-only")).expect_err("refused");
    assert!(error.to_string().contains("lies inside"), "{error}");
}

#[test]
fn a_grant_to_write_the_program_is_refused() {
    let program = std::env::current_exe().unwrap();
    let grant = |access: &str| {
        let host = program.parent().unwrap().display();
        files(&format!("dirs = [{{ host = \"{host}\", guest = \"/f\", access = \"{access}\" }}]\n"))
    };
    refused(&grant("read-write"), 3, &["the program"]);
    accepted(&grant("read-only"));
}

#[test]
fn no_plugin_may_write_where_the_next_start_looks_for_its_configuration() {
    let here = std::env::current_dir().unwrap();
    let toml = |access| files(&format!("dirs = [{{ host = {here:?}, guest = \"/f\", access = \"{access}\" }}]\n"));
    refused(&toml("read-write"), 3, &["where the configuration is looked for"]);
    accepted(&toml("read-only"));
}
