//! Runs the whole of `vectors/contract` and holds every answer against what was blessed.

use super::Side;
use super::cases::{self, Case, Header, Sweeping};
use serde_json::{Map, Value};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What the cases share.
pub fn header() -> Arc<Header> {
    Arc::new(cases::read("contract.json"))
}

/// The cases of a file: as many as the header says.
pub fn file(header: &Header, name: &str) -> Vec<Case> {
    let cases: Vec<Case> = cases::read(&format!("contract/{name}.json"));
    assert_eq!(cases.len(), header.files[name], "contract.json says how many cases are in {name}.json");
    cases
}

/// Runs every case of every file on one side; returns how many. Panics with all differences.
pub fn all(side: Side, sweeping: Sweeping) -> usize {
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
pub fn attempt(header: &Arc<Header>, case: &Case, side: Side, sweeping: Sweeping) -> Option<Vec<Value>> {
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
