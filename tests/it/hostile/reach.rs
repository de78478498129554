//! Those that reach for what was not granted.

use super::case::{Case, call_it};
use super::granted::Web;
use counterfoil::Status::{ConfirmationRequired, Ok};

const NOTHING: &[(&str, &str)] = &[("/worked", "false")];
/// One request, which was refused.
const DENIED: &[(&str, &str)] = &[("/worked", "[]"), ("/denied/0", ""), ("/odd", "[]")];
const SERVER: &str = r#"{"port":SERVER}"#;

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
    Case::answers("environment", &[call_it(Ok, NOTHING)], "There are none: what it asks for and was not granted it does not get."),
    Case::answers(
        "connect",
        &[call_it(Ok, NOTHING).with(r#"{"port":PORT}"#)],
        "Fails in every spelling: there are no sockets and no names are looked up. HTTP goes to granted hosts only.",
    ),
    Case::answers(
        "env_undeclared",
        &[call_it(Ok, NOTHING)],
        "There is none: of what is declared and what is granted it gets what is both.",
    )
    .variable("GRANTED"),
    Case::answers("http_ungranted", &[call_it(Ok, DENIED).with(SERVER)], "Refused before anything is sent."),
    Case::answers(
        "http_undeclared",
        &[call_it(Ok, DENIED).with(SERVER)],
        "Refused: a grant is worth what the manifest asks for, and no more.",
    )
    .web(Web::at("127.0.0.1")),
    Case::answers(
        "http_loopback",
        &[call_it(Ok, &[("/worked", "[]"), ("/denied/11", "[::]"), ("/odd", "[]")]).with(SERVER)],
        "Refused in every spelling: a host is compared by what it is, and no name leads into the machine unless it was granted.",
    )
    .web(Web::at("api.example.com")),
    Case::answers(
        "http_redirect",
        &[call_it(Ok, &[("/worked", "[]"), ("/denied", "localhost:"), ("/odd", "[]")]).with(SERVER)],
        "It is told where to go, and going there is refused: it is a request like any other. The host itself follows nothing.",
    )
    .web(Web::at("127.0.0.1").got(&["GET /302/http://localhost:SERVER/there"])),
    Case::answers(
        "http_post_preview",
        &[call_it(ConfirmationRequired, &[("/preview/worked", "[]"), ("/preview/denied/2", "GET"), ("/preview/odd", "[]")])
            .with(SERVER)],
        "Refused: a preview sends GET and HEAD without a body, whatever was granted.",
    )
    .web(Web::at("127.0.0.1").methods(&["GET", "POST"]).preview()),
    Case::answers("datagram", &[call_it(Ok, NOTHING)], "Fails: there are no sockets."),
    Case::answers(
        "remember",
        &[call_it(Ok, NOTHING), call_it(Ok, NOTHING), call_it(Ok, NOTHING)],
        "Each call gets a fresh instance: nothing is left but what was written to a granted directory.",
    ),
];
