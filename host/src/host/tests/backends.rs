//! What the host asks of a backend: its slot before the token is spent, no more power than the level allows, and what it
//! makes of the backend's own observation.

use super::kit::*;
use crate::Level;
use crate::host::Host;
use crate::permit::Permit;
use crate::schema::secret::Secrets;
use crate::tool::{
    Backend, Declaration, Effect, Observed, Outcome, Plan, Power, Prepared, Progress, RunError, ToolError,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Tools `safe`, `caution` and `approval`, one slot, and a list of what it was asked.
pub(crate) struct Fake {
    name: &'static str,
    tools: Vec<Declaration>,
    slot: Arc<Semaphore>,
    /// How often a run was to be prepared.
    asked: Arc<AtomicU32>,
    locked: bool,
    seen: Arc<Mutex<Vec<(Power, Level)>>>,
}

impl Fake {
    /// One without tools.
    pub(crate) fn named(name: &'static str) -> Self {
        let (slot, asked, seen) = (Arc::new(Semaphore::new(1)), Arc::default(), Arc::default());
        Self { name, tools: Vec::new(), slot, asked, locked: true, seen }
    }

    /// One with tools that nobody has locked.
    pub(crate) fn unlocked(name: &'static str, tools: &[(&str, Level)]) -> Self {
        let tools = tools.iter().map(|(name, level)| declaration(name, *level)).collect();
        Self { tools, locked: false, ..Self::named(name) }
    }

    /// One with a safe tool.
    pub(crate) fn listing(name: &'static str, tool: &str) -> Self {
        Self { tools: vec![declaration(tool, Level::Safe)], ..Self::named(name) }
    }
}

fn declaration(name: &str, level: Level) -> Declaration {
    Declaration {
        name: name.into(),
        title: None,
        description: String::new(),
        input_schema: r#"{"type":"object"}"#.into(),
        output_schema: None,
        level,
        critical: false,
    }
}

struct Ready {
    power: Power,
    seen: Arc<Mutex<Vec<(Power, Level)>>>,
    _slot: OwnedSemaphorePermit,
}

#[async_trait]
impl Backend for Fake {
    fn name(&self) -> &str {
        self.name
    }
    fn tools(&self) -> &[Declaration] {
        &self.tools
    }
    fn identity(&self, _tool: &str) -> String {
        "1".into()
    }
    fn enforced(&self) -> bool {
        true
    }
    fn locked(&self) -> bool {
        self.locked
    }
    fn deadline(&self, _tool: &str) -> Duration {
        DEADLINE
    }
    fn preview_deadline(&self, _tool: &str) -> Duration {
        DEADLINE
    }
    async fn preview(
        &self,
        _: &str,
        _: &str,
        arguments: &str,
        _: Secrets,
        _: Option<Arc<dyn Progress>>,
    ) -> Result<Plan, ToolError> {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let plan = Plan::new("Will do it.", "{}");
        Ok(match arguments["plan"].as_str() {
            Some("safe") => plan.level(Level::Safe),
            Some("caution") => plan.level(Level::Caution),
            _ => plan,
        })
    }
    async fn prepare(&self, _: &str, _: &str, power: Power, _: Secrets) -> Result<Box<dyn Prepared>, ToolError> {
        self.asked.fetch_add(1, SeqCst);
        let slot = Arc::clone(&self.slot).acquire_owned().await.map_err(|_| ToolError::Unavailable("closed".into()))?;
        Ok(Box::new(Ready { power, seen: Arc::clone(&self.seen), _slot: slot }))
    }
}

#[async_trait]
impl Prepared for Ready {
    async fn execute(self: Box<Self>, permit: Permit, _: Option<Arc<dyn Progress>>) -> Result<Outcome, RunError> {
        assert!(permit.limit() <= DEADLINE && permit.limit() > DEADLINE / 2 && !permit.tool().is_empty());
        self.seen.lock().unwrap().push((self.power, permit.level()));
        let arguments: Value = serde_json::from_str(permit.arguments()).unwrap();
        let observed = if arguments["observed"] == "unknown" { Observed::Change } else { Observed::Nothing };
        let failed = |effect| ToolError::Failed { message: "no".into(), effect };
        match arguments["how"].as_str() {
            Some("none") => Err(RunError { error: failed(Effect::None), observed }),
            Some("partial") => Err(RunError { error: failed(Effect::Partial), observed }),
            Some("trap") => Err(RunError { error: ToolError::Trapped("crash".into()), observed }),
            Some("late") => Err(RunError { error: ToolError::Deadline("stopped".into()), observed }),
            Some("unknown") => Err(RunError { error: ToolError::UnknownTool, observed }),
            Some("invalid") => Err(RunError { error: ToolError::InvalidArguments("no".into()), observed }),
            Some("refused") => Err(RunError { error: ToolError::Refused("no".into()), observed }),
            Some("busy") => Err(RunError { error: ToolError::Unavailable("no".into()), observed }),
            Some("large") => Err(RunError { error: ToolError::OutputLimit("too much".into()), observed }),
            _ => Ok(Outcome::new("done", "{}")),
        }
    }
}

pub(crate) struct Stage {
    kit: Kit,
    pub(crate) host: Host,
    pub(crate) slot: Arc<Semaphore>,
    pub(crate) asked: Arc<AtomicU32>,
    seen: Arc<Mutex<Vec<(Power, Level)>>>,
}

impl Stage {
    pub(crate) async fn new(raise: &[&str]) -> Self {
        let kit = Kit::new().await;
        let tools = vec![
            declaration("safe", Level::Safe),
            declaration("caution", Level::Caution),
            declaration("approval", Level::ApprovalRequired),
        ];
        let fake = Fake { tools, ..Fake::named("fake") };
        let (slot, asked, seen) = (Arc::clone(&fake.slot), Arc::clone(&fake.asked), Arc::clone(&fake.seen));
        let mut builder = kit.beside().backend(Arc::new(fake));
        for tool in raise {
            builder = builder.level(*tool, Level::ApprovalRequired);
        }
        let host = builder.build().await.unwrap();
        Self { kit, host, slot, asked, seen }
    }

    async fn call(&self, tool: &str, arguments: Value) -> crate::host::Reply {
        call(&self.host, "alice", tool, &arguments.to_string()).await
    }

    async fn confirm(&self, tool: &str, arguments: Value) -> crate::host::Reply {
        let preview = value(&self.call(tool, arguments.clone()).await);
        self.call(tool, confirming(arguments, preview["confirm_token"].as_str().unwrap())).await
    }

    fn last(&self) -> (Power, Level) {
        *self.seen.lock().unwrap().last().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_has_no_more_power_than_its_level_and_a_safe_tool_never_more_than_reading() {
    let stage = Stage::new(&[]).await;
    is_ok(&stage.call("safe", json!({})).await);
    assert_eq!(stage.last(), (Power::ReadOnly, Level::Safe));
    is_ok(&stage.call("caution", json!({})).await);
    assert_eq!(stage.last(), (Power::Granted, Level::Caution));
    is_ok(&stage.call("approval", json!({"plan": "safe"})).await);
    assert_eq!(stage.last(), (Power::ReadOnly, Level::Safe));
    is_ok(&stage.call("approval", json!({"plan": "caution"})).await);
    assert_eq!(stage.last(), (Power::Granted, Level::Caution));
    is_ok(&stage.confirm("approval", json!({})).await);
    assert_eq!(stage.last(), (Power::Granted, Level::ApprovalRequired));

    let raised = Stage::new(&["safe"]).await;
    is_ok(&raised.confirm("safe", json!({})).await);
    assert_eq!(raised.last(), (Power::ReadOnly, Level::ApprovalRequired));
}

#[tokio::test(start_paused = true)]
async fn the_effect_that_is_told_is_the_worse_of_the_tools_word_and_what_the_host_saw() {
    let stage = Stage::new(&[]).await;
    for (how, observed, reason, effect) in [
        ("none", "none", "tool_error", "none"),
        ("none", "unknown", "tool_error", "unknown"),
        ("partial", "none", "tool_error", "partial"),
        ("partial", "unknown", "tool_error", "unknown"),
        ("trap", "none", "trapped", "none"),
        ("trap", "unknown", "trapped", "unknown"),
        ("late", "unknown", "deadline", "unknown"),
        ("large", "unknown", "output_limit", "unknown"),
    ] {
        let arguments = json!({"how": how, "observed": observed});
        is_failed(&stage.call("caution", arguments.clone()).await, reason, effect);
        is_failed(&stage.confirm("approval", arguments).await, reason, effect);
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_expires_while_its_run_waits_for_a_slot_runs_nothing_and_a_replay_never_waits() {
    let stage = Stage::new(&[]).await;
    let done = json!({"id": 1});
    let preview = value(&stage.call("approval", done.clone()).await);
    let done = confirming(done, preview["confirm_token"].as_str().unwrap());
    let ran = stage.call("approval", done.clone()).await;
    let waiting = json!({"id": 2});
    let preview = value(&stage.call("approval", waiting.clone()).await);
    let waiting = confirming(waiting, preview["confirm_token"].as_str().unwrap());

    let taken = stage.slot.acquire().await.unwrap();
    let (host, text) = (stage.host.clone(), waiting.to_string());
    let asker = tokio::spawn(async move { call(&host, "alice", "approval", &text).await });
    while stage.asked.load(SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    assert!(stage.call("approval", done).await.payload == ran.payload);
    is_rejected(&stage.call("approval", confirming(json!({"id": 3}), STRANGER)).await, "unknown_or_used", None);
    stage.kit.clock.advance(300_000);
    drop(taken);
    is_rejected(&asker.await.unwrap(), "expired", None);
    assert_eq!(stage.seen.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_in_whose_run_the_host_saw_something_change_has_failed() {
    let stage = Stage::new(&[]).await;
    for (how, reason) in
        [("unknown", "unknown_tool"), ("invalid", "invalid_arguments"), ("refused", "refused"), ("busy", "unavailable")]
    {
        is_rejected(&stage.call("caution", json!({"how": how})).await, reason, None);
        is_failed(&stage.call("caution", json!({"how": how, "observed": "unknown"})).await, "tool_error", "unknown");
    }
}

#[tokio::test(start_paused = true)]
async fn a_confirmed_call_whose_asker_has_gone_before_its_turn_does_not_run_and_its_token_stays_good() {
    let stage = Stage::new(&[]).await;
    let waiting = json!({"id": 1});
    let preview = value(&stage.call("approval", waiting.clone()).await);
    let waiting = confirming(waiting, preview["confirm_token"].as_str().unwrap());
    let taken = stage.slot.acquire().await.unwrap();
    let (host, text) = (stage.host.clone(), waiting.to_string());
    let asker = tokio::spawn(async move { call(&host, "alice", "approval", &text).await });
    while stage.asked.load(SeqCst) < 1 {
        tokio::task::yield_now().await;
    }
    asker.abort();
    assert!(asker.await.err().unwrap().is_cancelled());
    drop(taken);
    stage.host.drain().await;
    assert!(stage.seen.lock().unwrap().is_empty());
    is_ok(&stage.call("approval", waiting).await);
    assert_eq!(stage.seen.lock().unwrap().len(), 1);
}
