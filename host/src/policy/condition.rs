//! Conditions on a call, in CEL. One is compiled once, and everything in it that can be found wrong is found then; a call that
//! it has no answer for has no answer, never a guess.
//!
//! It is read by the crate's parser by precedence (`Program::compile` takes another one, whatever the features say, which can
//! need unbounded memory for a short text), and changed before it is kept: its operators are those of `operators`, and its loops
//! look at the time.

mod asked;
mod check;
mod exact;
mod facts;
mod kind;
mod literals;
mod made;
mod operators;
#[cfg(feature = "program")]
mod outcome;
mod rewrite;
mod uses;

#[cfg(feature = "program")]
pub(crate) use asked::OWN;
pub(crate) use asked::{Asked, Of};
pub(crate) use facts::Facts;
#[cfg(feature = "program")]
pub(crate) use outcome::Seen;
pub(crate) use uses::Use;

use crate::text::bytes;
use cel::common::ast::IdedExpr;
use cel::parser::PrattParser;
use cel::{Context, ExecutionError, Value};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Longest condition, in bytes: a person reads it in one go.
const LENGTH: usize = 2_000;
/// Parentheses, brackets and calls inside each other.
const NESTING: u16 = 24;
/// How long all conditions of one call may take together. What loops over the arguments is stopped then.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);
/// What one condition may make of texts, bytes and lists, in bytes. The arguments are a caller's, and so is how often a loop
/// makes something of them: more than [`PATIENCE`] lets a condition make in small pieces, and far more than one needs.
const MADE: usize = 16 << 20;
/// What each step of a loop calls; no condition can be written with it.
const TICK: &str = "@tick";

/// A condition that is ready to ask.
#[derive(Clone)]
pub(crate) struct Condition(Arc<Inner>);

struct Inner {
    text: String,
    expression: IdedExpr,
    /// Before it was rewritten.
    #[cfg(feature = "program")]
    written: IdedExpr,
    found: check::Found,
    uses: Vec<Use>,
}

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Line and column, from 1, where they are known.
    pub(crate) place: Option<(usize, usize)>,
    /// What is wrong, and what to do.
    pub(crate) what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "the condition is wrong at {line}:{column}: {}", self.what),
            None => write!(f, "the condition is wrong: {}", self.what),
        }
    }
}

/// Why a condition has no answer for a call. Quotes no argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It reads what is not there; the name, where it is the condition's own.
    Missing(Option<String>),
    /// It compares values of these two kinds.
    Unlike(Unlike),
    /// It puts together what does not go together otherwise.
    Types,
    /// It loops over what is no list.
    NoList,
    /// It asks what is in something that is neither list nor object.
    NoWhole,
    /// A calculation has no result: it overflows, or divides by zero.
    Arithmetic,
    /// A calculation has one that is no number of 64 bits.
    Inexact,
    /// A number cannot be held exactly.
    Number,
    /// Its time was up.
    Slow,
    /// It made too much.
    Large,
    /// It came to something other than true or false.
    NotBool,
    /// Anything else.
    Failed,
}

/// The names of two kinds of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unlike(pub(crate) &'static str, pub(crate) &'static str);

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(Some(name)) => write!(
                f,
                "it reads \"{name}\", which is not there; where it may be missing, a condition asks has(…) first, such as \
                 has(args.{name}) && …"
            ),
            Self::Missing(None) => f.write_str("it reads a key or an item that is not there"),
            Self::Types => f.write_str("it compares or combines values of types that do not go together"),
            Self::Unlike(Unlike(one, other)) => write!(f, "it compares {one} with {other}"),
            Self::NoList => f.write_str("it loops over what is no list; the keys of an object are keys(…)"),
            Self::NoWhole => f.write_str(
                "it asks what is in something that is no list and no object; of a text, it would be args.x.contains(…)",
            ),
            Self::Inexact => f.write_str("a calculation in it has no result that can be told exactly"),
            Self::Arithmetic => f.write_str("a calculation in it has no result"),
            Self::Number => f.write_str("a number in the arguments cannot be compared exactly: give fewer digits"),
            Self::Slow => write!(f, "it took longer than {PATIENCE:?}"),
            Self::Large => write!(f, "it makes more than {} of texts and lists", bytes(MADE as u64)),
            Self::NotBool => f.write_str("it came to something other than true or false"),
            Self::Failed => f.write_str("it failed"),
        }
    }
}

