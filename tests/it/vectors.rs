//! The language-neutral vectors, on the rules natively and on the built component: answers byte-identical between the two
//! and to the files. `COUNTERFOIL_BLESS=1` (`just bless`) writes the complete answers anew; what is expected by hand stays.

use counterfoil_tests::runners::cases::{self, Case, Header, Sweeping};
use counterfoil_tests::runners::{Side, answers};
use serde_json::{Map, Value, json};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Once};

fn header() -> Arc<Header> {
    Arc::new(cases::read("contract.json"))
}

fn file(header: &Header, name: &str) -> Vec<Case> {
    let cases: Vec<Case> = cases::read(&format!("contract/{name}.json"));
    assert_eq!(cases.len(), header.files[name], "contract.json says how many cases are in {name}.json");
    cases
}

/// Runs every case of every file on one side; returns how many.
fn all(side: Side, sweeping: Sweeping) -> usize {
    // Before anybody reads the answers, and once.
    static BLESSED: Once = Once::new();
    if std::env::var_os("COUNTERFOIL_BLESS").is_some() {
        BLESSED.call_once(bless);
    }
    let header = header();
    let (mut ran, mut wrong) = (0, Vec::new());
    for name in header.files.keys() {
        let blessed: Map<String, Value> = cases::read(&format!("contract/{name}.answers.json"));
        let cases = file(&header, name);
        assert_eq!(blessed.len(), cases.len(), "{name}.answers.json has other cases: `just bless` writes it anew");
        for case in cases {
            let unfit = is_about_rows(&case) || !cases::goes_forward(&case);
            if sweeping == Sweeping::Eager && unfit {
                continue;
            }
            ran += 1;
            let expected = blessed.get(&case.name).and_then(Value::as_array).cloned().unwrap_or_default();
            match attempt(&header, &case, side, sweeping) {
                Some(answers) => wrong.extend(differences(&case.name, &answers, &expected)),
                None => wrong.push(format!("{}: see above", case.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{side:?}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
    ran
}

/// Runs a case; a failed expectation is told and does not keep the others from running.
fn attempt(header: &Arc<Header>, case: &Case, side: Side, sweeping: Sweeping) -> Option<Vec<Value>> {
    std::panic::catch_unwind(AssertUnwindSafe(|| cases::run(header, case, side, sweeping))).ok()
}

fn is_about_rows(case: &Case) -> bool {
    let told = |step: &Map<String, Value>| {
        step.get("do")
            .is_some_and(|name| ["rows", "sweep", "decode", "show"].contains(&name.as_str().unwrap_or_default()))
    };
    case.steps.iter().any(|step| told(step) || step.contains_key("steps"))
}

fn differences(name: &str, answers: &[Value], expected: &[Value]) -> Option<String> {
    let at = answers.iter().zip(expected).position(|(answer, expected)| answer != expected);
    match at {
        Some(at) => Some(format!("{name}, step {}:\n  blessed {}\n  came    {}", at + 1, expected[at], answers[at])),
        None if answers.len() != expected.len() => Some(format!("{name}: other steps than those that were blessed")),
        None => None,
    }
}

/// Writes the answers of the cases whose hand-written expectations hold.
fn bless() {
    let header = header();
    for name in header.files.keys() {
        let answers = file(&header, name).into_iter().map(|case| {
            (case.name.clone(), attempt(&header, &case, Side::Native, Sweeping::AsWritten).unwrap_or_default())
        });
        let answers: Vec<_> = answers.collect();
        let path = cases::folder().join(format!("contract/{name}.answers.json"));
        std::fs::write(path, answers::write(&answers)).unwrap();
    }
}

#[test]
fn the_contract_vectors_hold_natively_and_on_the_component() {
    for side in Side::ALL {
        assert_eq!(all(side, Sweeping::AsWritten), 165, "{side:?}");
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
