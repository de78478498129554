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

mod bindings;
mod convert;
mod store;

use alloc::string::String;
use alloc::vec::Vec;
use bindings::exports::counterfoil::gate::{approvals, gate, levels, responses};
use bindings::wasi::{clocks::wall_clock, random::random};
use convert::{
    assurance, call, item, level, level_out, plan, rejection, rejection_in, settings, settings_in, settings_out,
};
use counterfoil_gate_core as rules;
use rules::answer::{Reason, Rejection};
use rules::confirmation::{Confirmation, NEVER, Phase};
use rules::contract::{self, Swept, Verdict};
use rules::digest::Sha;
use rules::prose::say;
use rules::settings::Settings;
use rules::token::{Random, Token};
use store::{Lost, Row, Swap};

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
fn draw() -> Result<Random, gate::GateError> {
    let bytes = random::get_random_bytes(rules::token::RANDOM as u64);
    bytes
        .try_into()
        .map_err(|_| misuse(say("randomness is short: the host has to give as many bytes as are asked for")))
}

fn misuse(text: String) -> gate::GateError {
    gate::GateError::Misuse(text)
}

fn rejected(value: Rejection) -> gate::GateError {
    gate::GateError::Rejected(rejection(value))
}

impl From<Lost> for gate::GateError {
    fn from(lost: Lost) -> Self {
        rejected(lost.rejection())
    }
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
        let settings = settings();
        let (call, plan) = (call(&wanted), plan(shown));
        contract::check_issue(&settings, &call, &plan).map_err(misuse)?;
        let found = store::find(&call.binding(), contract::FIND)?;
        let (token, approval, now) = (draw()?, draw()?, now());
        let (confirmation, challenge) =
            contract::issue(&settings, now, &call, plan, &found, [token, approval]).map_err(rejected)?;
        store::insert(&settings, now, &challenge.token.key(), &confirmation)?;
        Ok(convert::challenge(challenge))
    }

    fn check(token: String, wanted: gate::Call) -> Result<gate::Readiness, gate::GateError> {
        let (call, Some(token)) = (call(&wanted), Token::parse(&token)) else {
            return Ok(gate::Readiness::Reject(rejection(Rejection::new(Reason::MalformedToken))));
        };
        let (settings, key) = (settings(), token.key());
        let row = store::load(&key)?;
        let now = now();
        match contract::verdict(&settings, now, &call, row.as_ref().map(|row| &row.confirmation)) {
            Verdict::Replay(stored) => Ok(gate::Readiness::Replay(convert::replayed(stored))),
            Verdict::Reject(reason) => Ok(gate::Readiness::Reject(rejection(reason))),
            Verdict::Runnable => Ok(match contract::unresolved(now, &key, &store::find(&call.binding(), 2)?) {
                Some(reason) => gate::Readiness::Reject(rejection(reason)),
                None => gate::Readiness::Ready,
            }),
        }
    }

    fn consume(token: String, wanted: gate::Call, run: u64) -> Result<gate::Decision, gate::GateError> {
        let (call, Some(token)) = (call(&wanted), Token::parse(&token)) else {
            return Ok(gate::Decision::Reject(rejection(Rejection::new(Reason::MalformedToken))));
        };
        if run == 0 {
            return Err(misuse(say("the run has no time: pass how long it may take")));
        }
        let (settings, key) = (settings(), token.key());
        for _ in 0..ROUNDS {
            let row = store::load(&key)?;
            let now = now();
            let row = match contract::verdict(&settings, now, &call, row.as_ref().map(|row| &row.confirmation)) {
                Verdict::Replay(stored) => return Ok(gate::Decision::Replay(convert::replayed(stored))),
                Verdict::Reject(reason) => return Ok(gate::Decision::Reject(rejection(reason))),
                Verdict::Runnable => row.ok_or_else(|| misuse(say("a row vanished while it was decided")))?,
            };
            let (started, permit) = contract::start(now, row.confirmation, draw()?, run);
            match store::replace(&settings, &key, row.version, &started) {
                Ok(Swap::Done) => return Ok(gate::Decision::Execute(convert::permit(permit, wanted.arguments))),
                Ok(Swap::Stale) => {}
                Ok(Swap::Held) => {
                    let found = store::find(&call.binding(), 2)?;
                    if let Some(reason) = contract::unresolved(now, &key, &found) {
                        return Ok(gate::Decision::Reject(rejection(reason)));
                    }
                }
                // The acknowledgement is lost: whether the token is spent, and by whom, is what the entry says.
                Err(_) => {
                    let Ok(row) = store::load(&key) else {
                        return Ok(gate::Decision::Reject(rejection(Rejection::unsure())));
                    };
                    let stored = row.as_ref().map(|row| &row.confirmation);
                    if stored.is_some_and(|stored| contract::is_started(stored, &permit)) {
                        return Ok(gate::Decision::Execute(convert::permit(permit, wanted.arguments)));
                    }
                    return Ok(match contract::verdict(&settings, now, &call, stored) {
                        Verdict::Replay(stored) => gate::Decision::Replay(convert::replayed(stored)),
                        Verdict::Reject(reason) => gate::Decision::Reject(rejection(reason)),
                        // Not yet, as far as can be seen: a store that answers late may still swap.
                        Verdict::Runnable => gate::Decision::Reject(rejection(Rejection::unsure())),
                    });
                }
            }
        }
        Ok(gate::Decision::Reject(rejection(Rejection::new(Reason::Unavailable))))
    }

    fn record(token: String, operation_id: String, outcome: gate::Outcome) -> Result<gate::Recording, gate::GateError> {
        let token = Token::parse(&token).ok_or_else(|| misuse(say("no such run: this is no token")))?;
        let (settings, key, outcome) = (settings(), token.key(), convert::outcome_in(outcome));
        let mut told = None;
        change(&key, &mut |stored| {
            let (changed, recording) = contract::record(&settings, now(), stored, &operation_id, &outcome)?;
            told = Some(recording);
            Ok(changed)
        })?;
        let recording = told.ok_or_else(|| misuse(say("nothing was recorded")))?;
        Ok(gate::Recording {
            whole: recording.whole,
            settled_before: recording.settled_before.map(convert::settlement),
        })
    }

    fn sweep(limit: u32) -> Result<u32, gate::GateError> {
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
}

