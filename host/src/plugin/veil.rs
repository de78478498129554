//! What a plug-in says passes through here before anybody gets it: first the values of its variables and the secrets of the
//! call are taken out, and only then is it cut, since the beginning of a secret is found by nobody any more.

use super::env::Secret;
use super::instance::shortened;
use crate::schema::secret::{MASK, Secrets, Taken};
use crate::text;
use crate::tool::{Outcome, Plan, Progress, ToolError};
use std::borrow::Cow;
use std::sync::Arc;

/// How many times its limit is looked at of a text that is cut: more is never shown, however little is left of it.
const ROOM: usize = 16;
/// Longest text of an error, in bytes; what is longer is cut, visibly.
pub(super) const TEXT: usize = 4096;

/// The values of a plug-in's variables, and the secrets of one call of it.
#[derive(Clone, Default)]
pub(super) struct Veil {
    variables: Option<Arc<Taken>>,
    call: Secrets,
}

impl Veil {
    pub(super) fn of(variables: &[(String, Secret)]) -> Self {
        let named = variables.iter().map(|(name, value)| (name.as_str(), value.value()));
        let variables = (!variables.is_empty()).then(|| Arc::new(Taken::named(named)));
        Self { variables, call: None }
    }

    /// The same for one call.
    pub(super) fn over(&self, call: Secrets) -> Self {
        Self { variables: self.variables.clone(), call }
    }

    fn all(&self) -> impl Iterator<Item = &Taken> {
        self.variables.as_deref().into_iter().chain(self.call.as_ref().map(|masked| &masked.taken))
    }

