//! The page `docs/hostile.md`, and what it promises of the fixtures.

use super::GROUPS;
use crate::docs::page;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn docs_hostile_is_made_from_the_tables() {
    page::hold("hostile.md", |source| match source.strip_prefix("hostile ") {
        Some(group) => {
            let (_, cases) = GROUPS.iter().find(|(name, _)| *name == group).expect(group);
            let row = |case: &super::Case| format!("| `{}` | {} | {} |\n", case.name, case.doing(), case.happens);
            let rows: String = cases.iter().map(row).collect();
            format!("| plug-in | what it does | what happens |\n| --- | --- | --- |\n{rows}")
        }
        None => super::limits::table(source),
    });
}

#[test]
fn every_hostile_fixture_is_in_a_table_and_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/examples/hostile");
    let mut fixtures = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines < 40, "{} has {lines} lines", path.display());
        fixtures.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    let held: Vec<String> = GROUPS
        .iter()
        .flat_map(|(_, cases)| *cases)
        .filter(|case| case.does.is_none())
        .map(|case| case.name.into())
        .collect();
    assert_eq!(held.len(), fixtures.len(), "one is in two tables, or in none");
    assert_eq!(held.into_iter().collect::<BTreeSet<_>>(), fixtures);
    assert!(fixtures.len() >= 40, "{}", fixtures.len());
}
