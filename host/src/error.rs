//! What can go wrong outside a call: at start, at load, in a configuration. Opaque, with a kind.

use std::fmt;

/// What part of the host an [`Error`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A configuration or an option that cannot be accepted.
    Config,
    /// A plug-in file that cannot be loaded or does not fit the world.
    Plugin,
    /// A level, an override or a grant that the policy refuses.
    Policy,
    /// The store could not be opened or reached.
    Store,
    /// The gate component could not be loaded or failed.
    Gate,
    /// A file or directory of the program's own.
    Io,
}

/// An error of the library. Its text is lower case and says what to do.
pub struct Error {
    kind: ErrorKind,
    message: String,
    /// What of the configuration it is about, by a dotted path: `rules.2.when`.
    #[cfg_attr(not(feature = "program"), expect(dead_code, reason = "told by the configuration"))]
    place: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: None, source: None }
    }

    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn at(self, place: String) -> Self {
        Self { place: Some(place), ..self }
    }

    /// What of the configuration it is about.
    #[cfg(feature = "program")]
    pub(crate) fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// What part of the host it comes from.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as &(dyn std::error::Error + 'static))
    }
}
