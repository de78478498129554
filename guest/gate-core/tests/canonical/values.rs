//! Random values.

use proptest::prelude::*;

use super::model::Value;

/// Keys that come close to each other and to the limits of the order.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab\u{e9}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}\"\\\\\n/]{0,4}",
        1 => "prefix\u{10400}[ab\u{fffd}\u{10400}]{0,3}",
        1 => Just("confirm_token".to_string()),
        1 => any::<String>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<String>(),
        2 => "[\u{0}-\u{7f}]{0,40}",
        1 => "[\u{1c}c\\\\u01]{0,4}[cf]?[c]?fm_[a-z2-7]{22,26}",
        1 => "cfm_[a-z2-7]{24}",
    ]
}

fn number() -> impl Strategy<Value = Value> {
    (any::<bool>(), "0{0,3}[0-9]{0,25}", "0{0,9}[0-9]{0,12}0{0,3}")
        .prop_map(|(negative, whole, fraction)| Value::Number { negative, whole, fraction })
}

pub fn object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => prop::sample::select(vec!["true", "false", "null"]).prop_map(Value::Word),
        3 => number(),
        3 => text().prop_map(Value::Text),
    ];
    let value = leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List), members(inner)]
    });
    members(value)
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((key(), value), 0..7).prop_map(|members| {
        Value::Object(members.into_iter().map(|(key, value)| (key.encode_utf16().collect(), value)).collect())
    })
}