impl Condition {
    /// Reads a condition.
    pub(crate) fn compile(text: &str) -> Result<Self, Fault> {
        let fault = |what: String| Fault { place: None, what };
        if text.trim().is_empty() {
            return Err(fault("it is empty: write one such as args.amount > 100".into()));
        }
        if text.len() > LENGTH {
            return Err(fault(format!("it is longer than {LENGTH} bytes: split it into several rules")));
        }
        let parser = PrattParser::new().max_recursion_depth(NESTING).error_recovery_limit(1).error_reporting_limit(1);
        let mut expression = parser.parse(text).map_err(|errors| syntax(text, &errors))?;
        let found = check::check(&expression).map_err(fault)?;
        if let Some(number) = literals::rounded(text) {
            return Err(fault(format!("{number} cannot be held exactly: write fewer digits")));
        }
        let uses = uses::uses(&expression).map_err(fault)?;
        #[cfg(feature = "program")]
        let written = expression.clone();
        rewrite::rewrite(&mut expression);
        Ok(Self(Arc::new(Inner {
            text: text.to_owned(),
            expression,
            #[cfg(feature = "program")]
            written,
            found,
            uses,
        })))
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    /// The arguments that it reads.
    pub(crate) fn uses(&self) -> &[Use] {
        &self.0.uses
    }

    /// What it asks of the owner and of the tool's name.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.0.found.asked.iter()
    }

    /// What it can come to of a tool's calls, as far as that is known before them.
    #[cfg(feature = "program")]
    pub(crate) fn of_all(&self, seen: &Seen<'_>) -> outcome::Outcome {
        seen.of(&self.0.written)
    }

    /// Asks it about a call.
    pub(crate) fn holds(&self, facts: &Facts<'_>, context: &Context<'_, '_>) -> Result<bool, NoAnswer> {
        let Inner { expression, found, .. } = &*self.0;
        if found.arguments && !facts.exact() {
            return Err(NoAnswer::Number);
        }
        facts.made().begin();
        let answer = Value::resolve(expression, context);
        // However it got over the error: time that was up is no answer, and no more is room that was used up.
        if facts.late() {
            return Err(NoAnswer::Slow);
        }
        if facts.made().is_too_much() {
            return Err(NoAnswer::Large);
        }
        match answer {
            Ok(Value::Bool(answer)) => Ok(answer),
            Ok(_) => Err(NoAnswer::NotBool),
            Err(error) => Err(self.no_answer(&error)),
        }
    }

    /// Only what kind of error it is: its own text quotes values.
    fn no_answer(&self, error: &ExecutionError) -> NoAnswer {
        match error {
            ExecutionError::NoSuchKey(name) => {
                NoAnswer::Missing(self.0.found.names.contains(name.as_str()).then(|| name.to_string()))
            }
            ExecutionError::FunctionError { function, message } => {
                operators::why(function, message).unwrap_or(NoAnswer::Failed)
            }
            ExecutionError::IndexOutOfBounds(_) => NoAnswer::Missing(None),
            ExecutionError::Overflow(..) | ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
                NoAnswer::Arithmetic
            }
            ExecutionError::NoSuchOverload(_)
            | ExecutionError::ValuesNotComparable(..)
            | ExecutionError::UnexpectedType { .. }
            | ExecutionError::UnsupportedBinaryOperator(..)
            | ExecutionError::UnsupportedIndex(..)
            | ExecutionError::UnsupportedKeyType(_)
            | ExecutionError::UnsupportedTargetType { .. } => NoAnswer::Types,
            _ => NoAnswer::Failed,
        }
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condition({:?})", self.0.text)
    }
}

fn syntax(text: &str, errors: &cel::ParseErrors) -> Fault {
    let Some(first) = errors.errors.first() else { return Fault { place: None, what: "it cannot be read".into() } };
    let place = |(line, column): (isize, isize)| Some((usize::try_from(line).ok()?, usize::try_from(column).ok()?));
    let mut what = first.msg.trim_start_matches("Syntax error: ").to_owned();
    if what.contains("unescape") {
        what += ": a backslash is written twice (\"[.]txt\" needs none), or the whole text as r\"\\.txt$\"";
    } else if let Some(write) = otherwise(text) {
        what = format!("{what}: {write}");
    }
    Fault { place: place(first.pos).filter(|(line, _)| *line > 0), what }
}

/// What to write for an operator of another language, in a text that cannot be read.
fn otherwise(text: &str) -> Option<&'static str> {
    // Between quotes there may be anything.
    let mut quote = None;
    let outside = |c: char| match quote {
        Some(end) => {
            quote = (c != end).then_some(end);
            ' '
        }
        None if matches!(c, '"' | '\'') => {
            quote = Some(c);
            ' '
        }
        None => c,
    };
    let code: String = text.chars().map(outside).collect();
    let has =
        |word: &str| code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|one| one.eq_ignore_ascii_case(word));
    let code = ["==", "!=", "<=", ">="].iter().fold(code.clone(), |code, operator| code.replace(operator, " "));
    Some(match () {
        () if code.contains('=') => "two values are compared with ==",
        () if has("and") => "write && for and",
        () if has("or") => "write || for or",
        () if has("not") => "write ! for not",
        () => return None,
    })
}

#[cfg(test)]
mod tests;
