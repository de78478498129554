//! A confirmation's life: issue, consume, record and a replay, with 127 bytes of arguments and a store in memory; through
//! the component, in `gate-core` on the same store, and as one writes it by hand in Node. Each starts from raw arguments,
//! as a server gets them.

use crate::figures::Figures;
use crate::{TURNS, native, node};
use counterfoil::gate::{
    Assurance, Call, Decision, Gate, GateOptions, Outcome, OutcomeStatus, Plan, Readiness, Settings, TestClock,
};
use counterfoil::store::{MemoryStore, Store};
use criterion::Criterion;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

pub const TEMPLATE: &str = r#"{"campaigns":["summer sale","back to school","black friday"],"new_payout":6.20,"note":"as agreed on the phone","offer_id":@}"#;
pub const SUMMARY: &str = "Will update payout of offer #12 'Sweepstakes FR Gold' from $4.50 to $6.20 (+37.8%).";
pub const PREVIEW: &str = r#"{"offer_id":12,"offer_name":"Sweepstakes FR Gold","current_payout":"4.50","new_payout":"6.20","delta_pct":37.8,"active_campaigns_using_this_offer":4}"#;
pub const PAYLOAD: &str = r#"{"status":"ok","tool":"update_offer_payout","message":"Offer payout updated successfully","offer":{"id":12,"name":"Sweepstakes FR Gold","payout":"6.20","updated_at":"2026-05-18T14:33:21.812Z"}}"#;
const PARAMETER: &str = "confirm_token";
pub const START: u64 = 1_700_000_000_000;
/// Confirmations that are open at once: of one step all are timed, then of the next.
const BATCH: u64 = 256;
pub const STEPS: [&str; 4] = ["issue", "consume", "record", "replay"];

/// A future that waits for nothing: the store is in memory.
pub fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a store in memory waited"),
    }
}

/// Settings under which a benchmark meets no limit.
pub fn settings() -> Settings {
    Settings { pending_per_owner: 1_000_000, pending_in_all: 100_000_000, ..Settings::default() }
}

/// A gate on a store, and its clock.
pub fn gate(store: Arc<dyn Store>) -> (Gate, Arc<TestClock>) {
    let clock = Arc::new(TestClock::new(START));
    let options = GateOptions { store, clock: clock.clone(), settings: settings(), cache: None };
    (Gate::new(options).unwrap(), clock)
}

pub fn call(owner: &str, arguments: String) -> Call {
    Call { owner: owner.into(), tool: "update_offer_payout".into(), revision: "r1".into(), arguments }
}

pub fn plan() -> Plan {
    Plan {
        summary: SUMMARY.into(),
        preview: PREVIEW.into(),
        warnings: Vec::new(),
        precondition: Some("4.50".into()),
        masked_arguments: None,
        needs: Assurance::TokenOnly,
        approvers: 0,
    }
}

/// The arguments of the n-th call, always as long.
pub fn raw(n: u64) -> String {
    TEMPLATE.replace('@', &format!("{:06}", 100_000 + n % 900_000))
}

