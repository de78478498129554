//! One call: its arguments, the data, and what the tool says about it.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::data::{Data, Kind};
use crate::invalid;
use crate::json::Json;

/// What a tool works on.
pub struct Work {
    pub data: Data,
    arguments: Json,
}

/// What a call does, said before and after.
pub struct Change {
    pub summary: String,
    pub details: Json,
    pub warnings: Vec<String>,
    pub message: String,
    pub outcome: Json,
}

impl Work {
    pub fn new(data: Data, arguments: Json) -> Self {
        Self { data, arguments }
    }

    pub fn find(&self, kind: &Kind, name: &str) -> Result<&Json, ToolError> {
        self.data.find(kind, self.whole(name)?)
    }

    pub fn whole(&self, name: &str) -> Result<u64, ToolError> {
        self.arguments.get(name).and_then(Json::as_whole).ok_or_else(|| invalid(format!("{name} is missing")))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Json::as_text)
    }
}

impl Change {
    /// What a tool that only reads says: the same before and after.
    pub fn reading(sentence: String, outcome: Json, details: Json) -> Self {
        Self { summary: sentence.clone(), details, warnings: Vec::new(), message: sentence, outcome }
    }
}
