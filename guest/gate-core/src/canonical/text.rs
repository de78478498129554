//! The inside of strings: plain runs, escapes, tokens. Escapes as RFC 8259 reads them and RFC 8785 writes them.

use alloc::string::String;

use super::fault::{Fault, Stop, What};

/// What every token starts with.
pub(super) const TOKEN_PREFIX: &str = "cfm_";
/// How many characters follow.
pub(super) const TOKEN_LENGTH: usize = 24;

/// Whether a byte may stand behind a token's prefix.
pub(super) fn in_token_alphabet(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'2'..=b'7')
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// A bit in each byte that is a quote, a backslash or a control. Bits above the lowest may be wrong, by borrowing.
fn special(word: u64) -> u64 {
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word & HIGH_BITS;
    below(word ^ (ONES * b'"' as u64), 1) | below(word ^ (ONES * b'\\' as u64), 1) | below(word, 0x20)
}

/// How many bytes from `from` on stand for themselves in a JSON string, in RFC 8259 as in RFC 8785.
pub(super) fn plain_run(bytes: &[u8], from: usize) -> usize {
    let mut rest = bytes.get(from..).unwrap_or_default();
    let mut length = 0;
    while let Some((chunk, behind)) = rest.split_first_chunk::<8>() {
        let hits = special(u64::from_le_bytes(*chunk));
        if hits != 0 {
            return length + (hits.trailing_zeros() / 8) as usize;
        }
        length += 8;
        rest = behind;
    }
    length + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | ..0x20)).count()
}

/// Reads the escape whose backslash is at `at`: its character and its length, both halves of a surrogate pair together.
pub(super) fn read_escape(bytes: &[u8], at: usize) -> Result<(char, usize), Stop> {
    let plain = |character| Ok((character, 2));
    match bytes.get(at + 1) {
        Some(b'"') => plain('"'),
        Some(b'\\') => plain('\\'),
        Some(b'/') => plain('/'),
        Some(b'b') => plain('\u{8}'),
        Some(b'f') => plain('\u{c}'),
        Some(b'n') => plain('\n'),
        Some(b'r') => plain('\r'),
        Some(b't') => plain('\t'),
        Some(b'u') => read_unicode_escape(bytes, at),
        Some(_) => Err(Fault::new(at, What::Escape)),
        None => Err(Fault::new(bytes.len(), What::End)),
    }
}

fn read_unicode_escape(bytes: &[u8], at: usize) -> Result<(char, usize), Stop> {
    let first = read_hex(bytes, at)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 6));
    }
    let lone = || Fault::new(at, What::LoneSurrogate);
    let second_at = at + 6;
    let pair = first < 0xdc00 && bytes.get(second_at) == Some(&b'\\') && bytes.get(second_at + 1) == Some(&b'u');
    if !pair {
        return Err(lone());
    }
    let second = read_hex(bytes, second_at)?;
    if !(0xdc00..0xe000).contains(&second) {
        return Err(lone());
    }
    let character = char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or_else(lone)?;
    Ok((character, 12))
}

/// The four digits of the `\u` whose backslash is at `at`.
fn read_hex(bytes: &[u8], at: usize) -> Result<u32, Stop> {
    let mut value = 0;
    for place in at + 2..at + 6 {
        let byte = *bytes.get(place).ok_or_else(|| Fault::new(bytes.len(), What::End))?;
        let digit = (byte as char).to_digit(16).ok_or_else(|| Fault::new(at, What::Escape))?;
        value = value * 16 + digit;
    }
    Ok(value)
}

/// Writes one character inside a string literal, escaped where RFC 8785 escapes it.
pub(super) fn write_character(out: &mut String, character: char) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        '\0'..' ' => {
            out.push_str(if character < '\u{10}' { "\\u000" } else { "\\u001" });
            out.extend(char::from_digit(character as u32 % 16, 16));
        }
        _ => out.push(character),
    }
}

/// Writes a text as a JSON string literal with the escapes of RFC 8785: `\b \t \n \f \r \" \\`, `\u00xx` in lower case for
/// the other controls, everything else as itself.
pub fn write_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some((plain, behind)) = rest.split_at_checked(plain_run(rest.as_bytes(), 0)) {
        out.push_str(plain);
        let mut characters = behind.chars();
        let Some(character) = characters.next() else { break };
        write_character(out, character);
        rest = characters.as_str();
    }
    out.push('"');
}

/// Whether a token stands anywhere in a string. `literal` is the string as [`write_string`] writes it, without or with
/// its quotes.
///
/// A token is a run of at least [`TOKEN_LENGTH`] characters of the alphabet right behind `cfm_`; the underscore is not in
/// the alphabet, so the run starts there. Looking from the far end of where a run could be skips most of ordinary text.
pub(super) fn contains_token(literal: &[u8]) -> bool {
    // The earliest place where a long enough run can start.
    let mut start = 0;
    while let Some(window) = literal.get(start..start + TOKEN_LENGTH) {
        if let Some(gap) = window.iter().rposition(|&byte| !in_token_alphabet(byte)) {
            start += gap + 1;
            continue;
        }
        let before = literal.get(..start).unwrap_or_default();
        if before.strip_suffix(TOKEN_PREFIX.as_bytes()).is_some_and(|before| !ends_inside_escape(before)) {
            return true;
        }
        let behind = literal.get(start..).unwrap_or_default();
        start += behind.iter().take_while(|&&byte| in_token_alphabet(byte)).count() + 1;
    }
    false
}

/// Whether the `c` of `cfm_` is the last digit of the escape `\u001c` and not a character: the one way in which an
/// escaped literal seems to hold a token that its string does not hold.
fn ends_inside_escape(before: &[u8]) -> bool {
    before.strip_suffix(b"u001").is_some_and(|before| {
        let backslashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        backslashes % 2 == 1
    })
}
