//! What all plug-ins share: the engine with its limits, the clock that interrupts it, what it links, and the compiled code
//! on disk. A sandbox grants nothing by itself.

use super::bindings::counterfoil::tool::progress;
use super::instance::State;
use super::lanes::Lanes;
use super::turns::Turns;
use super::watch;
use crate::cache::CodeCache;
use crate::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, Enabled, Engine, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig};

/// How often running guests give the host a chance to stop them. Every deadline is kept to within a few of these.
const TICK: Duration = Duration::from_millis(10);
/// Instances alive at once, of all plug-ins together; calls above it wait. The pool has room for as many of the largest that
/// are loaded: who has a slot never waits for the pool, whatever the others are made of.
pub(super) const INSTANCES: u32 = 32;
/// A component may consist of several core modules: Python's are about a dozen. Tables are bounded by the same number.
pub(super) const CORE_INSTANCES_EACH: u32 = 64;
/// Linear memories of one component. Languages make one, so this is for components that are put together from several. Each
/// reserves 4 GiB of address space, so this is what makes the pool large.
pub(super) const MEMORIES_EACH: u32 = 4;
/// Elements of one table. JavaScript and Python need some ten thousand.
pub(super) const TABLE_ELEMENTS: usize = 100_000;
/// Kept in memory between calls, per memory of the pool that is warm, so that a small plug-in's pages need no new fault.
const KEEP_RESIDENT: usize = 1 << 20;
/// The same for a table. The pool has many, and keeps every one warm.
const TABLE_KEEP_RESIDENT: usize = 64 << 10;
/// Of native stack for the guest's own frames, in bytes: what an operator may ask for. Less and nothing runs; more and a pool
/// of them would be large.
pub(super) const STACKS: RangeInclusive<u64> = 64 << 10..=16 << 20;
/// The usual one.
const STACK: u64 = 1 << 20;
/// What is added for the host functions that a guest calls.
const HOST_STACK: u64 = 1 << 20;

/// How a [`Sandbox`] is made.
#[derive(Clone, Debug, Default)]
pub struct SandboxOptions {
    /// The folder for compiled code; without one each start compiles, which takes from 50 ms to many seconds a plug-in.
    pub cache: Option<PathBuf>,
}

/// What all plug-ins of a host share. Cheap to keep, dear to make: one is enough for a process.
pub struct Sandbox {
    /// The one that most plug-ins run on.
    usual: Arc<Machine>,
    /// Those for other sizes of stack, made when the first plug-in needs one and gone with the last: the size is the engine's
    /// setting, and each has a pool of its own. Compiled code is the same for all.
    others: Mutex<BTreeMap<u64, Weak<Machine>>>,
    pub(super) cache: CodeCache,
    /// One for each instance that can be at once, whichever plug-in's it is.
    pub(super) slots: Arc<Turns>,
    pub(super) lanes: Lanes,
    #[cfg(feature = "http")]
    pub(super) network: Arc<super::http::Network>,
}

/// An engine with what runs beside it.
pub(super) struct Machine {
    pub(super) engine: Engine,
    pub(super) linker: Linker<State>,
    pooled: bool,
    _ticker: mpsc::Sender<()>,
}

impl Machine {
    fn new(stack: u64) -> Result<Arc<Self>, Error> {
        let (engine, pooled) = engine(stack).map_err(|error| cannot("make the engine for plug-ins", &error))?;
        let linker = linker(&engine).map_err(|error| cannot("link the interfaces for plug-ins", &error))?;
        let ticker = tick(engine.weak()).map_err(|error| cannot("start the clock of the plug-ins", &error.into()))?;
        Ok(Arc::new(Self { engine, linker, pooled, _ticker: ticker }))
    }
}

impl Sandbox {
    /// Makes the engine and starts its ticker, a thread that ends when the sandbox and its plug-ins are dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Plugin`] when this machine cannot run the engine at all.
    pub fn new(options: SandboxOptions) -> Result<Arc<Self>, Error> {
        let (usual, others) = (Machine::new(STACK)?, Mutex::default());
        let slots = Arc::new(Turns::shared(INSTANCES));
        Ok(Arc::new(Self {
            usual,
            others,
            cache: CodeCache::new(options.cache),
            slots,
            lanes: Lanes::default(),
            #[cfg(feature = "http")]
            network: Arc::default(),
        }))
    }

