//! The program, the machine, the configuration, the plug-ins and the cache.

use super::{everything, mode, ready, row, says, unchanged};
use counterfoil_tests::program::Folder;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, SystemTime};

#[test]
fn without_a_configuration_the_rest_is_looked_at_all_the_same() {
    let folder = Folder::new();
    let ran = says(&folder, 2, &["there is no counterfoil.toml", "config init"]);
    row(&ran, &["ok", "machine", "plug-ins run in"]);
    row(&ran, &["warning", "client", "no client"]);
    assert!(everything(&folder.path("home")).is_empty());
}

#[test]
fn a_broken_configuration_is_told_with_its_line_and_hides_nothing_else() {
    let folder = ready();
    let config = "[gate]\nttl = \"1s\"\n[plugins.a]\nsource = \"none.wasm\"\n[plugins.b]\nsource = \"files.wasm\"\n\
                  dirs = [{ host = \"nowhere\", guest = \"/x\" }]\n";
    folder.write("work/counterfoil.toml", config);
    let ran = says(&folder, 2, &["counterfoil.toml:2:7", "15 s to 1 h"]);
    row(&ran, &["wrong", "plug-in", "file of plug-in a", "none.wasm"]);
    row(&ran, &["wrong", "plug-in", "granted directory of plug-in b", "nowhere"]);
    row(&ran, &["ok", "client", "Cursor"]);
    // The server says the same, in its own words.
    row(&ran, &["wrong", "server", "of Cursor ended before it had answered"]);
    assert_eq!(ran.out.matches("15 s to 1 h").count(), 2, "{}", ran.out);
}

#[test]
fn another_configuration_that_is_not_used_is_pointed_out() {
    let folder = ready();
    let of_user = folder.path("home/.config/counterfoil");
    folder.run(&["config", "init", of_user.to_str().unwrap()]).gave(0, &[]);
    row(&says(&folder, 0, &[]), &["warning", "home/.config/counterfoil/counterfoil.toml is there too"]);
    let named = folder.run(&["--config", "counterfoil.toml", "doctor"]);
    assert!(!named.out.contains("is there too"), "{}", named.out);
    row(&named, &["ok", "the one that --config names"]);
}

#[test]
fn what_others_can_write_is_wrong() {
    let folder = ready();
    mode(folder.path("work/counterfoil.toml"), 0o666);
    says(&folder, 2, &["can be written by everybody", "chmod go-w"]);
    mode(folder.path("work/counterfoil.toml"), 0o600);
    mode(folder.path("work/files.wasm"), 0o622);
    says(&folder, 2, &["files.wasm can be written", "chmod go-w"]);
    mode(folder.path("work/files.wasm"), 0o600);
    says(&folder, 0, &[]);
    std::fs::copy(counterfoil_tests::program::program(), folder.path("program")).unwrap();
    let own = |code: i32, words: &[&str]| {
        let ours = folder.command(&[]);
        let mut command = Command::new(folder.path("program"));
        command.arg("doctor").current_dir(folder.path("work")).env_clear();
        let output = command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?)))).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{shown}");
        for word in words {
            assert!(shown.contains(word), "{word} in {shown}");
        }
    };
    own(0, &["warning", "Cursor", "starts another program"]);
    mode(folder.path("program"), 0o757);
    own(1, &["the program", "can be written by everybody"]);
}

#[test]
fn a_clock_that_is_behind_is_wrong() {
    let folder = ready();
    let file = File::options().write(true).open(folder.path("work/counterfoil.toml")).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(100)).unwrap();
    row(&says(&folder, 0, &[]), &["ok", "the clock is not behind"]);
    file.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
    row(&says(&folder, 1, &["set the clock"]), &["wrong", "machine", "counterfoil.toml was written in its future"]);
}

