//! Asks a person on a terminal. Where there is none nobody has agreed, and that is a mistake in how the verb was called.

use super::Usage;
use super::print::told;
use std::io::{self, IsTerminal as _};

/// Whether whoever sits at the terminal says yes to `question`.
///
/// # Errors
/// [`Usage`]: there is no terminal.
pub(super) fn agreed(question: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let what = "nothing was written: there is no terminal to ask on; read what would change and add --yes";
        return Err(Usage(what.to_owned()).into());
    }
    told(&format!("\n{question} [y/N] "));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
