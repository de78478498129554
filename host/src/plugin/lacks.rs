//! What a plug-in asks for and has not, said beside its own words where a call of it went wrong for want of it: whoever reads
//! "no such file" would look for the file.

use super::given::{Grant, GrantKind};
use crate::tool::ToolError;

/// Directories and variables that a plug-in does without.
pub(super) struct Lacks {
    lacks: Vec<Grant>,
    /// Whether it has no directory at all, and so whatever it does with files fails.
    no_directory: bool,
}

impl Lacks {
    pub(super) fn of(told: &[Grant]) -> Self {
        let looked_for = |grant: &&Grant| matches!(grant.kind, GrantKind::Directory | GrantKind::Variable);
        let lacks = told.iter().filter(looked_for).filter(|grant| grant.may.is_none()).cloned().collect();
        let directory = |grant: &Grant| grant.kind == GrantKind::Directory && grant.may.is_some();
        Self { lacks, no_directory: !told.iter().any(directory) }
    }

    /// The error, with what may be behind it.
    pub(super) fn beside(&self, error: ToolError) -> ToolError {
        match error {
            ToolError::Refused(text) => ToolError::Refused(self.with(text)),
            ToolError::Failed { message, effect } => ToolError::Failed { message: self.with(message), effect },
            ToolError::Trapped(text) => ToolError::Trapped(self.with(text)),
            error => error,
        }
    }

    /// It is behind it where the plug-in names it, or where there is nothing of the kind.
    fn with(&self, mut text: String) -> String {
        let behind =
            |grant: &&Grant| text.contains(&grant.what) || (grant.kind == GrantKind::Directory && self.no_directory);
        if let Some(grant) = self.lacks.iter().find(behind) {
            text.push_str(&format!(" (it does not have {}: {})", grant.what, grant.why.as_deref().unwrap_or_default()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(kind: GrantKind, what: &str, may: Option<&str>) -> Grant {
        let why = may.is_none().then(|| "it is not granted".to_owned());
        Grant { kind, what: what.into(), may: may.map(str::to_owned), why }
    }

    #[track_caller]
    fn check(told: &[Grant], said: &str, expected: &str) {
        let shown = Lacks::of(told).beside(ToolError::Refused(said.to_owned()));
        assert!(matches!(&shown, ToolError::Refused(text) if text == expected), "{shown:?}");
    }

    #[test]
    fn what_a_plug_in_lacks_is_said_where_it_matters_and_nowhere_else() {
        let files = || grant(GrantKind::Directory, "/files", None);
        let note = " (it does not have /files: it is not granted)";
        check(&[files()], "no such file", &format!("no such file{note}"));
        let data = || grant(GrantKind::Directory, "/data", Some("read-only"));
        check(&[files(), data()], "no order 7", "no order 7");
        check(&[files(), data()], "/files/a: no such file", &format!("/files/a: no such file{note}"));
        check(&[data()], "/data/a: no such file", "/data/a: no such file");
        check(&[], "no order 7", "no order 7");
        let key = || grant(GrantKind::Variable, "API_KEY", None);
        check(&[key()], "no order 7", "no order 7");
        let note = " (it does not have API_KEY: it is not granted)";
        check(&[key()], "API_KEY is not set", &format!("API_KEY is not set{note}"));
    }
}
