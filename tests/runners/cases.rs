//! Runs one case: its steps, its faults, what is expected by hand, and what every answer has to keep to whatever the case.

use super::answers::condense;
use super::value::Scope;
use super::world::{Fault, Kind, On, World};
use super::{Answers, Side};
use counterfoil_gate_core::digest::hex;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// `contract.json`: what the cases share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The time at which every case starts.
    pub start: u64,
    /// Calls by name.
    pub calls: BTreeMap<String, Value>,
    /// Plans by name.
    pub plans: BTreeMap<String, Value>,
    /// Outcomes by name.
    pub outcomes: BTreeMap<String, Value>,
    /// The files of cases, and how many are in each.
    pub files: BTreeMap<String, usize>,
}

/// A short history.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// A sentence, and the seed of its randomness.
    pub name: String,
    /// A text that the store must not have.
    pub secret: Option<String>,
    /// What differs from the default settings.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// What happens.
    pub steps: Vec<Map<String, Value>>,
}

/// Reads a JSON file of the vectors.
pub fn read<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let path = super::vectors().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How a case is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweeping {
    /// As it stands.
    AsWritten,
    /// With everything that is due swept before every step.
    Eager,
}

struct Run {
    header: Arc<Header>,
    side: Side,
    sweeping: Sweeping,
    world: World,
    secret: Option<String>,
    settings: Mutex<Map<String, Value>>,
    scope: Mutex<Scope>,
    nested: Mutex<BTreeMap<usize, Vec<Value>>>,
}

/// Runs a case and returns its complete answers: one for each step, `null` for a fault, a list for what happened meanwhile.
pub fn run(header: &Arc<Header>, case: &Case, side: Side, sweeping: Sweeping) -> Vec<Value> {
    let world = World::new(header.start, &case.name);
    let named = BTreeMap::from([("outcomes".to_string(), json!(header.outcomes))]);
    let scope = Mutex::new(Scope { start: header.start, named });
    let (settings, nested) = (Mutex::new(Map::new()), Mutex::default());
    let secret = case.secret.clone();
    let run = Arc::new(Run { header: header.clone(), side, sweeping, world, secret, settings, scope, nested });
    let mut gate = run.gate();
    if !case.settings.is_empty() {
        let answer = run.configure(&mut *gate, &case.settings);
        assert_eq!(answer, json!({ "ok": null }), "{}: settings", case.name);
    }
    let mut answers = run.steps(&mut *gate, &case.steps, &case.name);
    for (at, nested) in std::mem::take(&mut *run.nested.lock().unwrap()) {
        answers[at] = Value::Array(nested);
    }
    assert!(!run.world.is_armed(), "{}: a fault never happened", case.name);
    answers
}

impl Run {
    fn gate(&self) -> Box<dyn Answers + Send> {
        let mut gate = self.side.gate(&self.world);
        let settings = self.settings.lock().unwrap().clone();
        if !settings.is_empty() {
            gate.call("configure", &Map::from_iter([("settings".to_string(), Value::Object(settings))]));
        }
        gate
    }

    fn configure(&self, gate: &mut dyn Answers, changes: &Map<String, Value>) -> Value {
        let mut settings = gate.call("default_settings", &Map::new());
        for (name, value) in changes {
            assert!(settings.get(name).is_some(), "there is no setting {name}");
            settings[name] = value.clone();
        }
        let answer = gate.call("configure", &Map::from_iter([("settings".to_string(), settings.clone())]));
        if let (Value::Object(settings), Some(_)) = (settings, answer.get("ok")) {
            *self.settings.lock().unwrap() = settings;
        }
        answer
    }

