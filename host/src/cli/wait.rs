//! Says what is being waited for where it takes more than a second: on standard error, moving and gone when done where
//! that is a terminal, as one line where it is not.

use super::print::note;
use crate::text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Said of compiling, where the cache keeps what comes of it.
pub(super) const KEPT: &str = "; this is done once and kept";

/// Nothing is shown of what is done by then.
const PATIENCE: Duration = Duration::from_secs(1);

/// The work's result; `message` is shown while it lasts.
pub(super) async fn wait<T: Send + 'static>(
    message: String,
    work: impl Future<Output = T> + Send + 'static,
) -> anyhow::Result<T> {
    // In a task of its own: the work may keep its thread busy.
    wait_for(message, tokio::spawn(work)).await
}

/// The same, for work that has begun.
pub(super) async fn wait_for<T>(message: String, mut work: JoinHandle<T>) -> anyhow::Result<T> {
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return Ok(done?);
    }
    if !std::io::stderr().is_terminal() {
        note(&message);
        return Ok(work.await?);
    }
    // Whoever no longer waits leaves no trace of it on the screen.
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_finish(ProgressFinish::AndClear);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_message(text::net(&message).into_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    let done = work.await;
    bar.finish_and_clear();
    Ok(done?)
}
