//! A clock that stands and randomness that is none, for runs that have to come out the same: a test, a search for a fault.
//! Every instance begins anew, so a preview and its run see the same. What is fixed is no source of keys.

use crate::digest::Digest;
use rand_core::TryRng;
use sha2::{Digest as _, Sha256};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtxBuilder};

/// How far the monotonic clock goes on whenever it is read, in nanoseconds: who waits for a time comes to an end.
const STEP: u64 = 1_000_000;

/// What of a plug-in's surroundings is fixed. By default nothing: the clocks go and randomness is the system's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// The time of day, always. The monotonic clock then begins at zero and goes on by a millisecond whenever it is read;
    /// timers take their real time, and files have their real times.
    pub clock: Option<SystemTime>,
    /// Where all of `wasi:random` comes from, the secure functions too: each call gets the same numbers.
    pub random: Option<u64>,
}

impl Fixed {
    /// Puts it in the place of the real ones.
    pub(super) fn apply(&self, wasi: &mut WasiCtxBuilder) {
        if let Some(clock) = self.clock {
            wasi.wall_clock(Stands(since_epoch(clock))).monotonic_clock(Steps(AtomicU64::new(0)));
        }
        if let Some(seed) = self.random {
            wasi.secure_random(Numbers::new("secure", seed)).insecure_random(Numbers::new("insecure", seed));
            let mut first = [0; 16];
            Numbers::new("insecure seed", seed).fill(&mut first);
            wasi.insecure_random_seed(u128::from_le_bytes(first));
        }
    }

    /// Adds it to what says which plug-in in which surroundings would run.
    pub(super) fn digest(&self, digest: &mut Digest) {
        if let Some(clock) = self.clock {
            digest.field("clock").field(since_epoch(clock).as_nanos().to_le_bytes());
        }
        if let Some(seed) = self.random {
            digest.field("random").field(seed.to_le_bytes());
        }
    }
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

struct Stands(Duration);

impl HostWallClock for Stands {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }
    fn now(&self) -> Duration {
        self.0
    }
}

struct Steps(AtomicU64);

impl HostMonotonicClock for Steps {
    fn resolution(&self) -> u64 {
        STEP
    }
    fn now(&self) -> u64 {
        self.0.fetch_add(STEP, Ordering::Relaxed)
    }
}

/// The numbers of a seed: SHA-256 over what they are for, the seed and a counter, end to end.
struct Numbers {
    start: Sha256,
    block: u64,
    bytes: [u8; 32],
    used: usize,
}

impl Numbers {
    fn new(purpose: &str, seed: u64) -> Self {
        let start = Sha256::new().chain_update(purpose).chain_update([0]).chain_update(seed.to_le_bytes());
        Self { start, block: 0, bytes: [0; 32], used: 32 }
    }

    fn fill(&mut self, to: &mut [u8]) {
        for byte in to {
            if self.used == self.bytes.len() {
                self.bytes = self.start.clone().chain_update(self.block.to_le_bytes()).finalize().into();
                self.block += 1;
                self.used = 0;
            }
            *byte = self.bytes.get(self.used).copied().unwrap_or_default();
            self.used += 1;
        }
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}

impl TryRng for Numbers {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.take()))
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.take()))
    }
    fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), Infallible> {
        self.fill(to);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_are_the_same_however_they_are_taken_and_others_for_another_use() {
        let all: [u8; 100] = Numbers::new("secure", 42).take();
        let mut pieces = Numbers::new("secure", 42);
        let mut taken = Vec::new();
        for length in [1, 31, 33, 35] {
            let mut piece = vec![0; length];
            pieces.fill(&mut piece);
            taken.extend(piece);
        }
        assert_eq!(taken, all);
        for other in [Numbers::new("insecure", 42), Numbers::new("secure", 43)] {
            let mut other = other;
            assert_ne!(other.take::<100>(), all);
        }
    }
}
