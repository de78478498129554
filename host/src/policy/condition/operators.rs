//! What conditions compare and calculate with, in the place of the crate's own: values of two types have no answer where the
//! crate finds them unequal, and numbers are exact where it rounds them.

use super::exact::Exact;
use super::made::{Made, size};
use super::{NoAnswer, Unlike};
use cel::common::types::{
    CelBool, CelBytes, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelType, CelUInt,
};
use cel::common::value::{CowVal, Val};
use cel::{Context, ExecutionError, FunctionContext};
use std::cmp::Ordering;

/// Names of the functions that stand for operators; no condition can be written with them.
pub(super) mod name {
    pub(in super::super) const EQUAL: &str = "@equal";
    pub(in super::super) const UNEQUAL: &str = "@unequal";
    pub(in super::super) const LESS: &str = "@less";
    pub(in super::super) const AT_MOST: &str = "@at_most";
    pub(in super::super) const GREATER: &str = "@greater";
    pub(in super::super) const AT_LEAST: &str = "@at_least";
    pub(in super::super) const IN: &str = "@within";
    /// In a list that the rule itself writes a `null` into.
    pub(in super::super) const IN_WITH_NULL: &str = "@within_or_null";
    pub(in super::super) const PLUS: &str = "@plus";
    pub(in super::super) const MINUS: &str = "@minus";
    pub(in super::super) const TIMES: &str = "@times";
    pub(in super::super) const OVER: &str = "@over";
    pub(in super::super) const DOUBLE: &str = "@double";
    /// What is looped over.
    pub(in super::super) const ITEMS: &str = "@items";
    /// What `map` keeps of each step.
    pub(in super::super) const KEPT: &str = "@kept";
    /// This one can be written.
    pub(in super::super) const KEYS: &str = "keys";
}

/// A function of the crate's, which can hand on what it was given.
type Function = Box<
    dyn for<'context, 'call> Fn(
            &mut FunctionContext<'context, 'call>,
        ) -> Result<CowVal<'context, 'call>, ExecutionError>
        + Send
        + Sync,
>;

/// Makes them known. Their names are nobody else's, so nothing here can fail.
pub(super) fn declare(context: &mut Context<'_, '_>, made: &Made) {
    let _ = context.add_function(name::EQUAL, |ftx: &FunctionContext<'_, '_>| both(ftx, same));
    let unequal = |ftx: &FunctionContext<'_, '_>| both(ftx, |one, other| same(one, other).map(|same| !same));
    let _ = context.add_function(name::UNEQUAL, unequal);
    ordered(context, name::LESS, Ordering::is_lt);
    ordered(context, name::AT_MOST, Ordering::is_le);
    ordered(context, name::GREATER, Ordering::is_gt);
    ordered(context, name::AT_LEAST, Ordering::is_ge);
    for (name, nulls) in [(name::IN, false), (name::IN_WITH_NULL, true)] {
        let within = move |ftx: &FunctionContext<'_, '_>| both(ftx, |item, whole| within(item, whole, nulls));
        let _ = context.add_function(name, within);
    }
    for name in [name::PLUS, name::MINUS, name::TIMES, name::OVER] {
        let made = made.clone();
        let calculate: Function = Box::new(move |ftx| match (ftx.args.pop(), ftx.args.pop()) {
            (Some(other), Some(one)) => calculated(name, &one, &other, &made),
            _ => Err(error(&NoAnswer::Failed)),
        });
        let _ = context.add_function(name, calculate);
    }
    let double = |ftx: &FunctionContext<'_, '_>| match ftx.args.first() {
        Some(value) => double(value.as_ref()).map_err(|why| error(&why)),
        None => Err(error(&NoAnswer::Failed)),
    };
    let _ = context.add_function(name::DOUBLE, double);
    let items: Function = Box::new(|ftx| match ftx.args.pop() {
        Some(list) if list.downcast_ref::<CelList<'_>>().is_some() => Ok(list),
        _ => Err(error(&NoAnswer::NoList)),
    });
    let _ = context.add_function(name::ITEMS, items);
    let made = made.clone();
    let kept: Function = Box::new(move |ftx| match ftx.args.pop() {
        Some(item) if made.takes(size(item.as_ref())) => Ok(item),
        Some(_) => Err(error(&NoAnswer::Large)),
        None => Err(error(&NoAnswer::Failed)),
    });
    let _ = context.add_function(name::KEPT, kept);
    let keys: Function = Box::new(|ftx| {
        let map = ftx.this.take().or_else(|| ftx.args.pop());
        let Some(map) = map.as_ref().and_then(|map| map.downcast_ref::<CelMap<'_>>()) else {
            return Err(error(&NoAnswer::Types));
        };
        let mut keys: Vec<&CelMapKey<'_>> = map.inner().keys().collect();
        keys.sort();
        let keys: Vec<Box<dyn Val + '_>> = keys.into_iter().map(|key| key.inner().clone_as_boxed()).collect();
        Ok(CowVal::owned(CelList::from(keys)))
    });
    let _ = context.add_function(name::KEYS, keys);
}

