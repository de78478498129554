//! Of which kinds a part of a condition can come: what is known of it without a call.

use super::operators::name::KEYS;
use super::uses::path;
use crate::schema::outline::Kinds;
use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

/// What has an order.
pub(super) const ORDERED: Kinds = Kinds::NUMBER.and(Kinds::TEXT).and(Kinds::BOOL);
/// What can be added.
pub(super) const ADDED: Kinds = Kinds::NUMBER.and(Kinds::TEXT).and(Kinds::LIST);

/// Where nothing is known of the arguments.
pub(super) fn kind(expression: &IdedExpr) -> Kinds {
    kind_with(expression, &|_| Kinds::ALL)
}

/// Where something is known of the arguments. A `null` that is written may be compared with anything, so it counts as all; so does
/// what is none of JSON's kinds.
pub(super) fn kind_with(expression: &IdedExpr, argument: &dyn Fn(&[String]) -> Kinds) -> Kinds {
    let read = || match path(expression) {
        Some(path) if !path.is_empty() => argument(&path),
        _ => Kinds::ALL,
    };
    match &expression.expr {
        Expr::Literal(LiteralValue::Boolean(_)) => Kinds::BOOL,
        Expr::Literal(LiteralValue::Double(_) | LiteralValue::Int(_) | LiteralValue::UInt(_)) => Kinds::NUMBER,
        Expr::Literal(LiteralValue::String(_)) => Kinds::TEXT,
        Expr::Ident(name) => match name.as_str() {
            "args" => Kinds::OBJECT,
            "owner" | "tool" => Kinds::TEXT,
            _ => Kinds::ALL,
        },
        Expr::Select(select) if select.test => Kinds::BOOL,
        Expr::Select(_) => read(),
        Expr::Call(call) if call.func_name == operators::INDEX => read(),
        Expr::Call(call) => of_call(call, argument),
        Expr::List(_) => Kinds::LIST,
        Expr::Map(_) => Kinds::OBJECT,
        // What it gathers, or what it makes of that.
        Expr::Comprehension(loops) => match &loops.result.expr {
            Expr::Ident(name) if *name == loops.accu_var => kind_with(&loops.accu_init, argument),
            _ => kind_with(&loops.result, argument),
        },
        Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => Kinds::ALL,
    }
}

fn of_call(call: &CallExpr, argument: &dyn Fn(&[String]) -> Kinds) -> Kinds {
    let of = |expression| kind_with(expression, argument);
    match (call.func_name.as_str(), call.args.as_slice()) {
        (operators::CONDITIONAL, [_, one, other]) => of(one).and(of(other)),
        (operators::ADD, [one, other]) => of(one).common(of(other)).common(ADDED),
        (
            operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO
            | operators::NEGATE
            | "size"
            | "int"
            | "uint"
            | "double",
            _,
        ) => Kinds::NUMBER,
        ("string", _) => Kinds::TEXT,
        (KEYS, _) => Kinds::LIST,
        ("dyn", _) => call.target.as_deref().or(call.args.first()).map_or(Kinds::ALL, of),
        ("type", _) => Kinds::ALL,
        _ => Kinds::BOOL,
    }
}
