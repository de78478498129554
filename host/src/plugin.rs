//! Plug-ins: tools shipped as WebAssembly components. Each call gets a fresh instance with a deadline, a memory limit and an
//! output limit; a preview and every safe call cannot change what the host controls; nothing remains for the next call.
//!
//! A component is a plug-in when it exports `counterfoil:tool/tools@0.1.0`; what else it exports is not looked at. It may
//! import `counterfoil:tool/progress` and everything of WASI 0.2: `cli`, `clocks`, `filesystem`, `io`, `random`, `sockets`.
//! With the feature `http` it may import `wasi:http` as well, to send requests. Of these only clocks and randomness work
//! without a grant: standard input is empty, there are no arguments and no variables, standard output goes to the log, every
//! use of a socket or a name look-up is denied, there are no directories but the granted ones, and every request is denied
//! that no grant lets through. Nothing else links, and a component that imports it is not loaded.
//!
//! ```no_run
//! # async fn example() -> Result<(), counterfoil::Error> {
//! use counterfoil::plugin::{Access, DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
//!
//! let sandbox = Sandbox::new(SandboxOptions { cache: Some("/var/cache/example".into()) })?;
//! let mut options = PluginOptions::new("files");
//! // What `sha256sum` said of the file when you looked at it. Without it every call that may change something is confirmed.
//! options.lock = Some("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".into());
//! options.dirs.push(DirGrant { host: "workspace".into(), guest: "/files".into(), access: Access::ReadWrite });
//! let files = Plugin::load(&sandbox, "files.wasm".as_ref(), options).await?;
//! for tool in files.tools() {
//!     println!("{} ({:?})", tool.name, tool.level);
//! }
//! # Ok(())
//! # }
//! ```

mod alone;
mod call;
mod describe;
mod env;
mod fixed;
mod given;
pub(crate) mod grants;
#[cfg_attr(not(feature = "http"), expect(dead_code, reason = "what sends requests is not there"))]
pub(crate) mod http;
mod instance;
mod lacks;
mod lanes;
mod linked;
mod listing;
mod load;
pub(crate) mod manifest;
mod opened;
mod options;
mod piece;
pub(crate) mod reach;
mod sandbox;
mod slot;
mod special;
mod stdio;
pub(crate) mod turns;
mod veil;
mod watch;
mod weight;

pub use env::Secret;
pub use fixed::Fixed;
pub use given::{Grant, GrantKind};
pub use http::{HttpGrant, Scheme};
pub use manifest::{Declared, DeclaredDir, DeclaredHttp, SECTION};
pub use options::{Access, DirGrant, Limits, PluginOptions};
pub use sandbox::{Sandbox, SandboxOptions};
#[cfg(test)]
pub(crate) use slot::SETTLES;

use crate::Error;
use crate::digest::Digest;
use crate::schema::Schema;
use crate::schema::secret::Secrets;
use crate::tool::{Backend, Declaration, Plan, Power, Prepared, Progress, ToolError};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What wasmtime generates from `wit/tool`.
mod bindings {
    wasmtime::component::bindgen!({
        path: "wit/tool",
        world: "plugin",
        exports: { default: async },
    });
}

/// A loaded plug-in. Clones share it.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<Inner>,
}

/// What a call needs, for as long as it takes.
struct Inner {
    name: String,
    sandbox: Arc<Sandbox>,
    pre: bindings::PluginPre<instance::State>,
    /// What it runs on, with its clock.
    _machine: Arc<sandbox::Machine>,
    digest: String,
    imports: Vec<String>,
    exports: Vec<String>,
    limits: Limits,
    /// Whether its bytes are those that the operator has looked at.
    locked: bool,
    /// All its tools, under its own names.
    all: Vec<Declaration>,
    /// The file that it was loaded from.
    source: Option<PathBuf>,
    /// What it asks for: its own word, or the operator's where it has none.
    declared: Option<manifest::Declared>,
    /// Whether it is its own word.
    declares: bool,
    given: given::Given,
    /// What its variables are taken out with.
    veil: veil::Veil,
    /// What of it is given, and why the rest is not.
    told: Vec<Grant>,
    lacks: lacks::Lacks,
    tools: Vec<Declaration>,
    /// From the listed name to the plug-in's own.
    own: BTreeMap<String, String>,
    /// Input schemas, by the plug-in's own names.
    schemas: BTreeMap<String, Arc<Schema>>,
    turns: Arc<turns::Turns>,
    /// The turns of the plug-in in whose place it is, where that has the same number of them: these count then.
    turns_before: OnceLock<Arc<turns::Turns>>,
    /// What its calls have printed of late.
    volume: stdio::Volume,
}

