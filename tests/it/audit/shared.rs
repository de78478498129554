//! Several configurations that write to one folder, as all of one user do unless they are told otherwise.

use super::{DIR, rows};
use counterfoil_tests::program::Folder;
use serde_json::Value;
use std::fs;

#[test]
fn rows_say_which_configuration_they_are_of() {
    let folder = Folder::ready();
    let (first, other) = (folder.path("work/counterfoil.toml"), folder.path("work/other.toml"));
    fs::copy(&first, &other).unwrap();
    folder.run(&["--config", other.to_str().unwrap(), "plugin", "lock", "--yes"]).gave(0, &[]);
    let other = other.to_str().unwrap();
    folder.run(&["call", "write_file", r#"{"path":"a.txt","content":"x"}"#]).gave(0, &[]);
    folder.run(&["--config", other, "call", "write_file", r#"{"path":"b.txt","content":"x"}"#]).gave(0, &[]);
    let named = |row: &&Value| ["opened", "in_force"].contains(&row["event"].as_str().unwrap());
    let written: Vec<Value> = rows(&folder, DIR);
    let configs: Vec<&str> = written.iter().filter(named).map(|row| row["config"].as_str().unwrap()).collect();
    assert_eq!(configs.len(), 4);
    for config in [first.to_str().unwrap(), other] {
        assert_eq!(configs.iter().filter(|found| **found == config).count(), 2, "{configs:?}");
    }
    let shown = folder.run(&["audit", "show"]);
    assert_eq!(shown.out.lines().count(), 4);
    assert_eq!(shown.out.matches(&format!("config={other}")).count(), 2, "{}", shown.out);
    assert_eq!(shown.out.matches("config=").count(), 2, "one's own is not repeated: {}", shown.out);
    let shown = folder.run(&["audit", "show", "--this-config"]);
    assert_eq!((shown.out.lines().count(), shown.out.matches("config=").count()), (2, 0), "{}", shown.out);
    let shown = folder.run(&["--config", other, "audit", "show", "--this-config", "--json"]);
    assert_eq!(shown.out.lines().count(), 5);
    folder.run(&["audit", "verify"]).gave(0, &["whole: 2 files"]);
}
