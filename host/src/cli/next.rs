//! What a person may type next: the very command, quoted for a shell. No secret and nothing invisible is repeated in it.

use super::itself::itself;
use crate::{Host, text};
use serde_json::Value;
use std::path::Path;

/// Arguments longer than this are not repeated, in bytes.
const LONG: usize = 1000;
/// What stands for arguments that are not repeated.
const SAME: &str = "'…the same JSON…'";
/// What stands for a value that nobody has given.
const OPEN: &str = "…";

/// A call as a person types it.
pub(super) struct Typed<'a> {
    pub(super) config: Option<&'a Path>,
    pub(super) tool: &'a str,
    pub(super) owner: Option<&'a str>,
    /// The arguments as they were sent.
    pub(super) sent: &'a str,
    /// Whether they hold a secret, or may: then nothing of them is repeated.
    pub(super) secret: bool,
}

impl Typed<'_> {
    /// The command that does this with the call: `call`, or `policy test`.
    pub(super) fn command(&self, verb: &str) -> String {
        // In JSON no line ends inside a string, so that one line says the same.
        let line = self.sent.trim().replace(['\n', '\r', '\t'], " ");
        let repeated = !self.secret && is_plain(&line);
        self.with(verb, &if repeated { text::shell(&line) } else { SAME.to_owned() })
    }

    fn with(&self, verb: &str, arguments: &str) -> String {
        let config = option("config", self.config.map(|file| file.display().to_string()));
        let owner = option("owner", self.owner.map(str::to_owned));
        let command = format!("{}{config} {verb} {}{owner}", itself(), text::shell(self.tool));
        format!("{} {arguments}", text::escape(&command))
    }

    /// What to say of arguments that are no JSON object, or of none where the tool needs some: the command with those that
    /// it needs, and in it what is clear of what was sent.
    pub(super) fn instead(&self, host: &Host, verb: &str) -> Option<String> {
        let sent = self.sent.trim();
        let empty = sent.is_empty() || sent == "{}";
        if sent.starts_with('{') && !empty {
            return None;
        }
        let listing = host.tools().iter().find(|tool| tool.name == self.tool)?;
        let schema: Value = serde_json::from_str(&listing.input_schema).ok()?;
        let required = schema.get("required").and_then(Value::as_array);
        let needed: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
        if empty && needed.is_empty() {
            return None;
        }
        let taken = if self.secret || !is_plain(sent) { "" } else { sent };
        let (object, open) = example(&schema, &needed, taken);
        let fill = if open { format!(", here with {OPEN} for what is yours to write") } else { String::new() };
        Some(format!("arguments are one JSON object{fill}: {}", self.with(verb, &text::shell(&object))))
    }
}

/// Whether a text is short, and all of it can be seen.
fn is_plain(text: &str) -> bool {
    text.len() <= LONG && text::escape(text) == text
}

/// An option with its value; one that begins with a hyphen would be taken for an option itself.
fn option(name: &str, value: Option<String>) -> String {
    let Some(value) = value else { return String::new() };
    let between = if value.starts_with('-') { '=' } else { ' ' };
    format!(" --{name}{between}{}", text::shell(&value))
}

/// An object of the arguments that a tool needs, and whether a value in it is open. What was sent is `NAME=VALUE`, or the
/// value of the first that it needs, or JSON of another kind, of which nothing is taken.
fn example(schema: &Value, needed: &[&str], sent: &str) -> (String, bool) {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && !name.is_empty();
    let given = match sent.split_once('=').filter(|(name, _)| is_name(name)) {
        Some(given) => Some(given),
        None if sent.is_empty() || sent.starts_with(['[', '"', '{']) => None,
        None => needed.first().map(|name| (*name, sent)),
    };
    let further = given.map(|(name, _)| name).filter(|name| !needed.contains(name));
    let (mut members, mut open) = (Vec::new(), false);
    for name in needed.iter().copied().chain(further) {
        let value = match given {
            Some((given, word)) if given == name => typed(kind(schema, name), word),
            _ => {
                open = true;
                OPEN.into()
            }
        };
        members.push(format!("{}:{value}", Value::from(name)));
    }
    (format!("{{{}}}", members.join(",")), open)
}

/// The type of an argument, where its schema has just one.
fn kind<'s>(schema: &'s Value, name: &str) -> Option<&'s str> {
    schema.get("properties")?.get(name)?.get("type")?.as_str()
}

/// A word as a value of the type that belongs there, where it is one.
fn typed(kind: Option<&str>, word: &str) -> Value {
    match (kind, serde_json::from_str(word)) {
        (Some("integer" | "number"), Ok(number @ Value::Number(_))) => number,
        (Some("boolean"), Ok(truth @ Value::Bool(_))) => truth,
        _ => word.into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn typed_as(sent: &str, config: Option<&str>, owner: Option<&str>, expected: &str) {
        let typed = Typed { config: config.map(Path::new), tool: "wipe", owner, sent, secret: false };
        let command = typed.command("call");
        assert_eq!(command.strip_prefix(&itself()).unwrap(), expected);
    }

    #[test]
    fn every_word_is_quoted_and_no_value_is_taken_for_an_option() {
        typed_as("{}", None, None, " call wipe '{}'");
        typed_as("{\"a\":\n\t\"it's\"}", None, None, r#" call wipe '{"a":  "it'\''s"}'"#);
        typed_as("{}", Some("my own.toml"), Some("ci"), " --config 'my own.toml' call wipe --owner ci '{}'");
        typed_as("{}", Some("-own.toml"), Some("-a b"), " --config=-own.toml call wipe --owner='-a b' '{}'");
    }

    #[test]
    fn what_is_long_or_invisible_is_not_repeated() {
        typed_as(&format!("{{\"a\":\"{}\"}}", "x".repeat(LONG)), None, None, &format!(" call wipe {SAME}"));
        typed_as("{\"a\":\"\u{202e}\"}", None, None, &format!(" call wipe {SAME}"));
        let typed = Typed { config: None, tool: "wipe", owner: None, sent: "{}", secret: true };
        assert!(typed.command("policy test").ends_with(&format!(" policy test wipe {SAME}")));
    }

    #[track_caller]
    fn exemplified(sent: &str, expected: &str) {
        let schema =
            json!({"properties": {"path": {"type": "string"}, "n": {"type": "integer"}, "all": {"type": "boolean"}}});
        assert_eq!(example(&schema, &["path", "n"], sent).0, expected, "{sent}");
    }

    #[test]
    fn an_example_has_what_the_tool_needs_and_what_was_sent() {
        exemplified("b", r#"{"path":"b","n":"…"}"#);
        exemplified("n=5", r#"{"path":"…","n":5}"#);
        exemplified("n=five", r#"{"path":"…","n":"five"}"#);
        exemplified("all=true", r#"{"path":"…","n":"…","all":true}"#);
        exemplified("path=a=b", r#"{"path":"a=b","n":"…"}"#);
        exemplified("a b=c", r#"{"path":"a b=c","n":"…"}"#);
        for nothing in ["", "{}", "[1]", "\"b\""] {
            exemplified(nothing, r#"{"path":"…","n":"…"}"#);
        }
        assert!(!example(&json!({}), &["path"], "b").1 && example(&json!({}), &["path", "n"], "b").1);
    }
}
