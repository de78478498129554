//! README's configuration and the walkthrough below it, run as they stand there.

use super::page;
use counterfoil_tests::program::{Folder, program};
use std::process::Command;

/// The first code block of a language behind these words.
fn block(text: &str, behind: &str, language: &str) -> String {
    let rest = text.split_once(behind).unwrap_or_else(|| panic!("README no longer says \"{behind}\"")).1;
    let rest = rest.split_once(&format!("```{language}\n")).unwrap().1;
    rest.split_once("\n```").unwrap().0.to_owned()
}

#[test]
fn docs_walkthrough_of_the_readme_does_what_it_says_with_the_configuration_above_it() {
    let readme = std::fs::read_to_string(page::root().join("README.md")).unwrap();
    let folder = Folder::ready();
    folder.write("work/counterfoil.toml", &block(&readme, "A configuration, for the folder", "toml"));
    folder.run(&["config", "check"]).gave(0, &["is in order", "write_file"]);
    let shell = |line: &str| {
        let mut shell = Command::new("/bin/sh");
        let program = program();
        shell.args(["-c", line]).current_dir(folder.path("work")).env_clear();
        shell.envs(folder.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = shell.env("PATH", program.parent().unwrap()).output().unwrap();
        (ran.status.code().unwrap(), String::from_utf8(ran.stdout).unwrap())
    };
    let (mut ran, mut token) = (0, String::new());
    let walk = block(&readme, "The same tools from a shell", "sh");
    for line in walk.lines().filter(|line| line.starts_with("counterfoil ")) {
        let (command, says) = line.split_once(" #").unwrap_or((line, ""));
        let expected = says.split("exit code ").nth(1).map_or(0, |code| i32::from(code.as_bytes()[0] - b'0'));
        let (code, out) = shell(&command.replace("cfm_…", &token));
        assert_eq!(code, expected, "{line}\n{out}");
        if let Some(at) = out.find("cfm_") {
            token = out[at..].split_whitespace().next().unwrap().to_owned();
        }
        ran += 1;
    }
    assert!(ran >= 5 && !token.is_empty(), "{walk}");
    assert!(!folder.path("work/workspace/old.txt").exists() && !folder.path("work/state.db").exists());
}
