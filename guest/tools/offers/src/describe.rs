//! What a tool takes and gives, as one table for both readers: the JSON Schemas that agents see and the check that stands
//! before every tool. Pure.

use crate::bindings::exports::counterfoil::tool::tools::{self as wit, Level, ToolError};
use crate::invalid;
use crate::json::Json;
use crate::work::{Change, Work};

/// Greatest id: what every JSON reader holds exactly.
const MAX_ID: u64 = (1 << 53) - 1;

/// One tool.
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub level: Level,
    pub takes: &'static [Param],
    pub gives: &'static [(&'static str, Shape)],
    /// Does it to the data in memory and says so in both tenses. What becomes of that is not its business.
    pub run: fn(&mut Work) -> Result<Change, ToolError>,
}

/// One argument.
pub struct Param {
    pub name: &'static str,
    pub what: What,
    pub required: bool,
    pub about: &'static str,
}

pub const fn needs(name: &'static str, what: What, about: &'static str) -> Param {
    Param { name, what, required: true, about }
}

pub const fn takes(name: &'static str, what: What, about: &'static str) -> Param {
    Param { name, what, required: false, about }
}

/// What an argument has to be.
#[derive(Clone, Copy)]
pub enum What {
    Id,
    /// A whole number within bounds, both included.
    Whole(u64, u64),
    Choice(&'static [&'static str]),
}

/// What a member of an outcome is.
#[derive(Clone, Copy)]
pub enum Shape {
    Whole,
    Flag,
    /// A record as the data has it.
    Record,
    Records,
}

impl What {
    fn schema(self) -> Vec<(&'static str, Json)> {
        let kind = |kind: &str| ("type", Json::text(kind));
        match self {
            Self::Id => Self::Whole(1, MAX_ID).schema(),
            Self::Whole(least, most) => {
                vec![kind("integer"), ("minimum", Json::whole(least)), ("maximum", Json::whole(most))]
            }
            Self::Choice(words) => {
                vec![kind("string"), ("enum", Json::List(words.iter().map(|word| Json::text(*word)).collect()))]
            }
        }
    }

    /// Whether a value is one, and if not, what it has to be.
    fn check(self, value: &Json) -> Result<(), String> {
        let (fits, wanted) = match self {
            Self::Id => return Self::Whole(1, MAX_ID).check(value),
            Self::Whole(least, most) => (
                value.as_whole().is_some_and(|number| (least..=most).contains(&number)),
                format!("a whole number from {least} to {most}"),
            ),
            Self::Choice(words) => {
                (value.as_text().is_some_and(|text| words.contains(&text)), format!("one of {}", words.join(", ")))
            }
        };
        if fits { Ok(()) } else { Err(wanted) }
    }
}

impl Shape {
    fn schema(self) -> Json {
        let kind = |kind: &str| Json::object([("type", Json::text(kind))]);
        match self {
            Self::Whole => Json::object([("type", Json::text("integer")), ("minimum", Json::whole(0u8))]),
            Self::Flag => kind("boolean"),
            Self::Record => kind("object"),
            Self::Records => Json::object([("type", Json::text("array")), ("items", kind("object"))]),
        }
    }
}

impl Tool {
    pub fn wit(&self) -> wit::Tool {
        wit::Tool {
            name: self.name.to_owned(),
            title: Some(self.title.to_owned()),
            description: self.about.to_owned(),
            input_schema: self.input().to_string(),
            output_schema: Some(self.output().to_string()),
            level: self.level,
            critical: self.level == Level::ApprovalRequired,
        }
    }

    fn input(&self) -> Json {
        let properties = self.takes.iter().map(|param| {
            let mut schema = param.what.schema();
            schema.push(("description", Json::text(param.about)));
            (
                param.name.to_owned(),
                Json::Object(schema.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
            )
        });
        let required = self.takes.iter().filter(|param| param.required).map(|param| Json::text(param.name));
        Json::object([
            ("type", Json::text("object")),
            ("properties", Json::Object(properties.collect())),
            ("required", Json::List(required.collect())),
            ("additionalProperties", Json::Bool(false)),
        ])
    }

    /// Open: members may be added later.
    fn output(&self) -> Json {
        let properties = self.gives.iter().map(|(name, shape)| ((*name).to_owned(), shape.schema()));
        let required = self.gives.iter().map(|(name, _)| Json::text(*name));
        Json::object([
            ("type", Json::text("object")),
            ("properties", Json::Object(properties.collect())),
            ("required", Json::List(required.collect())),
        ])
    }

    /// The arguments, where they are what the schema says. A value is never repeated: it may be a secret.
    pub fn arguments(&self, text: &str) -> Result<Json, ToolError> {
        let arguments = Json::parse(text).map_err(|error| invalid(format!("the arguments are no JSON: {error}")))?;
        let Json::Object(members) = &arguments else { return Err(invalid("the arguments are not an object")) };
        for (name, value) in members {
            let param = self.takes.iter().find(|param| param.name == name);
            let param = param.ok_or_else(|| {
                invalid(format!("{} takes no argument of that name; it takes {}", self.name, self.names()))
            })?;
            param.what.check(value).map_err(|wanted| invalid(format!("{name} has to be {wanted}")))?;
        }
        match self.takes.iter().find(|param| param.required && arguments.get(param.name).is_none()) {
            Some(missing) => Err(invalid(format!("{} is missing", missing.name))),
            None => Ok(arguments),
        }
    }

    fn names(&self) -> String {
        self.takes.iter().map(|param| param.name).collect::<Vec<_>>().join(", ")
    }
}
