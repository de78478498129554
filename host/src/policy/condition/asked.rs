//! What a condition asks of the owner and of the tool's name with a text that it has itself, and whether it can ever be so. A
//! question with a typing error is never true, and a rule that denies would then deny nothing.

use super::check::{literal, matches};
use crate::Owner;
use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};
use regex_syntax::hir::Look;
use regex_syntax::hir::literal::Extractor;
use std::fmt;

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Whom it is about.
    pub(crate) of: Of,
    how: How,
    text: String,
}

/// What the program's owners come from.
#[cfg(feature = "program")]
pub(crate) const OWN: &[&str] = &["os", "name"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Owner,
    Tool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Is,
    Begins,
    Ends,
    Contains,
    Matches,
    Below,
    AtMost,
    Above,
    AtLeast,
    /// The text begins, ends with it, or contains it.
    IsBeginning,
    IsEnd,
    IsPart,
}

/// The questions of one call; the names of loops are never `owner` or `tool`.
pub(super) fn asked(call: &CallExpr) -> Vec<Asked> {
    let on = call.target.as_deref().into_iter().chain(&call.args).collect::<Vec<_>>();
    let [one, other] = on.as_slice() else { return Vec::new() };
    let (forth, back) = match call.func_name.as_str() {
        operators::EQUALS | operators::NOT_EQUALS => (How::Is, Some(How::Is)),
        operators::IN => (How::Is, None),
        operators::LESS => (How::Below, Some(How::Above)),
        operators::LESS_EQUALS => (How::AtMost, Some(How::AtLeast)),
        operators::GREATER => (How::Above, Some(How::Below)),
        operators::GREATER_EQUALS => (How::AtLeast, Some(How::AtMost)),
        "startsWith" => (How::Begins, Some(How::IsBeginning)),
        "endsWith" => (How::Ends, Some(How::IsEnd)),
        "contains" => (How::Contains, Some(How::IsPart)),
        "matches" => (How::Matches, None),
        _ => return Vec::new(),
    };
    let mut all = Vec::new();
    for (name, with, how) in [(one, other, Some(forth)), (other, one, back)] {
        let (Some(of), Some(how)) = (of(name), how) else { continue };
        let texts = match &with.expr {
            Expr::List(list) if how == How::Is => list.elements.iter().collect(),
            _ => vec![*with],
        };
        all.extend(texts.into_iter().filter_map(|text| match &text.expr {
            Expr::Literal(LiteralValue::String(text)) => Some(Asked { of, how, text: text.inner().to_owned() }),
            _ => None,
        }));
    }
    all
}

/// Owner or tool, as they are or through what leaves a text as it is.
fn of(expression: &IdedExpr) -> Option<Of> {
    match &expression.expr {
        Expr::Ident(name) => match name.as_str() {
            "owner" => Some(Of::Owner),
            "tool" => Some(Of::Tool),
            _ => None,
        },
        Expr::Call(call) if matches!(call.func_name.as_str(), "string" | "dyn") => {
            of(call.target.as_deref().or(call.args.first())?)
        }
        _ => None,
    }
}

impl Asked {
    /// The text that it has to be, where it is asked for one.
    pub(crate) fn whole(&self) -> Option<&str> {
        (self.how == How::Is).then_some(&*self.text)
    }

    /// Whether it is true of this name.
    pub(crate) fn holds(&self, name: &str) -> bool {
        let text = &*self.text;
        match self.how {
            How::Is => name == text,
            How::Begins => name.starts_with(text),
            How::Ends => name.ends_with(text),
            How::Contains => name.contains(text),
            How::Matches => matches(literal(LiteralValue::String(name.to_owned().into())), text).unwrap_or(true),
            How::Below => name < text,
            How::AtMost => name <= text,
            How::Above => name > text,
            How::AtLeast => name >= text,
            How::IsBeginning => text.starts_with(name),
            How::IsEnd => text.ends_with(name),
            How::IsPart => text.contains(name),
        }
    }

