//! The complete answers, byte for byte, which `just bless` writes: one file beside each file of cases. Long texts stand in
//! them as their length and SHA-256, so that the files stay readable.

use counterfoil_gate_core::digest::{hex, sha256};
use serde_json::{Value, json};
use std::fmt::Write;

/// Texts longer than this stand in a file of answers as length and digest.
const LONGEST: usize = 4096;

/// An answer as it stands in a file.
pub fn condense(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            json!({ "bytes": text.len(), "sha256": hex(&sha256(text.as_bytes())) })
        }
        Value::Array(items) => items.iter().map(condense).collect(),
        Value::Object(object) => {
            Value::Object(object.iter().map(|(key, inner)| (key.clone(), condense(inner))).collect())
        }
        _ => value.clone(),
    }
}

/// A file of answers: one line a step, so that a change shows as what it is.
pub fn write(cases: &[(String, Vec<Value>)]) -> String {
    let mut out = String::from("{");
    for (at, (name, answers)) in cases.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n  {}: [", json!(name));
        for (at, answer) in answers.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(out, "{comma}\n    {answer}");
        }
        out.push_str("\n  ]");
    }
    out.push_str("\n}\n");
    out
}
