//! What the demo shows and what it checks. Text from answers is escaped, tokens are shortened, and a claim that does not
//! hold is remembered.

use super::super::print::{bold, inset, line};
use crate::cli::itself::itself;
use crate::{Reply, Status, digest, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Everything in the directory: files with size and SHA-256, directories with neither.
pub(super) type Disk = BTreeMap<String, Option<(u64, String)>>;

/// An answer and its members.
pub(super) struct Answer {
    pub(super) reply: Reply,
    members: Value,
}

impl Answer {
    pub(super) fn new(reply: Reply) -> anyhow::Result<Self> {
        let members = serde_json::from_str(&reply.payload)?;
        Ok(Self { reply, members })
    }

    pub(super) fn status(&self) -> Status {
        self.reply.status
    }

    pub(super) fn value(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.value(name).as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn is_rejected(&self, reason: &str) -> bool {
        self.status() == Status::Rejected && self.text("reason") == reason
    }
}

pub(super) struct Stage {
    directory: PathBuf,
    chapters: u32,
    claims: u32,
    broken: Vec<String>,
}

impl Stage {
    pub(super) fn new() -> anyhow::Result<Self> {
        line(&format!("{}\n", bold("Counterfoil: preview first, then exactly one run")))?;
        Ok(Self { directory: PathBuf::new(), chapters: 0, claims: 0, broken: Vec::new() })
    }

    /// From here on the directory is this one.
    pub(super) fn act(&mut self, title: &str, directory: PathBuf) -> anyhow::Result<()> {
        self.directory = directory;
        Ok(line(&format!("\n{}\n", bold(&format!("=== {title} ==="))))?)
    }

    pub(super) fn chapter(&mut self, title: &str) -> anyhow::Result<()> {
        self.chapters += 1;
        Ok(line(&format!("\n{}\n", bold(&format!("{}. {title}", self.chapters))))?)
    }

    pub(super) fn say(&self, sentence: &str) -> anyhow::Result<()> {
        Ok(line(sentence)?)
    }

    /// Somebody who is no agent writes a file.
    pub(super) fn write(&self, name: &str, content: &str) -> anyhow::Result<()> {
        let path = self.directory.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.directory))?;
        fs::write(path, content)?;
        Ok(line(&format!("  {name}: {}", text::escape(content.trim_end())))?)
    }

    pub(super) fn read(&self, name: &str) -> anyhow::Result<String> {
        Ok(fs::read_to_string(self.directory.join(name))?)
    }

    pub(super) fn disk(&self) -> anyhow::Result<Disk> {
        let (mut disk, mut open) = (Disk::new(), vec![self.directory.clone()]);
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory)? {
                let path = entry?.path();
                let name = path.strip_prefix(&self.directory)?.to_string_lossy().into_owned();
                if path.is_dir() {
                    open.push(path);
                    disk.insert(name, None);
                } else {
                    let content = fs::read(&path)?;
                    disk.insert(name, Some((content.len() as u64, digest::sha256(&content))));
                }
            }
        }
        Ok(disk)
    }

    pub(super) fn show_disk(&self) -> anyhow::Result<()> {
        let disk = self.disk()?;
        let width = disk.keys().map(|name| name.chars().count()).max().unwrap_or_default();
        for (name, content) in &disk {
            if let Some((size, digest)) = content {
                let short: String = digest.chars().take(12).collect();
                line(&format!("  {:width$}  {:>9}  sha256 {short}…", text::escape(name), text::bytes(*size)))?;
            }
        }
        Ok(())
    }

    pub(super) fn show_call(&self, who: &str, tool: &str, arguments: &str, token: Option<&str>) -> anyhow::Result<()> {
        /// Longer arguments are shown by their beginning.
        const LONG: usize = 120;
        let with = token.map(|token| format!(" with {}", short(token))).unwrap_or_default();
        let cut = arguments.char_indices().nth(LONG).and_then(|(at, _)| arguments.get(..at));
        let arguments = cut.map_or_else(|| arguments.to_owned(), |start| format!("{start}…"));
        Ok(line(&format!("  {} {} {}{with}", bold(&format!("{who} →")), text::escape(tool), text::escape(&arguments)))?)
    }

    pub(super) fn show_answer(&self, answer: &Answer) -> anyhow::Result<()> {
        let mut shown = answer.status().name().to_owned();
        let word = |name: &str| text::escape(&text::mask(&answer.text(name))).into_owned();
        for name in ["reason", "detail"] {
            if !word(name).is_empty() {
                shown += &format!(", {}", word(name));
            }
        }
        if answer.reply.replayed {
            shown += " (a replay)";
        }
        line(&format!("  {} {shown}", bold("←")))?;
        for name in ["summary", "message", "error"] {
            if !word(name).is_empty() {
                line(&inset(&inset(&word(name))))?;
            }
        }
        for warning in answer.value("warnings").as_array().into_iter().flatten().filter_map(Value::as_str) {
            line(&inset(&inset(&format!("warning: {}", text::escape(warning)))))?;
        }
        let token = answer.text("confirm_token");
        if !token.is_empty() {
            line(&inset(&inset(&format!("token: {}, until {}", short(&token), word("expires_at")))))?;
        }
        Ok(())
    }

    /// Says it and whether it is so.
    pub(super) fn claim(&mut self, sentence: &str, holds: bool) -> anyhow::Result<()> {
        self.claims += 1;
        let (colour, mark) =
            if holds { (anstyle::AnsiColor::Green, "ok") } else { (anstyle::AnsiColor::Red, "NOT SO") };
        let style = colour.on_default().bold();
        if !holds {
            self.broken.push(sentence.to_owned());
        }
        Ok(line(&format!("  {style}{mark}{style:#}  {sentence}"))?)
    }

    /// Whether everything held.
    pub(super) fn finish(&self) -> anyhow::Result<bool> {
        let held = self.claims - self.broken.len() as u32;
        line(&format!(
            "\n{}",
            bold(&format!("{held} of {} claims held, each checked against the disk or the answer.", self.claims))
        ))?;
        for sentence in &self.broken {
            line(&format!("  NOT SO  {sentence}"))?;
        }
        if self.broken.is_empty() {
            line(
                "The token puts the two calls in order; it proves that there was a preview, not that a person agreed.",
            )?;
            let program = itself();
            line(&format!("Next: `{program} config init`, then `{program} serve` in an MCP client."))?;
        }
        Ok(self.broken.is_empty())
    }
}

/// Enough of a token to tell it from another.
fn short(token: &str) -> String {
    format!("{}…", token.chars().take("cfm_".len() + 4).collect::<String>())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_claim_that_does_not_hold_fails_the_demo() {
        let mut stage = Stage::new().unwrap();
        stage.claim("so", true).unwrap();
        assert!(stage.finish().unwrap());
        stage.claim("not so", false).unwrap();
        stage.claim("so", true).unwrap();
        assert!(!stage.finish().unwrap());
    }

    #[test]
    fn a_token_is_shown_by_its_beginning_only() {
        assert_eq!(short("cfm_abcdefghijklmnopqrstuvwx"), "cfm_abcd…");
    }
}
