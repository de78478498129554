//! The manifest as it is written, in JSON inside a component and in TOML in the configuration: every key of it, none other.

use super::{ANY, Declared, DeclaredDir, DeclaredHttp, MAX, VARIABLE_RULE, VERSION, is_guest_path, is_variable};
use crate::plugin::options::Access;
use crate::{json, text};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// What a plug-in asks for. It gets what of it is granted, and nothing else.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "program", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Written {
    /// Directories, by the plug-in's own paths for them. Default: none.
    dirs: Vec<WrittenDir>,
    /// Requests to other machines. Default: none.
    http: Vec<super::http::Written>,
    /// Names of environment variables; "*" for any. Default: none.
    env: Vec<String>,
}

/// A directory that a plug-in asks for.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "program", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct WrittenDir {
    /// The path inside the plug-in, such as "/files"; "*" for any.
    path: String,
    /// The most that it does there. Default: "read-only".
    #[serde(default = "read_only")]
    access: Access,
}

fn read_only() -> Access {
    Access::ReadOnly
}

impl TryFrom<&Written> for Declared {
    type Error = String;

    fn try_from(written: &Written) -> Result<Self, String> {
        let mut paths = BTreeSet::new();
        for dir in &written.dirs {
            if dir.path != ANY && !is_guest_path(&dir.path) {
                return Err(format!("{} is no path of a directory: write for instance \"/files\"", quoted(&dir.path)));
            }
            if !paths.insert(&dir.path) {
                return Err(format!("it names the directory {} twice: keep one", quoted(&dir.path)));
            }
        }
        let mut names = BTreeSet::new();
        for name in &written.env {
            if name != ANY && !is_variable(name) {
                return Err(format!("{} is no name of a variable: {VARIABLE_RULE}", quoted(name)));
            }
            if !names.insert(name) {
                return Err(format!("it names the variable {} twice: keep one", quoted(name)));
            }
        }
        let dirs = written.dirs.iter().map(|dir| DeclaredDir { path: dir.path.clone(), access: dir.access });
        let http = written.http.iter().map(DeclaredHttp::try_from).collect::<Result<_, _>>()?;
        Ok(Self { dirs: dirs.collect(), http, env: written.env.clone() })
    }
}

/// Reads a manifest in JSON.
pub(super) fn parse(text: &str) -> Result<Declared, String> {
    if text.len() > MAX {
        return Err(format!("it has {} bytes: {MAX} are allowed", text.len()));
    }
    let Value::Object(mut table) = json::value(text).map_err(|what| advised(&what))? else {
        return Err(format!("it is not a JSON object: write for instance {{\"manifest\":{VERSION}}}"));
    };
    match table.remove("manifest").as_ref().map(Value::as_u64) {
        Some(Some(VERSION)) => {}
        Some(Some(version)) => {
            return Err(format!("it is of version {version}; this program knows {VERSION}: use a newer one"));
        }
        _ => return Err(format!("it does not say its version: add \"manifest\": {VERSION}")),
    }
    let written: Written = serde_json::from_value(table.into()).map_err(|e| advised(&e.to_string()))?;
    Declared::try_from(&written)
}

/// Completes the parser's own sentences where they only say what is wrong.
fn advised(what: &str) -> String {
    let what = text::escape(what);
    if what.starts_with("unknown field") {
        return format!("{}: correct its spelling or take it out", what.replacen("unknown field", "unknown key", 1));
    }
    if what.starts_with("EOF while parsing") {
        return "it ends too early: it is empty or cut off; write for instance {\"manifest\":1}".to_owned();
    }
    if let Some(field) = what.strip_prefix("missing field ") {
        return format!("{field} is missing: add \"{}\": …", field.trim_matches('`'));
    }
    if what.starts_with("unknown variant") {
        return what.replacen("unknown variant", "there is no", 1).replacen(", expected ", ": write ", 1);
    }
    if let Some((_, belongs)) = what.strip_prefix("invalid value: ").and_then(|what| what.split_once(", expected ")) {
        let belongs = if belongs.starts_with("map") { "one word in quotes" } else { belongs };
        return format!("a value is not what belongs there: write {belongs}");
    }
    if what.starts_with("invalid length") {
        return "a list stands where an object belongs: write {\"key\": …} with the names of its keys".to_owned();
    }
    if let Some(what) = unlike(&what) {
        return what;
    }
    if what.starts_with("trailing characters") {
        return format!("{what}: there is more than one manifest, or something behind it; keep one");
    }
    what.into_owned()
}

