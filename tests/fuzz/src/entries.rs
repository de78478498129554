//! Stored entries: what is written is read as it was, what is read is written as it was, and a row whose body was changed
//! behind the gate's back is refused or opens nothing that it did not open before.
//!
//! The input is a history of one confirmation, and then what is done to its body. The body itself is made by the rules, so
//! that a change of its form leaves the kept inputs good.

use counterfoil_gate_core::answer::Assurance;
use counterfoil_gate_core::body::{decode, decode_row, encode};
use counterfoil_gate_core::confirmation::{Call, Confirmation, Index, Outcome, Phase, Plan, State, Status};
use counterfoil_gate_core::contract::{self, Swept, Verdict};
use counterfoil_gate_core::digest::{binding, hex};
use counterfoil_gate_core::settings::Settings;
use counterfoil_gate_core::{approvals, canonical};
use input::Input;

#[path = "input.rs"]
mod input;

const ISSUED: u64 = 1_000_000;
const SECOND: u64 = 1_000;

/// Holds one history, and the input as a body. Says how far the confirmation came and what became of its changed body.
pub fn check(bytes: &[u8]) -> &'static str {
    identity(bytes);
    let mut input = Input(bytes);
    let settings = settings(&mut input);
    let (c, now) = history(&mut input, &settings);
    let written = encode(&c);
    assert_eq!(decode(&written).as_deref(), Ok(&*c), "what was written is read");
    let index = c.index(&settings);
    assert_eq!(decode_row(&index, &written).as_deref(), Ok(&*c), "beside its own row");
    swept(&c, &settings, now);

    let mut changed = written.clone();
    input.change(&mut changed);
    identity(&changed);
    let read = decode_row(&index, &changed);
    if let Ok(read) = &read {
        let other = read.index(&settings);
        let beside = |index: &Index| (index.phase, index.changed, index.issued, index.binding);
        assert_eq!(beside(&other), beside(&index), "the row says the same");
        assert_eq!((&other.owner, &other.approval_id), (&index.owner, &index.approval_id), "the row says the same");
        opens_no_more(&c, read, &settings);
    }
    match (index.phase, changed == written, read.is_ok()) {
        (Phase::Pending, true, _) => "pending",
        (Phase::Pending, false, true) => "pending, changed",
        (Phase::Pending, false, false) => "pending, damaged",
        (Phase::InFlight, true, _) => "in flight",
        (Phase::InFlight, false, true) => "in flight, changed",
        (Phase::InFlight, false, false) => "in flight, damaged",
        (Phase::Completed, true, _) => "completed",
        (Phase::Completed, false, true) => "completed, changed",
        (Phase::Completed, false, false) => "completed, damaged",
        (Phase::Declined, true, _) => "declined",
        (Phase::Declined, false, true) => "declined, changed",
        (Phase::Declined, false, false) => "declined, damaged",
        (Phase::Settled, true, _) => "settled",
        (Phase::Settled, false, true) => "settled, changed",
        (Phase::Settled, false, false) => "settled, damaged",
    }
}

/// Nothing is read that would be written otherwise.
fn identity(bytes: &[u8]) {
    if let Ok(read) = decode(bytes) {
        assert!(encode(&read) == bytes, "what was read is written as it was");
    }
}

fn call(c: &Confirmation) -> Call<'_> {
    Call { owner: &c.owner, tool: &c.tool, revision: &c.revision, arguments: &c.arguments }
}

/// Times at which something could become of a confirmation.
fn times(c: &Confirmation) -> impl Iterator<Item = u64> {
    let ends = [c.issued, c.expires(), c.issued.saturating_add(c.ttl), c.issued.saturating_add(c.window)];
    ends.into_iter().flat_map(|end| [end.saturating_sub(1), end, end.saturating_add(SECOND)])
}

/// Whether its token can be spent for the call that it names.
fn opens(c: &Confirmation, settings: &Settings, now: u64) -> bool {
    contract::verdict(settings, now, &call(c), Some(c)) == Verdict::Runnable
        && contract::start(now, Box::new(c.clone()), [7; 15], SECOND).is_ok()
}

/// A changed body opens nothing longer than the row says, nothing that was over, and nothing for another call. Whose
/// agreement it needs and has stands in the body alone: who can write there can agree.
fn opens_no_more(c: &Confirmation, changed: &Confirmation, settings: &Settings) {
    let agreed = |c: &Confirmation| (c.plan.needs, c.plan.approvers, c.approvals.clone());
    for now in times(c).chain(times(changed)) {
        if opens(changed, settings, now) {
            assert!((c.issued..c.expires()).contains(&now), "at {now} its time is over");
            assert_eq!((&changed.owner, &changed.tool, &changed.arguments), (&c.owner, &c.tool, &c.arguments));
            assert!(opens(c, settings, now) || agreed(c) != agreed(changed), "at {now} it opens what was closed");
        }
    }
}

