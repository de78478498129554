//! Which arguments a condition reads, and as what: to be held against what a tool's schema says of them.

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
pub(super) fn uses(expression: &IdedExpr) -> Vec<Use> {
    let mut uses = Vec::new();
    look(expression, &mut uses);
    uses
}

fn look(expression: &IdedExpr, uses: &mut Vec<Use>) {
    note(expression, Kinds::ALL, "is read", uses);
    match &expression.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) => {}
        Expr::Select(select) => {
            note(&select.operand, Kinds::OBJECT, "is read as an object", uses);
            look(&select.operand, uses);
        }
        Expr::Call(call) => {
            calls(call, uses);
            call.target.iter().for_each(|target| look(target, uses));
            call.args.iter().for_each(|argument| look(argument, uses));
        }
        Expr::List(list) => list.elements.iter().for_each(|element| look(element, uses)),
        Expr::Map(map) => {
            for entry in &map.entries {
                if let EntryExpr::MapEntry(entry) = &entry.expr {
                    look(&entry.key, uses);
                    look(&entry.value, uses);
                }
            }
        }
        Expr::Comprehension(loops) => {
            note(&loops.iter_range, Kinds::LIST, "is looped over", uses);
            for part in [&loops.iter_range, &loops.accu_init, &loops.loop_cond, &loops.loop_step, &loops.result] {
                look(part, uses);
            }
        }
    }
}

fn calls(call: &CallExpr, uses: &mut Vec<Use>) {
    let on = call.target.as_deref().or(call.args.first());
    match (call.func_name.as_str(), call.args.as_slice()) {
        (operators::EQUALS | operators::NOT_EQUALS, [one, other]) => {
            for (one, other) in [(one, other), (other, one)] {
                note(one, literal(other), "is compared with something else", uses);
            }
        }
        (operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS, [one, other]) => {
            for (one, other) in [(one, other), (other, one)] {
                let kinds = literal(other).common(Kinds::NUMBER.and(Kinds::TEXT).and(Kinds::BOOL));
                note(one, kinds, "is compared with something else", uses);
            }
        }
        (operators::IN, [item, whole]) => {
            note(whole, Kinds::LIST.and(Kinds::OBJECT), "is asked what is in it", uses);
            if let Expr::List(list) = &whole.expr {
                let kinds = list.elements.iter().map(literal).fold(Kinds::NONE, Kinds::and);
                note(item, kinds, "is looked for among something else", uses);
            }
        }
        ("contains" | "startsWith" | "endsWith" | "matches", _) => {
            on.iter().for_each(|on| note(on, Kinds::TEXT, "is read as a text", uses));
        }
        ("keys", _) => on.iter().for_each(|on| note(on, Kinds::OBJECT, "is asked for its keys", uses)),
        ("size", _) => {
            let sized = Kinds::TEXT.and(Kinds::LIST).and(Kinds::OBJECT);
            on.iter().for_each(|on| note(on, sized, "is asked for its size", uses));
        }
        _ => {}
    }
}

fn note(expression: &IdedExpr, of: Kinds, how: &'static str, uses: &mut Vec<Use>) {
    if let Some(path) = path(expression).filter(|path| !path.is_empty()) {
        let one = Use { path, of, how };
        if !uses.contains(&one) {
            uses.push(one);
        }
    }
}

/// The names on the way to an argument; none where this is something else.
fn path(expression: &IdedExpr) -> Option<Vec<String>> {
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

/// The kinds that a literal can be compared with; all of anything else, and of `null`, which is compared with anything.
fn literal(expression: &IdedExpr) -> Kinds {
    match &expression.expr {
        Expr::Literal(LiteralValue::Boolean(_)) => Kinds::BOOL,
        Expr::Literal(LiteralValue::Double(_) | LiteralValue::Int(_) | LiteralValue::UInt(_)) => Kinds::NUMBER,
        Expr::Literal(LiteralValue::String(_)) => Kinds::TEXT,
        Expr::List(_) => Kinds::LIST,
        Expr::Map(_) => Kinds::OBJECT,
        _ => Kinds::ALL,
    }
}
