//! The changes to a condition by which it is asked as the documents say: operators of our own, and loops over lists only, each
//! step of which looks at the time, and at what it keeps.

use super::TICK;
use super::check::literal;
use super::operators::name;
use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use cel::common::types::CelBool;

/// Puts this module's operators in the place of the crate's, and a look at the time into every loop.
pub(super) fn rewrite(expression: &mut IdedExpr) {
    match &mut expression.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) => {}
        Expr::Select(select) => rewrite(&mut select.operand),
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| rewrite(target));
            call.args.iter_mut().for_each(rewrite);
            if let Some(own) = own(call) {
                call.func_name = own.into();
            }
        }
        Expr::List(list) => list.elements.iter_mut().for_each(rewrite),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    rewrite(&mut entry.key);
                    rewrite(&mut entry.value);
                }
            }
        }
        Expr::Comprehension(comprehension) => {
            for part in [
                &mut comprehension.iter_range,
                &mut comprehension.accu_init,
                &mut comprehension.loop_cond,
                &mut comprehension.loop_step,
                &mut comprehension.result,
            ] {
                rewrite(part);
            }
            let items = CallExpr {
                func_name: name::ITEMS.into(),
                target: None,
                args: vec![std::mem::take(&mut comprehension.iter_range)],
            };
            comprehension.iter_range.expr = Expr::Call(items);
            // `map` and `filter` append in place as long as they keep their form: these are watched inside it.
            if let Some(item) = kept(&mut comprehension.loop_step) {
                counted(item);
            }
            match appended(&mut comprehension.loop_step) {
                Some(part) => behind_tick(part),
                None => behind_tick(&mut comprehension.loop_cond),
            }
        }
    }
}

/// What stands for an operator of the crate's; none where the crate's is right: beside a `null` that the rule writes, which is
/// compared with anything, and with what a loop has gathered, whose form the crate looks for.
fn own(call: &CallExpr) -> Option<&'static str> {
    let null = |expression: &IdedExpr| matches!(expression.expr, Expr::Literal(LiteralValue::Null));
    let gathered = |expression: &IdedExpr| matches!(&expression.expr, Expr::Ident(name) if name.starts_with('@'));
    if call.func_name == "double" {
        return Some(name::DOUBLE);
    }
    let [one, other] = call.args.as_slice() else { return None };
    if gathered(one) {
        return None;
    }
    Some(match call.func_name.as_str() {
        operators::EQUALS | operators::NOT_EQUALS if null(one) || null(other) => return None,
        operators::EQUALS => name::EQUAL,
        operators::NOT_EQUALS => name::UNEQUAL,
        operators::LESS => name::LESS,
        operators::LESS_EQUALS => name::AT_MOST,
        operators::GREATER => name::GREATER,
        operators::GREATER_EQUALS => name::AT_LEAST,
        operators::IN => match &other.expr {
            Expr::List(list) if list.elements.iter().any(null) => name::IN_WITH_NULL,
            _ => name::IN,
        },
        operators::ADD => name::PLUS,
        operators::SUBSTRACT => name::MINUS,
        operators::MULTIPLY => name::TIMES,
        operators::DIVIDE => name::OVER,
        _ => return None,
    })
}

/// The part of a step that appends which is evaluated each time: the guard of `filter`, the item of `map`.
fn appended(step: &mut IdedExpr) -> Option<&mut IdedExpr> {
    let Expr::Call(call) = &mut step.expr else { return None };
    match (call.func_name.as_str(), call.args.as_mut_slice()) {
        (operators::CONDITIONAL, [guard, then, _]) => match &then.expr {
            Expr::Call(add)
                if add.func_name == operators::ADD
                    && matches!(add.args.last(), Some(IdedExpr { expr: Expr::List(_), .. })) =>
            {
                Some(guard)
            }
            _ => None,
        },
        (operators::ADD, [_, IdedExpr { expr: Expr::List(list), .. }]) => list.elements.first_mut(),
        _ => None,
    }
}

/// The item of a step that appends, where it is not the one that is looped over.
fn kept(step: &mut IdedExpr) -> Option<&mut IdedExpr> {
    let Expr::Call(call) = &mut step.expr else { return None };
    match (call.func_name.as_str(), call.args.as_mut_slice()) {
        (operators::CONDITIONAL, [_, then, _]) => kept(then),
        (operators::ADD, [_, IdedExpr { expr: Expr::List(list), .. }]) => {
            list.elements.first_mut().filter(|item| !matches!(item.expr, Expr::Ident(_)))
        }
        _ => None,
    }
}

/// `@kept(item)`, which is the item or an error.
fn counted(item: &mut IdedExpr) {
    let args = vec![std::mem::take(item)];
    item.expr = Expr::Call(CallExpr { func_name: name::KEPT.into(), target: None, args });
}

/// `@tick() ? part : false`, where a tick is true or an error.
fn behind_tick(part: &mut IdedExpr) {
    let tick = CallExpr { func_name: TICK.into(), target: None, args: Vec::new() };
    let args = vec![
        IdedExpr { id: 0, expr: Expr::Call(tick) },
        std::mem::take(part),
        literal(LiteralValue::Boolean(CelBool::from(false))),
    ];
    part.expr = Expr::Call(CallExpr { func_name: operators::CONDITIONAL.into(), target: None, args });
}
