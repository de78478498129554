//! Decides whether a token is issued, whether it may be spent, and what is told of it. Reads no clock, stores nothing.
//!
//! The order of the checks is the contract's: each answer says something that the earlier ones have ruled out.

use crate::answer::{Assurance, Detail, Reason, Rejection};
use crate::confirmation::{
    Call, Confirmation, Index, NEVER, Outcome, Phase, Plan, Run, Settlement, State, Status, UnixMillis,
};
use crate::digest::{self, Sha, hex, sha256};
use crate::json::Object;
use crate::prose::{decimal, fill, say};
use crate::settings::{Millis, Settings};
use crate::token::{self, Random, Token};
use crate::{body, canonical};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// The revision of a tool that is gone. Nothing is ever issued for it.
pub const ABSENT: &str = "absent";

/// How many identical calls are looked at. More cannot matter: one owner has fewer confirmations pending at once than
/// this by default, and an unresolved one always comes first.
pub const FIND: u32 = 64;

/// In how long to ask again for a person's decision.
const ASK_AGAIN: Millis = 15_000;

/// A row without its body: key and what the backend sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Digest of its token.
    pub key: Sha,
    /// What the backend sees.
    pub index: Index,
}

/// An identical call that ran or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Recorded, or still running.
    pub completed: bool,
    /// When it completed or started.
    pub at: UnixMillis,
    /// How long ago that was.
    pub ago: Millis,
}

/// A confirmation was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Shown once.
    pub token: Token,
    /// The handle for people.
    pub approval_id: String,
    /// Until when the token, or the approver's window, is good.
    pub expires: UnixMillis,
    /// Life of the token.
    pub ttl: Millis,
    /// Identical calls, in flight first.
    pub recent: Vec<Earlier>,
}

/// The call may run, once, now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    /// Names the run.
    pub operation_id: String,
    /// What the confirmed plan rests on.
    pub precondition: Option<String>,
    /// What the confirmation proves.
    pub assurance: Assurance,
    /// Who agreed.
    pub approved_by: Vec<String>,
    /// The handle for people.
    pub approval_id: String,
    /// When the run has to have ended.
    pub deadline: UnixMillis,
}

/// A stored outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// As it was delivered.
    pub outcome: Outcome,
    /// Of which run.
    pub operation_id: String,
    /// When it completed.
    pub completed_at: UnixMillis,
}

/// What a token is good for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be spent, if no identical call is unresolved.
    Runnable,
    /// Nothing runs; this is delivered.
    Replay(Replayed),
    /// Nothing runs.
    Reject(Rejection),
}

/// Whether a call and its plan are what a host may ask a confirmation for.
///
/// # Errors
/// A defect of the host, in prose.
pub fn check_issue(settings: &Settings, call: &Call<'_>, plan: &Plan) -> Result<(), String> {
    for (name, text) in [("owner", call.owner), ("tool", call.tool), ("revision", call.revision)] {
        if text.is_empty() {
            return Err(fill("% is empty: a confirmation is bound to one", &[name]));
        }
    }
    if call.revision == ABSENT {
        return Err(say("the tool is absent: nothing is issued for it"));
    }
    if !canonical::is_canonical(call.arguments, &settings.arguments()) {
        return Err(say("arguments are not canonical: pass what `read` returned"));
    }
    let size = plan.size();
    if size > settings.max_plan as usize {
        return Err(too_large("the plan has % bytes and may have %: shorten it", size, settings.max_plan));
    }
    let precondition = plan.precondition.as_deref().map_or(0, str::len);
    if precondition > settings.max_precondition as usize {
        return Err(too_large(
            "the precondition has % bytes and may have %: pass a digest instead",
            precondition,
            settings.max_precondition,
        ));
    }
    if plan.needs != Assurance::TokenOnly && plan.approvers == 0 {
        return Err(say("the plan needs a person and asks for no approver: ask for at least one"));
    }
    for (name, text) in [("preview", Some(&plan.preview)), ("masked-arguments", plan.masked_arguments.as_ref())] {
        match text.map(|text| canonical::compact(text, &settings.output())) {
            Some(Ok(compact)) if compact.keys.is_none() => return Err(fill("the % is no JSON object", &[name])),
            Some(Err(error)) => return Err(fill("the % is not strict JSON: %", &[name, &error])),
            Some(Ok(_)) | None => {}
        }
    }
    Ok(())
}

