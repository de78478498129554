//! `gate-core` in this process: the loop load, decide, swap over the rules as functions, as the component has it.

use super::Answers;
use super::native_json::*;
use super::world::{Insertion, Replacement, Room, Row, World};
use counterfoil_gate_core::answer::{Reason, Rejection};
use counterfoil_gate_core::confirmation::{Call, Confirmation, Phase};
use counterfoil_gate_core::contract::{self, Found, Swept, Verdict};
use counterfoil_gate_core::digest::Sha;
use counterfoil_gate_core::settings::Settings;
use counterfoil_gate_core::token::{self, Random, Token};
use counterfoil_gate_core::{approvals, body, canonical, level, responses};
use serde_json::{Map, Value, json};

/// The rules with their settings.
pub struct Native {
    world: World,
    settings: Settings,
}

/// Why there is no decision.
enum Stop {
    Rejected(Rejection),
    Misuse(String),
}

impl From<Stop> for Value {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Rejected(value) => json!({ "err": { "rejected": rejection(&value) } }),
            Stop::Misuse(text) => json!({ "err": { "misuse": text } }),
        }
    }
}

impl From<String> for Stop {
    fn from(text: String) -> Self {
        Self::Misuse(text)
    }
}

/// The store did not answer.
fn away(what: String) -> Stop {
    Stop::Rejected(unavailable(&what))
}

fn unavailable(what: &str) -> Rejection {
    Rejection::because(Reason::Unavailable, &format!("the store did not answer: {what}"))
}

/// A row that was read.
struct Loaded {
    key: Sha,
    version: u64,
    confirmation: Box<Confirmation>,
}

const ROUNDS: usize = 16;
const PAGE: u32 = 32;

impl Native {
    /// Default settings in a world.
    pub fn new(world: World) -> Self {
        Self { world, settings: Settings::default() }
    }

    fn now(&self) -> u64 {
        self.world.now()
    }

    fn draw(&self) -> Random {
        self.world.random(token::RANDOM as u64).try_into().unwrap()
    }

    fn load(&self, key: &Sha) -> Result<Option<Loaded>, Stop> {
        self.world.load(key).map_err(away)?.map(|row| loaded(*key, row)).transpose()
    }

    fn find(&self, binding: &Sha, limit: u32) -> Result<Vec<Found>, Stop> {
        let rows = self.world.find(binding, limit).map_err(away)?;
        Ok(rows.into_iter().map(|(key, row)| Found { key, index: row.index }).collect())
    }

    fn replace(&self, key: &Sha, version: u64, c: &Confirmation) -> Result<Replacement, String> {
        self.world.replace(key, version, c.index(&self.settings), body::encode(c))
    }

    fn issue(&self, call: &Call<'_>, shown: &Value) -> Result<Value, Stop> {
        let plan = plan(shown);
        contract::check_issue(&self.settings, call, &plan)?;
        let binding = call.binding();
        let found = self.find(&binding, contract::FIND)?;
        let (token, approval, now) = (self.draw(), self.draw(), self.now());
        let (c, challenge) = contract::issue(&self.settings, now, call, binding, plan, &found, [token, approval])
            .map_err(Stop::Rejected)?;
        let room = Room { now, per_owner: self.settings.pending_per_owner, in_all: self.settings.pending_in_all };
        let inserted = self.world.insert(challenge.token.key(), c.index(&self.settings), body::encode(&c), room);
        let full = |what| Err(Stop::Rejected(Rejection::because(Reason::TooManyPending, what)));
        match inserted.map_err(away)? {
            Insertion::Inserted => Ok(challenge_out(&challenge)),
            Insertion::OwnerFull => full("you have as many confirmations waiting as one caller may have"),
            Insertion::AllFull => full("the table of confirmations is full"),
            Insertion::Exists => Err(Stop::Misuse("the handles are taken".to_string())),
        }
    }

