//! Whose turn it is: how many calls of a plug-in run at once, or of all plug-ins together, or of what else is dear, and how many of them are one
//! owner's. An owner's calls wait for each other before they wait for anybody else's, so that of two owners the one with a
//! hundred calls keeps the other waiting no longer than the one with a single call.

use super::options::Limits;
#[cfg(feature = "rules")]
use super::sandbox::INSTANCES;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// The turns of one plug-in, or of a sandbox.
pub(crate) struct Turns {
    /// Those of the hosts whose place was taken, where they allowed another number of calls: as long as one has some, a call
    /// here needs a turn there as well, and all together have no more than it allowed.
    before: OnceLock<Line>,
    /// Calls that change nothing.
    reading: Arc<Semaphore>,
    /// Runs that can change something.
    writing: Arc<Semaphore>,
    /// How many there are of each.
    counts: (usize, usize),
    /// Turns that one owner may have of each.
    share: (usize, usize),
    /// Calls that one owner may have here, running or waiting.
    most: u32,
    owners: Mutex<HashMap<Arc<str>, Arc<Owner>>>,
}

/// The turns of a plug-in and of those that had its name before, the newest first: all that some host or some call still has.
/// A host whose place was taken may itself have taken another's, and its own calls may have ended before those of that one.
#[derive(Clone, Default)]
pub(crate) struct Line(Vec<Weak<Turns>>);

/// Owners without calls that are kept, for their next one: few, so that nobody is remembered for long where there are many.
const IDLE: usize = 64;

/// An owner who has calls here, or had some.
struct Owner {
    name: Arc<str>,
    /// Becomes more only under the lock of all owners.
    calls: AtomicU32,
    reading: Arc<Semaphore>,
    writing: Arc<Semaphore>,
}

/// A call that has come, and waits for its turn or has it. Dropping it makes room for another of its owner's.
pub(crate) struct Place {
    _turns: Arc<Turns>,
    here: Count,
    /// Where it counts as well: among the calls of those whose place was taken.
    before: Vec<Count>,
}

/// A call as one of its owner's. It does not keep the turns of a host that has no calls of its own any more.
struct Count {
    turns: Weak<Turns>,
    owner: Arc<Owner>,
}

/// A turn, taken until it is dropped.
pub(crate) struct Turn {
    _here: Option<Pair>,
    _before: Vec<Pair>,
}

/// One of the owner's own turns, and one of all.
type Pair = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl Line {
    pub(super) fn live(&self) -> impl Iterator<Item = Arc<Turns>> {
        self.0.iter().filter_map(Weak::upgrade)
    }

    /// Whether there are any.
    pub(crate) fn is_live(&self) -> bool {
        self.live().next().is_some()
    }
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

    /// Those of the checks of arguments that may take long: each keeps a thread until it ends, so there are few, and one owner
    /// never has them all.
    pub(crate) fn checks() -> Self {
        /// At once.
        const CHECKS: u32 = 2;
        /// Of one owner, running or waiting.
        const CHECKS_OF_ONE: u32 = 16;
        Self::of(CHECKS, CHECKS, CHECKS_OF_ONE)
    }

    /// Those of the rules that are asked about calls: as many as there are processors, of which one owner never has all.
    #[cfg(feature = "rules")]
    pub(crate) fn rules() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let count = u32::try_from(processors).unwrap_or(u32::MAX).clamp(2, INSTANCES);
        Self::of(count, count, u32::MAX)
    }

    fn of(reading: u32, writing: u32, most: u32) -> Self {
        let [reading, writing] = [reading, writing].map(|count| count as usize);
        // A quarter of what only reads is left to others; runs that write are mostly one at a time.
        let left = (reading / 4).max(1);
        Self {
            reading: Arc::new(Semaphore::new(reading)),
            writing: Arc::new(Semaphore::new(writing)),
            counts: (reading, writing),
            share: (reading.saturating_sub(left).max(1), writing),
            most,
            owners: Mutex::default(),
            before: OnceLock::new(),
        }
    }

    /// Whether it allows as many calls.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.counts, self.most) == (other.counts, other.most)
    }

    /// These and those before them.
    pub(super) fn line(self: &Arc<Self>) -> Line {
        let before = self.before.get().into_iter().flat_map(Line::live);
        Line(std::iter::once(Arc::clone(self)).chain(before).map(|turns| Arc::downgrade(&turns)).collect())
    }

    /// Counts the calls of the hosts whose place is taken as well.
    pub(super) fn succeed(&self, line: &Line) {
        // Who counts with these already is not counted by them: two that waited for each other would wait for ever.
        let others =
            line.live().filter(|turns| !turns.line().live().any(|turns| std::ptr::eq(Arc::as_ptr(&turns), self)));
        // Who succeeds somebody already goes on with that.
        let _ = self.before.set(Line(others.map(|turns| Arc::downgrade(&turns)).collect()));
    }

    /// Takes in a call, unless its owner has as many here as it may; then says how many that are.
    pub(crate) fn enter(self: &Arc<Self>, owner: &str) -> Result<Place, u32> {
        let here = self.count(owner)?;
        let before = self.before.get().into_iter().flat_map(Line::live);
        let before = before.map(|turns| turns.count(owner)).collect::<Result<_, _>>()?;
        Ok(Place { _turns: Arc::clone(self), here, before })
    }

    fn count(self: &Arc<Self>, owner: &str) -> Result<Count, u32> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = match owners.get(owner) {
            Some(entry) => entry,
            None => {
                let name: Arc<str> = owner.into();
                owners.entry(Arc::clone(&name)).or_insert(Arc::new(Owner {
                    name,
                    calls: AtomicU32::new(0),
                    reading: Arc::new(Semaphore::new(self.share.0)),
                    writing: Arc::new(Semaphore::new(self.share.1)),
                }))
            }
        };
        let calls = entry.calls.load(Ordering::Acquire);
        if calls >= self.most {
            return Err(calls);
        }
        entry.calls.fetch_add(1, Ordering::AcqRel);
        Ok(Count { turns: Arc::downgrade(self), owner: Arc::clone(entry) })
    }
}

