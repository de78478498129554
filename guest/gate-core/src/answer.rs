//! The closed sets of what a call can be answered, each with its name on the wire and its advice.

use crate::prose::{clause, decimal, fill, say};
use crate::settings::Millis;
use alloc::string::String;

/// What a confirmation proves, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assurance {
    /// The caller held the token: it orders the calls and proves no person.
    TokenOnly,
    /// The caller's client says that its user agreed.
    ClientPrompt,
    /// An approver with a credential of their own agreed.
    OutOfBand,
}

impl Assurance {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::TokenOnly => "token_only",
            Self::ClientPrompt => "client_prompt",
            Self::OutOfBand => "out_of_band",
        }
    }
}

/// Why a call was refused before anything ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What came as a token is none.
    MalformedToken,
    /// Not strict JSON, over a limit, or not what the tool's schema asks for.
    InvalidArguments,
    /// No confirmation of that token can run.
    UnknownOrUsed,
    /// Issued to another owner.
    WrongOwner,
    /// Issued for another tool.
    WrongTool,
    /// Issued for other arguments.
    ParamsChanged,
    /// Past its time.
    Expired,
    /// Not what was previewed.
    ToolChanged,
    /// A person has to agree first.
    AwaitingApproval,
    /// A person refused.
    Declined,
    /// An identical call is running, or nobody knows how it ended.
    Unresolved,
    /// There is no such tool.
    UnknownTool,
    /// The tool said no.
    Refused,
    /// The operator's policy said no.
    Denied,
    /// Too many confirmations are pending.
    TooManyPending,
    /// Store, audit or tool could not be reached.
    Unavailable,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::MalformedToken,
        Self::InvalidArguments,
        Self::UnknownOrUsed,
        Self::WrongOwner,
        Self::WrongTool,
        Self::ParamsChanged,
        Self::Expired,
        Self::ToolChanged,
        Self::AwaitingApproval,
        Self::Declined,
        Self::Unresolved,
        Self::UnknownTool,
        Self::Refused,
        Self::Denied,
        Self::TooManyPending,
        Self::Unavailable,
    ];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::MalformedToken => "malformed_token",
            Self::InvalidArguments => "invalid_arguments",
            Self::UnknownOrUsed => "unknown_or_used",
            Self::WrongOwner => "wrong_owner",
            Self::WrongTool => "wrong_tool",
            Self::ParamsChanged => "params_changed",
            Self::Expired => "expired",
            Self::ToolChanged => "tool_changed",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Declined => "declined",
            Self::Unresolved => "unresolved",
            Self::UnknownTool => "unknown_tool",
            Self::Refused => "refused",
            Self::Denied => "denied",
            Self::TooManyPending => "too_many_pending",
            Self::Unavailable => "unavailable",
        }
    }

    /// What to do next, where nothing more is known.
    fn advice(self) -> &'static str {
        match self {
            Self::MalformedToken => "pass the token exactly as it was given, or leave it out to get a new preview",
            Self::InvalidArguments => "nothing ran; correct the arguments and call again",
            Self::UnknownOrUsed => {
                "no confirmation has this token; call again without a token to get a new preview, and look first whether the effect is there already"
            }
            Self::WrongOwner => {
                "this token was issued to another caller; call without a token to get a preview of your own"
            }
            Self::WrongTool => {
                "this token was issued for another tool; call the tool it was issued for, or call this one without a token to get a preview"
            }
            Self::ParamsChanged => {
                "the arguments are not those of the preview; call with the same arguments, or without a token to get a preview of the new ones"
            }
            Self::Expired => {
                "the time to confirm has passed and nothing ran; call again without a token to get a new preview"
            }
            Self::ToolChanged => {
                "the tool, its grants or its rules changed after the preview and nothing ran; call again without a token to get a new preview"
            }
            Self::AwaitingApproval => {
                "a person has to approve this call and has not done so yet; call again later with the same arguments and token"
            }
            Self::Declined => "a person declined this call; do not ask for it again unless the user tells you to",
            Self::Unresolved => {
                "an identical call was started and nobody knows how it ended; look whether its effect is there, and ask the operator to settle it with `counterfoil resolve`"
            }
            Self::UnknownTool => "list the tools and call one of those",
            Self::Refused => "nothing ran; read why, and call again only if that has changed",
            Self::Denied => "the operator's policy does not allow this call; do not try to get round it",
            Self::TooManyPending => {
                "too many confirmations are waiting; confirm one, or wait until some have expired, and call again"
            }
            Self::Unavailable => {
                "nothing ran and no token was spent; call again later with the same arguments and token, if you have one"
            }
        }
    }
}

