//! A host around one or a few fixtures, with a directory of its own.

use counterfoil::gate::{Gate, GateOptions, Settings, SystemClock};
use counterfoil::plugin::{Access, DirGrant, Limits, Plugin, PluginOptions, Sandbox, SandboxOptions};
use counterfoil::store::MemoryStore;
use counterfoil::tool::Progress;
use counterfoil::{Host, Incoming, Owner, Status};
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tempfile::TempDir;

/// One for all tests: each reserves much address space.
pub static SANDBOX: LazyLock<Arc<Sandbox>> =
    LazyLock::new(|| Sandbox::new(SandboxOptions { cache: Some(counterfoil_tests::code()) }).unwrap());

/// A plug-in with its directory at `/data`.
pub struct Bench {
    pub host: Host,
    pub data: TempDir,
}

/// How a bench differs from the usual.
pub struct Setup {
    pub access: Access,
    pub limits: Limits,
}

impl Default for Setup {
    fn default() -> Self {
        Self { access: Access::ReadWrite, limits: Limits::default() }
    }
}

pub fn options(name: &str) -> PluginOptions {
    PluginOptions::new(name)
}

/// The fixture, locked: what it would be without is the matter of `lock.rs`.
pub async fn load(name: &str, mut options: PluginOptions) -> Result<Plugin, counterfoil::Error> {
    let file = counterfoil_tests::fixture(name);
    options.lock = Some(Plugin::digest_of(&std::fs::read(&file).unwrap()));
    Plugin::load(&SANDBOX, &file, options).await
}

pub fn gate() -> Gate {
    let cache = Some(counterfoil_tests::code());
    let (store, clock, settings) = (Arc::new(MemoryStore::default()), Arc::new(SystemClock), Settings::default());
    Gate::new(GateOptions { store, clock, settings, cache }).unwrap()
}

pub async fn bench(name: &str) -> Bench {
    bench_with(name, Setup::default()).await
}

pub async fn bench_with(name: &str, setup: Setup) -> Bench {
    let data = tempfile::tempdir().unwrap();
    let mut options = options(name);
    options.limits = setup.limits;
    options.dirs.push(DirGrant { host: data.path().into(), guest: "/data".into(), access: setup.access });
    let host = Host::builder(gate()).plugin(load(name, options).await.unwrap()).build().await.unwrap();
    Bench { host, data }
}

/// Limits short enough for a test that waits for them.
pub fn short() -> Setup {
    let mut setup = Setup::default();
    setup.limits.preview = SHORT;
    setup.limits.execute = SHORT;
    setup
}

pub const SHORT: Duration = Duration::from_millis(400);

pub async fn call(host: &Host, tool: &str, arguments: &str) -> (Status, Value) {
    call_with(host, tool, arguments, None).await
}

pub async fn call_with(
    host: &Host,
    tool: &str,
    arguments: &str,
    progress: Option<Arc<dyn Progress>>,
) -> (Status, Value) {
    let owner = Owner::new("name", "test").unwrap();
    let incoming = Incoming { owner, tool: tool.into(), arguments: arguments.into(), progress };
    let reply = host.call(incoming).await;
    (reply.status, serde_json::from_str(&reply.payload).unwrap())
}

/// Previews, and confirms.
pub async fn confirmed(host: &Host, tool: &str, arguments: &str) -> (Status, Value) {
    let (status, first) = call(host, tool, arguments).await;
    assert_eq!(status, Status::ConfirmationRequired, "{first}");
    let mut arguments: Value = serde_json::from_str(arguments).unwrap();
    arguments["confirm_token"] = first["confirm_token"].clone();
    call(host, tool, &arguments.to_string()).await
}

impl Bench {
    pub async fn call(&self, tool: &str, arguments: &str) -> (Status, Value) {
        call(&self.host, tool, arguments).await
    }

    pub async fn confirmed(&self, tool: &str, arguments: &str) -> (Status, Value) {
        confirmed(&self.host, tool, arguments).await
    }

    #[track_caller]
    pub fn put(&self, name: &str, text: &str) {
        std::fs::write(self.data.path().join(name), text).unwrap();
    }

    pub fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.data.path().join(name)).ok()
    }
}

/// Asserts that a call failed or was rejected, why, and that its text says so.
#[track_caller]
pub fn check_refused((status, payload): (Status, Value), expected: Status, reason: &str, text: &str) {
    assert_eq!(status, expected, "{payload}");
    assert_eq!(payload["reason"], reason, "{payload}");
    assert!(payload["error"].as_str().unwrap().contains(text), "{payload}");
}
