//! Reads JSON strictly and writes it in one canonical form. Equal arguments give equal bytes, different arguments give
//! different bytes, whatever their key order, white space, escapes and number spelling: what is hashed, previewed and
//! run is this text and nothing else.
//!
//! The reader takes RFC 8259 and refuses what parsers disagree about: keys that are equal after unescaping, lone
//! surrogates, a byte order mark, text behind the value. The form is RFC 8785, save that numbers keep their exact decimal
//! value and are never rounded to a double: `6.20`, `6.2` and `62e-1` are one number, 9007199254740993 is not
//! 9007199254740992. One pass over the text, then at most one copy; time is O(n log n) for every shape.
//!
//! ```
//! use counterfoil_gate_core::canonical::{Limits, read};
//!
//! let sent = r#"{"path":"/a","n":62e-1,"confirm_token":"cfm_aaaaaaaaaaaaaaaaaaaaaaaa"}"#;
//! let request = read(sent, "confirm_token", &Limits::default()).unwrap();
//! assert_eq!(request.arguments, r#"{"n":6.2,"path":"/a"}"#);
//! assert_eq!(request.token.as_deref(), Some("cfm_aaaaaaaaaaaaaaaaaaaaaaaa"));
//! ```

mod fault;
mod number;
mod order;
mod reader;
#[cfg(test)]
mod tests;
mod text;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use reader::{Output, Reader, Rules};
pub use text::write_string;

/// What the reader accepts at most. The canonical text is within the same limits, so it can always be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of arguments, as sent and in canonical form. [`compact`] does not apply it: its callers have their own.
    pub max_bytes: u32,
    /// Nesting of objects and arrays: the top-level object is depth 1.
    pub max_depth: u32,
    /// Characters of one number with its sign, point and exponent, as sent and in canonical form.
    pub max_number: u32,
    /// Magnitude of an exponent that is written, as sent and in canonical form.
    pub max_exponent: u32,
}

impl Default for Limits {
    /// 256 KiB, depth 64, numbers of 1,024 characters and exponents up to ±9,999: more than tools ask for, little enough
    /// for every later reader.
    fn default() -> Self {
        Self { max_bytes: 256 * 1024, max_depth: 64, max_number: 1024, max_exponent: 9999 }
    }
}

/// What a caller sent, read.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// The token, where one was given: well-formed.
    pub token: Option<String>,
    /// Canonical text of the arguments, without the confirm parameter.
    pub arguments: String,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = if self.token.is_some() { "given" } else { "none" };
        f.debug_struct("Request").field("token", &token).field("arguments", &self.arguments).finish()
    }
}

/// Why arguments could not be read. The text is for the caller: what, where (bytes from the start of the text, the first
/// is 0) and what to do. It never holds a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentsError {
    /// The arguments are fine, but what was given as the confirm parameter is no token.
    MalformedToken(String),
    /// Not strict JSON, over a limit, not an object, or a token where none belongs.
    InvalidArguments(String),
}

/// A JSON text without white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compact {
    /// The text; keys in their order, numbers and strings as they were spelled.
    pub text: String,
    /// The top-level keys, unescaped and in their order. None: the value is not an object.
    pub keys: Option<Vec<String>>,
}

/// Reads arguments: a JSON object, or `null` for none. Takes the confirm parameter out of the top level, where null and
/// `""` count as absent.
///
/// # Errors
/// `InvalidArguments` for everything that is wrong with the text, first; then `MalformedToken` when the confirm parameter
/// holds something that is no token.
pub fn read(arguments: &str, confirm_parameter: &str, limits: &Limits) -> Result<Request, ArgumentsError> {
    let rules = Rules::Arguments { confirm: Some(confirm_parameter) };
    let Output { text, token, malformed, .. } = Reader::new(arguments, rules, limits)
        .run()
        .map_err(|fault| ArgumentsError::InvalidArguments(fault.text(limits, rules)))?;
    match malformed {
        Some(malformed) => Err(ArgumentsError::MalformedToken(malformed.text(confirm_parameter))),
        None => Ok(Request { token, arguments: text }),
    }
}

/// Whether a text is what [`read`] returns for it: an object in canonical form, within the limits, with no token inside.
#[must_use]
pub fn is_canonical(text: &str, limits: &Limits) -> bool {
    Reader::new(text, Rules::Arguments { confirm: None }, limits).run().is_ok_and(|output| output.text == text)
}

/// Checks a JSON text as strictly as [`read`] does, whatever its top level is, and takes the white space out. Numbers
/// are measured as they are spelled; `max_bytes` is not applied; strings that look like tokens are let through.
///
/// # Errors
/// What is wrong and where, as prose.
pub fn compact(text: &str, limits: &Limits) -> Result<Compact, String> {
    let output = Reader::new(text, Rules::AsSent, limits).run().map_err(|fault| fault.text(limits, Rules::AsSent))?;
    Ok(Compact { text: output.text, keys: output.keys })
}

/// Whether a text is a token: `cfm_` and 24 characters of `abcdefghijklmnopqrstuvwxyz234567`, in exact case.
#[must_use]
pub fn is_token(text: &str) -> bool {
    text.strip_prefix(text::TOKEN_PREFIX)
        .is_some_and(|rest| rest.len() == text::TOKEN_LENGTH && rest.bytes().all(text::in_token_alphabet))
}