fn ordered(context: &mut Context<'_, '_>, name: &str, holds: fn(Ordering) -> bool) {
    let compare = move |ftx: &FunctionContext<'_, '_>| both(ftx, |one, other| compared(one, other).map(holds));
    let _ = context.add_function(name, compare);
}

/// Marks the errors that are made here.
const OWN: &str = "@";

fn error(why: &NoAnswer) -> ExecutionError {
    let (what, of) = match why {
        NoAnswer::Unlike(Unlike(one, other)) => ("unlike", format!("{one}\n{other}")),
        NoAnswer::NoList => ("no list", String::new()),
        NoAnswer::NoWhole => ("no whole", String::new()),
        NoAnswer::Inexact => ("inexact", String::new()),
        NoAnswer::Number => ("number", String::new()),
        NoAnswer::Types => ("types", String::new()),
        NoAnswer::Large => ("large", String::new()),
        _ => ("failed", String::new()),
    };
    ExecutionError::FunctionError { function: format!("{OWN}{what}"), message: of }
}

/// What an error that was made here says; none for the crate's own.
pub(super) fn why(function: &str, message: &str) -> Option<NoAnswer> {
    let known = |name: &str| NAMES.into_iter().find(|known| *known == name);
    Some(match function.strip_prefix(OWN)? {
        "unlike" => {
            let (one, other) = message.split_once('\n')?;
            NoAnswer::Unlike(Unlike(known(one)?, known(other)?))
        }
        "no list" => NoAnswer::NoList,
        "no whole" => NoAnswer::NoWhole,
        "inexact" => NoAnswer::Inexact,
        "number" => NoAnswer::Number,
        "types" => NoAnswer::Types,
        "large" => NoAnswer::Large,
        _ => NoAnswer::Failed,
    })
}

/// What kinds of value are called.
const NAMES: [&str; 8] = ["null", "a bool", "a number", "a text", "bytes", "a list", "an object", "a type"];

/// A value by its kind: what is compared is of one.
enum Kind<'a> {
    Null,
    Bool,
    Number(Exact),
    Text(&'a str),
    Bytes,
    List(&'a CelList<'a>),
    Map(&'a CelMap<'a>),
    Type,
}

impl<'a> Kind<'a> {
    /// None: no kind that can be compared.
    fn of(value: &'a (dyn Val + 'a)) -> Option<Self> {
        Some(if let Some(number) = number(value) {
            Self::Number(number)
        } else if let Some(text) = value.downcast_ref::<CelString<'_>>() {
            Self::Text(text.inner())
        } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
            Self::List(list)
        } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
            Self::Map(map)
        } else if value.downcast_ref::<CelNull>().is_some() {
            Self::Null
        } else if value.downcast_ref::<CelBool>().is_some() {
            Self::Bool
        } else if value.downcast_ref::<CelBytes<'_>>().is_some() {
            Self::Bytes
        } else if value.downcast_ref::<CelType>().is_some() {
            Self::Type
        } else {
            return None;
        })
    }

    fn name(&self) -> &'static str {
        let [null, bool, number, text, bytes, list, map, kind] = NAMES;
        match self {
            Self::Null => null,
            Self::Bool => bool,
            Self::Number(_) => number,
            Self::Text(_) => text,
            Self::Bytes => bytes,
            Self::List(_) => list,
            Self::Map(_) => map,
            Self::Type => kind,
        }
    }
}