    fn check(&self, token: &str, call: &Call<'_>) -> Result<Value, Stop> {
        let Some(token) = Token::parse(token) else { return Ok(reject(Rejection::new(Reason::MalformedToken))) };
        let row = self.load(&token.key())?;
        let now = self.now();
        match contract::verdict(&self.settings, now, call, row.as_ref().map(|row| &*row.confirmation)) {
            Verdict::Replay(stored) => Ok(json!({ "replay": replayed(&stored) })),
            Verdict::Reject(reason) => Ok(reject(reason)),
            Verdict::Runnable => {
                let found = self.find(&call.binding(), 2)?;
                Ok(contract::unresolved(now, &token.key(), &found).map_or_else(|| json!("ready"), reject))
            }
        }
    }

    fn consume(&self, token: &str, call: &Call<'_>, run: u64) -> Result<Value, Stop> {
        let Some(token) = Token::parse(token) else { return Ok(reject(Rejection::new(Reason::MalformedToken))) };
        if run == 0 {
            return Err(Stop::Misuse("the run has no time: pass how long it may take".to_string()));
        }
        let key = token.key();
        for _ in 0..ROUNDS {
            let row = self.load(&key)?;
            let now = self.now();
            let row = match contract::verdict(&self.settings, now, call, row.as_ref().map(|row| &*row.confirmation)) {
                Verdict::Replay(stored) => return Ok(json!({ "replay": replayed(&stored) })),
                Verdict::Reject(reason) => return Ok(reject(reason)),
                Verdict::Runnable => row.unwrap(),
            };
            let (started, permit) = contract::start(now, row.confirmation, self.draw(), run)
                .map_err(|what| Stop::Rejected(Rejection::because(Reason::Unavailable, what)))?;
            match self.replace(&key, row.version, &started) {
                Ok(Replacement::Replaced) => return Ok(json!({ "execute": permit_out(&permit, call.arguments) })),
                Ok(Replacement::Stale) => {}
                Ok(Replacement::Held) => {
                    let found = self.find(&call.binding(), 2)?;
                    if let Some(reason) = contract::unresolved(now, &key, &found) {
                        return Ok(reject(reason));
                    }
                }
                Err(_) => {
                    let Ok(row) = self.load(&key) else { return Ok(reject(Rejection::unsure())) };
                    let stored = row.as_ref().map(|row| &*row.confirmation);
                    if stored.is_some_and(|stored| contract::is_started(stored, &permit)) {
                        return Ok(json!({ "execute": permit_out(&permit, call.arguments) }));
                    }
                    return match contract::verdict(&self.settings, now, call, stored) {
                        Verdict::Replay(stored) => Ok(json!({ "replay": replayed(&stored) })),
                        Verdict::Reject(reason) => Ok(reject(reason)),
                        Verdict::Runnable => Ok(reject(Rejection::unsure())),
                    };
                }
            }
        }
        Ok(reject(Rejection::new(Reason::Unavailable)))
    }

    fn record(&self, token: &str, operation_id: &str, outcome: &Value) -> Result<Value, Stop> {
        let Some(token) = Token::parse(token) else {
            return Err(Stop::Misuse("no such run: this is no token".to_string()));
        };
        let outcome = outcome_in(outcome);
        let mut told = None;
        self.change(&token.key(), &mut |stored| {
            let (changed, recording) = contract::record(&self.settings, self.now(), stored, operation_id, &outcome)?;
            told = Some(recording);
            Ok(changed)
        })?;
        let recording = told.unwrap();
        let settled_before = recording.settled_before.as_ref().map(settlement);
        Ok(json!({ "whole": recording.whole, "settled_before": settled_before }))
    }

