//! What can be found wrong with a condition before it is asked: names, functions, patterns, depth.

use super::asked::{Asked, Of, asked};
use super::operators::name::KEYS;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use cel::{Context, Value};
use std::collections::BTreeSet;

/// What a condition knows of a call.
const VARIABLES: [&str; 3] = ["args", "owner", "tool"];
/// Types, for `type(args.x) == int`.
const TYPES: [&str; 9] = ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint"];
/// Functions: name, arguments with the one that it may be called on, and whether it has to be called on one.
const FUNCTIONS: [(&str, usize, bool); 13] = [
    ("size", 1, false),
    (KEYS, 1, false),
    ("contains", 2, true),
    ("startsWith", 2, true),
    ("endsWith", 2, true),
    ("matches", 2, false),
    ("int", 1, false),
    ("uint", 1, false),
    ("double", 1, false),
    ("string", 1, false),
    ("bool", 1, false),
    ("type", 1, false),
    ("dyn", 1, false),
];
const OPERATORS: [&str; 19] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::SUBSTRACT,
    operators::ADD,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::GREATER_EQUALS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::LESS,
    operators::NEGATE,
    operators::INDEX,
    operators::IN,
    operators::NOT_STRICTLY_FALSE,
];
/// What comes to a number, a text or a list, never to true or false.
const NEVER_BOOL: [&str; 12] = [
    operators::SUBSTRACT,
    operators::ADD,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::NEGATE,
    "size",
    "int",
    "uint",
    "double",
    "string",
    KEYS,
];
/// Expressions inside each other: what fits the smallest stack that one is evaluated on, many times over.
const DEPTH: usize = 64;
/// Loops inside each other: each multiplies what one call can cost.
const LOOPS: usize = 2;

/// What was found in a condition.
#[derive(Default)]
pub(super) struct Found {
    /// It reads the arguments.
    pub(super) arguments: bool,
    /// The keys that it names.
    pub(super) names: BTreeSet<String>,
    /// What it asks of the owner and of the tool's name.
    pub(super) asked: Vec<Asked>,
}

/// Looks through a condition. The error says what to do.
pub(super) fn check(expression: &IdedExpr) -> Result<Found, String> {
    let mut look = Look { found: Found::default(), own: Vec::new(), loops: 0 };
    look.at(expression, 0)?;
    let never = match &expression.expr {
        Expr::Literal(literal) => !matches!(literal, LiteralValue::Boolean(_)),
        Expr::List(_) | Expr::Map(_) => true,
        Expr::Call(call) => NEVER_BOOL.contains(&call.func_name.as_str()),
        _ => false,
    };
    match never {
        true => Err("it never comes to true or false: write a comparison".into()),
        false => Ok(look.found),
    }
}

struct Look {
    found: Found,
    /// Variables of the loops around.
    own: Vec<String>,
    loops: usize,
}

