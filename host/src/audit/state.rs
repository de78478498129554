//! How far the audit of a process is: its file, what of it is on the disk, and what the next row has to be told with. Knows no
//! task and no thread.

use super::event::{Previous, Row};
use super::failing::Failing;
use super::file::{self, Current, End, Stop, Written};
use super::idle::Idle;
use super::in_force::Rows;
use super::{AuditOptions, Head, Unwritten, time};
use std::sync::Arc;

/// How far this process is.
#[derive(Default)]
pub(super) struct State {
    pub(super) current: Option<Current>,
    /// Files that are full and may not be on the disk yet.
    pub(super) closing: Vec<Written>,
    /// Number of the last row that is on the disk.
    pub(super) synced: u64,
    /// The last head that was written down, and the number of the last that the command was given.
    pub(super) head: Option<Head>,
    pub(super) told: u64,
    /// Whether somebody is giving heads to it.
    pub(super) telling: bool,
    pub(super) command_works: Option<bool>,
    /// Why nothing is written any more.
    pub(super) broken: Option<String>,
    /// Why what is written cannot be covered: nothing begins until it can.
    pub(super) uncovered: Option<String>,
    pub(super) in_force: Option<Arc<Rows>>,
    /// Why it has to be written before the next row.
    pub(super) due: Option<&'static str>,
    pub(super) idle: Idle,
    pub(super) failing: Failing,
}

impl State {
    /// Number of the last row.
    pub(super) fn last(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.seq)
    }

    /// Sees to it that there is a file with room, which says what is in force.
    pub(super) fn ready(&mut self, options: &AuditOptions) -> Result<(), Unwritten> {
        if let Some(why) = &self.broken {
            return Err(Unwritten(why.clone()));
        }
        let full = self.current.as_ref().is_some_and(|current| current.closed || current.length >= options.max_file);
        if full || self.current.is_none() {
            self.begin(options)?;
        }
        if let (Some(cause), Some(rows)) = (self.due, self.in_force.clone()) {
            let config = options.config.as_ref().map(|config| config.display().to_string());
            for row in rows.rows(cause) {
                self.put(Row { config: config.as_deref(), ..row }, options)?;
            }
        }
        self.due = None;
        Ok(())
    }

    /// Begins a file: the first, or the one behind a full one.
    fn begin(&mut self, options: &AuditOptions) -> Result<(), Unwritten> {
        let time = time(&*options.clock);
        self.close(End::Full, options)?;
        let before = self.current.as_ref().map(Current::written);
        let name = match &before {
            Some(before) => file::next_name(&before.name),
            None => file::first_name(&time).map_err(|e| Unwritten(format!("there is no randomness: {e}")))?,
        };
        let seq = before.as_ref().map_or(0, |before| before.seq);
        let io = |e: std::io::Error| Unwritten(e.to_string());
        let config = options.config.as_ref().map(|config| config.display().to_string());
        let mut next = Current::create(&options.dir, &options.checkpoints, name.clone(), seq, &time).map_err(io)?;
        let previous = before.as_ref().map(|before| Previous {
            file: before.name.clone(),
            seq: before.seq,
            head: before.head.clone(),
        });
        if let Err(stop) = next.append(Current::opening(&name, previous.as_ref(), config.as_deref()), time) {
            next.forget();
            return Err(Unwritten(match stop {
                Stop::Now(e) => e.to_string(),
                Stop::ForGood(what) => what,
            }));
        }
        if before.is_some() {
            self.due = self.due.or(self.in_force.is_some().then_some(file::ROTATION));
        }
        self.closing.extend(before);
        self.current = Some(next);
        Ok(())
    }

    /// Says that no row comes behind the last one of the file.
    pub(super) fn close(&mut self, why: End, options: &AuditOptions) -> Result<(), Unwritten> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current.close(why, time(&*options.clock)).map_err(|stop| self.stopped(stop))
    }

    /// A file is on the disk up to a row, and its head is written down.
    pub(super) fn covered(&mut self, written: &Written, time: String) {
        self.synced = self.synced.max(written.seq);
        self.uncovered = None;
        if self.head.as_ref().is_none_or(|head| head.seq < written.seq) {
            self.head = Some(Head::new(&written.name, written.seq, &written.head, time));
        }
        // It may have been ended meanwhile, behind more rows than these.
        self.closing.retain(|closing| closing.name != written.name || closing.seq > written.seq);
        if let Some(current) = self.current.as_mut().filter(|current| current.name == written.name) {
            current.settled = true;
        }
    }

    /// Whether something that was written is not covered yet.
    pub(super) fn is_behind(&self) -> bool {
        self.last() > self.synced || !self.closing.is_empty()
    }

    pub(super) fn put(&mut self, row: Row<'_>, options: &AuditOptions) -> Result<u64, Unwritten> {
        let Some(current) = &mut self.current else { return Err(Unwritten("there is no file".into())) };
        current.append(row, time(&*options.clock)).map_err(|stop| self.stopped(stop))
    }

    pub(super) fn stopped(&mut self, stop: Stop) -> Unwritten {
        match stop {
            Stop::Now(e) => Unwritten(e.to_string()),
            Stop::ForGood(what) => {
                self.broken = Some(what.clone());
                Unwritten(what)
            }
        }
    }
}
