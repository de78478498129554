//! `vectors/canonical.json` on gate-core, natively.

use counterfoil_gate_core::canonical::{is_canonical, is_token, read};
use counterfoil_tests::runners::canonical;
use std::collections::BTreeSet;

/// How many there are: a case that falls out of the file is noticed.
pub const CASES: usize = 231;

#[test]
fn every_canonical_case_is_answered_by_gate_core() {
    assert_eq!(canonical::run(read), CASES);
}

#[test]
fn what_a_canonical_case_expects_is_canonical() {
    let mut names = BTreeSet::new();
    for case in canonical::cases() {
        if let Ok(request) = case.expected() {
            assert!(is_canonical(&request.arguments, &case.limits()), "{}", case.name);
            assert!(request.token.is_none_or(|token| is_token(&token)), "{}", case.name);
        }
        assert!(names.insert(case.name.clone()), "two cases have the name {:?}", case.name);
    }
}

#[test]
fn the_canonical_cases_keep_to_their_schema() {
    let read = |name: &str| -> serde_json::Value {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let schema = jsonschema::validator_for(&read("canonical.schema.json")).unwrap();
    let file = read("canonical.json");
    let errors: Vec<_> = schema.iter_errors(&file).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