fn too_large(sentence: &str, bytes: usize, most: u32) -> String {
    fill(sentence, &[&decimal(bytes as u64), &decimal(most.into())])
}

/// Issues a confirmation. `binding` is the call's, and `found` are its rows that are not pending, in flight first.
///
/// # Errors
/// `unresolved` while an identical call's outcome is unknown; `declined` in the cool-down.
pub fn issue(
    settings: &Settings,
    now: UnixMillis,
    call: &Call<'_>,
    binding: Sha,
    plan: Plan,
    found: &[Found],
    random: [Random; 2],
) -> Result<(Box<Confirmation>, Challenge), Rejection> {
    let mut recent = Vec::new();
    for Found { index, .. } in found {
        match index.phase {
            Phase::InFlight if now >= index.until => return Err(Rejection::new(Reason::Unresolved)),
            Phase::InFlight => {
                recent.push(Earlier { completed: false, at: index.changed, ago: now.saturating_sub(index.changed) });
            }
            Phase::Declined if now < index.changed.saturating_add(settings.cool_down) => {
                let wait = index.changed.saturating_add(settings.cool_down) - now;
                return Err(Rejection { retry_after: Some(wait), ..Rejection::new(Reason::Declined) });
            }
            Phase::Completed if now.saturating_sub(index.changed) < settings.recent_window => {
                recent.push(Earlier { completed: true, at: index.changed, ago: now.saturating_sub(index.changed) });
            }
            Phase::Pending | Phase::Completed | Phase::Declined | Phase::Settled => {}
        }
    }
    let [for_token, for_approval] = random;
    let confirmation = Box::new(Confirmation {
        approval_id: token::approval_id(for_approval),
        owner: say(call.owner),
        tool: say(call.tool),
        revision: say(call.revision),
        arguments: if plan.masked_arguments.is_none() { say(call.arguments) } else { String::new() },
        binding,
        plan,
        issued: now,
        window: settings.approval_window,
        ttl: settings.ttl,
        approvals: Vec::new(),
        state: State::Pending,
    });
    let challenge = Challenge {
        token: Token::new(for_token),
        approval_id: confirmation.approval_id.clone(),
        expires: confirmation.expires(),
        ttl: settings.ttl,
        recent,
    };
    Ok((confirmation, challenge))
}

