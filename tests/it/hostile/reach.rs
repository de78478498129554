//! Those that reach for what was not granted.

use super::case::{Case, call_it};
use counterfoil::Status::Ok;

const NOTHING: &[(&str, &str)] = &[("/worked", "false")];

pub const CASES: &[Case] = &[
    Case::answers(
        "path_parent",
        &[call_it(Ok, NOTHING)],
        "Fails: a path is followed inside the granted directory only.",
    ),
    Case::answers(
        "path_absolute",
        &[call_it(Ok, NOTHING)],
        "Fails: a plug-in sees the granted directories and nothing else.",
    ),
    Case::answers("path_symlink", &[call_it(Ok, NOTHING)], "Fails: links that lead out are not followed."),
    Case::answers(
        "path_make_symlink",
        &[call_it(Ok, NOTHING)],
        "Following it fails. A link that leads up can be made, and lies there.",
    )
    .changes("+new"),
    Case::answers("path_hard_link", &[call_it(Ok, NOTHING)], "Fails."),
    Case::answers("environment", &[call_it(Ok, NOTHING)], "There are none."),
    Case::answers(
        "connect",
        &[call_it(Ok, NOTHING).with(r#"{"port":PORT}"#)],
        "Fails in every spelling: there are no sockets and no names are looked up. HTTP goes to granted hosts only.",
    ),
    Case::answers("datagram", &[call_it(Ok, NOTHING)], "Fails: there are no sockets."),
    Case::answers(
        "remember",
        &[call_it(Ok, NOTHING), call_it(Ok, NOTHING), call_it(Ok, NOTHING)],
        "Each call gets a fresh instance: nothing is left but what was written to a granted directory.",
    ),
];
