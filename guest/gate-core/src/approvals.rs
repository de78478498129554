//! What people decide: that a call may run, that it may not, what became of a lost run. Reads no clock, stores nothing.
//!
//! An approver agrees to a digest of what was shown, and is never the owner. A refusal is final.

use crate::answer::Assurance;
use crate::confirmation::{Approval, Confirmation, Refusal, Run, Settlement, State, Status, UnixMillis};
use crate::digest::hex;
use crate::json::{self, NULL, Object};
use crate::prose::{decimal, fill, say};
use alloc::boxed::Box;
use alloc::string::String;

/// How far a confirmation is, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Waiting for its token; for a person first, where one is needed.
    Pending,
    /// Every approver that is needed has agreed.
    Approved,
    /// Past its time.
    Expired,
    /// Running.
    InFlight,
    /// Started, past its deadline, not recorded.
    OutcomeUnknown,
    /// Recorded.
    Completed,
    /// Refused.
    Declined,
    /// The operator found that the effect happened.
    SettledHappened,
    /// The operator found that it did not.
    SettledDidNot,
}

impl Progress {
    /// As people and programs read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Expired => "expired",
            Self::InFlight => "in_flight",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Completed => "completed",
            Self::Declined => "declined",
            Self::SettledHappened => "settled_happened",
            Self::SettledDidNot => "settled_did_not",
        }
    }
}

/// How far a confirmation is at a time.
pub fn progress(c: &Confirmation, now: UnixMillis) -> Progress {
    match &c.state {
        State::Pending | State::Expired if c.is_expired(now) => Progress::Expired,
        State::Pending if c.approved_at().is_some() => Progress::Approved,
        State::Pending | State::Expired => Progress::Pending,
        State::InFlight(run) if now < run.deadline => Progress::InFlight,
        State::InFlight(_) => Progress::OutcomeUnknown,
        State::Completed { .. } => Progress::Completed,
        State::Declined(_) => Progress::Declined,
        State::Settled { settlement, .. } if settlement.happened => Progress::SettledHappened,
        State::Settled { .. } => Progress::SettledDidNot,
    }
}

/// A person agrees.
///
/// # Errors
/// Why not, and what to do.
pub fn approve(
    now: UnixMillis,
    mut c: Box<Confirmation>,
    by: &str,
    shown: &str,
    proof: Assurance,
) -> Result<Box<Confirmation>, String> {
    undecided(now, &c)?;
    named(by)?;
    if !c.needs_person() {
        return Err(say("this call needs no approval: its token alone confirms it"));
    }
    if c.approved_at().is_some() {
        return Err(say("this call is approved already: it waits for its token"));
    }
    if hex(&c.shown()) != shown {
        return Err(say("what was shown is not what would run: look at the item again and decide anew"));
    }
    if c.owner == by {
        return Err(say("the owner of a call cannot approve it: ask another person"));
    }
    if c.approvals.iter().any(|approval| approval.by == by) {
        return Err(say("this approver has agreed already: another one has to"));
    }
    if proof < c.plan.needs {
        return Err(fill("this call needs % and this proves %", &[c.plan.needs.name(), proof.name()]));
    }
    c.approvals.push(Approval { by: say(by), at: now, proof });
    Ok(c)
}

/// A person refuses.
///
/// # Errors
/// Why not, and what to do.
pub fn decline(now: UnixMillis, mut c: Box<Confirmation>, by: &str, why: &str) -> Result<Box<Confirmation>, String> {
    undecided(now, &c)?;
    named(by)?;
    c.state = State::Declined(Refusal { by: say(by), at: now, why: say(why) });
    Ok(c)
}

/// The operator says what became of a lost run.
///
/// # Errors
/// Why not, and what to do.
pub fn resolve(
    now: UnixMillis,
    mut c: Box<Confirmation>,
    by: &str,
    happened: bool,
) -> Result<Box<Confirmation>, String> {
    named(by)?;
    let run: Run = match &c.state {
        State::InFlight(run) if now < run.deadline => {
            let wait = decimal((run.deadline - now).div_ceil(1000));
            return Err(fill("this run may still end by itself: resolve it after its deadline, in % s", &[&wait]));
        }
        State::InFlight(run) => run.clone(),
        State::Pending | State::Expired | State::Declined(_) => {
            return Err(say("this call never started: there is nothing to resolve"));
        }
        State::Completed { .. } => return Err(say("this run was recorded: its outcome is known")),
        State::Settled { .. } => return Err(say("this run is resolved already")),
    };
    c.state = State::Settled { run, settlement: Settlement { happened, by: say(by), at: now } };
    Ok(c)
}

