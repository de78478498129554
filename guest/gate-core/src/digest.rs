//! Digests over fields that cannot run into each other: each is preceded by its length, the first by a domain tag.

use alloc::string::String;
use sha2::{Digest, Sha256};

/// SHA-256, 32 bytes.
pub type Sha = [u8; 32];

/// A digest under construction.
pub struct Fields(Sha256);

impl Fields {
    /// Starts with a domain tag, so that no two kinds of digest can be confused.
    pub fn new(domain: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.field(domain.as_bytes());
        fields
    }

    /// Adds one field: its length as eight bytes, big-endian, then its bytes.
    pub fn field(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
        self
    }

    /// The digest.
    pub fn finish(&mut self) -> Sha {
        self.0.finalize_reset().into()
    }
}

/// SHA-256 of bytes as they are.
pub fn sha256(bytes: &[u8]) -> Sha {
    Sha256::digest(bytes).into()
}

/// Names a call: owner, tool, canonical arguments. The revision is compared on its own, since two revisions of a tool do
/// the same thing to the world.
pub fn binding(owner: &str, tool: &str, arguments: &str) -> Sha {
    Fields::new("counterfoil/call/1")
        .field(owner.as_bytes())
        .field(tool.as_bytes())
        .field(arguments.as_bytes())
        .finish()
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from(if n < 10 { b'0' + n } else { b'a' + n - 10 });
    bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cannot_run_into_each_other() {
        assert_ne!(binding("a", "bc", "{}"), binding("ab", "c", "{}"));
        assert_ne!(binding("a", "b", "{}"), binding("a", "b{}", ""));
        assert_eq!(binding("a", "b", "{}"), binding("a", "b", "{}"));
    }

    #[test]
    fn hexadecimal_is_lower_case() {
        assert_eq!(hex(&[0, 0x9a, 0xff]), "009aff");
    }
}
