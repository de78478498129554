//! The language-neutral vectors, on the rules natively and on the built component: answers byte-identical between the two
//! and to the files. `COUNTERFOIL_BLESS=1` (`just bless`) writes the complete answers anew; what is expected by hand stays.

use counterfoil_tests::runners::cases::{self, Sweeping};
use counterfoil_tests::runners::contract::{self, attempt, file, header};
use counterfoil_tests::runners::{Side, answers, vectors};
use serde_json::{Value, json};
use std::sync::Once;

/// Runs every case of every file on one side; returns how many.
fn all(side: Side, sweeping: Sweeping) -> usize {
    // Before anybody reads the answers, and once.
    static BLESSED: Once = Once::new();
    if std::env::var_os("COUNTERFOIL_BLESS").is_some() {
        BLESSED.call_once(bless);
    }
    contract::all(side, sweeping)
}

/// Writes the answers of the cases whose hand-written expectations hold.
fn bless() {
    let header = header();
    for name in header.files.keys() {
        let answers = file(&header, name).into_iter().map(|case| {
            (case.name.clone(), attempt(&header, &case, Side::Native, Sweeping::AsWritten).unwrap_or_default())
        });
        let answers: Vec<_> = answers.collect();
        let path = vectors().join(format!("contract/{name}.answers.json"));
        std::fs::write(path, answers::write(&answers)).unwrap();
    }
}

#[test]
fn the_contract_vectors_hold_natively_and_on_the_component() {
    for side in Side::ALL {
        assert_eq!(all(side, Sweeping::AsWritten), 179, "{side:?}");
    }
}

#[test]
fn sweeping_early_changes_no_answer() {
    let ran = all(Side::Native, Sweeping::Eager);
    assert!(ran >= 100, "{ran} cases were run");
    assert_eq!(all(Side::Component, Sweeping::Eager), ran);
}

#[test]
fn the_contract_cases_keep_to_their_schema() {
    let schema = jsonschema::validator_for(&cases::read("contract.schema.json")).unwrap();
    for name in header().files.keys() {
        let file: Value = cases::read(&format!("contract/{name}.json"));
        let errors: Vec<_> = schema.iter_errors(&file).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}.json: {}", errors.join("\n"));
    }
}

#[test]
fn the_contract_cases_are_more_about_refusals_and_reach_every_word_of_the_closed_sets() {
    let (header, mut refusing, mut all, mut told) = (header(), 0, 0, String::new());
    for name in header.files.keys() {
        for case in file(&header, name) {
            let steps = json!(case.steps).to_string();
            let refuses = ["\"refused\":", "\"misused\":", "\"err\":"].iter().any(|word| steps.contains(word));
            (refusing, all) = (refusing + usize::from(refuses), all + 1);
            told.push_str(&steps);
        }
    }
    assert!(refusing * 2 > all, "{refusing} of {all} cases have a refusal");
    let words = [
        "malformed_token invalid_arguments unknown_or_used wrong_owner wrong_tool params_changed expired tool_changed",
        "awaiting_approval declined unresolved unknown_tool refused denied too_many_pending unavailable",
        "in_flight outcome_unknown already_ran settled_happened settled_did_not",
        "tool_error trapped deadline output_limit none partial unknown",
        "token_only client_prompt out_of_band safe caution review approval_required",
        "pending approved completed",
    ];
    for word in words.iter().flat_map(|line| line.split(' ')) {
        assert!(told.contains(&format!("\"{word}\"")), "{word} is in no case");
    }
}