impl Look {
    fn at(&mut self, expression: &IdedExpr, depth: usize) -> Result<(), String> {
        if depth > DEPTH {
            return Err("it is nested too deeply: split it into several rules".into());
        }
        let depth = depth + 1;
        match &expression.expr {
            Expr::Unspecified => Err("it cannot be read".into()),
            Expr::Literal(literal) => {
                if let LiteralValue::String(text) = literal {
                    self.found.names.insert(text.inner().to_owned());
                }
                Ok(())
            }
            Expr::Ident(name) => self.name(name),
            Expr::Select(select) => {
                self.found.names.insert(select.field.clone());
                self.at(&select.operand, depth)
            }
            Expr::Call(call) => self.call(call, depth),
            Expr::List(list) => list.elements.iter().try_for_each(|element| self.at(element, depth)),
            Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => self.at(&entry.key, depth).and_then(|()| self.at(&entry.value, depth)),
                EntryExpr::StructField(_) => Err("a map has keys in quotes".into()),
            }),
            Expr::Struct(made) => Err(format!("there is no type {:?} to make a value of", made.type_name)),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, depth),
        }
    }

    fn name(&mut self, name: &str) -> Result<(), String> {
        self.found.arguments |= name == "args";
        // What a macro's own expansion names begins with the sign that no name has.
        let known = name.starts_with('@')
            || VARIABLES.contains(&name)
            || TYPES.contains(&name)
            || self.own.iter().any(|own| own == name);
        match known {
            true => Ok(()),
            false => Err(format!("there is no {name:?}: a condition knows args, owner and tool")),
        }
    }

    fn call(&mut self, call: &CallExpr, depth: usize) -> Result<(), String> {
        let name = call.func_name.as_str();
        if !OPERATORS.contains(&name) {
            let given = call.args.len() + usize::from(call.target.is_some());
            match FUNCTIONS.iter().find(|(known, _, _)| *known == name) {
                None => {
                    let known: Vec<_> = FUNCTIONS.iter().map(|(name, _, _)| *name).collect();
                    return Err(format!(
                        "there is no function {name:?} of that form: there are has, all, exists, exists_one, map, filter, {}",
                        known.join(", ")
                    ));
                }
                Some((_, _, true)) if call.target.is_none() => {
                    return Err(format!("{name} is called on a text: write args.x.{name}(…)"));
                }
                Some((_, takes, _)) if *takes != given => {
                    return Err(format!(
                        "{name} takes {takes} values, with the one that it is called on, and was given {given}"
                    ));
                }
                Some(_) => {}
            }
        }
        match name {
            "matches" => pattern(call.args.last())?,
            operators::IN if matches!(call.args.last(), Some(IdedExpr { expr: Expr::Literal(_), .. })) => {
                return Err(
                    "in asks for an item of a list or a key of an object; for a text write args.x.contains(…)".into()
                );
            }
            _ => {}
        }
        self.asked(call)?;
        call.target.iter().try_for_each(|target| self.at(target, depth))?;
        call.args.iter().try_for_each(|argument| self.at(argument, depth))
    }

    /// A question that no owner could be asked would make a rule that is never true, or always.
    fn asked(&mut self, call: &CallExpr) -> Result<(), String> {
        for asked in asked(call) {
            if asked.of == Of::Owner && !asked.can_be_owner(&[]) {
                let text = asked.whole().filter(|text| !text.is_empty() && !text.contains(':')).unwrap_or("ci");
                return Err(format!(
                    "owner {asked}: write where it comes from, too, such as \"name:{text}\" (of --owner) or \"os:alice\" (the \
                     system's user)"
                ));
            }
            self.found.asked.push(asked);
        }
        Ok(())
    }

    fn comprehension(&mut self, comprehension: &ComprehensionExpr, depth: usize) -> Result<(), String> {
        let ComprehensionExpr { iter_range, iter_var, iter_var2, accu_init, loop_cond, loop_step, result, .. } =
            comprehension;
        self.at(iter_range, depth)?;
        self.at(accu_init, depth)?;
        if self.loops >= LOOPS {
            return Err(format!("it has more than {LOOPS} loops inside each other: write a simpler one"));
        }
        let variables = [Some(iter_var), iter_var2.as_ref()].into_iter().flatten();
        for variable in variables.clone() {
            if VARIABLES.contains(&variable.as_str()) || TYPES.contains(&variable.as_str()) {
                return Err(format!("{variable:?} is taken: name the items of the loop otherwise"));
            }
        }
        let before = self.own.len();
        self.own.extend(variables.cloned());
        self.loops += 1;
        let inside = [loop_cond, loop_step, result].into_iter().try_for_each(|part| self.at(part, depth));
        self.loops -= 1;
        self.own.truncate(before);
        inside
    }
}

/// A pattern is the operator's: one out of the arguments could cost what it likes, and is never checked before.
fn pattern(pattern: Option<&IdedExpr>) -> Result<(), String> {
    let Some(IdedExpr { expr: Expr::Literal(LiteralValue::String(pattern)), .. }) = pattern else {
        return Err("the pattern of matches is written in the rule itself, in quotes".into());
    };
    match matches(literal(LiteralValue::String("".into())), pattern.inner()) {
        Some(_) => Ok(()),
        None => Err(format!("{:?} is no regular expression, or too large a one", pattern.inner())),
    }
}

/// Whether a text matches; none where the pattern is no pattern.
pub(super) fn matches(text: IdedExpr, pattern: &str) -> Option<bool> {
    let args = vec![text, literal(LiteralValue::String(pattern.to_owned().into()))];
    let call = CallExpr { func_name: "matches".into(), target: None, args };
    match Value::resolve(&IdedExpr { id: 0, expr: Expr::Call(call) }, &Context::default()) {
        Ok(Value::Bool(matches)) => Some(matches),
        _ => None,
    }
}

pub(super) fn literal(value: LiteralValue) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Literal(value) }
}
