//! A clock and randomness that are fixed, as they are written.

use super::file::At;
use crate::plugin::Fixed;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::time::SystemTime;

/// For runs that have to come out the same. What is fixed is no source of keys.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FixedTable {
    /// The time of day, always, such as "2026-01-01T00:00:00Z". Default: the clock goes.
    clock: Option<At<Instant>>,
    /// The number from which all randomness comes. Default: the system's.
    random: Option<At<u64>>,
}

impl From<&FixedTable> for Fixed {
    fn from(table: &FixedTable) -> Self {
        Self {
            clock: table.clock.as_ref().map(|clock| clock.value().0),
            random: table.random.as_ref().map(|random| *random.value()),
        }
    }
}

/// A moment (RFC 3339), in UTC.
#[derive(Clone, Copy)]
pub(super) struct Instant(SystemTime);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl de::Visitor<'_> for Reader {
            type Value = Instant;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a moment in quotes, such as \"2026-01-01T00:00:00Z\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Instant, E> {
                humantime::parse_rfc3339(text).map(Instant).map_err(|_| {
                    E::custom(format!("{text:?} is no moment: write for instance \"2026-01-01T00:00:00Z\""))
                })
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Instant {
    fn schema_name() -> Cow<'static, str> {
        "moment".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time", "description": "A moment, in UTC.", "examples": ["2026-01-01T00:00:00Z"] })
    }
}
