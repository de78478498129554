//! Those whose answers are not what they must be, or pretend to be another's.

use super::case::{Case, call_it, confirm_it};
use counterfoil::Status::{ConfirmationRequired, Failed, Ok, Rejected};

const NOT_JSON: &[(&str, &str)] =
    &[("/reason", "output_limit"), ("/effect", "none"), ("/error", "the details of its outcome are not acceptable: ")];

pub const CASES: &[Case] = &[
    Case::answers("details_invalid", &[call_it(Failed, NOT_JSON)], "`failed`, `output_limit`: it ran, and what it says cannot be told."),
    Case::answers("details_twice", &[call_it(Failed, NOT_JSON)], "`failed`, `output_limit`."),
    Case::answers("details_nan", &[call_it(Failed, NOT_JSON)], "`failed`, `output_limit`."),
    Case::answers("details_surrogate", &[call_it(Failed, NOT_JSON)], "`failed`, `output_limit`."),
    Case::answers("details_deep", &[call_it(Failed, NOT_JSON)], "`failed`, `output_limit`: details are 64 levels deep at most."),
    Case::answers("details_number", &[call_it(Failed, NOT_JSON)], "`failed`, `output_limit`: a number that no reader can hold is none."),
    Case::answers(
        "plan_invalid",
        &[call_it(Rejected, &[("/reason", "refused"), ("/error", "the details of its plan are not acceptable: ")])],
        "`rejected`, `refused`: nothing ran.",
    ),
    Case::answers("utf8", &[call_it(Failed, &[("/reason", "trapped"), ("/effect", "none"), ("/error", "utf-8")])], "`failed`, `trapped`."),
    Case::answers("panic", &[call_it(Failed, &[("/reason", "trapped"), ("/error", "it panicked or aborted")])], "`failed`, `trapped`."),
    Case::answers("abort", &[call_it(Failed, &[("/reason", "trapped"), ("/error", "it panicked or aborted")])], "`failed`, `trapped`."),
    Case::answers(
        "exit",
        &[call_it(Failed, &[("/reason", "trapped"), ("/error", "it exited with status 0 instead of answering")])],
        "`failed`, `trapped`: an exit is no answer, whatever its status.",
    ),
    Case::answers(
        "escapes",
        &[
            call_it(ConfirmationRequired, &[("/summary", "summary"), ("/warnings/0", "warning"), ("/preview/a", "details")]),
            confirm_it(Failed, &[("/reason", "tool_error"), ("/error", "error")]),
        ],
        "An agent gets the text as JSON; wherever the program shows it to a person it is escaped.",
    ),
    Case::answers(
        "imitate_challenge",
        &[call_it(Ok, &[("/status", "ok"), ("/details/status", "confirmation_required"), ("/details/confirm_token", "cfm_")])],
        "`ok`: details that use a key of the answer's own stay whole under `details`. A token that the gate has not issued is \
         `unknown_or_used`.",
    ),
    Case::answers(
        "imitate_assurance",
        &[call_it(Ok, &[("/status", "ok"), ("/details/assurance", "out_of_band")])],
        "`ok`, with these keys under `details`.",
    ),
    Case::answers(
        "imitate_success",
        &[call_it(ConfirmationRequired, &[("/status", "confirmation_required"), ("/preview/status", "ok"), ("/assurance", "token_only")])],
        "`confirmation_required`: a plan's details stand under `preview`.",
    ),
    Case::answers(
        "lie_safe",
        &[call_it(Failed, &[("/reason", "tool_error"), ("/effect", "none"), ("/error", "not permitted")])],
        "Its write fails: a tool that is declared safe has read-only grants, whatever it does.",
    ),
    Case::answers(
        "lie_graver",
        &[call_it(Rejected, &[("/reason", "refused"), ("/error", "the tool contradicts itself, and nothing was changed")])],
        "`rejected`, `refused`, where the operator raised it, so that it is previewed; otherwise it runs at the level that it declares.",
    )
    .raised(),
    Case::answers(
        "lie_effect",
        &[call_it(Failed, &[("/reason", "tool_error"), ("/effect", "unknown"), ("/error", "nothing happened")])],
        "`failed`, effect `unknown`: the host saw a write, and tells the worse of that and the plug-in's word.",
    )
    .changes("+new"),
    Case::answers(
        "lie_caution",
        &[call_it(Ok, &[("/message", "deleted")])],
        "**It runs.** Nothing can tell from outside that a change is hard to undo: see below.",
    )
    .changes("-old"),
    Case::answers(
        "write_start",
        &[
            call_it(ConfirmationRequired, &[("/summary", "bad would run")]),
            confirm_it(Ok, &[("/message", "bad ran")]),
        ],
        "Its write fails when it is loaded and in the preview. Written in its language, it runs inside the call and is a part of it: in the confirmed run it may what the run may, and writes. What runs as a component is instantiated changes nothing in any call.",
    )
    .changes("+new"),
];
