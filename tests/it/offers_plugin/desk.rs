//! A host around the offers plug-in, with the sample data in a directory of its own and a store on disk.

use crate::plugin::bench::SANDBOX;
use counterfoil::gate::{Gate, GateOptions, Settings, SystemClock};
use counterfoil::plugin::{Access, DirGrant, Plugin, PluginOptions};
use counterfoil::store::SqliteStore;
use counterfoil::{Host, Incoming, Level, Owner, Status};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const SAMPLE: &str = include_str!("../../../guest/tools/offers/sample/offers.json");

pub struct Desk {
    pub host: Host,
    top: TempDir,
}

/// What an answer is: its text as delivered, and what it says.
#[derive(Debug)]
pub struct Answer {
    pub status: Status,
    pub text: String,
    pub json: Value,
}

impl Answer {
    pub fn says(&self, member: &str) -> &str {
        self.json[member].as_str().unwrap_or_else(|| panic!("no text {member} in {}", self.text))
    }

    /// Holds it to a refusal and to a part of its words.
    #[track_caller]
    pub fn is(&self, status: Status, reason: &str, words: &str) {
        assert_eq!((self.status, &self.json["reason"]), (status, &Value::from(reason)), "{}", self.text);
        assert!(self.says("error").contains(words), "{words:?} is not in {}", self.text);
    }
}

impl Desk {
    pub async fn new() -> Self {
        Self::with(Access::ReadWrite, &[]).await
    }

    pub async fn with(access: Access, raised: &[(&str, Level)]) -> Self {
        let top = tempfile::tempdir().unwrap();
        let data = top.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("offers.json"), SAMPLE).unwrap();
        let mut options = PluginOptions::new("offers");
        options.dirs.push(DirGrant { host: data, guest: "/data".into(), access });
        let file = counterfoil_tests::component("offers");
        options.lock = Some(Plugin::digest_of(&std::fs::read(&file).unwrap()));
        let plugin = Plugin::load(&SANDBOX, &file, options).await.unwrap();
        let store = Arc::new(SqliteStore::open(&top.path().join("state.db")).unwrap());
        let (clock, cache) = (Arc::new(SystemClock), Some(counterfoil_tests::code()));
        let gate = Gate::new(GateOptions { store, clock, settings: Settings::default(), cache }).unwrap();
        let mut builder = Host::builder(gate).plugin(plugin);
        for (tool, level) in raised {
            builder = builder.level(*tool, *level);
        }
        Self { host: builder.build().await.unwrap(), top }
    }

    pub async fn call(&self, tool: &str, arguments: &str) -> Answer {
        let owner = Owner::new("name", "test").unwrap();
        let incoming = Incoming { owner, tool: tool.into(), arguments: arguments.into(), progress: None };
        let reply = self.host.call(incoming).await;
        let json = serde_json::from_str(&reply.payload).unwrap();
        Answer { status: reply.status, text: reply.payload, json }
    }

    /// A preview, during which nothing changes.
    pub async fn preview(&self, tool: &str, arguments: &str) -> Answer {
        let before = self.files();
        let answer = self.call(tool, arguments).await;
        assert_eq!(answer.status, Status::ConfirmationRequired, "{tool}: {}", answer.text);
        assert_eq!(before, self.files(), "the preview of {tool} changed something");
        answer
    }

    /// The same arguments with the token of a preview.
    pub async fn confirm(&self, tool: &str, arguments: &str, preview: &Answer) -> Answer {
        let token = format!(r#", "confirm_token": "{}"}}"#, preview.says("confirm_token"));
        let arguments = arguments.trim_end().strip_suffix('}').unwrap().to_owned() + &token;
        self.call(tool, &arguments).await
    }

    /// Runs it, with a confirmation where it needs one.
    pub async fn done(&self, tool: &str, arguments: &str) -> Answer {
        let mut answer = self.call(tool, arguments).await;
        if answer.status == Status::ConfirmationRequired {
            answer = self.confirm(tool, arguments, &answer).await;
        }
        assert_eq!(answer.status, Status::Ok, "{tool}: {}", answer.text);
        answer
    }

    /// Refused by the tool itself, with this in its words and nothing changed.
    pub async fn refused(&self, tool: &str, arguments: &str, words: &str) {
        let before = self.files();
        let answer = self.call(tool, arguments).await;
        let reason = answer.json["reason"].as_str().unwrap_or_default();
        assert!(["refused", "invalid_arguments"].contains(&reason), "{tool} {arguments}: {}", answer.text);
        answer.is(Status::Rejected, reason, words);
        assert_eq!(before, self.files(), "{tool} was refused and changed something");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    pub fn data(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path("data/offers.json")).unwrap()).unwrap()
    }

    /// What somebody else does to the data.
    pub fn edit(&self, edit: impl FnOnce(&mut Value)) {
        let mut data = self.data();
        edit(&mut data);
        std::fs::write(self.path("data/offers.json"), data.to_string()).unwrap();
    }

    /// Every file that the plug-in can see, with its content.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        read_all(&self.path("data"))
    }
}

fn read_all(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(directory) = open.pop() {
        for path in std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else {
                let content = std::fs::read(&path).unwrap();
                found.insert(path, content);
            }
        }
    }
    found
}

/// A record of the data.
pub fn record<'a>(data: &'a mut Value, collection: &str, id: u64) -> &'a mut Value {
    let records = data[collection].as_array_mut().unwrap();
    records.iter_mut().find(|record| record["id"] == id).unwrap_or_else(|| panic!("no {collection} {id}"))
}

/// What became different, one line each: `offers/12/payout "4.50" -> "6.20"`. Times of a change are left out, and of records
/// that came or went only that they did.
pub fn differences(before: &Value, after: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", before, after, &mut lines);
    lines
}

fn compare(path: &str, before: &Value, after: &Value, lines: &mut Vec<String>) {
    let by_id = |list: &[Value]| -> Option<BTreeMap<String, Value>> {
        list.iter().map(|item| Some((item.get("id")?.to_string(), item.clone()))).collect()
    };
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let mut members = |before: BTreeMap<String, Value>, after: BTreeMap<String, Value>| {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).filter(|name| *name != "updated_at").collect();
        for name in names {
            match (before.get(name), after.get(name)) {
                (Some(before), Some(after)) => compare(&below(name), before, after, lines),
                (Some(_), None) => lines.push(format!("{} gone", below(name))),
                (None, _) => lines.push(format!("{} new", below(name))),
            }
        }
    };
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            members(before.clone().into_iter().collect(), after.clone().into_iter().collect());
        }
        (Value::Array(before), Value::Array(after)) if !before.is_empty() || !after.is_empty() => {
            match (by_id(before), by_id(after)) {
                (Some(before), Some(after)) => members(before, after),
                _ if before == after => {}
                _ if after.starts_with(before) => lines.push(format!("{path} +{}", after.len() - before.len())),
                _ => lines.push(format!("{path} {} -> {}", Value::from(before.clone()), Value::from(after.clone()))),
            }
        }
        _ if before != after => lines.push(format!("{path} {before} -> {after}")),
        _ => {}
    }
}
