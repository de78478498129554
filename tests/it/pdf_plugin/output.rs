//! output_pdf: to a file after a confirmation, in base64 at once, never other bytes than the plan saw.

use super::Desk;
use super::readers::{read, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::time::{Duration, SystemTime};

const OUT: &str = "/var/lib/nextpdf/tmp/out.pdf";

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn to(id: &str, path: &str) -> Value {
    json!({ "document_id": id, "file_path": path })
}

#[test]
fn a_file_is_written_once_it_is_confirmed_and_is_what_the_preview_said() {
    let desk = Desk::new();
    let id = desk.written();
    let challenge = desk.challenge("output_pdf", &to(&id, OUT));
    let preview = &challenge["preview"];
    assert_eq!(
        (
            &preview["document_id"],
            &preview["file_path"],
            &preview["pages"],
            &preview["overwrites"],
            &preview["replaces"]
        ),
        (&json!(id), &json!(OUT), &json!(1), &json!(false), &json!(null))
    );
    assert_eq!((&challenge["level"], &challenge["warnings"]), (&json!("approval_required"), &json!([])));
    let ran = desk.confirm("output_pdf", &to(&id, OUT), &challenge);
    assert_eq!(ran.code, 0, "{ran:?}");
    let written = fs::read(desk.path("out/out.pdf")).unwrap();
    assert_eq!((&preview["bytes"], &preview["sha256"]), (&json!(written.len()), &json!(hex(&written))));
    let done = ran.json();
    assert_eq!((&done["sha256"], &done["overwritten"]), (&preview["sha256"], &json!(false)));
    assert_eq!(fs::read_dir(desk.path("out")).unwrap().count(), 1, "nothing is left beside it");
    let read = read(&desk.path("out/out.pdf"));
    assert_eq!((read["title"].as_str(), text(&read)), (Some("Report"), "Hello".to_owned()));
    // The lost reply: the same outcome, and nothing runs.
    fs::remove_file(desk.path("out/out.pdf")).unwrap();
    assert_eq!(desk.confirm("output_pdf", &to(&id, OUT), &challenge).json(), done);
    assert!(!desk.path("out/out.pdf").exists());
}

#[test]
fn without_a_path_the_same_bytes_come_back_at_once_and_nothing_is_written() {
    let desk = Desk::new();
    let id = desk.written();
    let before = desk.tree();
    let done = desk.done("output_pdf", json!({ "document_id": id }));
    assert_eq!(before, desk.tree());
    assert_eq!((&done["status"], &done["encoding"]), (&json!("ok"), &json!("base64")));
    let returned = STANDARD.decode(done["content"].as_str().unwrap()).unwrap();
    assert_eq!((&done["bytes"], &done["sha256"]), (&json!(returned.len()), &json!(hex(&returned))));
    desk.confirmed("output_pdf", &to(&id, OUT));
    assert_eq!(fs::read(desk.path("out/out.pdf")).unwrap(), returned);
}

#[test]
fn base64_works_where_nothing_may_be_written() {
    let desk = Desk::new();
    let id = desk.written();
    let written = fs::read_to_string(desk.path("work/counterfoil.toml")).unwrap();
    desk.0.write("work/counterfoil.toml", &written.replace("read-write", "read-only"));
    assert_eq!(desk.done("output_pdf", json!({ "document_id": id }))["pages"], 1);
    desk.refused("create_document", json!({ "title": "New" }), "read-only");
    let arguments = to(&id, OUT);
    let ran = desk.confirm("output_pdf", &arguments, &desk.challenge("output_pdf", &arguments));
    ran.gave(5, &["read-only"]);
    assert_eq!(ran.json()["effect"], "none");
    assert!(!desk.path("out/out.pdf").exists());
}

#[test]
fn a_file_that_exists_is_warned_about_and_replaced_whole() {
    let desk = Desk::new();
    let id = desk.written();
    desk.0.write("out/out.pdf", "what was there");
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(951_782_400);
    fs::File::options().write(true).open(desk.path("out/out.pdf")).unwrap().set_modified(at).unwrap();
    let challenge = desk.challenge("output_pdf", &to(&id, OUT));
    let warning = challenge["warnings"][0].as_str().unwrap();
    assert!(warning.contains("exists already (14 bytes, modified 2000-02-29T00:00:00Z)"), "{warning}");
    assert_eq!(
        (&challenge["preview"]["overwrites"], &challenge["preview"]["replaces"]),
        (
            &json!(true),
            &json!({
                "kind": "file", "bytes": 14, "modified": "2000-02-29T00:00:00Z", "sha256": hex(b"what was there"),
            })
        )
    );
    assert!(challenge["summary"].as_str().unwrap().starts_with("Will overwrite file \"/var/lib/nextpdf/tmp/out.pdf\""));
    let ran = desk.confirm("output_pdf", &to(&id, OUT), &challenge);
    assert_eq!((ran.code, &ran.json()["overwritten"]), (0, &json!(true)), "{ran:?}");
    assert_eq!(text(&read(&desk.path("out/out.pdf"))), "Hello");
    assert_eq!(fs::read_dir(desk.path("out")).unwrap().count(), 1);
}

/// Something happens between preview and run: the run fails with these words and writes nothing.
#[track_caller]
fn stale(meanwhile: impl FnOnce(&Desk, &str), before: Option<&str>, words: &str) {
    let desk = Desk::new();
    let id = desk.written();
    if let Some(content) = before {
        desk.0.write("out/out.pdf", content);
    }
    let challenge = desk.challenge("output_pdf", &to(&id, OUT));
    meanwhile(&desk, &id);
    let tree = desk.tree();
    let ran = desk.confirm("output_pdf", &to(&id, OUT), &challenge);
    ran.gave(5, &[words]);
    let failed = ran.json();
    assert_eq!((&failed["status"], &failed["effect"]), (&json!("failed"), &json!("none")));
    assert_eq!(tree, desk.tree());
}

#[test]
fn what_changed_since_the_preview_is_not_written() {
    let add = |desk: &Desk, id: &str| {
        desk.done("add_text", json!({ "document_id": id, "text": "more" }));
    };
    stale(add, None, "changed since the preview; nothing was written");
    stale(add, Some("old"), "changed since the preview; nothing was written");
    let came = |desk: &Desk, _: &str| desk.0.write("out/out.pdf", "came first");
    stale(came, None, "there is a file (10 bytes");
    stale(|desk, _| desk.0.write("out/out.pdf", "new"), Some("old"), "changed since the preview");
    stale(|desk, _| fs::remove_file(desk.path("out/out.pdf")).unwrap(), Some("old"), "there is nothing there now");
    let gone = |desk: &Desk, id: &str| fs::remove_file(desk.path(&format!("documents/{id}.json"))).unwrap();
    stale(gone, None, "there is no document");
}

#[test]
fn a_time_alone_is_no_change() {
    let desk = Desk::new();
    let id = desk.written();
    desk.0.write("out/out.pdf", "same");
    let challenge = desk.challenge("output_pdf", &to(&id, OUT));
    desk.0.write("out/out.pdf", "same");
    assert_eq!(desk.confirm("output_pdf", &to(&id, OUT), &challenge).code, 0);
}

#[test]
fn an_operator_who_raised_it_confirms_base64_as_well() {
    let desk = Desk::with("[plugins.pdf.levels]\noutput_pdf = 3\n");
    let id = desk.written();
    let done = desk.confirmed("output_pdf", &json!({ "document_id": id }));
    assert!(STANDARD.decode(done["content"].as_str().unwrap()).unwrap().starts_with(b"%PDF-1.7"));
}