    fn sweep(&self, limit: u32) -> Result<Value, Stop> {
        let mut touched = 0u32;
        for (key, due) in self.world.due(self.now(), limit).map_err(away)? {
            let row = self.load(&key)?.filter(|row| row.version == due.version);
            let Some(row) = row else { continue };
            touched += match contract::sweep(&self.settings, self.now(), row.confirmation) {
                Swept::Keep => 0,
                Swept::Remove => u32::from(self.world.remove(&key, due.version).map_err(away)?),
                Swept::Replace(c) => {
                    u32::from(self.replace(&key, due.version, &c).map_err(away)? == Replacement::Replaced)
                }
            };
        }
        Ok(json!(touched))
    }

    fn change(
        &self,
        key: &Sha,
        decide: &mut dyn FnMut(Option<Box<Confirmation>>) -> Result<Option<Box<Confirmation>>, String>,
    ) -> Result<(), Stop> {
        for _ in 0..ROUNDS {
            let row = self.load(key)?;
            let version = row.as_ref().map_or(0, |row| row.version);
            let Some(changed) = decide(row.map(|row| row.confirmation))? else { return Ok(()) };
            match self.replace(key, version, &changed).map_err(away)? {
                Replacement::Replaced => return Ok(()),
                Replacement::Stale | Replacement::Held => {}
            }
        }
        Err(Stop::Rejected(Rejection::new(Reason::Unavailable)))
    }

    fn find_by_id(&self, approval_id: &str) -> Result<Option<Loaded>, Stop> {
        let row = self.world.load_by_approval_id(approval_id).map_err(away)?;
        row.map(|(key, row)| loaded(key, row)).transpose()
    }

    fn decide(
        &self,
        approval_id: &str,
        decide: impl Fn(u64, Box<Confirmation>) -> Result<Box<Confirmation>, String>,
    ) -> Result<Value, Stop> {
        const NONE: &str = "no such approval id: list what is pending";
        let row = self.find_by_id(approval_id)?.ok_or_else(|| NONE.to_string())?;
        self.change(&row.key, &mut |stored| decide(self.now(), stored.ok_or(NONE)?).map(Some))?;
        Ok(Value::Null)
    }

    fn list(&self, which: &str, after: &Value, limit: u32) -> Result<Value, Stop> {
        let phase = if which == "pending" { Phase::Pending } else { Phase::InFlight };
        let mut after =
            (!after.is_null()).then(|| (number(after, "issued_at"), text(after, "approval_id").to_string()));
        let mut items = Vec::new();
        while items.len() < limit as usize {
            let rows = self.world.list(phase, after, PAGE).map_err(away)?;
            let last = rows.get(PAGE as usize - 1).map(|(_, row)| (row.index.issued, row.index.approval_id.clone()));
            for (key, row) in rows {
                let c = loaded(key, row)?.confirmation;
                if phase == Phase::InFlight || !c.is_expired(self.now()) {
                    items.push(item(&c, self.now()));
                }
            }
            let Some(last) = last else { break };
            after = Some(last);
        }
        items.truncate(limit as usize);
        Ok(Value::Array(items))
    }
}

fn loaded(key: Sha, row: Row) -> Result<Loaded, Stop> {
    let confirmation = body::decode_row(&row.index, &row.body)
        .map_err(|what| Stop::Rejected(Rejection::because(Reason::Unavailable, what)))?;
    Ok(Loaded { key, version: row.version, confirmation })
}

fn reject(value: Rejection) -> Value {
    json!({ "reject": rejection(&value) })
}

fn answer(result: Result<Value, Stop>) -> Value {
    result.map_or_else(Value::from, |value| json!({ "ok": value }))
}

fn plain<E: Into<String>>(result: Result<impl Into<Value>, E>) -> Value {
    match result {
        Ok(value) => json!({ "ok": value.into() }),
        Err(error) => json!({ "err": error.into() }),
    }
}

