//! What an argument can be: as JSON Schema for agents and the host, and as the check that stands before every tool. Pure.

use crate::json::Json;
use crate::money::Decimal;
use std::collections::BTreeSet;

/// Greatest id: what every JSON reader holds exactly.
pub const MAX_ID: u64 = (1 << 53) - 1;

/// What an argument has to be.
#[derive(Clone, Copy)]
pub enum What {
    Id,
    /// Between one and so many ids, none of them twice.
    Ids(u64),
    /// A whole number within bounds, both included.
    Whole(u64, u64),
    /// At least one visible character and at most so many, none of them a control character.
    Line(usize),
    /// Any text up to a length.
    Body(usize),
    Email,
    Host,
    Url,
    Choice(&'static [&'static str]),
    /// An amount of money, zero or more.
    Money,
    /// The same, and more than zero.
    Price,
    /// The same, and in whole cents.
    Cash,
    /// A percentage by which amounts change: above -100 and not 0.
    Percent,
    /// A password: shown nowhere, kept nowhere as it is.
    Password,
}

/// Greatest amount of money that an argument may be. The same for a double and for us.
const MAX_MONEY: u64 = 1_000_000_000;
/// Greatest change in percent.
const MAX_PERCENT: u64 = 1_000;
/// A shorter password could be found from what is kept of it.
const PASSWORD: (usize, usize) = (8, 256);
const MAX_EMAIL: usize = 254;
const MAX_HOST: usize = 253;
const MAX_URL: usize = 2_000;

const LINE: &str = r"^[^\u0000-\u001f\u007f]*[^\s\u0000-\u001f\u007f][^\u0000-\u001f\u007f]*$";
const EMAIL: &str = r"^[A-Za-z0-9._%+'-]{1,64}@([A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z0-9-]{1,63}$";
const HOST: &str = r"^([A-Za-z0-9-]{1,63}\.){0,8}[A-Za-z0-9-]{1,63}$";
const URL: &str = r"^https?://[!-~]+$";
const MONEY: &str = r"^[0-9]{1,10}(\.[0-9]{1,6})?$";
const CASH: &str = r"^[0-9]{1,10}(\.[0-9]{1,2})?$";
const PERCENT: &str = r"^-?[0-9]{1,4}(\.[0-9]{1,2})?$";

