//! A host of native tools whose runs a test can count, hold and break, over a store that it can cut off.

use crate::gate::{Clock, Gate, GateOptions, Settings, TestClock};
use crate::host::{Host, HostBuilder, Incoming, Reply, Status};
use crate::native::Context;
use crate::store::{
    Account, Binding, Charge, Charging, Cursor, Entry, Found, Insertion, Key, MemoryStore, Replacement, Room, Spent,
    State, Store, Stored, Unavailable,
};
use crate::tool::{Effect, Outcome, Plan, ToolError};
use crate::{Level, NativeTool, Owner};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

/// Where the clock starts: 2026-05-18T14:33:20Z.
pub(crate) const START: u64 = 1_779_114_800_000;
/// A token that was issued to nobody.
pub(crate) const STRANGER: &str = "cfm_abcdefghijklmnopqrstuvwx";
/// How long a run may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
/// When the gate gives a run up, in milliseconds from its start: 30 s and the grace.
pub(crate) const DEADLINE_MILLIS: u64 = 40_000;

/// What the tools change, and what a test does to them.
pub(crate) struct World {
    /// Effects that happened.
    effects: AtomicU32,
    /// Runs that have begun.
    begun: AtomicU32,
    /// What the last run was told.
    pub(crate) told: Mutex<Option<Context>>,
    /// Held runs wait here.
    held: Semaphore,
    store: Arc<Shaky>,
}

impl World {
    pub(crate) fn effects(&self) -> u32 {
        self.effects.load(SeqCst)
    }

