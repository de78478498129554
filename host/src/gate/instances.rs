//! Instances of the component: made when needed, kept between calls, thrown away when a call trapped or was dropped in
//! the middle. What is kept has finished its last call, and no instance knows anything of another's.
//!
//! There are two kinds. A *lease* asks the store, whose functions are async: it runs on a stack of its own, so that a
//! call which waits for a store on the network holds no thread. *Aside* runs what only reads or writes texts: without a
//! store, on the caller's stack.
//!
//! Why async and not blocking threads: a cycle (issue, check, consume, record; store in memory) took 21.7 µs with async
//! imports, 20.4 µs with blocking ones on the caller's thread and 70 to 110 µs with blocking ones on threads made for
//! that, which is what a store that waits would need.

use super::bindings::{Component as Bindings, ComponentPre};
use super::imports::Imports;
use super::types::with_room;
use super::{Clock, GateError, Settings};
use crate::store::Store;
use crate::{Error, ErrorKind};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Config, Engine, ResourceLimiter};

/// Memory of one instance: several times the largest outcome that settings allow, which is held in a few copies.
const MEMORY: usize = 512 * 1024 * 1024;
/// An instance whose memory grew beyond this is not kept: one large call must not hold its memory for ever.
const KEEP_MEMORY: usize = 16 * 1024 * 1024;
/// Table elements: the component's own functions need a few dozen.
const TABLE: usize = 10_000;
/// Instances of a kind that are kept while idle. More may run at once; those are made and thrown away.
const IDLE: usize = 64;

/// The engine of the gate. Concurrency support costs a third of a cycle; the component does not use it.
pub(super) fn engine() -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config.concurrency_support(false).wasm_simd(true);
    Engine::new(&config)
}

/// What the limiter of an instance saw.
#[derive(Default)]
pub(super) struct Ceiling {
    memory: usize,
}

impl ResourceLimiter for Ceiling {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > MEMORY {
            return Err(wasmtime::Error::msg(format!("it needs more than {MEMORY} bytes of memory")));
        }
        self.memory = self.memory.max(desired);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE)
    }
}

/// One instance, configured.
struct Instance {
    store: wasmtime::Store<Imports>,
    bindings: Bindings,
}

impl Instance {
    fn worth_keeping(&self) -> bool {
        self.store.data().ceiling.memory <= KEEP_MEMORY
    }
}

/// Instances that wait for their next call; the latest used first, since its memory is warm.
#[derive(Default)]
struct Idle(Mutex<Vec<Instance>>);

impl Idle {
    fn take(&self) -> Option<Instance> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, instance: Instance) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE && instance.worth_keeping() {
            idle.push(instance);
        }
    }
}

/// All instances of a gate.
pub(super) struct Instances {
    engine: Engine,
    /// With the store.
    leased: ComponentPre<Imports>,
    /// With imports that trap.
    aside: ComponentPre<Imports>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    idle_leased: Idle,
    idle_aside: Idle,
}

impl Instances {
    /// Links the component and checks the settings.
    pub(super) fn new(
        engine: &Engine,
        component: &Component,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let failed = |e: wasmtime::Error| Error::new(ErrorKind::Gate, format!("the gate cannot be started: {e:#}"));
        let mut linker = Linker::new(engine);
        Bindings::add_to_linker::<_, HasSelf<_>>(&mut linker, |imports: &mut Imports| imports).map_err(failed)?;
        let mut traps = Linker::new(engine);
        traps.define_unknown_imports_as_traps(component).map_err(failed)?;
        let link = |linker: &Linker<Imports>| linker.instantiate_pre(component).and_then(ComponentPre::new);
        let instances = Self {
            engine: engine.clone(),
            leased: link(&linker).map_err(failed)?,
            aside: link(&traps).map_err(failed)?,
            store,
            clock,
            settings,
            idle_leased: Idle::default(),
            idle_aside: Idle::default(),
        };
        let first = instances.make_aside().map_err(failed)?;
        instances.idle_aside.put(first.map_err(|what| Error::new(ErrorKind::Config, what))?);
        Ok(instances)
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// An instance for one call that asks the store.
    pub(super) async fn lease(&self) -> Result<Lease<'_>, GateError> {
        let instance = match self.idle_leased.take() {
            Some(instance) => instance,
            None => self.make_leased().await.map_err(fault)?,
        };
        Ok(Lease { instance, idle: &self.idle_leased })
    }

    /// Runs one function that does not ask the store.
    pub(super) fn aside<T>(
        &self,
        call: impl FnOnce(&Bindings, &mut wasmtime::Store<Imports>) -> wasmtime::Result<T>,
    ) -> Result<T, GateError> {
        let mut instance = match self.idle_aside.take() {
            Some(instance) => instance,
            None => self.make_aside().map_err(fault)?.map_err(GateError::Fault)?,
        };
        let result = call(&instance.bindings, &mut instance.store).map_err(fault)?;
        self.idle_aside.put(instance);
        Ok(result)
    }

    async fn make_leased(&self) -> wasmtime::Result<Instance> {
        let mut store = self.wasm_store();
        let bindings = self.leased.instantiate_async(&mut store).await?;
        let configured = bindings.counterfoil_gate_gate().call_configure(&mut store, with_room(self.settings)).await?;
        configured.map_err(wasmtime::Error::msg)?;
        Ok(Instance { store, bindings })
    }

    /// The inner error is the component's word on the settings.
    fn make_aside(&self) -> wasmtime::Result<Result<Instance, String>> {
        let mut store = self.wasm_store();
        let bindings = self.aside.instantiate(&mut store)?;
        let configured =
            at_once(bindings.counterfoil_gate_gate().call_configure(&mut store, with_room(self.settings)))?;
        Ok(configured.map(|()| Instance { store, bindings }))
    }

    fn wasm_store(&self) -> wasmtime::Store<Imports> {
        let imports = Imports::new(Arc::clone(&self.store), Arc::clone(&self.clock));
        let mut store = wasmtime::Store::new(&self.engine, imports);
        store.limiter(|imports| &mut imports.ceiling);
        store
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
impl Instances {
    pub(super) fn idle(&self) -> usize {
        self.idle_leased.0.lock().unwrap().len()
    }

    pub(super) fn idle_aside(&self) -> usize {
        self.idle_aside.0.lock().unwrap().len()
    }
}

/// An instance on loan for one call. Dropped before it is settled, which is what a dropped future does, the instance is
/// thrown away: nobody knows in which state it is.
pub(super) struct Lease<'a> {
    instance: Instance,
    idle: &'a Idle,
}

impl Lease<'_> {
    /// What a call takes.
    pub(super) fn parts(&mut self) -> (&Bindings, &mut wasmtime::Store<Imports>) {
        (&self.instance.bindings, &mut self.instance.store)
    }

    /// Ends the loan with what the call returned: after a trap the instance is thrown away.
    pub(super) fn settle<T>(self, result: wasmtime::Result<T>) -> Result<T, GateError> {
        let value = result.map_err(fault)?;
        self.idle.put(self.instance);
        Ok(value)
    }
}

/// The innermost cause only: what is around it is a backtrace.
fn fault(error: wasmtime::Error) -> GateError {
    let cause = error.root_cause().to_string();
    tracing::error!(cause, "the gate component failed");
    GateError::Fault(cause)
}

/// Runs a future that has nothing to wait for.
fn at_once<T>(future: impl Future<Output = wasmtime::Result<T>>) -> wasmtime::Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(wasmtime::Error::msg("it waits for something that it should not need")),
    }
}
