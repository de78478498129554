//! What a condition can come to of the calls of one tool, known before any of them: the tool's name and what its schema says of the
//! arguments. What it says can be may not be; what it leaves out is never.

use super::asked::{Asked, Of, asked};
use super::kind::kind_with;
use super::uses::path;
use crate::schema::outline::Kinds;
use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

/// A tool, as a condition sees all of its calls.
pub(crate) struct Seen<'a> {
    /// Its listed name.
    pub(crate) tool: &'a str,
    /// The kinds that an argument can be of; none where no call can have it.
    pub(crate) argument: &'a dyn Fn(&[String]) -> Option<Kinds>,
}

/// What can come of it, as bits of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome(u8);

impl Outcome {
    const TRUE: Self = Self(1);
    const FALSE: Self = Self(2);
    /// No answer.
    const NONE: Self = Self(4);
    /// Something other than true or false.
    const VALUE: Self = Self(8);
    const EITHER: Self = Self(3);
    const ANY: Self = Self(15);

    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn can(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it never has an answer.
    pub(crate) fn is_never(self) -> bool {
        self == Self::NONE
    }

    /// Whether it is never false: true, or without an answer.
    pub(crate) fn is_never_false(self) -> bool {
        !self.can(Self::FALSE)
    }

    /// Where it is asked whether something is so.
    fn truth(self) -> Self {
        let answers = Self(self.0 & (Self::EITHER.0 | Self::NONE.0));
        if self.can(Self::VALUE) { answers.or(Self::NONE) } else { answers }
    }

    fn not(self) -> Self {
        let turned = |from, to| if self.can(from) { to } else { Self(0) };
        Self(self.0 & Self::NONE.0).or(turned(Self::TRUE, Self::FALSE)).or(turned(Self::FALSE, Self::TRUE))
    }

    /// False where one is; else no answer where one has none; else true.
    fn both(self, other: Self) -> Self {
        let mut made = Self(0);
        if self.can(Self::FALSE) || other.can(Self::FALSE) {
            made = made.or(Self::FALSE);
        }
        if self.can(Self::TRUE) && other.can(Self::TRUE) {
            made = made.or(Self::TRUE);
        }
        let unknown = |one: Self, other: Self| one.can(Self::NONE) && (other.can(Self::TRUE) || other.can(Self::NONE));
        if unknown(self, other) || unknown(other, self) {
            made = made.or(Self::NONE);
        }
        made
    }

    fn of(kinds: Kinds) -> Self {
        let bool = if kinds.common(Kinds::BOOL).is_empty() { Self(0) } else { Self::EITHER };
        if kinds.and(Kinds::BOOL) == Kinds::BOOL { bool } else { bool.or(Self::VALUE) }
    }
}

impl Seen<'_> {
    /// Of a whole condition, before it is rewritten.
    pub(super) fn of(&self, expression: &IdedExpr) -> Outcome {
        self.look(expression).truth()
    }