/// Steps 2 to 9 of the second call: what a token is good for.
pub fn verdict(settings: &Settings, now: UnixMillis, call: &Call<'_>, stored: Option<&Confirmation>) -> Verdict {
    let Some(c) = stored.filter(|c| c.forgotten_at(settings).is_none_or(|end| now < end)) else {
        return Verdict::Reject(Rejection::new(Reason::UnknownOrUsed));
    };
    let reject = |reason| Verdict::Reject(Rejection::new(reason));
    if c.owner != call.owner {
        return reject(Reason::WrongOwner);
    }
    if c.tool != call.tool {
        return reject(Reason::WrongTool);
    }
    if !c.is_for(call.arguments) {
        return reject(Reason::ParamsChanged);
    }
    match &c.state {
        State::Completed { run, at, replay_until, status, payload, .. } => {
            return match payload {
                Some(payload) if now < *replay_until => Verdict::Replay(Replayed {
                    outcome: Outcome { status: *status, payload: payload.clone() },
                    operation_id: run.operation_id.clone(),
                    completed_at: *at,
                }),
                _ => Verdict::Reject(Rejection::used(Detail::AlreadyRan)),
            };
        }
        State::InFlight(run) if now < run.deadline => {
            return Verdict::Reject(Rejection::used(Detail::InFlight).again_in(run.deadline - now));
        }
        State::InFlight(_) => return Verdict::Reject(Rejection::used(Detail::OutcomeUnknown)),
        State::Settled { settlement, .. } => {
            let detail = if settlement.happened { Detail::SettledHappened } else { Detail::SettledDidNot };
            return Verdict::Reject(Rejection::used(detail));
        }
        State::Pending | State::Expired | State::Declined(_) => {}
    }
    if c.is_expired(now) {
        return reject(Reason::Expired);
    }
    if c.revision != call.revision {
        return reject(Reason::ToolChanged);
    }
    if matches!(c.state, State::Declined(_)) {
        return reject(Reason::Declined);
    }
    if c.needs_person() && c.approved_at().is_none() {
        return Verdict::Reject(Rejection::new(Reason::AwaitingApproval).again_in(ASK_AGAIN));
    }
    Verdict::Runnable
}

/// Step 10: whether another confirmation of the same call is in flight or its outcome unknown.
pub fn unresolved(now: UnixMillis, key: &Sha, found: &[Found]) -> Option<Rejection> {
    let other = found.iter().find(|other| other.index.phase == Phase::InFlight && other.key != *key)?;
    Some(if now < other.index.until { running(other.index.until - now) } else { Rejection::new(Reason::Unresolved) })
}

fn running(wait: Millis) -> Rejection {
    let error = "an identical call is still running, and this one can only run after it; keep the token";
    Rejection { error: say(error), ..Rejection::new(Reason::Unresolved) }.again_in(wait)
}

/// Step 11: the confirmation as it is stored when its token is spent. `run` is the time to the deadline.
///
/// # Errors
/// It is stored under another call's binding, under which no identical call would be seen to run. (Where no arguments are
/// kept, `verdict` has compared the binding with the caller's.)
pub fn start(
    now: UnixMillis,
    mut c: Box<Confirmation>,
    operation: Random,
    run: Millis,
) -> Result<(Box<Confirmation>, Permit), &'static str> {
    if !c.arguments.is_empty() && c.binding != digest::binding(&c.owner, &c.tool, &c.arguments) {
        return Err(body::BAD);
    }
    let run = Run {
        operation_id: token::operation_id(operation),
        started: now,
        deadline: now.saturating_add(run).min(NEVER),
    };
    let permit = permit(&c, &run);
    c.state = State::InFlight(run);
    Ok((c, permit))
}

/// What a run of a confirmation gets.
fn permit(c: &Confirmation, run: &Run) -> Permit {
    Permit {
        operation_id: run.operation_id.clone(),
        precondition: c.plan.precondition.clone(),
        assurance: c.assurance(),
        approved_by: c.approvals.iter().map(|approval| approval.by.clone()).collect(),
        approval_id: c.approval_id.clone(),
        deadline: run.deadline,
    }
}

/// After a swap whose acknowledgement was lost: whether the entry that is there now carries this run.
pub fn is_started(stored: &Confirmation, permit: &Permit) -> bool {
    matches!(&stored.state, State::InFlight(run) if run.operation_id == permit.operation_id)
}

/// How an outcome is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Whole, or as status and digest.
    pub whole: bool,
    /// What the operator had said of the run before.
    pub settled_before: Option<Settlement>,
}

