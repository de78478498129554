//! What was looked at, what was found, and what to do about it.

use super::super::exit;
use super::super::print::{bold, json, line, loud};
use crate::text::{escape, mask};
use std::time::Duration;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// It works, and somebody should look at it.
    Warning,
    /// It does not work, or must not be left as it is.
    Wrong,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Wrong => "wrong",
        }
    }
}

/// What a check is about. The order is that of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Program,
    Machine,
    Configuration,
    PlugIn,
    Store,
    Audit,
    Cache,
    Client,
    Server,
}

impl Part {
    fn word(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Machine => "machine",
            Self::Configuration => "configuration",
            Self::PlugIn => "plug-in",
            Self::Store => "store",
            Self::Audit => "audit",
            Self::Cache => "cache",
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// One thing that was looked at.
pub(super) struct Check {
    part: Part,
    state: State,
    found: String,
    remedy: Option<String>,
    /// Of a server: how long until it had answered, and how many tools it has.
    started: Option<(Duration, Duration, usize)>,
}

/// Everything that was looked at.
#[derive(Default)]
pub(super) struct Report(Vec<Check>);

impl Report {
    pub(super) fn ok(&mut self, part: Part, found: impl Into<String>) {
        self.add(part, State::Ok, found.into(), None);
    }

    pub(super) fn warning(&mut self, part: Part, found: impl Into<String>, remedy: impl Into<String>) {
        self.add(part, State::Warning, found.into(), Some(remedy.into()));
    }

    /// The errors of this program say themselves what to do: for those the remedy is empty.
    pub(super) fn wrong(&mut self, part: Part, found: impl Into<String>, remedy: impl Into<String>) {
        self.add(part, State::Wrong, found.into(), Some(remedy.into()).filter(|remedy| !remedy.is_empty()));
    }

    /// A server that answered.
    pub(super) fn started(&mut self, found: String, hello: Duration, tools: Duration, count: usize) {
        self.add(Part::Server, State::Ok, found, None);
        if let Some(check) = self.0.last_mut() {
            check.started = Some((hello, tools, count));
        }
    }

    fn add(&mut self, part: Part, state: State, found: String, remedy: Option<String>) {
        self.0.push(Check { part, state, found, remedy, started: None });
    }

    fn count(&self, state: State) -> usize {
        self.0.iter().filter(|check| check.state == state).count()
    }

    /// 0: nothing is wrong; 2: something in the configuration is; 1: something else is.
    pub(super) fn code(&self) -> u8 {
        let wrong = |check: &&Check| check.state == State::Wrong;
        let configured = |check: &Check| matches!(check.part, Part::Configuration | Part::PlugIn);
        match self.0.iter().filter(wrong).map(configured).reduce(|one, other| one || other) {
            None => exit::OK,
            Some(true) => exit::USAGE,
            Some(false) => exit::OTHER,
        }
    }

    /// In the order of the parts; within one as it was found.
    pub(super) fn sort(&mut self) {
        self.0.sort_by_key(|check| check.part);
    }

    pub(super) fn print(&self) -> anyhow::Result<()> {
        for Check { part, state, found, remedy, .. } in &self.0 {
            let word = match state {
                State::Ok => format!("{:7}", state.word()),
                State::Warning => loud(&format!("{:7}", state.word())),
                State::Wrong => {
                    let red = anstyle::AnsiColor::Red.on_default().bold();
                    format!("{red}{:7}{red:#}", state.word())
                }
            };
            let mut rows = found.lines();
            line(&format!("{word}  {:13}  {}", part.word(), safe(rows.next().unwrap_or_default())))?;
            for row in rows {
                line(&format!("{:24}{}", "", safe(row)))?;
            }
            for row in remedy.iter().flat_map(|remedy| remedy.lines()) {
                line(&format!("{:22}→ {}", "", safe(row)))?;
            }
        }
        let (wrong, warnings) = (self.count(State::Wrong), self.count(State::Warning));
        line("")?;
        line(&match (wrong, warnings) {
            (0, 0) => bold("nothing is wrong"),
            (0, _) => bold(&format!("nothing is wrong; to look at: {warnings}")),
            (_, 0) => bold(&format!("wrong: {wrong}")),
            (_, _) => bold(&format!("wrong: {wrong}; to look at: {warnings}")),
        })?;
        Ok(())
    }

    pub(super) fn json(&self) -> anyhow::Result<()> {
        let checks: Vec<_> = self
            .0
            .iter()
            .map(|check| {
                let millis = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
                let mut value = serde_json::json!({
                    "part": check.part.word(), "state": check.state.word(), "found": mask(&check.found),
                    "remedy": check.remedy.as_deref().map(mask),
                });
                if let (Some((hello, tools, count)), Some(value)) = (check.started, value.as_object_mut()) {
                    value.insert("initialize_ms".into(), millis(hello).into());
                    value.insert("tools_ms".into(), millis(tools).into());
                    value.insert("tools".into(), count.into());
                }
                value
            })
            .collect();
        let whole = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"), "wrong": self.count(State::Wrong),
            "warnings": self.count(State::Warning), "checks": checks,
        });
        json(&serde_json::to_string_pretty(&whole)?)?;
        Ok(())
    }
}

fn safe(row: &str) -> String {
    mask(&escape(row)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_tells_the_configuration_from_the_rest() {
        let mut report = Report::default();
        report.warning(Part::Configuration, "x", "y");
        assert_eq!(report.code(), 0);
        report.wrong(Part::Store, "x", "");
        assert_eq!(report.code(), 1);
        report.wrong(Part::PlugIn, "x", "");
        assert_eq!(report.code(), 2);
        report.wrong(Part::Server, "x", "");
        assert_eq!(report.code(), 2);
    }
}
