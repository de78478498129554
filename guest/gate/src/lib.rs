//! The gate as a component: bindings around `gate-core`, and the loop load, decide, swap. Keeps its settings and nothing else.
//!
//! Whoever decides anything here and not in `gate-core` has made a mistake; what is here is the order in which store, clock
//! and randomness are asked.
//!
//! No `std`: with its allocator and the prose of its panics the component would be half as large again. A panic is a trap,
//! and a host that meets one throws the instance away.
#![cfg(target_arch = "wasm32")]
#![no_std]

extern crate alloc;

mod answers;
mod bindings;
mod convert;
mod store;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use bindings::exports::counterfoil::gate::{approvals, gate};
use bindings::wasi::{clocks::wall_clock, random::random};
use convert::{assurance, call, plan, rejection, settings, settings_in, settings_out};
use counterfoil_gate_core as rules;
use rules::answer::{Reason, Rejection};
use rules::confirmation::{Call, Confirmation, NEVER, Outcome, Phase, Plan};
use rules::contract::{self, Challenge, Permit, Recording, Swept, Verdict};
use rules::digest::Sha;
use rules::prose::{fill, say};
use rules::settings::Settings;
use rules::token::{Random, Token};
use store::{Stop, Swap};

struct Component;

#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

#[panic_handler]
fn panic(_: &::core::panic::PanicInfo<'_>) -> ! {
    ::core::arch::wasm32::unreachable()
}

/// How often a decision is made anew because another one came in between. Each time somebody else has got on.
const ROUNDS: usize = 16;

fn now() -> u64 {
    let time = wall_clock::now();
    (time.seconds.saturating_mul(1000).saturating_add(u64::from(time.nanoseconds / 1_000_000))).min(NEVER)
}

/// One handle's randomness. A host that hands out fewer bytes than were asked for is not to be trusted with tokens.
fn draw() -> Result<Random, Stop> {
    let bytes = random::get_random_bytes(rules::token::RANDOM as u64);
    bytes.try_into().map_err(|_| misuse("randomness is short: the host has to give as many bytes as are asked for"))
}

fn misuse(text: &str) -> Stop {
    Stop::Misuse(say(text))
}

impl From<Stop> for gate::GateError {
    #[inline(never)]
    fn from(stop: Stop) -> Self {
        let reason = match stop {
            Stop::Unreachable(what) => {
                Rejection::because(Reason::Unavailable, &fill("the store did not answer: %", &[&what]))
            }
            Stop::Damaged(what) => Rejection::because(Reason::Unavailable, what),
            Stop::Full(what) => Rejection::because(Reason::TooManyPending, what),
            Stop::Rejected(reason) => *reason,
            Stop::Misuse(text) => return Self::Misuse(text),
        };
        Self::Rejected(rejection(reason))
    }
}

/// What `consume` decides.
enum Spent {
    Permit(Permit),
    Not(Verdict),
}

impl gate::Guest for Component {
    fn default_settings() -> gate::Settings {
        settings_out(&Settings::default())
    }

    fn configure(settings: gate::Settings) -> Result<(), String> {
        let settings = settings_in(&settings);
        settings.check()?;
        convert::keep(&settings);
        Ok(())
    }

    fn read(arguments: String, confirm_parameter: String) -> Result<gate::Request, gate::ArgumentsError> {
        match rules::canonical::read(&arguments, &confirm_parameter, &settings().arguments()) {
            Ok(request) => Ok(gate::Request { token: request.token, arguments: request.arguments }),
            Err(rules::canonical::ArgumentsError::MalformedToken(text)) => {
                Err(gate::ArgumentsError::MalformedToken(text))
            }
            Err(rules::canonical::ArgumentsError::InvalidArguments(text)) => {
                Err(gate::ArgumentsError::InvalidArguments(text))
            }
        }
    }

    fn issue(wanted: gate::Call, shown: gate::Plan) -> Result<gate::Challenge, gate::GateError> {
        Ok(convert::challenge(issue(&call(&wanted), plan(shown))?))
    }

    fn check(token: String, wanted: gate::Call) -> Result<gate::Readiness, gate::GateError> {
        Ok(match check(&token, &call(&wanted))? {
            Verdict::Runnable => gate::Readiness::Ready,
            Verdict::Replay(stored) => gate::Readiness::Replay(convert::replayed(stored)),
            Verdict::Reject(reason) => gate::Readiness::Reject(rejection(reason)),
        })
    }

