//! The wire shapes: one JSON object each, without white space, keys in a fixed order. Agents depend on them.

use crate::answer::{Assurance, Detail, Effect, Failure, Rejection};
use crate::calendar::rfc3339;
use crate::canonical::{self, Limits, write_string};
use crate::confirmation::Plan;
use crate::contract::Challenge;
use crate::json::{self, Object};
use crate::level::Level;
use crate::prose::{clause, decimal, fill, say};
use crate::settings::Millis;
use alloc::string::String;
use alloc::vec::Vec;

/// Every key that any shape uses. A tool's details that use one of them stay whole under `details`, so that no tool can
/// imitate a shape.
pub const FIXED_KEYS: [&str; 20] = [
    "status",
    "tool",
    "message",
    "details",
    "assurance",
    "error",
    "reason",
    "detail",
    "effect",
    "summary",
    "preview",
    "confirm_token",
    "confirm_instructions",
    "level",
    "expires_at",
    "warnings",
    "recent",
    "outcome_digest",
    "outcome_bytes",
    "_confirmation_token",
];

/// `confirmation_required`: a successful result.
pub fn confirmation_required(
    tool: &str,
    plan: &Plan,
    challenge: &Challenge,
    level: Level,
    parameter: &str,
    limits: &Limits,
) -> String {
    let token = challenge.token.reveal();
    let preview = match canonical::compact(&plan.preview, limits) {
        Ok(compact) => compact.text,
        Err(_) => quoted(&plan.preview),
    };
    let recent = json::array(&challenge.recent, |out, earlier| {
        let object = Object::new()
            .text("state", if earlier.completed { "completed" } else { "in_flight" })
            .text("at", &rfc3339(earlier.at))
            .number("seconds_ago", earlier.ago / 1000)
            .finish();
        out.push_str(&object);
    });
    Object::new()
        .text("status", "confirmation_required")
        .text("tool", tool)
        .text("summary", &plan.summary)
        .raw("preview", &preview)
        .text("confirm_token", token)
        .text("confirm_instructions", &instructions(tool, plan.needs, challenge, parameter))
        .text("level", level.name())
        .text("expires_at", &rfc3339(challenge.expires))
        .raw("warnings", &json::texts(plan.warnings.iter().map(String::as_str)))
        .raw("recent", &recent)
        .text("assurance", plan.needs.name())
        .finish()
}

fn instructions(tool: &str, needs: Assurance, challenge: &Challenge, parameter: &str) -> String {
    let token = challenge.token.reveal();
    let (tool, parameter) = (quoted(tool), quoted(parameter));
    let person = match needs {
        Assurance::TokenOnly => {
            "Nothing has been done yet. Show the preview to the user and ask whether to go ahead. If so,"
        }
        Assurance::ClientPrompt | Assurance::OutOfBand => {
            "Nothing has been done yet, and a person has to approve this first. Tell the user so. After that,"
        }
    };
    let recent = if challenge.recent.is_empty() {
        ""
    } else {
        " An identical call was made a short while ago (see \"recent\"): make sure that this is not the same wish twice."
    };
    fill(
        "% call % again with exactly the same arguments and %: \"%\". The token works once, for these arguments only, for %.%",
        &[person, &tool, &parameter, token, &span(challenge.ttl), recent],
    )
}

/// A length of time in words: `5 minutes`, `90 seconds`.
fn span(millis: Millis) -> String {
    let seconds = millis / 1000;
    match seconds {
        60 => say("1 minute"),
        _ if seconds > 0 && seconds.is_multiple_of(60) => fill("% minutes", &[&decimal(seconds / 60)]),
        _ => fill("% seconds", &[&decimal(seconds)]),
    }
}

/// `ok`: the details' own keys at top level, unless one of them is fixed.
///
/// # Errors
/// What is wrong with the details.
pub fn ok(
    tool: &str,
    message: &str,
    details: &str,
    assurance: Option<Assurance>,
    limits: &Limits,
) -> Result<String, String> {
    let compact = canonical::compact(details, limits)?;
    let keys = compact.keys.ok_or("the details are no JSON object")?;
    let mut object = Object::new();
    object.text("status", "ok").text("tool", tool).text("message", message);
    if has_fixed(&keys) {
        object.raw("details", &compact.text);
    } else {
        object.members(&compact.text);
    }
    Ok(object.option("assurance", assurance.map(Assurance::name)).finish())
}

