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
//! audit.flush().await?;
//!
//! let findings: Findings = verify(&dir, &[checkpoints])?;
//! assert!(findings.is_whole());
//! # Ok(()) }
//! ```

mod checkpoint;
mod command;
pub(crate) mod event;
mod file;
mod findings;
mod idle;
pub(crate) mod in_force;
pub mod line;
mod lines;
mod search;
mod settle;
mod sync;
#[cfg(test)]
mod tests;
mod verify;
mod words;

pub use checkpoint::Head;
pub use command::CheckpointCommand;
pub use event::{FIELDS, PREV};
pub use findings::{Checked, Fault, Finding, Findings, Remark};
pub use search::{Filter, Found, Hit, search};
pub use settle::{SettleError, resolve};
pub use verify::verify;

use crate::gate::{Clock, SystemClock};
use crate::{Error, ErrorKind, private};
use event::{Event, Previous, Row, Subject};
use file::{Current, Stop, Written};
use idle::{Idle, LeftOut};
use in_force::{InForce, Rows};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Size at which a file is ended and the next begun, unless said otherwise.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;
/// The least that may be said: room for the first rows and some more.
pub const LEAST_FILE: u64 = 64 * 1024;

/// Where and how to write.
#[derive(Clone)]
pub struct AuditOptions {
    /// The folder of the files. It is made if it is not there; nobody else may own it or write to it.
    pub dir: PathBuf,
    /// Where the heads of the files are kept, outside `dir`: at least one folder. A checkpoint that cannot be written is an
    /// audit that cannot be written.
    pub checkpoints: Vec<PathBuf>,
    /// What else is given the heads.
    pub command: Option<CheckpointCommand>,
    /// Size at which a file is ended and the next begun.
    pub max_file: u64,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl AuditOptions {
    /// Files in `dir`, their heads in `checkpoints`, everything else as usual.
    pub fn new(dir: impl Into<PathBuf>, checkpoints: impl Into<PathBuf>) -> Self {
        let checkpoints = vec![checkpoints.into()];
        Self { dir: dir.into(), checkpoints, command: None, max_file: MAX_FILE, clock: Arc::new(SystemClock) }
    }
}

/// Writes the audit of this process. Cheap to clone: clones write one file.
#[derive(Clone)]
pub struct Audit {
    inner: Arc<Inner>,
}

struct Inner {
    options: AuditOptions,
    state: Mutex<State>,
    /// Whose turn it is to wait for the disk: those who wait behind find their rows there already.
    turn: tokio::sync::Mutex<()>,
    /// Whose turn it is to give a head to the command.
    giving: tokio::sync::Mutex<()>,
    /// Whether somebody is going to bring what is written to the disk.
    soon: AtomicBool,
}

/// How far this process is.
#[derive(Default)]
struct State {
    current: Option<Current>,
    /// Files that are full and may not be on the disk yet.
    closing: Vec<Written>,
    /// Number of the last row that is on the disk.
    synced: u64,
    /// The last head that was written down, and the number of the last that the command was given.
    head: Option<Head>,
    told: u64,
    /// Whether somebody is giving heads to it.
    telling: bool,
    command_works: Option<bool>,
    /// Why nothing is written any more.
    broken: Option<String>,
    /// Why what is written cannot be covered: nothing begins until it can.
    uncovered: Option<String>,
    in_force: Option<Arc<Rows>>,
    /// Why it has to be written before the next row.
    due: Option<&'static str>,
    idle: Idle,
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
    /// [`ErrorKind::Config`]: no place for checkpoints, or one inside the folder or around it; a size that is too small.
    /// [`ErrorKind::Io`]: a folder that another user owns or can write.
    pub fn open(options: AuditOptions) -> Result<Self, Error> {
        let config = |what: &str| Err(Error::new(ErrorKind::Config, what));
        if options.checkpoints.is_empty() {
            return config("the audit has no place for checkpoints: name a folder outside its own");
        }
        if options.checkpoints.iter().any(|place| place.starts_with(&options.dir) || options.dir.starts_with(place)) {
            return config("the checkpoints must not be with what they check: name a folder outside the audit's own");
        }
        if options.max_file < LEAST_FILE {
            return config("a file of the audit has at least 64 KiB: name a larger size");
        }
        for folder in std::iter::once(&options.dir).chain(&options.checkpoints) {
            private::existing_folder(folder)
                .map_err(|e| Error::new(ErrorKind::Io, format!("the audit cannot be kept there: {e}")))?;
        }
        let inner = Inner {
            options,
            state: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            giving: tokio::sync::Mutex::default(),
            soon: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Whether a row could be written now, as far as can be seen without writing one.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]: a folder that others can write, or that cannot be made or written; a disk that is full.
    pub fn check(&self) -> Result<(), Error> {
        let Inner { options, .. } = &*self.inner;
        for folder in std::iter::once(&options.dir).chain(&options.checkpoints) {
            private::existing_folder(folder).and_then(|()| writable(folder)).map_err(|e| {
                Error::new(ErrorKind::Io, format!("the audit cannot be written to {}: {e}", folder.display()))
            })?;
        }
        Ok(())
    }

    /// The folder of the files.
    pub fn dir(&self) -> &Path {
        &self.inner.options.dir
    }

    /// Waits until every row is on the disk, its head written down and, where there is a command, given to it. Call it before
    /// the program ends: what is left to the last clone to be dropped blocks.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]: the rows or their heads cannot be written.
    pub async fn flush(&self) -> Result<(), Error> {
        self.inner.tell_left_out()?;
        let latest = self.inner.state().last();
        self.sync_to(latest).await?;
        self.tell_command().await;
        Ok(())
    }

    /// Says under which rules the following rows were decided: at the start and at each reload.
    pub(crate) fn in_force(&self, in_force: InForce) {
        let since = self.inner.time();
        let mut state = self.inner.state();
        state.due = Some(if state.in_force.is_some() && state.current.is_some() { "reload" } else { "start" });
        state.in_force = Some(Arc::new(Rows::of(in_force, since)));
        // A file that is not there yet gets it with its first row.
        if state.current.is_some()
            && let Err(error) = state.ready(&self.inner.options)
        {
            tracing::error!("{error}; what is in force now is written before the next row");
        }
        drop(state);
        self.sync_soon();
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
            return Err(Unwritten(why));
        }
        self.note(subject, event)
    }

