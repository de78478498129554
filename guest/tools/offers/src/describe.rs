//! What a tool takes and gives, as one table for both readers: the JSON Schemas that agents see and the check that stands
//! before every tool. Pure.

use crate::bindings::exports::counterfoil::tool::tools::{self as wit, Level, ToolError};
use crate::invalid;
use crate::json::Json;
pub use crate::what::What;
use crate::what::object;
use crate::work::{Change, Work};

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

/// What a member of an outcome is.
#[derive(Clone, Copy)]
pub enum Shape {
    Text,
    Whole,
    Flag,
    /// A text that is a decimal.
    Money,
    /// A record as the data has it.
    Record,
    Records,
    Object(&'static [(&'static str, Shape)]),
    List(&'static Shape),
}

/// What the tools that delete tell afterwards.
pub const DELETED: &[(&str, Shape)] =
    &[("deleted", Shape::Object(&[("id", Shape::Whole), ("name", Shape::Text), ("deleted_at", Shape::Text)]))];

impl Shape {
    fn schema(self) -> Json {
        let kind = |kind: &str| Json::object([("type", Json::text(kind))]);
        match self {
            Self::Whole => Json::object([("type", Json::text("integer")), ("minimum", Json::whole(0u8))]),
            Self::Text => kind("string"),
            Self::Flag => kind("boolean"),
            Self::Money => {
                Json::object([("type", Json::text("string")), ("pattern", Json::text(r"^-?[0-9]+(\.[0-9]+)?$"))])
            }
            Self::Record => kind("object"),
            Self::Records => Self::List(&Self::Record).schema(),
            Self::Object(members) => open(members),
            Self::List(item) => Json::object([("type", Json::text("array")), ("items", item.schema())]),
        }
    }
}

/// Members may be added later.
fn open(members: &[(&str, Shape)]) -> Json {
    let properties = members.iter().map(|(name, shape)| ((*name).to_owned(), shape.schema()));
    let required = members.iter().map(|(name, _)| Json::text(*name));
    Json::object([
        ("type", Json::text("object")),
        ("properties", Json::Object(properties.collect())),
        ("required", Json::List(required.collect())),
    ])
}

impl Tool {
    pub fn wit(&self) -> wit::Tool {
        wit::Tool {
            name: self.name.to_owned(),
            title: Some(self.title.to_owned()),
            description: self.about.to_owned(),
            input_schema: self.input().to_string(),
            output_schema: Some(open(self.gives).to_string()),
            level: self.level,
            critical: self.level == Level::ApprovalRequired,
        }
    }

    fn input(&self) -> Json {
        let properties = self.takes.iter().map(|param| {
            let mut schema = param.what.schema();
            schema.push(("description", Json::text(param.about)));
            (param.name.to_owned(), object(schema))
        });
        let required = self.takes.iter().filter(|param| param.required).map(|param| Json::text(param.name));
        Json::object([
            ("type", Json::text("object")),
            ("properties", Json::Object(properties.collect())),
            ("required", Json::List(required.collect())),
            ("additionalProperties", Json::Bool(false)),
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