    /// A text, whole.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.all().fold(Cow::Borrowed(text), |text, taken| match taken.out_of(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(out) => out.into(),
        })
    }

    /// A text that was cut: what may be the beginning of a secret at its end goes, too.
    fn rest(&self, text: &str) -> String {
        let mut text = self.text(text).into_owned();
        let whole = text.len();
        for taken in self.all() {
            text.truncate(text.len() - taken.begun(&text));
        }
        if text.len() < whole {
            text.push_str(MASK);
        }
        text
    }

    /// A text, cut to so many bytes, visibly.
    pub(super) fn shown(&self, text: &str, limit: usize) -> String {
        let looked_at = text.get(..text.floor_char_boundary(limit.saturating_mul(ROOM))).unwrap_or_default();
        if looked_at.len() == text.len() {
            return shortened(self.text(text).into_owned(), limit);
        }
        let mut shown = self.rest(looked_at);
        shown.push('…');
        shortened(shown, limit)
    }

    /// The text of an error: of a long one both ends, as far as it can be looked through.
    fn told(&self, text: &str) -> String {
        match text.len() <= TEXT * ROOM {
            true => text::ends(&self.text(text), TEXT).into_owned(),
            false => {
                let said = format!(" ({} bytes in all)", text.len());
                self.shown(text, TEXT - said.len()) + &said
            }
        }
    }

    /// What was printed; `cut`: there was more.
    pub(super) fn printed(&self, bytes: &[u8], cut: bool) -> String {
        if !cut {
            return self.text(&String::from_utf8_lossy(bytes)).into_owned();
        }
        // A character of which the end is missing would hide that a secret begins before it.
        let broken = bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        self.rest(&String::from_utf8_lossy(bytes.get(..bytes.len() - broken).unwrap_or_default()))
    }

    /// A plan without values of variables; what of the call is in it is the host's to take out. A precondition goes back to the
    /// plug-in as it is, and is kept until then.
    pub(super) fn plan(&self, plan: Plan) -> Result<Plan, ToolError> {
        let Some(variables) = &self.variables else { return Ok(plan) };
        let Plan { summary, details, warnings, level, precondition } = plan;
        if precondition.as_ref().is_some_and(|precondition| variables.is_in(precondition)) {
            let what = "the precondition of its plan repeats the value of a variable";
            return Err(ToolError::OutputLimit(what.to_owned()));
        }
        Ok(Plan {
            summary: variables.out_of(&summary).into_owned(),
            details: variables.out_of_json(&details).into_owned(),
            warnings: warnings.iter().map(|warning| variables.out_of(warning).into_owned()).collect(),
            level,
            precondition,
        })
    }

    /// The same for what a run came to.
    pub(super) fn outcome(&self, outcome: Outcome) -> Outcome {
        let Some(variables) = &self.variables else { return outcome };
        let Outcome { message, details } = outcome;
        Outcome {
            message: variables.out_of(&message).into_owned(),
            details: variables.out_of_json(&details).into_owned(),
        }
    }

    /// An error, not longer than anybody reads.
    pub(super) fn error(&self, error: ToolError) -> ToolError {
        let shown = |text: String| self.told(&text);
        match error {
            ToolError::UnknownTool => ToolError::UnknownTool,
            ToolError::InvalidArguments(text) => ToolError::InvalidArguments(shown(text)),
            ToolError::Refused(text) => ToolError::Refused(shown(text)),
            ToolError::Failed { message, effect } => ToolError::Failed { message: shown(message), effect },
            ToolError::Trapped(text) => ToolError::Trapped(shown(text)),
            ToolError::Deadline(text) => ToolError::Deadline(shown(text)),
            ToolError::OutputLimit(text) => ToolError::OutputLimit(shown(text)),
            ToolError::Unavailable(text) => ToolError::Unavailable(shown(text)),
        }
    }

    /// Reports how far a call is.
    pub(super) fn report(&self, progress: &dyn Progress, fraction: Option<f64>, message: &str, limit: usize) {
        progress.report(fraction, &self.shown(message, limit));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;
    use crate::schema::Schema;
    use crate::tool::Effect;

    const ARGUMENT: &str = "argument-é-secret";
    const KEY: &str = "-----BEGIN-----\nfirst line of it\nsecond line of it\n-----END-----\n";

    /// With a variable, a key in several lines, and a secret argument.
    fn veil() -> Veil {
        let schema = r#"{"type":"object","properties":{"p":{"writeOnly":true}}}"#;
        let call = Schema::compile(schema).unwrap().without_secrets(&format!(r#"{{"p":"{ARGUMENT}"}}"#));
        let variables = [("TOKEN", "variable-secret"), ("KEY", KEY), ("SHORT", "abc")];
        Veil::of(&variables.map(|(name, value)| (name.to_owned(), Secret::new(value)))).over(call)
    }

    #[test]
    fn a_text_is_cut_behind_its_secrets_wherever_the_limit_is() {
        let veil = veil();
        for (secret, sign) in [("variable-secret", "[TOKEN]"), (ARGUMENT, "(secret)"), ("second line of it", "[KEY]")] {
            for padding in (0..40).chain(TEXT - 40..TEXT + 4).chain(TEXT * ROOM - 40..TEXT * ROOM + 4) {
                let text = format!("{}{secret} and {}", ".".repeat(padding), "x".repeat(TEXT * ROOM));
                let said = format!(" ({} bytes in all)", text.len());
                let ToolError::Refused(shown) = veil.error(ToolError::Refused(text)) else { panic!("another error") };
                assert!(shown.len() <= TEXT, "{padding}");
                let shown = shown.strip_suffix(&said).unwrap();
                assert!(shown.ends_with('…'), "{padding}");
                let rest = shown.trim_start_matches('.').trim_end_matches('…').trim_end_matches('x');
                assert!(format!("{sign} and ").starts_with(rest), "{padding}: {rest}");
            }
        }
        // What can be looked through whole shows its end as well.
        for padding in TEXT..TEXT + 1_000 {
            let text = format!("{ARGUMENT}{}variable-secret end", ".".repeat(padding));
            let ToolError::Refused(shown) = veil.error(ToolError::Refused(text)) else { panic!("another error") };
            assert!(shown.starts_with("(secret)..") && shown.ends_with("..[TOKEN] end"), "{shown}");
            assert!(shown.contains(" bytes in all, SHA-256 ") && shown.len() <= TEXT, "{shown}");
        }
        assert_eq!(veil.shown("variable-secret", 4096), "[TOKEN]");
        assert_eq!(veil.shown("abc", 4096), "abc");
        let failed = ToolError::Failed { message: "at variable-secret".into(), effect: Effect::None };
        assert!(matches!(veil.error(failed), ToolError::Failed { message, .. } if message == "at [TOKEN]"));
    }

    #[test]
    fn what_was_printed_may_be_cut_inside_a_character() {
        let veil = veil();
        let text = format!("pw {ARGUMENT}").into_bytes();
        for end in 4..text.len() {
            assert_eq!(veil.printed(&text[..end], true), "pw (secret)", "{end}");
        }
        assert_eq!(veil.printed(b"is variable-se", true), "is (secret)");
        assert_eq!(veil.printed(b"is variable-secret, var", true), "is [TOKEN], (secret)");
        assert_eq!(veil.printed(b"is variable-se", false), "is variable-se");
        assert_eq!(veil.printed(b"is \xff variable-secret \xff", false), "is \u{fffd} [TOKEN] \u{fffd}");
    }

    #[test]
    fn plans_and_outcomes_have_the_names_of_variables_in_the_place_of_their_values() {
        let plan = Plan::new("with variable-secret", r#"{"k":["first line of it","\u0076ariable-secret"]}"#);
        let plan = veil().plan(plan.warning("second line of it").precondition("v1")).unwrap();
        assert_eq!((plan.summary.as_str(), plan.details.as_str()), ("with [TOKEN]", r#"{"k":["[KEY]","[TOKEN]"]}"#));
        assert_eq!((plan.warnings, plan.precondition.as_deref()), (vec!["[KEY]".to_owned()], Some("v1")));
        let outcome = veil().outcome(Outcome::new("variable-secret", r#"{"variable-secret":1}"#));
        assert_eq!((outcome.message.as_str(), outcome.details.as_str()), ("[TOKEN]", r#"{"[TOKEN]":1}"#));
        for precondition in ["variable-secret", "as variable-secret", r#"{"k":"\u0076ariable-secret"}"#] {
            let refused = veil().plan(Plan::new("s", "{}").precondition(precondition)).unwrap_err();
            assert!(matches!(refused, ToolError::OutputLimit(what) if what.contains("value of a variable")));
        }
    }

    #[test]
    fn progress_is_cut_behind_its_secrets() {
        struct Heard(std::sync::Mutex<String>);
        impl Progress for Heard {
            fn report(&self, _: Option<f64>, message: &str) {
                message.clone_into(&mut self.0.lock().unwrap());
            }
        }
        let heard = Heard(std::sync::Mutex::default());
        veil().report(&heard, None, &format!("{}{ARGUMENT}", ".".repeat(10)), 16);
        assert_eq!(*heard.0.lock().unwrap(), "..........(se…");
    }
}
