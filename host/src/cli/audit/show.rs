//! `audit show`: rows for people, one a line and escaped, or as they are written for programs.

use super::super::print::{json, line, note};
use super::super::{Usage, exit};
use crate::audit::line::Row;
use crate::audit::{EVENTS, Filter, astray, search};
use crate::config::{self, AuditConfig};
use crate::text::escape;
use crate::{Level, Owner};
use clap::builder::PossibleValuesParser;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

#[derive(clap::Args)]
#[command(after_help = "\
Shows what is written and verifies nothing: `counterfoil audit verify` does.

Examples:
  counterfoil audit show                               the latest hundred rows
  counterfoil audit show --tool delete_file --since 2h
  counterfoil audit show --approval apr_4k2j…          everything about one confirmation
  counterfoil audit show --event refused --json        each row as it is written, one a line
  counterfoil audit show --all                         also where files begin and end, and under which rules

A row is called by its process and its number, such as 3f09ab#4: `started` of an end is the row that it began with.
Several configurations may write to one folder. A row of another one than this says which.

Exit codes: 0 shown, 1 the folder cannot be read, or its path leads to another one than it did, 2 usage.")]
pub(in super::super) struct Args {
    /// Only rows of this owner, with where it comes from: os:ada, name:ci
    #[arg(long, value_name = "OWNER", value_parser = owner)]
    owner: Option<String>,
    /// Only rows of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only rows of this level or a higher one: a name or 0 to 3
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<Level>,
    /// Only rows of this event; may be given several times
    #[arg(long = "event", value_name = "EVENT", value_parser = PossibleValuesParser::new(EVENTS))]
    events: Vec<String>,
    /// Only rows since then: a time such as 2026-05-18T14:00:00Z, or how long ago, such as 2h
    #[arg(long, value_name = "WHEN", value_parser = when)]
    since: Option<SystemTime>,
    /// Only rows before then
    #[arg(long, value_name = "WHEN", value_parser = when)]
    until: Option<SystemTime>,
    /// Only rows of this confirmation
    #[arg(long, value_name = "ID")]
    approval: Option<String>,
    /// Also the rows in which a file says that it begins or ends, and what was in force then
    #[arg(long)]
    all: bool,
    /// Only rows of processes that had this configuration, where several write to one folder
    #[arg(long)]
    this_config: bool,
    /// Look into this folder: one that the audit was written to before
    #[arg(long, value_name = "FOLDER")]
    pub(super) dir: Option<PathBuf>,
    /// So many rows at most, the latest
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    last: u32,
    /// Print the rows as they are written, for programs
    #[arg(long)]
    json: bool,
}

fn owner(text: &str) -> Result<String, String> {
    match text.split_once(':').is_some_and(|(source, name)| Owner::new(source, name).is_ok()) {
        true => Ok(text.to_owned()),
        false => Err(
            "no owner: write where it comes from, too, such as os:ada (a user of the system) or name:ci (--owner ci)"
                .into(),
        ),
    }
}

fn level(text: &str) -> Result<Level, String> {
    let named = |level: &Level| level.name() == text || level.number().to_string() == text;
    Level::ALL
        .into_iter()
        .find(named)
        .ok_or_else(|| "no level: write safe, caution, review, approval_required, or 0 to 3".into())
}

fn when(text: &str) -> Result<SystemTime, String> {
    let no_time = || "no time: write for instance 2026-05-18T14:00:00Z, 2026-05-18, 30m or 2h".to_owned();
    match config::length(text) {
        Ok(ago) => return SystemTime::now().checked_sub(ago).ok_or_else(no_time),
        // The length of a month is asked for, or of a nanosecond: that is said, and not that there is no such time.
        Err(why)
            if text.starts_with(|c: char| c.is_ascii_digit())
                && text.ends_with(char::is_alphabetic)
                && !text.contains('-') =>
        {
            return Err(why);
        }
        Err(_) => {}
    }
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    humantime::parse_rfc3339_weak(&whole).map_err(|_| no_time())
}