/// A sweep changes nothing that is told at its time or later.
fn swept(c: &Confirmation, settings: &Settings, now: u64) {
    let after = match contract::sweep(settings, now, Box::new(c.clone())) {
        Swept::Keep => return,
        Swept::Replace(after) => Some(after),
        Swept::Remove => None,
    };
    for later in times(c).chain([now, c.index(settings).purge_after]).filter(|later| *later >= now) {
        let told = |stored| contract::verdict(settings, later, &call(c), stored);
        // What a sweep dropped of the arguments is known by the digest, and the call here is made of what it dropped.
        if !c.arguments.is_empty() {
            assert_eq!(told(after.as_deref()), told(Some(c)), "at {later}, swept at {now}");
        }
    }
}

fn assurance(input: &mut Input<'_>) -> Assurance {
    [Assurance::TokenOnly, Assurance::ClientPrompt, Assurance::OutOfBand][input.below(3)]
}

/// Times that come close to each other.
fn settings(input: &mut Input<'_>) -> Settings {
    let time = |input: &mut Input<'_>| (15 + u64::from(input.byte() % 8)) * SECOND;
    let settings = Settings {
        ttl: time(input),
        approval_window: time(input),
        replay_window: time(input),
        tombstone: 60 * SECOND,
        cool_down: time(input),
        recent_window: time(input),
        ..Settings::default()
    };
    assert_eq!(settings.check(), Ok(()));
    settings
}

/// Issues a confirmation and lets happen to it what the input says, as far as the rules let it. Returns when that ended.
fn history(input: &mut Input<'_>, settings: &Settings) -> (Box<Confirmation>, u64) {
    let named = |what: &str, input: &mut Input<'_>| format!("{what}{}", input.text());
    let (owner, tool, revision) = (named("os:", input), named("t", input), named("r", input));
    let mut arguments = String::from("{\"a\":");
    canonical::write_string(&mut arguments, &input.text());
    arguments.push('}');
    let needs = assurance(input);
    let plan = Plan {
        summary: input.text(),
        preview: "{}".into(),
        warnings: (0..input.below(3)).map(|_| input.text()).collect(),
        precondition: (input.below(2) == 1).then(|| input.text()),
        masked_arguments: None,
        needs,
        approvers: u8::try_from(input.below(3)).unwrap_or(0) + u8::from(needs != Assurance::TokenOnly),
    };
    let call = Call { owner: &owner, tool: &tool, revision: &revision, arguments: &arguments };
    assert_eq!(contract::check_issue(settings, &call, &plan), Ok(()));
    let random = [[input.byte(); 15], [input.byte(); 15]];
    let issued = contract::issue(settings, ISSUED, &call, call.binding(), plan, &[], random);
    let (mut c, _) = issued.expect("nothing stands against it");
    let mut now = ISSUED;
    for _ in 0..input.below(6) {
        now += u64::from(input.byte()) * SECOND / 4;
        c = step(input, settings, now, c);
    }
    assert_eq!(c.binding, binding(&owner, &tool, &arguments), "it is bound to the call to its end");
    (c, now)
}

/// One event. What the rules refuse does not happen.
fn step(input: &mut Input<'_>, settings: &Settings, now: u64, c: Box<Confirmation>) -> Box<Confirmation> {
    let kept = c.clone();
    let by = format!("os:{}", input.below(4));
    let next = match input.below(6) {
        0 => approvals::approve(now, c.clone(), &by, &hex(&c.shown()), assurance(input)).ok(),
        1 => approvals::decline(now, c, &by, &input.text()).ok(),
        2 if opens(&c, settings, now) => contract::start(now, c, [9; 15], 5 * SECOND).ok().map(|(c, _)| c),
        3 => match &c.state {
            State::InFlight(run) | State::Settled { run, .. } => {
                let operation = run.operation_id.clone();
                let status = if input.below(2) == 0 { Status::Ok } else { Status::Failed };
                let outcome = Outcome { status, payload: input.text() };
                contract::record(settings, now, Some(c), &operation, &outcome).ok().and_then(|(c, _)| c)
            }
            _ => None,
        },
        4 => approvals::resolve(now, c, &by, input.below(2) == 1).ok(),
        5 => match contract::sweep(settings, now, c) {
            Swept::Replace(c) => Some(c),
            Swept::Keep | Swept::Remove => None,
        },
        _ => None,
    };
    next.unwrap_or(kept)
}