fn named(by: &str) -> Result<(), String> {
    // White space and what shows as little, without the tables of Unicode.
    let blank = |c| matches!(c, '\0'..=' ' | '\u{7f}'..='\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{206f}' | '\u{3000}');
    if by.chars().all(blank) { Err(say("nobody is named: say who decides")) } else { Ok(()) }
}

fn undecided(now: UnixMillis, c: &Confirmation) -> Result<(), String> {
    match &c.state {
        State::Pending | State::Expired if c.is_expired(now) => {
            Err(say("the time to decide has passed: a new preview has to be asked for"))
        }
        State::Pending => Ok(()),
        State::Expired => Err(say("the time to decide has passed: a new preview has to be asked for")),
        State::Declined(_) => Err(say("this call was declined: that is final")),
        State::InFlight(_) | State::Completed { .. } | State::Settled { .. } => {
            Err(say("this call has run already: there is nothing to decide"))
        }
    }
}

/// A confirmation as JSON: the keys of `item` in `wit/gate`, all of them in every state.
pub fn item(c: &Confirmation, now: UnixMillis) -> String {
    keys(&mut Object::new(), c, now).finish()
}

/// A confirmation as JSON for people who look into a store, where no time is known: as it was when it was issued.
pub fn describe(c: &Confirmation) -> String {
    let outcome = match &c.state {
        State::Completed { replay_until, payload, .. } => (Some(*replay_until), payload.as_deref()),
        _ => (None, None),
    };
    keys(&mut Object::new(), c, c.issued)
        .text("binding", &hex(&c.binding))
        .number_or_null("replay_until", outcome.0)
        .text_or_null("payload", outcome.1)
        .finish()
}

fn keys<'a>(object: &'a mut Object, c: &Confirmation, now: UnixMillis) -> &'a mut Object {
    let plan = &c.plan;
    let (mut refusal, mut run, mut completed, mut settlement) = (None, None, None, None);
    match &c.state {
        State::Pending | State::Expired => {}
        State::InFlight(started) => run = Some(started),
        State::Completed { run: ran, at, status, settled_before, .. } => {
            (run, settlement) = (Some(ran), settled_before.as_ref());
            completed = Some((*at, if *status == Status::Ok { "ok" } else { "failed" }));
        }
        State::Declined(declined) => refusal = Some(declined),
        State::Settled { run: ran, settlement: said } => (run, settlement) = (Some(ran), Some(said)),
    }
    let approvals = json::array(&c.approvals, |out, approval| {
        out.push_str(&decided(&approval.by, approval.at).text("proof", approval.proof.name()).finish());
    });
    let refusal = refusal.map(|said| decided(&said.by, said.at).text("why", &said.why).finish());
    let settlement = settlement
        .map(|said| decided(&said.by, said.at).raw("happened", if said.happened { "true" } else { "false" }).finish());
    object
        .text("approval_id", &c.approval_id)
        .text("progress", progress(c, now).name())
        .text("owner", &c.owner)
        .text("tool", &c.tool)
        .text("revision", &c.revision)
        .text("arguments", c.shown_arguments())
        .text("summary", &plan.summary)
        .text("preview", &plan.preview)
        .raw("warnings", &json::texts(plan.warnings.iter().map(String::as_str)))
        .text_or_null("precondition", plan.precondition.as_deref())
        .text("needs", plan.needs.name())
        .number("approvers", u64::from(plan.approvers))
        .number("issued_at", c.issued)
        .number("expires_at", c.expires())
        .raw("approvals", &approvals)
        .raw("refusal", refusal.as_deref().unwrap_or(NULL))
        .text_or_null("operation_id", run.map(|run| run.operation_id.as_str()))
        .number_or_null("started_at", run.map(|run| run.started))
        .number_or_null("deadline", run.map(|run| run.deadline))
        .number_or_null("completed_at", completed.map(|(at, _)| at))
        .text_or_null("status", completed.map(|(_, status)| status))
        .raw("settlement", settlement.as_deref().unwrap_or(NULL))
        .text("shown", &hex(&c.shown()))
}

/// What somebody said, and when.
fn decided(by: &str, at: UnixMillis) -> Object {
    let mut object = Object::new();
    object.text("by", by).number("at", at);
    object
}
