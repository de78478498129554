//! SHA-256 over length-prefixed fields with a domain tag, so that no two lists of fields have one digest.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// A digest in the making.
pub(crate) struct Digest(Sha256);

impl Digest {
    /// `domain` says what is digested: two purposes never share a digest.
    pub(crate) fn new(domain: &str) -> Self {
        let mut digest = Self(Sha256::new());
        digest.field(domain.as_bytes());
        digest
    }

    /// Adds one field, its length first.
    pub(crate) fn field(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// 32 bytes.
    pub(crate) fn bytes(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// 64 lower-case hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The plain SHA-256 of some bytes, as `sha256sum` prints it.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
