//! The one way by which the program writes to a terminal. Every text that is not its own is escaped where it is put into a
//! sentence; whatever was forgotten is escaped here, so that nothing hidden comes out.

use crate::text;
use std::fmt;
use std::io::{self, Write as _};

/// Writes one line to standard output, colours only where a terminal shows them. The text is the program's own.
pub(super) fn line(text: &str) -> io::Result<()> {
    writeln!(anstream::stdout(), "{}", text::net(text))
}

/// Writes a result to standard output with one end of line.
pub(super) fn out(text: &str) -> io::Result<()> {
    raw(&text::net(text))
}

/// Writes JSON for programs. It is read as what it was; people who look at it see what is in it.
pub(super) fn json(json: &str) -> io::Result<()> {
    raw(&text::escape_json(json))
}

fn raw(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.trim_end_matches('\n').as_bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

/// A remark beside a result, on standard error.
pub(super) fn note(text: &str) {
    told(&format!("note: {text}\n"));
}

/// Writes to standard error, never a token.
pub(super) fn told(text: &str) {
    let text = text::net(text);
    let _ = write!(anstream::stderr(), "{}", text::mask(&text));
}

/// A text in bold.
pub(super) fn bold(text: &str) -> String {
    let style = anstyle::Style::new().bold();
    format!("{style}{text}{style:#}")
}

/// A text that is to be noticed.
pub(super) fn loud(text: &str) -> String {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    format!("{style}{text}{style:#}")
}

/// Every line moved in by two spaces.
pub(super) fn inset(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Columns of text, escaped, as wide as they need.
pub(super) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(head: [&str; N]) -> Self {
        Self { rows: vec![head.map(str::to_owned)] }
    }

    pub(super) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| text::escape(&cell).into_owned()));
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &self.rows {
            // Repeated and not padded: a format's width ends at 65535, and a plug-in's text need not.
            let pad = |cell: &str, width: usize| " ".repeat(width.saturating_sub(cell.chars().count()));
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell}{}", pad(cell, width)));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_may_be_of_any_width() {
        let mut table = Table::new(["A", "B"]);
        table.row(["x".repeat(70_000), "y".into()]);
        assert!(table.to_string().ends_with("xx  y\n"));
    }

    #[test]
    fn columns_line_up_and_hide_nothing() {
        let mut table = Table::new(["A", "B"]);
        table.row(["long one".into(), "x\u{1b}[2J".into()]);
        assert_eq!(table.to_string(), "A         B\nlong one  x\\e[2J\n");
    }
}
