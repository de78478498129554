//! One call: its arguments, the data in memory, and everything that its plan rests on. A tool works here and never on the
//! disk, so that a preview is the run itself, thrown away.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::data::{Data, damaged, id};
use crate::json::{Json, Members};
use crate::kinds::Kind;
use crate::money::Decimal;
use crate::shown::hex;
use crate::text::{digest, quote};
use crate::{invalid, refused};

pub struct Work {
    pub data: Data,
    arguments: Json,
    /// RFC 3339.
    pub now: String,
    /// Names this run; nothing in a preview.
    pub operation: Option<String>,
    /// The records that were looked at or are changed, as they were at first, whatever the order of their members; nothing
    /// for one that this call adds.
    seen: Vec<(&'static str, u64, String)>,
}

/// What a call does, said before and after.
pub struct Change {
    pub summary: String,
    pub details: Json,
    pub warnings: Vec<String>,
    pub message: String,
    pub outcome: Json,
}

/// A record that was found, as it was then.
#[derive(Clone)]
pub struct Record {
    pub id: u64,
    kind: &'static Kind,
    pub json: Json,
}

impl Work {
    pub fn new(data: Data, arguments: Json, now: String, operation: Option<String>) -> Self {
        Self { data, arguments, now, operation, seen: Vec::new() }
    }

    /// The record that an argument names.
    pub fn find(&mut self, kind: &'static Kind, argument: &str) -> Result<Record, ToolError> {
        let id = self.id(argument)?;
        self.look(kind, id).ok_or_else(|| {
            let mut one = kind.one.to_owned();
            if let Some(first) = one.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            refused(format!("{one} not found: there is no {} #{id}; {}", kind.one, kind.look))
        })
    }

    /// A record, if it exists. From here on the plan rests on it.
    pub fn look(&mut self, kind: &'static Kind, id: u64) -> Option<Record> {
        let json = self.data.find(kind, id)?.clone();
        self.note(kind, id, || json.sorted().to_string());
        Some(Record { id, kind, json })
    }

    /// From here on the plan rests on this record as it is now.
    fn note(&mut self, kind: &'static Kind, id: u64, now: impl FnOnce() -> String) {
        if !self.seen.iter().any(|(collection, seen, _)| (*collection, *seen) == (kind.collection, id)) {
            self.seen.push((kind.collection, id, now()));
        }
    }

    /// The records that fit. The plan rests on what it shows of them, and on those that it changes.
    pub fn those(&self, kind: &'static Kind, fits: impl Fn(&Record) -> bool) -> Vec<Record> {
        let records = self.data.records(kind).iter();
        let records = records.filter_map(|json| Some(Record { id: id(json)?, kind, json: json.clone() }));
        records.filter(fits).collect()
    }

    /// Refuses a second record of a name, whatever its capitals: most often it is the same call twice.
    pub fn free(&self, kind: &'static Kind, name: &str) -> Result<(), ToolError> {
        match self.those(kind, |record| record.text("name").to_lowercase() == name.to_lowercase()).first() {
            Some(record) => Err(refused(format!("{} exists already; choose another name", record.named()))),
            None => Ok(()),
        }
    }

    /// Changes members of a record, and the time of its last change.
    pub fn set<const N: usize>(&mut self, record: &Record, members: [(&str, Json); N]) {
        let now = Json::text(self.now.clone());
        self.look(record.kind, record.id);
        if let Some(json) = self.data.find_mut(record.kind, record.id) {
            members.into_iter().for_each(|(name, value)| json.set(name, value));
            json.set("updated_at", now);
        }
    }

    /// Adds an entry to a list within a record.
    pub fn append(&mut self, record: &Record, list: &str, entry: Json) {
        let now = Json::text(self.now.clone());
        self.look(record.kind, record.id);
        if let Some(json) = self.data.find_mut(record.kind, record.id) {
            json.change(list, Json::List(Vec::new()), |list| list.push(entry));
            json.set("updated_at", now);
        }
    }

    /// Removes a record; its id stays taken.
    pub fn remove(&mut self, record: &Record) {
        self.look(record.kind, record.id);
        self.data.remove(record.kind, record.id);
    }

