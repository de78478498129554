//! What is refused: too much, what makes no sense, and files that are damaged or were meddled with. Nothing changes then.

use super::Desk;
use super::documents::{BLUE, PHOTO};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fs;

const CMYK: &[u8] = include_bytes!("images/cmyk.jpg");

#[test]
fn characters_that_cannot_be_set_are_named_and_nothing_is_added() {
    let desk = Desk::new();
    let id = desk.written();
    for (text, words) in [
        ("all good 😀", "\"😀\" (U+1F600)"),
        ("日本", "U+65E5"),
        ("שלום", "from left to right"),
        ("bell\u{7}", "U+0007"),
        ("zero\u{200b}width", "nothing would be seen"),
        ("turned\u{202e}round", "U+202E"),
    ] {
        for style in ["body", "heading1"] {
            desk.refused("add_text", json!({ "document_id": id, "text": text, "style": style }), words);
        }
    }
    assert_eq!(desk.done("get_document", json!({ "document_id": id }))["characters"], 5);
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let desk = Desk::new();
    let id = desk.written();
    let begins = |more: Value| {
        let mut arguments = json!({ "title": "T" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    for more in [
        json!({ "page_size": "A4", "width": 100, "height": 100 }),
        json!({ "width": 100 }),
        json!({ "width": 10, "height": 100 }),
        json!({ "width": 15_000, "height": 100 }),
        json!({ "margin": 300 }),
        json!({ "margin": -1 }),
        json!({ "language": "not a language" }),
        json!({ "title": "line\nbreak" }),
        json!({ "title": " " }),
        json!({ "page_size": "A9" }),
        json!({ "colour": "red" }),
    ] {
        desk.refused("create_document", begins(more), "");
    }
    let with = |tool: &str, more: Value, words: &str| {
        let mut arguments = json!({ "document_id": id });
        if tool == "add_image" {
            arguments["alt_text"] = json!("");
        }
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        desk.refused(tool, arguments, words);
    };
    with("add_text", json!({ "text": "a", "x": 10 }), "both x and y");
    with("add_text", json!({ "text": "a", "width": 10 }), "both x and y");
    with("add_text", json!({ "text": "a", "x": 600, "y": 10 }), "not on the page");
    with("add_text", json!({ "text": "a", "x": 10, "y": 840 }), "foot of the page");
    with("add_text", json!({ "text": "a", "size": 1 }), "");
    with("add_text", json!({ "text": "" }), "");
    let image = STANDARD.encode(BLUE);
    with("add_image", json!({}), "image in base64 as image, or");
    with("add_image", json!({ "image": image, "path": "/documents/a.png" }), "image in base64 as image, or");
    with("add_image", json!({ "image": image, "width": 600 }), "does not fit");
    with("add_image", json!({ "image": image, "x": 500, "y": 500, "width": 100 }), "does not fit");
    with("add_image", json!({ "image": image, "y": 500 }), "both x and y");
    with("add_image", json!({ "path": "/documents/none.png" }), "does not exist");
}

#[test]
fn text_that_no_line_holds_is_refused_and_not_drawn_past_the_edge() {
    let desk = Desk::new();
    let narrow = json!({ "title": "T", "width": 72, "height": 400, "margin": 0 });
    let id = desk.done("create_document", narrow)["document_id"].as_str().unwrap().to_owned();
    let with = |more: Value, words: &str| {
        let mut arguments = json!({ "document_id": id, "text": "WWW" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        desk.refused("add_text", arguments, words);
    };
    with(json!({ "size": 144 }), "\"W\" is 135.9 points wide and the line has 72.0: a smaller size");
    with(json!({ "x": 71, "y": 10 }), "the line has 1.0: a smaller size, or a place with more room to its right");
    with(json!({ "x": 10, "y": 10, "width": 5, "alignment": "right" }), "the line has 5.0");
    with(json!({ "text": "fits\n\nW", "size": 100 }), "wide and the line has 72.0");
    // What just fits is broken into characters and all of it is there.
    let fits = desk.done("add_text", json!({ "document_id": id, "text": "WWW", "size": 72 }));
    assert_eq!((&fits["page"], &fits["pages"]), (&json!(1), &json!(1)));
    desk.done("add_text", json!({ "document_id": id, "text": "i", "x": 68, "y": 10 }));
    assert_eq!(desk.done("get_document", json!({ "document_id": id }))["characters"], 4);
}

#[test]
fn images_that_are_damaged_or_of_another_kind_are_refused() {
    let desk = Desk::new();
    let id = desk.written();
    let refused = |bytes: &[u8], words: &str| {
        let by_value = json!({ "document_id": id, "alt_text": "", "image": STANDARD.encode(bytes) });
        desk.refused("add_image", by_value, words);
        fs::write(desk.path("documents/image"), bytes).unwrap();
        desk.refused("add_image", json!({ "document_id": id, "alt_text": "", "path": "/documents/image" }), words);
    };
    refused(&BLUE[..BLUE.len() - 20], "damaged");
    refused(&BLUE[..40], "damaged");
    let mut flipped = BLUE.to_vec();
    flipped[45] ^= 0xff;
    refused(&flipped, "damaged");
    refused(&PHOTO[..PHOTO.len() / 2], "damaged");
    refused(&PHOTO[..100], "damaged");
    refused(CMYK, "CMYK");
    refused(b"GIF89a, as it were", "neither PNG nor JPEG");
    refused(b"<svg/>", "neither PNG nor JPEG");
    desk.refused("add_image", json!({ "document_id": id, "alt_text": "", "image": "no base64!" }), "not base64");
    // A header that promises more pixels than anyone should decode.
    let mut vast = BLUE.to_vec();
    vast[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let crc = crc32(&vast[12..29]);
    vast[29..33].copy_from_slice(&crc.to_be_bytes());
    refused(&vast, "65536 by 65536 pixels; up to 6,000,000");
    let large = [BLUE, &vec![0; 5 << 20]].concat();
    fs::write(desk.path("documents/image"), large).unwrap();
    desk.refused("add_image", json!({ "document_id": id, "alt_text": "", "path": "/documents/image" }), "larger than");
}

/// As PNG has it.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc: u32, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[test]
fn a_document_that_is_full_says_so_and_stays_as_it_is() {
    let desk = Desk::new();
    let id = desk.document("Long");
    let much = json!({ "document_id": id, "text": "word ".repeat(12_000) });
    for _ in 0..6 {
        desk.done("add_text", much.clone());
    }
    desk.refused("add_text", much, "up to 400,000 characters; begin another document");
    desk.refused("add_text", json!({ "document_id": id, "text": "\n".repeat(30_000) }), "up to 300 pages");
    let too_long = json!({ "document_id": id, "text": "a".repeat(60_001) });
    assert_eq!(desk.call("add_text", &too_long).json()["reason"], "invalid_arguments");
    // More than goes into an answer: the refusal says what to do, and a file takes it.
    let noise: String = (0..50_000_u32).map(|at| char::from(b'a' + (at.wrapping_mul(at) / 7 % 26) as u8)).collect();
    let big = desk.document("Noise");
    for _ in 0..6 {
        desk.done("add_text", json!({ "document_id": big, "text": noise }));
    }
    fs::write(desk.path("documents/photo.png"), random_png()).unwrap();
    desk.done("add_image", json!({ "document_id": big, "alt_text": "", "path": "/documents/photo.png" }));
    desk.refused("output_pdf", json!({ "document_id": big }), "give a file_path");
    let path = "/var/lib/nextpdf/tmp/out.pdf";
    let done = desk.confirmed("output_pdf", &json!({ "document_id": big, "file_path": path }));
    let read = super::readers::read(&desk.path("out/out.pdf"));
    assert_eq!(read["pages"].as_array().unwrap().len() as u64, done["pages"].as_u64().unwrap());
}

/// 400 by 300 pixels that do not compress: stored blocks of deflate.
fn random_png() -> Vec<u8> {
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let mut pixels = Vec::new();
    for _ in 0..300 {
        pixels.push(0);
        pixels.extend((0..1_200).map(|_| noise()));
    }
    let mut stream = vec![0x78, 0x01];
    let blocks: Vec<&[u8]> = pixels.chunks(65_535).collect();
    for (at, block) in blocks.iter().enumerate() {
        stream.push(u8::from(at + 1 == blocks.len()));
        stream.extend((block.len() as u16).to_le_bytes());
        stream.extend((!(block.len() as u16)).to_le_bytes());
        stream.extend_from_slice(block);
    }
    let (a, b) = pixels.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [
        (*b"IHDR", [&400_u32.to_be_bytes()[..], &300_u32.to_be_bytes(), &[8, 2, 0, 0, 0]].concat()),
        (*b"IDAT", stream),
        (*b"IEND", Vec::new()),
    ] {
        let body = [&kind[..], &data].concat();
        png.extend((data.len() as u32).to_be_bytes());
        png.extend_from_slice(&body);
        png.extend(crc32(&body).to_be_bytes());
    }
    png
}

#[test]
fn a_document_that_others_meddled_with_is_refused() {
    let desk = Desk::new();
    let id = desk.written();
    desk.done("add_image", json!({ "document_id": id, "alt_text": "", "image": STANDARD.encode(BLUE) }));
    let path = desk.path(&format!("documents/{id}.json"));
    let good = fs::read_to_string(&path).unwrap();
    let id = json!({ "document_id": id });
    let meddled = |content: String, words: &str| {
        assert_ne!(content, good);
        fs::write(&path, content).unwrap();
        desk.refused("output_pdf", id.clone(), words);
        desk.refused("get_document", id.clone(), words);
    };
    meddled(good[..good.len() / 2].to_owned(), "no document of this plug-in");
    meddled(good.replace("\"form\":1", "\"form\":2"), "does not know");
    meddled(good.replace("Hello", "Hell\u{1F600}"), "U+1F600");
    meddled(good.replace("\"size\":11.0", "\"size\":1e9"), "size of text");
    meddled(good.replace("\"size\":11.0", "\"size\":11.0,\"other\":1"), "unknown field");
    meddled(good.replace("\"width\":30.0", "\"width\":3e9"), "does not fit");
    meddled(good.replace("\"id\":\"doc_", "\"id\":\"dot_"), "another document");
    fs::write(&path, &good).unwrap();
    assert_eq!(desk.done("output_pdf", id.clone())["pages"], 1);
    let image = fs::read_dir(desk.path("documents")).unwrap().map(|entry| entry.unwrap().path());
    let image = image.into_iter().find(|path| path.extension().is_some_and(|end| end == "png")).unwrap();
    fs::write(&image, PHOTO).unwrap();
    desk.refused("output_pdf", id.clone(), "changed since it was added");
    fs::remove_file(&image).unwrap();
    desk.refused("output_pdf", id, "is missing");
}
