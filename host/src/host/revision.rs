//! The revision of a tool: a digest of what would run and under which grants and rules. Whatever changes one of them changes it,
//! and a confirmation or a waiting call with another one does not run.

use super::in_force::Applied;
use crate::digest::Digest;
use crate::permit::Rules;
use crate::policy::Level;
use crate::tool::{Backend, Declaration};

/// What a revision is of.
pub(super) struct Revised<'a> {
    pub(super) backend: &'a dyn Backend,
    pub(super) declaration: &'a Declaration,
    pub(super) rules: Rules,
    pub(super) applied: &'a Applied,
    pub(super) confirm_parameter: &'a str,
    pub(super) model: &'a str,
}

pub(super) fn of(revised: Revised<'_>) -> String {
    let Revised { backend, declaration, rules, applied, confirm_parameter, model } = revised;
    let fields = [
        backend.name(),
        &backend.identity(&declaration.name),
        &declaration.name,
        &declaration.input_schema,
        if declaration.output_schema.is_some() { "output" } else { "" },
        declaration.output_schema.as_deref().unwrap_or(""),
        rules.declared.name(),
        if rules.critical { "critical" } else { "" },
        rules.operator.map_or("", Level::name),
        // The assurance that a confirmation needs: the only one there is until people approve.
        "token_only",
        confirm_parameter,
        model,
    ];
    let policy = applied.fields();
    let mut digest = Digest::new("counterfoil revision 2");
    for field in fields.into_iter().chain(policy.iter().map(String::as_str)) {
        digest.field(field);
    }
    digest.finish()
}
