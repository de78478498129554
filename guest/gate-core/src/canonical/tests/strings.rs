//! Escapes, surrogates, controls.

use alloc::format;
use alloc::string::String;

use super::*;

#[test]
fn escapes_are_those_of_rfc_8785() {
    check_value(r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\b\f\n\r\t""#);
    check_value(r#""\u0008\u000c\u000a\u000d\u0009\u0022\u005c\u002f""#, r#""\b\f\n\r\t\"\\/""#);
    check_value(r#""\u0000\u0001\u000B\u000e\u001F\u0020""#, r#""\u0000\u0001\u000b\u000e\u001f ""#);
    check_value(r#""\u000f\u0010\u0019\u001a""#, r#""\u000f\u0010\u0019\u001a""#);
    check_value(r#""\u007f\u0080\u2028\u2029\ufeff\uffff""#, "\"\u{7f}\u{80}\u{2028}\u{2029}\u{feff}\u{ffff}\"");
    check_value(r#""\u00E9\u00e9""#, "\"\u{e9}\u{e9}\"");
    check_value("\"\u{e9}\u{7f}\u{2028}\"", "\"\u{e9}\u{7f}\u{2028}\"");
    check_value(r#""\ud83d\ude00\uD83D\uDE00""#, "\"\u{1f600}\u{1f600}\"");
    check_value(r#""\ud800\udc00\udbff\udfff""#, "\"\u{10000}\u{10ffff}\"");
    check_value(r#""\\u0041\\""#, r#""\\u0041\\""#);
    check_value(r#""""#, r#""""#);
    let unknown = "use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hexadecimal digits";
    for escape in [r"\a", r"\'", r"\0", r"\x41", r"\U0041", r"\u 041", r"\u004g", r"\u+041", r"\u00é1", "\\\n"] {
        check_refused(&format!("{{\"a\":\"b{escape}0000\"}}"), &format!("an unknown escape at byte 7: {unknown}"));
    }
}

#[test]
fn lone_surrogates_are_refused() {
    for spelled in [
        r"\ud800",
        r"\udbff",
        r"\udc00",
        r"\udfff",
        r"\ud800\ud800",
        r"\ud800\ue000",
        r"\ud800x",
        r"\ud800\n",
        r"\ud800\u0041",
        r"\ude00\ud83d",
        r"\ud800\\udc00",
        r"\uD800 \uDC00",
        r"\udc00\udc00",
        r"\udc00\uzzzz",
    ] {
        let lone = "a lone surrogate at byte 6: send the whole character";
        check_refused(&format!("{{\"a\":\"{spelled}\"}}"), lone);
        let lone = "a lone surrogate at byte 7: send the whole character";
        check_refused(&format!("{{\"\":1,\"{spelled}\":1}}"), lone);
    }
    check_value(r#""\ud7ff\ue000""#, "\"\u{d7ff}\u{e000}\"");
}

#[test]
fn controls_have_to_be_escaped() {
    for byte in 0_u8..0x20 {
        let text = format!("{{\"a\":\"0123456{}\"}}", char::from(byte));
        check_refused(&text, &format!("a control character in a string at byte 13: write it as \\u{byte:04x}"));
    }
    check_refused("{\"a\tb\":1}", "a control character in a string at byte 3: write it as \\u0009");
    check_value("\" \u{7f}\u{80}\u{9f}\"", "\" \u{7f}\u{80}\u{9f}\"");
}

#[test]
fn strings_of_every_length_end_where_they_end() {
    for length in 0..40 {
        let filler = "x".repeat(length);
        for (special, expected) in [("", ""), (r"\/", "/"), (r"\u00e9", "\u{e9}"), ("\u{e9}", "\u{e9}"), (r"\n", r"\n")]
        {
            check_value(&format!("\"{filler}{special}\""), &format!("\"{filler}{expected}\""));
            check_value(&format!("\"{special}{filler}\""), &format!("\"{expected}{filler}\""));
        }
    }
}

#[test]
fn strings_are_written_as_the_reader_writes_them() {
    for character in
        (0..0x300).chain(0xd7f0..0xd800).chain(0xe000..0xe010).chain(0xfff0..0x1_0010).filter_map(char::from_u32)
    {
        for text in [format!("{character}"), format!("0123456{character}"), format!("{character}{character}x")] {
            let mut literal = String::new();
            write_string(&mut literal, &text);
            check_value(&literal, &literal);
        }
    }
    let mut literal = String::from("=");
    write_string(&mut literal, "a\"\\/\u{8}\u{c}\n\r\t\0\u{1f}\u{7f}\u{e9}");
    assert_eq!(literal, "=\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}\u{e9}\"");
}
