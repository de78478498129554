//! What each plug-in was when the operator last looked at it: `counterfoil.lock`, beside the configuration. Reads it as
//! strictly as the configuration itself, since it decides what runs; a file that is not there locks nothing.

mod difference;
mod written;

pub use difference::Difference;

use super::units::LevelWord;
use super::{Places, guard, shape};
use crate::plugin::Plugin;
use crate::tool::{Declaration, NAME_RULE, is_name};
use crate::{Error, Level, text};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Longest lock that is read: a hundred plug-ins with as much text as agents can read.
const MAX_FILE: u64 = 16 << 20;
/// The form that this program writes and reads.
const VERSION: u32 = 1;

/// The plug-ins of a configuration as they were locked, by their names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// Where it is, or would be.
    file: PathBuf,
    /// What is locked.
    pub plugins: BTreeMap<String, Pinned>,
}

/// One plug-in as it was locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// SHA-256 of the component.
    pub sha256: String,
    /// What it asks for, each in one line.
    pub asks: Vec<String>,
    /// Its tools, by its own names.
    pub tools: BTreeMap<String, PinnedTool>,
}

/// One tool as it was locked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what the tool declared under that name")]
pub struct PinnedTool {
    pub level: Level,
    pub critical: bool,
    pub title: Option<String>,
    pub description: String,
    /// Laid out over lines, so that a difference can be shown.
    pub input_schema: String,
    pub output_schema: Option<String>,
}

impl Lock {
    /// Where the lock of a configuration is: `counterfoil.lock` for `counterfoil.toml`.
    pub fn place(config: &Path) -> PathBuf {
        config.with_extension("lock")
    }

    /// One that locks nothing yet, for a configuration.
    pub fn new(config: &Path) -> Self {
        Self { file: Self::place(config), ..Self::default() }
    }

    /// Reads the lock of a configuration.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config): what is wrong with it, with its line and what to do.
    pub fn read(config: &Path) -> Result<Self, Error> {
        let file = Self::place(config);
        if file == config {
            let what = "the name that ends in .lock is kept for what `counterfoil plugin lock` writes: rename it";
            return Err(Places::new(file, String::new()).error_in_file(&format!("this is the configuration: {what}")));
        }
        match file.symlink_metadata() {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Self::new(config)),
            _ => Self::parse(file.clone(), guard::read(&file, MAX_FILE)?),
        }
    }

    pub(crate) fn parse(file: PathBuf, text: String) -> Result<Self, Error> {
        const REMEDY: &str = "put the file back as it was, or remove it and lock the plug-ins again";
        let places = Places::new(file, text);
        shape::check::<File>(&places)?;
        let table: File = toml::from_str(places.text()).map_err(|e| {
            let message = format!("{}: {REMEDY}", text::escape(e.message().trim_end()));
            e.span().map_or_else(|| places.error_in_file(&message), |span| places.error_at(span, &message))
        })?;
        if *table.version.get_ref() != VERSION {
            let what = format!("this form of the lock is not known, {VERSION} is: {REMEDY}");
            return Err(places.error_at(table.version.span(), &what));
        }
        let mut plugins = BTreeMap::new();
        for (name, plugin) in table.plugins {
            if !is_name(name.get_ref()) {
                let what = format!("this cannot be the name of a plug-in: {NAME_RULE}");
                return Err(places.error_at(name.span(), &what));
            }
            if !is_digest(plugin.sha256.get_ref()) {
                let what = format!("this is no SHA-256 in 64 digits of 0-9 and a-f: {REMEDY}");
                return Err(places.error_at(plugin.sha256.span(), &what));
            }
            let tools = plugin.tools.into_iter().map(|(name, tool)| (name, tool.into())).collect();
            plugins.insert(name.into_inner(), Pinned { sha256: plugin.sha256.into_inner(), asks: plugin.asks, tools });
        }
        Ok(Self { file: places.file().to_owned(), plugins })
    }

    /// Where it is, or would be.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The file's text: the same for the same plug-ins.
    pub fn text(&self) -> String {
        written::text(self)
    }
}

impl Pinned {
    /// A plug-in as it is, with what it asks for in words.
    pub fn of(plugin: &Plugin, asks: Vec<String>) -> Self {
        let tools = plugin.own_tools().iter().map(|tool| (tool.name.clone(), PinnedTool::of(tool))).collect();
        Self { sha256: plugin.digest().to_owned(), asks, tools }
    }
}

