//! Rows of calls that ran nothing, of which whoever calls can bring about as many as it likes. Each owner has a measure of its
//! own, and another for what is about a confirmation: whoever knocks without end fills no disk, and hides nobody else's
//! refusals nor those of confirmations. What is left out is counted by why.

use super::event::Subject;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Owners whose measures are kept apart at once; what is about a confirmation counts as another. Those beyond share one.
const MOST: usize = 512;

/// How much was written of whom, and what was left out since the last row.
#[derive(Default)]
pub(super) struct Idle {
    of: HashMap<(String, bool), Bucket>,
    /// Of all for whom there is no room, by whether it is about a confirmation.
    of_others: [Bucket; 2],
    left_out: BTreeMap<&'static str, u64>,
}

/// How many rows were left out, by why: a reason of the wire, or `replayed`.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(super) struct LeftOut(BTreeMap<&'static str, u64>);

impl LeftOut {
    pub(super) fn count(&self) -> u64 {
        self.0.values().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }
}

impl Idle {
    /// Whether a row is written; else it is counted.
    pub(super) fn takes(&mut self, subject: Option<&Subject>, why: &'static str, now: Instant) -> bool {
        let takes = self.bucket(subject, now).take(now);
        if !takes {
            let count = self.left_out.entry(why).or_default();
            *count = count.saturating_add(1);
        }
        takes
    }

    fn bucket(&mut self, subject: Option<&Subject>, now: Instant) -> &mut Bucket {
        let confirmation = subject.is_some_and(|subject| subject.approval_id.is_some());
        let key = (subject.map(|subject| subject.owner.clone()).unwrap_or_default(), confirmation);
        if !self.of.contains_key(&key) && self.of.len() >= MOST {
            // Who has not called for a while starts anew.
            self.of.retain(|_, bucket| !bucket.is_full(now));
        }
        let [plain, confirmations] = &mut self.of_others;
        if self.of.contains_key(&key) || self.of.len() < MOST {
            self.of.entry(key).or_default()
        } else if confirmation {
            confirmations
        } else {
            plain
        }
    }

    /// What was left out since the last row.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        (!self.left_out.is_empty()).then(|| LeftOut(self.left_out.clone()))
    }

    /// It has been told.
    pub(super) fn told(&mut self) {
        self.left_out.clear();
    }
}

/// So many rows at once, and then so many a second.
#[derive(Default)]
struct Bucket {
    used: u32,
    since: Option<Instant>,
}

impl Bucket {
    const AT_ONCE: u32 = 256;
    const EACH: Duration = Duration::from_millis(500);

    fn take(&mut self, now: Instant) -> bool {
        self.refill(now);
        if self.used >= Self::AT_ONCE {
            return false;
        }
        self.used += 1;
        true
    }

    /// Whether nothing of it is used by now.
    fn is_full(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.used == 0
    }

    fn refill(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let back = u32::try_from(now.saturating_duration_since(since).as_millis() / Self::EACH.as_millis());
        let back = back.unwrap_or(u32::MAX).min(self.used);
        self.used -= back;
        self.since = Some(if self.used == 0 { now } else { since + Self::EACH * back });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(owner: &str, approval_id: Option<&str>) -> Subject {
        Subject { owner: owner.into(), approval_id: approval_id.map(str::to_owned), ..Subject::default() }
    }

    #[test]
    fn whoever_knocks_without_end_hides_nobody_elses_refusals() {
        let (mut idle, now) = (Idle::default(), Instant::now());
        let mut taken = 0;
        for at in 0..1_000 {
            let why = if at % 2 == 0 { "denied" } else { "replayed" };
            taken += u32::from(idle.takes(Some(&of("os:mallory", None)), why, now));
        }
        assert_eq!(taken, Bucket::AT_ONCE);
        assert!(idle.takes(Some(&of("os:alice", None)), "denied", now));
        assert!(idle.takes(Some(&of("os:mallory", Some("apr_a"))), "params_changed", now), "its confirmations neither");
        let left_out = idle.left_out().unwrap();
        assert_eq!(left_out.count(), 1_000 - u64::from(Bucket::AT_ONCE));
        assert_eq!(serde_json::to_string(&left_out).unwrap(), r#"{"denied":372,"replayed":372}"#);
        idle.told();
        assert!(idle.left_out().is_none());
        let later = now + Bucket::EACH;
        assert!(idle.takes(Some(&of("os:mallory", None)), "denied", later), "time frees");
        assert!(!idle.takes(Some(&of("os:mallory", None)), "denied", later));
    }

    #[test]
    fn however_many_call_no_more_is_kept_than_there_is_room_for_and_time_frees_it() {
        let (mut idle, now) = (Idle::default(), Instant::now());
        for at in 0..MOST * 2 {
            idle.takes(Some(&of(&format!("name:{at}"), None)), "denied", now);
        }
        assert_eq!(idle.of.len(), MOST);
        let mut taken = 0;
        for at in 0..1_000 {
            taken += u32::from(idle.takes(Some(&of(&format!("name:other {at}"), None)), "denied", now));
        }
        assert!(taken < Bucket::AT_ONCE, "those for whom there is no room share one measure");
        assert!(idle.takes(Some(&of("name:other", Some("apr_a"))), "denied", now), "and another for confirmations");
        assert!(idle.takes(Some(&of("name:late", None)), "denied", now + Bucket::EACH));
        assert!(idle.of.len() < MOST, "whoever has not called for a while makes room");
    }
}
