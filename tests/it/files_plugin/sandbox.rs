//! Runs the files plug-in by itself, under wasmtime and nothing else: what it does without the host's care.

use counterfoil_tests::component;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Store};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

mod bindings {
    wasmtime::component::bindgen!({ path: "../wit/tool", world: "plugin" });
}

pub use bindings::exports::counterfoil::tool::tools::{Context, Effect, Level, Outcome, Plan, Tool, ToolError};

type OnReport = Box<dyn FnMut(Option<f64>, &str) + Send>;

struct State {
    table: ResourceTable,
    wasi: WasiCtx,
    on_report: OnReport,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl bindings::counterfoil::tool::progress::Host for State {
    fn report(&mut self, fraction: Option<f64>, message: String) {
        (self.on_report)(fraction, &message);
    }
}

/// Compiled once for all tests.
static PLUGIN: LazyLock<(Engine, bindings::PluginPre<State>)> = LazyLock::new(|| {
    let engine = Engine::default();
    let component = Component::from_file(&engine, component("files")).unwrap();
    let mut linker = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
    bindings::counterfoil::tool::progress::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state).unwrap();
    let plugin = bindings::PluginPre::new(linker.instantiate_pre(&component).unwrap()).unwrap();
    (engine, plugin)
});

/// A directory with `granted`, which the plug-in sees, and `outside`, which it must not.
pub struct Sandbox {
    pub top: tempfile::TempDir,
    grants: Vec<(PathBuf, String)>,
}

impl Sandbox {
    /// One grant, as most operators will have it.
    pub fn new() -> Self {
        Self::granted_as(&["/files"])
    }

    /// The same directory layout under other guest names: `granted`, then `granted2`, …
    pub fn granted_as(guests: &[&str]) -> Self {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join("outside")).unwrap();
        fs::write(top.path().join("outside/secret.txt"), "secret").unwrap();
        let grant = |(at, guest): (usize, &&str)| {
            let host = top.path().join(if at == 0 { "granted".to_owned() } else { format!("granted{}", at + 1) });
            fs::create_dir(&host).unwrap();
            (host, (*guest).to_owned())
        };
        let grants = guests.iter().enumerate().map(grant).collect();
        Self { top, grants }
    }

    /// A path below the first granted directory, on the host.
    pub fn path(&self, below: &str) -> PathBuf {
        self.top.path().join("granted").join(below)
    }

    /// Writes a file and the directories above it.
    pub fn put(&self, below: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// The same, as what somebody else does between preview and run.
    pub fn change(&self, below: &str, content: impl AsRef<[u8]>) {
        self.put(below, content);
    }

    fn instance(&self, perms: FsPerms, on_report: OnReport) -> (Store<State>, bindings::Plugin) {
        let mut wasi = WasiCtxBuilder::new();
        for (host, guest) in &self.grants {
            wasi.preopened_dir(host, guest, perms).unwrap();
        }
        let (engine, plugin) = &*PLUGIN;
        let state = State { table: ResourceTable::new(), wasi: wasi.build(), on_report };
        let mut store = Store::new(engine, state);
        let instance = plugin.instantiate(&mut store).unwrap();
        (store, instance)
    }

    pub fn tools(&self) -> Vec<Tool> {
        let (mut store, plugin) = self.instance(FsPerms::ReadOnly, Box::new(|_, _| {}));
        plugin.counterfoil_tool_tools().call_list_tools(&mut store).unwrap()
    }

    /// As the host does it: read-only. Fails the test where anything changed.
    pub fn preview(&self, tool: &str, arguments: Value) -> Result<Plan, ToolError> {
        let before = tree(self.top.path());
        let (mut store, plugin) = self.instance(FsPerms::ReadOnly, Box::new(|_, _| {}));
        let plan = plugin.counterfoil_tool_tools().call_preview(&mut store, tool, &arguments.to_string()).unwrap();
        assert_eq!(before, tree(self.top.path()), "the preview of {tool} changed something");
        plan
    }

    /// With the power that the host gives at this level.
    pub fn execute(
        &self,
        tool: &str,
        arguments: &Value,
        level: Level,
        precondition: Option<String>,
    ) -> Result<Outcome, ToolError> {
        let perms = if level == Level::Safe { FsPerms::ReadOnly } else { FsPerms::ReadWrite };
        self.execute_with(perms, tool, arguments, level, precondition, Box::new(|_, _| {}))
    }

    pub fn execute_with(
        &self,
        perms: FsPerms,
        tool: &str,
        arguments: &Value,
        level: Level,
        precondition: Option<String>,
        on_report: OnReport,
    ) -> Result<Outcome, ToolError> {
        let (mut store, plugin) = self.instance(perms, on_report);
        let context = Context { operation_id: "operation-1".to_owned(), level, precondition };
        plugin.counterfoil_tool_tools().call_execute(&mut store, tool, &arguments.to_string(), &context).unwrap()
    }

    /// Everything there is, granted or not.
    pub fn tree(&self) -> BTreeMap<PathBuf, String> {
        tree(self.top.path())
    }
}

/// Each path with kind and content.
fn tree(top: &Path) -> BTreeMap<PathBuf, String> {
    let (mut found, mut open) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let mark = if kind.is_dir() {
                open.push(path.clone());
                "directory".to_owned()
            } else if kind.is_symlink() {
                format!("link {}", fs::read_link(&path).unwrap().display())
            } else if kind.is_file() {
                format!("file {:?}", Sha256::digest(fs::read(&path).unwrap()))
            } else {
                "special".to_owned()
            };
            found.insert(path, mark);
        }
    }
    found
}
