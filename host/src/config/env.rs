//! The variables that a plug-in may see: where each value comes from, and getting it there. A value is taken from where
//! nobody else could have put it or can read it, or the start ends; it is in no error, and neither is what somebody wrote in a
//! place where only the name of one belongs.

use super::file::{At, Named};
use super::{Config, Places, PluginConfig, under};
use crate::plugin::Secret;
use crate::plugin::manifest::{VARIABLE_RULE, is_variable};
use crate::{Error, others, text};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Longest file of a value: a plug-in's variable may be as long.
const MAX: u64 = 32 * 1024;

/// Where a variable's value comes from: one of the two.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VariableTable {
    /// A variable of the environment that this program is started in.
    env: Option<At<String>>,
    /// A file that only you can read; one end of line at its end does not count.
    file: Option<At<String>>,
}

/// A variable that a plug-in may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The plug-in's name for it.
    pub name: String,
    /// Where the value comes from.
    pub source: VariableSource,
}

/// Where the value of a variable comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableSource {
    /// A variable of the environment that this program was started in.
    Environment(String),
    /// A file that only its owner can read.
    File(PathBuf),
}

impl std::fmt::Display for VariableSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "{name} of the environment"),
            Self::File(file) => write!(f, "the file {}", file.display()),
        }
    }
}

/// What is written, checked; no value is read yet.
pub(super) fn variables(
    table: &Named<At<VariableTable>>,
    path: &str,
    folder: &Path,
    places: &mut Places,
) -> Result<Vec<Variable>, Error> {
    let mut variables = Vec::new();
    for (name, at) in table {
        let (key, name) = (name.span(), name.get_ref());
        if !is_variable(name) {
            let message = format!("this cannot be the name of a variable: {VARIABLE_RULE}");
            return Err(places.error_unshown(key, &message));
        }
        let (source, span) = match (&at.value().env, &at.value().file) {
            (Some(from), None) if !is_variable(from.value()) => {
                let message =
                    format!("this is not the name of a variable, which is where the value is: {VARIABLE_RULE}");
                return Err(places.error_unshown(from.span(), &message));
            }
            (Some(from), None) => (VariableSource::Environment(from.value().clone()), from.span()),
            (None, Some(file)) => (VariableSource::File(under(folder, file.value())), file.span()),
            _ => {
                let message = format!(
                    "say where the value comes from: {name} = {{ env = \"{name}\" }} or {name} = {{ file = \"{}\" }}",
                    name.to_ascii_lowercase()
                );
                return Err(places.error_unshown(at.span(), &message));
            }
        };
        places.note(format!("{path}.env.{name}"), span);
        variables.push(Variable { name: name.clone(), source });
    }
    Ok(variables)
}

impl Config {
    /// The values of the variables that a plug-in may see.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config), with the line: a variable that is not set, a file that is missing or
    /// that others can read or write.
    pub fn variables(&self, plugin: &PluginConfig) -> Result<BTreeMap<String, Secret>, Error> {
        let mut values = BTreeMap::new();
        for variable in &plugin.env {
            let value = match &variable.source {
                VariableSource::Environment(name) => from_environment(name),
                VariableSource::File(file) => from_file(file),
            };
            let value = value.and_then(checked).map_err(|what| {
                let what = format!("the variable {} of plug-in {}: {what}", variable.name, plugin.name);
                self.places.error_of_variable(&format!("plugins.{}.env.{}", plugin.name, variable.name), &what)
            })?;
            values.insert(variable.name.clone(), Secret::new(value));
        }
        Ok(values)
    }
}

fn checked(value: String) -> Result<String, String> {
    if value.is_empty() {
        return Err("its value is empty: give it one, or take this line out".to_owned());
    }
    if value.contains('\0') {
        return Err("its value has a NUL in it, which no variable can have".to_owned());
    }
    Ok(value)
}

fn from_environment(name: &str) -> Result<String, String> {
    use std::env::VarError;
    std::env::var(name).map_err(|e| match e {
        VarError::NotPresent => format!(
            "{} is not set in the environment that this program was started in: set it there (an MCP client has its own: see \
             `env` of its entry), or use a file",
            text::escape(name)
        ),
        VarError::NotUnicode(_) => format!("{} is not UTF-8", text::escape(name)),
    })
}

fn from_file(file: &Path) -> Result<String, String> {
    let name = text::escape(&file.display().to_string()).into_owned();
    let unreadable =
        |e: std::io::Error| format!("{name} cannot be read ({}): check the path and its permissions", e.kind());
    // Without waiting for a writer, should it be a pipe; what was opened is what is checked and read.
    let not_blocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let opened = File::options().read(true).custom_flags(not_blocking).open(file).map_err(|e| match e.kind() {
        // Not even the name: it may be the value itself.
        std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidFilename => {
            "the file that this line names cannot be read (it is not there): write the path of the file that has the value, from \
             the folder of the configuration"
                .to_owned()
        }
        _ => unreadable(e),
    })?;
    let found = opened.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(format!("{name} is not a file: name the file that has the value"));
    }
    if let Some(what) = others::can_write(file, &found) {
        return Err(format!("{name} {what}: {}", others::remedy(file, &found)));
    }
    if let Some(what) = others::can_replace(file) {
        return Err(format!("{name}: {what}"));
    }
    // As others have it: what the system's owner gives to a group of this user's is not open to others.
    let given = found.uid() == 0 && rustix::process::geteuid().as_raw() != 0;
    if found.mode() & (if given { 0o007 } else { 0o077 }) != 0 {
        let shown = text::shell(&file.display().to_string());
        return Err(format!("{name} can be read by others: run `chmod go-rwx {shown}`"));
    }
    let mut bytes = Vec::new();
    opened.take(MAX + 3).read_to_end(&mut bytes).map_err(unreadable)?;
    let mut value = String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8: save it as UTF-8"))?;
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
    if value.len() as u64 > MAX {
        return Err(format!("{name} is longer than {}: name the file that has the value", text::bytes(MAX)));
    }
    Ok(value)
}
