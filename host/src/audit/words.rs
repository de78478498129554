//! The words of the wire, for rows and for what the host has to word without the gate: the same as the gate's payloads have.
//! Exhaustive, so that none is forgotten.

use crate::gate::{Assurance, Detail, Failure, OutcomeStatus, Reason};
use crate::tool::Effect;

pub(super) const fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::MalformedToken => "malformed_token",
        Reason::InvalidArguments => "invalid_arguments",
        Reason::UnknownOrUsed => "unknown_or_used",
        Reason::WrongOwner => "wrong_owner",
        Reason::WrongTool => "wrong_tool",
        Reason::ParamsChanged => "params_changed",
        Reason::Expired => "expired",
        Reason::ToolChanged => "tool_changed",
        Reason::AwaitingApproval => "awaiting_approval",
        Reason::Declined => "declined",
        Reason::Unresolved => "unresolved",
        Reason::UnknownTool => "unknown_tool",
        Reason::Refused => "refused",
        Reason::Denied => "denied",
        Reason::TooManyPending => "too_many_pending",
        Reason::Unavailable => "unavailable",
    }
}

pub(super) const fn detail(detail: Detail) -> &'static str {
    match detail {
        Detail::InFlight => "in_flight",
        Detail::OutcomeUnknown => "outcome_unknown",
        Detail::AlreadyRan => "already_ran",
        Detail::SettledHappened => "settled_happened",
        Detail::SettledDidNot => "settled_did_not",
    }
}

pub(crate) const fn failure(failure: Failure) -> &'static str {
    match failure {
        Failure::ToolError => "tool_error",
        Failure::Trapped => "trapped",
        Failure::Deadline => "deadline",
        Failure::OutputLimit => "output_limit",
    }
}

pub(crate) const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::None => "none",
        Effect::Partial => "partial",
        Effect::Unknown => "unknown",
    }
}

pub(crate) const fn assurance(assurance: Assurance) -> &'static str {
    match assurance {
        Assurance::TokenOnly => "token_only",
        Assurance::ClientPrompt => "client_prompt",
        Assurance::OutOfBand => "out_of_band",
    }
}

pub(super) const fn status(status: OutcomeStatus) -> &'static str {
    match status {
        OutcomeStatus::Ok => "ok",
        OutcomeStatus::Failed => "failed",
    }
}

pub(super) const fn settled(happened: bool) -> &'static str {
    if happened { "happened" } else { "did_not" }
}
