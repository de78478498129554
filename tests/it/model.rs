//! Random histories of the contract against a simple model: several owners, tools and arguments, a clock that jumps, races
//! on the swap, lost acknowledgements, runs that are never recorded, secrets that are marked or not. `PROPTEST_CASES` says how many; `just soak` runs many.

mod ops;
mod rules;
mod told;

use counterfoil_gate_core::{approvals, body};
use counterfoil_tests::runners::world::{Fault, Kind, On, Row, World};
use counterfoil_tests::runners::{Answers, Side};
use ops::{Op, Trouble, changed, op, outcome};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rules::{Call, Confirmation, Fate, MAX_OUTCOME, Model, SECRET, Verdict, owner};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use told::tells;

const START: u64 = 1_779_114_600_000;

/// One history: the gate's world, the model, and what really ran.
struct Machine {
    side: Side,
    world: World,
    model: Mutex<Model>,
    /// Executions by token, with their calls.
    ran: Mutex<BTreeMap<String, Call>>,
}

fn arguments(pairs: Value) -> Map<String, Value> {
    let Value::Object(map) = pairs else { panic!("no parameters: {pairs}") };
    map
}

impl Machine {
    fn gate(&self) -> Box<dyn Answers + Send> {
        let mut gate = self.side.gate(&self.world);
        let mut settings = gate.call("default_settings", &Map::new());
        for (name, value) in [
            ("ttl", rules::TTL),
            ("approval_window", rules::WINDOW),
            ("replay_window", rules::REPLAY),
            ("tombstone", rules::TOMBSTONE),
            ("cool_down", rules::COOL_DOWN),
            ("recent_window", rules::RECENT),
            ("pending_per_owner", rules::PER_OWNER as u64),
            ("pending_in_all", rules::IN_ALL as u64),
            ("max_outcome", MAX_OUTCOME as u64),
        ] {
            settings[name] = json!(value);
        }
        assert_eq!(gate.call("configure", &arguments(json!({ "settings": settings }))), json!({ "ok": null }));
        gate
    }

    fn set(&self, now: u64) {
        self.world.set(now);
        self.model.lock().unwrap().now = now;
    }

    /// A confirmation whose token somebody has.
    fn pick(&self, of: usize) -> Option<(usize, Confirmation)> {
        let model = self.model.lock().unwrap();
        let known: Vec<usize> = (0..model.all.len()).filter(|at| !model.all[*at].token.is_empty()).collect();
        let at = *known.get(of % known.len().max(1))?;
        Some((at, model.all[at].clone()))
    }

    fn apply(self: &Arc<Self>, gate: &mut dyn Answers, op: &Op) {
        match op {
            Op::Wait(by) => self.set(self.world.now().saturating_add_signed(*by).max(START - 500_000)),
            Op::ClockTo { of, limit, beside } => {
                if let Some((_, c)) = self.pick(*of) {
                    let limits: Vec<_> = c.limits().into_iter().filter(|at| *at > 0 && *at < START * 2).collect();
                    self.set(limits[limit % limits.len()].saturating_add_signed(*beside));
                }
            }
            Op::Issue { call, approvers, masked, lost } => self.issue(gate, *call, *approvers, *masked, *lost),
            Op::Check { of, change } => self.check(gate, *of, *change),
            Op::Consume { of, change, run, trouble } => self.consume(gate, *of, *change, *run, *trouble),
            Op::Race { of, run, meanwhile } => {
                let (machine, meanwhile) = (self.clone(), meanwhile.clone());
                let kind = Kind::Meanwhile(Box::new(move || machine.apply(&mut *machine.gate(), &meanwhile)));
                self.arm(kind, On::Replace, 0, 1);
                self.consume(gate, *of, 0, *run, Trouble::None);
            }
            Op::Record { of, run_of, outcome, trouble } => self.record(gate, *of, *run_of, *outcome, *trouble),
            Op::Approve { of, by, weak, unseen } => self.approve(gate, *of, *by, *weak, *unseen),
            Op::Decline { of } => self.decline(gate, *of),
            Op::Resolve { of, happened } => self.resolve(gate, *of, *happened),
            Op::Sweep => self.sweep(gate),
        }
        self.look(gate);
    }

    fn arm(&self, kind: Kind, on: On, after: u32, times: u32) {
        self.world.arm(Fault { kind, on, after, times });
    }