    pub fn add<const N: usize>(
        &mut self,
        kind: &'static Kind,
        members: [(&str, Json); N],
    ) -> Result<Record, ToolError> {
        let mut members: Members = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        for time in ["created_at", "updated_at"] {
            members.push((time.to_owned(), Json::text(self.now.clone())));
        }
        let json = self.data.add(kind, members)?;
        let id = id(&json).unwrap_or_default();
        self.note(kind, id, String::new);
        Ok(Record { id, kind, json })
    }

    pub fn id(&self, argument: &str) -> Result<u64, ToolError> {
        self.arguments.get(argument).and_then(Json::as_whole).ok_or_else(|| invalid(format!("{argument} is missing")))
    }

    pub fn ids(&self, argument: &str) -> Option<Vec<u64>> {
        self.arguments.get(argument).map(|ids| ids.items().iter().filter_map(Json::as_whole).collect())
    }

    pub fn given(&self, argument: &str) -> Option<&str> {
        self.arguments.get(argument).and_then(Json::as_text)
    }

    pub fn text(&self, argument: &str) -> Result<String, ToolError> {
        self.given(argument).map(str::to_owned).ok_or_else(|| invalid(format!("{argument} is missing")))
    }

    pub fn amount(&self, argument: &str) -> Option<Decimal> {
        self.arguments.get(argument).and_then(Decimal::of)
    }

    pub fn money(&self, argument: &str) -> Result<Decimal, ToolError> {
        self.amount(argument).ok_or_else(|| invalid(format!("{argument} is missing")))
    }

    /// An amount as people read it: `$4.50`, `-$4.50`.
    pub fn show(&self, amount: Decimal) -> String {
        let sign = if amount < Decimal::ZERO { "-" } else { "" };
        format!("{sign}{}{}", self.data.currency(), amount.abs())
    }

    /// What the plan rests on: the records that were looked at, and all that it says.
    pub fn precondition(&self, change: &Change) -> String {
        let details = change.details.to_string();
        let said = [change.summary.as_str(), &details].into_iter().chain(change.warnings.iter().map(String::as_str));
        let records = self.seen.iter().flat_map(|(collection, _, record)| [*collection, record]);
        format!("sha256:{}", hex(&digest(records.chain(said))))
    }
}

impl Change {
    /// What a tool that only reads says: the same before and after.
    pub fn reading(sentence: String, details: Json, outcome: Json) -> Self {
        Self { summary: sentence.clone(), details, warnings: Vec::new(), message: sentence, outcome }
    }
}

impl Record {
    /// `offer #12 'Sweepstakes FR Gold'`.
    pub fn named(&self) -> String {
        format!("{} #{} {}", self.kind.one, self.id, self.name())
    }

    pub fn name(&self) -> String {
        quote(self.text("name"))
    }

    pub fn text(&self, member: &str) -> &str {
        self.json.get(member).and_then(Json::as_text).unwrap_or_default()
    }

    pub fn is(&self, member: &str, word: &str) -> bool {
        self.text(member) == word
    }

    pub fn flag(&self, member: &str) -> bool {
        self.json.get(member) == Some(&Json::Bool(true))
    }

    pub fn whole(&self, member: &str) -> u64 {
        self.json.get(member).and_then(Json::as_whole).unwrap_or_default()
    }

    /// The id that a member refers to.
    pub fn refers(&self, member: &str) -> Option<u64> {
        self.json.get(member).and_then(Json::as_whole)
    }

    pub fn ids(&self, member: &str) -> Vec<u64> {
        self.rows(member).iter().filter_map(Json::as_whole).collect()
    }

    pub fn rows(&self, member: &str) -> &[Json] {
        self.json.get(member).map_or(&[], Json::items)
    }

    /// How many entries of a list have this status.
    pub fn with_status(&self, member: &str, status: &str) -> u64 {
        self.rows(member).iter().filter(|row| row.get("status").and_then(Json::as_text) == Some(status)).count() as u64
    }

    pub fn money(&self, member: &str) -> Result<Decimal, ToolError> {
        let amount = self.json.get(member).and_then(Decimal::of);
        amount.ok_or_else(|| damaged(&format!("{}: its member \"{member}\" is not an amount", self.named())))
    }

    /// Some of its members, for details and outcomes: those that it has.
    pub fn brief(&self, members: &[&str]) -> Json {
        let members = members.iter().filter_map(|name| Some(((*name).to_owned(), self.json.get(name)?.clone())));
        Json::Object(members.collect())
    }
}
