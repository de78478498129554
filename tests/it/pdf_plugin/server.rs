//! Over MCP, word for word as a client sends it: the challenge in place of the file, the second call with the configured
//! parameter, and what an operator may raise and never lower.

use super::Desk;
use serde_json::{Value, json};

/// The answers to these lines, by their ids.
#[track_caller]
fn serve(desk: &Desk, calls: &[Value]) -> Vec<Value> {
    let mut lines = vec![
        json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1.0.0"}}}),
        json!({"jsonrpc":"2.0","method":"notifications/initialized"}),
    ];
    lines.extend_from_slice(calls);
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let ran = desk.0.run_with_input(&["serve"], &input);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.retain(|answer| answer["id"].as_u64().is_some_and(|id| id > 1));
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc":"2.0","id":id,"method":"tools/call","params":{"name":tool,"arguments":arguments}})
}

#[test]
fn the_challenge_comes_in_place_of_the_file_and_the_token_writes_it_once() {
    let desk = Desk::new();
    let id = desk.written();
    let mut arguments = json!({"document_id":id,"file_path":"/var/lib/nextpdf/tmp/out.pdf"});
    let first = serve(&desk, &[call(2, "output_pdf", &arguments)]);
    let challenge = &first[0]["result"]["structuredContent"];
    assert_eq!(
        (&challenge["status"], &first[0]["result"]["isError"]),
        (&json!("confirmation_required"), &json!(false))
    );
    assert!(challenge["confirm_instructions"].as_str().unwrap().contains("_confirmation_token"));
    assert!(!desk.path("out/out.pdf").exists());
    arguments["_confirmation_token"] = challenge["confirm_token"].clone();
    let second = serve(&desk, &[call(3, "output_pdf", &arguments)]);
    assert_eq!(second[0]["result"]["structuredContent"]["status"], "ok");
    assert!(std::fs::read(desk.path("out/out.pdf")).unwrap().starts_with(b"%PDF-1.7"));
    // Without file_path no confirmation is asked for.
    let third = serve(&desk, &[call(4, "output_pdf", &json!({"document_id":id}))]);
    assert_eq!(third[0]["result"]["structuredContent"]["encoding"], "base64");
}

#[test]
fn an_operator_raises_add_image_and_the_image_is_added_once_it_is_confirmed() {
    let desk = Desk::with("[plugins.pdf.levels]\nadd_image = 3\n");
    let id = desk.written();
    std::fs::write(desk.path("documents/photo.jpg"), super::documents::PHOTO).unwrap();
    let arguments = json!({ "document_id": id, "alt_text": "Colours run", "path": "/documents/photo.jpg" });
    let challenge = desk.challenge("add_image", &arguments);
    assert!(challenge["summary"].as_str().unwrap().contains("a JPEG image of 32 by 24 pixels"), "{challenge}");
    assert_eq!(challenge["preview"]["page"], 1);
    // Another document or another image than the one that was shown is not taken.
    let photo = std::fs::read(desk.path("documents/photo.jpg")).unwrap();
    std::fs::write(desk.path("documents/photo.jpg"), super::documents::GRAY).unwrap();
    let before = desk.tree();
    desk.confirm("add_image", &arguments, &challenge).gave(5, &["changed since the preview; nothing was added"]);
    assert_eq!(before, desk.tree());
    std::fs::write(desk.path("documents/photo.jpg"), photo).unwrap();
    desk.confirmed("add_image", &arguments);
    assert_eq!(desk.done("get_document", json!({ "document_id": id }))["images"], 1);
    // The others run at once, as before.
    desk.done("add_text", json!({ "document_id": id, "text": "more" }));
}

#[test]
fn raised_tools_show_what_they_would_do() {
    let desk = Desk::with("[plugins.pdf.levels]\ncreate_document = 3\nadd_text = \"approval_required\"\n");
    let begin = json!({ "title": "Report", "page_size": "A5" });
    let challenge = desk.challenge("create_document", &begin);
    assert_eq!(challenge["summary"], "Will begin document \"Report\", 419.53 by 595.28 points.");
    let id = desk.confirm("create_document", &begin, &challenge).json()["document_id"].as_str().unwrap().to_owned();
    let add = json!({ "document_id": id, "text": "Hello" });
    let (one, other) =
        (desk.challenge("add_text", &add), desk.challenge("add_text", &json!({ "document_id": id, "text": "No" })));
    assert!(one["summary"].as_str().unwrap().contains("Will add 5 characters of text"), "{one}");
    assert_eq!(desk.confirm("add_text", &add, &one).code, 0);
    let late = desk.confirm("add_text", &json!({ "document_id": id, "text": "No" }), &other);
    late.gave(5, &["changed since the preview; nothing was added"]);
}

#[test]
fn a_level_below_the_tools_own_stops_the_start() {
    for level in ["2", "\"safe\"", "1"] {
        let desk = Desk::with(&format!("[plugins.pdf.levels]\noutput_pdf = {level}\n"));
        // A client that leaves at once is not waited for: one that asks for the tools hears no list.
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        let ran = desk.0.run_with_input(&["serve"], &format!("{hello}\n{list}\n"));
        ran.gave(2, &["output_pdf", "lower"]);
        assert!(!ran.out.contains("inputSchema"), "{}", ran.out);
        assert_eq!(desk.call("create_document", &json!({ "title": "T" })).code, 2);
    }
}