/// What is known of a confirmation that cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The run has started and its deadline has not passed.
    InFlight,
    /// The deadline has passed and nothing was recorded.
    OutcomeUnknown,
    /// It ran; its outcome is kept no longer.
    AlreadyRan,
    /// The operator found that the effect happened.
    SettledHappened,
    /// The operator found that it did not.
    SettledDidNot,
}

impl Detail {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::InFlight => "in_flight",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::AlreadyRan => "already_ran",
            Self::SettledHappened => "settled_happened",
            Self::SettledDidNot => "settled_did_not",
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::InFlight => "this call is still running",
            Self::OutcomeUnknown => {
                "this call was started and nobody knows how it ended; look whether its effect is there before you retry, and ask the operator to settle it with `counterfoil resolve`"
            }
            Self::AlreadyRan => {
                "this call ran and its outcome is kept no longer; look at its effect, and call without a token only to do it once more"
            }
            Self::SettledHappened => {
                "the operator found that this call took effect; call without a token only to do it once more"
            }
            Self::SettledDidNot => {
                "the operator found that this call took no effect; call again without a token to get a new preview"
            }
        }
    }
}

/// How a started run failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The tool said so.
    ToolError,
    /// The tool crashed.
    Trapped,
    /// The tool was stopped at its deadline.
    Deadline,
    /// The tool returned more than it may.
    OutputLimit,
}

impl Failure {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolError => "tool_error",
            Self::Trapped => "trapped",
            Self::Deadline => "deadline",
            Self::OutputLimit => "output_limit",
        }
    }
}

/// Whether a failed run changed anything, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing changed.
    None,
    /// Something changed, not everything.
    Partial,
    /// Not known.
    Unknown,
}

impl Effect {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::None => "nothing changed; another try needs a new preview: call again without a token",
            Self::Partial => {
                "a part of it was done; look what is there before you go on, and call again without a token to get a new preview"
            }
            Self::Unknown => {
                "it is not known what was done; look before you go on, and call again without a token to get a new preview"
            }
        }
    }
}

/// A refusal: this call ran nothing and spent nothing. An earlier one may have: see [`Detail`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// What more is known, of `unknown_or_used`.
    pub detail: Option<Detail>,
    /// What was wrong and what to do next.
    pub error: String,
    /// In how long it makes sense to ask again.
    pub retry_after: Option<Millis>,
}

impl Rejection {
    /// With the reason's standing advice.
    pub fn new(reason: Reason) -> Self {
        Self { reason, detail: None, error: say(reason.advice()), retry_after: None }
    }

    /// What was wrong, and then the reason's standing advice.
    pub fn because(reason: Reason, what: &str) -> Self {
        let what = clause(what);
        if what.is_empty() {
            return Self::new(reason);
        }
        Self { error: fill("%; %", &[what, reason.advice()]), ..Self::new(reason) }
    }

    /// `unavailable` where the swap of a token and the look at it afterwards both got no answer.
    pub fn unsure() -> Self {
        let error = "the store did not answer while this call was started, so it is not known whether its token is spent; nothing ran; call again later with the same arguments and token";
        Self { error: say(error), ..Self::new(Reason::Unavailable) }
    }

    /// `unknown_or_used` with what is known of it.
    pub fn used(detail: Detail) -> Self {
        let reason = Reason::UnknownOrUsed;
        Self { reason, detail: Some(detail), error: say(detail.advice()), retry_after: None }
    }

    /// Says when to ask again, in whole seconds, at least one.
    #[must_use]
    pub fn again_in(mut self, wait: Millis) -> Self {
        self.error = fill("%; ask again in % s", &[&self.error, &decimal(wait.div_ceil(1000).max(1))]);
        self.retry_after = Some(wait);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_lower_case_and_without_full_stop() {
        for reason in Reason::ALL {
            let text = Rejection::new(reason).error;
            assert!(text.starts_with(|c: char| c.is_ascii_lowercase()), "{text}");
            assert!(!text.ends_with('.') && text.len() > 20, "{text}");
        }
    }

    #[test]
    fn what_was_wrong_comes_first() {
        let text = Rejection::because(Reason::Refused, "offer 99 not found.").error;
        assert!(text.starts_with("offer 99 not found; nothing ran"), "{text}");
    }

    #[test]
    fn waiting_is_told_in_seconds_rounded_up() {
        let rejection = Rejection::used(Detail::InFlight).again_in(1_001);
        assert_eq!(rejection.error, "this call is still running; ask again in 2 s");
        assert_eq!(rejection.retry_after, Some(1_001));
    }
}
