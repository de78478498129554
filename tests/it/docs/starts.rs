//! Starts that are refused, each made and read: what the program prints for a configuration that it does not accept.

use super::page;
use counterfoil_tests::program::{Folder, program};
use counterfoil_tests::{component, fixture};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// What works: each story below breaks it in one way.
const FILES: &str = r#"[plugins.files]
source = "files.wasm"
dirs = [{ host = "./workspace", guest = "/files", access = "read-write" }]
"#;

/// What is printed, with the folder as `/home/ada/agent`.
pub fn told(name: &str) -> String {
    let folder = Folder::new();
    let work = |path: &str| folder.path("work").join(path);
    fs::copy(component("files"), work("files.wasm")).unwrap();
    fs::create_dir_all(work("workspace/inner")).unwrap();
    let gate = |lines: &str| format!("[gate]\n{lines}\n\n{FILES}");
    let levels = |lines: &str| format!("{FILES}\n[plugins.files.levels]\n{lines}\n");
    let (mut verb, mut code) = (vec!["config", "check"], 2);
    let config = match name {
        "lowered" => levels("delete_file = \"caution\""),
        "unknown key" => FILES.replace("dirs", "directories"),
        "unknown tool" => levels("delete_files = 3"),
        "switched off" => format!("{FILES}tools = [\"read_file\"]\n\n[plugins.files.levels]\ndelete_file = 3\n"),
        "no level" => levels("read_file = \"high\""),
        "taken twice" => format!("{FILES}\n[plugins.more]\nsource = \"files.wasm\"\n"),
        "no directory" => FILES.replace("./workspace", "./workspce"),
        "reaches its own" => FILES.replace("./workspace", "."),
        "nested" => {
            let inner = "{ host = \"./workspace/inner\", guest = \"/inner\" }";
            FILES.replace(" }]", &format!(" }},\n        {inner}]"))
        }
        "ttl" => gate("ttl = \"2h\""),
        "zero" => gate("max_plan = 0"),
        "out of range" => gate("max_outcome = \"1 GiB\""),
        "parameter taken" => gate("confirm_parameter = \"path\""),
        "no store" => format!("[store]\nurl = \"postgres://db\"\n\n{FILES}"),
        "store elsewhere" => format!("[store]\nurl = \"sqlite:data/state.db\"\n\n{FILES}"),
        "other database" => {
            fs::write(work("state.db"), "not a database, but long enough to be looked at").unwrap();
            code = 1;
            format!("[store]\nurl = \"sqlite:state.db\"\n\n{FILES}")
        }
        "store open" => {
            fs::write(work("state.db"), "").unwrap();
            fs::set_permissions(work("state.db"), fs::Permissions::from_mode(0o666)).unwrap();
            code = 1;
            format!("[store]\nurl = \"sqlite:state.db\"\n\n{FILES}")
        }
        "plug-in open" => {
            fs::set_permissions(work("files.wasm"), fs::Permissions::from_mode(0o666)).unwrap();
            FILES.to_owned()
        }
        "no plug-in" => FILES.replace("files.wasm", "file.wasm"),
        "core module" => {
            fs::write(work("files.wasm"), b"\0asm\x01\0\0\0").unwrap();
            FILES.to_owned()
        }
        "no component" => {
            fs::write(work("files.wasm"), "#!/bin/sh\n").unwrap();
            FILES.to_owned()
        }
        "other imports" => {
            // The gate's own component: it exports no tools, and wants a store.
            fs::copy(component("gate"), work("files.wasm")).unwrap();
            FILES.to_owned()
        }
        "list-tools" => {
            fs::copy(fixture("loop_list"), work("files.wasm")).unwrap();
            format!("{FILES}limits = {{ preview = \"200ms\" }}\n")
        }
        "changed" => {
            fs::copy(fixture("stamp"), work("files.wasm")).unwrap();
            folder.write("work/counterfoil.toml", FILES);
            folder.lock();
            fs::copy(fixture("stamp_next"), work("files.wasm")).unwrap();
            FILES.to_owned()
        }
        "no configuration" => {
            verb = vec!["serve"];
            String::new()
        }
        "not chosen" => {
            // Put there by somebody else.
            fs::write(work("counterfoil.toml"), FILES).unwrap();
            String::new()
        }
        "memory" => {
            verb = vec!["resolve"];
            format!("[store]\nurl = \"memory:\"\n\n{FILES}")
        }
        other => panic!("no start is called \"{other}\""),
    };
    if !["no configuration", "not chosen"].contains(&name) {
        folder.write("work/counterfoil.toml", &config);
    }
    let ran = folder.run(&verb);
    assert_eq!(ran.code, code, "{name}: {ran:?}");
    assert!(ran.out.is_empty(), "{name}: {ran:?}");
    let mut said = ran.err;
    for (path, shown) in [(folder.path("work"), "/home/ada/agent"), (folder.path("home"), "/home/ada")] {
        let real = fs::canonicalize(&path).unwrap();
        for path in [real, path] {
            said = said.replace(path.to_str().unwrap(), shown);
        }
    }
    // By the name that a shell finds it by, and as no build gives it.
    said = said.replace(program().canonicalize().unwrap().to_str().unwrap(), "counterfoil");
    let digest = |word: &str| word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
    for word in said.clone().split_whitespace().filter(|word| digest(word)) {
        said = said.replace(word, "…");
    }
    let remark =
        |line: &&str| ["note: compiling", "note: the configuration is"].iter().any(|start| line.starts_with(start));
    said.lines().filter(|line| !remark(line)).collect::<Vec<_>>().join("\n")
}

/// What the program prints for a verb's help.
fn help(verbs: &[&str]) -> Option<String> {
    let ran = Command::new(program()).args(verbs).arg("--help").output().unwrap();
    ran.status.success().then(|| String::from_utf8(ran.stdout).unwrap())
}

/// The verbs that a help lists.
fn verbs(help: &str) -> Vec<String> {
    let listed = help.split("\nCommands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    listed.lines().filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

#[test]
fn docs_commands_are_commands_of_the_program() {
    let mut tried = 0;
    for entry in fs::read_dir(page::root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        for line in page::commands(&fs::read_to_string(&path).unwrap()) {
            let words: Vec<&str> = line.split_whitespace().skip(1).collect();
            let (mut known, mut said) = (Vec::new(), help(&[]).unwrap());
            // A verb, and one of its own.
            while let Some(verb) = words.get(known.len()).filter(|word| verbs(&said).iter().any(|verb| verb == *word)) {
                known.push(*verb);
                said = help(&known).unwrap();
            }
            let flags = words.iter().filter(|word| word.starts_with("--"));
            assert!(!known.is_empty() && verbs(&said).is_empty(), "{}: `{line}` is no command", path.display());
            for flag in flags.map(|flag| flag.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())) {
                assert!(said.contains(flag), "{}: `{line}`: {flag} is no option\n{said}", path.display());
            }
            tried += 1;
        }
    }
    assert!(tried > 10, "{tried} commands were tried");
}
