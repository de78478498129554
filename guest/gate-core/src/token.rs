//! Handles from random bytes. 120 bits in 24 characters of a 32-letter alphabet: five bits a character, nothing left over.

use crate::digest::{Sha, sha256};
use alloc::string::String;
use core::fmt;

/// Random bytes of one handle.
pub const RANDOM: usize = 15;

/// Random bytes of a handle.
pub type Random = [u8; RANDOM];

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The secret of a confirmation. Silent in `Debug`; stored only as its [`key`](Token::key).
///
/// The default is empty and is no token: nothing accepts it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new token.
    pub fn new(random: Random) -> Self {
        Self(handle("cfm_", random))
    }

    /// What a caller gave. `None`: it is no token.
    pub fn parse(text: &str) -> Option<Self> {
        crate::canonical::is_token(text).then(|| Self(text.into()))
    }

    /// The text, for the one challenge that shows it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What it is stored under. A look-up by digest gives nothing away about how much of a guess was right.
    pub fn key(&self) -> Sha {
        sha256(self.0.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A new approval id: the handle for people.
pub fn approval_id(random: Random) -> String {
    handle("apr_", random)
}

/// A new operation id: names one run.
pub fn operation_id(random: Random) -> String {
    handle("op_", random)
}

fn handle(prefix: &str, random: Random) -> String {
    let mut out = String::with_capacity(prefix.len() + 24);
    out.push_str(prefix);
    for group in random.chunks_exact(5) {
        let bits = group.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        for shift in (0..8).rev() {
            let letter = ALPHABET.get((bits >> (shift * 5)) as usize & 31).copied().unwrap_or(b'a');
            out.push(char::from(letter));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::format;

    #[test]
    fn a_token_is_a_prefix_and_24_letters_of_the_alphabet() {
        assert_eq!(Token::new([0; 15]).reveal(), "cfm_aaaaaaaaaaaaaaaaaaaaaaaa");
        assert_eq!(Token::new([255; 15]).reveal(), "cfm_777777777777777777777777");
        assert_eq!(operation_id([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 128, 0, 0, 0, 0]), "op_aaaaaaabaaaaaaaaqaaaaaaa");
    }

    #[test]
    fn every_bit_matters() {
        for bit in 0..120 {
            let mut random = [0u8; 15];
            *random.get_mut(bit / 8).unwrap() |= 1 << (bit % 8);
            assert_ne!(Token::new(random), Token::new([0; 15]), "bit {bit}");
        }
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", Token::new([7; 15])), "Token(…)");
    }

    #[test]
    fn only_exact_case_and_length_is_a_token() {
        assert!(Token::parse("cfm_abcdefghijklmnopqrstuvwx").is_some());
        for text in
            ["", "cfm_", "CFM_abcdefghijklmnopqrstuvwx", "cfm_Abcdefghijklmnopqrstuvwx", "cfm_abcdefghijklmnopqrstuvw1"]
        {
            assert!(Token::parse(text).is_none(), "{text}");
        }
        assert!(Token::parse("cfm_abcdefghijklmnopqrstuvwxy").is_none());
        assert!(Token::parse(" cfm_abcdefghijklmnopqrstuvwx").is_none());
    }
}
