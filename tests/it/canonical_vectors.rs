//! `vectors/canonical.json` on gate-core, natively, and on the built component: both answer as the file says.

use counterfoil_gate_core::canonical::{ArgumentsError, Limits, Request, is_canonical, is_token, read};
use counterfoil_tests::runners::Side;
use counterfoil_tests::runners::canonical::{self, CASES};
use counterfoil_tests::runners::world::World;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

#[test]
fn every_canonical_case_is_answered_by_gate_core() {
    assert_eq!(canonical::run(read), CASES);
}

#[test]
fn every_canonical_case_is_answered_by_the_component() {
    assert_eq!(canonical::run(reader(Side::Component)), CASES);
}

/// `gate.read` of an instance, configured anew for the limits of each case.
fn reader(side: Side) -> impl FnMut(&str, &str, &Limits) -> Result<Request, ArgumentsError> {
    let mut gate = side.gate(&World::new(0, "canonical"));
    let mut call = move |function: &str, arguments: Value| -> Value {
        gate.call(function, arguments.as_object().unwrap_or(&Map::new()))
    };
    move |arguments, confirm_parameter, limits| {
        let Limits { max_bytes, max_depth, max_number, max_exponent } = limits;
        let mut settings = call("default_settings", json!({}));
        settings["max_arguments"] = json!(max_bytes);
        settings["max_depth"] = json!(max_depth);
        settings["max_number"] = json!(max_number);
        settings["max_exponent"] = json!(max_exponent);
        let configured = call("configure", json!({ "settings": settings }));
        assert!(configured.get("ok").is_some(), "{configured}");
        let answer = call("read", json!({ "arguments": arguments, "confirm_parameter": confirm_parameter }));
        let text = |value: &Value| value.as_str().unwrap().to_string();
        match (answer.get("ok"), answer.get("err").and_then(Value::as_object).and_then(|error| error.iter().next())) {
            (Some(request), None) => Ok(Request {
                token: request["token"].as_str().map(str::to_string),
                arguments: text(&request["arguments"]),
            }),
            (None, Some((case, said))) if case == "malformed_token" => Err(ArgumentsError::MalformedToken(text(said))),
            (None, Some((case, said))) if case == "invalid_arguments" => {
                Err(ArgumentsError::InvalidArguments(text(said)))
            }
            _ => panic!("{answer} is no answer of read"),
        }
    }
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