    /// Whether it can be true of an owner that comes from one of these, or from anything where none is named. Where that
    /// cannot be told, it can.
    pub(crate) fn can_be_owner(&self, sources: &[&str]) -> bool {
        let text = &*self.text;
        match self.how {
            How::Is => is_owner(text, sources),
            How::Begins => begins(text, sources),
            // A name may have anything in it but control characters.
            How::Ends | How::Contains => !text.chars().any(char::is_control) && text.len() < Owner::MAX,
            How::Matches => may_match(text, sources),
            How::Below | How::AtMost => text > &*edge(sources.iter().min(), "a", ':'),
            How::Above | How::AtLeast => text < &*edge(sources.iter().max(), "z", ';'),
            How::IsBeginning => cuts(text).any(|(before, _)| is_owner(before, sources)),
            How::IsEnd => cuts(text).any(|(_, after)| is_owner(after, sources)),
            How::IsPart => text.match_indices(':').any(|(at, _)| {
                let (before, after) = text.split_at(at);
                let source = match sources {
                    [] => before.ends_with(|c: char| c.is_ascii_lowercase()),
                    _ => sources.iter().any(|source| before.ends_with(source)),
                };
                source && after.chars().take_while(|c| !c.is_control()).skip(1).any(|c| !c.is_whitespace())
            }),
        }
    }
}

/// `is never "x"`, `never begins with "x"`.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let says = match self.how {
            How::Is => "is never",
            How::Begins => "never begins with",
            How::Ends => "never ends with",
            How::Contains => "never contains",
            How::Matches => "never matches",
            How::Below => "is never less than",
            How::AtMost => "is never less than or equal to",
            How::Above => "is never greater than",
            How::AtLeast => "is never greater than or equal to",
            How::IsBeginning => "is never the beginning of",
            How::IsEnd => "is never the end of",
            How::IsPart => "is never a part of",
        };
        write!(f, "{says} {:?}", self.text)
    }
}

/// Whether some owner is written so.
fn is_owner(text: &str, sources: &[&str]) -> bool {
    text.split_once(':').is_some_and(|(source, name)| {
        Owner::new(source, name).is_ok() && (sources.is_empty() || sources.contains(&source))
    })
}

/// Whether some owner begins so.
fn begins(text: &str, sources: &[&str]) -> bool {
    match text.split_once(':') {
        None if sources.is_empty() => text.bytes().all(|byte| byte.is_ascii_lowercase()) && text.len() < Owner::MAX,
        None => sources.iter().any(|source| source.starts_with(text)),
        // Whatever follows makes a name of it that is not blank.
        Some((source, name)) => is_owner(text, sources) || is_owner(&format!("{source}:{name}x"), sources),
    }
}

/// What the first of all owners comes after, or the last before.
fn edge(source: Option<&&str>, else_source: &str, sign: char) -> String {
    format!("{}{sign}", source.copied().unwrap_or(else_source))
}

/// A text, cut in two at every place.
fn cuts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).map(|at| text.split_at(at))
}

/// Whether a pattern can match an owner. One that says how it begins can where one of its beginnings is an owner's.
fn may_match(pattern: &str, sources: &[&str]) -> bool {
    let Ok(hir) = regex_syntax::parse(pattern) else { return true };
    let looks = hir.properties();
    if !looks.look_set_prefix().contains(Look::Start) {
        return true;
    }
    let ends = looks.look_set_suffix().contains(Look::End);
    let found = Extractor::new().extract(&hir);
    let Some(beginnings) = found.literals() else { return true };
    beginnings.iter().any(|beginning| match std::str::from_utf8(beginning.as_bytes()) {
        Ok(whole) if ends && beginning.is_exact() => is_owner(whole, sources),
        Ok(beginning) => begins(beginning, sources),
        // In the middle of a character.
        Err(_) => true,
    })
}
