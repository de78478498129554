//! Where output_pdf and add_image may go: granted directories, past no symbolic link, to names that end in `.pdf`.

use super::Desk;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn no_path_leaves_the_granted_directories() {
    let desk = Desk::new();
    let id = desk.written();
    let host = desk.path("outside/secret.pdf").display().to_string();
    for (path, words) in [
        ("/var/lib/nextpdf/tmp/../../../../secret.pdf", "\"..\""),
        ("../outside/secret.pdf", "\"..\""),
        ("/etc/secret.pdf", "in no granted directory"),
        ("/var/lib/nextpdf/secret.pdf", "in no granted directory"),
        ("/var/lib/nextpdf/tmpx/secret.pdf", "in no granted directory"),
        ("out.pdf", "in no granted directory"),
        (&host, "in no granted directory"),
        ("/var/lib/nextpdf/tmp", "directory"),
        ("/var/lib/nextpdf/tmp/out.pdf/", "names a directory"),
        ("/var/lib/nextpdf/tmp/none/out.pdf", "does not exist"),
        ("/var/lib/nextpdf/tmp/a\u{1b}b.pdf", "control characters"),
    ] {
        desk.refused("output_pdf", json!({ "document_id": id, "file_path": path }), words);
        let image = json!({ "document_id": id, "alt_text": "", "path": path });
        assert_eq!(desk.call("add_image", &image).code, 4, "{path}");
    }
}

#[test]
fn no_symbolic_link_is_followed() {
    let desk = Desk::new();
    let id = desk.written();
    symlink("../outside", desk.path("out/away")).unwrap();
    symlink("../outside/secret.pdf", desk.path("out/link.pdf")).unwrap();
    symlink("../outside/new.pdf", desk.path("out/dangling.pdf")).unwrap();
    for name in ["away/secret.pdf", "away/new.pdf", "link.pdf", "dangling.pdf"] {
        let path = format!("/var/lib/nextpdf/tmp/{name}");
        desk.refused("output_pdf", json!({ "document_id": id, "file_path": path }), "symbolic link");
        desk.refused("add_image", json!({ "document_id": id, "alt_text": "", "path": path }), "symbolic link");
    }
    // One that takes the place of a file between preview and run.
    let arguments = json!({ "document_id": id, "file_path": "/var/lib/nextpdf/tmp/out.pdf" });
    let challenge = desk.challenge("output_pdf", &arguments);
    symlink("../outside/secret.pdf", desk.path("out/out.pdf")).unwrap();
    desk.confirm("output_pdf", &arguments, &challenge).gave(5, &["symbolic link"]);
    assert_eq!(fs::read_to_string(desk.path("outside/secret.pdf")).unwrap(), "secret");
    // A document that is a link.
    let other = "doc_aaaaaaaaaaaaaaaa";
    symlink(format!("{id}.json"), desk.path(&format!("documents/{other}.json"))).unwrap();
    desk.refused("output_pdf", json!({ "document_id": other }), "symbolic link");
}

#[test]
fn nothing_but_a_pdf_is_overwritten() {
    let desk = Desk::new();
    let id = desk.written();
    desk.0.write("out/notes.txt", "notes");
    for path in
        [format!("/documents/{id}.json"), "/var/lib/nextpdf/tmp/notes.txt".to_owned(), "/documents/pdf".to_owned()]
    {
        desk.refused("output_pdf", json!({ "document_id": id, "file_path": path }), "does not end in .pdf");
    }
    desk.confirmed("output_pdf", &json!({ "document_id": id, "file_path": "documents/Upper.PDF" }));
    assert!(desk.path("documents/Upper.PDF").exists());
}

#[test]
fn an_id_is_never_a_path() {
    let desk = Desk::new();
    desk.0.write("outside/doc_aaaaaaaaaaaaaaaa.json", "{}");
    for id in ["<id>", "../outside/doc_aaaaaaaaaaaaaaaa", "doc_aaaaaaaaaaaaaaaa.json", "doc_AAAAAAAAAAAAAAAA", ""] {
        for tool in ["output_pdf", "get_document", "delete_document"] {
            assert_eq!(desk.call(tool, &json!({ "document_id": id })).code, 4, "{tool} {id}");
        }
    }
    desk.refused("get_document", json!({ "document_id": "doc_aaaaaaaaaaaaaaaa" }), "there is no document");
}

#[test]
fn one_grant_of_any_name_is_enough_and_several_need_one_for_documents() {
    let desk = Desk::granted(r#"{ host = "../out", guest = "/var/lib/nextpdf/tmp", access = "read-write" }"#, "");
    let id = desk.written();
    desk.confirmed("output_pdf", &json!({ "document_id": id, "file_path": "/var/lib/nextpdf/tmp/out.pdf" }));
    desk.confirmed("output_pdf", &json!({ "document_id": id, "file_path": "relative.pdf" }));
    assert_eq!(fs::read(desk.path("out/out.pdf")).unwrap(), fs::read(desk.path("out/relative.pdf")).unwrap());
    assert!(desk.path(&format!("out/{id}.json")).exists());
    let two = r#"{ host = "../out", guest = "/a", access = "read-write" }, { host = "../documents", guest = "/b" }"#;
    Desk::granted(two, "").refused("create_document", json!({ "title": "New" }), "none as /documents");
    Desk::granted("", "").refused("create_document", json!({ "title": "New" }), "no directory is granted");
}
