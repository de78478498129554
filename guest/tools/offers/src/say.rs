//! How a change is told, where several tools tell the same kind: an amount that becomes another, something that is deleted.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::json::Json;
use crate::money::Decimal;
use crate::refused;
use crate::work::{Change, Record, Work};

/// One amount of one record becoming another.
pub struct Amount {
    pub old: Decimal,
    pub new: Decimal,
    /// `from $4.50 to $6.20 (+37.8%)`.
    pub words: String,
    pub delta: Json,
    pub warnings: Vec<String>,
}

impl Amount {
    /// Refuses what changes nothing.
    pub fn of(work: &Work, what: &str, old: Decimal, new: Decimal) -> Result<Self, ToolError> {
        let (from, to) = (work.show(old), work.show(new));
        if old == new {
            return Err(refused(format!("the {what} is {from} already")));
        }
        let delta = old.change_to(new);
        let percent = delta.map_or_else(|| "no percentage, since it was zero".to_owned(), |delta| delta.to_string());
        let mut warnings = Vec::new();
        if old.is_positive() && new > old.plus(old) {
            warnings.push(format!("The {what} more than doubles."));
        } else if new == Decimal::ZERO {
            warnings.push(format!("The {what} becomes zero."));
        } else if new.plus(new) < old {
            warnings.push(format!("The {what} falls by more than half."));
        }
        let delta = delta.map_or(Json::Null, |delta| delta.json());
        Ok(Self { old, new, words: format!("from {from} to {to} ({percent})"), delta, warnings })
    }
}

/// Something is deleted: in its summary what goes with it, in its details the same.
pub fn deletion<const N: usize>(
    work: &Work,
    record: &Record,
    facts: &[String],
    details: [(&str, Json); N],
    warnings: Vec<String>,
) -> Change {
    let facts = if facts.is_empty() { String::new() } else { format!(" — {}", facts.join(", ")) };
    let named = record.named();
    let deleted = Json::object([
        ("id", Json::whole(record.id)),
        ("name", Json::text(record.text("name"))),
        ("deleted_at", Json::text(work.now.clone())),
    ]);
    Change {
        summary: format!("Will delete {named}{facts}"),
        details: Json::object(details),
        warnings,
        message: format!("Deleted {named}"),
        outcome: Json::object([("deleted", deleted)]),
    }
}

/// For details: all of them.
pub fn ids(records: &[Record]) -> Json {
    Json::List(records.iter().map(|record| Json::whole(record.id)).collect())
}

/// A list of names for a sentence: the first three, and how many others.
pub fn names(records: &[Record]) -> String {
    let mut names: Vec<String> =
        records.iter().take(3).map(|record| format!("#{} {}", record.id, record.name())).collect();
    if records.len() > names.len() {
        names.push(format!("{} more", records.len() - names.len()));
    }
    names.join(", ")
}