    fn issue(&self, gate: &mut dyn Answers, call: Call, approvers: u8, masked: bool, lost: bool) {
        if lost {
            self.arm(Kind::LoseAck, On::Insert, 0, 1);
        }
        let expected = self.model.lock().unwrap().issue(call);
        let plan = json!({
            "summary": "Will do it.", "preview": "{}", "warnings": [], "precondition": null,
            "masked_arguments": masked.then(|| call.masked()),
            "needs": if approvers == 0 { "token_only" } else { "client_prompt" }, "approvers": approvers,
        });
        let answer = gate.call("issue", &arguments(json!({ "call": call.json(), "plan": plan })));
        let mut model = self.model.lock().unwrap();
        let mut new = Confirmation {
            token: String::new(),
            approval_id: String::new(),
            call,
            masked,
            issued: model.now,
            approvers: approvers.into(),
            approvals: Vec::new(),
            fate: Fate::Pending,
        };
        match expected {
            Ok(_) if lost => {
                assert_eq!(answer["err"]["rejected"]["reason"], "unavailable", "{answer}");
                model.all.push(new);
            }
            Ok(recent) => {
                assert_eq!(answer["ok"]["recent"], recent, "{answer}");
                assert_eq!(answer["ok"]["expires_at"], json!(new.expires()), "{answer}");
                new.token = answer["ok"]["token"].as_str().unwrap().to_string();
                new.approval_id = answer["ok"]["approval_id"].as_str().unwrap().to_string();
                model.all.push(new);
            }
            // With the acknowledgement, the reason is lost.
            Err(("too_many_pending", _)) if lost => {
                assert_eq!(answer["err"]["rejected"]["reason"], "unavailable", "{answer}");
            }
            Err((reason, wait)) => {
                let told = &answer["err"]["rejected"];
                assert_eq!((&told["reason"], &told["retry_after"]), (&json!(reason), &json!(wait)), "{answer}");
            }
        }
        self.world.heal();
    }

    fn check(&self, gate: &mut dyn Answers, of: usize, change: u8) {
        let Some((at, c)) = self.pick(of) else { return };
        let call = changed(c.call, change);
        let before = self.world.rows();
        let answer = gate.call("check", &arguments(json!({ "token": c.token, "call": call.json() })));
        assert_eq!(before, self.world.rows(), "to check changes nothing");
        match self.model.lock().unwrap().verdict(at, call) {
            Verdict::Runnable => assert_eq!(answer, json!({ "ok": "ready" })),
            other => tells(&answer["ok"], &other),
        }
    }

    fn consume(&self, gate: &mut dyn Answers, of: usize, change: u8, run: u64, trouble: Trouble) {
        let Some((at, c)) = self.pick(of) else { return self.world.heal() };
        let call = changed(c.call, change);
        let raced = self.world.is_armed();
        match trouble {
            Trouble::None => {}
            Trouble::Fail => self.arm(Kind::Fail, On::Replace, 0, 1),
            Trouble::LoseAck => self.arm(Kind::LoseAck, On::Replace, 0, 1),
            Trouble::LoseAll => {
                self.arm(Kind::LoseAck, On::Replace, 0, 1);
                self.arm(Kind::Fail, On::Load, 1, 1);
            }
        }
        let before = self.world.rows();
        let given = json!({ "token": c.token, "call": call.json(), "run": run });
        let answer = gate.call("consume", &arguments(given));
        self.world.heal();
        let mut model = self.model.lock().unwrap();
        let now = model.now;
        let verdict = model.verdict(at, call);
        let started = |operation| Fate::InFlight { operation, started: now, deadline: now + run };
        match (&verdict, trouble) {
            (Verdict::Runnable, Trouble::None | Trouble::LoseAck) => {
                let permit = &answer["ok"]["execute"];
                assert_eq!(permit["deadline"], json!(now + run), "{answer}");
                assert_eq!(permit["arguments"], call.json()["arguments"], "{answer}");
                self.may_execute(&model, at, call);
                model.all[at].fate = started(permit["operation_id"].as_str().map(str::to_string));
                return;
            }
            (Verdict::Runnable | Verdict::Unresolved(_), Trouble::Fail | Trouble::LoseAll)
            | (Verdict::Unresolved(_), Trouble::LoseAck) => {
                let told = if answer["err"].is_null() { &answer["ok"]["reject"] } else { &answer["err"]["rejected"] };
                assert_eq!(told["reason"], "unavailable", "{answer}");
                if let (Verdict::Runnable, Trouble::LoseAll) = (&verdict, trouble) {
                    model.all[at].fate = started(None);
                    return;
                }
            }
            _ => tells(&answer["ok"], &verdict),
        }
        if !raced {
            assert_eq!(before, self.world.rows(), "no rejection spends a token: {answer}");
        }
    }

