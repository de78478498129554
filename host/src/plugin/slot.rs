//! What a call needs before it can begin, its slot, and how long it has that: until its instance is gone and the operating
//! system has ended whatever the instance had begun. Then, and not earlier, the next call may have it.

use super::Inner;
use super::alone::{Alone, Waits, alone};
use super::instance::Instance;
use super::opened::Opened;
use super::options::Access;
use super::turns::{Place, Turn, Turns};
use crate::text;
use crate::tool::{Power, ToolError};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

/// How long a run whose time is up is waited for while a function of the file system goes on. Within the host's grace.
pub(crate) const SETTLES: Duration = Duration::from_millis(1500);

/// A call's turn among those of its plug-in, and of other processes, and among all.
struct Slot {
    _own: Own,
    _shared: Turn,
    _places: [Place; 2],
}

/// Its turn among those of its plug-in.
enum Own {
    Shared { _turn: Turn },
    Alone { _alone: Alone<Turn> },
}

/// An instance and its slot. They go in this order.
pub(super) struct Held {
    pub(super) instance: Instance,
    lease: Lease,
}

/// A slot, which outlives this as long as something is in use that its instance has opened.
pub(super) struct Lease {
    plugin: Arc<Inner>,
    slot: Option<Slot>,
    opened: Opened,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take()
            && self.opened.in_use()
        {
            let plugin = &self.plugin.name;
            tracing::warn!(
                plugin,
                "a call into the file system goes on after its plug-in was stopped: its turn waits for it"
            );
            self.opened.clone().keeps(slot);
        }
    }
}

impl Held {
    /// Drops the instance, and waits for what it has begun to change where it has. The error says that this goes on.
    pub(super) async fn ends(self: Box<Self>, has_changed_files: bool) -> Result<(), ToolError> {
        let Self { instance, lease } = *self;
        drop(instance);
        if has_changed_files && !lease.opened.is_let_go(SETTLES).await {
            return Err(ToolError::Deadline(format!(
                "it ended {SETTLES:?} ago, and a call into the file system that it began has not ended yet"
            )));
        }
        Ok(())
    }
}

impl Inner {
    /// Waits for a slot, and makes an instance for it.
    pub(super) async fn held(self: &Arc<Self>, owner: &str, power: Power) -> Result<Box<Held>, ToolError> {
        let lease = self.lease(owner, power).await?;
        let plugin = Arc::clone(self);
        let made = Box::pin(async move {
            let instance = plugin.instance(power, &lease).await?;
            Ok(Box::new(Held { instance, lease }))
        });
        self.sandbox.lanes.run(made).await
    }

    /// Waits for a slot.
    pub(super) async fn lease(self: &Arc<Self>, owner: &str, power: Power) -> Result<Lease, ToolError> {
        let slot = Some(self.slot(owner, power).await?);
        Ok(Lease { plugin: Arc::clone(self), slot, opened: Opened::default() })
    }

    /// Waits for a turn: runs that can change something take turns of their own, in the order in which they came, and have
    /// their directories to themselves unless the operator lets several run at once.
    async fn slot(&self, owner: &str, power: Power) -> Result<Slot, ToolError> {
        let too_many = |calls| {
            ToolError::Unavailable(format!(
                "plug-in {} has {calls} calls of yours already, running or waiting: wait until some of them have ended, then \
                 call again",
                self.name
            ))
        };
        let place = self.turns().enter(owner).map_err(too_many)?;
        // Whoever calls many plug-ins leaves room for others, as whoever calls one.
        let everywhere = self.sandbox.slots.enter(owner).map_err(too_many)?;
        let changes = || {
            self.given.dirs.iter().any(|granted| granted.grant.access == Access::ReadWrite)
                || self.given.web.can_change()
        };
        let writes = power == Power::Granted && changes();
        let closed = |_| {
            ToolError::Unavailable(format!(
                "plug-in {} is no longer served: call again once the server has been started anew",
                self.name
            ))
        };
        let waits = Waits::default();
        let slot = async {
            let turn = place.turn(writes).await.map_err(closed)?;
            // The directories last: whoever has one runs, so that no other process waits for one that nobody uses, and nobody
            // waits in a circle. What waits for a directory has a slot meanwhile: one of a plug-in at most, since only a
            // plug-in with a single turn locks any, and for no longer than `queue`. To let go of it and come again would put
            // such a run behind every call that has come since.
            let shared = everywhere.turn(false).await.map_err(closed)?;
            let own = match writes && self.limits.max_concurrent == 1 {
                true => Own::Alone { _alone: alone(&self.given.dirs, turn, &waits).await? },
                false => Own::Shared { _turn: turn },
            };
            Ok((own, shared))
        };
        match within(self.limits.queue, slot).await {
            Ok(Ok((own, shared))) => Ok(Slot { _own: own, _shared: shared, _places: [place, everywhere] }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(match waits.now() {
                Some(guest) => self.locked_out(&guest),
                None => ToolError::Unavailable(format!("plug-in {} is busy: try again later", self.name)),
            }),
        }
    }

    /// Somebody else has had a directory for all the time that a call may wait: mostly a run of another server or plug-in,
    /// but whoever can open the directory can lock it.
    fn locked_out(&self, guest: &str) -> ToolError {
        let granted = self.given.dirs.iter().find(|granted| granted.grant.guest == guest);
        let host = granted.map(|granted| granted.grant.host.display().to_string()).unwrap_or_default();
        tracing::warn!(
            plugin = self.name,
            "{} was still locked by another process or plug-in after {:?}, and what may write there cannot run meanwhile: `lslocks` \
             or `fuser` shows who has it; whoever can open a directory can lock it, so keep it 0700",
            text::escape(&host),
            self.limits.queue
        );
        ToolError::Unavailable(format!(
            "plug-in {} is busy: its directory {guest} was still locked by another process or plug-in after {:?}: try again later, \
             and tell the operator if it stays so",
            self.name, self.limits.queue
        ))
    }

    /// Whose turns its calls take.
    pub(super) fn turns(&self) -> &Arc<Turns> {
        self.turns_before.get().unwrap_or(&self.turns)
    }

    /// Makes an instance, which computes: in a lane.
    pub(super) async fn instance(&self, power: Power, lease: &Lease) -> Result<Instance, ToolError> {
        self.in_place(&lease.opened).await?;
        let made = Instance::new(&self.pre, &self.limits, &self.given, power, lease.opened.clone());
        match within(self.limits.preview, made).await {
            Ok(Ok(instance)) => Ok(instance),
            Ok(Err(error)) => Err(ToolError::Unavailable(format!(
                "plug-in {} could not be started: {}",
                self.name,
                super::load::chain(&error)
            ))),
            Err(_) => Err(ToolError::Unavailable(format!(
                "plug-in {} did not start within {:?}",
                self.name, self.limits.preview
            ))),
        }
    }

    /// Whether each granted directory is still where it was granted.
    async fn in_place(&self, opened: &Opened) -> Result<(), ToolError> {
        for granted in self.given.dirs.iter().filter(|granted| !granted.is_in_place()) {
            let guest = &granted.grant.guest;
            match timeout(self.limits.preview, granted.moved(opened)).await {
                Ok(None) => {}
                Ok(Some(path)) => {
                    let host = path.display().to_string();
                    let host = text::escape(&host);
                    tracing::error!(
                        plugin = self.name,
                        "{host} is no longer the directory that was granted as {guest}"
                    );
                    return Err(ToolError::Unavailable(format!(
                        "the directory {guest} of plug-in {} was moved or replaced since it was granted: the operator has \
                         to put it back, or to start again",
                        self.name
                    )));
                }
                Err(_) => {
                    return Err(ToolError::Unavailable(format!(
                        "the directory {guest} of plug-in {} is on a file system that does not answer: try again later",
                        self.name
                    )));
                }
            }
        }
        Ok(())
    }
}

/// A time limit for what is mostly done at once: the clock is asked when it is not. So it has a slice of the engine's more.
async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut work = std::pin::pin!(work);
    match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(done) => Ok(done),
        Poll::Pending => timeout(limit, work).await,
    }
}

