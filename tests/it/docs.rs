//! The pages of `docs/`: what can be made is made from the program and the vectors and compared with the committed page
//! (`just bless` writes it anew); what is quoted has to be said by the program; what is named has to be there.

mod mapping;
pub(crate) mod page;
mod policy;
mod quotes;
mod readme;
mod starts;
mod talk;
mod transcript;
mod vector;

use counterfoil_gate_core::answer::{Reason, Rejection};
use counterfoil_gate_core::level::Level;
use counterfoil_gate_core::responses::FIXED_KEYS;
use counterfoil_gate_core::settings::Settings;
use counterfoil_tests::component;
use counterfoil_tests::program::Folder;
use serde_json::Value;
use std::path::Path;

/// The plug-ins that the tools reference covers: those that ship with the project.
const SHIPPED: [&str; 3] = ["files", "offers", "pdf"];

#[test]
fn docs_tools_are_listed_as_the_shipped_plug_ins_declare_them() {
    let folder = Folder::new();
    page::hold("tools.md", |source| {
        let name = source.strip_prefix("tools ").expect("made: tools NAME");
        let path = component(name);
        let ran = folder.run(&["plugin", "inspect", path.to_str().unwrap(), "--markdown"]);
        ran.gave(0, &[]);
        ran.out
    });
    let page = page::read("tools.md");
    // As levels.md says.
    assert!(!page.contains("| `review` 2 |"), "a tool that ships is `review`: say so in levels.md");
    for name in SHIPPED {
        assert!(page.contains(&format!("<!-- made: tools {name} -->")), "{name} is not on the page");
    }
}

#[test]
fn docs_examples_are_what_the_gate_and_the_program_say() {
    let told = talk::talk();
    for name in ["wire.md", "levels.md", "locking.md", "troubleshooting.md"] {
        page::hold(name, |source| {
            let (kind, rest) = source.split_once(' ').unwrap_or((source, ""));
            match kind {
                "start" => starts::told(rest),
                "run" => talk::part(&told, rest),
                "vector" => vector::payload(rest),
                "gate" => vector::asked(rest),
                "settings" => settings(),
                _ => panic!("{name}: nothing makes \"{source}\""),
            }
        });
        let by_hand = page::typed(name, "json");
        assert!(by_hand.is_empty(), "{name}: typed by hand: {by_hand:?}");
    }
}

#[test]
fn docs_audit_explains_every_field_that_a_row_can_have() {
    page::hold("audit.md", |source| {
        assert_eq!(source, "fields");
        let rows = counterfoil::audit::FIELDS.iter().chain([&counterfoil::audit::PREV]);
        rows.fold("| field | |\n| --- | --- |\n".to_owned(), |table, (name, what)| {
            format!("{table}| `{name}` | {} |\n", what.replace('|', "\\|"))
        })
    });
}

#[test]
fn docs_audit_explains_every_event_and_no_other() {
    let page = page::read("audit.md");
    let table = page.split_once("| event | says | written |").unwrap().1;
    let rows =
        table.lines().skip(2).take_while(|line| line.starts_with('|')).map(|line| line.split('|').nth(1).unwrap());
    let told: Vec<&str> = rows.flat_map(|names| names.split(',')).map(|name| name.trim().trim_matches('`')).collect();
    assert_eq!(told, counterfoil::audit::EVENTS);
}

/// The gate's settings with their defaults and ranges, as the rules have them.
fn settings() -> String {
    let ran = Folder::new().run(&["config", "schema"]);
    let schema = ran.json();
    let about = |name: &str| {
        let keys = &schema["$defs"]["GateTable"]["properties"];
        let text = keys[name]["description"].as_str().unwrap_or_default();
        text.split(" Default:").next().unwrap_or_default().split(": 15 s to").next().unwrap().to_owned()
    };
    let default = Settings::default();
    let times = [
        ("ttl", default.ttl),
        ("replay_window", default.replay_window),
        ("tombstone", default.tombstone),
        ("recent_window", default.recent_window),
        ("approval_window", default.approval_window),
        ("cool_down", default.cool_down),
    ];
    let counts = [
        ("max_arguments", default.max_arguments),
        ("max_depth", default.max_depth),
        ("max_number", default.max_number),
        ("max_exponent", default.max_exponent),
        ("max_plan", default.max_plan),
        ("max_precondition", default.max_precondition),
        ("max_outcome", default.max_outcome),
        ("max_output", default.max_output),
        ("pending_per_owner", default.pending_per_owner),
        ("pending_in_all", default.pending_in_all),
    ];
    let bytes = ["max_arguments", "max_plan", "max_precondition", "max_outcome", "max_output"];
    let mut table = String::from("| setting | default | range | |\n| --- | --- | --- | --- |\n");
    let rows = times.into_iter().chain(counts.map(|(name, value)| (name, u64::from(value))));
    for (name, value) in rows {
        let (low, high) = range(name);
        let shown = |value: u64| match name {
            _ if times.iter().any(|(time, _)| *time == name) => time(value),
            _ if bytes.contains(&name) => size(value),
            _ => value.to_string(),
        };
        let what = about(name);
        table += &format!("| `{name}` | {} | {} to {} | {what} |\n", shown(value), shown(low), shown(high));
    }
    table
}