pub type Schema = Vec<(&'static str, Json)>;

impl What {
    pub fn schema(self) -> Schema {
        let kind = |kind: &str| ("type", Json::text(kind));
        let either = || ("type", Json::List(vec![Json::text("number"), Json::text("string")]));
        let number = |name: &'static str, number: u64| (name, Json::whole(number));
        let length = |name: &'static str, length: usize| (name, Json::whole(length as u64));
        let pattern = |pattern: &str| ("pattern", Json::text(pattern));
        let line = |most, form| vec![kind("string"), length("minLength", 1), length("maxLength", most), pattern(form)];
        match self {
            Self::Id => Self::Whole(1, MAX_ID).schema(),
            Self::Ids(most) => vec![
                kind("array"),
                ("items", object(Self::Id.schema())),
                number("minItems", 1),
                number("maxItems", most),
                ("uniqueItems", Json::Bool(true)),
            ],
            Self::Whole(least, most) => vec![kind("integer"), number("minimum", least), number("maximum", most)],
            Self::Line(most) => line(most, LINE),
            Self::Body(most) => vec![kind("string"), length("minLength", 1), length("maxLength", most)],
            Self::Email => line(MAX_EMAIL, EMAIL),
            Self::Host => line(MAX_HOST, HOST),
            Self::Url => line(MAX_URL, URL),
            Self::Choice(words) => {
                vec![kind("string"), ("enum", Json::List(words.iter().map(|word| Json::text(*word)).collect()))]
            }
            Self::Money => vec![either(), number("minimum", 0), number("maximum", MAX_MONEY), pattern(MONEY)],
            Self::Price => Self::above_zero(MONEY),
            Self::Cash => Self::above_zero(CASH),
            Self::Percent => vec![
                either(),
                ("exclusiveMinimum", Json::Number("-100".to_owned())),
                number("maximum", MAX_PERCENT),
                pattern(PERCENT),
            ],
            Self::Password => vec![
                kind("string"),
                length("minLength", PASSWORD.0),
                length("maxLength", PASSWORD.1),
                ("format", Json::text("password")),
                ("writeOnly", Json::Bool(true)),
            ],
        }
    }

    fn above_zero(pattern: &str) -> Schema {
        vec![
            ("type", Json::List(vec![Json::text("number"), Json::text("string")])),
            ("exclusiveMinimum", Json::whole(0u8)),
            ("maximum", Json::whole(MAX_MONEY)),
            ("pattern", Json::text(pattern)),
        ]
    }

    /// Whether a value is one, and if not, what it has to be. At least as strict as the schema.
    pub fn check(self, value: &Json) -> Result<(), String> {
        let text = value.as_text();
        let amount = || Decimal::of(value);
        let (fits, wanted) = match self {
            Self::Id => return Self::Whole(1, MAX_ID).check(value),
            Self::Ids(most) => {
                let ids: BTreeSet<u64> = value.items().iter().filter_map(Json::as_whole).collect();
                let valid = ids.iter().all(|id| (1..=MAX_ID).contains(id)) && ids.len() == value.items().len();
                (valid && (1..=most).contains(&(ids.len() as u64)), format!("a list of 1 to {most} different ids"))
            }
            Self::Whole(least, most) => (
                value.as_whole().is_some_and(|number| (least..=most).contains(&number)),
                format!("a whole number from {least} to {most}"),
            ),
            Self::Line(most) => (
                text.is_some_and(|text| is_line(text, most) && !text.trim().is_empty()),
                format!("a text of 1 to {most} characters on one line"),
            ),
            Self::Body(most) => (
                text.is_some_and(|text| (1..=most).contains(&text.chars().count())),
                format!("a text of 1 to {most} characters"),
            ),
            Self::Email => (text.is_some_and(is_email), "an email address such as anna@example.com".to_owned()),
            Self::Host => (text.is_some_and(is_host), "the name of a host such as smtp.example.com".to_owned()),
            Self::Url => (text.is_some_and(is_url), "an address that begins with https:// or http://".to_owned()),
            Self::Choice(words) => {
                (text.is_some_and(|text| words.contains(&text)), format!("one of {}", words.join(", ")))
            }
            Self::Money => (
                amount().is_some_and(|amount| (Decimal::ZERO..=Decimal::whole(MAX_MONEY)).contains(&amount)),
                format!("an amount from 0 to {MAX_MONEY} with at most six decimals"),
            ),
            Self::Price => (
                amount().is_some_and(is_price),
                format!("an amount above 0 and up to {MAX_MONEY} with at most six decimals"),
            ),
            Self::Cash => (
                amount().is_some_and(|amount| is_price(amount) && amount.is_whole_cents()),
                format!("an amount above 0 and up to {MAX_MONEY} with at most two decimals"),
            ),
            Self::Percent => (
                amount().is_some_and(|percent| {
                    percent != Decimal::ZERO
                        && percent.plus(Decimal::whole(100)).is_positive()
                        && percent <= Decimal::whole(MAX_PERCENT)
                        && percent.is_whole_cents()
                }),
                format!("a percentage above -100, up to {MAX_PERCENT}, with at most two decimals and not 0"),
            ),
            Self::Password => (
                text.is_some_and(|text| (PASSWORD.0..=PASSWORD.1).contains(&text.chars().count())),
                format!("a text of {} to {} characters", PASSWORD.0, PASSWORD.1),
            ),
        };
        if fits { Ok(()) } else { Err(wanted) }
    }
}

fn is_price(amount: Decimal) -> bool {
    amount.is_positive() && amount <= Decimal::whole(MAX_MONEY)
}

fn is_line(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.chars().count()) && !text.chars().any(|c| c.is_ascii_control())
}

fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= MAX_HOST && text.split('.').count() <= 9 && text.split('.').all(label)
}

fn is_email(text: &str) -> bool {
    let local = |byte: u8| byte.is_ascii_alphanumeric() || b"._%+'-".contains(&byte);
    text.len() <= MAX_EMAIL
        && text.split_once('@').is_some_and(|(name, host)| {
            (1..=64).contains(&name.len()) && name.bytes().all(local) && host.contains('.') && is_host(host)
        })
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    text.len() <= MAX_URL
        && rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic()))
}

pub fn object(schema: Schema) -> Json {
    Json::Object(schema.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
