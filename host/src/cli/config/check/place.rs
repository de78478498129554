//! Which file it is, and where confirmations are kept.

use super::Seen;
use crate::cli::print::{bold, line};
use crate::config::StoreConfig;
use crate::text;
use serde_json::{Value, json};
use std::path::Path;

fn shown(path: &Path) -> String {
    text::escape(&path.display().to_string()).into_owned()
}

pub(super) fn print(seen: &Seen) -> anyhow::Result<()> {
    line(&format!("{} is in order", bold(&shown(seen.config.places.file()))))?;
    line(&match &seen.config.store {
        StoreConfig::Memory => "confirmations are kept in memory: each process has its own, gone with it".to_owned(),
        StoreConfig::Sqlite(file) => format!("confirmations are kept in {}", shown(file)),
    })?;
    Ok(())
}

pub(super) fn json(seen: &Seen) -> Value {
    let store = match &seen.config.store {
        StoreConfig::Memory => "memory:".to_owned(),
        StoreConfig::Sqlite(file) => format!("sqlite:{}", file.display()),
    };
    json!({ "file": seen.config.places.file().display().to_string(), "store": store })
}
