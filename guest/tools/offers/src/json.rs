//! JSON that keeps what it reads: the order of members, every digit of a number, members that nobody here knows. Numbers
//! never pass through floating point.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Deepest nesting: the data has four levels of its own.
const MAX_DEPTH: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it was written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Members),
}

/// In the order in which they were written.
pub type Members = Vec<(String, Json)>;

/// The members of one object, each still as text. A name given twice is an error.
struct Raw<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Raw<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(String, &RawValue)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((name, value));
                }
                let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                match names.windows(2).find(|pair| pair.first() == pair.last()).and_then(<[_]>::first) {
                    Some(name) => Err(A::Error::custom(format!("the member {name:?} is there twice"))),
                    None => Ok(Raw(members)),
                }
            }
        }
        deserializer.deserialize_map(Names)
    }
}

impl Json {
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Self::of(raw, MAX_DEPTH)
    }

    fn of(raw: &RawValue, depth: usize) -> Result<Self, String> {
        let text = raw.get().trim();
        let below = || depth.checked_sub(1).ok_or_else(|| format!("it is nested deeper than {MAX_DEPTH} levels"));
        let inner = |error: serde_json::Error| error.to_string();
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let (below, Raw(members)) = (below()?, serde_json::from_str(text).map_err(inner)?);
                let members = members.into_iter().map(|(name, raw)| Ok((name, Self::of(raw, below)?)));
                Self::Object(members.collect::<Result<_, String>>()?)
            }
            Some(b'[') => {
                let (below, items) = (below()?, serde_json::from_str::<Vec<&RawValue>>(text).map_err(inner)?);
                Self::List(items.into_iter().map(|raw| Self::of(raw, below)).collect::<Result<_, _>>()?)
            }
            Some(b'"') => Self::Text(serde_json::from_str(text).map_err(inner)?),
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'n') => Self::Null,
            _ => Self::Number(text.to_owned()),
        })
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn whole(number: impl Into<u64>) -> Self {
        Self::Number(number.into().to_string())
    }

    pub fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A member of an object; nothing of anything else.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(other, _)| other == name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number that is written as one: `12`, not `12.0`.
    pub fn as_whole(&self) -> Option<u64> {
        match self {
            Self::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Replaces a member where it stands, or adds it at the end. Anything but an object stays as it is.
    pub fn set(&mut self, name: &str, value: Self) {
        self.change(name, Self::Null, |member| *member = value);
    }

    /// Changes a member, or what is added at the end where it is missing. Anything but an object stays as it is.
    pub fn change(&mut self, name: &str, missing: Self, change: impl FnOnce(&mut Self)) {
        let Self::Object(members) = self else { return };
        match members.iter_mut().find(|(other, _)| other == name) {
            Some((_, value)) => change(value),
            None => {
                let mut value = missing;
                change(&mut value);
                members.push((name.to_owned(), value));
            }
        }
    }

    pub fn push(&mut self, item: Self) {
        if let Self::List(items) = self {
            items.push(item);
        }
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => members.iter_mut().find(|(other, _)| other == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The same with every object's members by name: what two texts that say the same have in common.
    pub fn sorted(&self) -> Self {
        match self {
            Self::List(items) => Self::List(items.iter().map(Self::sorted).collect()),
            Self::Object(members) => {
                let mut members: Members = members.iter().map(|(name, value)| (name.clone(), value.sorted())).collect();
                members.sort_by(|one, other| one.0.cmp(&other.0));
                Self::Object(members)
            }
            other => other.clone(),
        }
    }

    fn write(&self, out: &mut String, indent: Option<usize>) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Self::Number(text) => out.push_str(text),
            Self::Text(text) => out.push_str(&quoted(text)),
            Self::List(items) => {
                let items = items.iter().map(|item| (None, item));
                enclose(out, ['[', ']'], items, indent);
            }
            Self::Object(members) => {
                let members = members.iter().map(|(name, value)| (Some(name.as_str()), value));
                enclose(out, ['{', '}'], members, indent);
            }
        }
    }

    /// For people: a member a line.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out.push('\n');
        out
    }
}

/// Without white space.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out, None);
        f.write_str(&out)
    }
}

fn enclose<'a>(
    out: &mut String,
    [open, close]: [char; 2],
    inner: impl ExactSizeIterator<Item = (Option<&'a str>, &'a Json)>,
    indent: Option<usize>,
) {
    let (empty, deeper) = (inner.len() == 0, indent.map(|indent| indent + 2));
    let line = |out: &mut String, indent: Option<usize>| {
        if let Some(indent) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
        }
    };
    out.push(open);
    for (at, (name, value)) in inner.enumerate() {
        if at > 0 {
            out.push(',');
        }
        line(out, deeper);
        if let Some(name) = name {
            out.push_str(&quoted(name));
            out.push_str(if indent.is_some() { ": " } else { ":" });
        }
        value.write(out, deeper);
    }
    if !empty {
        line(out, indent);
    }
    out.push(close);
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn order_digits_and_unknown_members_survive() {
        for text in [
            r#"{"z":1,"a":[0.10,1e400,-0,123456789012345678901234567890,{}],"m":{"é\"\\\n":null},"t":[true,false,[]]}"#,
            "[]",
            "\"\"",
            "6.20",
        ] {
            let json = Json::parse(text).unwrap();
            assert_eq!(json.to_string(), text);
            assert_eq!(Json::parse(&json.pretty()).unwrap(), json);
        }
    }

    #[test]
    fn a_member_a_line_for_people() {
        let json = Json::parse(r#"{"a":[1,{}],"b":{"c":"d"}}"#).unwrap();
        let expected = "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n    \"c\": \"d\"\n  }\n}\n";
        assert_eq!(json.pretty(), expected);
    }

    #[test]
    fn order_is_no_difference_once_it_is_sorted() {
        let sorted = |text: &str| Json::parse(text).unwrap().sorted().to_string();
        assert_eq!(sorted(r#"{"b":[{"z":1,"y":2}],"a":null}"#), r#"{"a":null,"b":[{"y":2,"z":1}]}"#);
    }

    #[test]
    fn what_is_no_json_or_says_two_things_is_an_error() {
        for text in ["", "{", "{} x", r#"{"a":1,"a":2}"#, r#"{"b":[{"a":1,"\u0061":2}]}"#, "nul", "01", "\u{feff}{}"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Json::parse(&deep(MAX_DEPTH)).is_ok() && Json::parse(&deep(MAX_DEPTH + 1)).is_err());
        assert!(Json::parse(&deep(100_000)).is_err());
    }
}
