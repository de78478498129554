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
    let photo = std::fs::read(desk.path("documents/photo.jpg")).unwrap();
    let shown = &challenge["preview"]["image"];
    assert_eq!(
        (&shown["path"], &shown["alt_text"], &shown["bytes"], &shown["place"]),
        (&json!("/documents/photo.jpg"), &json!("Colours run"), &json!(photo.len()), &Value::Null)
    );
    assert_eq!(shown["sha256"].as_str().unwrap().len(), 64);
    // Another document or another image than the one that was shown is not taken.
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
    let begin = json!({ "title": "Report", "page_size": "A5", "author": "Zoé Müller", "language": "fr" });
    let challenge = desk.challenge("create_document", &begin);
    assert_eq!(challenge["summary"], "Will begin document \"Report\", 419.53 by 595.28 points.");
    assert_eq!(
        challenge["preview"],
        json!({
            "title": "Report", "author": "Zoé Müller", "language": "fr",
            "page_size": { "width": 419.53, "height": 595.28, "margin": 56.7 },
        })
    );
    let id = desk.confirm("create_document", &begin, &challenge).json()["document_id"].as_str().unwrap().to_owned();
    let add =
        |text: &str| json!({ "document_id": id, "text": text, "style": "heading2", "x": 20, "y": 30, "width": 300 });
    let (one, other) = (desk.challenge("add_text", &add("Hello")), desk.challenge("add_text", &add("Howdy")));
    assert!(one["summary"].as_str().unwrap().contains("Will add 5 characters of text"), "{one}");
    // Not only how much: what, where and how, and another text has another digest.
    assert_eq!(
        one["preview"],
        json!({
            "document_id": id, "page": 1, "pages": 1, "blocks": 1, "text": "Hello", "whole": true, "characters": 5,
            "sha256": "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969", "style": "heading2", "size": 15.0,
            "alignment": "left", "page_break": false, "place": { "x": 20.0, "y": 30.0, "width": 300.0 },
        })
    );
    assert_eq!(other["preview"]["text"], "Howdy");
    assert_ne!(one["preview"]["sha256"], other["preview"]["sha256"]);
    let long = "word ".repeat(1_000);
    let [yes, not] = ["yes", "not"].map(|end| {
        let arguments = json!({ "document_id": id, "text": format!("{long}{end}") });
        desk.challenge("add_text", &arguments)["preview"].clone()
    });
    let beginning = yes["text"].as_str().unwrap();
    assert!(long.starts_with(beginning) && (100..1_000).contains(&beginning.len()), "{yes}");
    assert_eq!((&yes["whole"], &yes["text"], &yes["place"]), (&json!(false), &not["text"], &Value::Null));
    assert_ne!(yes["sha256"], not["sha256"]);
    assert_eq!(desk.confirm("add_text", &add("Hello"), &one).code, 0);
    let late = desk.confirm("add_text", &add("Howdy"), &other);
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
