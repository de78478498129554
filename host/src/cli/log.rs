//! Logs: on standard error, never a token in them, rmcp's own held down.

use crate::transport::mcp;
use crate::{config, text};
use std::io::{self, IsTerminal as _, Write};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Standard error, without tokens. Whoever logs one has made a mistake, and this is the net under it.
struct Masked;

impl Write for Masked {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(text::mask(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Below `info` the engine prints what plug-ins pass to the host, and so arguments and what is in files.
fn may_log(line: &tracing::Metadata<'_>) -> bool {
    let engine = ["wasmtime", "cranelift", "wiggle"].iter().any(|name| line.target().starts_with(name));
    !engine || *line.level() <= tracing::Level::INFO
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
