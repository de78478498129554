//! How long something takes, held against how long the same took alone, just before and on the same machine: what is measured is
//! what the one costs the other, and not how busy the machine is with the rest of the tests.

use std::time::Duration;

/// For so long a call computes at most until others have their turn.
pub const SLICE: Duration = Duration::from_millis(10);
/// How often most of them are tried to come in time: a machine that is busy with something else at one moment is not at all.
const TRIES: usize = 3;

/// The shortest time that so many hundredths of them came within.
pub fn within(mut times: Vec<Duration>, hundredths: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * hundredths).div_ceil(100).saturating_sub(1)).copied().expect("no times")
}

/// What most of what goes on beside something else comes within, where it took so long alone: its own time, several times over
/// as there is so much less of the processors, and some slices of what has its turn at that moment.
pub fn beside(alone: Duration) -> Duration {
    alone * 5 + SLICE * 8
}

/// Whether, in one of a few batches, the times are within the limit for so many hundredths; else what they were.
pub async fn comes<F: Future<Output = (Vec<Duration>, Duration)>>(
    name: &str,
    hundredths: usize,
    mut batch: impl FnMut() -> F,
) {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let (times, limit) = batch().await;
        if within(times.clone(), hundredths) < limit {
            return;
        }
        seen.push((times, limit));
    }
    panic!("{name}: fewer than {hundredths} of a hundred came in time: {seen:?}");
}

#[test]
fn most_are_more_than_the_best() {
    let times = || (1..=10).rev().map(Duration::from_millis).collect::<Vec<_>>();
    let check = |hundredths, millis| assert_eq!(within(times(), hundredths), Duration::from_millis(millis));
    check(50, 5);
    check(80, 8);
    check(90, 9);
    check(100, 10);
}
