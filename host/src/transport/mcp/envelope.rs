//! Reads one line of the protocol strictly, and never what is inside the arguments of a call.
//!
//! Each member of the envelope is looked at once: a key that stands twice is an error, so no two readers can see
//! different values of it. The arguments stay the text that the client wrote.

use rmcp::model::RequestId;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;

/// Longest text id that is taken, in bytes: an id is repeated in the answer, and real ones have under 40.
const MAX_ID: usize = 256;
/// Longest tool name that is passed on, in bytes: listed names have at most 64.
const MAX_NAME: usize = 1024;

/// Not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// JSON, but no message of the protocol.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// A request whose `params` do not fit its method.
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// What a line is.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    /// White space only.
    Blank,
    /// `tools/call`.
    Call { id: RequestId, call: ToolCall<'a> },
    /// Any other request.
    Request { id: RequestId, method: String },
    /// A message that wants no answer.
    Notification,
    /// An answer to a request. This server sends none.
    Response,
}

/// The `params` of `tools/call`.
pub(crate) struct ToolCall<'a> {
    pub name: String,
    /// The text of `arguments` as it was sent; `null` where there are none.
    pub arguments: &'a str,
    pub meta: Option<&'a str>,
}

impl fmt::Debug for ToolCall<'_> {
    // Arguments may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a line is answered with an error, under its id where that could be read.
#[derive(Debug, PartialEq)]
pub(crate) struct Flaw {
    pub id: Option<RequestId>,
    pub code: i32,
    pub message: String,
}

impl Flaw {
    pub(crate) fn new(id: Option<RequestId>, code: i32, message: impl Into<String>) -> Self {
        Self { id, code, message: message.into() }
    }
}

/// Reads a line, without its line feed.
pub(crate) fn read(line: &[u8]) -> Result<Line<'_>, Flaw> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let good = line.get(..error.valid_up_to()).unwrap_or_default();
            let at = good.len() + 1;
            let id = std::str::from_utf8(good).ok().and_then(id_of);
            return Err(Flaw::new(id, PARSE_ERROR, format!("byte {at} is not UTF-8: send the message as UTF-8")));
        }
    };
    match text.bytes().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
        None => return Ok(Line::Blank),
        Some(b'{') => {}
        Some(b'[') => {
            let message = "batches are not part of this protocol: send each message on a line of its own";
            return Err(Flaw::new(None, INVALID_REQUEST, message));
        }
        Some(_) => {
            return Err(match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => Flaw::new(None, INVALID_REQUEST, "not a message: send a JSON-RPC 2.0 object"),
                Err(error) => Flaw::new(None, PARSE_ERROR, not_json(&error)),
            });
        }
    }

    let mut top = Members::new(["jsonrpc", "id", "method", "params", "result", "error"]);
    let read = top.read(text);
    let [jsonrpc, raw_id, method, params, result, error] = top.found;
    let id = raw_id.filter(|id| whole(text, id)).and_then(parse_id);
    let fail = |code, message: String| Err(Flaw::new(id.clone(), code, message));
    match read {
        Ok(()) => {}
        Err(Unread::Twice(key)) => return fail(INVALID_REQUEST, twice(&key, "the message")),
        Err(Unread::Syntax(message)) => return fail(PARSE_ERROR, message),
    }
    if jsonrpc.and_then(parse_string).as_deref() != Some("2.0") {
        return fail(INVALID_REQUEST, "\"jsonrpc\" is not \"2.0\": send a JSON-RPC 2.0 message".into());
    }
    let Some(method) = method else {
        return match (result, error) {
            (None, None) => fail(INVALID_REQUEST, "no \"method\": say what is asked for".into()),
            _ => Ok(Line::Response),
        };
    };
    if result.is_some() || error.is_some() {
        return fail(
            INVALID_REQUEST,
            "a message is a request or a response: leave out \"result\" and \"error\"".into(),
        );
    }
    let Some(method) = parse_string(method) else {
        return fail(INVALID_REQUEST, "\"method\" is not a string: send the name of a method".into());
    };
    let Some(raw_id) = raw_id else { return Ok(Line::Notification) };
    let Some(id) = id.clone() else {
        let what = if raw_id.get().starts_with('"') { "longer than 256 bytes or broken" } else { "of another type" };
        return fail(INVALID_REQUEST, format!("\"id\" is {what}: send a string or a 64-bit integer"));
    };
    let params = params.filter(|params| params.get() != "null");
    if params.is_some_and(|params| !params.get().starts_with('{')) {
        return fail(INVALID_PARAMS, "\"params\" is not an object: send named parameters".into());
    }
    if method != "tools/call" {
        // The reader of these looks for nothing in `params` that stands twice; it would take the last.
        if let Some(params) = params
            && let Err(unread) = Members::new([]).read(params.get())
        {
            return Err(params_flaw(id, unread));
        }
        return Ok(Line::Request { id, method });
    }
    let call = tool_call(params, &id)?;
    Ok(Line::Call { id, call })
}

