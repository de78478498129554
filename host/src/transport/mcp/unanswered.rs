//! Requests that were read and are not answered yet: how many, under which ids, and when the last is done.

use rmcp::model::RequestId;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most requests that are worked on at once. The next line is read when one of them has been answered: a client that
/// asks faster than its tools answer waits, and takes no memory here.
const MAX_UNANSWERED: u32 = 128;
/// How many ids of cancelled requests are remembered. Their answers are dropped by id, so that a second request under
/// such an id could lose its own or get the first one's.
const REMEMBERED: usize = 1024;

/// The right to answer one message. Comes back when the answer has been written.
pub(super) type Turn = OwnedSemaphorePermit;

#[derive(Clone)]
pub(super) struct Unanswered {
    turns: Arc<Semaphore>,
    ids: Arc<Mutex<Ids>>,
}

#[derive(Default)]
struct Ids {
    open: HashMap<RequestId, Turn>,
    cancelled: HashSet<RequestId>,
    oldest: VecDeque<RequestId>,
}

impl Unanswered {
    pub(super) fn new() -> Self {
        Self { turns: Arc::new(Semaphore::new(MAX_UNANSWERED as usize)), ids: Arc::default() }
    }

    /// Waits until one more message may be read.
    pub(super) async fn turn(&self) -> Option<Turn> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }

    /// Waits until all are answered.
    pub(super) async fn all(&self) {
        let _ = self.turns.acquire_many(MAX_UNANSWERED).await;
    }

    /// Takes a request in. Gives the turn back if its id is taken.
    pub(super) fn open(&self, id: &RequestId, turn: Turn) -> Result<(), Turn> {
        let mut ids = self.ids();
        if ids.open.contains_key(id) || ids.cancelled.contains(id) {
            return Err(turn);
        }
        ids.open.insert(id.clone(), turn);
        Ok(())
    }

    /// The answer is about to be written: the id is free from here on, since the client may use it as soon as it has read
    /// the answer. The turn is kept until that has been written.
    pub(super) fn answering(&self, id: &RequestId) -> Option<Turn> {
        self.ids().open.remove(id)
    }

    /// No answer will be written. Does nothing for a request that is not open.
    pub(super) fn cancelled(&self, id: &RequestId) {
        let mut ids = self.ids();
        if ids.open.remove(id).is_none() {
            return;
        }
        ids.cancelled.insert(id.clone());
        ids.oldest.push_back(id.clone());
        if ids.oldest.len() > REMEMBERED
            && let Some(oldest) = ids.oldest.pop_front()
        {
            ids.cancelled.remove(&oldest);
        }
    }

    fn ids(&self) -> std::sync::MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::task::{Context, Poll, Waker};

    #[tokio::test]
    async fn an_id_is_free_once_its_answer_is_on_its_way_and_its_turn_once_it_is_there() {
        let (unanswered, id) = (Unanswered::new(), RequestId::Number(1));
        let open = async || unanswered.open(&id, unanswered.turn().await.unwrap());
        assert!(open().await.is_ok());
        assert!(open().await.is_err());
        let turn = unanswered.answering(&id);
        assert!(turn.is_some());
        assert!(open().await.is_ok());
        drop(unanswered.answering(&id));
        let mut all = std::pin::pin!(unanswered.all());
        assert_eq!(all.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
        drop(turn);
        all.await;
    }
}
