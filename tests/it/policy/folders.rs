//! Rules and budgets where more than one folder is in play: of one plug-in, and of two configurations.

use super::denied;
use counterfoil_tests::program::{Folder, Ran};

/// One plug-in with two folders, `/files` and `/archive`, and these rules and budgets.
fn both(policy: &str) -> Folder {
    let folder = Folder::ready();
    std::fs::create_dir(folder.path("work/archive")).unwrap();
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    let second = "{ host = \"./archive\", guest = \"/archive\", access = \"read-write\" }";
    let two = config.replace("access = \"read-write\" }]", &format!("access = \"read-write\" }}, {second}]"));
    assert_ne!(two, config);
    folder.write("work/counterfoil.toml", &format!("{two}\n{policy}"));
    folder
}

fn write(folder: &Folder, config: &str, path: &str) -> Ran {
    let arguments = serde_json::json!({"path": path, "content": "x"}).to_string();
    folder.run(&["--config", config, "call", "write_file", &arguments, "--json"])
}

const OWN: &str = "counterfoil.toml";

#[test]
fn a_rule_reads_the_path_as_it_was_sent_and_a_plug_in_with_two_folders_takes_two_spellings_of_it() {
    let by_one_spelling = "[[rules]]\ntool = \"write_file\"\nwhen = 'args.path.startsWith(\"/archive\")'\n";
    let folder = both(&format!("{by_one_spelling}deny = true\nreason = \"the archive is kept\"\n"));
    denied(&write(&folder, OWN, "/archive/a.txt"), "the archive is kept");
    // The other spellings of such a path go past that rule.
    for (path, file) in [("archive/b.txt", "b.txt"), ("//archive/c.txt", "c.txt"), ("/./archive/d.txt", "d.txt")] {
        write(&folder, OWN, path).gave(0, &[]);
        assert!(folder.path("work/archive").join(file).exists(), "{path}");
    }
    // What begins with no folder is in none, where there are two.
    write(&folder, OWN, "e.txt").gave(4, &["is in no granted directory"]);

    let by_what_may_be = "[[rules]]\ntool = \"write_file\"\nwhen = '!args.path.matches(\"^/files/\")'\n";
    let folder = both(&format!("{by_what_may_be}deny = true\nreason = \"write paths as /files/…\"\n"));
    write(&folder, OWN, "/files/a.txt").gave(0, &[]);
    for path in ["/archive/a.txt", "archive/a.txt", "//archive/a.txt", "/./archive/a.txt", "files/a.txt", "a.txt"] {
        denied(&write(&folder, OWN, path), "write paths as /files/…");
    }
    // Nor is there a way out of the one folder into the other.
    write(&folder, OWN, "/files/../archive/a.txt").gave(4, &["has \\\"..\\\""]);
    assert_eq!(std::fs::read_dir(folder.path("work/archive")).unwrap().count(), 0);
}

const BUDGET: &str = "[[budgets]]\ntool = \"write_file\"\ncalls = 2\nper = \"24h\"\n";

#[test]
fn a_budget_counts_a_tool_whichever_folder_its_calls_are_about() {
    let folder = both(BUDGET);
    write(&folder, OWN, "/files/a.txt").gave(0, &[]);
    write(&folder, OWN, "/archive/a.txt").gave(0, &[]);
    denied(&write(&folder, OWN, "/files/b.txt"), "of which 0 is left");
    denied(&write(&folder, OWN, "/archive/b.txt"), "of which 0 is left");
}

/// Two configurations, each with a folder and, if `stores`, with a store of its own.
fn two(stores: bool, other_budget: &str) -> Folder {
    let folder = Folder::new();
    for (name, budget) in [("one", BUDGET), ("two", other_budget)] {
        folder.run(&["config", "init", name]).gave(0, &[]);
        let file = format!("work/{name}/counterfoil.toml");
        let config = std::fs::read_to_string(folder.path(&file)).unwrap();
        let own = config.replace("# url = \"sqlite:state.db\"", "url = \"sqlite:state.db\"");
        assert_ne!(own, config);
        folder.write(&file, &format!("{}\n{budget}", if stores { own } else { config }));
    }
    folder
}

const ONE: &str = "one/counterfoil.toml";
const TWO: &str = "two/counterfoil.toml";

#[test]
fn two_configurations_count_together_in_one_store_and_apart_in_two() {
    let together = two(false, BUDGET);
    write(&together, ONE, "/files/a.txt").gave(0, &[]);
    write(&together, TWO, "/files/a.txt").gave(0, &[]);
    denied(&write(&together, ONE, "/files/b.txt"), "of which 0 is left");
    denied(&write(&together, TWO, "/files/b.txt"), "of which 0 is left");

    let apart = two(true, BUDGET);
    for config in [ONE, TWO] {
        write(&apart, config, "/files/a.txt").gave(0, &[]);
        write(&apart, config, "/files/b.txt").gave(0, &[]);
        denied(&write(&apart, config, "/files/c.txt"), "of which 0 is left");
    }
}

#[test]
fn in_one_store_what_differs_in_its_limit_counts_together_and_what_differs_in_its_period_apart() {
    let together = two(false, &BUDGET.replace("calls = 2", "calls = 3"));
    write(&together, ONE, "/files/a.txt").gave(0, &[]);
    write(&together, ONE, "/files/b.txt").gave(0, &[]);
    write(&together, TWO, "/files/a.txt").gave(0, &[]);
    denied(&write(&together, TWO, "/files/b.txt"), "of which 0 is left");

    let apart = two(false, &BUDGET.replace("24h", "12h"));
    write(&apart, ONE, "/files/a.txt").gave(0, &[]);
    write(&apart, ONE, "/files/b.txt").gave(0, &[]);
    write(&apart, TWO, "/files/a.txt").gave(0, &[]);
    write(&apart, TWO, "/files/b.txt").gave(0, &[]);
    denied(&write(&apart, TWO, "/files/c.txt"), "of which 0 is left");
}
