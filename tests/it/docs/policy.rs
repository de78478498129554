//! The worked examples of `docs/policy.md`: each configuration is put behind the shipped plug-ins, and `policy test` says of each
//! call what the page says.

use super::page;
use counterfoil_tests::program::Folder;

#[test]
fn docs_policy_examples_come_to_what_the_page_says() {
    let text = page::read("policy.md");
    let examples = text.split_once("\n## Worked examples\n").expect("the examples").1;
    let folder = Folder::new();
    folder.run(&["config", "init", "--plugin", "files", "--plugin", "offers", "--plugin", "pdf"]).gave(0, &[]);
    let plain = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    let (mut told, mut stories) = (0, 0);
    for example in examples.split("\n### ").skip(1) {
        let rules =
            example.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a configuration");
        for host in rules.split("host = \"").skip(1).filter_map(|rest| rest.split('"').next()) {
            std::fs::create_dir(folder.path("work").join(host)).expect("a folder that the example grants");
        }
        folder.write("work/counterfoil.toml", &format!("{plain}\n{rules}"));
        folder.run(&["config", "check"]).gave(0, &["is in order", "RULE"]);
        for row in example.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [call, arguments, result] = cells.as_slice() else { panic!("{row}") };
            let (tool, owner) = call.split_once(" as ").unwrap_or((call, ""));
            let mut words = vec!["policy", "test", tool.trim_matches('`'), arguments.trim_matches('`'), "--json"];
            if !owner.is_empty() {
                words.extend(["--owner", owner]);
            }
            let ran = folder.run(&words);
            let said = ran.json()["text"].as_str().unwrap_or_default().to_owned();
            assert!(said.starts_with(result), "{row}: {ran:?}");
            told += 1;
        }
        stories += 1;
    }
    assert!(stories == 6 && told >= 19, "{stories} examples, {told} calls");
}
