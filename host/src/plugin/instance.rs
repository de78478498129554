//! One instance of a plug-in: made for one call, with what that call may use, and dropped after it. Nothing outlives it.

use super::bindings::{self, PluginPre};
use super::given::Given;
use super::http::Reach;
#[cfg(feature = "http")]
use super::http::{Denials, FIELDS, Traffic};
use super::opened::Opened;
use super::options::Limits;
use super::sandbox::MEMORIES_EACH;
use super::stdio::Kept;
use super::veil::Veil;
use super::watch::Files;
use crate::tool::{Observed, Power, Progress};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::{ResourceLimiter, Store};
use wasmtime_wasi::filesystem::WasiFilesystemCtxView;
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};
#[cfg(feature = "http")]
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// Data that a guest may hand to the host in one call, beside its outcome: a piece of a file, a list of directories.
const TRANSFER: u64 = 16 << 20;
/// Random bytes that a guest may ask for at once.
const RANDOM: u64 = 1 << 20;
/// Entries of the tables in which the host keeps which of a component's parts has which handle: more than any has that lives.
const TABLED: usize = 100_000;
/// Longest message of a progress report, in bytes.
const REPORT: usize = 1024;
/// Shortest time between two progress reports that are passed on.
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// What a store holds.
pub(super) struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    files: Files,
    #[cfg(feature = "http")]
    http: (WasiHttpCtx, Traffic),
    pub(super) usage: Usage,
    pub(super) stdout: Kept,
    pub(super) stderr: Kept,
    progress: Option<Arc<dyn Progress>>,
    veil: Veil,
    reported: Option<Instant>,
}

/// An instance that is ready to be called, once.
pub(super) struct Instance {
    pub(super) store: Store<State>,
    pub(super) plugin: bindings::Plugin,
}

impl State {
    fn new(limits: &Limits, given: &Given, power: Power, opened: Opened) -> std::io::Result<Self> {
        let (stdout, stderr) = (Kept::new(limits.log as usize), Kept::new(limits.log as usize));
        let mut wasi = WasiCtx::builder();
        wasi.stdout(stdout.clone()).stderr(stderr.clone()).max_random_size(RANDOM);
        wasi.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
        for (name, value) in &given.env {
            wasi.env(name, value.value());
        }
        given.fixed.apply(&mut wasi);
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles as usize);
        let dirs = given.dirs.iter().map(|granted| granted.for_call(power)).collect::<Result<_, _>>()?;
        Ok(Self {
            wasi: wasi.build(),
            table,
            files: Files::new(dirs, opened),
            #[cfg(feature = "http")]
            http: {
                let mut fields = WasiHttpCtx::new();
                fields.set_field_size_limit(FIELDS);
                (fields, Traffic::new(&given.web, limits))
            },
            usage: Usage::new(limits),
            stdout,
            stderr,
            progress: None,
            veil: Veil::default(),
            reported: None,
        })
    }

    /// Lets the instance reach so far: until this is called it can change nothing and send nothing.
    pub(super) fn open(&mut self, reach: Reach) {
        self.files.changes.allowed = reach == Reach::Granted;
        #[cfg(feature = "http")]
        {
            self.http.1.reach = reach;
        }
    }

    /// What it sends.
    #[cfg(feature = "http")]
    pub(super) fn traffic(&mut self) -> &mut Traffic {
        &mut self.http.1
    }

    /// What it was not allowed to send.
    #[cfg(feature = "http")]
    pub(super) fn denials(&self) -> Option<&Denials> {
        self.http.1.denials()
    }

    /// Whether a function was entered that changes a file.
    pub(super) fn has_changed_files(&self) -> bool {
        self.files.changes.entered
    }

    /// What the host saw of what the instance changed.
    pub(super) fn observed(&self) -> Observed {
        let entered = self.has_changed_files();
        #[cfg(feature = "http")]
        let entered = entered || self.http.1.has_changed();
        if entered { Observed::Change } else { Observed::Nothing }
    }

    /// The file system's part: wasmtime-wasi's, and ours.
    pub(super) fn files(&mut self) -> (WasiFilesystemCtxView<'_>, &mut Files) {
        (WasiFilesystemCtxView { ctx: self.wasi.filesystem(), table: &mut self.table }, &mut self.files)
    }
}

