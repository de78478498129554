//! create_document, add_text, add_image, get_document, list_documents, delete_document: what goes in is what the readers find.

use super::Desk;
use super::readers::{read, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fs;

pub const BLUE: &[u8] = include_bytes!("images/blue.png");
pub const PALETTE: &[u8] = include_bytes!("images/palette.png");
pub const PHOTO: &[u8] = include_bytes!("images/photo.jpg");
pub const GRAY: &[u8] = include_bytes!("images/gray.jpg");

/// Writes the document out and reads it with what is not ours.
#[track_caller]
fn written(desk: &Desk, id: &str) -> Value {
    desk.confirmed("output_pdf", &json!({ "document_id": id, "file_path": "/var/lib/nextpdf/tmp/out.pdf" }));
    read(&desk.path("out/out.pdf"))
}

#[test]
fn every_character_comes_out_as_it_went_in() {
    let desk = Desk::new();
    let created = desk
        .done("create_document", json!({ "title": "Facture n° 12 — été", "author": "Zoé Müller", "language": "fr" }));
    let id = created["document_id"].as_str().unwrap();
    let lines = [
        "Où l’Œuvre naïve coûte 1\u{202f}234,50\u{a0}€ : çà et là, déjà vu !",
        "«\u{a0}Guillemets\u{a0}» “quotes” ‘single’ „low“ – en — em … • ½ × ÷ ± ≤ ≥ → № § ¶",
        "Grüße aus Łódź, Ångström, Ñandú, İstanbul, Ødegård, Þór",
        "Αθήνα, Москва, Київ",
        "fi fl ffi AV To: no ligature is lost",
        "well\u{2011}known",
        "e\u{301}te\u{301} is composed",
    ];
    desk.done("add_text", json!({ "document_id": id, "text": lines[0], "style": "heading1" }));
    desk.done("add_text", json!({ "document_id": id, "text": lines[1..].join("\r\n") }));
    desk.done(
        "add_text",
        json!({ "document_id": id, "text": lines.join("\n"), "style": "bold", "alignment": "right" }),
    );
    let read = written(&desk, id);
    let expected = lines.join(" ").replace("e\u{301}", "é");
    // Readers may give a space of another width as a plain one.
    let plain = |text: &str| text.replace(['\u{a0}', '\u{202f}'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(plain(&text(&read)), plain(&format!("{expected} {expected}")));
    assert_eq!(
        (&read["title"], &read["author"], &read["language"]),
        (&json!("Facture n° 12 — été"), &json!("Zoé Müller"), &json!("fr"))
    );
    assert_eq!(read["fonts"].as_object().unwrap().len(), 2);
    assert_eq!(read["outline"][0][0], 0);
    assert_eq!(read["outline"][0][2], 0);
    let tags = read["tags"].as_array().unwrap();
    assert_eq!((&tags[0], &tags[1], &tags[2], tags.len()), (&json!("Document"), &json!("H1"), &json!("P"), 15));
}

#[test]
fn text_flows_over_pages_of_the_size_that_was_asked_for() {
    let desk = Desk::new();
    for (arguments, width, height) in [
        (json!({ "title": "T" }), 595.28, 841.89),
        (json!({ "title": "T", "page_size": "letter" }), 612.0, 792.0),
        (json!({ "title": "T", "page_size": "A5", "landscape": true }), 595.28, 419.53),
        (json!({ "title": "T", "width": 300, "height": 200.5, "margin": 20 }), 300.0, 200.5),
    ] {
        let id = desk.done("create_document", arguments)["document_id"].as_str().unwrap().to_owned();
        let words: String = (0..1_500).map(|number| format!("word{number} ")).collect();
        let added = desk.done("add_text", json!({ "document_id": id, "text": words, "alignment": "justify" }));
        desk.done("add_text", json!({ "document_id": id, "text": "The end", "page_break": true }));
        let read = written(&desk, &id);
        let pages = read["pages"].as_array().unwrap();
        assert_eq!((added["page"].as_u64(), pages.len() as u64), (Some(1), added["pages"].as_u64().unwrap() + 1));
        assert!(pages.len() > 2);
        for page in pages {
            assert!((page["width"].as_f64().unwrap() - width).abs() < 0.01, "{page}");
            assert!((page["height"].as_f64().unwrap() - height).abs() < 0.01, "{page}");
            assert!(page["ink"].as_u64().unwrap() > 50, "a page is blank");
        }
        assert_eq!(text(&read), format!("{words}The end"));
        assert_eq!(pages.last().unwrap()["text"], "The end");
    }
}

#[test]
fn images_stand_where_they_should_from_base64_and_from_files() {
    let desk = Desk::new();
    let id =
        desk.done("create_document", json!({ "title": "T", "width": 200, "height": 200, "margin": 10 }))["document_id"]
            .as_str()
            .unwrap()
            .to_owned();
    fs::write(desk.path("documents/photo.jpg"), PHOTO).unwrap();
    fs::write(desk.path("out/gray.jpg"), GRAY).unwrap();
    let add = |more: Value| {
        let mut arguments = json!({ "document_id": id, "alt_text": "" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        desk.done("add_image", arguments)
    };
    let blue = add(
        json!({ "image": STANDARD.encode(BLUE), "alt_text": "A blue field", "x": 50, "y": 50, "width": 100, "height": 100 }),
    );
    assert_eq!((&blue["image"]["format"], &blue["image"]["pixels"]), (&json!("png"), &json!([40, 30])));
    add(json!({ "path": "/documents/photo.jpg", "alt_text": "Colours run", "width": 64, "alignment": "right" }));
    add(json!({ "path": "var/lib/nextpdf/tmp/gray.jpg" }));
    add(json!({ "image": STANDARD.encode(PALETTE), "page_break": true, "height": 180 }));
    // The document has its own copies.
    fs::remove_file(desk.path("documents/photo.jpg")).unwrap();
    let read = written(&desk, &id);
    let (first, second) = (&read["pages"][0], &read["pages"][1]);
    assert_eq!(first["middle"], json!([0, 0, 255]));
    let boxes: Vec<Vec<i64>> = first["images"]
        .as_array()
        .unwrap()
        .iter()
        .map(|image| {
            image["box"].as_array().unwrap().iter().map(|side| side.as_f64().unwrap().round() as i64).collect()
        })
        .collect();
    assert_eq!(boxes, [vec![50, 50, 150, 150], vec![126, 10, 190, 58], vec![10, 66, 34, 84]]);
    assert_eq!(first["images"][1]["pixels"], json!([32, 24]));
    assert_eq!((second["images"].as_array().unwrap().len(), &second["middle"]), (1, &json!([255, 0, 0])));
    assert_eq!(read["tags"], json!(["Document", "Figure: A blue field", "Figure: Colours run"]));
}

#[test]
fn documents_are_listed_looked_at_and_deleted() {
    let desk = Desk::new();
    assert_eq!(desk.done("list_documents", json!({}))["total"], 0);
    let (kept, id) = (desk.written(), desk.document("Draft"));
    desk.done("add_text", json!({ "document_id": id, "text": "x".repeat(100), "style": "heading2" }));
    desk.done(
        "add_image",
        json!({ "document_id": id, "alt_text": "Blue", "image": STANDARD.encode(BLUE), "page_break": true }),
    );
    desk.0.write("documents/notes.json", "{}");
    desk.0.write("documents/doc_aaaaaaaaaaaaaaaa.json", "{}");
    let listed = desk.done("list_documents", json!({}));
    assert_eq!((&listed["total"], &listed["truncated"]), (&json!(3), &json!(false)));
    let documents = listed["documents"].as_array().unwrap();
    assert!(documents.contains(&json!({ "document_id": "doc_aaaaaaaaaaaaaaaa", "damaged": true })), "{listed}");
    assert!(documents.iter().any(|document| document["document_id"] == json!(id) && document["title"] == "Draft"));
    let got = desk.done("get_document", json!({ "document_id": id }));
    assert_eq!((&got["pages"], &got["characters"], &got["images"]), (&json!(2), &json!(100), &json!(1)));
    assert_eq!(
        got["blocks"],
        json!([
            { "kind": "text", "page": 1, "style": "heading2", "text": "x".repeat(80), "whole": false },
            { "kind": "image", "page": 2, "format": "png", "alt_text": "Blue" },
        ])
    );
    let arguments = json!({ "document_id": id });
    let challenge = desk.challenge("delete_document", &arguments);
    assert!(challenge["summary"].as_str().unwrap().contains("\"Draft\", with 2 blocks and 1 image"));
    desk.done("add_text", json!({ "document_id": id, "text": "more" }));
    let before = desk.tree();
    desk.confirm("delete_document", &arguments, &challenge)
        .gave(5, &["changed since the preview; nothing was deleted"]);
    assert_eq!(before, desk.tree());
    desk.confirmed("delete_document", &arguments);
    desk.refused("get_document", arguments, "there is no document");
    let left: Vec<_> = fs::read_dir(desk.path("documents")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "the image went with it: {left:?}");
    assert_eq!(desk.done("get_document", json!({ "document_id": kept }))["pages"], 1);
}

/// A document with an image, and the place of that image.
fn illustrated(desk: &Desk) -> (String, std::path::PathBuf) {
    let id = desk.written();
    desk.done("add_image", json!({ "document_id": id, "alt_text": "", "image": STANDARD.encode(BLUE) }));
    let files = fs::read_dir(desk.path("documents")).unwrap().map(|entry| entry.unwrap().path());
    let image = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "png")).unwrap();
    (id, image)
}

#[test]
fn a_deletion_rests_on_which_images_there_are_and_not_on_how_many() {
    let desk = Desk::new();
    let (id, image) = illustrated(&desk);
    let arguments = json!({ "document_id": id });
    let challenge = desk.challenge("delete_document", &arguments);
    let other = format!("{id}.{}.png", "0".repeat(32));
    assert_eq!(challenge["preview"]["images"], 1);
    fs::rename(&image, desk.path(&format!("documents/{other}"))).unwrap();
    let before = desk.tree();
    desk.confirm("delete_document", &arguments, &challenge)
        .gave(5, &["changed since the preview; nothing was deleted"]);
    assert_eq!(before, desk.tree());
}

#[test]
fn a_deletion_that_fails_leaves_a_document_that_can_be_deleted_again() {
    let desk = Desk::new();
    let (id, _) = illustrated(&desk);
    // Behind the real one in the alphabet, and not to be deleted as a file.
    let stuck = desk.path(&format!("documents/{id}.{}.png", "z".repeat(32)));
    fs::create_dir(&stuck).unwrap();
    let arguments = json!({ "document_id": id });
    let challenge = desk.challenge("delete_document", &arguments);
    let ran = desk.confirm("delete_document", &arguments, &challenge);
    ran.gave(5, &["deleted 1 of 2 images"]);
    assert_eq!(ran.json()["effect"], "unknown");
    assert!(desk.path(&format!("documents/{id}.json")).exists());
    fs::remove_dir(&stuck).unwrap();
    assert_eq!(desk.confirmed("delete_document", &arguments)["images"], 0);
    assert_eq!(fs::read_dir(desk.path("documents")).unwrap().count(), 0);
}

#[test]
fn a_directory_with_too_many_files_to_see_every_image_refuses_a_deletion() {
    let desk = Desk::new();
    let (id, _) = illustrated(&desk);
    for number in 0..10_000 {
        fs::write(desk.path(&format!("documents/{number}")), "").unwrap();
    }
    let words = "more than 10,000 files, and images of the document could be missed";
    desk.refused("delete_document", json!({ "document_id": id }), words);
}

#[test]
fn one_document_gives_the_same_bytes_at_any_time() {
    let desk = Desk::new();
    let id = desk.written();
    let before = desk.done("output_pdf", json!({ "document_id": id }));
    let path = desk.path(&format!("documents/{id}.json"));
    let document = fs::read_to_string(&path).unwrap();
    let created = document.split("\"created\":\"").nth(1).unwrap()[..20].to_owned();
    assert_eq!(before, desk.done("output_pdf", json!({ "document_id": id })));
    // The date is the document's: another one gives other bytes, and the readers find it.
    fs::write(&path, document.replace(&created, "2001-02-03T04:05:06Z")).unwrap();
    assert_ne!(before["sha256"], desk.done("output_pdf", json!({ "document_id": id }))["sha256"]);
    assert_eq!(written(&desk, &id)["created"], "D:20010203040506+00'00");
}