impl PinnedTool {
    fn of(tool: &Declaration) -> Self {
        Self {
            level: tool.level,
            critical: tool.critical,
            title: tool.title.clone(),
            description: tool.description.clone(),
            input_schema: text::indent(&tool.input_schema),
            output_schema: tool.output_schema.as_deref().map(text::indent),
        }
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The file as it is written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    #[schemars(with = "u32")]
    version: Spanned<u32>,
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, PluginTable>")]
    plugins: BTreeMap<Spanned<String>, PluginTable>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PluginTable {
    #[schemars(with = "String")]
    sha256: Spanned<String>,
    #[serde(default)]
    asks: Vec<String>,
    #[serde(default)]
    tools: BTreeMap<String, ToolTable>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolTable {
    level: LevelWord,
    #[serde(default)]
    critical: bool,
    title: Option<String>,
    description: String,
    input_schema: String,
    output_schema: Option<String>,
}

impl From<ToolTable> for PinnedTool {
    fn from(tool: ToolTable) -> Self {
        let ToolTable { level: LevelWord(level), critical, title, description, input_schema, output_schema } = tool;
        Self { level, critical, title, description, input_schema, output_schema }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

    use super::*;

    fn read(text: &str) -> Result<Lock, Error> {
        Lock::parse("counterfoil.lock".into(), text.to_owned())
    }

    #[track_caller]
    fn refused(text: &str, words: &[&str]) {
        let said = read(text).expect_err(text).to_string();
        for word in words {
            assert!(said.contains(word), "{word:?} is missing in {said}");
        }
    }

    #[test]
    fn whatever_is_wrong_in_a_lock_is_named_by_its_line() {
        let digest = "0123456789abcdef".repeat(4);
        assert_eq!(read("version = 1\n").unwrap().plugins.len(), 0);
        let plugin = format!("version = 1\n[plugins.a]\nsha256 = \"{digest}\"\n");
        assert_eq!(read(&plugin).unwrap().plugins["a"].sha256, digest);
        refused("", &["version", "lock the plug-ins again"]);
        refused("version = 2\n", &["counterfoil.lock:1:", "not known"]);
        refused("version = 1\ncolour = 1\n", &[":2:", "colour"]);
        refused(&format!("{plugin}colour = 1\n"), &[":4:", "colour"]);
        refused(&format!("{plugin}[plugins.a]\n"), &["duplicate"]);
        refused(&format!("version = 1\n[plugins.\"a b\"]\nsha256 = \"{digest}\"\n"), &[":2:", "name of a plug-in"]);
        refused("version = 1\n[plugins.a]\n", &["sha256"]);
        for bad in ["", "x", &digest[1..], &digest.to_uppercase()] {
            refused(&format!("version = 1\n[plugins.a]\nsha256 = \"{bad}\"\n"), &[":3:", "no SHA-256"]);
        }
        let tool = format!("{plugin}[plugins.a.tools.t]\ndescription = \"\"\ninput_schema = \"\"\n");
        refused(&tool, &["level"]);
        for list in [
            format!("version = 1\nplugins.a = [\"{digest}\", [], {{}}]\n"),
            format!("{plugin}tools.t = [1, false, \"\", \"\", \"\", \"\"]\n"),
        ] {
            refused(&list, &["a table belongs here and not a list"]);
        }
        refused(&format!("{tool}level = \"harmless\"\n"), &["harmless", "approval_required"]);
        refused(&format!("{tool}level = 1\nminder = 2\n"), &["minder"]);
        assert_eq!(read(&format!("{tool}level = 1\n")).unwrap().plugins["a"].tools["t"].level, Level::Caution);
    }

    #[test]
    fn the_lock_has_the_name_of_its_configuration() {
        assert_eq!(Lock::place(Path::new("a/counterfoil.toml")), Path::new("a/counterfoil.lock"));
        assert_eq!(Lock::place(Path::new("desk.toml")), Path::new("desk.lock"));
        assert_eq!(Lock::place(Path::new("desk")), Path::new("desk.lock"));
        assert!(Lock::read(Path::new("desk.lock")).unwrap_err().to_string().contains("rename it"));
    }
}