/// Whether one of the keys, unescaped, is fixed.
fn has_fixed(keys: &[String]) -> bool {
    keys.iter().any(|key| FIXED_KEYS.contains(&key.as_str()))
}

/// `rejected`: this call ran nothing and spent nothing.
pub fn rejected(tool: &str, rejection: &Rejection) -> String {
    Object::new()
        .text("status", "rejected")
        .text("tool", tool)
        .text("error", &rejection.error)
        .text("reason", rejection.reason.name())
        .option("detail", rejection.detail.map(Detail::name))
        .finish()
}

/// `failed`: it started.
pub fn failed(tool: &str, failure: Failure, error: &str, effect: Effect, assurance: Option<Assurance>) -> String {
    let error = clause(error);
    Object::new()
        .text("status", "failed")
        .text("tool", tool)
        .text("error", &fill("%; %", &[error, effect.advice()]))
        .text("reason", failure.name())
        .text("effect", effect.name())
        .option("assurance", assurance.map(Assurance::name))
        .finish()
}

/// The shapes besides `ok`, behind it; each `%` is a text. Details that use a fixed key stand whole under `details`; a
/// replay of what was too large to keep has its digest.
const OTHERS: &str = concat!(
    r#",{"type":"object","properties":{"status":{"const":"ok"},"tool":%,"message":%,"details":{"type":"object"},"outcome_digest":%,"outcome_bytes":{"type":"integer"},"assurance":%},"required":["status","tool","message"],"anyOf":[{"required":["details"]},{"required":["outcome_digest"]}]}"#,
    r#",{"type":"object","properties":{"status":{"const":"confirmation_required"},"tool":%,"summary":%,"preview":{"type":"object"},"confirm_token":%,"confirm_instructions":%,"level":%,"expires_at":%,"warnings":{"type":"array","items":%},"recent":{"type":"array","items":{"type":"object"}},"assurance":%},"required":["status","tool","summary","preview","confirm_token","confirm_instructions","level","expires_at","warnings","recent","assurance"]}"#,
    r#",{"type":"object","properties":{"status":{"const":"rejected"},"tool":%,"error":%,"reason":%,"detail":%},"required":["status","tool","error","reason"]}"#,
    r#",{"type":"object","properties":{"status":{"const":"failed"},"tool":%,"error":%,"reason":%,"effect":{"enum":["none","partial","unknown"]},"assurance":%},"required":["status","tool","error","reason","effect"]}"#,
);

