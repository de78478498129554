//! MCP lines: an input is cut into lines wherever it was cut before, and a line is a call, another request, a notification,
//! an answer or a flaw, as a reader of JSON sees it that knows nothing of this one. The arguments of a call are the bytes
//! that were sent.

use counterfoil::fuzz::{Message, id_of, lines, message};
use serde_json::Value;
use serde_json::value::RawValue;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, ReadBuf};

/// Longest line of the inputs that are cut: within reach.
const LONGEST: usize = 24;
const PARSE_ERROR: i32 = -32700;

/// Holds an input to that. Says what its first line was.
pub fn check(bytes: &[u8]) -> &'static str {
    cut(bytes);
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let found = message(line);
    let Ok(text) = std::str::from_utf8(line) else {
        assert!(matches!(found, Message::Flaw { code: PARSE_ERROR, .. }), "{found:?} is not UTF-8");
        return "not UTF-8";
    };
    let value = serde_json::from_str::<Value>(text).ok();
    if !matches!(found, Message::Flaw { .. } | Message::Blank) {
        assert!(serde_json::from_str::<&RawValue>(text).is_ok(), "{found:?} is no JSON");
    }
    spaced(line, &found);
    match &found {
        Message::Blank => {
            assert!(line.iter().all(|byte| b" \t\r".contains(byte)));
            "blank"
        }
        Message::Call { id, name, arguments, meta } => {
            beginnings(text, id);
            call(text, arguments, *meta);
            if let Some(value) = value {
                let params = &value["params"];
                assert_eq!((&value["id"], value["method"].as_str()), (id, Some("tools/call")));
                assert_eq!(params["name"].as_str(), Some(&**name));
                assert_eq!(serde_json::from_str::<Value>(arguments).ok().as_ref(), Some(&params["arguments"]));
                let meta = meta.map_or(Some(Value::Null), |meta| serde_json::from_str(meta).ok());
                assert_eq!(meta.as_ref(), Some(&params["_meta"]));
            }
            "call"
        }
        Message::Request { id, method } => {
            beginnings(text, id);
            assert_ne!(method, "tools/call");
            if let Some(value) = value {
                assert_eq!((&value["id"], value["method"].as_str()), (id, Some(&**method)));
                assert!(value["params"].is_null() || value["params"].is_object());
            }
            "request"
        }
        Message::Notification => {
            if let Some(value) = value {
                assert!(value["method"].is_string() && value.get("id").is_none());
            }
            "notification"
        }
        Message::Response => {
            if let Some(value) = value {
                assert!(value.get("method").is_none());
                assert!(value.get("result").is_some() || value.get("error").is_some());
            }
            "response"
        }
        Message::Flaw { id, code, text: said } => {
            assert!(said.len() < 1024 && !said.contains(char::is_control) && said.contains(": "), "{said}");
            match (value, id) {
                (Some(value), Some(id)) if !said.contains("stands twice") => assert_eq!(value.get("id"), Some(id)),
                (Some(value), None) if !said.contains("\"id\"") => {
                    // What is no object has none; and an id that is null, or that a message may not have, is none.
                    let fit = |id: &Value| id.is_i64() || id.as_str().is_some_and(|id| id.len() <= 256);
                    assert!(said.contains("stands twice") || !value.get("id").is_some_and(fit), "{said}");
                }
                _ => {}
            }
            if serde_json::from_str::<Value>(text).is_ok() {
                assert_ne!(*code, PARSE_ERROR, "it is JSON: {said}");
            }
            if serde_json::from_str::<&RawValue>(text).is_err() && !said.contains("stands twice") {
                assert!(*code == PARSE_ERROR || said.contains("batches"), "it is no JSON: {said}");
            }
            match *code {
                PARSE_ERROR => "no JSON",
                -32600 => "no message",
                -32602 => "no fitting parameters",
                other => panic!("{other}: {said}"),
            }
        }
    }
}

/// The texts that are passed on are stretches of the line, and not made anew.
fn call(line: &str, arguments: &str, meta: Option<&str>) {
    let within = |part: &str| line.as_bytes().as_ptr_range().contains(&part.as_ptr()) && line.contains(part);
    assert!(arguments == "null" || within(arguments), "{arguments}");
    assert!(meta.is_none_or(within), "{meta:?}");
    assert!(serde_json::from_str::<&RawValue>(arguments).is_ok(), "{arguments}");
}

/// Of a message that was cut the id is the same, or is not known.
fn beginnings(text: &str, id: &Value) {
    let step = text.len().div_ceil(100).max(1);
    for end in (0..=text.len()).step_by(step).filter(|end| text.is_char_boundary(*end)) {
        let found = id_of(&text[..end]);
        assert!(found.is_none() || found.as_ref() == Some(id), "cut at {end}: {found:?}");
    }
}

/// White space around a line changes nothing but columns.
fn spaced(line: &[u8], found: &Message<'_>) {
    let spaced = [b" \t", line, b"\r"].concat();
    match (message(&spaced), found) {
        (Message::Flaw { id, code, .. }, Message::Flaw { id: before, code: code_before, .. }) => {
            assert_eq!((&id, code), (before, *code_before), "with space around it");
        }
        (spaced, found) => assert_eq!(&spaced, found, "with space around it"),
    }
}

/// Gives out an input in pieces whose sizes are the bytes of the input themselves.
struct Pieces<'a> {
    rest: &'a [u8],
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let wanted = self.rest.first().map_or(0, |first| usize::from(first % 32) + 1);
        let (piece, rest) = self.rest.split_at(wanted.min(self.rest.len()).min(buffer.remaining()));
        buffer.put_slice(piece);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

/// Lines are what stands between line feeds, whatever pieces they come in; too long ones are cut and said to be.
fn cut(bytes: &[u8]) {
    let mut expected: Vec<(Vec<u8>, bool)> = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| (line[..line.len().min(LONGEST)].to_vec(), line.len() <= LONGEST))
        .collect();
    if expected.last().is_some_and(|(line, _)| line.is_empty()) {
        expected.pop();
    }
    let found = pin!(lines(Pieces { rest: bytes }, LONGEST)).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(found, Poll::Ready(expected));
}
