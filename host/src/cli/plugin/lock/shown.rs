//! What is to be read before a plug-in is locked: first of all what will run without a confirmation, then with what power, then
//! what it says of itself.

use crate::Level;
use crate::cli::powers::Powers;
use crate::cli::print::{Table, bold, inset, line, loud, out};
use crate::cli::tools::{level, what_happens};
use crate::config::{Difference, Pinned, PluginConfig};
use crate::plugin::{Grant, GrantKind, Plugin};
use crate::text;
use crate::tool::Declaration;

/// One plug-in that is about to be locked.
pub(super) struct Shown<'a> {
    pub(super) part: &'a PluginConfig,
    pub(super) plugin: &'a Plugin,
    pub(super) before: Option<&'a Pinned>,
    pub(super) difference: Option<&'a Difference>,
    /// Long descriptions whole.
    pub(super) full: bool,
}

/// How a call of a tool goes once the plug-in is locked, in the order in which it matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Goes {
    AtOnce,
    AtOnceIfMild,
    Confirmed,
    Reads,
    Off,
}

impl Shown<'_> {
    pub(super) fn print(&self) -> anyhow::Result<()> {
        let source = text::escape(&self.part.source.display().to_string()).into_owned();
        let state = if self.difference.is_some() { "has changed since it was locked" } else { "is not locked" };
        line(&format!("\n{} {state}: {source} sha256:{}\n", bold(&self.part.name), self.plugin.digest()))?;
        if let Some(difference) = self.difference {
            out(&inset(&difference.lines().join("\n")))?;
            line("")?;
        }
        let mut tools: Vec<(Goes, &Declaration)> =
            self.plugin.own_tools().iter().map(|tool| (self.goes(tool), tool)).collect();
        tools.sort_by_key(|(goes, _)| *goes);
        self.table(&tools)?;
        let mut powers = Powers::new();
        powers.add(self.plugin, Some(self.part));
        powers.print("it is granted nothing, and asks for nothing")?;
        line("")?;
        self.at_once(&tools)?;
        self.words(&tools)
    }

    /// The level at which a tool stands once it is locked.
    fn level(&self, tool: &Declaration) -> Level {
        self.part.levels.get(&tool.name).map_or(tool.level, |level| tool.level.max(*level))
    }

    /// Whether no plan of a tool is milder.
    fn always(&self, tool: &Declaration) -> bool {
        tool.critical || self.part.levels.get(&tool.name) == Some(&Level::ApprovalRequired)
    }

    fn goes(&self, tool: &Declaration) -> Goes {
        if self.part.options.tools.as_ref().is_some_and(|on| !on.contains(&tool.name)) {
            return Goes::Off;
        }
        match self.level(tool) {
            Level::Safe => Goes::Reads,
            Level::Caution | Level::Review => Goes::AtOnce,
            Level::ApprovalRequired if self.always(tool) => Goes::Confirmed,
            Level::ApprovalRequired => Goes::AtOnceIfMild,
        }
    }

    fn table(&self, tools: &[(Goes, &Declaration)]) -> anyhow::Result<()> {
        let mut table = Table::new(["TOOL", "LEVEL", "A CALL, ONCE LOCKED"]);
        for (goes, tool) in tools {
            let name = match self.part.options.rename.get(&tool.name) {
                Some(listed) => format!("{} (listed as {listed})", tool.name),
                None => tool.name.clone(),
            };
            let happens = match goes {
                Goes::Off => "is not listed: switched off by `tools`",
                _ => what_happens(self.level(tool), self.always(tool)),
            };
            table.row([name, level(self.level(tool), tool.level), happens.to_owned()]);
        }
        out(&format!("{}\n", inset(&table.to_string())))?;
        Ok(line("")?)
    }

    /// What a call can change that nobody is asked about.
    fn at_once(&self, tools: &[(Goes, &Declaration)]) -> anyhow::Result<()> {
        let names = |which: Goes| {
            let names = tools.iter().filter(|(goes, _)| *goes == which).map(|(_, tool)| text::escape(&tool.name));
            names.collect::<Vec<_>>().join(", ")
        };
        let power = self.power();
        line(&match names(Goes::AtOnce) {
            none if none.is_empty() => {
                format!("no tool of it is declared to change something without a confirmation; {power}")
            }
            names => loud(&format!("once locked, these run at once and may change something: {names}; {power}")),
        })?;
        let mild = names(Goes::AtOnceIfMild);
        if !mild.is_empty() {
            line(&loud(&format!(
                "these run at once, too, where the tool itself finds a call milder than its level: {mild}; {power}"
            )))?;
        }
        line(&format!(
            "levels and plans are the plug-in's own word: `NAME = 3` under [plugins.{}.levels] has every call confirmed",
            self.part.name
        ))?;
        Ok(())
    }

    /// What it may change, in a few words.
    fn power(&self) -> String {
        let given = |kind| self.plugin.grants().iter().filter(move |grant| grant.kind == kind && grant.may.is_some());
        let may = |grant: &Grant| grant.may.clone().unwrap_or_default();
        let dirs: Vec<&str> =
            given(GrantKind::Directory).filter(|dir| may(dir) == "read-write").map(|dir| dir.what.as_str()).collect();
        let requests: Vec<String> = given(GrantKind::Http).map(|http| format!("{} {}", may(http), http.what)).collect();
        let writes = if dirs.is_empty() {
            "no directory that it may write is granted".to_owned()
        } else {
            format!("granted to write: {}", text::escape(&dirs.join(", ")))
        };
        if requests.is_empty() { writes } else { format!("{writes}; to send: {}", text::escape(&requests.join(", "))) }
    }

    /// What agents are told of the tools that nobody has read about yet.
    fn words(&self, tools: &[(Goes, &Declaration)]) -> anyhow::Result<()> {
        let known = |tool: &Declaration| self.before.is_some_and(|before| before.tools.contains_key(&tool.name));
        let new: Vec<_> = tools.iter().map(|(_, tool)| tool).filter(|tool| !known(tool)).collect();
        if new.is_empty() {
            return Ok(());
        }
        line("\nwhat agents are told of them (`counterfoil plugin inspect` shows arguments and results as well):")?;
        let whole = (!self.full).then_some("--full shows it");
        for tool in new {
            let title = tool.title.as_deref().map(|title| format!("{}: ", text::escape(title))).unwrap_or_default();
            let name = bold(&text::escape(&tool.name));
            line(&format!("  {name}: {title}{}", text::value(&tool.description, whole)))?;
        }
        Ok(())
    }
}
