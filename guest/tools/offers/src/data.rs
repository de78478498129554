//! The data file: read whole, believed only once it has been checked. Nothing here runs before `load` found every known
//! member of every record to be what its kind asks for.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::json::Json;
use crate::{failed_before, refused};
use std::fs;
use std::io::ErrorKind;

/// The data, below the directory that the operator grants as `/data`.
pub const PATH: &str = "/data/offers.json";

/// Largest data file. Each call reads it whole.
pub const MAX_BYTES: u64 = 4 << 20;

/// The version of the layout that this code knows.
const FORMAT: u64 = 1;

/// What the data holds and how it is called: collection, one of it, and how an agent finds one that exists.
pub struct Kind {
    pub collection: &'static str,
    pub one: &'static str,
    pub look: &'static str,
}

pub const OFFERS: Kind = Kind { collection: "offers", one: "offer", look: "list_offers shows those that exist" };
pub const CAMPAIGNS: Kind =
    Kind { collection: "campaigns", one: "campaign", look: "list_campaigns shows those that exist" };

#[derive(Clone, Debug)]
pub struct Data {
    root: Json,
}

impl Data {
    pub fn load() -> Result<Self, ToolError> {
        let cannot = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => refused(format!(
                "there is no {PATH}: the operator grants a directory as /data that has a file offers.json; a sample is in \
                 guest/tools/offers/sample of Counterfoil's sources"
            )),
            ErrorKind::PermissionDenied => {
                refused(format!("{PATH} may not be read: the operator looks at its permissions"))
            }
            _ => failed_before(format!("{PATH} cannot be read: {error}")),
        };
        let size = fs::metadata(PATH).map_err(cannot)?.len();
        if size > MAX_BYTES {
            return Err(refused(format!(
                "{PATH} has {size} bytes, and more than {MAX_BYTES} are not read: the operator makes it smaller"
            )));
        }
        let bytes = fs::read(PATH).map_err(cannot)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| damaged(&error.to_string()))?;
        Self::parse(text)
    }

    pub fn parse(text: &str) -> Result<Self, ToolError> {
        let root = Json::parse(text).map_err(|error| damaged(&error))?;
        if root.get("format").and_then(Json::as_whole) != Some(FORMAT) {
            return Err(damaged(&format!("its member \"format\" is not {FORMAT}")));
        }
        Ok(Self { root })
    }

    pub fn records(&self, kind: &Kind) -> &[Json] {
        self.root.get(kind.collection).map_or(&[], Json::items)
    }

    pub fn find(&self, kind: &Kind, id: u64) -> Result<&Json, ToolError> {
        self.records(kind).iter().find(|record| record.get("id").and_then(Json::as_whole) == Some(id)).ok_or_else(
            || {
                let mut one = kind.one.to_owned();
                if let Some(first) = one.get_mut(..1) {
                    first.make_ascii_uppercase();
                }
                refused(format!("{one} not found: there is no {} #{id}; {}", kind.one, kind.look))
            },
        )
    }
}

fn damaged(what: &str) -> ToolError {
    refused(format!(
        "{PATH} is damaged and nothing is done with it: {what}; the operator repairs it or puts back a copy"
    ))
}
