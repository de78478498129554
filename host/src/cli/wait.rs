//! Says what is being waited for where it takes more than a second: on standard error, moving and gone when done where
//! that is a terminal, as one line where it is not.

use super::print::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Nothing is shown of what is done by then.
const PATIENCE: Duration = Duration::from_secs(1);

/// The work's result; `message` is shown while it lasts.
pub(super) async fn wait<T: Send + 'static>(
    message: String,
    work: impl Future<Output = T> + Send + 'static,
) -> anyhow::Result<T> {
    // In a task of its own: the work may keep its thread busy.
    let mut work = tokio::spawn(work);
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return Ok(done?);
    }
    if !std::io::stderr().is_terminal() {
        note(&format!("{message}; this is done once and kept"));
        return Ok(work.await?);
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_message(message);
    bar.enable_steady_tick(Duration::from_millis(120));
    let done = work.await;
    bar.finish_and_clear();
    Ok(done?)
}
