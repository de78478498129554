//! Those that never end: in every export, in start code, in the host's own functions.

use super::case::{Case, call_it, confirm_it};
use counterfoil::Status::{Failed, Rejected};

const LATE: &[(&str, &str)] = &[("/reason", "deadline"), ("/effect", "none"), ("/error", "it took longer than 400ms")];
const NO_PLAN: &[(&str, &str)] =
    &[("/reason", "refused"), ("/error", "the preview failed and nothing was changed: it took longer than 400ms")];
const NO_LIST: &str = "did not list its tools within 400ms";

pub const CASES: &[Case] = &[
    Case::not_loaded("loop_list", NO_LIST, "Not loaded: it did not list its tools in the time of a preview."),
    Case::not_loaded("loop_start", NO_LIST, "Not loaded: start code is part of that time."),
    Case::not_loaded("sleep_list", NO_LIST, "Not loaded: sleeping takes time, too."),
    Case::not_loaded("sleep_start", NO_LIST, "Not loaded."),
    Case::answers(
        "loop_preview",
        &[call_it(Rejected, NO_PLAN)],
        "`rejected`, `refused`: stopped after `preview`; nothing ran.",
    ),
    Case::answers("sleep_preview", &[call_it(Rejected, NO_PLAN)], "`rejected`, `refused`: stopped after `preview`."),
    Case::answers(
        "loop_execute",
        &[call_it(Failed, LATE)],
        "`failed`, `deadline`: stopped after `execute`, effect `none`.",
    ),
    Case::answers(
        "sleep_execute",
        &[call_it(Failed, LATE)],
        "`failed`, `deadline`: a call of the host is stopped like any other.",
    ),
    Case::answers("call_host", &[call_it(Failed, LATE)], "`failed`, `deadline`."),
    Case::answers("fill_memory", &[call_it(Failed, LATE)], "`failed`, `deadline`."),
    Case::answers("print_endlessly", &[call_it(Failed, LATE)], "`failed`, `deadline`; the log has the first 16 KiB."),
    Case::answers(
        "report_endlessly",
        &[call_it(Failed, LATE)],
        "`failed`, `deadline`; of the reports at most twenty a second are passed on, cut to 1 KiB, without the NaN.",
    ),
    Case::answers(
        "read_pipe",
        &[call_it(Failed, &[("/reason", "tool_error"), ("/effect", "none"), ("/error", "not permitted")])],
        "Its own error: what is neither file nor directory is not opened, since no deadline gets a thread back that waits there.",
    ),
    Case::answers(
        "recurse",
        &[call_it(Failed, &[("/reason", "trapped"), ("/effect", "none"), ("/error", "it calls itself too deeply")])],
        "`failed`, `trapped`: the stack has a limit, `stack`.",
    ),
    Case::answers(
        "lie_mild",
        &[
            call_it(Failed, &[("/reason", "tool_error"), ("/effect", "none"), ("/error", "not permitted")]),
            call_it(Failed, &[("/reason", "tool_error"), ("/effect", "none")]),
        ],
        "It runs as what it says it is: a call whose plan reads only gets read-only grants, and its deletion fails.",
    ),
    Case::answers(
        "write_preview",
        &[confirm_it(counterfoil::Status::Ok, &[("/message", "bad ran")])],
        "Its attempts fail: a preview has read-only grants.",
    ),
];