    fn steps(self: &Arc<Self>, gate: &mut dyn Answers, steps: &[Map<String, Value>], name: &str) -> Vec<Value> {
        let mut answers = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let place = format!("{name}, step {}", at + 1);
            answers.push(match step.contains_key("store") {
                true => self.fault(step, at, &place),
                false => condense(&self.step(gate, step, &place)),
            });
        }
        answers
    }

    fn fault(self: &Arc<Self>, step: &Map<String, Value>, at: usize, place: &str) -> Value {
        let number = |key, default| step.get(key).and_then(Value::as_u64).unwrap_or(default) as u32;
        let kind = match step["store"].as_str().unwrap_or_default() {
            "heal" => {
                self.world.heal();
                return Value::Null;
            }
            "fail" => Kind::Fail,
            "lose-ack" => Kind::LoseAck,
            "meanwhile" => {
                let steps: Vec<Map<String, Value>> = serde_json::from_value(step["steps"].clone()).unwrap();
                let (run, place) = (self.clone(), format!("{place}, meanwhile"));
                Kind::Meanwhile(Box::new(move || {
                    let answers = run.steps(&mut *run.gate(), &steps, &place);
                    run.nested.lock().unwrap().insert(at, answers);
                }))
            }
            other => panic!("{place}: there is no fault {other}"),
        };
        let on = step.get("on").and_then(Value::as_str).and_then(On::parse);
        let on = on.unwrap_or_else(|| panic!("{place}: which function of the store?"));
        self.world.arm(Fault { kind, on, after: number("after", 0), times: number("times", 1) });
        Value::Null
    }

    fn step(&self, gate: &mut dyn Answers, step: &Map<String, Value>, place: &str) -> Value {
        if let Some(at) = step.get("at") {
            self.world.set(self.scope.lock().unwrap().at(at.as_i64().unwrap()));
        }
        let calm = !self.world.is_armed();
        let function = step["do"].as_str().unwrap();
        if calm && self.sweeping == Sweeping::Eager {
            for _ in 0..2 {
                gate.call("sweep", &Map::from_iter([("limit".to_string(), json!(1000))]));
            }
        }
        let before = self.world.rows();
        let arguments = self.arguments(step);
        let foreseen = (calm && function == "consume").then(|| gate.call("check", &arguments));
        let answer = match function {
            "rows" => self.rows(),
            "configure" => self.configure(gate, step["settings"].as_object().unwrap()),
            "decode" => self.decode(gate, arguments),
            _ => gate.call(function, &arguments),
        };
        if let Some(foreseen) = foreseen {
            let same = match answer["ok"].get("execute") {
                Some(_) => foreseen == json!({ "ok": "ready" }),
                None => foreseen == answer,
            };
            assert!(same, "{place}: check said {foreseen} and consume {answer}");
        }
        if calm && answer["ok"].get("execute").is_none() && ["check", "consume"].contains(&function) {
            assert_eq!(before, self.world.rows(), "{place}: nothing was spent and a row changed");
        }
        if calm && answer.get("err").is_some() {
            assert_eq!(before, self.world.rows(), "{place}: it failed and a row changed");
        }
        self.expect(step, &answer).unwrap_or_else(|error| panic!("{place}: {function}: {error}"));
        self.keeps_no_token(place);
        if let Some(secret) = self.secret.as_deref() {
            self.keeps_no_secret(secret, place);
            let told = ["show", "list", "decode"].contains(&function) && answer.to_string().contains(secret);
            assert!(!told, "{place}: {function} tells the secret");
        }
        if let Some(name) = step.get("as") {
            let value = answer.get("ok").unwrap_or(&answer).clone();
            self.scope.lock().unwrap().named.insert(name.as_str().unwrap().to_string(), value);
        }
        answer
    }

    /// The parameters of a step: shared records by name or by what they are like, and what most steps leave out.
    fn arguments(&self, step: &Map<String, Value>) -> Map<String, Value> {
        let scope = self.scope.lock().unwrap();
        let mut arguments: Map<String, Value> = ["run", "confirm_parameter", "limit"]
            .map(str::to_string)
            .into_iter()
            .zip([json!(30_000), json!("confirm_token"), json!(100)])
            .collect();
        for (key, value) in step {
            let shared = match key.as_str() {
                "at" | "do" | "as" | "expect" | "refused" | "misused" => continue,
                "call" => &self.header.calls,
                "plan" => &self.header.plans,
                "outcome" => &self.header.outcomes,
                _ => {
                    arguments.insert(key.clone(), scope.value(value));
                    continue;
                }
            };
            let named = |name: &Value| {
                let name = name.as_str().unwrap_or_default();
                shared.get(name).unwrap_or_else(|| panic!("{key}: there is no {name}")).clone()
            };
            let value = match value {
                Value::String(_) => named(value),
                Value::Object(own) => {
                    let mut record = own.get("like").map_or_else(|| json!({}), named);
                    for (key, value) in own.iter().filter(|(key, _)| *key != "like") {
                        record[key] = scope.value(value);
                    }
                    record
                }
                other => panic!("{key}: {other}"),
            };
            arguments.insert(key.clone(), value);
        }
        arguments
    }

    fn decode(&self, gate: &mut dyn Answers, mut arguments: Map<String, Value>) -> Value {
        if let Some(id) = arguments.get("approval_id") {
            let rows = self.world.rows();
            let row = rows.iter().find(|(_, row)| json!(row.index.approval_id) == *id).unwrap();
            arguments.insert("body".to_string(), json!(hex(&row.1.body)));
        }
        gate.call("decode", &arguments)
    }

    fn rows(&self) -> Value {
        let row = |(key, row): ([u8; 32], super::world::Row)| {
            let index = row.index;
            json!({
                "key": hex(&key), "version": row.version, "state": super::native_json::phase(index.phase),
                "owner": index.owner, "approval_id": index.approval_id, "binding": hex(&index.binding),
                "issued": index.issued, "changed": index.changed, "until": index.until, "purge_after": index.purge_after,
            })
        };
        self.world.rows().into_iter().map(row).collect()
    }

    fn expect(&self, step: &Map<String, Value>, answer: &Value) -> Result<(), String> {
        let scope = self.scope.lock().unwrap();
        if let Some(expected) = step.get("expect") {
            scope.compare(expected, answer)?;
        }
        if step.contains_key("misused") {
            scope.compare(&json!({ "err": { "misuse": { "$any": "string" } } }), answer)?;
        }
        if let Some(Value::Object(refused)) = step.get("refused") {
            let mut expected = json!({ "detail": null, "retry_after": null, "error": { "$any": "string" } });
            refused.iter().for_each(|(key, value)| expected[key] = value.clone());
            // A store that does not answer gives no decision; in all else these two decide.
            let decides = ["check", "consume"].contains(&step["do"].as_str().unwrap_or_default());
            let expected = match decides && (refused["reason"] != "unavailable" || answer.get("ok").is_some()) {
                true => json!({ "ok": { "reject": expected } }),
                false => json!({ "err": { "rejected": expected } }),
            };
            scope.compare(&expected, answer)?;
        }
        Ok(())
    }

    /// A token is stored as its digest only.
    fn keeps_no_token(&self, place: &str) {
        for (_, row) in self.world.rows() {
            let found = row.body.windows(4).any(|part| part == b"cfm_");
            assert!(!found, "{place}: a token is in the stored row");
        }
    }

    /// What is masked is stored in no other form.
    fn keeps_no_secret(&self, secret: &str, place: &str) {
        for (_, row) in self.world.rows() {
            let found = row.body.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{place}: the secret is in the stored row");
        }
    }
}

/// Whether the clock of a case never goes back: then sweeping early may not change an answer.
pub fn goes_forward(case: &Case) -> bool {
    let times = case.steps.iter().filter_map(|step| step.get("at").and_then(Value::as_i64));
    let mut last = 0;
    times.into_iter().all(|at| std::mem::replace(&mut last, at) <= at)
}
