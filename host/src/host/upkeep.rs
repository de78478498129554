//! What a host does beside its calls: it ends, and removes what nobody can ask for any more. No decision depends on either.

use super::Host;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::task::task_tracker::TaskTrackerToken;

impl Host {
    /// A call is being taken in: as long as this is there, [`close`](Self::close) waits for it.
    pub(crate) fn takes_in(&self) -> TaskTrackerToken {
        self.inner.calls.token()
    }

    /// Waits until every run that has started is over and recorded, and the audit is on the disk, and those of the hosts whose
    /// place it took. A closure that never returns is waited for, too: where there are such, use [`drain_for`](Self::drain_for).
    pub async fn drain(&self) {
        self.inner.runs.wait().await;
        self.inner.audits.flush().await;
    }

    /// The same, and ends the audit in order, those of the hosts whose place it took as well. Call it before the program ends, and
    /// drop the calls whose answers nobody waits for any more: each is told to have been cancelled, and the audit is not ended
    /// before. One that is neither dropped nor answered within five seconds is waited for no longer; what is told of it begins
    /// another file.
    pub async fn close(&self) {
        /// A call that was dropped says so at once.
        const DROPPED: Duration = Duration::from_secs(5);
        // Those that were dropped may have handed a run to the host.
        if tokio::time::timeout(DROPPED, self.inner.calls.wait()).await.is_err() {
            tracing::warn!(
                "calls go on while the host is closed: what is told of them begins another file of the audit"
            );
        }
        self.drain().await;
        self.inner.audits.close().await;
    }

    /// What [`drain`](Self::drain) does, for so long at most; whether every run is over.
    pub async fn drain_for(&self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.drain()).await.is_ok()
    }

    /// Removes, every 60 s, what nobody can ask for any more, for as long as this host lives. Decisions never depend on
    /// it. Call it once, on the runtime that should do the work.
    pub fn keep_swept(&self) -> tokio::task::JoinHandle<()> {
        /// How often.
        const EVERY: Duration = Duration::from_secs(60);
        /// Rows of one batch: short enough for no call to wait on it.
        const BATCH: u32 = 256;
        /// Batches of one round: the rest can wait for the next.
        const BATCHES: u32 = 64;
        let inner = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(EVERY);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let Some(inner) = inner.upgrade() else { return };
                for _ in 0..BATCHES {
                    match inner.gate.store().sweep_accounts(inner.gate.now(), BATCH).await {
                        Ok(1..) => tokio::task::yield_now().await,
                        Ok(0) => break,
                        Err(error) => {
                            tracing::warn!("the store could not be swept and will be tried again: {error}");
                            break;
                        }
                    }
                }
                for _ in 0..BATCHES {
                    match inner.gate.sweep(BATCH).await {
                        // Until nothing is due: only then does the store know that a sweep is over.
                        Ok(1..) => tokio::task::yield_now().await,
                        Ok(0) => break,
                        Err(error) => {
                            tracing::warn!("the store could not be swept and will be tried again: {error}");
                            break;
                        }
                    }
                }
            }
        })
    }
}
