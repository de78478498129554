//! What the log says of rows that cannot be written: when that begins and when it is over, however many calls meet it.

use std::time::{Duration, Instant};

/// How long after one reason another is told.
const AGAIN: Duration = Duration::from_secs(60);

/// Whether rows can be written.
#[derive(Default)]
pub(super) struct Failing(Option<Said>);

/// What was said of it.
struct Said {
    why: String,
    at: Instant,
    /// It is over when a row behind this one is on the disk.
    last: u64,
}

impl Failing {
    /// Nothing can be written behind the row `last`, or that one cannot be brought to the disk: whether that is to be said.
    pub(super) fn is_news(&mut self, why: &str, last: u64, now: Instant) -> bool {
        let news = match &self.0 {
            None => true,
            Some(said) => said.why != why && now.saturating_duration_since(said.at) >= AGAIN,
        };
        if news {
            self.0 = Some(Said { why: why.to_owned(), at: now, last });
        }
        news
    }

    /// Rows up to `synced` are on the disk, and their heads are written down: whether it is to be said that it is over.
    /// `uncovered`: they could not be until now.
    pub(super) fn is_over(&mut self, synced: u64, uncovered: bool) -> bool {
        let over = self.0.as_ref().is_some_and(|said| synced > said.last || uncovered);
        if over {
            self.0 = None;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_when_it_begins_and_when_it_is_over_and_another_reason_after_a_while() {
        let (mut failing, now) = (Failing::default(), Instant::now());
        assert!(!failing.is_over(7, false), "nothing was wrong");
        assert!(failing.is_news("full", 7, now));
        for _ in 0..1_000 {
            assert!(!failing.is_news("full", 7, now) && !failing.is_news("read-only", 7, now));
        }
        assert!(!failing.is_over(7, false), "what was written before says nothing");
        assert!(failing.is_news("read-only", 7, now + AGAIN) && !failing.is_news("read-only", 7, now + AGAIN * 2));
        assert!(failing.is_over(8, false));
        assert!(!failing.is_over(9, false) && failing.is_news("full", 9, now + AGAIN), "and again");
        assert!(failing.is_over(9, true), "the very rows that could not be covered are");
    }
}
