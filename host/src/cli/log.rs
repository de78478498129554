//! Logs: on standard error, never a token in them, rmcp's own held down.

use crate::transport::mcp;
use crate::{config, text};
use std::io::{self, IsTerminal as _, Write};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Standard error, without tokens and with nothing hidden. Whoever logs such has made a mistake, and this is the net under it.
struct Masked;

impl Write for Masked {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        io::stderr().write_all(text::mask(&text::net(&text)).as_bytes())?;
        Ok(line.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Below `info` libraries print what passes through them, and so arguments and what is in files: there only the program's
/// own lines are let through, and none of those has any.
fn may_log(line: &tracing::Metadata<'_>) -> bool {
    let own = line.target() == "counterfoil" || line.target().starts_with("counterfoil::");
    own || *line.level() <= tracing::Level::INFO
}

/// Starts logging what `COUNTERFOIL_LOG` asks for, warnings by default.
pub(super) fn start() {
    let asked = config::log_filter().unwrap_or_else(|| "warn".to_owned());
    let filter = EnvFilter::try_new(&asked).unwrap_or_else(|_| EnvFilter::new("warn"));
    let lines = tracing_subscriber::fmt::layer().with_ansi(io::stderr().is_terminal()).with_writer(|| Masked);
    // Only a second start could fail, and then logging is on already.
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(filter.and(filter_fn(|line| mcp::may_log(line) && may_log(line)))))
        .try_init();
}