    fn consume(token: String, wanted: gate::Call, run: u64) -> Result<gate::Decision, gate::GateError> {
        Ok(match consume(&token, &call(&wanted), run)? {
            Spent::Permit(permit) => gate::Decision::Execute(convert::permit(permit, wanted.arguments)),
            Spent::Not(Verdict::Replay(stored)) => gate::Decision::Replay(convert::replayed(stored)),
            Spent::Not(Verdict::Reject(reason)) => gate::Decision::Reject(rejection(reason)),
            Spent::Not(Verdict::Runnable) => gate::Decision::Reject(rejection(Rejection::new(Reason::Unavailable))),
        })
    }

    fn record(token: String, operation_id: String, outcome: gate::Outcome) -> Result<gate::Recording, gate::GateError> {
        let recording = record(&token, &operation_id, &convert::outcome_in(outcome))?;
        Ok(gate::Recording {
            whole: recording.whole,
            settled_before: recording.settled_before.map(convert::settlement),
        })
    }

    fn sweep(limit: u32) -> Result<u32, gate::GateError> {
        Ok(sweep(limit)?)
    }
}

fn issue(call: &Call<'_>, plan: Plan) -> Result<Challenge, Stop> {
    let settings = settings();
    contract::check_issue(&settings, call, &plan).map_err(Stop::Misuse)?;
    let binding = call.binding();
    let found = store::find(&binding, contract::FIND)?;
    let (token, approval, now) = (draw()?, draw()?, now());
    let (confirmation, challenge) = contract::issue(&settings, now, call, binding, plan, &found, [token, approval])
        .map_err(|reason| Stop::Rejected(Box::new(reason)))?;
    store::insert(&settings, now, &challenge.token.key(), &confirmation)?;
    Ok(challenge)
}

fn check(token: &str, call: &Call<'_>) -> Result<Verdict, Stop> {
    let Some(token) = Token::parse(token) else { return Ok(reject(Reason::MalformedToken)) };
    let (settings, key) = (settings(), token.key());
    let row = store::load(&key)?;
    let now = now();
    let stored = row.as_ref().map(|row| &*row.confirmation);
    match (contract::verdict(&settings, now, call, stored), stored) {
        (Verdict::Runnable, Some(stored)) => unresolved(now, &key, &stored.binding),
        (other, _) => Ok(other),
    }
}

fn consume(token: &str, call: &Call<'_>, run: u64) -> Result<Spent, Stop> {
    let Some(token) = Token::parse(token) else { return Ok(Spent::Not(reject(Reason::MalformedToken))) };
    if run == 0 {
        return Err(misuse("the run has no time: pass how long it may take"));
    }
    let (settings, key) = (settings(), token.key());
    for _ in 0..ROUNDS {
        let row = store::load(&key)?;
        let now = now();
        let row = match contract::verdict(&settings, now, call, row.as_ref().map(|row| &*row.confirmation)) {
            Verdict::Runnable => row.ok_or_else(|| misuse("a row vanished while it was decided"))?,
            other => return Ok(Spent::Not(other)),
        };
        let (started, permit) = contract::start(now, row.confirmation, draw()?, run).map_err(Stop::Damaged)?;
        match store::replace(&settings, &key, row.version, &started) {
            Ok(Swap::Done) => return Ok(Spent::Permit(permit)),
            Ok(Swap::Stale) => {}
            Ok(Swap::Held) => match unresolved(now, &key, &started.binding)? {
                Verdict::Runnable => {}
                other => return Ok(Spent::Not(other)),
            },
            // The acknowledgement is lost: whether the token is spent, and by whom, is what the entry says.
            Err(_) => {
                let Ok(row) = store::load(&key) else { return Ok(Spent::Not(Verdict::Reject(Rejection::unsure()))) };
                let stored = row.as_ref().map(|row| &*row.confirmation);
                if stored.is_some_and(|stored| contract::is_started(stored, &permit)) {
                    return Ok(Spent::Permit(permit));
                }
                return Ok(Spent::Not(match contract::verdict(&settings, now, call, stored) {
                    // Not yet, as far as can be seen: a store that answers late may still swap.
                    Verdict::Runnable => Verdict::Reject(Rejection::unsure()),
                    other => other,
                }));
            }
        }
    }
    Ok(Spent::Not(reject(Reason::Unavailable)))
}

fn reject(reason: Reason) -> Verdict {
    Verdict::Reject(Rejection::new(reason))
}

/// Whether another confirmation of a call is in flight or lost.
fn unresolved(now: u64, key: &Sha, binding: &Sha) -> Result<Verdict, Stop> {
    let found = store::find(binding, 2)?;
    Ok(contract::unresolved(now, key, &found).map_or(Verdict::Runnable, Verdict::Reject))
}

fn record(token: &str, operation_id: &str, outcome: &Outcome) -> Result<Recording, Stop> {
    let token = Token::parse(token).ok_or_else(|| misuse("no such run: this is no token"))?;
    let mut told = None;
    change(&token.key(), &mut |settings, stored| {
        let (changed, recording) = contract::record(settings, now(), stored, operation_id, outcome)?;
        told = Some(recording);
        Ok(changed)
    })?;
    told.ok_or_else(|| misuse("nothing was recorded"))
}

