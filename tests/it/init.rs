//! `config init` with each plug-in that ships: what it writes works, what was there stays, and what it prints can be copied.

use counterfoil_tests::program::{Folder, program};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

#[test]
fn every_plug_in_that_ships_is_set_up_and_can_be_called() {
    let folder = Folder::new();
    let all = ["config", "init", "--plugin", "pdf", "--plugin", "files", "--plugin", "offers", "--plugin", "pdf"];
    folder.run(&all).gave(0, &["wrote ./workspace", "data/offers.json", "documents", "pdf.wasm", "counterfoil.toml"]);
    let checked = folder.run(&["config", "check"]);
    checked.gave(0, &["is in order", "/files", "/data", "/documents"]);
    let tools = folder.run(&["tools", "--json"]).json();
    assert_eq!(tools.as_array().unwrap().len(), 45, "{tools}");
    for tool in tools.as_array().unwrap() {
        checked.gave(0, &[tool["name"].as_str().unwrap()]);
    }
    folder.run(&["call", "write_file", r#"{"path": "/files/a.txt", "content": "x"}"#]).gave(0, &[]);
    assert!(folder.path("work/workspace/a.txt").is_file());
    folder
        .run(&["call", "update_offer_payout", r#"{"offer_id": 12, "new_payout": 6.20}"#])
        .gave(3, &["from $4.50 to $6.20"]);
    let begun = folder.run(&["call", "create_document", r#"{"title": "May"}"#, "--json"]);
    begun.gave(0, &[]);
    let document = begun.json()["document_id"].as_str().unwrap().to_owned();
    let arguments = format!(r#"{{"document_id": "{document}", "file_path": "/documents/may.pdf"}}"#);
    let token = folder.run(&["call", "output_pdf", &arguments, "--json"]).json();
    let token = token["confirm_token"].as_str().unwrap();
    folder.run(&["call", "output_pdf", &arguments, "--confirm", token]).gave(0, &[]);
    assert!(folder.path("work/documents/may.pdf").is_file());
}

#[test]
fn one_plug_in_alone_leaves_the_others_out() {
    let folder = Folder::new();
    folder.run(&["config", "init", "--plugin", "offers"]).gave(0, &["call list_offers"]);
    for absent in ["files.wasm", "workspace", "pdf.wasm", "documents"] {
        assert!(!folder.path("work").join(absent).exists(), "{absent}");
    }
    folder.run(&["call", "list_offers"]).gave(0, &["Sweepstakes FR Gold"]);
    folder.run(&["config", "init", "x", "--plugin", "ofers"]).gave(2, &["offers"]);
    assert!(!folder.path("work/x").exists());
}

#[test]
fn data_and_components_that_were_there_stay() {
    let folder = Folder::new();
    fs::create_dir(folder.path("work/data")).unwrap();
    folder.write("work/data/offers.json", "mine");
    folder.run(&["config", "init", "--plugin", "offers"]).gave(0, &["stays as it is"]);
    assert_eq!(fs::read_to_string(folder.path("work/data/offers.json")).unwrap(), "mine");

    let folder = Folder::new();
    folder.write("work/pdf.wasm", "mine");
    folder.run(&["config", "init", "--plugin", "files", "--plugin", "pdf"]).gave(2, &["pdf.wasm exists already"]);
    assert_eq!(fs::read_to_string(folder.path("work/pdf.wasm")).unwrap(), "mine");
    assert!(!folder.path("work/workspace").exists() && !folder.path("work/counterfoil.toml").exists());
}

#[test]
fn a_link_where_a_directory_would_be_granted_is_refused_and_nothing_is_written() {
    for (plugin, place) in [("files", "workspace"), ("offers", "data"), ("pdf", "documents")] {
        let folder = Folder::new();
        fs::create_dir(folder.path("private")).unwrap();
        // Where it leads decides nothing: neither to a directory, nor back into the place itself, nor nowhere.
        for to in ["../private", ".", "nowhere"] {
            std::os::unix::fs::symlink(to, folder.path("work").join(place)).unwrap();
            folder.run(&["config", "init", "--plugin", plugin]).gave(2, &[place, "is a link"]);
            let left: Vec<_> = fs::read_dir(folder.path("work")).unwrap().collect();
            assert_eq!(left.len(), 1, "{left:?}");
            fs::remove_file(folder.path("work").join(place)).unwrap();
        }
        fs::create_dir(folder.path("work").join(place)).unwrap();
        folder.run(&["config", "init", "--plugin", plugin]).gave(0, &["was there already"]);
    }
}

#[test]
fn what_it_makes_is_closed_to_others_and_what_was_there_keeps_its_mode() {
    let folder = Folder::new();
    let mode = |path: &str| fs::metadata(folder.path(path)).unwrap().permissions().mode() & 0o777;
    fs::create_dir(folder.path("work/data")).unwrap();
    fs::set_permissions(folder.path("work/data"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut loose = Command::new("/bin/sh");
    let init = "umask 0; exec \"$0\" config init --plugin files --plugin offers --plugin pdf";
    loose.args(["-c", init]).arg(program()).current_dir(folder.path("work")).env_clear();
    loose.envs(folder.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(loose.output().unwrap().status.success());
    assert_eq!(["work/workspace", "work/documents", "work/data"].map(mode), [0o700, 0o700, 0o755]);
    folder.run(&["call", "list_files", r#"{"path": "/files"}"#]).gave(0, &[]);
}

#[test]
fn the_next_steps_name_this_program_by_a_name_that_the_shell_finds() {
    let folder = Folder::new();
    let init = |name: &str, path: &str| {
        let mut command = folder.command(&["config", "init", name]);
        String::from_utf8(command.env("PATH", path).output().unwrap().stdout).unwrap()
    };
    let check = |said: &str| said.lines().find(|line| line.ends_with(" config check")).unwrap().trim().to_owned();
    let here = program();
    let said = init("a", "/nowhere");
    assert_eq!(
        check(&said),
        format!("{} --config a/counterfoil.toml config check", here.canonicalize().unwrap().display())
    );
    let ran = Command::new("/bin/sh")
        .args(["-c", &check(&said)])
        .env_clear()
        .envs(folder.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(folder.path("work"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let said = init("b", here.parent().unwrap().to_str().unwrap());
    assert_eq!(check(&said), "counterfoil --config b/counterfoil.toml config check");
}