#[cfg(all(test, feature = "program"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::plugin::sandbox::INSTANCES;
    use crate::plugin::{DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
    use rustix::fs::{FlockOperation, flock};
    use std::path::Path;

    async fn files(folder: &Path, sandbox: &Arc<Sandbox>, queue: Duration) -> Plugin {
        let mut options = PluginOptions::new("files");
        options.limits.queue = queue;
        let (host, guest) = (folder.into(), "/files".into());
        options.dirs.push(DirGrant { host, guest, access: Access::ReadWrite });
        let files = include_bytes!(concat!(env!("OUT_DIR"), "/files.wasm"));
        Plugin::from_bytes(sandbox, files.as_slice(), options, "files.wasm").await.unwrap()
    }

    #[tokio::test]
    async fn whoever_finds_a_directory_locked_by_somebody_else_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::new(SandboxOptions::default()).unwrap();
        let plugin = files(folder.path(), &sandbox, Duration::from_millis(100)).await;
        let says = async |power| plugin.inner.slot("somebody", power).await.err().map(|error| format!("{error:?}"));
        let directory = std::fs::File::open(folder.path()).unwrap();
        flock(&directory, FlockOperation::NonBlockingLockExclusive).unwrap();
        let told = says(Power::Granted).await.unwrap();
        assert!(
            told.contains("its directory /files was still locked by another process or plug-in after 100ms"),
            "{told}"
        );
        assert_eq!(says(Power::ReadOnly).await, None);
        flock(&directory, FlockOperation::Unlock).unwrap();
        let slot = plugin.inner.slot("somebody", Power::Granted).await.unwrap();
        let told = says(Power::Granted).await.unwrap();
        assert!(told.contains("plug-in files is busy: try again later"), "its own call has it: {told}");
        drop(slot);
        assert_eq!(says(Power::Granted).await, None);
    }

    #[tokio::test]
    async fn whoever_waits_for_a_slot_keeps_no_directory_from_other_processes() {
        let folder = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::new(SandboxOptions::default()).unwrap();
        let plugin = files(folder.path(), &sandbox, Duration::from_secs(60)).await;

        let places: Vec<Place> = (0..INSTANCES).map(|n| sandbox.slots.enter(&n.to_string()).unwrap()).collect();
        let mut taken = Vec::new();
        for place in &places {
            taken.push(place.turn(false).await.unwrap());
        }
        let directory = std::fs::File::open(folder.path()).unwrap();
        let lock = || flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok();
        let mut waiting = std::pin::pin!(plugin.inner.slot("somebody", Power::Granted));
        assert!(timeout(Duration::from_millis(100), &mut waiting).await.is_err());
        assert!(lock(), "it is locked, and nothing runs");
        drop(taken);
        assert!(timeout(Duration::from_millis(100), &mut waiting).await.is_err(), "somebody else has the directory");
        flock(&directory, FlockOperation::Unlock).unwrap();
        let _slot = waiting.await.unwrap();
        assert!(!lock(), "it runs, and nothing is locked");
    }
}
