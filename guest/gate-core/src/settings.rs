//! Sizes and times, each named, none switched off by omission.

use crate::canonical;
use crate::prose::{decimal, fill};
use alloc::string::String;

/// Milliseconds.
pub type Millis = u64;

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// What an operator may change. Milliseconds and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Life of a token. Long enough for a person to read a preview, short enough that it is still true.
    pub ttl: Millis,
    /// How long an approver may take.
    pub approval_window: Millis,
    /// How long an outcome is replayed: what a client needs to retry after a lost reply.
    pub replay_window: Millis,
    /// How long an expired or replayed-out token is still told apart from one that never was.
    pub tombstone: Millis,
    /// How long an identical call is refused after a person declined it.
    pub cool_down: Millis,
    /// How far back an identical completed call is told as recent.
    pub recent_window: Millis,
    /// Bytes of arguments, as sent and in canonical form: they are hashed, stored and shown to a person.
    pub max_arguments: u32,
    /// Nesting of arguments: readers behind the gate recurse.
    pub max_depth: u32,
    /// Characters of one number: its exact value is kept, so its length is work for everyone behind the gate.
    pub max_number: u32,
    /// Magnitude of a decimal exponent: a few characters must not stand for a gigabyte of digits.
    pub max_exponent: u32,
    /// Bytes of a plan: more than a person reads.
    pub max_plan: u32,
    /// Bytes of a precondition.
    pub max_precondition: u32,
    /// Bytes of a kept outcome as a JSON string literal: popular clients break above 1 MiB a message, which carries it twice.
    pub max_outcome: u32,
    /// Bytes of an outcome that is delivered at all.
    pub max_output: u32,
    /// Unexpired pending confirmations of one owner: no caller can fill the table for others.
    pub pending_per_owner: u32,
    /// Unexpired pending confirmations in all.
    pub pending_in_all: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ttl: 5 * MINUTE,
            approval_window: 30 * MINUTE,
            replay_window: 5 * MINUTE,
            tombstone: DAY,
            cool_down: 10 * MINUTE,
            recent_window: 10 * MINUTE,
            max_arguments: 256 * 1024,
            max_depth: 64,
            max_number: 1024,
            max_exponent: 9999,
            max_plan: 64 * 1024,
            max_precondition: 1024,
            max_outcome: 384 * 1024,
            max_output: 8 * 1024 * 1024,
            pending_per_owner: 32,
            pending_in_all: 10_000,
        }
    }
}

impl Settings {
    /// The limits of the canonical reader.
    pub fn arguments(&self) -> canonical::Limits {
        canonical::Limits {
            max_bytes: self.max_arguments,
            max_depth: self.max_depth,
            max_number: self.max_number,
            max_exponent: self.max_exponent,
        }
    }

    /// The limits of texts that a tool returns: as for arguments, but as large as an outcome may be.
    pub fn output(&self) -> canonical::Limits {
        canonical::Limits { max_bytes: self.max_output, ..self.arguments() }
    }

