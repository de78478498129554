//! The section itself: found wherever in a component it stands, and put into one that has none.

use super::{Declared, MAX, SECTION};
use wasmparser::{Parser, Payload};

/// What a component says of itself; `None` where it says nothing.
///
/// # Errors
/// What is wrong: more than one manifest, or one that cannot be read.
pub(in super::super) fn read(component: &[u8]) -> Result<Option<Declared>, String> {
    let Some(bytes) = find(component)? else { return Ok(None) };
    if bytes.len() > MAX {
        return Err(format!("its manifest has {} bytes: {MAX} are allowed", bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "its manifest is not UTF-8".to_owned())?;
    let declared = Declared::from_json(text).map_err(|what| format!("its manifest is not acceptable: {what}"))?;
    Ok(Some(declared))
}

fn find(component: &[u8]) -> Result<Option<&[u8]>, String> {
    let mut found = None;
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload.map_err(|error| format!("is damaged: {}", error.message()))?;
        if let Payload::CustomSection(section) = payload
            && section.name() == SECTION
            && found.replace(section.data()).is_some()
        {
            return Err(format!("has more than one manifest (section {SECTION}): keep one"));
        }
    }
    Ok(found)
}

/// The component with a manifest at its end.
///
/// # Errors
/// It has one already, or is damaged.
#[cfg(feature = "program")]
pub(crate) fn put(component: &[u8], manifest: &str) -> Result<Vec<u8>, String> {
    if find(component)?.is_some() {
        return Err("has a manifest already, which is its author's word: it is not replaced".into());
    }
    let mut content = Vec::new();
    number(&mut content, SECTION.len());
    content.extend_from_slice(SECTION.as_bytes());
    content.extend_from_slice(manifest.as_bytes());
    /// The kind of a custom section.
    const CUSTOM: u8 = 0;
    let mut whole = component.to_vec();
    whole.push(CUSTOM);
    number(&mut whole, content.len());
    whole.append(&mut content);
    Ok(whole)
}

/// A length as WebAssembly writes it (LEB128).
#[cfg(feature = "program")]
fn number(to: &mut Vec<u8>, mut number: usize) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            return to.push(low);
        }
        to.push(low | 0x80);
    }
}

#[cfg(test)]
#[cfg(feature = "program")]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn what_was_put_in_is_read_and_not_replaced() {
        assert_eq!(read(EMPTY), Ok(None));
        let long = format!(r#"{{"manifest":1,"env":["{}"]}}"#, "A".repeat(100));
        let with = put(EMPTY, &long).unwrap();
        assert_eq!(read(&with).unwrap().unwrap().env, ["A".repeat(100)]);
        assert!(put(&with, r#"{"manifest":1}"#).unwrap_err().contains("already"));
    }

    #[test]
    fn one_inside_a_module_counts_and_two_are_an_error_wherever_they_stand() {
        let manifest = r#"{"manifest":1}"#;
        let module = put(b"\0asm\x01\0\0\0", manifest).unwrap();
        let mut component = EMPTY.to_vec();
        component.push(1);
        number(&mut component, module.len());
        component.extend_from_slice(&module);
        assert!(read(&component).unwrap().unwrap().is_empty());
        assert!(put(&component, manifest).unwrap_err().contains("already"));
        let mut twice = component.clone();
        twice.extend_from_slice(component.get(EMPTY.len()..).unwrap());
        assert!(read(&twice).unwrap_err().contains("more than one manifest"));
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let refused = |manifest: &str, word: &str| {
            let error = read(&put(EMPTY, manifest).unwrap()).unwrap_err();
            assert!(error.contains(word), "{error}");
        };
        refused("", "its manifest is not acceptable");
        refused(r#"{"manifest":1,"sockets":true}"#, "unknown key `sockets`");
        refused(&" ".repeat(MAX + 1), "16384 are allowed");
        let mut broken = put(EMPTY, r#"{"manifest":1,"env":["A"]}"#).unwrap();
        let at = broken.len() - 5;
        *broken.get_mut(at).unwrap() = 0xff;
        assert!(read(&broken).unwrap_err().contains("not UTF-8"));
        broken.truncate(at);
        assert!(read(&broken).unwrap_err().contains("is damaged"));
    }
}