/// Keeps what a run returned. `None` as the first of the pair: it is kept already, nothing is to be stored.
///
/// # Errors
/// A defect of the host, in prose: no such run, another outcome is kept, more than may be delivered.
pub fn record(
    settings: &Settings,
    now: UnixMillis,
    stored: Option<Box<Confirmation>>,
    operation_id: &str,
    outcome: &Outcome,
) -> Result<(Option<Box<Confirmation>>, Recording), String> {
    const NO_RUN: &str = "no such run: record with the token and the operation id of its permit";
    let mut c = stored.ok_or(NO_RUN)?;
    if outcome.payload.len() > settings.max_output as usize {
        return Err(too_large(
            "the outcome has % bytes and may have %: answer output_limit instead",
            outcome.payload.len(),
            settings.max_output,
        ));
    }
    let whole = encoded_length(&outcome.payload) <= settings.max_outcome as usize;
    let payload = if whole { outcome.payload.clone() } else { stand_in(&c.tool, outcome, c.assurance()) };
    let (run, settled_before) = match &c.state {
        State::InFlight(run) => (run, None),
        State::Settled { run, settlement } => (run, Some(settlement)),
        State::Completed { run, status, payload: kept, settled_before, .. } if run.operation_id == operation_id => {
            let same = *status == outcome.status && kept.as_ref().is_none_or(|kept| *kept == payload);
            return if same {
                Ok((None, Recording { whole, settled_before: settled_before.clone() }))
            } else {
                Err(say("another outcome of this run is kept already: an outcome is recorded once"))
            };
        }
        State::Pending | State::Expired | State::Declined(_) | State::Completed { .. } => {
            return Err(say(NO_RUN));
        }
    };
    if run.operation_id != operation_id {
        return Err(say(NO_RUN));
    }
    let recording = Recording { whole, settled_before: settled_before.cloned() };
    c.state = State::Completed {
        run: run.clone(),
        at: now,
        replay_until: now.saturating_add(settings.replay_window).min(NEVER),
        status: outcome.status,
        payload: Some(payload),
        settled_before: recording.settled_before.clone(),
    };
    Ok((Some(c), recording))
}

/// Bytes of a text as a JSON string literal, which is how clients get it.
fn encoded_length(text: &str) -> usize {
    let escapes: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
            0..=31 => 5,
            _ => 0,
        })
        .sum();
    text.len() + escapes + 2
}

/// What is replayed of an outcome that was delivered once and is too large to keep.
fn stand_in(tool: &str, outcome: &Outcome, assurance: Assurance) -> String {
    let digest = fill("sha256:%", &[&hex(&sha256(outcome.payload.as_bytes()))]);
    let text = "it ran once and its outcome was delivered then; it is too large to be kept, so only its digest is here";
    let mut object = Object::new();
    match outcome.status {
        Status::Ok => object.text("status", "ok").text("tool", tool).text("message", text),
        Status::Failed => object
            .text("status", "failed")
            .text("tool", tool)
            .text("error", text)
            .text("reason", "tool_error")
            .text("effect", "unknown"),
    };
    object
        .text("outcome_digest", &digest)
        .number("outcome_bytes", outcome.payload.len() as u64)
        .text("assurance", assurance.name())
        .finish()
}

/// What a sweep does with a row that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swept {
    /// It is none of a sweep's business.
    Keep,
    /// It keeps what the tombstone needs, and when it is due next.
    Replace(Box<Confirmation>),
    /// Nobody can ask for it.
    Remove,
}

/// Drops what nobody can ask for, of a row that is due. Never changes what [`verdict`] says at this time or later.
pub fn sweep(settings: &Settings, now: UnixMillis, mut c: Box<Confirmation>) -> Swept {
    if matches!(c.state, State::InFlight(_)) {
        return Swept::Keep;
    }
    // Due by settings that were changed since: written anew, or every sweep would begin with it.
    if now < c.index(settings).purge_after {
        return Swept::Replace(c);
    }
    if c.removed_at(settings).is_none_or(|end| now >= end) {
        return Swept::Remove;
    }
    match &mut c.state {
        State::Pending => c.state = State::Expired,
        State::Completed { payload, .. } => *payload = None,
        _ => return Swept::Keep,
    }
    c.strip();
    Swept::Replace(c)
}