/// The range of a setting, out of what is said when it is zero.
fn range(name: &str) -> (u64, u64) {
    let mut settings = Settings::default();
    macro_rules! zero {
        ($($field:ident)+) => { match name { $(stringify!($field) => settings.$field = 0,)+ _ => panic!("no setting {name}") } };
    }
    zero!(ttl approval_window replay_window tombstone cool_down recent_window max_arguments max_depth max_number
        max_exponent max_plan max_precondition max_outcome max_output pending_per_owner pending_in_all);
    let told = settings.check().unwrap_err();
    let numbers: Vec<u64> = told
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap())
        .collect();
    assert_eq!(numbers.len(), 3, "{told}");
    (numbers[1], numbers[2])
}

fn time(millis: u64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")];
    let (unit, word) = units.into_iter().find(|(unit, _)| millis.is_multiple_of(*unit)).unwrap();
    format!("{} {word}", millis / unit)
}

fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

#[test]
fn docs_blocks_of_json_are_json() {
    let (mut read, root) = (0, page::root());
    let mut pages: Vec<_> = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.extend(["README.md", "ARCHITECTURE.md", "SECURITY.md"].map(|name| root.join(name)));
    for path in pages.iter().filter(|path| path.extension().is_some_and(|end| end == "md")) {
        for (line, block) in page::json_blocks(&std::fs::read_to_string(path).unwrap()) {
            let value = serde_json::from_str::<Value>(&block);
            assert!(value.is_ok(), "{}:{line}: {value:?}", path.display());
            read += 1;
        }
    }
    assert!(read > 50, "{read} blocks of JSON were read");
}

#[test]
fn docs_say_every_word_of_the_closed_sets() {
    let wire = page::read("wire.md");
    let mut words: Vec<&str> = Reason::ALL.into_iter().map(Reason::name).collect();
    words.extend(["in_flight", "outcome_unknown", "already_ran", "settled_happened", "settled_did_not"]);
    words.extend(["tool_error", "trapped", "deadline", "output_limit", "none", "partial", "unknown"]);
    words.extend(["confirmation_required", "ok", "rejected", "failed"]);
    words.extend(["token_only", "client_prompt", "out_of_band"]);
    for word in words {
        assert!(wire.contains(&format!("| `{word}` |")), "wire.md has no row for {word}");
        let status = ["token_only", "client_prompt", "out_of_band", "none"].contains(&word);
        assert!(status || wire.contains(&format!("\"{word}\"")), "wire.md has no example with {word}");
    }
    // What every reason says when nothing more is known stands in an example, whole or behind what was wrong. Of a malformed
    // token the reader of the arguments tells in words of its own.
    for reason in Reason::ALL.into_iter().filter(|reason| *reason != Reason::MalformedToken) {
        let said = Rejection::new(reason).error.replace('"', "\\\"");
        assert!(wire.contains(&said), "wire.md has no example that says \"{said}\"");
    }
    let listed = wire.split("The fixed keys are").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let listed: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    assert_eq!(listed, FIXED_KEYS, "wire.md lists other fixed keys");
    let levels = page::read("levels.md");
    for level in Level::ALL {
        assert!(levels.contains(&format!("| `{}` |", level.name())), "levels.md has no row for {}", level.name());
    }
}

#[test]
fn docs_lead_to_places_that_are_there() {
    let root = page::root();
    let mut pages = vec![root.join("README.md"), root.join("SECURITY.md"), root.join("ARCHITECTURE.md")];
    pages.extend(std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    let mut followed = 0;
    for path in pages.iter().filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let text = std::fs::read_to_string(path).unwrap();
        for target in page::links(&text) {
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').map_or((target.as_str(), None), |(file, at)| (file, Some(at)));
            let there = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(there.exists(), "{}: {target} is not there", path.display());
            if let Some(anchor) = anchor {
                assert!(
                    anchors(&there).iter().any(|known| known == anchor),
                    "{}: {target} is no heading",
                    path.display()
                );
            }
            followed += 1;
        }
    }
    assert!(followed > 40, "{followed} links were followed");
}

/// The anchors of a page's headings, as forges make them.
fn anchors(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    page::headings(&text).iter().map(|(_, title)| page::anchor(title)).collect()
}

#[test]
fn docs_are_all_in_the_index() {
    let index = page::read("README.md");
    for entry in std::fs::read_dir(page::root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "README.md" {
            assert!(index.contains(&format!("({name}")), "docs/README.md does not lead to {name}");
        }
    }
}
