//! Those that declare what must not be.

use super::case::{Case, call_it};
use counterfoil::Status::{Ok, Rejected};

pub const CASES: &[Case] = &[
    Case::not_loaded("description", "its description has more than 16384 bytes", "Not loaded: agents read all of it."),
    Case::not_loaded("tools_300", "lists 300 tools: 1 to 256 are allowed", "Not loaded."),
    Case::not_loaded("tools_none", "lists 0 tools: 1 to 256 are allowed", "Not loaded."),
    Case::not_loaded("exit_list", "failed in list-tools: it exited with status 0", "Not loaded."),
    Case::not_loaded(
        "tools_changing",
        "lists its tools otherwise when it is asked again",
        "Not loaded: it is asked twice, at another time and with other chance.",
    ),
    Case::not_loaded("name_twice", "lists the tool \"bad\" twice", "Not loaded."),
    Case::not_started(
        "name_taken",
        "tool \"echo\" is listed by \"good\" and by \"hostile\": rename one",
        "The host does not start.",
    ),
    Case::not_started(
        "name_digit",
        "tool \"ech0\" of \"hostile\" is easily taken for \"echo\" of \"good\"",
        "The host does not start: to a person both are one name.",
    ),
    Case::not_started(
        "name_case",
        "tool \"Echo\" of \"hostile\" is easily taken for \"echo\" of \"good\"",
        "The host does not start.",
    ),
    Case::not_loaded("name_lookalike", "use 1 to 64 of a-z, A-Z, 0-9, _ and -", "Not loaded: names are ASCII."),
    Case::not_loaded(
        "name_control",
        "use 1 to 64 of a-z, A-Z, 0-9, _ and -",
        "Not loaded; the error shows the name escaped.",
    ),
    Case::not_started(
        "confirm_argument",
        "has an argument \"confirm_token\" of its own, which is the confirm parameter: choose another name",
        "The host does not start.",
    ),
    Case::not_loaded("schema_invalid", "its input schema is not acceptable", "Not loaded."),
    Case::not_loaded("schema_twice", "twice", "Not loaded: readers would disagree about what it says."),
    Case::not_loaded("schema_remote", "is not local", "Not loaded: nothing is fetched."),
    Case::not_loaded("schema_file", "is not local", "Not loaded: nothing is read."),
    Case::not_loaded("schema_circle", "back to itself", "Not loaded."),
    Case::not_loaded("schema_doubling", "more than 32", "Not loaded: what a check may come to is bounded."),
    Case::not_loaded("schema_large", "65536 are allowed", "Not loaded."),
    Case::answers(
        "schema_pattern",
        &[call_it(Rejected, &[("/reason", "invalid_arguments"), ("/error", "/a: ")]).with(r#"{"a":"LONG!"}"#)],
        "Patterns take linear time: 100,000 letters are checked and refused at once.",
    ),
    Case::answers(
        "schema_wide",
        &[
            call_it(
                Rejected,
                &[
                    ("/reason", "invalid_arguments"),
                    ("/error", "could not be checked against the tool's schema within 400ms"),
                ],
            )
            .with(r#"{"a":["WORDS"]}"#),
            call_it(Ok, &[]).with(r#"{"a":["w7"]}"#),
        ],
        "A check that takes long runs beside everything else and is given up after `preview`: `rejected`, `invalid_arguments`. \
         Short arguments are checked meanwhile.",
    ),
    Case::not_loaded("output_schema", "its output schema is not acceptable", "Not loaded."),
    Case::not_loaded("core_module", "is a core module, not a component", "Not loaded.")
        .does("is a core module and no component."),
    Case::not_loaded("truncated", "is damaged", "Not loaded.").does("ends in the middle."),
    Case::not_loaded("other_types", "with functions of other types", "Not loaded.")
        .does("exports functions of other types."),
    Case::not_loaded(
        "import",
        "imports example:key/value@1.0.0, which is not provided",
        "Not loaded: only what is named there is linked.",
    )
    .does("imports what is not provided."),
    Case::not_loaded(
        "shared_memory",
        "is damaged or uses what is not supported",
        "Not loaded: a shared memory would have no limit.",
    )
    .does("has a memory that threads share."),
    Case::not_loaded("large_memory", "out of memory: it may use 128 MiB", "Not loaded: what it begins with counts.")
        .does("begins with 4 GiB of memory."),
    Case::not_loaded("large_table", "table", "Not loaded: tables have a limit, `table_elements`.")
        .does("begins with a table of a million elements."),
    Case::not_loaded("many_memories", "has 5 memories: a plug-in may have 4", "Not loaded: four memories at most.")
        .does("consists of five modules with a memory each."),
    Case::not_loaded("many_instances", "instances", "Not loaded: `instances`.")
        .does("consists of a hundred instances."),
    Case::not_loaded(
        "doubling",
        "more than 1000 instances when it is put together",
        "Not loaded, and nothing of it compiled: what a component unfolds to is reckoned first.",
    )
    .does("has forty levels of components that hold the one before twice, in 2 KB."),
    Case::not_loaded(
        "deep_types",
        "has types inside types, 200 and more",
        "Not loaded: no type is read that is so deep.",
    )
    .does("has a type a hundred thousand levels deep."),
    Case::not_loaded("loop_core", "did not list its tools within 400ms", "Not loaded.")
        .does("the start function of its module never ends."),
];