impl Plugin {
    /// Reads, checks and compiles a plug-in file, and asks it for its tools. What was read and digested is what runs: the file
    /// is not looked at again. The granted directories are opened here, once: they are what a call gets, and a call is refused
    /// while another directory, or none, stands at the path of one.
    ///
    /// # Errors
    /// [`ErrorKind::Plugin`](crate::ErrorKind::Plugin) when the file or what it declares is not acceptable,
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) when an option is not: among them a directory that reaches the
    /// plug-in's file or the sandbox's compiled code.
    pub async fn load(sandbox: &Arc<Sandbox>, path: &Path, options: PluginOptions) -> Result<Self, Error> {
        let place = path.display().to_string();
        let bytes = load::read(path.to_owned()).await.map_err(|error| load::bad(&options.name, &place, error))?;
        load::plugin(sandbox, bytes, options, &place, Some(path)).await
    }

    /// The bytes of a plug-in's file, read as [`Plugin::load`] does; the error says what is wrong with it.
    #[cfg(feature = "program")]
    pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, String> {
        load::bytes(path)
    }

    /// The component with a manifest, which it must not have yet. The error is about the component, or else about the manifest.
    #[cfg(feature = "program")]
    pub(crate) fn with_manifest(component: &[u8], manifest: &str) -> Result<Vec<u8>, Result<String, String>> {
        load::kind(component).map_err(Ok)?;
        Declared::from_json(manifest).map_err(Err)?;
        manifest::put(component, manifest).map_err(Ok)
    }

    /// As [`Plugin::load`], for a component that is already in memory; `place` names it in errors.
    ///
    /// # Errors
    /// As for [`Plugin::load`].
    pub async fn from_bytes(
        sandbox: &Arc<Sandbox>,
        bytes: impl Into<Vec<u8>>,
        options: PluginOptions,
        place: &str,
    ) -> Result<Self, Error> {
        load::plugin(sandbox, bytes.into(), options, place, None).await
    }

    /// Its turns and those that it counts its calls with, for whoever takes its place.
    pub(crate) fn line(&self) -> turns::Line {
        self.inner.turns().line()
    }

    /// Counts its calls with those of the plug-ins that had its name, as long as they have some.
    pub(crate) fn succeed(&self, line: &turns::Line) {
        match line.live().next() {
            Some(newest) if newest.is_like(&self.inner.turns) => {
                let _ = self.inner.turns_before.set(newest);
            }
            _ => self.inner.turns.succeed(line),
        }
    }

    /// The operator's name for it.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The tools that are switched on, under their listed names.
    pub fn tools(&self) -> &[Declaration] {
        &self.inner.tools
    }

    /// All its tools, switched on or not, under its own names.
    pub fn own_tools(&self) -> &[Declaration] {
        &self.inner.all
    }

    /// Whether its bytes are those that the operator has looked at ([`PluginOptions::lock`]).
    pub fn is_locked(&self) -> bool {
        self.inner.locked
    }

    /// The listed name of one of the plug-in's own tools; `None` where it has none of that name or it is switched off.
    pub fn listed(&self, own: &str) -> Option<&str> {
        self.inner.own.iter().find(|(_, name)| *name == own).map(|(listed, _)| listed.as_str())
    }

    /// SHA-256 of the component's bytes, as `sha256sum` prints it.
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// The digest that a component would have, for [`PluginOptions::lock`]: `sha256sum` prints the same.
    pub fn digest_of(component: &[u8]) -> String {
        crate::digest::sha256(component)
    }

    /// The interfaces that the component imports.
    pub fn imports(&self) -> &[String] {
        &self.inner.imports
    }

    /// What the component exports, used by the host or not.
    pub fn exports(&self) -> &[String] {
        &self.inner.exports
    }

    /// What the component itself says that it needs.
    pub fn declaration(&self) -> Option<&Declared> {
        self.inner.declared.as_ref().filter(|_| self.inner.declares)
    }

    /// What of it the plug-in has, and what it has not: of what it asks for, what the operator grants.
    pub fn grants(&self) -> &[Grant] {
        &self.inner.told
    }

    /// What a call would do. Runs without the power to change anything, so it needs no permit. The arguments must be
    /// canonical and must have been checked against the schema: [`Host::call`](crate::Host::call) does both.
    ///
    /// # Errors
    /// Every [`ToolError`].
    pub async fn preview(
        &self,
        tool: &str,
        arguments: &str,
        progress: Option<Arc<dyn Progress>>,
    ) -> Result<Plan, ToolError> {
        let secrets = self.inner.secrets(tool, arguments);
        self.inner.preview(DIRECT, tool, arguments, secrets, progress).await
    }
}

/// Who calls where no owner is named: the library's user. An owner is never empty, so it is nobody else.
const DIRECT: &str = "";

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Inner { name, digest, given, limits, .. } = &*self.inner;
        f.debug_struct("Plugin")
            .field("name", name)
            .field("digest", digest)
            .field("given", given)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Backend for Plugin {
    fn name(&self) -> &str {
        &self.inner.name
    }

    fn tools(&self) -> &[Declaration] {
        &self.inner.tools
    }

    fn identity(&self, tool: &str) -> String {
        let inner = &*self.inner;
        let mut digest = Digest::new("counterfoil plug-in tool");
        digest.field(&inner.digest).field(inner.own.get(tool).map_or("", String::as_str));
        inner.given.digest(&mut digest);
        digest.finish()
    }

    fn enforced(&self) -> bool {
        true
    }

    fn locked(&self) -> bool {
        self.inner.locked
    }

    fn schema(&self, tool: &str) -> Option<Arc<Schema>> {
        self.inner.schemas.get(self.inner.own.get(tool)?).cloned()
    }

    fn deadline(&self, _: &str) -> Duration {
        self.inner.limits.execute
    }

    fn preview_deadline(&self, _: &str) -> Duration {
        self.inner.limits.preview
    }

    async fn preview(
        &self,
        owner: &str,
        tool: &str,
        arguments: &str,
        secrets: Secrets,
        progress: Option<Arc<dyn Progress>>,
    ) -> Result<Plan, ToolError> {
        self.inner.preview(owner, tool, arguments, secrets, progress).await
    }

    async fn prepare(
        &self,
        owner: &str,
        tool: &str,
        power: Power,
        secrets: Secrets,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        let ready = Arc::clone(&self.inner).prepare(owner, tool, power, secrets).await?;
        Ok(Box::new(ready))
    }
}