fn confirming(raw: &str, token: &str) -> String {
    format!(r#"{},"{PARAMETER}":"{token}"}}"#, &raw[..raw.len() - 1])
}

/// One way to keep the contract, from raw arguments.
pub trait Contract {
    fn issue(&mut self, raw: &str) -> String;
    fn consume(&mut self, raw: &str) -> String;
    fn record(&mut self, token: &str, operation_id: &str);
    fn replay(&mut self, raw: &str);
    /// Time passes, everything is swept.
    fn clean(&mut self);
}

/// Through the component, by the functions that a host calls.
pub struct Component {
    pub gate: Gate,
    pub clock: Arc<TestClock>,
    pub owner: String,
    /// Whether each second call is checked before it is consumed, as a host has to that keeps slots.
    pub checked: bool,
    /// Whether nobody else uses the gate, so that time may pass.
    pub alone: bool,
}

impl Component {
    pub fn new(store: Arc<dyn Store>, checked: bool) -> Self {
        let (gate, clock) = gate(store);
        Self { gate, clock, owner: "name:bench".into(), checked, alone: true }
    }
}

impl Contract for Component {
    fn issue(&mut self, raw: &str) -> String {
        let request = at_once(self.gate.read(raw, PARAMETER)).unwrap();
        at_once(self.gate.issue(&call(&self.owner, request.arguments), &plan())).unwrap().token.to_string()
    }

    fn consume(&mut self, raw: &str) -> String {
        let request = at_once(self.gate.read(raw, PARAMETER)).unwrap();
        let (call, token) = (call(&self.owner, request.arguments), request.token.unwrap());
        if self.checked {
            assert!(matches!(at_once(self.gate.check(&token, &call)).unwrap(), Readiness::Ready));
        }
        let run = Duration::from_secs(30);
        let Decision::Execute(permit) = at_once(self.gate.consume(&token, &call, run)).unwrap() else {
            panic!("it may run")
        };
        permit.operation_id
    }

    fn record(&mut self, token: &str, operation_id: &str) {
        let outcome = Outcome { status: OutcomeStatus::Ok, payload: PAYLOAD.into() };
        at_once(self.gate.record(token, operation_id, &outcome)).unwrap();
    }

    fn replay(&mut self, raw: &str) {
        let request = at_once(self.gate.read(raw, PARAMETER)).unwrap();
        let call = call(&self.owner, request.arguments);
        let Readiness::Replay(replayed) = at_once(self.gate.check(&request.token.unwrap(), &call)).unwrap() else {
            panic!("a replay")
        };
        assert_eq!(replayed.outcome.payload, PAYLOAD);
    }

    fn clean(&mut self) {
        if !self.alone {
            return;
        }
        // First to what a tombstone keeps, then to nothing.
        for _ in 0..2 {
            self.clock.advance(2 * 86_400_000);
            while at_once(self.gate.sweep(1000)).unwrap() > 0 {}
        }
    }
}

/// So many lives; the time of each step in all.
pub fn lives(contract: &mut dyn Contract, times: u64) -> [Duration; 4] {
    let (mut spent, mut done) = ([Duration::ZERO; 4], 0);
    while done < times {
        let size = BATCH.min(times - done);
        let raws: Vec<String> = (done..done + size).map(raw).collect();
        let start = Instant::now();
        let tokens: Vec<String> = raws.iter().map(|raw| contract.issue(raw)).collect();
        spent[0] += start.elapsed();
        let raws: Vec<String> = raws.iter().zip(&tokens).map(|(raw, token)| confirming(raw, token)).collect();
        let start = Instant::now();
        let operations: Vec<String> = raws.iter().map(|raw| contract.consume(raw)).collect();
        spent[1] += start.elapsed();
        let start = Instant::now();
        for (token, operation) in tokens.iter().zip(&operations) {
            contract.record(token, operation);
        }
        spent[2] += start.elapsed();
        let start = Instant::now();
        for raw in &raws {
            contract.replay(raw);
        }
        spent[3] += start.elapsed();
        contract.clean();
        done += size;
    }
    spent
}

pub fn bench(criterion: &mut Criterion, figures: &mut Figures) {
    let mut node = node::Node::start();
    let mut component = Component::new(Arc::new(MemoryStore::new()), false);
    let mut checked = Component::new(Arc::new(MemoryStore::new()), true);
    let mut native = native::Native::new();
    let mut group = criterion.benchmark_group("cycle");
    for turn in 1..=TURNS {
        let mut side = |name: &str, lives: &mut dyn FnMut(u64) -> [Duration; 4]| {
            group.bench_function(format!("{name} {turn}"), |bencher| {
                bencher.iter_custom(|times| {
                    let spent = lives(times);
                    for (step, spent) in STEPS.iter().zip(spent) {
                        figures.add(&format!("{step}, {name}"), spent, times);
                    }
                    let cycle = spent[0] + spent[1] + spent[2];
                    figures.add(&format!("cycle, {name}"), cycle, times);
                    cycle
                });
            });
        };
        side("component", &mut |times| lives(&mut component, times));
        side("native", &mut |times| lives(&mut native, times));
        side("Node", &mut |times| node.lives(times, BATCH));
        side("component with check", &mut |times| lives(&mut checked, times));
    }
    group.finish();
    figures.ratio("cycle, component", "cycle, Node", Some(1.0));
    figures.ratio("cycle, component", "cycle, native", Some(3.5));
    figures.ratio("cycle, component with check", "cycle, Node", Some(1.0));
    for step in STEPS {
        figures.ratio(&format!("{step}, component"), &format!("{step}, Node"), None);
        figures.ratio(&format!("{step}, component"), &format!("{step}, native"), None);
    }
}
