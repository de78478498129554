//! Says what is being waited for where it takes more than a second: on standard error, moving and gone when done where
//! that is a terminal, as one line where it is not.

use super::print::note;
use crate::cache::Held;
use crate::plugin::{Plugin, Sandbox};
use crate::text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Said of compiling, where the cache keeps what comes of it.
pub(super) const KEPT: &str = "; this is done once and kept";

/// What is being done with a component that is loaded: only one that is not in the cache is compiled. `held` says how a cache
/// has it, and is asked only where there is one.
pub(super) fn loading(what: &str, cache: Option<&Path>, held: impl FnOnce(&Path) -> Option<Held>) -> String {
    match cache.map(held) {
        Some(Some(Held::Usable)) => format!("loading {what}"),
        Some(_) => format!("compiling {what}{KEPT}"),
        None => format!("compiling {what}"),
    }
}

/// The same of a plug-in's file.
pub(super) fn loading_file(what: &str, cache: Option<&Path>, sandbox: &Sandbox, file: &Path) -> String {
    loading(what, cache, |folder| Plugin::bytes(file).ok().map(|bytes| sandbox.held(folder, &bytes)))
}

/// Nothing is shown of what is done by then.
const PATIENCE: Duration = Duration::from_secs(1);

/// The work's result; `message` is shown while it lasts.
pub(super) async fn wait<T: Send + 'static>(
    message: impl FnOnce() -> String,
    work: impl Future<Output = T> + Send + 'static,
) -> anyhow::Result<T> {
    // In a task of its own: the work may keep its thread busy.
    wait_for(message, tokio::spawn(work)).await
}

/// The same, for work that has begun.
pub(super) async fn wait_for<T>(message: impl FnOnce() -> String, mut work: JoinHandle<T>) -> anyhow::Result<T> {
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return Ok(done?);
    }
    let message = message();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_cache_is_loaded_and_not_compiled() {
        let cache = Some(Path::new("cache"));
        assert_eq!(loading("plug-in x", cache, |_| Some(Held::Usable)), "loading plug-in x");
        for held in [None, Some(Held::Missing), Some(Held::Unfit)] {
            assert_eq!(loading("plug-in x", cache, |_| held), "compiling plug-in x; this is done once and kept");
        }
        assert_eq!(loading("the gate", None, |_| Some(Held::Usable)), "compiling the gate");
    }
}
