//! Where a call computes. Most are done in a moment, on the thread that they came in on. One that goes on computing is moved to
//! threads that plug-ins have to themselves: what runs away holds up neither the protocol nor the calls beside it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;

/// How long a call computes where it came in: two slices of the engine's clock.
const BRIEF: Duration = Duration::from_millis(20);
/// Threads for what goes on longer. More than cores: the system shares those out more finely than the engine's clock does.
const THREADS: usize = 8;
/// Between two looks at timers and files, where every thread is busy: one slice.
const LOOK: u32 = 1;

/// The threads for what goes on longer, made when the first call needs one.
#[derive(Default)]
pub(super) struct Lanes {
    long: OnceLock<Option<Runtime>>,
}

/// What is to be done: boxed by whoever has it, since it is large and would be copied on its way here.
pub(super) type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl Lanes {
    /// Does the work. Dropping this ends it: at once where it came in, within a slice on the other threads.
    pub(super) async fn run<T: Send + 'static>(&self, mut work: Work<T>) -> T {
        let mut used = Duration::ZERO;
        let brief = poll_fn(|context| {
            let start = Instant::now();
            match work.as_mut().poll(context) {
                Poll::Ready(done) => Poll::Ready(Some(done)),
                Poll::Pending => {
                    used += start.elapsed();
                    if used < BRIEF { Poll::Pending } else { Poll::Ready(None) }
                }
            }
        });
        if let Some(done) = brief.await {
            return done;
        }
        // Without threads of its own it stays where it is.
        let Some(long) = self.long() else { return work.await };
        match AbortOnDropHandle::new(long.spawn(work)).await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The threads are gone, and so is whoever waits.
                Err(_) => std::future::pending().await,
            },
        }
    }

    fn long(&self) -> Option<&Runtime> {
        let made = self.long.get_or_init(|| {
            let made = Builder::new_multi_thread()
                .worker_threads(THREADS)
                .event_interval(LOOK)
                .thread_name("counterfoil-long")
                .enable_all()
                .build();
            made.inspect_err(|error| tracing::warn!(%error, "no threads for calls that compute long")).ok()
        });
        made.as_ref()
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        // Dropping it as it is would wait for what runs there.
        if let Some(long) = self.long.take().flatten() {
            long.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::sync::Arc;

    /// A slice of what computes.
    const SLICE: Duration = Duration::from_millis(2);

    /// Computes so many slices, however long each takes on a busy machine, and says on which threads.
    async fn compute(slices: u128) -> Vec<String> {
        let mut seen = Vec::new();
        for _ in 0..slices {
            let slice = Instant::now();
            while slice.elapsed() < SLICE {
                std::hint::spin_loop();
            }
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            if seen.last() != Some(&name) {
                seen.push(name);
            }
            tokio::task::yield_now().await;
        }
        seen
    }

    #[tokio::test]
    async fn what_is_brief_stays_and_what_is_long_moves() {
        let lanes = Lanes::default();
        let here = std::thread::current().name().unwrap_or_default().to_owned();
        assert_eq!(lanes.run(Box::pin(async { 7 })).await, 7);
        assert!(lanes.long.get().is_none());
        let seen = lanes.run(Box::pin(compute(3 * BRIEF.as_millis() / SLICE.as_millis()))).await;
        assert_eq!(seen.first(), Some(&here));
        assert_eq!(seen.last().unwrap(), "counterfoil-long");
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_ends() {
        let (lanes, held) = (Lanes::default(), Arc::new(()));
        let holding = Arc::clone(&held);
        let work = async move {
            compute(u128::MAX).await;
            drop(holding);
        };
        assert!(tokio::time::timeout(BRIEF * 3, lanes.run(Box::pin(work))).await.is_err());
        while Arc::strong_count(&held) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
