//! Which of the hosts that take each other's places is in force. A call ends on the host that took it in; where it has not
//! begun when another one is exchanged in, it begins only where the new one has the same tool: the same revision, which is
//! what would run and under which grants and rules.

use super::{Inner, Tool};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the hosts have together that take each other's places.
#[derive(Default)]
struct Line {
    /// How many were made.
    made: AtomicU64,
    /// The number of the one in force. 0: none has been called.
    now: AtomicU64,
    /// The highest that ever was in force. Held while it is told, so that what is told is in the order in which it came.
    highest: Mutex<u64>,
    /// The revisions of its tools.
    revisions: Mutex<Arc<HashMap<String, String>>>,
}

/// One host's place in it.
pub(super) struct Place {
    line: Arc<Line>,
    number: u64,
    /// Whether what it has to tell is told.
    told: AtomicBool,
}

/// How a host comes to be called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coming {
    /// It is in force from now on.
    InForce,
    /// A later one is in force already: this one ends what it took in.
    Replaced,
}

impl Default for Place {
    fn default() -> Self {
        Self::on(Arc::default())
    }
}

impl Place {
    fn on(line: Arc<Line>) -> Self {
        let number = line.made.fetch_add(1, Ordering::Relaxed) + 1;
        Self { line, number, told: AtomicBool::new(false) }
    }

    /// That of a host which takes this one's place.
    pub(super) fn next(&self) -> Self {
        Self::on(Arc::clone(&self.line))
    }

    fn is_in_force(&self) -> bool {
        self.line.now.load(Ordering::Acquire) == self.number
    }
}

impl Inner {
    /// From now on this host is in force, whichever was.
    pub(super) fn comes_into_force(&self) {
        let mut highest = lock(&self.place.line.highest);
        if !self.place.is_in_force() {
            self.takes_over(&mut highest);
        }
    }

    /// The host is called: if nobody has said so before, it is in force, unless a later one is.
    pub(super) fn is_called(&self) {
        let place = &self.place;
        if place.told.load(Ordering::Acquire) {
            return;
        }
        let mut highest = lock(&place.line.highest);
        if place.told.load(Ordering::Acquire) {
            return;
        }
        if place.number > *highest {
            return self.takes_over(&mut highest);
        }
        self.audits.say(Coming::Replaced);
        place.told.store(true, Ordering::Release);
    }

    /// Whoever sees a row behind the one that tells of it sees this host in force, too: first that, then the row.
    fn takes_over(&self, highest: &mut u64) {
        let revisions = self.tools.iter().map(|(name, tool)| (name.clone(), tool.revision.clone()));
        *lock(&self.place.line.revisions) = Arc::new(revisions.collect());
        self.place.line.now.store(self.place.number, Ordering::Release);
        *highest = self.place.number.max(*highest);
        self.audits.say(Coming::InForce);
        self.place.told.store(true, Ordering::Release);
    }

    /// Whether what is in force would run the same for this tool of the host's.
    pub(super) fn still_has(&self, tool: &Tool) -> bool {
        if self.place.is_in_force() {
            return true;
        }
        let revisions = Arc::clone(&lock(&self.place.line.revisions));
        revisions.get(&tool.declaration.name) == Some(&tool.revision)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
