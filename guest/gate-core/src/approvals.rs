//! What people decide: that a call may run, that it may not, what became of a lost run. Reads no clock, stores nothing.
//!
//! An approver agrees to a digest of what was shown, and is never the owner. A refusal is final.

use crate::answer::Assurance;
use crate::confirmation::{Approval, Confirmation, Refusal, Run, Settlement, State, Status, UnixMillis};
use crate::digest::hex;
use crate::json::{self, Object};
use crate::prose::{decimal, fill, say};
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
    mut c: Confirmation,
    by: &str,
    shown: &str,
    proof: Assurance,
) -> Result<Confirmation, String> {
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
pub fn decline(now: UnixMillis, mut c: Confirmation, by: &str, why: &str) -> Result<Confirmation, String> {
    undecided(now, &c)?;
    named(by)?;
    c.state = State::Declined(Refusal { by: say(by), at: now, why: say(why) });
    Ok(c)
}

/// The operator says what became of a lost run.
///
/// # Errors
/// Why not, and what to do.
pub fn resolve(now: UnixMillis, mut c: Confirmation, by: &str, happened: bool) -> Result<Confirmation, String> {
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
    if by.chars().all(char::is_whitespace) { Err(say("nobody is named: say who decides")) } else { Ok(()) }
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

/// A confirmation as JSON for people who look into a store.
pub fn describe(c: &Confirmation) -> String {
    let plan = &c.plan;
    let approvals = json::array(&c.approvals, |out, approval| {
        let object = Object::new()
            .text("by", &approval.by)
            .number("at", approval.at)
            .text("proof", approval.proof.name())
            .finish();
        out.push_str(&object);
    });
    let mut state = Object::new();
    match &c.state {
        State::Pending => state.text("name", "pending"),
        State::Expired => state.text("name", "expired"),
        State::InFlight(run) => run_keys(&mut state, "in_flight", run),
        State::Completed { run, at, replay_until, status, payload, settled_before } => {
            run_keys(&mut state, "completed", run)
                .number("completed_at", *at)
                .number("replay_until", *replay_until)
                .text("status", if *status == Status::Ok { "ok" } else { "failed" })
                .option("payload", payload.as_deref());
            match settled_before {
                Some(settlement) => state.raw("settled_before", &settled(&mut Object::new(), settlement).finish()),
                None => &mut state,
            }
        }
        State::Declined(refusal) => {
            state.text("name", "declined").text("by", &refusal.by).number("at", refusal.at).text("why", &refusal.why)
        }
        State::Settled { run, settlement } => settled(run_keys(&mut state, "settled", run), settlement),
    };
    Object::new()
        .text("approval_id", &c.approval_id)
        .text("owner", &c.owner)
        .text("tool", &c.tool)
        .text("revision", &c.revision)
        .text("arguments", &c.arguments)
        .text("binding", &hex(&c.binding))
        .text("summary", &plan.summary)
        .text("preview", &plan.preview)
        .raw("warnings", &json::texts(plan.warnings.iter().map(String::as_str)))
        .option("precondition", plan.precondition.as_deref())
        .text("needs", plan.needs.name())
        .number("approvers", u64::from(plan.approvers))
        .number("issued_at", c.issued)
        .number("expires_at", c.expires())
        .raw("approvals", &approvals)
        .raw("state", &state.finish())
        .finish()
}

fn run_keys<'a>(object: &'a mut Object, name: &str, run: &Run) -> &'a mut Object {
    object
        .text("name", name)
        .text("operation_id", &run.operation_id)
        .number("started_at", run.started)
        .number("deadline", run.deadline)
}

fn settled<'a>(object: &'a mut Object, settlement: &Settlement) -> &'a mut Object {
    object
        .raw("happened", if settlement.happened { "true" } else { "false" })
        .text("by", &settlement.by)
        .number("at", settlement.at)
}
