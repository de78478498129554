//! A shell transcript as it is shown of a gate with four levels, line for line: a challenge comes back and no file; the same
//! call with the token writes it.

use counterfoil_tests::component;
use counterfoil_tests::program::Folder;
use serde_json::{Value, json};

const OPENING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1.0.0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"output_pdf","arguments":{"document_id":"<id>","file_path":"/var/lib/nextpdf/tmp/out.pdf"}}}"#;
const AGAIN: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"output_pdf","arguments":{"document_id":"<id>","file_path":"/var/lib/nextpdf/tmp/out.pdf","_confirmation_token":"confirm_<nonce>"}}}"#;

/// A call of `output_pdf` with other arguments.
fn call(id: u32, arguments: Value) -> String {
    let params = json!({"name": "output_pdf", "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// What a server answers to the opening and one call, in a process of its own.
fn serve(folder: &Folder, call: &str) -> Value {
    let ran = folder.run_with_input(&["serve"], &format!("{OPENING}{call}\n"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [hello, answer] = &answers[..] else { panic!("two answers: {answers:?}") };
    assert_eq!((&hello["id"], &hello["result"]["protocolVersion"]), (&json!(1), &json!("2025-06-18")));
    assert!(hello["result"]["capabilities"]["extensions"]["counterfoil/risk-model"]["version"].is_string());
    assert_eq!(answer["id"], serde_json::from_str::<Value>(call).unwrap()["id"]);
    answer["result"].clone()
}

#[test]
fn docs_transcript_of_a_pdf_that_is_written_runs_line_for_line() {
    let folder = Folder::new();
    let pdf = json!(component("pdf"));
    folder.write(
        "work/counterfoil.toml",
        &format!(
            r#"
[gate]
confirm_parameter = "_confirmation_token"
[store]
url = "sqlite:state.db"
[plugins.pdf]
source = {pdf}
dirs = [
    {{ host = "./documents", guest = "/documents", access = "read-write" }},
    {{ host = "./tmp", guest = "/var/lib/nextpdf/tmp", access = "read-write" }},
]
"#
        ),
    );
    for name in ["documents", "tmp"] {
        std::fs::create_dir(folder.path("work").join(name)).unwrap();
    }
    folder.lock();
    let file = folder.path("work/tmp/out.pdf");
    let begun = folder.run(&["call", "create_document", r#"{"title":"Out"}"#, "--json"]).json();
    let document = begun["document_id"].as_str().unwrap();

    let challenged = serve(&folder, &CALL.replace("<id>", document));
    assert_eq!(challenged["isError"], false, "a challenge is a successful result");
    let payload = &challenged["structuredContent"];
    assert_eq!(payload["status"], "confirmation_required");
    assert!(payload["confirm_instructions"].as_str().unwrap().contains("_confirmation_token"));
    assert!(payload["summary"].as_str().unwrap().contains("/var/lib/nextpdf/tmp/out.pdf"), "{payload}");
    assert!(!file.exists(), "the answer has the challenge, not the file");

    let token = payload["confirm_token"].as_str().unwrap();
    let again = AGAIN.replace("<id>", document).replace("confirm_<nonce>", token);
    let written = serve(&folder, &again);
    assert_eq!(
        (&written["isError"], &written["structuredContent"]["status"]),
        (&json!(false), &json!("ok")),
        "{written}"
    );
    assert!(std::fs::read(&file).unwrap().starts_with(b"%PDF-"));

    // Once: without the file, the same call again is a replay and brings nothing back.
    std::fs::remove_file(&file).unwrap();
    assert_eq!(serve(&folder, &again)["_meta"]["counterfoil/replayed"], true);
    assert!(!file.exists());

    // Returned in base64 it is not gated; a token cannot be taken along to it.
    let returned = serve(&folder, &call(5, json!({"document_id": document})));
    assert_eq!(
        (&returned["structuredContent"]["status"], &returned["structuredContent"]["encoding"]),
        (&json!("ok"), &json!("base64"))
    );
    let other =
        json!({"document_id": document, "file_path": "/var/lib/nextpdf/tmp/other.pdf", "_confirmation_token": token});
    assert_eq!(serve(&folder, &call(6, other))["structuredContent"]["reason"], "params_changed");

    // A path without a grant is the plug-in's refusal.
    let outside = serve(&folder, &call(7, json!({"document_id": document, "file_path": "/etc/out.pdf"})));
    assert_eq!(outside["structuredContent"]["status"], "rejected", "{outside}");
}

#[test]
fn docs_levels_are_raised_by_number_and_a_lower_one_stops_the_start() {
    let folder = Folder::new();
    let pdf = json!(component("pdf"));
    std::fs::create_dir(folder.path("work/documents")).unwrap();
    let config = |levels: &str| {
        let dirs = "[{ host = \"./documents\", guest = \"/documents\", access = \"read-write\" }]";
        folder.write(
            "work/counterfoil.toml",
            &format!("[plugins.pdf]\nsource = {pdf}\ndirs = {dirs}\n[plugins.pdf.levels]\n{levels}\n"),
        );
    };
    config("add_image = 3");
    folder.run(&["tools"]).gave(0, &["approval_required (raised from caution)"]);
    for lower in ["output_pdf = 2", "output_pdf = \"safe\"", "add_image = 0"] {
        config(lower);
        let asked = format!("{OPENING}{}\n", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
        let ran = folder.run_with_input(&["serve"], &asked);
        ran.gave(2, &["can be raised, never lowered"]);
        assert!(!ran.out.contains("\"tools\":["), "nothing is listed: {ran:?}");
    }
}