/// The sentence about a value of the wrong kind, in the words of JSON and not of the program.
fn unlike(what: &str) -> Option<String> {
    let (found, expected) = what.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let found = text::kind(found, "an object")?;
    let expected = match expected {
        "a map" => "an object, such as {\"host\": \"api.example.com\"}",
        "a sequence" => "a list, such as [\"…\"]",
        "a string" | "string or map" => "a text in quotes",
        "struct WrittenDir" => "an object, such as {\"path\": \"/files\"}",
        object if object.starts_with("struct ") => "an object, such as {\"host\": \"api.example.com\"}",
        own => own,
    };
    Some(format!("{found} stands where {expected} belongs"))
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", text::escape(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[track_caller]
    fn refused(text: &str, words: &[&str]) {
        let error = parse(text).expect_err("refused");
        for word in words {
            assert!(error.contains(word), "{word:?} is missing in {error}");
        }
    }

    #[test]
    fn a_manifest_says_what_it_asks_for_and_reading_is_the_least() {
        let text = r#"{"manifest":1,"dirs":[{"path":"/a"},{"path":"*","access":"read-write"}],"env":["A","*"]}"#;
        let declared = parse(text).unwrap();
        let dir = |path: &str, access| DeclaredDir { path: path.to_owned(), access };
        assert_eq!(declared.dirs, [dir("/a", Access::ReadOnly), dir("*", Access::ReadWrite)]);
        assert_eq!(declared.env, ["A", "*"]);
        assert!(parse(r#"{"manifest":1}"#).unwrap().is_empty());
    }

    #[test]
    fn what_is_not_known_is_an_error_that_says_what_to_do() {
        refused(r#"{"manifest":1,"dir":[]}"#, &["unknown key `dir`", "`dirs`", "spelling"]);
        refused(r#"{"manifest":1,"dirs":[{"path":"/a","write":true}]}"#, &["unknown key `write`"]);
        refused(r#"{"manifest":1,"dirs":[{"path":"/a","access":"write"}]}"#, &["`write`", "`read-only`"]);
        refused(r#"{"manifest":2}"#, &["version 2", "knows 1"]);
        refused(r#"{"dirs":[]}"#, &["add \"manifest\": 1"]);
        refused(r#"{"manifest":"1"}"#, &["add \"manifest\": 1"]);
        refused(r#"{"manifest":1.0}"#, &["add \"manifest\": 1"]);
        refused("[]", &["not a JSON object"]);
        refused("", &["empty or cut off"]);
        refused(r#"{"manifest":1"#, &["empty or cut off"]);
        refused(r#"{"manifest":1}{"manifest":1}"#, &["more than one manifest"]);
        refused(r#"{"manifest":1,"manifest":1}"#, &["twice"]);
        refused(&format!(r#"{{"manifest":1{}}}"#, " ".repeat(MAX)), &["16384 are allowed"]);
    }

    #[test]
    fn a_value_of_another_kind_is_told_in_the_words_of_json() {
        let wrong = ["5", "-1", "1.5", "true", "null", r#""x""#, r#"["x"]"#, "[5]", "[[]]", "[{}]", "{}", r#"{"x":1}"#];
        let keys = [
            r#""dirs":@"#,
            r#""http":@"#,
            r#""env":@"#,
            r#""dirs":[{"path":@}]"#,
            r#""dirs":[{"path":"/a","access":@}]"#,
            r#""http":[{"host":@}]"#,
            r#""http":[{"host":"a.example","scheme":@}]"#,
            r#""http":[{"host":"a.example","port":@}]"#,
            r#""http":[{"host":"a.example","methods":@}]"#,
        ];
        for (key, wrong) in keys.into_iter().flat_map(|key| wrong.map(|wrong| (key, wrong))) {
            let text = format!(r#"{{"manifest":1,{}}}"#, key.replace('@', wrong));
            let Err(said) = parse(&text) else { continue };
            let said = said.split_once("`, expected ").map_or(&*said, |(said, _)| said);
            for foreign in ["expected ", "struct", "sequence", "a map", "u16", "variant", "invalid ", "integer", "EOF"]
            {
                assert!(!said.contains(foreign), "{text}: {said}");
            }
        }
        refused(r#"{"manifest":1,"http":["x"]}"#, &["a text stands where an object", r#"{"host": "#]);
    }

    #[test]
    fn a_path_or_name_that_nothing_could_have_is_an_error() {
        for path in ["", "a", "./a", "/a/", "/a//b", "/a/../b", "/\u{1b}"] {
            let quoted = serde_json::to_string(path).unwrap();
            refused(&format!(r#"{{"manifest":1,"dirs":[{{"path":{quoted}}}]}}"#), &["no path of a directory"]);
        }
        for name in ["", "1A", "A-B", "A=B", "é"] {
            refused(&format!(r#"{{"manifest":1,"env":["{name}"]}}"#), &["no name of a variable"]);
        }
        refused(r#"{"manifest":1,"env":["A","A"]}"#, &["\"A\" twice"]);
        refused(r#"{"manifest":1,"dirs":[{"path":"/a"},{"path":"/a"}]}"#, &["\"/a\" twice"]);
    }
}
