//! What each plug-in may use: of what it asks for, what is granted, and why the rest is not. Told alike by everything that
//! shows it. Of a variable the name and where it comes from, never the value.

use super::print::{Table, inset, line, loud, out};
use crate::config::PluginConfig;
use crate::plugin::{Grant, GrantKind, Plugin};
use crate::text;
use std::path::{Path, PathBuf};

/// A table of it, and remarks below.
pub(super) struct Powers {
    table: Table<4>,
    any: bool,
    remarks: Vec<String>,
}

impl Powers {
    pub(super) fn new() -> Self {
        Self { table: Table::new(["PLUG-IN", "MAY USE", "WHICH IS", "AND MAY"]), any: false, remarks: Vec::new() }
    }

    /// Adds what a plug-in may use, `part` being what the operator says of it.
    pub(super) fn add(&mut self, plugin: &Plugin, part: Option<&PluginConfig>) {
        for grant in plugin.grants() {
            self.any = true;
            let may = grant.may.as_deref().map_or_else(|| "not at all".to_owned(), |may| meaning(grant.kind, may));
            let what = format!("{} {}", grant.kind.name(), grant.what);
            if let Some(why) = &grant.why {
                let subject = format!("{} of {}", text::escape(&what), text::escape(plugin.name()));
                self.remarks.push(format!("{subject}: {}", text::escape(why)));
            }
            let source = source(part, grant);
            let source = match leads_to(part, grant) {
                Some(real) => format!("{source} -> {real}"),
                None => source,
            };
            self.table.row([plugin.name().to_owned(), what, source, may]);
        }
    }

    pub(super) fn print(&self, nothing: &str) -> anyhow::Result<()> {
        if !self.any {
            line(nothing)?;
            return Ok(());
        }
        out(&self.table.to_string())?;
        if !self.remarks.is_empty() {
            line("")?;
            line(&loud("What is granted and what a plug-in asks for are not the same; only what is both is given:"))?;
            line(&inset(&self.remarks.join("\n")))?;
        }
        Ok(())
    }
}

/// What stands behind it, where the operator granted it.
pub(super) fn source(part: Option<&PluginConfig>, grant: &Grant) -> String {
    let Some(part) = part else { return String::new() };
    match grant.kind {
        GrantKind::Directory => directory(part, grant).map(|dir| dir.display().to_string()).unwrap_or_default(),
        GrantKind::Variable => {
            let variable = part.env.iter().find(|variable| variable.name == grant.what);
            variable.map(|variable| variable.source.to_string()).unwrap_or_default()
        }
        // The place is all that there is of it.
        GrantKind::Http | GrantKind::Clock | GrantKind::Randomness => String::new(),
    }
}

fn directory<'a>(part: &'a PluginConfig, grant: &Grant) -> Option<&'a Path> {
    part.options.dirs.iter().find(|dir| dir.guest == grant.what).map(|dir| dir.host.as_path())
}

/// Where a granted directory really is, if links on the way lead elsewhere than its path says.
pub(super) fn leads_to(part: Option<&PluginConfig>, grant: &Grant) -> Option<String> {
    let dir = directory(part.filter(|_| grant.kind == GrantKind::Directory)?, grant)?;
    elsewhere(dir).map(|real| real.display().to_string())
}

/// The same of a path.
pub(super) fn elsewhere(dir: &Path) -> Option<PathBuf> {
    dir.canonicalize().ok().filter(|real| real != dir)
}

/// In words, with what of it previews and safe calls may do.
fn meaning(kind: GrantKind, may: &str) -> String {
    match (kind, may) {
        (GrantKind::Directory, "read-only") => "read it".to_owned(),
        (GrantKind::Directory, "read-write") => "change it (previews and safe calls: read it)".to_owned(),
        (GrantKind::Http, _) if !may.contains("previews") => format!("{may} (previews and safe calls: nothing)"),
        _ => may.to_owned(),
    }
}