pub(super) fn run(args: &Args, audit: &AuditConfig, config: &str) -> anyhow::Result<u8> {
    if let (Some(since), Some(until)) = (args.since, args.until)
        && since >= until
    {
        return Err(Usage("nothing is between --since and --until: --since comes first".into()).into());
    }
    let filter = Filter {
        owner: args.owner.clone(),
        tool: args.tool.clone(),
        level: args.level,
        events: args.events.clone(),
        since: args.since,
        until: args.until,
        approval_id: args.approval.clone(),
        config: args.this_config.then(|| config.to_owned()),
        // A program gets all of it, and so does whoever asks for such rows.
        calls_only: !args.json && !args.all && args.events.is_empty(),
        last: usize::try_from(args.last).unwrap_or(usize::MAX),
    };
    let ends = if args.json { Ends::default() } else { Ends::of(&filter, audit)? };
    let mut count = 0_u64;
    let found = search(&audit.dir, &filter, |mut hit| {
        count += 1;
        if args.json {
            return json(&hit.text);
        }
        ends.complete(&hit.file, &mut hit.row);
        let other = hit.config.filter(|other| other != config && !hit.row.fields.contains_key("config"));
        if let Some(other) = other {
            hit.row.fields.insert("config".to_owned(), Value::from(other));
        }
        line(&row(&hit.file, &hit.row))
    })?;
    if found.more > 0 {
        note(&format!("{} older rows are not shown: --last shows more", found.more));
    }
    let mut code = exit::OK;
    for astray in astray(&audit.dir, &audit.checkpoints)? {
        let [path, was, is] =
            [astray.path, astray.was, astray.is].map(|path| escape(&path.display().to_string()).into_owned());
        let what = format!("{path} led to {was} and leads to {is} now, which is what is shown");
        note(&format!("{what}: counterfoil audit verify says more"));
        code = exit::OTHER;
    }
    if found.unreadable > 0 {
        note(&format!("{} lines or files cannot be read: counterfoil audit verify says why", found.unreadable));
    }
    if count == 0 {
        let more = if filter.calls_only { "; --all shows also where files begin and end" } else { "" };
        note(&format!("no such row in {}{more}", escape(&audit.dir.display().to_string())));
    }
    Ok(code)
}

/// What the end of a confirmed run says of its start. The start is written before the token is spent, when nobody knows yet
/// whether it is and under which operation id; the end names it by its process, the confirmation and its number.
#[derive(Default)]
struct Ends(HashMap<(String, String, u64), Vec<(String, Value)>>);

impl Ends {
    /// Of the runs that a filter can show; their ends may be other rows than it shows.
    fn of(filter: &Filter, audit: &AuditConfig) -> anyhow::Result<Self> {
        let mut ends = HashMap::new();
        if !filter.events.is_empty() && !filter.events.iter().any(|event| event == STARTED) {
            return Ok(Self(ends));
        }
        let filter = Filter { events: vec!["ended".to_owned()], until: None, ..filter.clone() };
        search(&audit.dir, &filter, |hit| {
            if let (Some(id), Some(started)) = (hit.row.text("approval_id"), hit.row.count("started")) {
                let told = |field: &str| Some((field.to_owned(), hit.row.fields.get(field)?.clone()));
                let told = ["operation_id", "assurance"].into_iter().filter_map(told).collect();
                ends.insert((process(&hit.file).to_owned(), id.to_owned(), started), told);
            }
            Ok(())
        })?;
        Ok(Self(ends))
    }

    fn complete(&self, file: &str, row: &mut Row) {
        let Some(id) = row.text("approval_id").filter(|_| row.event == STARTED) else { return };
        for (field, value) in self.0.get(&(process(file).to_owned(), id.to_owned(), row.seq)).into_iter().flatten() {
            row.fields.entry(field.clone()).or_insert_with(|| value.clone());
        }
    }
}

const STARTED: &str = "started";

/// What the names of one process's files have in common: all but the number of the file.
fn process(file: &str) -> &str {
    file.rsplit_once('-').map_or(file, |(process, _)| process)
}

/// What people call a row by: the start of its process's id, and its number.
fn number(file: &str, seq: u64) -> String {
    let id = process(file).rsplit('-').next().unwrap_or_default();
    format!("{}#{seq}", escape(id.get(..6).unwrap_or(id)))
}

