//! What the program shows a person of a plug-in that would repaint the terminal.

use counterfoil::text;
use counterfoil_tests::program::{Folder, Ran};

#[track_caller]
fn is_plain(ran: &Ran) {
    for (of, shown) in [("output", &ran.out), ("messages", &ran.err)] {
        let bad = shown.chars().find(|c| *c != '\n' && text::escape(c.encode_utf8(&mut [0; 4])) != c.to_string());
        assert_eq!(bad, None, "{of}: {shown:?}");
    }
}

#[test]
fn every_text_of_a_plug_in_is_escaped_where_a_person_reads_it() {
    let folder = Folder::new();
    let plugin = folder.path("work/hostile.wasm");
    std::fs::copy(counterfoil_tests::hostile("escapes"), &plugin).unwrap();
    folder.write("work/counterfoil.toml", "[plugins.hostile]\nsource = \"hostile.wasm\"\n");
    for (arguments, code, words) in [
        (vec!["config", "check"], 0, vec!["bad"]),
        (vec!["tools"], 0, vec!["bad"]),
        (vec!["plugin", "inspect", "hostile.wasm"], 0, vec!["bad"]),
        (vec!["plugin", "inspect", "hostile.wasm", "--markdown"], 0, vec!["description", "title"]),
        (vec!["call", "bad"], 3, vec!["summary", "warning", "details"]),
    ] {
        let ran = folder.run(&arguments);
        ran.gave(code, &words);
        is_plain(&ran);
        let shown = format!("{}{}", ran.out, ran.err);
        assert!(words == ["bad"] || ["[2J", "202e"].iter().all(|part| shown.contains(part)), "{shown}");
    }
    let token = folder.run(&["call", "bad"]);
    let shown = format!("{}{}", token.out, token.err);
    let at = shown.find("cfm_").expect("a token");
    let ran = folder.run(&["call", "bad", "--confirm", &shown[at..at + 28]]);
    ran.gave(5, &["error"]);
    is_plain(&ran);
}
