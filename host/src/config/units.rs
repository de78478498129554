//! The words that a configuration measures with: lengths of time, sizes, counts and levels. Zero is none of them.

use crate::Level;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// The longest length of time that is accepted: none that a person means is longer.
const LONGEST: Duration = Duration::from_hours(366 * 24);

/// A length of time such as `"5m"` or `"1m 30s"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length(pub Duration);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Length;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a length of time in quotes, such as \"30s\" or \"5m\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Length, E> {
                let length = humantime::parse_duration(text).map_err(|_| {
                    E::custom(format!("{text:?} is no length of time: write for instance \"30s\" or \"5m\""))
                })?;
                if length.is_zero() {
                    return Err(E::custom("a limit cannot be zero: leave the line out for the default"));
                }
                if length > LONGEST {
                    return Err(E::custom("longer than a year: write a shorter time"));
                }
                if length.subsec_nanos() % 1_000_000 != 0 {
                    return Err(E::custom("finer than a millisecond: write whole milliseconds, such as \"1500ms\""));
                }
                Ok(Length(length))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Length {
    fn schema_name() -> Cow<'static, str> {
        "length".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A length of time above zero.", "examples": ["1500ms", "30s", "5m", "1h 30m"] })
    }
}

/// A number of bytes: `65536`, `"64 KiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(pub u64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of bytes such as 65536 or \"64 KiB\"")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Size, E> {
                let bytes = u64::try_from(value).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))?;
                if bytes == 0 {
                    return Err(E::custom("a limit cannot be zero: leave the line out for the default"));
                }
                Ok(Size(bytes))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                let digits = text.bytes().take_while(u8::is_ascii_digit).count();
                let (count, unit) = text.split_at(digits);
                let factor = match unit.trim_start() {
                    "" | "B" => 1_i64,
                    "KiB" => 1 << 10,
                    "MiB" => 1 << 20,
                    "GiB" => 1 << 30,
                    _ => {
                        return Err(E::custom(format!(
                            "{text:?} is no size: write a number with B, KiB, MiB or GiB, such as \"64 KiB\""
                        )));
                    }
                };
                let bytes = count.parse::<i64>().ok().and_then(|count| count.checked_mul(factor));
                self.visit_i64(
                    bytes.ok_or_else(|| E::custom(format!("{text:?} is no size: write for instance \"64 KiB\"")))?,
                )
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "size".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of bytes above zero, or one with a unit.",
            "oneOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": "^[0-9]+ *(B|KiB|MiB|GiB)?$" }],
            "examples": [65536, "64 KiB", "256 MiB"]
        })
    }
}

/// How many, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count(pub u32);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = i64::deserialize(deserializer)?;
        match u32::try_from(value) {
            Ok(0) => Err(de::Error::custom("a limit cannot be zero: leave the line out for the default")),
            Ok(count) => Ok(Self(count)),
            Err(_) => Err(de::Error::custom(format!("{value} is out of range: write a number from 1 to {}", u32::MAX))),
        }
    }
}

impl JsonSchema for Count {
    fn schema_name() -> Cow<'static, str> {
        "count".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }
}

/// A level by name or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelWord(pub Level);

impl<'de> Deserialize<'de> for LevelWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a level: safe, caution, review, approval_required or 0 to 3";
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = LevelWord;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<LevelWord, E> {
                let level = Level::ALL.into_iter().find(|level| i64::from(level.number()) == value);
                level.map(LevelWord).ok_or_else(|| E::custom(format!("{value} is not {EXPECTED}")))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LevelWord, E> {
                let level = Level::ALL.into_iter().find(|level| level.name() == text);
                level.map(LevelWord).ok_or_else(|| E::custom(format!("{text:?} is not {EXPECTED}")))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for LevelWord {
    fn schema_name() -> Cow<'static, str> {
        "level".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How dangerous a tool is, by name or number. Raises what the tool declares, never lowers it.",
            "enum": ["safe", "caution", "review", "approval_required", 0, 1, 2, 3]
        })
    }
}
