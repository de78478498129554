//! Finds rows in the files of a folder, for people. Trusts nothing that it reads: what is no row is passed over and counted,
//! and no more is kept in memory than where the rows are that were asked for.

use super::line::{self, Row};
use super::lines::{self, Content, Lines};
use crate::private::resolved;
use crate::{Error, ErrorKind, Level};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

/// Which rows. What is none is not asked about.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this owner.
    pub owner: Option<String>,
    /// Of this tool.
    pub tool: Option<String>,
    /// Of this level or a higher one.
    pub level: Option<Level>,
    /// Of one of these events.
    pub events: Vec<String>,
    /// Not what a file says of itself: that it was opened and closed, and what was in force at its start.
    pub calls_only: bool,
    /// At this time or later.
    pub since: Option<SystemTime>,
    /// Before this time.
    pub until: Option<SystemTime>,
    /// Of this confirmation.
    pub approval_id: Option<String>,
    /// Of processes that had this configuration.
    pub config: Option<String>,
    /// So many, the latest.
    pub last: usize,
}

impl Filter {
    fn takes(&self, row: &Row, time: SystemTime, config: Option<&str>) -> bool {
        let is = |wanted: &Option<String>, field: &str| wanted.as_deref().is_none_or(|w| row.text(field) == Some(w));
        let level = |name: &str| Level::ALL.into_iter().find(|level| level.name() == name);
        self.config.as_deref().is_none_or(|wanted| config == Some(wanted))
            && is(&self.owner, "owner")
            && is(&self.tool, "tool")
            && is(&self.approval_id, "approval_id")
            && (self.events.is_empty() || self.events.contains(&row.event))
            && !(self.calls_only && of_its_file(row))
            && self.since.is_none_or(|since| time >= since)
            && self.until.is_none_or(|until| time < until)
            && self.level.is_none_or(|least| row.text("level").and_then(level).is_some_and(|level| level >= least))
    }
}

/// Whether a row says something of its file alone. What is in force since a reload is a change, and no such row.
fn of_its_file(row: &Row) -> bool {
    match row.event.as_str() {
        "opened" | "closed" => true,
        "in_force" => row.text("cause") != Some("reload"),
        _ => false,
    }
}

/// A row that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The file's name.
    pub file: String,
    /// The configuration of the process that wrote it, where its file says so.
    pub config: Option<String>,
    /// The line.
    pub line: u64,
    /// What is written there, as it is.
    pub text: String,
    /// The same, read.
    pub row: Row,
}

/// What there is beside the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How many rows were asked for, and were too many.
    pub more: u64,
    /// How many lines and files could not be read.
    pub unreadable: u64,
}

/// Where a row is: sorted by time, and then as they are written.
type Place = (SystemTime, usize, u64, u64, usize);

/// Hands the rows that `filter` takes to `each`, oldest first. Verifies nothing.
///
/// # Errors
/// [`ErrorKind::Io`]: the folder cannot be read, or `each` failed.
pub fn search(dir: &Path, filter: &Filter, mut each: impl FnMut(Hit) -> io::Result<()>) -> Result<Found, Error> {
    let dir = resolved(dir);
    let failed =
        |e: io::Error| Error::new(ErrorKind::Io, format!("{} cannot be read: {e}", dir.display())).with_source(e);
    let (names, _) = lines::names(&dir).map_err(failed)?;
    let mut found = Found::default();
    let mut configs: Vec<Option<String>> = vec![None; names.len()];
    let mut latest: BinaryHeap<Reverse<Place>> = BinaryHeap::new();
    for (at, name) in names.iter().enumerate() {
        let Ok(mut lines) = Lines::open(&dir.join(name)) else {
            found.unreadable += 1;
            continue;
        };
        while let Some(line) = lines.next().map_err(failed)? {
            let read = match &line.content {
                Content::Whole(bytes) => line::read(bytes).ok().map(|row| (row, bytes.len())),
                Content::Torn => continue,
                Content::Long => None,
            };
            let time = read.as_ref().and_then(|(row, _)| humantime::parse_rfc3339(&row.time).ok());
            let (Some((row, length)), Some(time)) = (read, time) else {
                found.unreadable += 1;
                continue;
            };
            if let (1, Some(config)) = (line.number, configs.get_mut(at)) {
                *config = row.text("config").map(str::to_owned);
            }
            let config = configs.get(at).and_then(Option::as_deref);
            if filter.takes(&row, time, config) {
                latest.push(Reverse((time, at, line.number, line.offset, length)));
                if latest.len() > filter.last {
                    latest.pop();
                    found.more += 1;
                }
            }
        }
    }
    let mut places: Vec<Place> = latest.into_iter().map(|Reverse(place)| place).collect();
    places.sort_unstable();
    for (_, at, line, offset, length) in places {
        let Some(name) = names.get(at) else { continue };
        // It is read a second time, and may be another by now.
        let bytes = again(&dir.join(name), offset, length).map_err(failed)?;
        match (line::read(&bytes), String::from_utf8(bytes)) {
            (Ok(row), Ok(text)) => {
                let config = configs.get(at).cloned().flatten();
                each(Hit { file: name.clone(), config, line, text, row }).map_err(failed)?;
            }
            _ => found.unreadable += 1,
        }
    }
    Ok(found)
}

fn again(path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