    /// What holds of every execution, whatever the model thinks.
    fn may_execute(&self, model: &Model, at: usize, call: Call) {
        let c = &model.all[at];
        assert_eq!(call, c.call, "what was previewed runs");
        assert!(c.issued <= model.now && model.now < c.expires(), "in time");
        assert!(c.approvers == 0 || c.agreed().is_some(), "with the agreement that it needs");
        let open = |c: &&Confirmation| matches!(c.fate, Fate::InFlight { .. });
        assert!(!model.all.iter().filter(open).any(|other| other.call.is_identical(call)), "one at a time");
        let twice = self.ran.lock().unwrap().insert(c.token.clone(), call);
        assert_eq!(twice, None, "a token runs once, ever");
    }

    fn record(&self, gate: &mut dyn Answers, of: usize, run_of: usize, number: u8, trouble: Trouble) {
        let (Some((at, c)), Some((_, other))) = (self.pick(of), self.pick(run_of)) else { return };
        let operation = match &other.fate {
            Fate::InFlight { operation: Some(operation), .. }
            | Fate::Completed { operation, .. }
            | Fate::Settled { operation: Some(operation), .. } => operation.clone(),
            _ => "op_aaaaaaaaaaaaaaaaaaaaaaaa".to_string(),
        };
        let (status, payload) = outcome(number);
        match trouble {
            Trouble::None => {}
            Trouble::Fail => self.arm(Kind::Fail, On::Replace, 0, 1),
            Trouble::LoseAck | Trouble::LoseAll => self.arm(Kind::LoseAck, On::Replace, 0, 1),
        }
        let outcome = json!({ "status": status, "payload": payload });
        let given = json!({ "token": c.token, "operation_id": operation, "outcome": outcome });
        let answer = gate.call("record", &arguments(given));
        let troubled = !matches!(trouble, Trouble::None) && !self.world.is_armed();
        self.world.heal();
        let mut model = self.model.lock().unwrap();
        match model.record(at, &operation, status, &payload) {
            None => assert!(answer["err"]["misuse"].is_string(), "{answer}"),
            Some((_, fate)) if troubled => {
                assert_eq!(answer["err"]["rejected"]["reason"], "unavailable", "{answer}");
                if !matches!(trouble, Trouble::Fail) {
                    model.all[at].fate = fate;
                }
            }
            Some((before, fate)) => {
                let whole = number != 3;
                assert_eq!(answer, json!({ "ok": { "whole": whole, "settled_before": before } }));
                model.all[at].fate = fate;
            }
        }
    }

    fn approve(&self, gate: &mut dyn Answers, of: usize, by: u8, weak: bool, unseen: bool) {
        let Some((at, c)) = self.pick(of) else { return };
        // Some of them are owners of calls themselves.
        let by = owner(by);
        let item = gate.call("show", &arguments(json!({ "approval_id": c.approval_id })));
        let shown = if unseen { json!("0".repeat(64)) } else { item["ok"].get("shown").cloned().unwrap_or(json!("")) };
        let proof = if weak { "token_only" } else { "out_of_band" };
        let given = json!({ "approval_id": c.approval_id, "by": by, "shown": shown, "proof": proof });
        let answer = gate.call("approve", &arguments(given));
        let mut model = self.model.lock().unwrap();
        let may = model.may_approve(at, &by) && !weak && !unseen;
        assert_eq!(answer["err"]["misuse"].is_string(), !may, "{answer}");
        if may {
            let now = model.now;
            model.all[at].approvals.push((by, now));
        }
    }

    fn decline(&self, gate: &mut dyn Answers, of: usize) {
        let Some((at, c)) = self.pick(of) else { return };
        let given = json!({ "approval_id": c.approval_id, "by": "key:carol", "why": "no" });
        let answer = gate.call("decline", &arguments(given));
        let mut model = self.model.lock().unwrap();
        let may = model.may_decline(at);
        assert_eq!(answer["err"]["misuse"].is_string(), !may, "{answer}");
        if may {
            model.all[at].fate = Fate::Declined { at: model.now };
        }
    }

