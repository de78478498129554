//! What each plug-in may use: of what it asks for, what is granted; and why the rest is not.

use super::Seen;
use crate::cli::print::{Table, inset, line, loud, out};
use crate::plugin::{Grant, GrantKind, Plugin};
use crate::text;
use serde_json::{Value, json};

pub(super) fn print(seen: &Seen) -> anyhow::Result<()> {
    let mut table = Table::new(["PLUG-IN", "MAY USE", "WHICH IS", "AND MAY"]);
    let (mut any, mut remarks) = (false, Vec::new());
    for (plugin, grant) in all(seen) {
        any = true;
        let may = grant.may.as_deref().map_or("not at all", |may| meaning(grant.kind, may));
        let what = format!("{} {}", grant.kind.name(), grant.what);
        if let Some(why) = &grant.why {
            let subject = format!("{} of {}", text::escape(&what), text::escape(plugin.name()));
            remarks.push(format!("{subject}: {}", text::escape(why)));
        }
        table.row([plugin.name().to_owned(), what, source(seen, plugin, grant), may.to_owned()]);
    }
    if any {
        out(&table.to_string())?;
    } else {
        line("no plug-in is granted anything")?;
    }
    if !remarks.is_empty() {
        line("")?;
        line(&loud("What is granted and what a plug-in asks for are not the same; only what is both is given:"))?;
        line(&inset(&remarks.join("\n")))?;
    }
    Ok(())
}

pub(super) fn json(seen: &Seen) -> Value {
    let told = all(seen).map(|(plugin, grant)| {
        json!({
            "plugin": plugin.name(), "kind": grant.kind.name(), "what": grant.what,
            "is": Some(source(seen, plugin, grant)).filter(|source| !source.is_empty()),
            "may": grant.may, "why": grant.why,
        })
    });
    told.collect()
}

fn all<'a>(seen: &'a Seen) -> impl Iterator<Item = (&'a Plugin, &'a Grant)> {
    seen.host.plugins().iter().flat_map(|plugin| plugin.grants().iter().map(move |grant| (plugin, grant)))
}

/// What stands behind it, where the operator granted it.
fn source(seen: &Seen, plugin: &Plugin, grant: &Grant) -> String {
    let Some(part) = seen.config.plugins.iter().find(|part| part.name == plugin.name()) else { return String::new() };
    match grant.kind {
        GrantKind::Directory => {
            let dir = part.options.dirs.iter().find(|dir| dir.guest == grant.what);
            dir.map(|dir| dir.host.display().to_string()).unwrap_or_default()
        }
        GrantKind::Variable => {
            let variable = part.env.iter().find(|variable| variable.name == grant.what);
            variable.map(|variable| variable.source.to_string()).unwrap_or_default()
        }
        // The place is all that there is of it.
        GrantKind::Http | GrantKind::Clock | GrantKind::Randomness => String::new(),
    }
}

fn meaning(kind: GrantKind, may: &str) -> &str {
    match (kind, may) {
        (GrantKind::Directory, "read-only") => "read it",
        (GrantKind::Directory, "read-write") => "change it (never in previews and safe calls)",
        _ => may,
    }
}
