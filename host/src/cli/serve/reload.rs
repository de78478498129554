//! SIGHUP: reads everything anew and puts it in force at once, or leaves what was in force and says why. Calls go on
//! meanwhile, and those that have begun end as they began; the store stays the same one, and with it every confirmation.

use super::super::print::note;
use super::super::{chain, locked, open, say};
use crate::config::Config;
use crate::host::CONFIRM_PARAMETER;
use crate::store::Store;
use crate::transport::mcp::Replaceable;
use crate::{Error, text};
use std::sync::Arc;
use tokio::signal::unix::Signal;

/// What the client is served by.
pub(super) struct InForce {
    pub(super) config: Config,
    pub(super) whole: open::Whole,
    pub(super) store: Arc<dyn Store>,
}

/// Reloads on each hangup, one after the other. Those that come while one is at work are one more together: what it read may
/// be older than they are. Never returns while there can be another.
pub(super) async fn on(mut hangups: Signal, mut in_force: InForce, replaceable: &Replaceable) {
    while hangups.recv().await.is_some() {
        let file = text::escape(&in_force.config.places.file().display().to_string()).into_owned();
        match reload(&in_force, replaceable).await {
            Ok((next, changed)) => {
                in_force = next;
                let list = if changed { "; the list of tools has changed" } else { "" };
                note(&format!(
                    "{file} was read anew and is in force: {} tools{list}",
                    in_force.whole.host.tools().len()
                ));
                locked::unlocked(&in_force.config).iter().for_each(|what| tracing::warn!("{what}"));
            }
            Err(e) => say(&format!("{file} was read anew and is not in force; what was stays: {}", chain(&e))),
        }
    }
}

/// What is in force afterwards, and whether the list of tools is another one.
async fn reload(before: &InForce, replaceable: &Replaceable) -> anyhow::Result<(InForce, bool)> {
    // The same file, also where another one would be found by now.
    let config = Config::load(before.config.places.file())?;
    stays(&before.config, &config)?;
    let whole = open::whole(&config, Arc::clone(&before.store), Some(&before.whole)).await?;
    let changed = replaceable.replace(whole.host.clone()).await?;
    whole.host.keep_swept();
    whole.look();
    Ok((InForce { config, whole, store: Arc::clone(&before.store) }, changed))
}

/// Refuses what cannot change under a client: where its confirmations are, and what it was told when it came.
fn stays(before: &Config, next: &Config) -> Result<(), Error> {
    const REMEDY: &str = "put it back, or start the server again";
    if next.store != before.store {
        let what = format!("confirmations that wait are in the store that is in use: {REMEDY}");
        return Err(next.places.error("store.url", &what));
    }
    let parameter =
        |config: &Config| config.gate.confirm_parameter.clone().unwrap_or_else(|| CONFIRM_PARAMETER.to_owned());
    if parameter(next) != parameter(before) {
        let what = format!("the client was told to confirm with {:?}: {REMEDY}", parameter(before));
        return Err(next.places.error("gate.confirm_parameter", &what));
    }
    if open::settings(next).max_arguments != open::settings(before).max_arguments {
        let what =
            format!("the longest line that is read depends on it and is settled when the client comes: {REMEDY}");
        return Err(next.places.error("gate.max_arguments", &what));
    }
    Ok(())
}
