//! The words that a configuration measures with: lengths of time, sizes, counts and levels. Zero is none of them.

use crate::Level;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// The longest length of time that is accepted: none that a person means is longer.
const LONGEST: Duration = Duration::from_hours(366 * 24);
const TOO_LONG: &str = "longer than a year: write a shorter time";

/// The words for each unit of time and its milliseconds, the longest first. No month and no year, which differ in length: and
/// with `M` for a month, one capital letter would make it of a minute.
const UNITS: [(&[&str], u64); 6] = [
    (&["w", "week", "weeks"], 7 * 24 * 3_600_000),
    (&["d", "day", "days"], 24 * 3_600_000),
    (&["h", "hour", "hours"], 3_600_000),
    (&["m", "min", "minute", "minutes"], 60_000),
    (&["s", "sec", "second", "seconds"], 1000),
    (&["ms"], 1),
];

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
                let length = length(text).map_err(E::custom)?;
                if length.is_zero() {
                    return Err(E::custom("a limit cannot be zero: leave the line out for the default"));
                }
                if length > LONGEST {
                    return Err(E::custom(TOO_LONG));
                }
                Ok(Length(length))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// Whole numbers with their units, from the longest unit to the shortest, each once: what is left out or put in by mistake
/// makes no other length of it.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no length of time: write for instance \"30s\", \"5m\" or \"1h 30m\"");
    let (mut millis, mut rest, mut units) = (Some(0_u64), text, UNITS.iter());
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = rest.split_at(digits);
        let behind = behind.trim_start_matches(' ');
        let letters = behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len());
        let (unit, after) = behind.split_at(letters);
        if number.is_empty() {
            return Err(wrong());
        }
        let Some((_, factor)) = units.find(|(words, _)| words.contains(&unit)) else {
            return Err(match unit {
                "M" | "month" | "months" | "y" | "year" | "years" => {
                    format!(
                        "{text:?} counts months or years, which differ in length: write days (\"30d\"), or m for minutes"
                    )
                }
                "us" | "µs" | "ns" => {
                    "finer than a millisecond: write whole milliseconds, such as \"1500ms\"".to_owned()
                }
                _ => wrong(),
            });
        };
        let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor));
        millis = millis.zip(part).and_then(|(millis, part)| millis.checked_add(part));
        rest = after.trim_start_matches(' ');
        if rest.is_empty() {
            return millis.map(Duration::from_millis).ok_or_else(|| TOO_LONG.to_owned());
        }
    }
}

impl JsonSchema for Length {
    fn schema_name() -> Cow<'static, str> {
        "length".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A length of time above zero: whole numbers with w, d, h, m, s or ms, from the longest unit to the shortest.", "examples": ["1500ms", "30s", "5m", "1h 30m"] })
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
                let bytes = u64::try_from(value)
                    .map_err(|_| E::custom("a size is above zero: write for instance \"64 KiB\""))?;
                if bytes == 0 {
                    return Err(E::custom("a limit cannot be zero: leave the line out for the default"));
                }
                Ok(Size(bytes))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                let digits = text.bytes().take_while(u8::is_ascii_digit).count();
                let (count, unit) = text.split_at(digits);
                let factor = match unit.trim_start_matches(' ') {
                    "" if !count.is_empty() => {
                        return Err(E::custom(format!(
                            "{text:?} has no unit: write \"{count} MiB\", \"{count} KiB\", or \"{count} B\" for bytes"
                        )));
                    }
                    "B" => 1_i64,
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
            "oneOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": "^[0-9]+ *(B|KiB|MiB|GiB)$" }],
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
                level.map(LevelWord).ok_or_else(|| {
                    match Level::ALL.iter().any(|level| level.number().to_string() == text) {
                        true => E::custom(format!("a level by its number has no quotes: write {text}")),
                        false => E::custom(format!("{text:?} is not {EXPECTED}")),
                    }
                })
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
