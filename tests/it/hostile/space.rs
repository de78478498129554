//! Those that take all there is: memory, handles, what they return, what they print.

use super::case::{Case, call_it};
use counterfoil::Status::{Failed, Ok, Rejected};

const TOO_MUCH: &[(&str, &str)] = &[("/reason", "output_limit"), ("/effect", "none")];
const BAD_PLAN: &[(&str, &str)] = &[("/reason", "refused"), ("/error", "the preview failed and nothing was changed: ")];
const OUT_OF_MEMORY: &[(&str, &str)] =
    &[("/reason", "trapped"), ("/effect", "none"), ("/error", "out of memory: it may use 128 MiB")];

pub const CASES: &[Case] = &[
    Case::answers(
        "memory_bomb",
        &[call_it(Failed, OUT_OF_MEMORY)],
        "`failed`, `trapped`: memory has a limit, `memory`.",
    ),
    Case::answers(
        "read_terabyte",
        &[call_it(Failed, OUT_OF_MEMORY)],
        "`failed`, `trapped`: what it reads is in its own memory.",
    ),
    Case::answers(
        "random_gigabyte",
        &[call_it(Failed, &[("/reason", "trapped"), ("/effect", "none")])],
        "`failed`, `trapped`: at most 1 MiB at once.",
    ),
    Case::answers(
        "open_handles",
        &[call_it(Failed, &[("/effect", "none")])],
        "`failed`: a call holds so many handles at once, `handles`.",
    ),
    Case::answers(
        "open_listings",
        &[call_it(
            Failed,
            &[
                ("/reason", "tool_error"),
                ("/effect", "none"),
                ("/error", "insufficient-memory"),
                ("/error", " after 16;"),
            ],
        )],
        "Its own error: sixteen listings at once, since a part of each is in the host's memory.",
    ),
    Case::answers(
        "large_directory",
        &[call_it(Ok, &[("/message", "the host had few")])],
        "`ok`: a directory is read as far as its listing is asked for, some thousand names at a time.",
    ),
    Case::answers(
        "write_at_once",
        &[call_it(Failed, &[("/reason", "trapped")])],
        "`failed`, `trapped`: a stream takes 64 KiB at once, and nothing was written.",
    ),
    Case::answers("big_outcome", &[call_it(Failed, TOO_MUCH)], "`failed`, `output_limit`: `output`, 8 MiB."),
    Case::answers("big_message", &[call_it(Failed, TOO_MUCH)], "`failed`, `output_limit`."),
    Case::answers(
        "big_error",
        &[call_it(Failed, &[("/reason", "tool_error"), ("/effect", "none"), ("/error", "xxxx…")])],
        "`failed`, `tool_error`, with the first 4 KiB of the message.",
    ),
    Case::answers(
        "big_plan",
        &[call_it(Rejected, BAD_PLAN)],
        "`rejected`, `refused`: a plan has a limit, and nothing ran.",
    ),
    Case::answers(
        "big_precondition",
        &[call_it(Rejected, BAD_PLAN)],
        "`rejected`, `refused`: `max_precondition`, 1 KiB.",
    ),
    Case::answers(
        "many_warnings",
        &[call_it(Rejected, BAD_PLAN)],
        "`rejected`, `refused`: what is empty counts as well.",
    ),
    Case::answers(
        "print_much",
        &[call_it(Ok, &[("/message", "printed")])],
        "`ok`: 16 KiB of each are kept, the rest is counted, and over all calls 1 MiB a minute.",
    ),
    Case::answers(
        "speak_protocol",
        &[call_it(Ok, &[("/message", "printed")])],
        "`ok`: what it prints goes to the log, escaped, and never to the client.",
    ),
];