/// The JSON Schema of everything that a call may answer, where the tool promises a schema for its details.
///
/// # Errors
/// What is wrong with the tool's schema.
pub fn output_schema(details: Option<&str>, limits: &Limits) -> Result<String, String> {
    let mut properties = String::from(
        r#""status":{"const":"ok"},"tool":{"type":"string"},"message":{"type":"string"},"assurance":{"type":"string"}"#,
    );
    let mut required = String::from(r#""status","tool","message""#);
    let own = match details {
        Some(details) => {
            let compact = canonical::compact(details, limits)?;
            compact.keys.ok_or("the output schema is no JSON object")?;
            Some(compact.text)
        }
        None => None,
    };
    let mut definitions = Vec::new();
    if own.as_deref().is_some_and(dangles) {
        properties.push_str(r#","details":{"type":"object"}"#);
    } else if let Some(own) = &own {
        let parts = members(own);
        let part = |name: &str| parts.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let own = part("\"properties\"").filter(|value| value.starts_with('{'));
        let clash = match own {
            Some(own) => canonical::compact(own, limits)?.keys.is_some_and(|keys| has_fixed(&keys)),
            None => false,
        };
        match own {
            Some(own) if !clash => {
                push_inner(&mut properties, own);
                if let Some(names) = part("\"required\"").filter(|value| value.starts_with('[')) {
                    push_inner(&mut required, names);
                }
            }
            _ => properties.push_str(r#","details":{"type":"object"}"#),
        }
        definitions = parts.iter().copied().filter(|(key, _)| ["\"$defs\"", "\"definitions\""].contains(key)).collect();
    }
    let ok = fill(r#"{"type":"object","properties":{%},"required":[%]}"#, &[&properties, &required]);
    let others = fill(OTHERS, &[r#"{"type":"string"}"#; 20]);
    let mut schema = fill(r#"{"type":"object","anyOf":[%%]"#, &[&ok, &others]);
    for (key, value) in definitions {
        schema.push_str(&fill(",%:%", &[key, value]));
    }
    schema.push('}');
    Ok(schema)
}

/// Whether a reference of a schema leads to a place that it does not have once it is wrapped: only definitions keep theirs.
fn dangles(schema: &str) -> bool {
    const REFERENCE: &str = "\"$ref\":\"";
    let places = schema.as_bytes().windows(REFERENCE.len()).enumerate();
    places.filter(|(_, window)| *window == REFERENCE.as_bytes()).any(|(at, _)| {
        let target = schema.get(at + REFERENCE.len()..).unwrap_or_default();
        !target.starts_with("#/$defs/") && !target.starts_with("#/definitions/")
    })
}

/// Adds what is between the brackets, behind a comma.
fn push_inner(out: &mut String, bracketed: &str) {
    let inner = bracketed.get(1..bracketed.len().saturating_sub(1)).unwrap_or_default();
    if !inner.is_empty() {
        out.push(',');
        out.push_str(inner);
    }
}

/// The members of an object that is known to be valid and without white space: keys as literals, values as they stand.
fn members(object: &str) -> Vec<(&str, &str)> {
    let inner = object.get(1..object.len().saturating_sub(1)).unwrap_or_default();
    let mut out = Vec::new();
    let (mut start, mut colon) = (0, None);
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut push = |start: usize, colon: Option<usize>, end: usize| {
        if let Some(colon) = colon
            && let (Some(key), Some(value)) = (inner.get(start..colon), inner.get(colon + 1..end))
        {
            out.push((key, value));
        }
    };
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => colon = Some(at),
            b',' if depth == 0 => {
                push(start, colon, at);
                (start, colon) = (at + 1, None);
            }
            _ => {}
        }
    }
    push(start, colon, inner.len());
    out
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[track_caller]
    fn check(details: &str, keeps: bool) {
        let schema = output_schema(Some(details), &Limits::default()).unwrap();
        assert_eq!(schema.contains(r#""size":"#), keeps, "{schema}");
    }

    #[test]
    fn a_schema_whose_references_would_dangle_is_listed_without_them() {
        check(r#"{"type":"object","properties":{"size":{"type":"integer"}}}"#, true);
        check(r##"{"properties":{"size":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}"##, true);
        check(r##"{"properties":{"size":{"$ref":"#/properties/n"},"n":{"type":"integer"}}}"##, false);
        check(r##"{"properties":{"size":{"$ref":"#/$defs/n"}},"$defs":{"n":{"$ref":"#"}}}"##, false);
    }

    #[test]
    fn a_schema_that_uses_a_fixed_key_is_listed_without_its_keys_however_they_are_spelled() {
        check(r#"{"properties":{"size":{"type":"integer"},"status":{"type":"string"}}}"#, false);
        check(r#"{"properties":{"size":{"type":"integer"},"stat\u0075s":{"type":"string"}}}"#, false);
        check(r#"{"properties":{"size":{"status":{"type":"string"}},"state":true}}"#, true);
    }

    #[test]
    fn a_life_is_told_in_whole_minutes_where_it_is_some() {
        for (millis, expected) in [
            (0, "0 seconds"),
            (999, "0 seconds"),
            (15_000, "15 seconds"),
            (59_999, "59 seconds"),
            (60_000, "1 minute"),
            (61_000, "61 seconds"),
            (90_000, "90 seconds"),
            (120_000, "2 minutes"),
            (300_000, "5 minutes"),
            (3_600_000, "60 minutes"),
        ] {
            assert_eq!(span(millis), expected);
        }
    }

    #[track_caller]
    fn check_members(object: &str, expected: &[(&str, &str)]) {
        assert_eq!(members(object), expected);
    }

    #[test]
    fn members_are_told_apart_whatever_is_in_them() {
        check_members("{}", &[]);
        check_members(r#"{"":""}"#, &[(r#""""#, r#""""#)]);
        check_members(r#"{"a":1,"b":null}"#, &[(r#""a""#, "1"), (r#""b""#, "null")]);
        check_members(
            r#"{"a":{"b":{"c":1,"d":2}},"e":[1,[2,{"f":3,"g":4}],5]}"#,
            &[(r#""a""#, r#"{"b":{"c":1,"d":2}}"#), (r#""e""#, r#"[1,[2,{"f":3,"g":4}],5]"#)],
        );
        check_members(
            r#"{"a,\"b\\":"{[,:\\\",\"x\":","c:}]":"}"}"#,
            &[(r#""a,\"b\\""#, r#""{[,:\\\",\"x\":""#), (r#""c:}]""#, r#""}""#)],
        );
    }
}
