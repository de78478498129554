//! Who calls. Never empty, never read from the arguments.

use crate::{Error, ErrorKind};
use std::fmt;

/// The authenticated principal that calls, with its source: `os:alice`, `name:ci`, `key:…`, `jwt:iss#sub`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner(String);

impl Owner {
    /// Longest owner, in bytes: what an issuer and a subject of a JWT need, with room.
    pub const MAX: usize = 1024;

    /// A principal of a source. Both must be non-empty; the source is `[a-z]+`; no control characters.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] says what is wrong with it.
    pub fn new(source: &str, principal: &str) -> Result<Self, Error> {
        let bad = |what: &str| Err(Error::new(ErrorKind::Config, format!("owner {what}: give a name such as \"ci\"")));
        if source.is_empty() || !source.bytes().all(|b| b.is_ascii_lowercase()) {
            let what = format!(
                "the source {source:?} of an owner is not fit: write one in small letters a to z, such as \"name\" or \"os\""
            );
            return Err(Error::new(ErrorKind::Config, what));
        }
        if principal.trim().is_empty() {
            return bad("is empty");
        }
        if principal.chars().any(char::is_control) {
            return bad("has control characters");
        }
        if source.len() + 1 + principal.len() > Self::MAX {
            return bad("is longer than 1024 bytes");
        }
        Ok(Self(format!("{source}:{principal}")))
    }

    /// The whole text, source included.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