/// A row in one line: when, which, what, about which tool, who, and what else it says.
fn row(file: &str, row: &Row) -> String {
    /// Told in places of their own, or of use to programs only.
    const PLACED: [&str; 9] = ["seq", "time", "event", "owner", "tool", "level", "prev", "revision", "arguments"];
    let word = |field: &str| row.text(field).map(|text| escape(text).into_owned());
    let number = |seq: u64| number(file, seq);
    let mut parts =
        vec![escape(&row.time).into_owned(), format!("{:<10}", number(row.seq)), format!("{:<17}", escape(&row.event))];
    parts.extend(word("tool"));
    parts.extend(word("level"));
    parts.extend(word("owner"));
    for (field, value) in row.fields.iter().filter(|(field, _)| !PLACED.contains(&field.as_str())) {
        let value = match value {
            Value::String(text) => escape(text).into_owned(),
            // It is a row of the same process.
            Value::Number(seq) if field == "started" => seq.as_u64().map_or_else(|| seq.to_string(), number),
            other => escape(&other.to_string()).into_owned(),
        };
        parts.push(format!("{}={value}", escape(field)));
    }
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_row_is_one_line_whatever_is_in_it() {
        let zeros = "0".repeat(64);
        let text = format!(
            "{{\"seq\":1,\"time\":\"2026-05-18T14:33:20.001Z\",\"event\":\"refused\",\"owner\":\"os:a\\n\\u001b[2K\",\
             \"tool\":\"x\u{202e}y\",\"reason\":\"expired\",\"k\\ney\":{{\"a\":\"\\r\"}},\"prev\":\"{zeros}\"}}"
        );
        let shown = row("\u{1b}-\u{1b}[2K-1.jsonl", &crate::audit::line::read(text.as_bytes()).unwrap());
        assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{shown}");
        let start = "2026-05-18T14:33:20.001Z  \\e[2K#1     refused            x\\u{202e}y  os:a";
        assert!(shown.starts_with(start), "{shown}");
        assert!(shown.contains("reason=expired") && !shown.contains(&zeros));
    }

    #[test]
    fn a_start_is_told_with_what_its_own_end_says() {
        let read = |event: &str, more: &str| {
            let zeros = "0".repeat(64);
            let text = format!(
                r#"{{"seq":3,"time":"2026-05-18T14:33:20.001Z","event":"{event}","approval_id":"apr_a",{more}"prev":"{zeros}"}}"#
            );
            crate::audit::line::read(text.as_bytes()).unwrap()
        };
        let end = vec![("operation_id".to_owned(), Value::from("op_a"))];
        let ends = Ends(HashMap::from([(("20260518T143320123Z-0123456789ab".into(), "apr_a".into(), 3), end)]));
        let shown = |file: &str, mut one: Row| {
            ends.complete(file, &mut one);
            row(file, &one)
        };
        // The run may have ended in the file that goes on from that one.
        let own = "20260518T143320123Z-0123456789ab-0002.jsonl";
        assert!(shown(own, read(STARTED, "")).contains("operation_id=op_a"));
        assert!(shown(own, read(STARTED, r#""operation_id":"op_b","#)).contains("operation_id=op_b"));
        // Another process tried the same confirmation and has a row of the same number.
        assert!(!shown(&own.replace("ab-", "cd-"), read(STARTED, "")).contains("op_a"));
        assert!(!shown(own, read("refused", "")).contains("op_a"));
    }

    #[test]
    fn an_end_names_its_start_by_what_that_is_shown_as() {
        let file = "20260518T143320123Z-0123456789ab-0002.jsonl";
        let shown = |event: &str, more: &str| {
            let zeros = "0".repeat(64);
            let text =
                format!(r#"{{"seq":7,"time":"2026-05-18T14:33:20.001Z","event":"{event}",{more}"prev":"{zeros}"}}"#);
            row(file, &crate::audit::line::read(text.as_bytes()).unwrap())
        };
        assert_eq!(shown("started", ""), "2026-05-18T14:33:20.001Z  012345#7    started          ");
        assert!(shown("ended", r#""started":7,"#).ends_with("  started=012345#7"));
        assert!(shown("ended", r#""started":"\u001b","#).ends_with("  started=\\e"));
        assert!(shown("ended", r#""started":-1,"#).ends_with("  started=-1"));
    }

    #[test]
    fn times_are_dates_or_how_long_ago() {
        for good in ["2026-05-18", "2026-05-18T14:00:00Z", "2026-05-18 14:00:00", "2h", "30m"] {
            assert!(when(good).is_ok(), "{good}");
        }
        for bad in ["", "yesterday", "2026", "2026-13-01", "-2h"] {
            assert!(when(bad).is_err(), "{bad}");
        }
        assert_eq!(level("2"), Ok(Level::Review));
        assert!(level("4").is_err());
    }
}