impl Instance {
    /// A fresh one, which notes in `opened` what it opens. The component's start code runs here, without the power to change
    /// anything.
    pub(super) async fn new(
        pre: &PluginPre<State>,
        limits: &Limits,
        given: &Given,
        power: Power,
        opened: Opened,
    ) -> wasmtime::Result<Self> {
        let mut store = Store::new(pre.engine(), State::new(limits, given, power, opened)?);
        store.limiter(|state| &mut state.usage);
        store.set_hostcall_fuel(limits.output.saturating_add(TRANSFER) as usize);
        store.set_max_component_handles(TABLED);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let plugin = pre.instantiate_async(&mut store).await?;
        Ok(Self { store, plugin })
    }

    /// Tells somebody how far the call is.
    pub(super) fn listen(&mut self, progress: Option<Arc<dyn Progress>>, veil: &Veil) {
        let state = self.store.data_mut();
        (state.progress, state.veil) = (progress, veil.clone());
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

#[cfg(feature = "http")]
impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let (ctx, traffic) = &mut self.http;
        WasiHttpCtxView { hooks: traffic, table: &mut self.table, ctx }
    }
}

impl bindings::counterfoil::tool::progress::Host for State {
    fn report(&mut self, fraction: Option<f64>, message: String) {
        let Some(progress) = &self.progress else { return };
        if self.reported.is_some_and(|last| last.elapsed() < REPORT_EVERY) {
            return;
        }
        self.reported = Some(Instant::now());
        let fraction = fraction.filter(|fraction| (0.0..=1.0).contains(fraction));
        self.veil.report(&**progress, fraction, &message, REPORT);
    }
}

/// A text cut, visibly, to so many bytes.
pub(super) fn shortened(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit.saturating_sub('…'.len_utf8())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// What an instance uses of memory and tables, in all: a limit for each memory would be no limit for the instance.
#[derive(Debug)]
pub(super) struct Usage {
    memory: u64,
    memory_limit: u64,
    tables: u64,
    tables_limit: u64,
    instances: usize,
    /// Which limit ended the instance, in words.
    pub(super) exceeded: Option<String>,
}

impl Usage {
    fn new(limits: &Limits) -> Self {
        Self {
            memory: 0,
            memory_limit: limits.memory,
            tables: 0,
            tables_limit: limits.table_elements,
            instances: limits.instances as usize,
            exceeded: None,
        }
    }
}

/// Takes `current → desired` of a pool; growing past the limit is an error: a guest that only got -1 would often go on
/// and fail in a place that nobody understands.
fn grow(used: &mut u64, limit: u64, current: usize, desired: usize) -> bool {
    let wanted = used.saturating_add((desired as u64).saturating_sub(current as u64));
    if wanted <= limit {
        *used = wanted;
    }
    wanted <= limit
}

impl ResourceLimiter for Usage {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if grow(&mut self.memory, self.memory_limit, current, desired) {
            return Ok(true);
        }
        let text =
            format!("out of memory: it may use {} (`memory` under its limits)", crate::text::bytes(self.memory_limit));
        self.exceeded = Some(text.clone());
        Err(wasmtime::Error::msg(text))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if grow(&mut self.tables, self.tables_limit, current, desired) {
            return Ok(true);
        }
        let text = format!(
            "out of table space: it may use {} elements (`table_elements` under its limits)",
            self.tables_limit
        );
        self.exceeded = Some(text.clone());
        Err(wasmtime::Error::msg(text))
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.instances
    }

    fn memories(&self) -> usize {
        MEMORIES_EACH as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_character_and_visibly() {
        assert_eq!(shortened("abc".into(), 3), "abc");
        assert_eq!(shortened("éééé".into(), 6), "é…");
        assert_eq!(shortened("éééé".into(), 7), "éé…");
    }

    #[test]
    fn the_limit_is_one_for_all_memories_together() {
        let mut usage = Usage::new(&Limits { memory: 100, ..Limits::default() });
        assert!(usage.memory_growing(0, 60, None).is_ok());
        assert!(usage.memory_growing(0, 41, None).is_err());
        assert!(usage.memory_growing(0, 40, None).is_ok());
        assert!(usage.memory_growing(60, 61, None).is_err());
    }
}