    fn resolve(&self, gate: &mut dyn Answers, of: usize, happened: bool) {
        let Some((at, c)) = self.pick(of) else { return };
        let given = json!({ "approval_id": c.approval_id, "by": "os:operator", "happened": happened });
        let answer = gate.call("resolve", &arguments(given));
        let mut model = self.model.lock().unwrap();
        let now = model.now;
        let settled = match &model.all[at].fate {
            Fate::InFlight { operation, deadline, .. } if now >= *deadline => {
                Some(Fate::Settled { operation: operation.clone(), at: now, happened, by: "os:operator".to_string() })
            }
            _ => None,
        };
        assert_eq!(answer["err"]["misuse"].is_string(), settled.is_none(), "{answer}");
        if let Some(fate) = settled {
            model.all[at].fate = fate;
        }
    }

    fn sweep(&self, gate: &mut dyn Answers) {
        let unknown = |(key, row): ([u8; 32], Row)| (row.index.deadline_if_in_flight(), key);
        let before: Vec<_> = self.world.rows().into_iter().map(unknown).filter(|(open, _)| open.is_some()).collect();
        let answer = gate.call("sweep", &arguments(json!({ "limit": 1000 })));
        assert!(answer["ok"].is_u64(), "{answer}");
        let after: Vec<_> = self.world.rows().into_iter().map(unknown).filter(|(open, _)| open.is_some()).collect();
        assert_eq!(before, after, "a run without a record is never swept");
        self.model.lock().unwrap().sweep();
    }

    /// What holds at any time: the rows are those of the model, as many as there may be, and what is marked is in no byte
    /// of them and in nothing that is shown.
    fn look(&self, gate: &mut dyn Answers) {
        let (model, rows) = (self.model.lock().unwrap(), self.world.rows());
        let there: Vec<&Confirmation> = model.all.iter().filter(|c| c.fate != Fate::Gone).collect();
        assert_eq!(rows.len(), there.len(), "rows");
        let tells = |text: &[u8]| text.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        let open = rows.iter().filter(|(_, row)| tells(&row.body)).count();
        assert_eq!(open, there.iter().filter(|c| c.tells_secret()).count(), "rows with a secret");
        for (_, row) in &rows {
            let decoded = body::decode(&row.body).unwrap();
            let known = there.iter().find(|c| c.approval_id == decoded.approval_id);
            if let Some(c) = known {
                assert_eq!(tells(&row.body), c.tells_secret(), "{c:?}");
                assert_eq!(decoded.shown_arguments(), c.shown());
                assert_eq!(tells(approvals::describe(&decoded).as_bytes()), c.tells_secret(), "{c:?}");
            }
        }
        // Whoever looks is shown one after the other: all of them at each step would be most of the work.
        if let Some(c) = there.get(model.now as usize % there.len().max(1)).filter(|c| !c.approval_id.is_empty()) {
            let item = gate.call("show", &arguments(json!({ "approval_id": c.approval_id })));
            assert_eq!(item["ok"]["arguments"], c.shown(), "{item}");
            assert_eq!(tells(item.to_string().as_bytes()), c.tells_secret(), "{item}");
            let which = if matches!(c.fate, Fate::InFlight { .. }) { "unrecorded" } else { "pending" };
            let listed = gate.call("list", &arguments(json!({ "which": which, "after": null, "limit": 100 })));
            for item in listed["ok"].as_array().unwrap() {
                let known = there.iter().find(|c| item["approval_id"] == c.approval_id);
                if let Some(c) = known {
                    assert_eq!(item["arguments"], c.shown(), "{item}");
                    assert_eq!(tells(item.to_string().as_bytes()), c.tells_secret(), "{item}");
                }
            }
        }
    }
}

trait DeadlineIfInFlight {
    fn deadline_if_in_flight(&self) -> Option<u64>;
}

impl DeadlineIfInFlight for counterfoil_gate_core::confirmation::Index {
    fn deadline_if_in_flight(&self) -> Option<u64> {
        (self.phase == counterfoil_gate_core::confirmation::Phase::InFlight).then_some(self.until)
    }
}

/// Runs histories, the same ones every time.
fn histories(side: Side, cases: u32) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let run = |ops: Vec<Op>| {
        let world = World::new(START, "model");
        let model = Mutex::new(Model { now: START, all: Vec::new() });
        let machine = Arc::new(Machine { side, world, model, ran: Mutex::default() });
        let mut gate = machine.gate();
        ops.iter().for_each(|op| machine.apply(&mut *gate, op));
        Ok(())
    };
    if let Err(error) = runner.run(&prop::collection::vec(op(), 1..80), run) {
        panic!("{error}");
    }
}

fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_histories_keep_to_the_model_natively() {
    histories(Side::Native, cases(2_000));
}

#[test]
fn random_histories_keep_to_the_model_on_the_component() {
    histories(Side::Component, cases(2_000) / 20);
}
