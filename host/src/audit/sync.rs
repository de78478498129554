//! Brings rows to the disk, many at once, and gives the heads away. Nothing here waits on an async worker.

use super::event::Event;
use super::file::{Current, End, Stop};
use super::{Audit, Head, Inner, State, Unwritten, command};
use std::sync::Arc;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Release;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// How long rows that nobody waits for stay with the system before they are brought to the disk.
const SOON: Duration = Duration::from_millis(200);

impl Audit {
    /// Waits until the row `seq` is on the disk and its head written down.
    pub(super) async fn sync_to(&self, seq: u64) -> Result<(), Unwritten> {
        {
            let turn = Arc::clone(&self.inner.turn).lock_owned().await;
            {
                let state = self.inner.state();
                if state.synced >= seq {
                    return Ok(());
                }
                if let Some(why) = &state.broken {
                    return Err(Unwritten(why.clone()));
                }
            }
            let inner = Arc::clone(&self.inner);
            // The turn is the work's, which goes on where nobody waits for it any more.
            let work = move || {
                let done = inner.sync();
                drop(inner);
                drop(turn);
                done
            };
            spawn_blocking(work).await.map_err(|e| Unwritten(e.to_string()))??;
        }
        self.announce();
        Ok(())
    }

    /// Brings what is written to the disk within a moment, without anybody waiting for it.
    pub(super) fn sync_soon(&self) {
        // Without a runtime the last clone to be dropped does it.
        let Ok(runtime) = Handle::try_current() else { return };
        if self.inner.soon.swap(true, AcqRel) {
            return;
        }
        let weak = Arc::downgrade(&self.inner);
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(SOON).await;
                let Some(inner) = weak.upgrade() else { return };
                // Whoever is at it may be about to end the audit, and must not wait for this to let go of it.
                if inner.turn.try_lock().is_ok() {
                    inner.soon.store(false, Release);
                    // What fails is in the log by then.
                    (Self { inner }).settled().await;
                    return;
                }
            }
        });
    }

    /// Gives the latest head to the command, and goes on as long as there are newer ones.
    fn announce(&self) {
        {
            let mut state = self.inner.state();
            if self.inner.options.command.is_none() || state.telling || state.news().is_none() {
                return;
            }
            state.telling = true;
        }
        let weak = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            loop {
                let Some(inner) = weak.upgrade() else { return };
                inner.tell().await;
                drop(inner);
                tokio::time::sleep(command::PAUSE).await;
                let Some(inner) = weak.upgrade() else { return };
                let mut state = inner.state();
                if state.news().is_none() {
                    state.telling = false;
                    return;
                }
            }
        });
    }
}

impl Inner {
    /// Brings every row to the disk and writes the heads down. Blocks; one at a time.
    pub(super) fn sync(&self) -> Result<(), Unwritten> {
        let uncovered = self.state().uncovered.is_some();
        let synced = self.synced();
        self.heard(synced)?;
        let mut state = self.state();
        let synced = state.synced;
        let over = state.failing.is_over(synced, uncovered);
        drop(state);
        if over {
            tracing::warn!("the audit can be written again");
        }
        Ok(())
    }

    fn synced(&self) -> Result<(), Unwritten> {
        let (ended, last) = {
            let state = self.state();
            (state.closing.clone(), state.current.as_ref().map(Current::written))
        };
        // An ended file before the one that goes on from it: what the next one's checkpoint counts vouches for its end.
        let ended = ended.into_iter().map(|written| (written, true));
        for (written, is_ended) in ended.chain(last.map(|written| (written, false))) {
            let mut done = written.sync(self.time());
            if done.is_ok() && is_ended {
                done = written.keep().map_err(Stop::Now);
            }
            let mut state = self.state();
            match done {
                Ok(()) => state.covered(&written, self.time()),
                Err(Stop::Now(e)) => {
                    let why = format!("its checkpoint cannot be written: {e}");
                    state.uncovered = Some(why.clone());
                    return Err(Unwritten(why));
                }
                Err(stop) => return Err(state.stopped(stop)),
            }
        }
        Ok(())
    }

    /// Ends the file, as soon as all of it is covered and that outlives a power cut. Blocks. False: more is to be covered first.
    pub(super) fn end(&self) -> Result<bool, Unwritten> {
        let covered = {
            let state = self.state();
            let Some(current) = state.current.as_ref().filter(|current| state.broken.is_none() && !current.closed)
            else {
                return Ok(true);
            };
            if state.is_behind() {
                return Ok(false);
            }
            current.written()
        };
        covered.keep().map_err(|e| Unwritten(format!("its checkpoint cannot be written: {e}")))?;
        let mut state = self.state();
        if state.last() > covered.seq {
            return Ok(false);
        }
        state.close(End::Over, &self.options).map(|()| true)
    }

    /// Gives the last head to the command, where there is one that has not had it. Whether the command works is a row as
    /// soon as that changes.
    pub(super) async fn tell(self: &Arc<Self>) {
        let Some(command) = self.options.command.clone() else { return };
        let _turn = self.giving.lock().await;
        let Some(head) = self.state().news().cloned() else { return };
        let seq = head.seq;
        let told = spawn_blocking(move || command.tell(&head, command::PATIENCE)).await;
        let told = told.unwrap_or_else(|e| Err(e.to_string()));
        let works = told.is_ok();
        let changed = {
            let mut state = self.state();
            // One that could not be told is not told again: the next one says more.
            state.told = state.told.max(seq);
            let before = state.command_works.replace(works);
            before.unwrap_or(true) != works
        };
        if let Err(what) = told {
            tracing::error!("the head of the audit could not be given to the command: {what}");
        }
        // Behind the row that says that no other comes, only the log is told.
        if changed && !self.state().is_closed() {
            // What fails is in the log by then.
            let _ = self.append(None, Event::CheckpointCommand { works });
        }
    }

    /// Brings to the disk what is not there yet. Whether all of it is covered.
    fn covers_all(&self) -> bool {
        let (broken, behind) = {
            let state = self.state();
            (state.broken.is_some(), state.is_behind())
        };
        !broken && (!behind || self.sync().is_ok())
    }

    /// Gives the command what it has not had, where nobody is left who could wait for it. It blocks for as long as that has
    /// patience.
    fn tell_last(&self) {
        let head = self.state().news().cloned();
        if let (Some(head), Some(command)) = (head, &self.options.command)
            && let Err(what) = command.tell(&head, command::PATIENCE)
        {
            tracing::error!("the last head of the audit could not be given to the command: {what}");
        }
    }
}

impl State {
    fn is_closed(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.closed)
    }

    /// The last head, where the command has not had it.
    fn news(&self) -> Option<&Head> {
        self.head.as_ref().filter(|head| head.seq > self.told)
    }
}

impl Drop for Inner {
    /// What nobody closed. It blocks for as long as the disk takes, and the command.
    fn drop(&mut self) {
        let left_out = self.tell_left_out();
        // What fails is in the log by then.
        let _ = self.heard(left_out);
        // Where it cannot be covered it is not ended: a file without an end is no false alarm.
        if self.covers_all() {
            let _ = self.heard(self.end());
            self.covers_all();
        }
        self.tell_last();
    }
}
