//! The gate through its component: what embedding it can get wrong. What it decides is tested elsewhere.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::store::{
    Account, Binding, Charge, Charging, Entry, Found, Insertion, Key, MemoryStore, Replacement, Room, Spent, State,
    Stored, Unavailable,
};
use async_trait::async_trait;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::task::JoinSet;

const RUN: Duration = Duration::from_secs(30);

fn gate_over(store: Arc<dyn Store>) -> Gate {
    let options = GateOptions { store, clock: Arc::<TestClock>::default(), settings: Settings::default(), cache: None };
    Gate::new(options).unwrap()
}

fn call() -> Call {
    Call { owner: "name:ci".into(), tool: "delete".into(), revision: "r1".into(), arguments: r#"{"path":"a"}"#.into() }
}

fn plan() -> Plan {
    Plan {
        summary: "deletes a".into(),
        preview: r#"{"path":"a"}"#.into(),
        warnings: Vec::new(),
        precondition: Some("seen".into()),
        masked_arguments: None,
        needs: Assurance::TokenOnly,
        approvers: 0,
    }
}

fn reason(decision: Decision) -> (Reason, Option<Detail>) {
    match decision {
        Decision::Reject(rejection) => (rejection.reason, rejection.detail),
        other => panic!("not refused: {other:?}"),
    }
}

/// A store that does as it is told, and what it is told to.
struct Fickle {
    rows: MemoryStore,
    mood: AtomicU8,
}

const FINE: u8 = 0;
/// Fails before it does anything.
const FAILS: u8 = 1;
/// Never answers, and has done nothing.
const HANGS: u8 = 2;
/// Writes, and never answers.
const WRITES_AND_HANGS: u8 = 3;
/// Writes, and says that it did not answer.
const WRITES_AND_FAILS: u8 = 4;

impl Fickle {
    fn new() -> Arc<Self> {
        Arc::new(Self { rows: MemoryStore::new(), mood: AtomicU8::new(FINE) })
    }

    fn is(&self, mood: u8) {
        self.mood.store(mood, Ordering::SeqCst);
    }

    async fn before(&self) -> Result<(), Unavailable> {
        match self.mood.load(Ordering::SeqCst) {
            FAILS => Err(Unavailable("out of order".into())),
            HANGS => std::future::pending().await,
            _ => Ok(()),
        }
    }

    async fn after_write(&self) -> Result<(), Unavailable> {
        match self.mood.load(Ordering::SeqCst) {
            WRITES_AND_FAILS => {
                self.is(FINE);
                Err(Unavailable("no acknowledgement".into()))
            }
            WRITES_AND_HANGS => std::future::pending().await,
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Store for Fickle {
    async fn insert(&self, key: Key, entry: Entry, room: Room) -> Result<Insertion, Unavailable> {
        self.before().await?;
        self.rows.insert(key, entry, room).await
    }

    async fn load(&self, key: Key) -> Result<Option<Stored>, Unavailable> {
        self.before().await?;
        self.rows.load(key).await
    }

    async fn load_by_approval_id(&self, approval_id: &str) -> Result<Option<Stored>, Unavailable> {
        self.before().await?;
        self.rows.load_by_approval_id(approval_id).await
    }

    async fn replace(&self, key: Key, version: u64, entry: Entry) -> Result<Replacement, Unavailable> {
        self.before().await?;
        let done = self.rows.replace(key, version, entry).await;
        self.after_write().await?;
        done
    }

    async fn find(&self, binding: Binding, limit: u32) -> Result<Vec<Found>, Unavailable> {
        self.before().await?;
        self.rows.find(binding, limit).await
    }

    async fn list_by_state(
        &self,
        state: State,
        after: Option<crate::store::Cursor>,
        limit: u32,
    ) -> Result<Vec<Stored>, Unavailable> {
        self.before().await?;
        self.rows.list_by_state(state, after, limit).await
    }

    async fn due(&self, now: u64, limit: u32) -> Result<Vec<Found>, Unavailable> {
        self.before().await?;
        self.rows.due(now, limit).await
    }

    async fn remove(&self, key: Key, version: u64) -> Result<bool, Unavailable> {
        self.before().await?;
        self.rows.remove(key, version).await
    }

    async fn charge(&self, charges: &[Charge]) -> Result<Charging, Unavailable> {
        self.before().await?;
        self.rows.charge(charges).await
    }

    async fn refund(&self, charges: &[Charge]) -> Result<(), Unavailable> {
        self.before().await?;
        self.rows.refund(charges).await
    }

    async fn spent(&self, account: Account, since: u64) -> Result<Vec<Spent>, Unavailable> {
        self.before().await?;
        self.rows.spent(account, since).await
    }

    async fn sweep_accounts(&self, now: u64, limit: u32) -> Result<u32, Unavailable> {
        self.before().await?;
        self.rows.sweep_accounts(now, limit).await
    }
}

#[tokio::test]
async fn a_confirmed_call_runs_once_and_is_replayed() {
    let gate = gate_over(Arc::new(MemoryStore::new()));
    let challenge = gate.issue(&call(), &plan()).await.unwrap();
    let token = challenge.token.as_str();
    assert_eq!(gate.check(token, &call()).await.unwrap(), Readiness::Ready);
    let Decision::Execute(permit) = gate.consume(token, &call(), RUN).await.unwrap() else { panic!("not run") };
    assert_eq!(permit.arguments, call().arguments);
    assert_eq!(permit.precondition.as_deref(), Some("seen"));
    let payload = gate.ok("delete", "done", "{}", Some(permit.assurance)).await.unwrap();
    let outcome = Outcome { status: OutcomeStatus::Ok, payload };
    assert!(gate.record(token, &permit.operation_id, &outcome).await.unwrap().whole);
    let Decision::Replay(replayed) = gate.consume(token, &call(), RUN).await.unwrap() else { panic!("not replayed") };
    assert_eq!(replayed.outcome, outcome);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_sixty_four_runs() {
    let gate = gate_over(Arc::new(MemoryStore::new()));
    for _ in 0..4 {
        let token = gate.issue(&call(), &plan()).await.unwrap().token;
        let mut tasks = JoinSet::new();
        for _ in 0..64 {
            let (gate, token) = (gate.clone(), token.clone());
            tasks.spawn(async move { gate.consume(&token, &call(), RUN).await.unwrap() });
        }
        let mut operations = Vec::new();
        for decision in tasks.join_all().await {
            match decision {
                Decision::Execute(permit) => operations.push(permit.operation_id),
                lost => assert_eq!(reason(lost), (Reason::UnknownOrUsed, Some(Detail::InFlight))),
            }
        }
        assert_eq!(operations.len(), 1);
        let outcome = Outcome { status: OutcomeStatus::Ok, payload: "{}".into() };
        gate.record(&token, &operations[0], &outcome).await.unwrap();
    }
    assert!(gate.instances.idle() <= 64);
}

#[tokio::test]
async fn a_dropped_call_takes_its_instance_with_it_and_spends_nothing() {
    let store = Fickle::new();
    let gate = gate_over(Arc::clone(&store) as Arc<dyn Store>);
    let token = gate.issue(&call(), &plan()).await.unwrap().token;
    assert_eq!(gate.instances.idle(), 1);
    store.is(HANGS);
    let now = Duration::ZERO;
    assert!(tokio::time::timeout(now, gate.consume(&token, &call(), RUN)).await.is_err());
    assert_eq!(gate.instances.idle(), 0, "nobody knows in which state it is");
    store.is(FINE);
    assert!(matches!(gate.consume(&token, &call(), RUN).await.unwrap(), Decision::Execute(_)));
    assert_eq!(gate.instances.idle(), 1);
}

#[tokio::test]
async fn a_call_dropped_while_it_spends_leaves_a_token_that_is_spent() {
    let store = Fickle::new();
    let gate = gate_over(Arc::clone(&store) as Arc<dyn Store>);
    let token = gate.issue(&call(), &plan()).await.unwrap().token;
    store.is(WRITES_AND_HANGS);
    assert!(tokio::time::timeout(Duration::ZERO, gate.consume(&token, &call(), RUN)).await.is_err());
    store.is(FINE);
    let again = gate.consume(&token, &call(), RUN).await.unwrap();
    assert_eq!(reason(again), (Reason::UnknownOrUsed, Some(Detail::InFlight)));
}

#[tokio::test]
async fn without_its_store_the_gate_refuses_and_spends_nothing() {
    let store = Fickle::new();
    let gate = gate_over(Arc::clone(&store) as Arc<dyn Store>);
    let token = gate.issue(&call(), &plan()).await.unwrap().token;
    store.is(FAILS);
    let answers = [
        gate.issue(&call(), &plan()).await.map(drop).unwrap_err(),
        gate.check(&token, &call()).await.map(drop).unwrap_err(),
        gate.consume(&token, &call(), RUN).await.map(drop).unwrap_err(),
        gate.pending(None, 10).await.map(drop).unwrap_err(),
        gate.sweep(10).await.map(drop).unwrap_err(),
    ];
    for answer in answers {
        let GateError::Rejected(rejection) = answer else { panic!("{answer}") };
        assert_eq!(rejection.reason, Reason::Unavailable);
        assert!(!rejection.error.contains("out of order"), "what went wrong is for the operator's log");
    }
    store.is(FINE);
    assert!(matches!(gate.consume(&token, &call(), RUN).await.unwrap(), Decision::Execute(_)));
}

#[tokio::test]
async fn a_lost_acknowledgement_is_looked_up_and_the_call_runs_once() {
    let store = Fickle::new();
    let gate = gate_over(Arc::clone(&store) as Arc<dyn Store>);
    let token = gate.issue(&call(), &plan()).await.unwrap().token;
    store.is(WRITES_AND_FAILS);
    assert!(matches!(gate.consume(&token, &call(), RUN).await.unwrap(), Decision::Execute(_)));
    assert_eq!(reason(gate.consume(&token, &call(), RUN).await.unwrap()).1, Some(Detail::InFlight));
}

#[tokio::test]
async fn an_instance_that_failed_is_thrown_away() {
    let gate = gate_over(Arc::new(MemoryStore::new()));
    let lease = gate.instances.lease().await.unwrap();
    let failed = lease.settle::<()>(Err(wasmtime::Error::msg("gone")));
    assert_eq!(failed, Err(GateError::Fault("gone".into())));
    assert_eq!(gate.instances.idle(), 0);
    assert_eq!(gate.instances.idle_aside(), 1);
    let failed = gate.instances.aside::<()>(|_, _| Err(wasmtime::Error::msg("gone")));
    assert_eq!(failed, Err(GateError::Fault("gone".into())));
    assert_eq!(gate.instances.idle_aside(), 0);
    gate.model_version().await.unwrap();
    assert_eq!(gate.instances.idle_aside(), 1);
}

#[tokio::test]
async fn an_instance_that_grew_large_is_not_kept() {
    let gate = gate_over(Arc::new(MemoryStore::new()));
    let refused = gate.read(&" ".repeat(20 << 20), "confirm_token").await.unwrap_err();
    assert!(matches!(refused, GateError::Rejected(Rejection { reason: Reason::InvalidArguments, .. })));
    assert_eq!(gate.instances.idle_aside(), 1, "the one that wrote the refusal");
    gate.model_version().await.unwrap();
}

#[test]
fn an_instance_cannot_take_all_memory() {
    use wasmtime::ResourceLimiter;
    let mut ceiling = instances::Ceiling::default();
    assert!(ceiling.memory_growing(0, 512 << 20, None).unwrap());
    assert!(ceiling.memory_growing(0, (512 << 20) + 1, None).is_err());
    assert!(!ceiling.table_growing(0, 10_001, None).unwrap());
}

#[test]
fn the_default_settings_are_the_components() {
    let gate = gate_over(Arc::new(MemoryStore::new()));
    let theirs = gate.instances.aside(|i, s| i.counterfoil_gate_gate().call_default_settings(s)).unwrap();
    assert_eq!(theirs, Settings::default());
    assert_eq!(*gate.settings(), theirs);
}

#[tokio::test]
async fn the_version_that_is_announced_is_the_components_or_nothing_starts() {
    let gate = gate_over(Arc::new(MemoryStore::new()));
    assert_eq!(gate.model_version().await.unwrap(), MODEL_VERSION);
    announced(MODEL_VERSION).unwrap();
    let error = announced("0").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Gate);
    assert!(error.to_string().contains("risk model 0"), "{error}");
}

#[test]
fn a_setting_out_of_range_stops_the_start() {
    let settings = Settings { ttl: 0, ..Settings::default() };
    let options =
        GateOptions { store: Arc::new(MemoryStore::new()), clock: Arc::new(SystemClock), settings, cache: None };
    let error = Gate::new(options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("ttl"), "{error}");
}

#[tokio::test]
async fn settings_hold_in_every_instance() {
    let settings = Settings { max_arguments: 16, pending_per_owner: 1, ..Settings::default() };
    let options =
        GateOptions { store: Arc::new(MemoryStore::new()), clock: Arc::new(SystemClock), settings, cache: None };
    let gate = Gate::new(options).unwrap();
    let refused = gate.read(r#"{"path":"a long one"}"#, "confirm_token").await.unwrap_err();
    assert!(matches!(refused, GateError::Rejected(Rejection { reason: Reason::InvalidArguments, .. })));
    gate.issue(&call(), &plan()).await.unwrap();
    let full = gate.issue(&call(), &plan()).await.unwrap_err();
    assert!(matches!(full, GateError::Rejected(Rejection { reason: Reason::TooManyPending, .. })));
}

#[tokio::test]
async fn tokens_are_in_no_debug_output() {
    let gate = gate_over(Arc::new(MemoryStore::new()));
    let challenge = gate.issue(&call(), &plan()).await.unwrap();
    let token = challenge.token.as_str();
    let request = gate.read(&format!(r#"{{"confirm_token":"{token}"}}"#), "confirm_token").await.unwrap();
    assert_eq!(request.token.as_deref(), Some(token));
    for shown in [format!("{challenge:?}"), format!("{request:?}"), format!("{:?}", challenge.token)] {
        assert!(!shown.contains(&token[4..]), "{shown}");
    }
    let shape =
        gate.confirmation_required("delete", &plan(), &challenge, Level::ApprovalRequired, "confirm_token").await;
    assert!(shape.unwrap().contains(token), "the caller gets it");
}

#[tokio::test]
async fn a_bad_token_is_refused_when_it_is_read() {
    let gate = gate_over(Arc::new(MemoryStore::new()));
    let refused = gate.read(r#"{"confirm_token":"cfm_short"}"#, "confirm_token").await.unwrap_err();
    assert!(matches!(refused, GateError::Rejected(Rejection { reason: Reason::MalformedToken, .. })));
}

#[tokio::test]
async fn compiled_code_that_was_changed_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let start = async || {
        let options = GateOptions {
            store: Arc::new(MemoryStore::new()),
            clock: Arc::new(SystemClock),
            settings: Settings::default(),
            cache: Some(folder.path().join("code")),
        };
        Gate::new(options).unwrap().model_version().await.unwrap()
    };
    let version = start().await;
    let file = std::fs::read_dir(folder.path().join("code")).unwrap().next().unwrap().unwrap().path();
    let code = std::fs::read(&file).unwrap();
    for broken in [&b"nonsense"[..], &code[..code.len() / 2]] {
        std::fs::write(&file, broken).unwrap();
        assert_eq!(start().await, version);
        assert_eq!(std::fs::read(&file).unwrap().len(), code.len());
    }
    assert_eq!(start().await, version);
}
