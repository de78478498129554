//! Whose turn it is: how many calls of a plug-in run at once, or of all plug-ins together, and how many of them are one
//! owner's. An owner's calls wait for each other before they wait for anybody else's, so that of two owners the one with a
//! hundred calls keeps the other waiting no longer than the one with a single call.

use super::options::Limits;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// The turns of one plug-in, or of a sandbox.
pub(super) struct Turns {
    /// Calls that change nothing.
    reading: Arc<Semaphore>,
    /// Runs that can change something.
    writing: Arc<Semaphore>,
    /// Turns that one owner may have of each.
    share: (usize, usize),
    /// Calls that one owner may have here, running or waiting.
    most: u32,
    owners: Mutex<HashMap<String, Owner>>,
}

/// An owner who has calls here.
struct Owner {
    calls: u32,
    reading: Arc<Semaphore>,
    writing: Arc<Semaphore>,
}

/// A call that has come, and waits for its turn or has it. Dropping it makes room for another of its owner's.
pub(super) struct Place {
    turns: Arc<Turns>,
    owner: String,
}

/// A turn, taken until it is dropped.
pub(super) struct Turn {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

impl Turns {
    /// Those of a plug-in.
    pub(super) fn new(limits: &Limits) -> Self {
        Self::of(limits.reading, limits.max_concurrent, limits.per_owner)
    }

    /// Those of a sandbox, which has so many instances: whatever a call may change, it is one. How many may wait is each
    /// plug-in's to say.
    pub(super) fn shared(instances: u32) -> Self {
        Self::of(instances, instances, u32::MAX)
    }

    fn of(reading: u32, writing: u32, most: u32) -> Self {
        let [reading, writing] = [reading, writing].map(|count| count as usize);
        // A quarter of what only reads is left to others; runs that write are mostly one at a time.
        let left = (reading / 4).max(1);
        Self {
            reading: Arc::new(Semaphore::new(reading)),
            writing: Arc::new(Semaphore::new(writing)),
            share: (reading.saturating_sub(left).max(1), writing),
            most,
            owners: Mutex::default(),
        }
    }

    /// Takes in a call, unless its owner has as many here as it may; then says how many that are.
    pub(super) fn enter(self: &Arc<Self>, owner: &str) -> Result<Place, u32> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = owners.entry(owner.to_owned()).or_insert_with(|| Owner {
            calls: 0,
            reading: Arc::new(Semaphore::new(self.share.0)),
            writing: Arc::new(Semaphore::new(self.share.1)),
        });
        if entry.calls >= self.most {
            return Err(entry.calls);
        }
        entry.calls += 1;
        Ok(Place { turns: Arc::clone(self), owner: owner.to_owned() })
    }
}

impl Place {
    /// Waits for a turn, among the owner's own calls first. The error is for turns that nobody gives any more.
    pub(super) async fn turn(&self, writes: bool) -> Result<Turn, AcquireError> {
        let Turns { reading, writing, owners, .. } = &*self.turns;
        let own = {
            let owners = owners.lock().unwrap_or_else(PoisonError::into_inner);
            owners.get(&self.owner).map(|owner| Arc::clone(if writes { &owner.writing } else { &owner.reading }))
        };
        let all = Arc::clone(if writes { writing } else { reading });
        // There is an entry for as long as there is a place; without one the call would wait with everybody.
        let own = own.unwrap_or_else(|| Arc::clone(&all)).acquire_owned().await?;
        Ok(Turn { _all: all.acquire_owned().await?, _own: own })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut owners = self.turns.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = owners.get_mut(&self.owner) {
            owner.calls = owner.calls.saturating_sub(1);
            if owner.calls == 0 {
                owners.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    /// What a future gives without waiting.
    fn now<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(given) => Some(given),
            Poll::Pending => None,
        }
    }

    fn turns(reading: u32, max_concurrent: u32, per_owner: u32) -> Arc<Turns> {
        Arc::new(Turns::new(&Limits { reading, max_concurrent, per_owner, ..Limits::default() }))
    }

    #[test]
    fn an_owner_has_no_more_calls_than_it_may_and_nobody_is_remembered() {
        let turns = turns(8, 1, 2);
        let (first, second) = (turns.enter("a").unwrap(), turns.enter("a").unwrap());
        assert_eq!(turns.enter("a").err(), Some(2));
        assert!(turns.enter("b").is_ok());
        drop(first);
        assert!(turns.enter("a").is_ok());
        drop(second);
        assert!(turns.owners.lock().unwrap().is_empty());
    }

    #[test]
    fn one_owner_never_has_every_turn_to_read() {
        for (reading, own) in [(1, 1), (2, 1), (3, 2), (8, 6), (32, 24)] {
            let turns = turns(reading, 1, 100);
            let places: Vec<Place> = (0..reading).map(|_| turns.enter("a").unwrap()).collect();
            let given: Vec<Turn> =
                places.iter().filter_map(|place| now(pin!(place.turn(false)))).map(Result::unwrap).collect();
            assert_eq!(given.len(), own, "of {reading}");
            let other = turns.enter("b").unwrap();
            assert_eq!(now(pin!(other.turn(false))).is_some(), reading > 1, "of {reading}");
        }
    }

    #[test]
    fn who_has_one_run_waits_for_one_of_who_has_many() {
        let turns = turns(8, 1, 100);
        let many: Vec<Place> = (0..5).map(|_| turns.enter("a").unwrap()).collect();
        let one = turns.enter("b").unwrap();
        let mut waiting: Vec<_> = many.iter().map(|place| Box::pin(place.turn(true))).collect();
        let first = now(waiting.remove(0).as_mut()).unwrap().unwrap();
        assert!(waiting.iter_mut().all(|turn| now(turn.as_mut()).is_none()));
        let mut other = Box::pin(one.turn(true));
        assert!(now(other.as_mut()).is_none());
        drop(first);
        let mut next = waiting.remove(0);
        assert!(now(next.as_mut()).is_none());
        let second = now(other.as_mut()).unwrap().unwrap();
        drop(second);
        assert!(now(next.as_mut()).is_some());
    }
}
