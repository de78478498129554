//! What happened, in files that are only appended to: one for each process, every row with the hash of the one before, and
//! the heads of the files kept elsewhere.
//!
//! A confirmed run's `started` row is on the disk before its token is spent. What cannot be told does not run: where a row
//! cannot be written, whatever needs it is refused. Rows hold names, digests, words of the wire and times, and no text of a
//! tool's or a caller's: no token and no secret can come into one.
//!
//! A process makes its file with its first row, so that one which makes only safe calls leaves none.
//!
//! ```
//! use counterfoil::audit::{Audit, AuditOptions, Findings, verify};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let state = tempfile::tempdir()?;
//! let (dir, checkpoints) = (state.path().join("audit"), state.path().join("checkpoints"));
//! let audit = Audit::open(AuditOptions::new(&dir, &checkpoints))?;
//! // Host::builder(gate).audit(audit.clone()) …, and before the program ends:
//! audit.close().await?;
//!
//! let findings: Findings = verify(&dir, &[checkpoints])?;
//! assert!(findings.is_whole());
//! # Ok(()) }
//! ```

mod check;
mod checkpoint;
mod command;
pub(crate) mod event;
mod failing;
mod file;
mod findings;
pub(crate) mod guarded;
mod idle;
pub(crate) mod in_force;
pub mod line;
mod lines;
mod options;
mod search;
mod settle;
mod state;
mod sync;
#[cfg(test)]
mod tests;
mod verify;
mod ways;
pub(crate) mod words;

pub use checkpoint::Head;
pub use command::CheckpointCommand;
pub use event::{EVENTS, FIELDS, PREV};
pub use findings::{Checked, Fault, Finding, Findings, Remark};
pub use options::{AuditOptions, LEAST_FILE, MAX_FILE};
pub use search::{Filter, Found, Hit, search};
pub use settle::{SettleError, resolve};
pub use verify::verify;
pub use ways::{Astray, Moved, astray, moved};

use crate::gate::Clock;
use crate::plugin::reach::Protected;
use crate::{Error, ErrorKind, private};
use event::{Event, Row, Subject};
use idle::LeftOut;
use in_force::{InForce, Rows};
use state::State;
use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, UNIX_EPOCH};
use ways::Ways;

/// Writes the audit of this process. Cheap to clone: clones write one file.
#[derive(Clone)]
pub struct Audit {
    inner: Arc<Inner>,
}

/// The same, without keeping it open.
pub(crate) struct WeakAudit(Weak<Inner>);

impl WeakAudit {
    /// None: it is closed.
    pub(crate) fn upgrade(&self) -> Option<Audit> {
        self.0.upgrade().map(|inner| Audit { inner })
    }
}

struct Inner {
    options: AuditOptions,
    state: Mutex<State>,
    /// Whose turn it is to wait for the disk: those who wait behind find their rows there already.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Whose turn it is to give a head to the command.
    giving: tokio::sync::Mutex<()>,
    /// Whether somebody is going to bring what is written to the disk.
    soon: AtomicBool,
}

/// A row is not there, or not certain to last. The text is for the operator.
#[derive(Debug)]
pub(crate) struct Unwritten(String);

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the audit cannot be written: {}", self.0)
    }
}

impl From<Unwritten> for Error {
    fn from(error: Unwritten) -> Self {
        Self::new(ErrorKind::Io, error.to_string())
    }
}