impl Answers for Native {
    fn call(&mut self, function: &str, arguments: &Map<String, Value>) -> Value {
        let given = Value::Object(arguments.clone());
        let word = |name| text(&given, name);
        let call = || call(&given["call"]);
        let limits = self.settings.output();
        let limit = given.get("limit").and_then(Value::as_u64).unwrap_or_default() as u32;
        match function {
            "default_settings" => settings_out(&Settings::default()),
            "configure" => {
                let settings = settings_in(&given["settings"]);
                plain(settings.check().map(|()| {
                    self.settings = settings;
                    Value::Null
                }))
            }
            "read" => match canonical::read(word("arguments"), word("confirm_parameter"), &self.settings.arguments()) {
                Ok(request) => json!({ "ok": { "token": request.token, "arguments": request.arguments } }),
                Err(error) => json!({ "err": arguments_error(error) }),
            },
            "issue" => answer(self.issue(&call(), &given["plan"])),
            "check" => answer(self.check(word("token"), &call())),
            "consume" => answer(self.consume(word("token"), &call(), number(&given, "run"))),
            "record" => answer(self.record(word("token"), word("operation_id"), &given["outcome"])),
            "sweep" => answer(self.sweep(limit)),
            "identify" => answer(match Token::parse(word("token")) {
                Some(token) => self.load(&token.key()).map(|row| json!(row.map(|row| row.confirmation.approval_id))),
                None => Ok(Value::Null),
            }),
            "show" => answer(
                self.find_by_id(word("approval_id"))
                    .map(|row| row.map_or(Value::Null, |row| item(&row.confirmation, self.now()))),
            ),
            "list" => answer(self.list(word("which"), &given["after"], limit)),
            "approve" => answer(self.decide(word("approval_id"), |now, c| {
                approvals::approve(now, c, word("by"), word("shown"), assurance(&given["proof"]))
            })),
            "decline" => {
                answer(self.decide(word("approval_id"), |now, c| approvals::decline(now, c, word("by"), word("why"))))
            }
            "resolve" => answer(self.decide(word("approval_id"), |now, c| {
                approvals::resolve(now, c, word("by"), given["happened"] == json!(true))
            })),
            "decode" => plain(body::decode(&bytes(word("body"))).map(|c| approvals::describe(&c))),
            "confirmation_required" => {
                let (plan, challenge) = (plan(&given["plan"]), challenge_in(&given["challenge"]));
                let (at, parameter) = (level_in(&given["level"]), word("confirm_parameter"));
                responses::confirmation_required(word("tool"), &plan, &challenge, at, parameter, &limits).into()
            }
            "ok" => plain(responses::ok(
                word("tool"),
                word("message"),
                word("details"),
                option(&given["assurance"], assurance),
                &limits,
            )),
            "rejected" => responses::rejected(word("tool"), &rejection_in(&given["rejection"])).into(),
            "failed" => {
                let (failure, effect) = (failure(&given["failure"]), effect(&given["effect"]));
                let proof = option(&given["assurance"], assurance);
                responses::failed(word("tool"), failure, word("error"), effect, proof).into()
            }
            "refuse" => rejection(&Rejection::because(reason(&given["reason"]), word("what"))),
            "compact" => plain(canonical::compact(word("text"), &limits).map(|compact| compact.text)),
            "output_schema" => plain(responses::output_schema(given["details"].as_str(), &limits)),
            "model_version" => level::MODEL_VERSION.into(),
            "ceiling" => plain(
                level::ceiling(level_in(&given["declared"]), option(&given["operator"], level_in))
                    .map(level::Level::name),
            ),
            "resolve_level" => plain(
                level::resolve(
                    level_in(&given["declared"]),
                    given["critical"] == json!(true),
                    option(&given["operator"], level_in),
                    option(&given["planned"], level_in),
                )
                .map(level::Level::name),
            ),
            "parse" => plain(level::Level::parse(word("text")).map(level::Level::name)),
            "name" => level_in(&given["level"]).name().into(),
            other => panic!("no function {other}"),
        }
    }
}
