//! Which plug-ins the operator has looked at.

use super::super::super::locked;
use super::super::super::print::{line, loud};
use super::Seen;
use crate::text;
use serde_json::{Value, json};

pub(super) fn print(seen: &Seen) -> anyhow::Result<()> {
    let unlocked = locked::unlocked(seen.config);
    for what in &unlocked {
        line(&loud(what))?;
    }
    let file = text::escape(&seen.config.lock.file().display().to_string()).into_owned();
    if unlocked.is_empty() {
        line(&format!("every plug-in is what was locked in {file}"))?;
    }
    if let Some(what) = locked::gone(seen.config) {
        line(&loud(&format!("{what}; `counterfoil plugin lock` takes it out")))?;
    }
    Ok(())
}

pub(super) fn json(seen: &Seen) -> Value {
    let plugins = seen.config.plugins.iter().map(|part| (part.name.clone(), json!(part.options.lock.is_some())));
    json!({"file": seen.config.lock.file().display().to_string(), "locked": Value::Object(plugins.collect())})
}
