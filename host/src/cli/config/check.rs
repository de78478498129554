//! `config check`: everything is loaded as `serve` would load it, and told in sections. A section says one thing, to people
//! and to programs; a new one is a file and a line of the list.

mod audit;
mod grants;
mod lock;
mod place;
mod rules;
mod tools;

use super::super::print::{self, line};
use super::super::{exit, open};
use crate::Host;
use crate::config::Config;
use serde_json::{Map, Value};
use std::path::Path;

/// What was read and loaded.
struct Seen<'a> {
    config: &'a Config,
    host: &'a Host,
    /// Why the audit cannot be written, if it cannot: then every call that is not safe is refused.
    audit_fault: Option<String>,
}

struct Section {
    /// Its name in the output for programs.
    key: &'static str,
    print: fn(&Seen) -> anyhow::Result<()>,
    json: fn(&Seen) -> Value,
}

/// In the order in which they are shown.
const SECTIONS: &[Section] = &[
    Section { key: "configuration", print: place::print, json: place::json },
    Section { key: "audit", print: audit::print, json: audit::json },
    Section { key: "tools", print: tools::print, json: tools::json },
    Section { key: "grants", print: grants::print, json: grants::json },
    Section { key: "policy", print: rules::print, json: rules::json },
    Section { key: "lock", print: lock::print, json: lock::json },
];

pub(super) async fn run(json: bool, given: Option<&Path>) -> anyhow::Result<u8> {
    let config = open::load(given)?;
    let host = open::open(&config).await?;
    let seen = Seen { config: &config, host: &host, audit_fault: audit::fault(&config) };
    let code = if seen.audit_fault.is_none() { exit::OK } else { exit::OTHER };
    if json {
        let whole: Map<String, Value> =
            SECTIONS.iter().map(|section| (section.key.to_owned(), (section.json)(&seen))).collect();
        print::json(&serde_json::to_string_pretty(&whole)?)?;
        return Ok(code);
    }
    for (number, section) in SECTIONS.iter().enumerate() {
        if number > 0 {
            line("")?;
        }
        (section.print)(&seen)?;
    }
    Ok(code)
}