fn sweep(limit: u32) -> Result<u32, Stop> {
    let settings = settings();
    let mut touched = 0;
    for (key, version) in store::due(now(), limit)? {
        let swept = match store::load_for_sweep(&key)? {
            Some(Ok(row)) if row.version == version => contract::sweep(&settings, now(), row.confirmation),
            Some(Err(())) => Swept::Remove,
            _ => Swept::Keep,
        };
        touched += match swept {
            Swept::Keep => 0,
            Swept::Remove => u32::from(store::remove(&key, version)?),
            Swept::Replace(c) => u32::from(matches!(store::replace(&settings, &key, version, &c)?, Swap::Done)),
        };
    }
    Ok(touched)
}

/// A decision on what is stored: what to store instead, if anything.
type Decide<'a> = &'a mut dyn FnMut(&Settings, Option<Box<Confirmation>>) -> Result<Option<Box<Confirmation>>, String>;

/// Loads a row, decides, swaps; again while others get in between.
fn change(key: &Sha, decide: Decide<'_>) -> Result<(), Stop> {
    let settings = settings();
    for _ in 0..ROUNDS {
        let row = store::load(key)?;
        let version = row.as_ref().map_or(0, |row| row.version);
        let changed = decide(&settings, row.map(|row| row.confirmation)).map_err(Stop::Misuse)?;
        let Some(changed) = changed else { return Ok(()) };
        match store::replace(&settings, key, version, &changed)? {
            Swap::Done => return Ok(()),
            Swap::Stale | Swap::Held => {}
        }
    }
    Err(Stop::Rejected(Box::new(Rejection::new(Reason::Unavailable))))
}

/// One person's decision on the row of an approval id.
fn decide(
    approval_id: &str,
    decide: &dyn Fn(u64, Box<Confirmation>) -> Result<Box<Confirmation>, String>,
) -> Result<(), gate::GateError> {
    const NONE: &str = "no such approval id: list what is pending";
    let row = store::load_by_approval_id(approval_id)?.ok_or_else(|| misuse(NONE))?;
    Ok(change(&row.key, &mut |_, stored| decide(now(), stored.ok_or_else(|| say(NONE))?).map(Some))?)
}

fn list(phase: Phase, mut after: Option<store::Cursor>, limit: usize) -> Result<Vec<String>, Stop> {
    let now = now();
    let mut items = Vec::new();
    loop {
        let (rows, last) = store::list(phase, after.as_ref())?;
        for row in rows {
            if items.len() >= limit {
                return Ok(items);
            }
            if phase == Phase::InFlight || !row.confirmation.is_expired(now) {
                items.push(rules::approvals::item(&row.confirmation, now));
            }
        }
        if last.is_none() {
            return Ok(items);
        }
        after = last;
    }
}

impl approvals::Guest for Component {
    fn identify(token: String) -> Result<Option<String>, gate::GateError> {
        let Some(token) = Token::parse(&token) else { return Ok(None) };
        Ok(store::load(&token.key())?.map(|row| row.confirmation.approval_id))
    }

    fn show(approval_id: String) -> Result<Option<approvals::Item>, gate::GateError> {
        Ok(store::load_by_approval_id(&approval_id)?.map(|row| rules::approvals::item(&row.confirmation, now())))
    }

    fn list(
        which: approvals::Selection,
        after: Option<approvals::Cursor>,
        limit: u32,
    ) -> Result<Vec<approvals::Item>, gate::GateError> {
        let phase = match which {
            approvals::Selection::Pending => Phase::Pending,
            approvals::Selection::Unrecorded => Phase::InFlight,
        };
        let after = after.map(|cursor| store::Cursor { issued: cursor.issued_at, approval_id: cursor.approval_id });
        Ok(list(phase, after, limit as usize)?)
    }

    fn approve(approval_id: String, by: String, shown: String, proof: gate::Assurance) -> Result<(), gate::GateError> {
        decide(&approval_id, &|now, c| rules::approvals::approve(now, c, &by, &shown, assurance(proof)))
    }

    fn decline(approval_id: String, by: String, why: String) -> Result<(), gate::GateError> {
        decide(&approval_id, &|now, c| rules::approvals::decline(now, c, &by, &why))
    }

    fn resolve(approval_id: String, by: String, happened: bool) -> Result<(), gate::GateError> {
        decide(&approval_id, &|now, c| rules::approvals::resolve(now, c, &by, happened))
    }

    fn decode(body: Vec<u8>) -> Result<String, String> {
        rules::body::decode(&body).map(|c| rules::approvals::describe(&c)).map_err(say)
    }
}
