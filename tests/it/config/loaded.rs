//! What only the loaded plug-ins show: `config check` marks the line to mend, and says why there is no tool.

use counterfoil_tests::program::Folder;

/// The error for this configuration, held to the line that it marks: of every verb that loads it.
#[track_caller]
fn marked(config: &str, line: &str, words: &[&str]) {
    let folder = Folder::ready();
    folder.write("work/counterfoil.toml", config);
    let number = config.lines().position(|written| written == line).expect("a line of it") + 1;
    let place = format!("counterfoil.toml:{number}:");
    for verb in [&["config", "check"][..], &["tools"]] {
        let ran = folder.run(verb);
        assert_eq!(ran.code, 2, "{ran:?}");
        for word in [place.as_str(), line].iter().chain(words) {
            assert!(ran.err.contains(word), "{word:?} is missing in {}", ran.err);
        }
    }
}

const FILES: &str = "[plugins.files]\nsource = \"files.wasm\"\n";

#[test]
fn a_confirm_parameter_that_a_tool_has_itself_is_marked() {
    for name in ["path", "content"] {
        let line = format!("confirm_parameter = \"{name}\"");
        marked(&format!("[gate]\nttl = \"5m\"\n{line}\n{FILES}"), &line, &["is the confirm parameter", name]);
    }
}

#[test]
fn a_limit_that_is_too_small_to_load_with_is_named() {
    let limited = |limit: &str| format!("{FILES}[plugins.files.limits]\n{limit}\n");
    let source = "source = \"files.wasm\"";
    marked(&limited("memory = \"64 KiB\""), source, &["may use 64 KiB (`memory` under its limits)"]);
    marked(&limited("table_elements = 1"), source, &["may use 1 elements (`table_elements` under its limits)"]);
    // And one that no plug-in can be loaded with, before any is.
    marked(&limited("memory = \"63 KiB\""), "memory = \"63 KiB\"", &["less than 64 KiB of memory", "256 MiB"]);
}

#[test]
fn a_configuration_without_a_tool_says_why_there_is_none() {
    let folder = Folder::ready();
    for (config, said) in [
        (
            format!("{FILES}tools = []\n"),
            Some("`tools` of [plugins.files] is empty; name some in it, or take the line out for all"),
        ),
        (String::new(), Some("add a plug-in under [plugins.NAME]")),
        (format!("{FILES}tools = [\"read_file\"]\n"), None),
        (FILES.to_owned(), None),
    ] {
        folder.write("work/counterfoil.toml", &config);
        let ran = folder.run(&["config", "check"]);
        ran.gave(0, &["is in order"]);
        let line = ran.out.lines().find_map(|line| line.strip_prefix("there is no tool: "));
        assert_eq!(line, said, "{config}: {ran:?}");
    }
}
