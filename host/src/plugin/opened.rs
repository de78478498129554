//! What a call has open of the file system. A function of the file system runs on a thread that nothing stops, and holds what it
//! works on until it ends: as long as any of that is in use after the call, the operating system is not done with it.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How often it is looked at again.
const AGAIN: Duration = Duration::from_millis(2);

/// What a call has opened, or works on. Clones share it, and keep none of it open.
#[derive(Clone, Default)]
pub(super) struct Opened(Arc<Mutex<Vec<Weak<dyn Any + Send + Sync>>>>);

impl Opened {
    /// Takes note of it.
    pub(super) fn add<T: Any + Send + Sync>(&self, held: &Arc<T>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == all.capacity() {
            all.retain(|held| held.strong_count() > 0);
        }
        let held: Weak<T> = Arc::downgrade(held);
        all.push(held);
    }

    /// Whether something of it is held by anybody.
    pub(super) fn in_use(&self) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().any(|held| held.strong_count() > 0)
    }

    /// Waits, for so long at most, until nothing of it is; whether that is so.
    pub(super) async fn is_let_go(&self, limit: Duration) -> bool {
        let let_go = async {
            while self.in_use() {
                sleep(AGAIN).await;
            }
        };
        timeout(limit, let_go).await.is_ok()
    }

    /// Keeps this until nothing of it is in use, and then drops it.
    pub(super) fn keeps<T: Send + 'static>(self, kept: T) {
        let keeping = move || {
            while self.in_use() {
                std::thread::sleep(AGAIN * 10);
            }
            drop(kept);
        };
        // Not a task: those end with their runtime, and what this waits for does not.
        if let Err(error) = std::thread::Builder::new().name("counterfoil-unfinished".into()).spawn(keeping) {
            tracing::error!(%error, "nothing waits for a call into the file system that goes on");
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn what_a_thread_still_works_on_is_in_use_and_what_waits_for_it_is_kept_as_long() {
        let opened = Opened::default();
        for _ in 0..100 {
            opened.add(&Arc::new(1));
        }
        assert!(opened.is_let_go(Duration::ZERO).await);
        assert!(opened.0.lock().unwrap().len() < 10);
        let held = Arc::new("held");
        opened.add(&held);
        assert!(!opened.is_let_go(AGAIN * 3).await);
        let (kept, end) = mpsc::channel::<()>();
        opened.clone().keeps(kept);
        assert_eq!(end.recv_timeout(AGAIN * 30), Err(mpsc::RecvTimeoutError::Timeout));
        drop(held);
        assert!(opened.is_let_go(Duration::ZERO).await);
        assert_eq!(end.recv(), Err(mpsc::RecvError));
    }
}