impl Place {
    /// Waits for a turn, among the owner's own calls first. The error is for turns that nobody gives any more.
    pub(crate) async fn turn(&self, writes: bool) -> Result<Turn, AcquireError> {
        // The oldest first: whoever has one of those waits for nothing that needs it.
        let mut before = Vec::new();
        for count in self.before.iter().rev() {
            before.extend(count.turn(writes).await?);
        }
        Ok(Turn { _here: self.here.turn(writes).await?, _before: before })
    }
}

impl Count {
    /// Waits for a turn of its owner's own, and for one of all; `None` where there are none any more, and so no calls.
    async fn turn(&self, writes: bool) -> Result<Option<Pair>, AcquireError> {
        let Some(turns) = self.turns.upgrade() else { return Ok(None) };
        let (own, all) =
            if writes { (&self.owner.writing, &turns.writing) } else { (&self.owner.reading, &turns.reading) };
        let (own, all) = (Arc::clone(own), Arc::clone(all));
        drop(turns);
        Ok(Some((taken(own).await?, taken(all).await?)))
    }
}

/// Mostly there is one left, and nobody waits: whoever waits is given it before it is left.
async fn taken(turns: Arc<Semaphore>) -> Result<OwnedSemaphorePermit, AcquireError> {
    match Arc::clone(&turns).try_acquire_owned() {
        Ok(taken) => Ok(taken),
        Err(_) => turns.acquire_owned().await,
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if self.owner.calls.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let Some(turns) = self.turns.upgrade() else { return };
        let mut owners = turns.owners.lock().unwrap_or_else(PoisonError::into_inner);
        // Another call of its owner's may have come meanwhile, or another have removed it, and one that came since be here anew.
        let is_idle = self.owner.calls.load(Ordering::Acquire) == 0;
        if is_idle && owners.len() > IDLE && owners.get(&self.owner.name).is_some_and(|it| Arc::ptr_eq(it, &self.owner))
        {
            owners.remove(&self.owner.name);
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
    fn an_owner_has_no_more_calls_than_it_may_and_few_are_remembered() {
        let turns = turns(8, 1, 2);
        let (first, second) = (turns.enter("a").unwrap(), turns.enter("a").unwrap());
        assert_eq!(turns.enter("a").err(), Some(2));
        assert!(turns.enter("b").is_ok());
        drop(first);
        assert!(turns.enter("a").is_ok());
        drop(second);
        let many: Vec<Place> = (0..3 * IDLE).map(|owner| turns.enter(&owner.to_string()).unwrap()).collect();
        assert!(turns.owners.lock().unwrap().len() >= 3 * IDLE);
        drop(many);
        let owners = turns.owners.lock().unwrap();
        assert!(owners.len() == IDLE && owners.values().all(|owner| owner.calls.load(Ordering::Acquire) == 0));
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

    #[test]
    fn as_long_as_a_host_has_calls_its_successor_has_no_more_than_what_that_leaves() {
        let before = turns(8, 1, 100);
        let old = before.enter("a").unwrap();
        let running = now(pin!(old.turn(true))).unwrap().unwrap();
        let after = turns(8, 3, 100);
        after.succeed(&before.line());
        let new = after.enter("b").unwrap();
        let mut waiting = Box::pin(new.turn(true));
        assert!(now(waiting.as_mut()).is_none());
        assert!(now(pin!(new.turn(false))).is_some());
        drop((running, old));
        let first = now(waiting.as_mut()).unwrap().unwrap();
        let again = after.enter("b").unwrap();
        assert!(now(pin!(again.turn(true))).is_none());
        // The host that was there before is gone, and calls that are here now keep nothing of it.
        drop(before);
        assert!(now(pin!(again.turn(true))).is_some());
        drop(waiting);
        drop((first, new, again));
        let places: Vec<Place> = (0..4).map(|_| after.enter("b").unwrap()).collect();
        let given: Vec<Turn> =
            places.iter().filter_map(|place| now(pin!(place.turn(true)))).map(Result::unwrap).collect();
        assert_eq!(given.len(), 3);
    }

    #[test]
    fn what_runs_counts_after_any_number_of_successors_though_those_between_are_gone() {
        let first = turns(8, 1, 100);
        let old = first.enter("a").unwrap();
        let running = now(pin!(old.turn(true))).unwrap().unwrap();
        let mut last = first;
        for allowed in [3, 2, 5] {
            let next = turns(8, allowed, 100);
            next.succeed(&last.line());
            last = next;
        }
        let new = last.enter("b").unwrap();
        let mut waiting = Box::pin(new.turn(true));
        assert!(now(waiting.as_mut()).is_none());
        drop((running, old));
        assert!(now(waiting.as_mut()).is_some());
    }

    #[test]
    fn turns_that_come_back_do_not_wait_for_whoever_waits_for_them() {
        let (first, second) = (turns(8, 1, 100), turns(8, 2, 100));
        second.succeed(&first.line());
        first.succeed(&second.line());
        let (one, other) = (first.enter("a").unwrap(), second.enter("b").unwrap());
        let running = now(pin!(one.turn(true))).unwrap().unwrap();
        let mut waiting = Box::pin(other.turn(true));
        assert!(now(waiting.as_mut()).is_none());
        drop(running);
        let _running = now(waiting.as_mut()).unwrap().unwrap();
        assert!(now(pin!(one.turn(true))).is_none());
    }
}
