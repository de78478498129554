//! What the operator says of tools and of their names, held to what a plug-in has.

use super::{accepted, files, refused};
use counterfoil::Level;
use counterfoil::config::Admitted;
use counterfoil::tool::Declaration;

#[test]
fn levels_are_names_or_numbers() {
    for bad in ["4", "-1", "\"dangerous\"", "\"4\"", "true"] {
        refused(&files(&format!("[plugins.files.levels]\nwrite_file = {bad}\n")), 4, &["approval_required"]);
    }
    let config = accepted(&files("[plugins.files.levels]\na = \"approval_required\"\nb = 3\nc = \"caution\"\nd = 0\n"));
    let levels: Vec<Level> = config.plugins[0].levels.values().copied().collect();
    assert_eq!(levels, [Level::ApprovalRequired, Level::ApprovalRequired, Level::Caution, Level::Safe]);
}

#[test]
fn names_that_are_listed_are_checked() {
    refused(&files("tools = [\"a\",\n\"b\",\n\"a\"]\n"), 5, &["twice"]);
    refused(&files("rename = { a = \"a b\" }\n"), 3, &["name of a tool", "1 to 64"]);
    refused(&files(&format!("rename = {{ a = \"{}\" }}\n", "x".repeat(65))), 3, &["1 to 64"]);
}

fn tool(name: &str, level: Level) -> Declaration {
    Declaration {
        name: name.into(),
        title: None,
        description: String::new(),
        input_schema: "{}".into(),
        output_schema: None,
        level,
        critical: false,
    }
}

#[test]
fn what_the_operator_says_of_tools_is_held_to_what_the_plugin_has() {
    let declared = [tool("read", Level::Safe), tool("write", Level::Caution), tool("bad name", Level::Safe)];
    #[track_caller]
    fn check(declared: &[Declaration], rest: &str, line: usize, words: &[&str]) {
        let config = accepted(&files(rest));
        let error =
            config.admit(&config.plugins[0], declared, &mut Admitted::default()).expect_err("refused").to_string();
        assert!(error.contains(&format!("counterfoil.toml:{line}:")), "line {line}: {error}");
        for word in words {
            assert!(error.contains(word), "{word:?} is missing in:\n{error}");
        }
    }
    let named = "tools = [\"read\", \"write\"]\n";
    check(&declared, "", 1, &["\"bad name\"", "rename"]);
    check(&declared, "tools = [\"red\"]\n", 3, &["no tool \"red\"", "read, write"]);
    check(&declared, &format!("{named}rename = {{ red = \"x\" }}\n"), 4, &["no tool \"red\""]);
    check(&declared, &format!("{named}rename = {{ \"bad name\" = \"x\" }}\n"), 4, &["switched off", "`tools`"]);
    check(&declared, &format!("{named}[plugins.files.levels]\nred = 3\n"), 5, &["no tool \"red\""]);
    check(&declared, "tools = [\"read\"]\n[plugins.files.levels]\nwrite = 3\n", 5, &["switched off"]);
    check(
        &declared,
        &format!("{named}rename = {{ read = \"write\" }}\n"),
        4,
        &["two of its tools are named \"write\""],
    );
}

#[test]
fn a_listed_name_is_taken_once_across_plugins() {
    let declared = [tool("read", Level::Safe)];
    let config = accepted(&files("[plugins.other]\nsource = \"other.wasm\"\n"));
    let mut admitted = Admitted::default();
    assert!(config.admit(&config.plugins[0], &declared, &mut admitted).is_ok());
    let error = config.admit(&config.plugins[1], &declared, &mut admitted).expect_err("taken").to_string();
    assert!(error.contains("counterfoil.toml:3:") && error.contains("\"files\" has a tool \"read\""), "{error}");

    let config = accepted(&files(
        "[plugins.other]\nsource = \"other.wasm\"\nrename = { read = \"read2\" }\n[plugins.other.levels]\nread = 2\n",
    ));
    let mut admitted = Admitted::default();
    assert!(config.admit(&config.plugins[0], &declared, &mut admitted).unwrap().is_empty());
    let raised = config.admit(&config.plugins[1], &declared, &mut admitted).unwrap();
    assert_eq!((raised[0].tool.as_str(), raised[0].declared, raised[0].level), ("read2", Level::Safe, Level::Review));
}

#[test]
fn a_listed_name_is_not_easily_taken_for_another() {
    // In one plug-in, and across two; renamed names count as they are listed.
    let two = files("rename = { old = \"renamed\" }\n[plugins.other]\nsource = \"other.wasm\"\n");
    #[track_caller]
    fn check(text: &str, first: &[&str], second: &[&str], expected: Result<(), &[&str]>) {
        let config = accepted(text);
        let mut admitted = Admitted::default();
        let declared = |names: &[&str]| names.iter().map(|name| tool(name, Level::Safe)).collect::<Vec<_>>();
        let found = config.admit(&config.plugins[0], &declared(first), &mut admitted);
        let found = found.and_then(|_| config.admit(&config.plugins[1], &declared(second), &mut admitted));
        match (found.map_err(|error| error.to_string()), expected) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err(words)) => {
                words.iter().for_each(|word| assert!(error.contains(word), "{word:?} is missing in:\n{error}"));
            }
            (found, _) => panic!("{found:?} for {first:?} and {second:?}"),
        }
    }
    let across: &[&str] = &["counterfoil.toml:4:", "\"Read\"", "\"read\" of the plug-in \"files\"", "`rename`"];
    check(&two, &["old", "read"], &["Read"], Err(across));
    check(&two, &["old", "read"], &["reader"], Ok(()));
    check(&two, &["old", "item10"], &["iteml0"], Err(&["\"iteml0\" is easily taken for \"item10\""]));
    check(&two, &["old", "move"], &["rnove"], Err(&["\"rnove\" is easily taken for \"move\""]));
    check(&two, &["old", "a-b"], &["a_b"], Err(&["\"a_b\" is easily taken for \"a-b\""]));
    check(&two, &["old"], &["RENAMED"], Err(&["\"RENAMED\" is easily taken for \"renamed\""]));
    check(&two, &["old"], &["OLD"], Ok(()));
    check(
        &two,
        &["old", "read", "READ"],
        &[],
        Err(&["counterfoil.toml:1:", "\"READ\" is easily taken for \"read\": give"]),
    );
}

#[test]
fn the_name_of_a_plugin_is_not_easily_taken_for_another() {
    let other = |name: &str| files(&format!("[plugins.{name}]\nsource = \"other.wasm\"\n"));
    for name in ["Files", "fi1es", "FILES"] {
        // They are looked at in the order of their names.
        refused(&other(name), 1, &["easily taken for", name, "another name"]);
    }
    for name in ["native", "Native", "NATIVE"] {
        refused(&format!("[plugins.{name}]\nsource = \"other.wasm\"\n"), 1, &["\"native\", which is taken"]);
    }
    for name in ["files2", "file", "natives"] {
        assert_eq!(accepted(&other(name)).plugins.len(), 2);
    }
}