/// A decision on what is stored: what to store instead, if anything.
type Decide<'a> = &'a mut dyn FnMut(Option<Confirmation>) -> Result<Option<Confirmation>, String>;

/// Loads a row, decides, swaps; again while others get in between. Returns what is stored in the end.
fn change(key: &Sha, decide: Decide<'_>) -> Result<Option<Confirmation>, gate::GateError> {
    let settings = settings();
    for _ in 0..ROUNDS {
        let row = store::load(key)?;
        let version = row.as_ref().map_or(0, |row| row.version);
        let Some(changed) = decide(row.map(|row| row.confirmation)).map_err(misuse)? else { return Ok(None) };
        match store::replace(&settings, key, version, &changed)? {
            Swap::Done => return Ok(Some(changed)),
            Swap::Stale | Swap::Held => {}
        }
    }
    Err(rejected(Rejection::new(Reason::Unavailable)))
}

/// One person's decision on the row of an approval id.
fn decide(
    approval_id: &str,
    decide: &dyn Fn(u64, Confirmation) -> Result<Confirmation, String>,
) -> Result<(), gate::GateError> {
    const NONE: &str = "no such approval id: list what is pending";
    let row = store::load_by_approval_id(approval_id)?.ok_or_else(|| misuse(say(NONE)))?;
    change(&row.key, &mut |stored| decide(now(), stored.ok_or_else(|| say(NONE))?).map(Some)).map(drop)
}

impl approvals::Guest for Component {
    fn show(approval_id: String) -> Result<Option<approvals::Item>, gate::GateError> {
        Ok(store::load_by_approval_id(&approval_id)?.map(|Row { confirmation, .. }| item(confirmation, now())))
    }

    fn list(
        which: approvals::Selection,
        after: Option<approvals::Cursor>,
        limit: u32,
    ) -> Result<Vec<approvals::Item>, gate::GateError> {
        let mut after = after.map(|cursor| (cursor.issued_at, cursor.approval_id));
        let (phase, now) = match which {
            approvals::Selection::Pending => (Phase::Pending, now()),
            approvals::Selection::Unrecorded => (Phase::InFlight, now()),
        };
        let mut items = Vec::new();
        while items.len() < limit as usize {
            let (rows, last) = store::list(phase, after)?;
            let rows = rows.into_iter().filter(|c| phase == Phase::InFlight || !c.is_expired(now));
            items.extend(rows.map(|c| item(c, now)));
            let Some(last) = last else { break };
            after = Some(last);
        }
        items.truncate(limit as usize);
        Ok(items)
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

impl responses::Guest for Component {
    fn confirmation_required(
        tool: String,
        shown: gate::Plan,
        challenge: gate::Challenge,
        at: gate::Level,
        confirm_parameter: String,
    ) -> String {
        let challenge = convert::challenge_in(challenge);
        let limits = settings().output();
        rules::responses::confirmation_required(&tool, &plan(shown), &challenge, level(at), &confirm_parameter, &limits)
    }

    fn ok(tool: String, message: String, details: String, proof: Option<gate::Assurance>) -> Result<String, String> {
        rules::responses::ok(&tool, &message, &details, proof.map(assurance), &settings().output())
    }

    fn rejected(tool: String, reason: gate::Rejection) -> String {
        rules::responses::rejected(&tool, &rejection_in(reason))
    }

    fn failed(
        tool: String,
        failure: gate::Failure,
        error: String,
        effect: gate::Effect,
        proof: Option<gate::Assurance>,
    ) -> String {
        rules::responses::failed(
            &tool,
            convert::failure(failure),
            &error,
            convert::effect(effect),
            proof.map(assurance),
        )
    }

    fn refuse(reason: gate::Reason, what: String) -> gate::Rejection {
        rejection(Rejection::because(convert::reason_in(reason), &what))
    }

    fn compact(text: String) -> Result<String, String> {
        rules::canonical::compact(&text, &settings().output()).map(|compact| compact.text)
    }

    fn output_schema(details: Option<String>) -> Result<String, String> {
        rules::responses::output_schema(details.as_deref(), &settings().output())
    }
}

impl levels::Guest for Component {
    fn model_version() -> String {
        say(rules::level::MODEL_VERSION)
    }

    fn ceiling(declared: gate::Level, operator: Option<gate::Level>) -> Result<gate::Level, String> {
        rules::level::ceiling(level(declared), operator.map(level)).map(level_out)
    }

    fn resolve(
        declared: gate::Level,
        critical: bool,
        operator: Option<gate::Level>,
        planned: Option<gate::Level>,
    ) -> Result<gate::Level, String> {
        rules::level::resolve(level(declared), critical, operator.map(level), planned.map(level)).map(level_out)
    }

    fn parse(text: String) -> Result<gate::Level, String> {
        rules::level::Level::parse(&text).map(level_out)
    }

    fn name(at: gate::Level) -> String {
        say(level(at).name())
    }
}