    pub(crate) async fn until_begun(&self, runs: u32) {
        while self.begun.load(SeqCst) < runs {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn release(&self, runs: usize) {
        self.held.add_permits(runs);
    }

    async fn run(&self, arguments: &str, context: Context) -> Result<Outcome, ToolError> {
        *self.told.lock().unwrap() = Some(context);
        self.begun.fetch_add(1, SeqCst);
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        match arguments["how"].as_str().unwrap_or_default() {
            "refused" => return Err(ToolError::Refused("the path is protected".into())),
            "invalid" => return Err(ToolError::InvalidArguments("the path is relative".into())),
            "unknown" => return Err(ToolError::UnknownTool),
            "fails" => return Err(ToolError::Failed { message: "half of it is gone".into(), effect: Effect::Partial }),
            "fails early" => return Err(ToolError::Failed { message: "not found".into(), effect: Effect::None }),
            "fails at length" => {
                return Err(ToolError::Failed { message: "é".repeat(50_000), effect: Effect::None });
            }
            "refuses at length" => return Err(ToolError::Refused("é".repeat(50_000))),
            "panics" => panic!("a tool's defect"),
            "held" => self.held.acquire().await.unwrap().forget(),
            "breaks the store" => self.store.cut(true),
            _ => {}
        }
        let effects = self.effects.fetch_add(1, SeqCst) + 1;
        let details = match arguments["how"].as_str().unwrap_or_default() {
            "large" => json!({"text": "x".repeat(5_000)}).to_string(),
            "no object" => "[1]".to_owned(),
            "no json" => "{".to_owned(),
            _ => json!({"deleted": arguments["path"], "effects": effects}).to_string(),
        };
        Ok(Outcome::new("Deleted", details))
    }

    async fn plan(&self, arguments: &str) -> Result<Plan, ToolError> {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let plan = Plan::new(format!("Will delete {}.", arguments["path"]), json!({"bytes": 7}).to_string());
        let asked = arguments["plan"].as_str().unwrap_or_default();
        if let Some(fault) = asked.strip_prefix("mild but ") {
            let faulty = json!({"path": arguments["path"], "plan": fault}).to_string();
            return Ok(Box::pin(self.plan(&faulty)).await?.level(Level::Caution));
        }
        match asked {
            "refused" => Err(ToolError::Refused("there is no such file".into())),
            "invalid" => Err(ToolError::InvalidArguments("the path is relative".into())),
            "unknown" => Err(ToolError::UnknownTool),
            "fails" => Err(ToolError::Failed { message: "the disk is gone".into(), effect: Effect::Unknown }),
            "panics" => panic!("a preview's defect"),
            "never ends" => std::future::pending().await,
            "mild" => Ok(plan.level(Level::Caution).precondition("absent")),
            "wild" => Ok(plan.level(Level::ApprovalRequired)),
            "no object" => Ok(Plan::new("Will delete it.", "[1]")),
            "no json" => Ok(Plan::new("Will delete it.", "{")),
            "no summary" => Ok(Plan::new(" ", "{}")),
            "too long" => Ok(Plan::new("x".repeat(70_000), "{}")),
            "many warnings" => Ok(Plan { warnings: vec![String::new(); 8_200], ..plan }),
            "long precondition" => Ok(plan.precondition("x".repeat(1_025))),
            _ => Ok(plan.warning("this cannot be undone").precondition("7 bytes")),
        }
    }
}

/// A host and everything that it stands on.
pub(crate) struct Kit {
    pub(crate) clock: Arc<TestClock>,
    pub(crate) store: Arc<Shaky>,
    pub(crate) world: Arc<World>,
    pub(crate) host: Host,
}

impl Kit {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        let store = Arc::new(Shaky::default());
        let clock = Arc::new(TestClock::new(START));
        let world = Arc::new(World {
            effects: AtomicU32::new(0),
            begun: AtomicU32::new(0),
            told: Mutex::new(None),
            held: Semaphore::new(0),
            store: Arc::clone(&store),
        });
        let builder = Host::builder(open(&store, &clock, settings));
        let host = tools(builder, &world, "1").build().await.unwrap();
        Self { clock, store, world, host }
    }

    /// A builder for another host of the same store, clock and world.
    pub(crate) fn beside(&self) -> HostBuilder {
        Host::builder(open(&self.store, &self.clock, Settings::default()))
    }

    /// The same with all the tools, at a revision.
    pub(crate) fn revised(&self, revision: &str) -> HostBuilder {
        tools(self.beside(), &self.world, revision)
    }

    /// The same around a gate that is there.
    #[cfg(feature = "rules")]
    pub(crate) fn on(&self, gate: Gate) -> HostBuilder {
        tools(Host::builder(gate), &self.world, "1")
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Reply {
        call(&self.host, "alice", tool, &arguments.to_string()).await
    }

    /// The first call: the token that it is answered with.
    pub(crate) async fn token(&self, tool: &str, arguments: Value) -> String {
        let reply = self.call(tool, arguments).await;
        assert!(reply.status == Status::ConfirmationRequired, "{}", reply.payload);
        value(&reply)["confirm_token"].as_str().unwrap().to_owned()
    }

    /// A confirm call in a task of its own.
    pub(crate) fn spawn(&self, tool: &'static str, arguments: Value) -> tokio::task::JoinHandle<Reply> {
        let host = self.host.clone();
        tokio::spawn(async move { call(&host, "alice", tool, &arguments.to_string()).await })
    }
}

fn open(store: &Arc<Shaky>, clock: &Arc<TestClock>, settings: Settings) -> Gate {
    Gate::new(GateOptions {
        store: Arc::clone(store) as Arc<dyn Store>,
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        settings,
        cache: None,
    })
    .unwrap()
}

/// Arguments of every tool of the kit.
pub(crate) const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["path"],
    "properties":{"path":{"type":"string"},"how":{"type":"string"},"plan":{"type":"string"}}}"#;

/// A tool of the kit.
pub(crate) fn tool(world: &Arc<World>, name: &str, level: Level, revision: &str) -> NativeTool {
    let (plans, runs) = (Arc::clone(world), Arc::clone(world));
    NativeTool::new(name, level, SCHEMA, revision)
        .deadline(DEADLINE)
        .preview(move |arguments| {
            let world = Arc::clone(&plans);
            async move { world.plan(&arguments).await }
        })
        .execute(move |arguments, context| {
            let world = Arc::clone(&runs);
            async move { world.run(&arguments, context).await }
        })
}

fn tools(builder: HostBuilder, world: &Arc<World>, revision: &str) -> HostBuilder {
    builder
        .native(tool(world, "delete", Level::ApprovalRequired, revision))
        .native(tool(world, "wipe", Level::ApprovalRequired, revision).critical())
        .native(tool(world, "note", Level::Caution, revision))
        .native(tool(world, "look", Level::Safe, revision))
}

pub(crate) async fn call(host: &Host, owner: &str, tool: &str, arguments: &str) -> Reply {
    let owner = Owner::new("name", owner).unwrap();
    host.call(Incoming { owner, tool: tool.into(), arguments: arguments.into(), progress: None }).await
}

/// The same arguments with a token.
pub(crate) fn confirming(mut arguments: Value, token: &str) -> Value {
    arguments["confirm_token"] = json!(token);
    arguments
}

pub(crate) fn value(reply: &Reply) -> Value {
    let value: Value = serde_json::from_str(&reply.payload).unwrap();
    assert_eq!(value["status"], reply.status.name(), "{value}");
    value
}

#[track_caller]
pub(crate) fn is_ok(reply: &Reply) -> Value {
    assert!(reply.status == Status::Ok, "{}", reply.payload);
    value(reply)
}

#[track_caller]
pub(crate) fn is_rejected(reply: &Reply, reason: &str, detail: Option<&str>) {
    let value = value(reply);
    assert!(reply.status == Status::Rejected, "{value}");
    assert_eq!((value["reason"].as_str(), value["detail"].as_str()), (Some(reason), detail), "{value}");
    assert!(!value["error"].as_str().unwrap().is_empty(), "{value}");
    assert!(!reply.replayed && reply.kept, "{value}");
}

#[track_caller]
pub(crate) fn is_failed(reply: &Reply, reason: &str, effect: &str) {
    let value = value(reply);
    assert!(reply.status == Status::Failed, "{value}");
    assert_eq!((value["reason"].as_str(), value["effect"].as_str()), (Some(reason), Some(effect)), "{value}");
}

/// A store in memory that a test can cut off.
#[derive(Default)]
pub(crate) struct Shaky {
    store: MemoryStore,
    cut: AtomicBool,
    /// So many replaces are still made and then not acknowledged.
    lose: AtomicU32,
    /// So many replaces still fail and change nothing.
    fail: AtomicU32,
    /// So many replaces still take [`DEADLINE`].
    slow: AtomicU32,
    /// The next replace takes twice that.
    stall: AtomicBool,
    /// The next replace is made, and from then on it is cut off.
    fall: AtomicBool,
    /// So many charges still wait until they may go on, and say that they do.
    hold: AtomicU32,
    charging: Notify,
    charge_on: Notify,
    /// How often anything was asked of it.
    asked: AtomicU32,
}

impl Shaky {
    pub(crate) fn cut(&self, cut: bool) {
        self.cut.store(cut, SeqCst);
    }

