//! What is kept of a password: enough to recognise it, nothing to get it back from. PBKDF2 with HMAC-SHA-256 (RFC 8018,
//! section 5.2), one block.

use crate::json::Json;
use crate::shown::hex;
use crate::text::digest;
use sha2::{Digest, Sha256};

/// A tenth of a second or a few, once for each server; each guess costs the same.
const ROUNDS: u32 = 600_000;

/// The record of a password. The salt comes from the operation's id, which no other run has.
pub fn record(password: &str, operation: &str) -> Json {
    let whole = digest(["password of an SMTP server", operation]);
    let (salt, _) = whole.split_at(16);
    Json::object([
        ("kept", Json::text("pbkdf2-sha256")),
        ("rounds", Json::whole(ROUNDS)),
        ("salt", Json::text(hex(salt))),
        ("digest", Json::text(hex(&pbkdf2(password.as_bytes(), salt, ROUNDS)))),
    ])
}

fn pbkdf2(password: &[u8], salt: &[u8], rounds: u32) -> [u8; 32] {
    let key = Key::new(password);
    let mut block = key.mac(&[salt, &1u32.to_be_bytes()]);
    let mut out = block;
    for _ in 1..rounds {
        block = key.mac(&[&block]);
        out.iter_mut().zip(block).for_each(|(out, byte)| *out ^= byte);
    }
    out
}

/// A key of HMAC-SHA-256 (RFC 2104): the states after its two paddings.
struct Key {
    inner: Sha256,
    outer: Sha256,
}

impl Key {
    fn new(key: &[u8]) -> Self {
        let mut block = [0; 64];
        let hashed = Sha256::digest(key);
        let key = if key.len() > block.len() { hashed.as_slice() } else { key };
        block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        let padded = |pad: u8| Sha256::new_with_prefix(block.map(|byte| byte ^ pad));
        Self { inner: padded(0x36), outer: padded(0x5c) }
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut inner = self.inner.clone();
        parts.iter().for_each(|part| inner.update(part));
        self.outer.clone().chain_update(inner.finalize()).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_function_of_the_published_vectors() {
        // RFC 7914, section 11: the first 32 bytes, which do not depend on those behind them.
        assert_eq!(
            hex(&pbkdf2(b"passwd", b"salt", 1)),
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
        );
        assert_eq!(
            hex(&pbkdf2(b"Password", b"NaCl", 80_000)),
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
        );
        // RFC 4231, test case 6: a key longer than a block.
        let long = Key::new(&[0xaa; 131]).mac(&[b"Test Using Larger Than Block-Size Key - Hash Key First"]);
        assert_eq!(hex(&long), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }

    #[test]
    fn the_record_has_nothing_of_the_password_and_two_runs_differ() {
        let (one, other) = (record("hunter2hunter2", "op-1").to_string(), record("hunter2hunter2", "op-2").to_string());
        assert!(!one.contains("hunter2") && one != other);
        assert_eq!(one, record("hunter2hunter2", "op-1").to_string());
    }
}