    fn look(&self, expression: &IdedExpr) -> Outcome {
        match &expression.expr {
            Expr::Literal(LiteralValue::Boolean(truth)) if *truth.inner() => Outcome::TRUE,
            Expr::Literal(LiteralValue::Boolean(_)) => Outcome::FALSE,
            Expr::Literal(_) => Outcome::VALUE,
            Expr::Ident(_) => Outcome::ANY,
            Expr::Select(select) if select.test => match path(expression).as_deref() {
                Some([above @ .., _]) if !above.is_empty() && (self.argument)(above).is_none() => Outcome::NONE,
                Some([_]) if self.read(expression).is_never() => Outcome::FALSE,
                _ => Outcome::EITHER.or(Outcome::NONE),
            },
            Expr::Select(_) => self.read(expression),
            Expr::Call(call) => self.call(expression, call),
            Expr::List(list) => self.strict(&list.elements.iter().collect::<Vec<_>>(), Outcome::VALUE),
            Expr::Map(map) => {
                let entries = map.entries.iter().flat_map(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
                    EntryExpr::StructField(_) => Vec::new(),
                });
                self.strict(&entries.collect::<Vec<_>>(), Outcome::VALUE)
            }
            Expr::Comprehension(loops) => match self.kind(&loops.iter_range).common(Kinds::LIST).is_empty() {
                true => Outcome::NONE,
                false => self.strict(&[&loops.iter_range], Outcome::of(self.kind(expression))),
            },
            Expr::Struct(_) | Expr::Unspecified => Outcome::ANY,
        }
    }

    /// An argument, or a part of something else.
    fn read(&self, expression: &IdedExpr) -> Outcome {
        match path(expression) {
            Some(path) => match (self.argument)(&path) {
                Some(kinds) if !kinds.is_empty() => Outcome::of(kinds).or(Outcome::NONE),
                _ => Outcome::NONE,
            },
            None => Outcome::ANY,
        }
    }

    fn kind(&self, expression: &IdedExpr) -> Kinds {
        kind_with(expression, &|path| (self.argument)(path).unwrap_or(Kinds::NONE))
    }

    /// What has no answer where one of its parts has none.
    fn strict(&self, parts: &[&IdedExpr], made: Outcome) -> Outcome {
        match parts.iter().any(|part| self.look(part).is_never()) {
            true => Outcome::NONE,
            false => made.or(Outcome::NONE),
        }
    }

    fn call(&self, expression: &IdedExpr, call: &CallExpr) -> Outcome {
        let parts: Vec<_> = call.target.as_deref().into_iter().chain(&call.args).collect();
        let truth = |part: &IdedExpr| self.look(part).truth();
        match (call.func_name.as_str(), parts.as_slice()) {
            (operators::LOGICAL_AND, [one, other]) => truth(one).both(truth(other)),
            (operators::LOGICAL_OR, [one, other]) => truth(one).not().both(truth(other).not()).not(),
            (operators::LOGICAL_NOT, [one]) => truth(one).not(),
            (operators::CONDITIONAL, [asked, one, other]) => {
                let asked = truth(asked);
                let branch = |if_so, part| if asked.can(if_so) { self.look(part) } else { Outcome(0) };
                let none = Outcome(asked.0 & Outcome::NONE.0);
                none.or(branch(Outcome::TRUE, one)).or(branch(Outcome::FALSE, other))
            }
            (operators::INDEX, [whole, at]) => match path(expression) {
                Some(_) => self.read(expression),
                None => self.strict(&[whole, at], Outcome::ANY),
            },
            (name, parts) => {
                if let Some(holds) = self.asked(call) {
                    return if holds { Outcome::TRUE } else { Outcome::FALSE };
                }
                let kinds: Vec<_> = parts.iter().map(|part| self.kind(part)).collect();
                let unlike = match (name, kinds.as_slice()) {
                    (
                        operators::EQUALS
                        | operators::NOT_EQUALS
                        | operators::LESS
                        | operators::LESS_EQUALS
                        | operators::GREATER
                        | operators::GREATER_EQUALS,
                        [one, other],
                    ) => one.common(*other).is_empty(),
                    ("contains" | "startsWith" | "endsWith" | "matches", [one, other]) => {
                        one.common(Kinds::TEXT).is_empty() || other.common(Kinds::TEXT).is_empty()
                    }
                    _ => false,
                };
                if unlike { Outcome::NONE } else { self.strict(parts, Outcome::of(self.kind(expression))) }
            }
        }
    }

    /// The answer to what is asked of the tool's name alone.
    fn asked(&self, call: &CallExpr) -> Option<bool> {
        let all: Vec<Asked> = asked(call).into_iter().filter(|asked| asked.of == Of::Tool).collect();
        let texts = match call.args.last().map(|last| &last.expr) {
            Some(Expr::List(list)) => list.elements.len(),
            _ => 1,
        };
        if all.is_empty() || all.len() != texts {
            return None;
        }
        let holds = all.iter().any(|asked| asked.holds(self.tool));
        Some(holds != (call.func_name == operators::NOT_EQUALS))
    }
}
