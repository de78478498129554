//! Logs: on standard error, never a token in them, rmcp's own held down. Whoever does not read standard error holds up
//! nobody: lines wait for a thread of their own, and where too many wait the next are lost and counted.

use super::print::note;
use crate::transport::mcp;
use crate::{config, text};
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Mutex, OnceLock, PoisonError};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Lines that may wait: what a plug-in prints in one call is one line of up to 16 KiB.
const WAITING: usize = 1024;
/// What is logged where nothing else is asked for: of libraries only what went wrong, since a plug-in can make them say more.
const USUAL: &str = "error,counterfoil=warn";

/// Keeps the thread that writes, until [`end`].
static WRITING: Mutex<Option<WorkerGuard>> = Mutex::new(None);
/// Lines that were lost.
static LOST: OnceLock<ErrorCounter> = OnceLock::new();

/// A place for lines, without tokens and with nothing hidden in them. Whoever logs such has made a mistake, and this is the
/// net under it.
struct Masked<W> {
    out: W,
    /// Of the lines that were lost, those that were told.
    told: usize,
}

impl<W: Write> Masked<W> {
    fn tell(&mut self, lost: usize) -> io::Result<()> {
        if lost > self.told {
            let more = lost - self.told;
            self.told = lost;
            writeln!(self.out, "{more} lines of the log were lost here: more came than were read in time")?;
        }
        Ok(())
    }
}

impl<W: Write> Write for Masked<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.out.write_all(text::mask(&text::net(&text)).as_bytes())?;
        self.tell(LOST.get().map_or(0, ErrorCounter::dropped_lines))?;
        Ok(line.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Below `info` libraries print what passes through them, and so arguments and what is in files: there only the program's
/// own lines are let through, and none of those has any.
fn may_log(line: &tracing::Metadata<'_>) -> bool {
    let own = line.target() == "counterfoil" || line.target().starts_with("counterfoil::");
    // What of the engine is no error a plug-in can repeat without end.
    let most = if line.target().starts_with("wasmtime") { tracing::Level::ERROR } else { tracing::Level::INFO };
    own || *line.level() <= most
}

const LEVELS: &str = "write error, warn, info, debug or trace, or one of them for a part, as in counterfoil=debug";

/// A word that stands alone, and is neither a level nor a part of this program: most often a level that is spelt otherwise.
fn unmeant(asked: &str) -> Option<&str> {
    let known = ["off", "error", "warn", "info", "debug", "trace", "counterfoil"];
    let alone = asked.split(',').map(str::trim).filter(|part| !part.is_empty() && !part.contains(['=', '[', ':']));
    let number = |part: &str| part.parse::<u8>().is_ok_and(|number| number <= 5);
    alone.into_iter().find(|part| !number(part) && !known.iter().any(|known| known.eq_ignore_ascii_case(part)))
}

/// Starts logging what `COUNTERFOIL_LOG` asks for, the program's own warnings by default.
pub(super) fn start() {
    let asked = config::log_filter().unwrap_or_else(|| USUAL.to_owned());
    let filter = match EnvFilter::try_new(&asked) {
        Ok(filter) => {
            if let Some(part) = unmeant(&asked) {
                note(&format!(
                    "COUNTERFOIL_LOG: {} is no level, and logs what has this name: {LEVELS}",
                    text::escape(part)
                ));
            }
            filter
        }
        Err(_) => {
            note(&format!(
                "COUNTERFOIL_LOG={} cannot be read, and what is usual is logged: {LEVELS}",
                text::escape(&asked)
            ));
            EnvFilter::new(USUAL)
        }
    };
    let (out, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING)
        .thread_name("counterfoil-log")
        .finish(Masked { out: io::stderr(), told: 0 });
    let _ = LOST.set(out.error_counter());
    let lines = tracing_subscriber::fmt::layer().with_ansi(io::stderr().is_terminal()).with_writer(out);
    // Only a second start could fail, and then logging is on already.
    let begun = tracing_subscriber::registry()
        .with(lines.with_filter(filter.and(filter_fn(|line| mcp::may_log(line) && may_log(line)))))
        .try_init();
    if begun.is_ok() {
        *WRITING.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    }
}

/// Waits until what was logged is written; a second at most, where nobody reads it.
pub(super) fn end() {
    drop(WRITING.lock().unwrap_or_else(PoisonError::into_inner).take());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_was_lost_is_told_once() {
        let mut log = Masked { out: Vec::new(), told: 0 };
        for lost in [0, 3, 3, 5] {
            log.tell(lost).unwrap();
        }
        let told = String::from_utf8(log.out).unwrap();
        let counts: Vec<&str> = told.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(counts, ["3", "2"]);
    }

    #[test]
    fn a_word_that_is_no_level_is_noticed() {
        for asked in [
            "",
            "info",
            "DEBUG",
            "3",
            "off",
            "counterfoil",
            "error,counterfoil=debug",
            "counterfoil::host",
            "rmcp=info",
        ] {
            assert_eq!(unmeant(asked), None, "{asked}");
        }
        assert_eq!([unmeant("inf"), unmeant("warn, verbose")], [Some("inf"), Some("verbose")]);
    }

    #[test]
    fn a_line_is_written_without_tokens() {
        let mut log = Masked { out: Vec::new(), told: 0 };
        log.write_all(b"got cfm_abcdefghijklmnopqrstuvwx\n").unwrap();
        assert_eq!(String::from_utf8(log.out).unwrap(), "got cfm_\u{2026}\n");
    }
}