#[test]
fn a_plug_in_that_does_not_load_or_fit_is_wrong() {
    let folder = ready();
    let good = std::fs::read(folder.path("work/files.wasm")).unwrap();
    folder.write("work/files.wasm", "not wasm");
    row(&says(&folder, 2, &[]), &["wrong", "plug-in", "files.wasm", "is not WebAssembly"]);
    std::fs::write(folder.path("work/files.wasm"), &good[..good.len() / 2]).unwrap();
    row(&says(&folder, 2, &[]), &["wrong", "plug-in", "is damaged"]);
    std::fs::copy(counterfoil_tests::fixture("noisy"), folder.path("work/files.wasm")).unwrap();
    let lock = std::fs::read_to_string(folder.path("work/counterfoil.lock")).unwrap();
    row(&says(&folder, 2, &["plugin lock files"]), &["wrong", "plug-in", "is not the one that was locked"]);
    folder.lock();
    row(&says(&folder, 0, &[]), &["ok", "plug-in", "lists 1 tools"]);
    std::fs::write(folder.path("work/files.wasm"), &good).unwrap();
    folder.write("work/counterfoil.lock", &lock);
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    folder.write("work/counterfoil.toml", &format!("{config}[plugins.files.levels]\ndelete_file = 1\n"));
    row(&says(&folder, 2, &[]), &["wrong", "configuration", "counterfoil.toml:7:"]);
    folder.write("work/counterfoil.toml", &format!("{config}tools = [\"nothing\"]\n"));
    row(&says(&folder, 2, &[]), &["wrong", "configuration", "has no tool \"nothing\""]);
    folder.write("work/counterfoil.toml", &config.replace("\"workspace\"", "\".\""));
    row(&says(&folder, 2, &[]), &["wrong", "configuration", "reaches the"]);
}

/// Root may write everywhere: the program runs as somebody else then, who owns all of the folder.
#[test]
fn a_granted_directory_that_cannot_be_written_is_wrong() {
    const NOBODY: u32 = 65534;
    let folder = ready();
    std::fs::copy(counterfoil_tests::program::program(), folder.path("program")).unwrap();
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if root {
        for path in everything(&folder.path("")).into_keys().chain([folder.path("")]) {
            std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let run = || {
        let mut command = Command::new(folder.path("program"));
        command.arg("doctor").current_dir(folder.path("work")).env_clear();
        command.env("HOME", folder.path("home")).env("XDG_CACHE_HOME", folder.path("cache"));
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let shown = run();
    assert!(shown.contains("workspace can be read and written\n"), "{shown}");
    mode(folder.path("work/workspace"), 0o555);
    let shown = run();
    assert!(shown.contains("workspace cannot be read and written by you"), "{shown}");
    mode(folder.path("work/workspace"), 0o755);
    std::fs::create_dir(folder.path("cache")).unwrap();
    mode(folder.path("cache"), 0o555);
    if root {
        std::os::unix::fs::lchown(folder.path("cache"), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let shown = run();
    assert!(shown.contains("compiled code cannot be written here"), "{shown}");
    mode(folder.path("cache"), 0o755);
    let shown = run();
    assert!(shown.contains("2 of 2 are not compiled yet"), "{shown}");
    mode(folder.path("work/state.db"), 0o400);
    let shown = run();
    assert!(shown.contains("state.db cannot be written: "), "{shown}");
}

#[test]
fn compiled_code_that_is_not_used_is_pointed_out() {
    let folder = ready();
    let run = |verb: &str| {
        let mut command = folder.command(&[verb]);
        let output = command.env("XDG_CACHE_HOME", folder.path("cache")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run("doctor").contains("2 of 2 are not compiled yet"));
    run("tools");
    assert!(run("doctor").contains("all of 2 components are compiled"));
    let code = folder.path("cache/counterfoil");
    mode(code.clone(), 0o777);
    let shown = run("doctor");
    assert!(shown.contains("the compiled code of files is not used") && shown.contains("rm -r"), "{shown}");
    mode(code.clone(), 0o700);
    for entry in std::fs::read_dir(&code).unwrap() {
        std::fs::write(entry.unwrap().path(), "not code").unwrap();
    }
    let before = everything(&code);
    let shown = run("doctor");
    assert!(shown.contains("the compiled code of the gate cannot be loaded"), "{shown}");
    unchanged(&code, &before);
}

#[test]
#[cfg(target_os = "linux")]
fn too_little_address_space_is_pointed_out() {
    let folder = ready();
    let doctor = folder.command(&[]);
    let run = |limit: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {limit}; exec \"$0\" doctor")]).arg(doctor.get_program());
        shell.current_dir(folder.path("work")).env_clear();
        shell.envs(doctor.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, shown) = run("unlimited");
    assert!(code == Some(0) && !shown.contains("address space"), "{shown}");
    let (code, shown) = run("30000000");
    assert!(code == Some(0) && shown.contains("a limit of 29296 MiB on the address space"), "{shown}");
    let (code, shown) = run("2000000");
    assert!(code == Some(2) && shown.contains("Cannot allocate memory"), "{shown}");
}
