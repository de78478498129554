//! Between `gate-core`'s types and the JSON of the vectors, which has the names of `wit/gate`.

use counterfoil_gate_core::answer::{Assurance, Detail, Effect, Failure, Reason, Rejection};
use counterfoil_gate_core::approvals::{self, Progress, progress};
use counterfoil_gate_core::canonical::ArgumentsError;
use counterfoil_gate_core::confirmation::{Call, Confirmation, Outcome, Phase, Plan, Run, Settlement, State, Status};
use counterfoil_gate_core::contract::{Challenge, Earlier, Permit, Replayed};
use counterfoil_gate_core::digest::hex;
use counterfoil_gate_core::level::Level;
use counterfoil_gate_core::settings::Settings;
use counterfoil_gate_core::token::Token;
use serde_json::{Value, json};

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("{name} is missing in {value}"))
}

pub(super) fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_else(|| panic!("{name} is missing in {value}"))
}

pub(super) fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

pub(super) fn option<T>(value: &Value, some: impl Fn(&Value) -> T) -> Option<T> {
    (!value.is_null()).then(|| some(value))
}

fn case<T>(value: &Value, cases: impl IntoIterator<Item = T>, name: impl Fn(&T) -> &'static str) -> T {
    let found = cases.into_iter().find(|case| json!(name(case)) == *value);
    found.unwrap_or_else(|| panic!("there is no case {value}"))
}

pub(super) fn assurance(value: &Value) -> Assurance {
    case(value, [Assurance::TokenOnly, Assurance::ClientPrompt, Assurance::OutOfBand], |a| a.name())
}

pub(super) fn level_in(value: &Value) -> Level {
    case(value, Level::ALL, |level| level.name())
}

pub(super) fn reason(value: &Value) -> Reason {
    case(value, Reason::ALL, |reason| reason.name())
}

pub(super) fn failure(value: &Value) -> Failure {
    case(value, [Failure::ToolError, Failure::Trapped, Failure::Deadline, Failure::OutputLimit], |f| f.name())
}

pub(super) fn effect(value: &Value) -> Effect {
    case(value, [Effect::None, Effect::Partial, Effect::Unknown], |effect| effect.name())
}

fn detail(value: &Value) -> Detail {
    use Detail::{AlreadyRan, InFlight, OutcomeUnknown, SettledDidNot, SettledHappened};
    case(value, [InFlight, OutcomeUnknown, AlreadyRan, SettledHappened, SettledDidNot], |detail| detail.name())
}

fn status_name(status: &Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Failed => "failed",
    }
}

pub(super) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Pending => "pending",
        Phase::InFlight => "in_flight",
        Phase::Completed => "completed",
        Phase::Declined => "declined",
        Phase::Settled => "settled",
    }
}

pub(super) fn call(value: &Value) -> Call<'_> {
    Call {
        owner: text(value, "owner"),
        tool: text(value, "tool"),
        revision: text(value, "revision"),
        arguments: text(value, "arguments"),
    }
}

pub(super) fn plan(value: &Value) -> Plan {
    let warnings = value["warnings"].as_array().unwrap();
    Plan {
        summary: text(value, "summary").to_string(),
        preview: text(value, "preview").to_string(),
        warnings: warnings.iter().map(|warning| warning.as_str().unwrap().to_string()).collect(),
        precondition: value["precondition"].as_str().map(str::to_string),
        masked_arguments: value["masked_arguments"].as_str().map(str::to_string),
        needs: assurance(&value["needs"]),
        approvers: number(value, "approvers") as u8,
    }
}

pub(super) fn outcome_in(value: &Value) -> Outcome {
    let status = case(&value["status"], [Status::Ok, Status::Failed], status_name);
    Outcome { status, payload: text(value, "payload").to_string() }
}

pub(super) fn rejection_in(value: &Value) -> Rejection {
    Rejection {
        reason: reason(&value["reason"]),
        detail: option(&value["detail"], detail),
        error: text(value, "error").to_string(),
        retry_after: value["retry_after"].as_u64(),
    }
}

pub(super) fn rejection(value: &Rejection) -> Value {
    json!({
        "reason": value.reason.name(), "detail": value.detail.map(Detail::name),
        "error": value.error, "retry_after": value.retry_after,
    })
}

pub(super) fn arguments_error(error: ArgumentsError) -> Value {
    match error {
        ArgumentsError::MalformedToken(text) => json!({ "malformed_token": text }),
        ArgumentsError::InvalidArguments(text) => json!({ "invalid_arguments": text }),
    }
}