    pub(crate) fn lose_acknowledgements(&self, count: u32) {
        self.lose.store(count, SeqCst);
    }

    pub(crate) fn fail_replaces(&self, count: u32) {
        self.fail.store(count, SeqCst);
    }

    pub(crate) fn slow_replaces(&self, count: u32) {
        self.slow.store(count, SeqCst);
    }

    pub(crate) fn stall_the_next_replace(&self) {
        self.stall.store(true, SeqCst);
    }

    pub(crate) fn cut_at_the_next_replace(&self) {
        self.fall.store(true, SeqCst);
    }

    pub(crate) fn hold_the_next_charge(&self) {
        self.hold.store(1, SeqCst);
    }

    pub(crate) async fn until_it_charges(&self) {
        self.charging.notified().await;
    }

    pub(crate) fn let_it_charge(&self) {
        self.charge_on.notify_one();
    }

    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(SeqCst)
    }

    fn reach(&self) -> Result<&MemoryStore, Unavailable> {
        self.asked.fetch_add(1, SeqCst);
        if self.cut.load(SeqCst) { Err(Unavailable("cut off".into())) } else { Ok(&self.store) }
    }
}

fn one_less(count: &AtomicU32) -> bool {
    count.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
}

#[async_trait]
impl Store for Shaky {
    async fn insert(&self, key: Key, entry: Entry, room: Room) -> Result<Insertion, Unavailable> {
        self.reach()?.insert(key, entry, room).await
    }
    async fn load(&self, key: Key) -> Result<Option<Stored>, Unavailable> {
        self.reach()?.load(key).await
    }
    async fn load_by_approval_id(&self, approval_id: &str) -> Result<Option<Stored>, Unavailable> {
        self.reach()?.load_by_approval_id(approval_id).await
    }
    async fn replace(&self, key: Key, version: u64, entry: Entry) -> Result<Replacement, Unavailable> {
        let store = self.reach()?;
        if one_less(&self.fail) {
            return Err(Unavailable("not now".into()));
        }
        if one_less(&self.slow) {
            tokio::time::sleep(DEADLINE).await;
        }
        if self.stall.swap(false, SeqCst) {
            tokio::time::sleep(DEADLINE * 2).await;
        }
        let made = store.replace(key, version, entry).await;
        if self.fall.swap(false, SeqCst) {
            self.cut(true);
            return Err(Unavailable("the answer was lost".into()));
        }
        if one_less(&self.lose) { Err(Unavailable("the answer was lost".into())) } else { made }
    }
    async fn find(&self, binding: Binding, limit: u32) -> Result<Vec<Found>, Unavailable> {
        self.reach()?.find(binding, limit).await
    }
    async fn list_by_state(&self, state: State, after: Option<Cursor>, limit: u32) -> Result<Vec<Stored>, Unavailable> {
        self.reach()?.list_by_state(state, after, limit).await
    }
    async fn due(&self, now: u64, limit: u32) -> Result<Vec<Found>, Unavailable> {
        self.reach()?.due(now, limit).await
    }
    async fn remove(&self, key: Key, version: u64) -> Result<bool, Unavailable> {
        self.reach()?.remove(key, version).await
    }
    async fn charge(&self, charges: &[Charge]) -> Result<Charging, Unavailable> {
        if one_less(&self.hold) {
            self.charging.notify_one();
            self.charge_on.notified().await;
        }
        self.reach()?.charge(charges).await
    }
    async fn refund(&self, charges: &[Charge]) -> Result<(), Unavailable> {
        self.reach()?.refund(charges).await
    }
    async fn spent(&self, account: Account, since: u64) -> Result<Vec<Spent>, Unavailable> {
        self.reach()?.spent(account, since).await
    }
    async fn sweep_accounts(&self, now: u64, limit: u32) -> Result<u32, Unavailable> {
        self.reach()?.sweep_accounts(now, limit).await
    }
}