    /// Refuses zeros and what is out of range.
    ///
    /// # Errors
    /// Names the setting and its range.
    pub fn check(&self) -> Result<(), String> {
        let size = |size: u32| Millis::from(size);
        let all = [
            ("ttl", self.ttl, 15 * SECOND, HOUR),
            ("approval-window", self.approval_window, 15 * SECOND, 7 * DAY),
            ("replay-window", self.replay_window, SECOND, DAY),
            ("tombstone", self.tombstone, MINUTE, 30 * DAY),
            ("cool-down", self.cool_down, SECOND, DAY),
            ("recent-window", self.recent_window, SECOND, DAY),
            ("max-arguments", size(self.max_arguments), 1, 16 * 1024 * 1024),
            ("max-depth", size(self.max_depth), 1, 512),
            ("max-number", size(self.max_number), 1, 65_536),
            ("max-exponent", size(self.max_exponent), 1, 1_000_000),
            ("max-plan", size(self.max_plan), 1, 16 * 1024 * 1024),
            ("max-precondition", size(self.max_precondition), 1, 65_536),
            ("max-outcome", size(self.max_outcome), 1, 64 * 1024 * 1024),
            ("max-output", size(self.max_output), 1, 64 * 1024 * 1024),
            ("pending-per-owner", size(self.pending_per_owner), 1, 1_000_000),
            ("pending-in-all", size(self.pending_in_all), 1, 100_000_000),
        ];
        for (name, value, low, high) in all {
            if !(low..=high).contains(&value) {
                // Times are those that are not from 1.
                let unit = if low == 1 { "" } else { " ms" };
                return Err(fill(
                    "% is %%: set it between % and %%",
                    &[name, &decimal(value), unit, &decimal(low), &decimal(high), unit],
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::format;

    #[test]
    fn the_defaults_are_in_range() {
        assert_eq!(Settings::default().check(), Ok(()));
    }

    #[test]
    fn what_a_tool_returns_is_read_by_the_same_limits_but_may_be_larger() {
        let settings = Settings {
            max_arguments: 1,
            max_depth: 2,
            max_number: 3,
            max_exponent: 4,
            max_output: 5,
            ..Settings::default()
        };
        let limits = canonical::Limits { max_bytes: 1, max_depth: 2, max_number: 3, max_exponent: 4 };
        assert_eq!(settings.arguments(), limits);
        assert_eq!(settings.output(), canonical::Limits { max_bytes: 5, ..limits });
    }

    /// A setting has this range, which is named where a value is outside of it.
    #[track_caller]
    fn check<T: Copy + Into<u64>>(set: fn(&mut Settings) -> &mut T, [under, low, high, over]: [T; 4], named: &str) {
        let said = |value| {
            let mut settings = Settings::default();
            *set(&mut settings) = value;
            settings.check()
        };
        assert_eq!((said(low), said(high)), (Ok(()), Ok(())));
        for value in [under, over] {
            let (name, range) = named.split_once(": ").unwrap();
            let unit = if range.ends_with(" ms") { " ms" } else { "" };
            assert_eq!(said(value), Err(format!("{name} is {}{unit}: set it between {range}", value.into())));
        }
    }

    #[test]
    fn every_time_has_both_ends() {
        check(|s| &mut s.ttl, [14_999, 15_000, 3_600_000, 3_600_001], "ttl: 15000 and 3600000 ms");
        check(
            |s| &mut s.approval_window,
            [14_999, 15_000, 604_800_000, 604_800_001],
            "approval-window: 15000 and 604800000 ms",
        );
        check(|s| &mut s.replay_window, [999, 1_000, 86_400_000, 86_400_001], "replay-window: 1000 and 86400000 ms");
        check(
            |s| &mut s.tombstone,
            [59_999, 60_000, 2_592_000_000, 2_592_000_001],
            "tombstone: 60000 and 2592000000 ms",
        );
        check(|s| &mut s.cool_down, [999, 1_000, 86_400_000, 86_400_001], "cool-down: 1000 and 86400000 ms");
        check(|s| &mut s.recent_window, [999, 1_000, 86_400_000, 86_400_001], "recent-window: 1000 and 86400000 ms");
    }

    #[test]
    fn every_size_has_both_ends() {
        check(|s| &mut s.max_arguments, [0, 1, 16_777_216, 16_777_217], "max-arguments: 1 and 16777216");
        check(|s| &mut s.max_depth, [0, 1, 512, 513], "max-depth: 1 and 512");
        check(|s| &mut s.max_number, [0, 1, 65_536, 65_537], "max-number: 1 and 65536");
        check(|s| &mut s.max_exponent, [0, 1, 1_000_000, 1_000_001], "max-exponent: 1 and 1000000");
        check(|s| &mut s.max_plan, [0, 1, 16_777_216, 16_777_217], "max-plan: 1 and 16777216");
        check(|s| &mut s.max_precondition, [0, 1, 65_536, 65_537], "max-precondition: 1 and 65536");
        check(|s| &mut s.max_outcome, [0, 1, 67_108_864, 67_108_865], "max-outcome: 1 and 67108864");
        check(|s| &mut s.max_output, [0, 1, 67_108_864, 67_108_865], "max-output: 1 and 67108864");
        check(|s| &mut s.pending_per_owner, [0, 1, 1_000_000, 1_000_001], "pending-per-owner: 1 and 1000000");
        check(|s| &mut s.pending_in_all, [0, 1, 100_000_000, 100_000_001], "pending-in-all: 1 and 100000000");
    }
}