fn tool_call<'a>(params: Option<&'a RawValue>, id: &RequestId) -> Result<ToolCall<'a>, Flaw> {
    let fail = |message: &str| Err(Flaw::new(Some(id.clone()), INVALID_PARAMS, message));
    let Some(params) = params else { return fail("\"params\" is missing: send \"name\" and \"arguments\"") };
    let mut members = Members::new(["name", "arguments", "_meta"]);
    if let Err(unread) = members.read(params.get()) {
        return Err(params_flaw(id.clone(), unread));
    }
    let [name, arguments, meta] = members.found;
    let Some(name) = name.and_then(parse_string) else {
        return fail("\"name\" is missing or not a string: send the name of a listed tool");
    };
    if name.len() > MAX_NAME {
        return fail("\"name\" is longer than 1024 bytes: send the name of a listed tool");
    }
    let meta = meta.map(RawValue::get).filter(|meta| *meta != "null");
    Ok(ToolCall { name, arguments: arguments.map_or("null", RawValue::get), meta })
}

fn params_flaw(id: RequestId, unread: Unread) -> Flaw {
    match unread {
        Unread::Twice(key) => Flaw::new(Some(id), INVALID_REQUEST, twice(&key, "\"params\"")),
        Unread::Syntax(message) => Flaw::new(Some(id), PARSE_ERROR, message),
    }
}

/// The id of a message of which only the beginning is there, or could be read.
pub(crate) fn id_of(beginning: &str) -> Option<RequestId> {
    let mut top = Members::new(["id"]);
    let _ = top.read(beginning);
    let [id] = top.found;
    id.filter(|id| whole(beginning, id)).and_then(parse_id)
}

/// Whether a value that was read from this text goes on no further: where the text was cut, a number may have been.
fn whole(text: &str, value: &RawValue) -> bool {
    let value = value.get();
    let end = (value.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize).wrapping_add(value.len());
    text.get(end..).is_some_and(|rest| rest.trim_ascii_start().starts_with([',', '}']))
}

fn parse_id(raw: &RawValue) -> Option<RequestId> {
    if raw.get().starts_with('"') {
        parse_string(raw).filter(|id| id.len() <= MAX_ID).map(|id| RequestId::String(id.into()))
    } else {
        serde_json::from_str(raw.get()).ok().map(RequestId::Number)
    }
}

fn parse_string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn twice(key: &str, place: &str) -> String {
    // A key of the client's own may be long.
    let key: String = key.chars().take(64).flat_map(char::escape_debug).collect();
    format!("\"{key}\" stands twice in {place}: send each key once")
}

fn not_json(error: &serde_json::Error) -> String {
    format!("not valid JSON at column {}: send one JSON-RPC message a line", error.column())
}

/// Why an object could not be read.
enum Unread {
    Twice(String),
    Syntax(String),
}

/// The members of one object that have a name here, as raw text. What was complete before an error stays.
struct Members<'de, const N: usize> {
    names: [&'static str; N],
    found: [Option<&'de RawValue>; N],
    others: HashSet<String>,
    twice: Option<String>,
}

impl<'de, const N: usize> Members<'de, N> {
    fn new(names: [&'static str; N]) -> Self {
        Self { names, found: [None; N], others: HashSet::new(), twice: None }
    }

    fn read(&mut self, text: &'de str) -> Result<(), Unread> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = (&mut *self).deserialize(&mut reader).and_then(|()| reader.end());
        match (read, self.twice.take()) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(key)) => Err(Unread::Twice(key)),
            (Err(error), None) => Err(Unread::Syntax(not_json(&error))),
        }
    }

    fn place(&self, key: &str) -> Option<usize> {
        self.names.iter().position(|name| *name == key)
    }

    /// Whether the key is new.
    fn first(&mut self, key: &str) -> bool {
        match self.place(key) {
            Some(place) => self.found.get(place).is_some_and(Option::is_none),
            None => self.others.insert(key.to_owned()),
        }
    }
}

impl<'de, const N: usize> DeserializeSeed<'de> for &mut Members<'de, N> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for &mut Members<'de, N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if !self.first(&key) {
                self.twice = Some(key);
                return Err(A::Error::custom("a key stands twice"));
            }
            match self.place(&key).and_then(|at| self.found.get_mut(at)) {
                Some(slot) => *slot = Some(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