/// Two values of different kinds.
fn unlike(one: &Kind<'_>, other: &Kind<'_>) -> NoAnswer {
    NoAnswer::Unlike(Unlike(one.name(), other.name()))
}

fn number(value: &dyn Val) -> Option<Exact> {
    if let Some(number) = value.downcast_ref::<CelInt>() {
        return Some(Exact::of_integer((*number.inner()).into()));
    }
    if let Some(number) = value.downcast_ref::<CelUInt>() {
        return Some(Exact::of_integer((*number.inner()).into()));
    }
    Exact::of_double(*value.downcast_ref::<CelDouble>()?.inner())
}

fn both<T>(
    ftx: &FunctionContext<'_, '_>,
    ask: impl Fn(&dyn Val, &dyn Val) -> Result<T, NoAnswer>,
) -> Result<T, ExecutionError> {
    match ftx.args.as_slice() {
        [one, other] => ask(one.as_ref(), other.as_ref()).map_err(|why| error(&why)),
        _ => Err(error(&NoAnswer::Failed)),
    }
}

/// Whether two values of one kind are equal, and so on inside lists and objects. What is unequal anyway may have parts that
/// cannot be compared.
fn same(one: &dyn Val, other: &dyn Val) -> Result<bool, NoAnswer> {
    let (Some(kind), Some(other_kind)) = (Kind::of(one), Kind::of(other)) else { return Err(NoAnswer::Types) };
    match (&kind, &other_kind) {
        (Kind::Null, Kind::Null) => Ok(true),
        (Kind::Number(one), Kind::Number(other)) => Ok(one == other),
        (Kind::Text(one), Kind::Text(other)) => Ok(one == other),
        (Kind::Bool, Kind::Bool) | (Kind::Bytes, Kind::Bytes) | (Kind::Type, Kind::Type) => Ok(one.equals(other)),
        (Kind::List(one), Kind::List(other)) => {
            if one.inner().len() != other.inner().len() {
                return Ok(false);
            }
            all(one.inner().iter().zip(other.inner()).map(|(one, other)| same(one.as_ref(), other.as_ref())))
        }
        (Kind::Map(one), Kind::Map(other)) => {
            if one.inner().len() != other.inner().len() {
                return Ok(false);
            }
            all(one.inner().iter().map(|(key, value)| match other.inner().get(key) {
                Some(other) => same(value.as_ref(), other.as_ref()),
                None => like_keys(key.inner(), other).map(|()| false),
            }))
        }
        _ => Err(unlike(&kind, &other_kind)),
    }
}

/// False where one is; else no answer where one has none; else true.
fn all(mut answers: impl Iterator<Item = Result<bool, NoAnswer>>) -> Result<bool, NoAnswer> {
    let mut none = None;
    let unequal = answers.any(|answer| match answer {
        Ok(answer) => !answer,
        Err(why) => {
            none.get_or_insert(why);
            false
        }
    });
    match (unequal, none) {
        (true, _) => Ok(false),
        (false, Some(why)) => Err(why),
        (false, None) => Ok(true),
    }
}

/// Whether a key could be one of an object's, which has none that is equal.
fn like_keys(key: &dyn Val, map: &CelMap<'_>) -> Result<(), NoAnswer> {
    let Some(kind) = Kind::of(key) else { return Err(NoAnswer::Types) };
    for other in map.inner().keys() {
        match Kind::of(other.inner()) {
            Some(other) if std::mem::discriminant(&other) == std::mem::discriminant(&kind) => {}
            Some(other) => return Err(unlike(&kind, &other)),
            None => return Err(NoAnswer::Types),
        }
    }
    Ok(())
}

