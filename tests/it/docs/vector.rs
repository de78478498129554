//! Examples out of the contract vectors, and out of the gate's own wording.

use super::page;
use counterfoil_tests::runners::Side;
use counterfoil_tests::runners::cases::{self, Case, Header};
use counterfoil_tests::runners::world::World;
use serde_json::{Map, Value, json};

/// `FILE / CASE / STEP`: the payload of a step's answer. A refusal is put into the shape in which callers get it.
pub fn payload(source: &str) -> String {
    let parts: Vec<&str> = source.split(" / ").collect();
    let [file, name, step] = parts[..] else { panic!("vector FILE / CASE / STEP, not \"{source}\"") };
    let step: usize = step.parse().unwrap();
    let answers: Map<String, Value> = cases::read(&format!("contract/{file}.answers.json"));
    let answers = answers.get(name).unwrap_or_else(|| panic!("there is no case \"{name}\" in {file}.json"));
    let answer = &answers[step - 1];
    let known = [answer.as_str(), answer["ok"].as_str(), answer["ok"]["replay"]["outcome"]["payload"].as_str()];
    if let Some(payload) = known.into_iter().flatten().next() {
        return page::json(payload);
    }
    let refusal = [&answer["ok"]["reject"], &answer["err"]["rejected"], answer];
    let refusal = refusal.into_iter().find(|found| found["reason"].is_string());
    let refusal = refusal.unwrap_or_else(|| panic!("\"{source}\" has no payload: {answer}"));
    gate("rejected", json!({ "tool": tool(file, name, step), "rejection": refusal }))
}

/// The tool that a step calls.
fn tool(file: &str, name: &str, step: usize) -> String {
    let header: Header = cases::read("contract.json");
    let cases: Vec<Case> = cases::read(&format!("contract/{file}.json"));
    let case = cases.into_iter().find(|case| case.name == name).unwrap();
    let call = &case.steps[step - 1]["call"];
    let like = call.as_str().or_else(|| call["like"].as_str()).unwrap();
    call["tool"].as_str().or_else(|| header.calls[like]["tool"].as_str()).unwrap().to_owned()
}

/// `FUNCTION PARAMETERS`: what the gate answers to that.
pub fn asked(source: &str) -> String {
    let (function, parameters) = source.split_once(' ').unwrap();
    gate(function, serde_json::from_str(parameters).unwrap())
}

fn gate(function: &str, parameters: Value) -> String {
    let Value::Object(mut parameters) = parameters else { panic!("parameters by name") };
    let mut gate = Side::Native.gate(&World::new(0, "docs"));
    if function == "refuse" {
        let tool = parameters.remove("tool").unwrap();
        let rejection = gate.call("refuse", &parameters);
        let parameters = Map::from_iter([("tool".to_owned(), tool), ("rejection".to_owned(), rejection)]);
        return shown(&gate.call("rejected", &parameters));
    }
    shown(&gate.call(function, &parameters))
}

fn shown(answer: &Value) -> String {
    page::json(answer.as_str().or_else(|| answer["ok"].as_str()).unwrap_or_else(|| panic!("no payload: {answer}")))
}
