//! Which arguments a condition reads, and as what: to be held against what a tool's schema says of them. What is of the wrong kind
//! whatever a schema says is found here.

use super::kind::{ADDED, ORDERED, kind};
use crate::schema::outline::Kinds;
use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

/// One place where a condition reads an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The names on the way to it.
    pub(crate) path: Vec<String>,
    /// The kinds that it has an answer for.
    pub(crate) of: Kinds,
    /// What is done with it, for a person.
    pub(crate) how: &'static str,
}

/// All of a condition that was checked, before it is rewritten.
pub(super) fn uses(expression: &IdedExpr) -> Result<Vec<Use>, String> {
    let mut uses = Uses::default();
    uses.note(expression, Kinds::BOOL, TRUTH);
    uses.look(expression);
    match uses.fault {
        Some(fault) => Err(fault),
        None => Ok(uses.found),
    }
}

/// What stands where it is asked whether something is so.
const TRUTH: &str = "is taken for true or false";

#[derive(Default)]
struct Uses {
    found: Vec<Use>,
    /// The first that has no answer whatever a call brings.
    fault: Option<String>,
}

impl Uses {
    fn look(&mut self, expression: &IdedExpr) {
        if let Some(path) = path(expression) {
            self.add(path, Kinds::ALL, "is read");
        }
        match &expression.expr {
            Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) => {}
            Expr::Select(select) => {
                self.note(&select.operand, Kinds::OBJECT, "is read as an object");
                self.look(&select.operand);
            }
            Expr::Call(call) => {
                self.call(call);
                call.target.iter().for_each(|target| self.look(target));
                call.args.iter().for_each(|argument| self.look(argument));
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.look(element)),
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.look(&entry.key);
                        self.look(&entry.value);
                    }
                }
            }
            Expr::Comprehension(loops) => {
                self.note(&loops.iter_range, Kinds::LIST, "is looped over");
                for part in [&loops.iter_range, &loops.accu_init, &loops.loop_cond, &loops.loop_step, &loops.result] {
                    self.look(part);
                }
            }
        }
    }

    fn call(&mut self, call: &CallExpr) {
        let on = call.target.as_deref().or(call.args.first());
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, all) => {
                all.iter().for_each(|one| self.note(one, Kinds::BOOL, TRUTH));
            }
            (operators::CONDITIONAL, [asked, ..]) => self.note(asked, Kinds::BOOL, TRUTH),
            (operators::EQUALS | operators::NOT_EQUALS, [one, other]) => {
                for (one, other) in [(one, other), (other, one)] {
                    self.note(one, kind(other), "is compared with something else");
                }
            }
            (
                operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS,
                [one, other],
            ) => {
                for (one, other) in [(one, other), (other, one)] {
                    self.note(one, kind(other).common(ORDERED), "is compared with something else");
                }
            }
            (operators::ADD, [one, other]) => {
                for (one, other) in [(one, other), (other, one)] {
                    self.note(one, kind(other).common(ADDED), "is added to something else");
                }
            }
            (
                operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO | operators::NEGATE,
                all,
            ) => all.iter().for_each(|one| self.note(one, Kinds::NUMBER, "is calculated with")),
            (operators::INDEX, [whole, at]) => {
                let (kinds, how) = match kind(at) {
                    Kinds::TEXT => (Kinds::OBJECT, "is read as an object"),
                    Kinds::NUMBER if !matches!(whole.expr, Expr::Map(_)) => (Kinds::LIST, "is asked for an item"),
                    _ => (Kinds::LIST.and(Kinds::OBJECT), "is asked for an item"),
                };
                self.note(whole, kinds, how);
            }
            (operators::IN, [item, whole]) => {
                self.note(whole, Kinds::LIST.and(Kinds::OBJECT), "is asked what is in it");
                if let Expr::List(list) = &whole.expr {
                    let kinds = list.elements.iter().map(kind).fold(Kinds::NONE, Kinds::and);
                    self.note(item, kinds, "is looked for among something else");
                }
            }
            ("contains" | "startsWith" | "endsWith" | "matches", _) => {
                on.iter().for_each(|on| self.note(on, Kinds::TEXT, "is read as a text"));
                if call.target.is_some() {
                    call.args.iter().for_each(|part| self.note(part, Kinds::TEXT, "is read as a text"));
                }
            }
            ("keys", _) => on.iter().for_each(|on| self.note(on, Kinds::OBJECT, "is asked for its keys")),
            ("size", _) => {
                let sized = Kinds::TEXT.and(Kinds::LIST).and(Kinds::OBJECT);
                on.iter().for_each(|on| self.note(on, sized, "is asked for its size"));
            }
            _ => {}
        }
    }

    fn note(&mut self, expression: &IdedExpr, of: Kinds, how: &'static str) {
        if let Expr::Call(CallExpr { func_name, args, .. }) = &expression.expr
            && let (operators::CONDITIONAL, [_, one, other]) = (func_name.as_str(), args.as_slice())
        {
            self.note(one, of, how);
            self.note(other, of, how);
            return;
        }
        let has = matches!(&expression.expr, Expr::Select(select) if select.test);
        if let Some(path) = path(expression).filter(|path| !path.is_empty() && !has) {
            return self.add(path, of, how);
        }
        // What has none is told where it is put together.
        let kinds = kind(expression);
        if kinds.common(of).is_empty() && !kinds.is_empty() && self.fault.is_none() {
            let what = named(expression);
            self.fault = Some(format!(
                "{what} is {kinds} and {how}, so that no call would have an answer: compare it with a value of its own type"
            ));
        }
    }

    fn add(&mut self, path: Vec<String>, of: Kinds, how: &'static str) {
        let one = Use { path, of, how };
        if !one.path.is_empty() && !self.found.contains(&one) {
            self.found.push(one);
        }
    }
}

/// What a person calls an expression that is no argument.
fn named(expression: &IdedExpr) -> String {
    match &expression.expr {
        Expr::Ident(name) => name.clone(),
        Expr::Call(call) if call.func_name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            format!("{}(…)", call.func_name)
        }
        Expr::Select(_) => "has(…)".to_owned(),
        Expr::Literal(_) | Expr::List(_) | Expr::Map(_) => "what the rule writes".to_owned(),
        _ => "what comes of a part of it".to_owned(),
    }
}

/// The names on the way to an argument; none where this is something else.
pub(super) fn path(expression: &IdedExpr) -> Option<Vec<String>> {
    let (inner, name) = match &expression.expr {
        Expr::Ident(name) => return (name == "args").then(Vec::new),
        Expr::Select(select) => (&*select.operand, &*select.field),
        Expr::Call(CallExpr { func_name, target: None, args }) if func_name == operators::INDEX => {
            match args.as_slice() {
                [inner, IdedExpr { expr: Expr::Literal(LiteralValue::String(name)), .. }] => (inner, name.inner()),
                _ => return None,
            }
        }
        _ => return None,
    };
    let mut path = path(inner)?;
    path.push(name.to_owned());
    Some(path)
}