/// Whether a list has an item, or an object a key. With `nulls`, an item that is null is the rule's own, and equals none but
/// null.
fn within(item: &dyn Val, whole: &dyn Val, nulls: bool) -> Result<bool, NoAnswer> {
    if let Some(list) = whole.downcast_ref::<CelList<'_>>() {
        let null = |value: &dyn Val| value.downcast_ref::<CelNull>().is_some();
        let unequal = |other: &dyn Val| match nulls && null(item) != null(other) {
            true => Ok(true),
            false => same(item, other).map(|same| !same),
        };
        return all(list.inner().iter().map(|other| unequal(other.as_ref()))).map(|none| !none);
    }
    match whole.downcast_ref::<CelMap<'_>>() {
        Some(map) => match map.inner().keys().any(|key| same(item, key.inner()) == Ok(true)) {
            true => Ok(true),
            false => like_keys(item, map).map(|()| false),
        },
        None => Err(NoAnswer::NoWhole),
    }
}

fn compared(one: &dyn Val, other: &dyn Val) -> Result<Ordering, NoAnswer> {
    let (Some(kind), Some(other_kind)) = (Kind::of(one), Kind::of(other)) else { return Err(NoAnswer::Types) };
    match (&kind, &other_kind) {
        (Kind::Number(one), Kind::Number(other)) => one.compare(*other).ok_or(NoAnswer::Number),
        (Kind::Text(one), Kind::Text(other)) => Ok(one.cmp(other)),
        (Kind::Bool, Kind::Bool) | (Kind::Bytes, Kind::Bytes) => {
            let comparer = one.as_comparer().ok_or(NoAnswer::Types)?;
            comparer.compare(other).map_err(|_| NoAnswer::Types)
        }
        (one, other) if std::mem::discriminant(one) == std::mem::discriminant(other) => Err(NoAnswer::Types),
        _ => Err(unlike(&kind, &other_kind)),
    }
}

/// Of two doubles exactly, of anything else as the crate does it, which is exact or an error.
fn calculated<'b, 'v>(
    name: &str,
    one: &CowVal<'b, 'v>,
    other: &CowVal<'b, 'v>,
    made: &Made,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let double =
        |value: &CowVal<'b, 'v>| value.downcast_ref::<CelDouble>().and_then(|value| Exact::of_double(*value.inner()));
    let list = |value: &CowVal<'b, 'v>| value.downcast_ref::<CelList<'_>>().is_some();
    let types = || error(&NoAnswer::Types);
    if let (Some(one), Some(other)) = (double(one), double(other)) {
        let exact = match name {
            name::PLUS => one.plus(other),
            name::MINUS => one.minus(other),
            name::TIMES => one.times(other),
            _ => one.over(other),
        };
        let double = exact.and_then(Exact::as_double).ok_or_else(|| error(&NoAnswer::Inexact))?;
        return Ok(CowVal::owned(CelDouble::from(double)));
    }
    // The crate would append the keys of an object.
    if list(one) != list(other) {
        return Err(types());
    }
    if name == name::PLUS && !made.takes(size(one.as_ref()).saturating_add(size(other.as_ref()))) {
        return Err(error(&NoAnswer::Large));
    }
    let result = match name {
        name::PLUS => one.as_adder().ok_or_else(types)?.add(other.as_ref())?,
        name::MINUS => one.as_subtractor().ok_or_else(types)?.sub(other.as_ref())?,
        name::TIMES => one.as_multiplier().ok_or_else(types)?.mul(other.as_ref())?,
        _ => one.as_divider().ok_or_else(types)?.div(other.as_ref())?,
    };
    Ok(CowVal::Owned(result.into_owned()))
}

/// A number, or a text that is one, as a double: exactly, or not at all.
fn double(value: &dyn Val) -> Result<f64, NoAnswer> {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        return match text.inner().parse::<f64>() {
            Ok(double) if crate::schema::is_faithful(text.inner()) => Ok(double),
            Ok(_) => Err(NoAnswer::Number),
            Err(_) => Err(NoAnswer::Failed),
        };
    }
    match number(value) {
        Some(number) => number.as_double().ok_or(NoAnswer::Number),
        None => Err(NoAnswer::Types),
    }
}
