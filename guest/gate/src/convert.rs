//! Between the generated types and those of `gate-core`. Every match is exhaustive: a new case has to be said here.

use crate::bindings::exports::counterfoil::gate::gate;
use alloc::string::String;
use core::sync::atomic::Ordering::Relaxed;
use counterfoil_gate_core::answer::{Assurance, Detail, Effect, Failure, Reason, Rejection};
use counterfoil_gate_core::confirmation::{Call, Outcome, Plan, Settlement, Status};
use counterfoil_gate_core::contract::{Challenge, Earlier, Permit, Replayed};
use counterfoil_gate_core::level::Level;
use counterfoil_gate_core::prose::say;
use counterfoil_gate_core::settings::Settings;
use counterfoil_gate_core::token::Token;

/// Both directions of an enum with the same cases on both sides.
macro_rules! both {
    ($there:ident, $back:ident, $wit:ty, $core:ty, $($case:ident),+) => {
        pub fn $there(value: $wit) -> $core {
            match value { $(<$wit>::$case => <$core>::$case),+ }
        }
        pub fn $back(value: $core) -> $wit {
            match value { $(<$core>::$case => <$wit>::$case),+ }
        }
    };
}

both!(assurance, assurance_out, gate::Assurance, Assurance, TokenOnly, ClientPrompt, OutOfBand);
both!(level, level_out, gate::Level, Level, Safe, Caution, Review, ApprovalRequired);
both!(
    detail_in,
    detail_out,
    gate::Detail,
    Detail,
    InFlight,
    OutcomeUnknown,
    AlreadyRan,
    SettledHappened,
    SettledDidNot
);
both!(status_in, status_out, gate::OutcomeStatus, Status, Ok, Failed);
both!(
    reason_in,
    reason_out,
    gate::Reason,
    Reason,
    MalformedToken,
    InvalidArguments,
    UnknownOrUsed,
    WrongOwner,
    WrongTool,
    ParamsChanged,
    Expired,
    ToolChanged,
    AwaitingApproval,
    Declined,
    Unresolved,
    UnknownTool,
    Refused,
    Denied,
    TooManyPending,
    Unavailable
);

pub fn failure(value: gate::Failure) -> Failure {
    match value {
        gate::Failure::ToolError => Failure::ToolError,
        gate::Failure::Trapped => Failure::Trapped,
        gate::Failure::Deadline => Failure::Deadline,
        gate::Failure::OutputLimit => Failure::OutputLimit,
    }
}

pub fn effect(value: gate::Effect) -> Effect {
    match value {
        gate::Effect::None => Effect::None,
        gate::Effect::Partial => Effect::Partial,
        gate::Effect::Unknown => Effect::Unknown,
    }
}

pub fn rejection(value: Rejection) -> gate::Rejection {
    gate::Rejection {
        reason: reason_out(value.reason),
        detail: value.detail.map(detail_out),
        error: value.error,
        retry_after: value.retry_after,
    }
}

pub fn rejection_in(value: gate::Rejection) -> Rejection {
    Rejection {
        reason: reason_in(value.reason),
        detail: value.detail.map(detail_in),
        error: value.error,
        retry_after: value.retry_after,
    }
}

pub fn call(value: &gate::Call) -> Call<'_> {
    Call { owner: &value.owner, tool: &value.tool, revision: &value.revision, arguments: &value.arguments }
}

pub fn plan(value: gate::Plan) -> Plan {
    Plan {
        summary: value.summary,
        preview: value.preview,
        warnings: value.warnings,
        precondition: value.precondition,
        masked_arguments: value.masked_arguments,
        needs: assurance(value.needs),
        approvers: value.approvers,
    }
}

pub fn challenge(value: Challenge) -> gate::Challenge {
    gate::Challenge {
        token: say(value.token.reveal()),
        approval_id: value.approval_id,
        expires_at: value.expires,
        ttl: value.ttl,
        recent: value.recent.into_iter().map(earlier).collect(),
    }
}

fn earlier(value: Earlier) -> gate::Earlier {
    let state = if value.completed { gate::EarlierState::Completed } else { gate::EarlierState::InFlight };
    gate::Earlier { state, at: value.at, ago: value.ago }
}

/// A challenge that comes back to be shown. A text that is no token shows as an empty one, which nothing accepts.
pub fn challenge_in(value: gate::Challenge) -> Challenge {
    Challenge {
        token: Token::parse(&value.token).unwrap_or_default(),
        approval_id: value.approval_id,
        expires: value.expires_at,
        ttl: value.ttl,
        recent: value
            .recent
            .into_iter()
            .map(|e| Earlier { completed: e.state == gate::EarlierState::Completed, at: e.at, ago: e.ago })
            .collect(),
    }
}

pub fn permit(value: Permit, arguments: String) -> gate::Permit {
    gate::Permit {
        arguments,
        operation_id: value.operation_id,
        precondition: value.precondition,
        assurance: assurance_out(value.assurance),
        approved_by: value.approved_by,
        approval_id: value.approval_id,
        deadline: value.deadline,
    }
}

pub fn outcome_in(value: gate::Outcome) -> Outcome {
    Outcome { status: status_in(value.status), payload: value.payload }
}

pub fn replayed(value: Replayed) -> gate::Replayed {
    gate::Replayed {
        outcome: gate::Outcome { status: status_out(value.outcome.status), payload: value.outcome.payload },
        operation_id: value.operation_id,
        completed_at: value.completed_at,
    }
}

pub fn settlement(value: Settlement) -> gate::Settlement {
    gate::Settlement { happened: value.happened, by: value.by, at: value.at }
}

/// The settings of this instance, one cell a field: zero until it is configured, which no setting may be.
macro_rules! settings {
    ($first:ident, $($field:ident),+) => {
        #[allow(non_upper_case_globals)]
        mod kept {
            use core::sync::atomic::AtomicU64;
            pub static $first: AtomicU64 = AtomicU64::new(0);
            $(pub static $field: AtomicU64 = AtomicU64::new(0);)+
        }
        pub fn keep(value: &Settings) {
            kept::$first.store(value.$first as u64, Relaxed);
            $(kept::$field.store(value.$field as u64, Relaxed);)+
        }
        pub fn settings() -> Settings {
            match kept::$first.load(Relaxed) {
                0 => Settings::default(),
                $first => Settings { $first, $($field: kept::$field.load(Relaxed) as _),+ },
            }
        }
        pub fn settings_in(value: &gate::Settings) -> Settings {
            Settings { $first: value.$first, $($field: value.$field),+ }
        }
        pub fn settings_out(value: &Settings) -> gate::Settings {
            gate::Settings { $first: value.$first, $($field: value.$field),+ }
        }
    };
}

settings!(
    ttl,
    approval_window,
    replay_window,
    tombstone,
    cool_down,
    recent_window,
    max_arguments,
    max_depth,
    max_number,
    max_exponent,
    max_plan,
    max_precondition,
    max_outcome,
    max_output,
    pending_per_owner,
    pending_in_all
);