pub(super) fn challenge_out(value: &Challenge) -> Value {
    let earlier =
        |e: &Earlier| json!({ "state": if e.completed { "completed" } else { "in_flight" }, "at": e.at, "ago": e.ago });
    json!({
        "token": value.token.reveal(), "approval_id": value.approval_id, "expires_at": value.expires,
        "ttl": value.ttl, "recent": value.recent.iter().map(earlier).collect::<Vec<_>>(),
    })
}

pub(super) fn challenge_in(value: &Value) -> Challenge {
    let earlier =
        |e: &Value| Earlier { completed: e["state"] == json!("completed"), at: number(e, "at"), ago: number(e, "ago") };
    Challenge {
        token: Token::parse(text(value, "token")).unwrap(),
        approval_id: text(value, "approval_id").to_string(),
        expires: number(value, "expires_at"),
        ttl: number(value, "ttl"),
        recent: value["recent"].as_array().unwrap().iter().map(earlier).collect(),
    }
}

pub(super) fn permit_out(value: &Permit, arguments: &str) -> Value {
    json!({
        "arguments": arguments, "operation_id": value.operation_id, "precondition": value.precondition,
        "assurance": value.assurance.name(), "approved_by": value.approved_by, "approval_id": value.approval_id,
        "deadline": value.deadline,
    })
}

pub(super) fn replayed(value: &Replayed) -> Value {
    let outcome = json!({ "status": status_name(&value.outcome.status), "payload": value.outcome.payload });
    json!({ "outcome": outcome, "operation_id": value.operation_id, "completed_at": value.completed_at })
}

pub(super) fn settlement(value: &Settlement) -> Value {
    json!({ "happened": value.happened, "by": value.by, "at": value.at })
}

pub(super) fn item(c: &Confirmation, now: u64) -> Value {
    let progress = match progress(c, now) {
        Progress::Pending => "pending",
        Progress::Approved => "approved",
        Progress::Expired => "expired",
        Progress::InFlight => "in_flight",
        Progress::OutcomeUnknown => "outcome_unknown",
        Progress::Completed => "completed",
        Progress::Declined => "declined",
        Progress::SettledHappened => "settled_happened",
        Progress::SettledDidNot => "settled_did_not",
    };
    let approvals: Vec<_> =
        c.approvals.iter().map(|a| json!({ "by": a.by, "at": a.at, "proof": a.proof.name() })).collect();
    let mut item = json!({
        "approval_id": c.approval_id, "progress": progress, "owner": c.owner, "tool": c.tool, "revision": c.revision,
        "arguments": c.plan.masked_arguments.as_ref().unwrap_or(&c.arguments), "summary": c.plan.summary, "preview": c.plan.preview, "warnings": c.plan.warnings,
        "precondition": c.plan.precondition, "needs": c.plan.needs.name(), "approvers": c.plan.approvers,
        "issued_at": c.issued, "expires_at": c.expires(), "approvals": approvals, "refusal": null,
        "operation_id": null, "started_at": null, "deadline": null, "completed_at": null, "status": null,
        "settlement": null, "shown": hex(&c.shown()),
    });
    let ran = |item: &mut Value, run: &Run| {
        item["operation_id"] = json!(run.operation_id);
        item["started_at"] = json!(run.started);
        item["deadline"] = json!(run.deadline);
    };
    match &c.state {
        State::Pending | State::Expired => {}
        State::InFlight(run) => ran(&mut item, run),
        State::Completed { run, at, status, settled_before, .. } => {
            ran(&mut item, run);
            item["completed_at"] = json!(at);
            item["status"] = json!(status_name(status));
            item["settlement"] = settled_before.as_ref().map(settlement).into();
        }
        State::Declined(refusal) => {
            item["refusal"] = json!({ "by": refusal.by, "at": refusal.at, "why": refusal.why });
        }
        State::Settled { run, settlement: said } => {
            ran(&mut item, run);
            item["settlement"] = settlement(said);
        }
    }
    let written: Value = serde_json::from_str(&approvals::item(c, now)).unwrap();
    assert_eq!(written, item, "what the rules write of a confirmation");
    item
}

macro_rules! settings {
    ($($field:ident),+) => {
        pub(super) fn settings_in(value: &Value) -> Settings {
            Settings { $($field: number(value, stringify!($field)).try_into().unwrap()),+ }
        }
        pub(super) fn settings_out(value: &Settings) -> Value {
            json!({ $(stringify!($field): value.$field),+ })
        }
    };
}

settings!(
    ttl,
    approval_window,
    replay_window,
    tombstone,
    cool_down,
    recent_window,
    max_arguments,
    max_depth,
    max_number,
    max_exponent,
    max_plan,
    max_precondition,
    max_outcome,
    max_output,
    pending_per_owner,
    pending_in_all
);