    /// Writes a row and waits until it outlives a power cut.
    pub(crate) async fn durable(&self, subject: Option<&Subject>, event: Event<'_>) -> Result<u64, Unwritten> {
        let seq = self.inner.append(subject, event)?.unwrap_or_default();
        self.sync_to(seq).await?;
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

impl State {
    /// Number of the last row.
    fn last(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.seq)
    }

    /// Sees to it that there is a file with room, which says what is in force.
    fn ready(&mut self, options: &AuditOptions) -> Result<(), Unwritten> {
        if let Some(why) = &self.broken {
            return Err(Unwritten(why.clone()));
        }
        let full = self.current.as_ref().is_some_and(|current| current.closed || current.length >= options.max_file);
        if full || self.current.is_none() {
            self.begin(options)?;
        }
        if let (Some(cause), Some(rows)) = (self.due, self.in_force.clone()) {
            for row in rows.rows(cause) {
                self.put(row, options)?;
            }
        }
        self.due = None;
        Ok(())
    }

    /// Begins a file: the first, or the one behind a full one.
    fn begin(&mut self, options: &AuditOptions) -> Result<(), Unwritten> {
        let time = time(&*options.clock);
        self.close(options)?;
        let before = self.current.as_ref().map(Current::written);
        let name = match &before {
            Some(before) => file::next_name(&before.name),
            None => file::first_name(&time).map_err(|e| Unwritten(format!("there is no randomness: {e}")))?,
        };
        let seq = before.as_ref().map_or(0, |before| before.seq);
        let io = |e: std::io::Error| Unwritten(e.to_string());
        let mut next = Current::create(&options.dir, &options.checkpoints, name.clone(), seq, &time).map_err(io)?;
        let previous = before.as_ref().map(|before| Previous {
            file: before.name.clone(),
            seq: before.seq,
            head: before.head.clone(),
        });
        if let Err(stop) = next.append(Current::opening(&name, previous.as_ref()), time) {
            next.forget();
            return Err(Unwritten(match stop {
                Stop::Now(e) => e.to_string(),
                Stop::ForGood(what) => what,
            }));
        }
        if before.is_some() {
            self.due = self.due.or(self.in_force.is_some().then_some("rotation"));
        }
        self.closing.extend(before);
        self.current = Some(next);
        Ok(())
    }

    /// Says that no row comes behind the last one of the file.
    fn close(&mut self, options: &AuditOptions) -> Result<(), Unwritten> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current.close(time(&*options.clock)).map_err(|stop| self.stopped(stop))
    }

    fn put(&mut self, row: Row<'_>, options: &AuditOptions) -> Result<u64, Unwritten> {
        let Some(current) = &mut self.current else { return Err(Unwritten("there is no file".into())) };
        current.append(row, time(&*options.clock)).map_err(|stop| self.stopped(stop))
    }

    fn stopped(&mut self, stop: Stop) -> Unwritten {
        match stop {
            Stop::Now(e) => Unwritten(e.to_string()),
            Stop::ForGood(what) => {
                self.broken = Some(what.clone());
                Unwritten(what)
            }
        }
    }
}

/// Refuses a folder that cannot be written, or cannot be made where it should be.
fn writable(folder: &Path) -> std::io::Result<()> {
    use rustix::fs::{Access, access, statvfs};
    let ground = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    access(ground, Access::WRITE_OK | Access::EXEC_OK)?;
    if statvfs(ground)?.f_bavail == 0 {
        return Err(std::io::Error::new(std::io::ErrorKind::StorageFull, "no space is left"));
    }
    Ok(())
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