    /// What a plug-in with that much stack runs on.
    pub(super) fn machine(&self, stack: u64) -> Result<Arc<Machine>, Error> {
        if stack == STACK {
            return Ok(Arc::clone(&self.usual));
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(machine) = others.get(&stack).and_then(Weak::upgrade) {
            return Ok(machine);
        }
        others.retain(|_, machine| machine.strong_count() > 0);
        let machine = Machine::new(stack)?;
        others.insert(stack, Arc::downgrade(&machine));
        Ok(machine)
    }

    /// Whether this component's compiled code is in the cache: where it is not, loading it can take many seconds, and a
    /// program may want to say so.
    pub fn is_compiled(&self, component: &[u8]) -> bool {
        self.cache.holds(&self.usual.engine, component)
    }

    /// Whether instances come from a pool, which halves the cost of a call. There is none where the kernel cannot clear
    /// memory cheaply or refuses the address space.
    pub fn is_pooled(&self) -> bool {
        self.usual.pooled
    }

    /// How this component's compiled code is kept in a folder.
    #[cfg(feature = "program")]
    pub(crate) fn held(&self, folder: &std::path::Path, component: &[u8]) -> crate::cache::Held {
        CodeCache::new(Some(folder.to_owned())).held(&self.usual.engine, component)
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("cache", &self.cache).finish_non_exhaustive()
    }
}

fn cannot(what: &str, error: &wasmtime::Error) -> Error {
    Error::new(ErrorKind::Plugin, format!("cannot {what}: {error}"))
}

/// With a pool of instances where the kernel can clear their memory cheaply, which halves the cost of a call; without where
/// it cannot (the pool gains nothing then) or where the address space for it is refused.
fn engine(stack: u64) -> wasmtime::Result<(Engine, bool)> {
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        match Engine::new(config(stack).allocation_strategy(InstanceAllocationStrategy::Pooling(pool()))) {
            Ok(engine) => return Ok((engine, true)),
            Err(error) => tracing::debug!(%error, "no room for a pool of instances; each call allocates its own"),
        }
    }
    Ok((Engine::new(&config(stack))?, false))
}

fn config(stack: u64) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.concurrency_support(false);
    // A shared memory would grow past the limiter.
    config.wasm_threads(false);
    config.max_wasm_stack(stack as usize);
    config.async_stack_size((stack + HOST_STACK) as usize);
    // Host backtraces would only carry our own paths into error texts.
    config.wasm_backtrace_max_frames(None);
    config
}

fn pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.pagemap_scan(Enabled::Yes)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(TABLE_KEEP_RESIDENT)
        .total_component_instances(INSTANCES)
        .total_core_instances(INSTANCES * CORE_INSTANCES_EACH)
        .total_memories(INSTANCES * MEMORIES_EACH)
        .total_tables(INSTANCES * CORE_INSTANCES_EACH)
        .total_stacks(INSTANCES * 2)
        .table_elements(TABLE_ELEMENTS)
        .max_core_instances_per_component(CORE_INSTANCES_EACH)
        // Loading refuses more, with or without a pool.
        .max_memories_per_component(INSTANCES * MEMORIES_EACH)
        .max_memories_per_module(INSTANCES * MEMORIES_EACH)
        .max_tables_per_component(CORE_INSTANCES_EACH)
        .max_tables_per_module(16)
        .max_unused_warm_slots(INSTANCES)
        // The slot reserves this anyway; what a plug-in may use of it is its own limit.
        .max_memory_size(1 << 32);
    pool
}

/// Everything of WASI 0.2 links, so that components of every language load; what is not granted answers "not permitted".
/// Sockets among it: Python's components import them. Outbound HTTP links as well where the host is built with it. Nothing
/// else does: no key-value, nothing of the host's.
fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    #[cfg(feature = "http")]
    super::http::charged::add_to_linker(&mut linker)?;
    progress::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    // The file system goes through an observer instead.
    linker.allow_shadowing(true);
    watch::add_to_linker(&mut linker)?;
    linker.allow_shadowing(false);
    Ok(linker)
}

fn tick(engine: EngineWeak) -> std::io::Result<mpsc::Sender<()>> {
    let (alive, ended) = mpsc::channel::<()>();
    std::thread::Builder::new().name("counterfoil-tick".into()).spawn(move || {
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(TICK) {
            let Some(engine) = engine.upgrade() else { break };
            engine.increment_epoch();
        }
    })?;
    Ok(alive)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_machine_for_another_stack_is_shared_and_goes_with_its_last_plug_in() {
        let sandbox = Sandbox::new(SandboxOptions::default()).unwrap();
        let first = sandbox.machine(2 << 20).unwrap();
        assert!(Arc::ptr_eq(&first, &sandbox.machine(2 << 20).unwrap()));
        let engine = first.engine.weak();
        drop(first);
        assert!(engine.upgrade().is_none());
        let others = || sandbox.others.lock().unwrap().len();
        let _second = sandbox.machine(3 << 20).unwrap();
        assert_eq!(others(), 1);
    }
}
