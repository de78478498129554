//! `gate-core` in this process, on the store that the component has: what is left when nothing crosses a border.

use crate::cycle::{Contract, PAYLOAD, START, at_once, call, plan};
use counterfoil::store::{Entry, Found, Index, Insertion, MemoryStore, Replacement, Room, State, Store};
use counterfoil_gate_core::answer::Assurance;
use counterfoil_gate_core::body;
use counterfoil_gate_core::canonical::{self, Request};
use counterfoil_gate_core::confirmation::{self as core, Confirmation, Outcome, Phase, Plan, Status};
use counterfoil_gate_core::contract::{self, Swept, Verdict};
use counterfoil_gate_core::digest::Sha;
use counterfoil_gate_core::settings::Settings;
use counterfoil_gate_core::token::{Random, Token};

pub struct Native {
    store: MemoryStore,
    settings: Settings,
    now: u64,
}

impl Native {
    pub fn new() -> Self {
        let settings = Settings { pending_per_owner: 1_000_000, pending_in_all: 100_000_000, ..Settings::default() };
        Self { store: MemoryStore::new(), settings, now: START }
    }

    fn read(&self, raw: &str) -> Request {
        canonical::read(raw, "confirm_token", &self.settings.arguments()).unwrap_or_else(|_| panic!("good arguments"))
    }

    fn find(&self, binding: Sha, limit: u32) -> Vec<contract::Found> {
        let found = at_once(self.store.find(binding, limit)).unwrap();
        found.into_iter().map(|Found { key, index, .. }| contract::Found { key, index: inward(index) }).collect()
    }

    fn load(&self, key: Sha) -> (u64, Box<Confirmation>) {
        let row = at_once(self.store.load(key)).unwrap().unwrap();
        let index = inward(row.entry.index);
        (row.version, body::decode_row(&index, &row.entry.body).unwrap())
    }

    fn entry(&self, c: &Confirmation) -> Entry {
        Entry { index: outward(c.index(&self.settings)), body: body::encode(c) }
    }

    fn replace(&self, key: Sha, version: u64, c: &Confirmation) {
        let replaced = at_once(self.store.replace(key, version, self.entry(c))).unwrap();
        assert_eq!(replaced, Replacement::Replaced);
    }
}

impl Contract for Native {
    fn issue(&mut self, raw: &str) -> String {
        let wanted = call("name:bench", self.read(raw).arguments);
        let (wanted, plan) = (borrowed(&wanted), shown(plan()));
        contract::check_issue(&self.settings, &wanted, &plan).unwrap();
        let binding = wanted.binding();
        let found = self.find(binding, contract::FIND);
        let random = [draw(), draw()];
        let (c, challenge) = contract::issue(&self.settings, self.now, &wanted, binding, plan, &found, random).unwrap();
        let room =
            Room { now: self.now, per_owner: self.settings.pending_per_owner, in_all: self.settings.pending_in_all };
        let inserted = at_once(self.store.insert(challenge.token.key(), self.entry(&c), room)).unwrap();
        assert_eq!(inserted, Insertion::Inserted);
        challenge.token.reveal().to_owned()
    }

    fn consume(&mut self, raw: &str) -> String {
        let request = self.read(raw);
        let wanted = call("name:bench", request.arguments);
        let wanted = borrowed(&wanted);
        let key = Token::parse(&request.token.unwrap()).unwrap().key();
        let (version, c) = self.load(key);
        assert_eq!(contract::verdict(&self.settings, self.now, &wanted, Some(&c)), Verdict::Runnable);
        let (started, permit) = contract::start(self.now, c, draw(), 30_000).unwrap();
        self.replace(key, version, &started);
        permit.operation_id
    }

    fn record(&mut self, token: &str, operation_id: &str) {
        let key = Token::parse(token).unwrap().key();
        let (version, c) = self.load(key);
        let outcome = Outcome { status: Status::Ok, payload: PAYLOAD.into() };
        let (changed, _) = contract::record(&self.settings, self.now, Some(c), operation_id, &outcome).unwrap();
        self.replace(key, version, &changed.unwrap());
    }

    fn replay(&mut self, raw: &str) {
        let request = self.read(raw);
        let wanted = call("name:bench", request.arguments);
        let key = Token::parse(&request.token.unwrap()).unwrap().key();
        let (_, c) = self.load(key);
        let verdict = contract::verdict(&self.settings, self.now, &borrowed(&wanted), Some(&c));
        let Verdict::Replay(replayed) = verdict else { panic!("a replay") };
        assert_eq!(replayed.outcome.payload, PAYLOAD);
    }

    fn clean(&mut self) {
        for _ in 0..2 {
            self.now += 2 * 86_400_000;
            for found in at_once(self.store.due(self.now, u32::MAX)).unwrap() {
                let (version, c) = self.load(found.key);
                match contract::sweep(&self.settings, self.now, c) {
                    Swept::Keep => {}
                    Swept::Remove => assert!(at_once(self.store.remove(found.key, version)).unwrap()),
                    Swept::Replace(c) => self.replace(found.key, version, &c),
                }
            }
        }
    }
}

fn draw() -> Random {
    let mut bytes = Random::default();
    getrandom::fill(&mut bytes).unwrap();
    bytes
}

fn borrowed(call: &counterfoil::gate::Call) -> core::Call<'_> {
    core::Call { owner: &call.owner, tool: &call.tool, revision: &call.revision, arguments: &call.arguments }
}

fn shown(plan: counterfoil::gate::Plan) -> Plan {
    Plan {
        summary: plan.summary,
        preview: plan.preview,
        warnings: plan.warnings,
        precondition: plan.precondition,
        masked_arguments: plan.masked_arguments,
        needs: Assurance::TokenOnly,
        approvers: plan.approvers,
    }
}

const STATES: [(State, Phase); 5] = [
    (State::Pending, Phase::Pending),
    (State::InFlight, Phase::InFlight),
    (State::Completed, Phase::Completed),
    (State::Declined, Phase::Declined),
    (State::Settled, Phase::Settled),
];

fn inward(index: Index) -> core::Index {
    let Index { state, owner, approval_id, binding, issued, changed, until, purge_after } = index;
    let phase = STATES.iter().find(|(there, _)| *there == state).unwrap().1;
    core::Index { phase, owner, approval_id, binding, issued, changed, until, purge_after }
}

fn outward(index: core::Index) -> Index {
    let core::Index { phase, owner, approval_id, binding, issued, changed, until, purge_after } = index;
    let state = STATES.iter().find(|(_, there)| *there == phase).unwrap().0;
    Index { state, owner, approval_id, binding, issued, changed, until, purge_after }
}