impl Audit {
    /// Gets ready to write. Nothing is made before the first row.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: no place for checkpoints, more than eight, or one inside the folder or around it; a size that is too small.
    /// [`ErrorKind::Io`]: a folder that another user owns or can write, or to which a path leads that led to another one.
    pub fn open(options: AuditOptions) -> Result<Self, Error> {
        let config = |what: &str| Err(Error::new(ErrorKind::Config, what));
        if options.checkpoints.is_empty() {
            return config("the audit has no place for checkpoints: name a folder outside its own");
        }
        if options.checkpoints.len() > checkpoint::MOST_PLACES {
            return config("the audit has 8 places for checkpoints at most: name fewer folders");
        }
        if options.checkpoints.iter().any(|place| private::within_one_another(place, &options.dir)) {
            return config("the checkpoints must not be with what they check: name a folder outside the audit's own");
        }
        if options.max_file < LEAST_FILE {
            return config("a file of the audit has at least 64 KiB: name a larger size");
        }
        for folder in std::iter::once(&options.dir).chain(&options.checkpoints) {
            private::existing_folder(folder)
                .map_err(|e| Error::new(ErrorKind::Io, format!("the audit cannot be kept there: {e}")))?;
        }
        Ways::read(&options.checkpoints)
            .and_then(|ways| ways.refuse(&private::resolved(&options.dir)))
            .map_err(|e| Error::new(ErrorKind::Io, format!("the audit cannot be kept there: {e}")))?;
        let inner = Inner {
            options,
            state: Mutex::default(),
            turn: Arc::default(),
            giving: tokio::sync::Mutex::default(),
            soon: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The folder of the files.
    pub fn dir(&self) -> &Path {
        &self.inner.options.dir
    }

    /// Names what of it no plug-in may reach.
    pub(crate) fn protect(&self, protected: &mut Protected) {
        let AuditOptions { dir, checkpoints, command, .. } = &self.inner.options;
        guarded::protect(dir, checkpoints, command.as_ref(), protected);
    }

    /// Waits until every row is on the disk, its head written down and, where there is a command, given to it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]: the rows or their heads cannot be written.
    pub async fn flush(&self) -> Result<(), Error> {
        self.inner.tell_left_out()?;
        let latest = self.inner.state().last();
        self.sync_to(latest).await?;
        self.inner.tell().await;
        Ok(())
    }

    /// Ends it in order: says in its last row that no other comes, and waits until that is on the disk, its head written down
    /// and, where there is a command, given to it. Call it before the program ends: what is left to the last clone to be dropped
    /// blocks. A row that comes all the same begins another file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]: the rows or their heads cannot be written.
    pub async fn close(&self) -> Result<(), Error> {
        loop {
            self.flush().await?;
            let inner = Arc::clone(&self.inner);
            let ended = tokio::task::spawn_blocking(move || inner.end()).await;
            // Else a row came meanwhile.
            if self.inner.heard(ended.unwrap_or_else(|e| Err(Unwritten(e.to_string()))))? {
                break;
            }
        }
        let latest = self.inner.state().last();
        self.sync_to(latest).await?;
        self.inner.tell().await;
        Ok(())
    }

    /// The same audit, which this does not keep open.
    pub(crate) fn downgrade(&self) -> WeakAudit {
        WeakAudit(Arc::downgrade(&self.inner))
    }

    /// Says under which rules the following rows were decided, from the moment that they are. What cannot be written now is
    /// written before the next row.
    pub(crate) fn in_force(&self, in_force: &InForce) {
        let state = self.inner.state();
        self.puts_in_force(state, in_force);
    }

    /// The same where nothing has been in force yet.
    pub(crate) fn in_force_at_first(&self, in_force: &InForce) {
        let state = self.inner.state();
        if state.in_force.is_none() {
            self.puts_in_force(state, in_force);
        }
    }

    fn puts_in_force(&self, mut state: MutexGuard<'_, State>, in_force: &InForce) {
        let since = self.inner.time();
        state.due = Some(in_force.cause.word());
        state.in_force = Some(Arc::new(Rows::of(in_force.clone(), since)));
        // A file that is not there yet gets it with its first row.
        let written = if state.current.is_some() { state.ready(&self.inner.options) } else { Ok(()) };
        drop(state);
        let _ = self.inner.heard(written);
        self.sync_soon();
    }

    /// Waits until what is written is on the disk. What fails is in the log.
    pub(crate) async fn settled(&self) {
        let latest = self.inner.state().last();
        let _ = self.sync_to(latest).await;
    }

    /// Writes a row. It outlives this process at once, and a power cut within a moment. None: it is one of too many that ran
    /// nothing, and is counted in the next row.
    pub(crate) fn note(&self, subject: Option<&Subject>, event: Event<'_>) -> Result<Option<u64>, Unwritten> {
        let seq = self.inner.append(subject, event)?;
        self.sync_soon();
        Ok(seq)
    }

    /// The same before something begins that must not without its row: not where what is written cannot be covered by
    /// checkpoints either.
    pub(crate) fn begin(&self, subject: Option<&Subject>, event: Event<'_>) -> Result<Option<u64>, Unwritten> {
        let uncovered = self.inner.state().uncovered.clone();
        if let Some(why) = uncovered {
            // It may be possible again.
            self.sync_soon();
            return self.inner.heard(Err(Unwritten(why)));
        }
        self.note(subject, event)
    }

    /// Writes a row and waits until it outlives a power cut. An error has the number of a row that is there and may not.
    pub(crate) async fn durable(
        &self,
        subject: Option<&Subject>,
        event: Event<'_>,
    ) -> Result<u64, (Unwritten, Option<u64>)> {
        let seq = self.inner.append(subject, event).map_err(|error| (error, None))?.unwrap_or_default();
        self.sync_to(seq).await.map_err(|error| (error, Some(seq)))?;
        Ok(seq)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn time(&self) -> String {
        time(&*self.options.clock)
    }

    fn append(&self, subject: Option<&Subject>, event: Event<'_>) -> Result<Option<u64>, Unwritten> {
        let written = self.written(subject, event);
        self.heard(written)
    }

    /// The log says what fails: when that begins, and not of every row.
    fn heard<T>(&self, done: Result<T, Unwritten>) -> Result<T, Unwritten> {
        if let Err(Unwritten(why)) = &done {
            let mut state = self.state();
            let last = state.last();
            let news = state.failing.is_news(why, last, Instant::now());
            drop(state);
            if news {
                tracing::error!("the audit cannot be written: {why}; what is not safe is refused until it can be");
            }
        }
        done
    }

    fn written(&self, subject: Option<&Subject>, event: Event<'_>) -> Result<Option<u64>, Unwritten> {
        let mut state = self.state();
        if let Some(why) = event.idle()
            && !state.idle.takes(subject, why, Instant::now())
        {
            return Ok(None);
        }
        state.ready(&self.options)?;
        let left_out = state.idle.left_out();
        let row = Row {
            left_out: left_out.as_ref().map(LeftOut::count),
            left_out_why: left_out.as_ref(),
            ..event.row(subject)
        };
        let seq = state.put(row, &self.options)?;
        state.idle.told();
        Ok(Some(seq))
    }

    /// Says how many rows were left out, where no other row has.
    fn tell_left_out(&self) -> Result<(), Unwritten> {
        let mut state = self.state();
        let Some(left_out) = state.idle.left_out() else { return Ok(()) };
        state.ready(&self.options)?;
        let row = Row {
            event: "left_out",
            left_out: Some(left_out.count()),
            left_out_why: Some(&left_out),
            ..Row::default()
        };
        state.put(row, &self.options)?;
        state.idle.told();
        Ok(())
    }
}

/// RFC 3339 with milliseconds, UTC.
fn time(clock: &dyn Clock) -> String {
    /// The last millisecond of the year 9999: what the form can say.
    const LAST: u64 = 253_402_300_799_999;
    let now = UNIX_EPOCH + Duration::from_millis(clock.now().min(LAST));
    humantime::format_rfc3339_millis(now).to_string()
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Audit({})", self.inner.options.dir.display())
    }
}
