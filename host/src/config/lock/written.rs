//! The lock as a file for people and version control: one order, texts over lines where they have any, and no character in
//! it that a person would not see.

use super::{Lock, VERSION};
use crate::text::hidden;
use std::fmt::Write as _;

const HEAD: &str = "\
# What each plug-in of this configuration was when somebody last looked at it. One that has changed since is refused until
# it is locked again. `counterfoil plugin lock` writes this file; keep it beside the configuration.
";

/// The whole file.
pub(super) fn text(lock: &Lock) -> String {
    let mut file = format!("{HEAD}version = {VERSION}\n");
    // Writing into a string cannot fail.
    for (name, plugin) in &lock.plugins {
        let _ = write!(file, "\n[plugins.{name}]\nsha256 = \"{}\"\n", plugin.sha256);
        if !plugin.asks.is_empty() {
            let asks = plugin.asks.iter().map(|ask| format!("    {},\n", quoted(ask))).collect::<String>();
            let _ = write!(file, "asks = [\n{asks}]\n");
        }
        for (tool, pinned) in &plugin.tools {
            let _ = write!(file, "\n[plugins.{name}.tools.{}]\nlevel = \"{}\"\n", key(tool), pinned.level);
            if pinned.critical {
                file.push_str("critical = true\n");
            }
            let texts = [
                ("title", pinned.title.as_ref()),
                ("description", Some(&pinned.description)),
                ("input_schema", Some(&pinned.input_schema)),
                ("output_schema", pinned.output_schema.as_ref()),
            ];
            for (name, text) in texts {
                if let Some(text) = text {
                    let _ = writeln!(file, "{name} = {}", quoted(text));
                }
            }
        }
    }
    file
}

fn key(name: &str) -> String {
    if crate::tool::is_name(name) { name.to_owned() } else { quoted(name) }
}

/// A TOML string: as it is over lines where that hides nothing, else with escapes.
fn quoted(text: &str) -> String {
    let lines = text.contains('\n');
    if lines && !text.contains("'''") && !text.ends_with('\'') && !text.chars().any(|c| hidden(c) && c != '\n') {
        return format!("'''\n{text}'''");
    }
    let mut string = String::with_capacity(text.len() + 8);
    string.push_str(if lines { "\"\"\"\n" } else { "\"" });
    for c in text.chars() {
        match c {
            '"' => string.push_str("\\\""),
            '\\' => string.push_str("\\\\"),
            '\n' => string.push('\n'),
            c if hidden(c) => {
                let code = u32::from(c);
                let _ = if code > 0xffff { write!(string, "\\U{code:08x}") } else { write!(string, "\\u{code:04x}") };
            }
            c => string.push(c),
        }
    }
    string.push_str(if lines { "\"\"\"" } else { "\"" });
    string
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::super::{Pinned, PinnedTool};
    use super::*;
    use crate::Level;
    use std::collections::BTreeMap;

    fn lock(texts: &[&str]) -> Lock {
        let tool = |(number, text): (usize, &&str)| {
            let some = |keep: bool| keep.then(|| (*text).to_owned());
            let tool = PinnedTool {
                level: Level::ALL[number % 4],
                critical: number % 2 == 1,
                title: some(number % 3 == 0),
                description: (*text).to_owned(),
                input_schema: (*text).to_owned(),
                output_schema: some(number % 2 == 0),
            };
            (format!("tool-{number}"), tool)
        };
        let asks = texts.iter().map(|text| (*text).to_owned()).collect();
        let plugin = Pinned { sha256: "0".repeat(64), asks, tools: texts.iter().enumerate().map(tool).collect() };
        let plugins = BTreeMap::from([("b".to_owned(), plugin.clone()), ("a".to_owned(), plugin)]);
        Lock { file: "counterfoil.lock".into(), plugins }
    }

    #[test]
    fn what_is_written_is_read_back_whatever_its_texts_are() {
        let texts = [
            "",
            "plain",
            "two\nlines",
            "\n",
            "\n\n a",
            "a\n",
            "it's\n",
            "'''\n'",
            "\"\"\"\n\"",
            "\\\n\\",
            "tab\there",
            "cr\r\nlf",
            "\u{1b}[2J\n\u{202e}x",
            "\u{e0041}\u{feff}",
            "ends with '\n'",
            "quote\"",
            "\u{7f}\u{0}\u{85}\n",
            "{\n  \"a\": \"\\\\n\"\n}",
            "# no comment",
            "[plugins.x]\nsha256 = \"1\"",
            "é 日本 🦀",
        ];
        let lock = lock(&texts);
        let text = text(&lock);
        assert_eq!(Lock::parse("counterfoil.lock".into(), text.clone()).unwrap(), lock, "{text}");
        assert!(!text.chars().any(|c| hidden(c) && c != '\n'), "{text}");
        let places: Vec<_> = ["[plugins.a]", "[plugins.a.tools.tool-0]", "[plugins.b]"].map(|p| text.find(p)).into();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
    }
}
