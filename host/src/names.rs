//! Names that people would take for each other. Two such are one name to whoever reads a preview and agrees, so the second
//! cannot be had.
//!
//! Whoever listens to a name or types it hears no case, sees no difference between `-` and `_`, and none at its ends. A digit
//! is the letter whose shape it has (`1` is `l` and `i`, `0` is `o`, `5` is `s`) wherever it stands in a word with letters, `1`
//! and `0` everywhere; `I` is `i` to the ear and `l` to the eye; `rn` is `m` and `vv` is `w`. Of letters beyond ASCII the
//! shape counts (Unicode's confusables). Not alike are two digits, and two letters: `mail` and `mall` are read apart.

use std::collections::HashMap;
use unicode_security::confusable_detection::skeleton;

/// Names that are taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// By what is left of them where every digit is a letter: only those of one such form can be alike.
    taken: HashMap<String, Vec<Taken>>,
}

#[derive(Clone, Debug)]
struct Taken {
    name: String,
    read: Vec<char>,
}

impl Names {
    /// With names that are taken already.
    pub(crate) fn with<const N: usize>(names: [&str; N]) -> Self {
        let mut taken = Self::default();
        for name in names {
            let read = read(name);
            taken.taken.entry(rough(&read)).or_default().push(Taken { name: name.to_owned(), read });
        }
        taken
    }

    /// Takes a name. The error is one that is taken already, this one or one that looks like it.
    pub(crate) fn take(&mut self, name: &str) -> Result<(), String> {
        let read = read(name);
        let near = self.taken.entry(rough(&read)).or_default();
        if let Some(other) = near.iter().find(|other| alike(&other.read, &read)) {
            return Err(other.name.clone());
        }
        near.push(Taken { name: name.to_owned(), read });
        Ok(())
    }
}

/// A name as it is read: small letters and `I`, one `_` between words and none at the ends, no pairs that look like one.
fn read(name: &str) -> Vec<char> {
    let mut plain = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            'I' => plain.push('I'),
            c if c.is_ascii() => plain.push(c.to_ascii_lowercase()),
            c => plain.extend(skeleton(c.encode_utf8(&mut [0; 4])).flat_map(char::to_lowercase)),
        }
    }
    let words: Vec<String> = plain.split(['-', '_']).filter(|word| !word.is_empty()).map(word).collect();
    words.join("_").chars().collect()
}

/// One word. In one without letters a digit is no letter, but for `0` and `1`.
fn word(word: &str) -> String {
    let word = word.replace("rn", "m").replace("vv", "w");
    if word.chars().any(char::is_alphabetic) {
        return word;
    }
    word.chars().flat_map(|c| [Some(c), ('2'..='9').contains(&c).then_some(NUMBER)]).flatten().collect()
}

/// Stands behind a digit that is no letter. No name has it.
const NUMBER: char = '#';

/// The letter whose shape this has.
fn letter(c: char) -> char {
    match c {
        '0' => 'o',
        '1' | 'I' | 'i' => 'l',
        '2' => 'z',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '6' | '8' => 'b',
        '7' => 't',
        '9' => 'g',
        c => c,
    }
}

fn rough(read: &[char]) -> String {
    read.iter().map(|c| letter(*c)).collect()
}

/// Whether two names that are the same where every digit is a letter are taken for each other.
fn alike(one: &[char], other: &[char]) -> bool {
    let same = |(a, b): (&char, &char)| a == b || a.is_ascii_digit() != b.is_ascii_digit() || *a == 'I' || *b == 'I';
    one.iter().zip(other).all(same)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, alike: bool) {
        for (one, other) in [(one, other), (other, one)] {
            let mut names = Names::default();
            names.take(one).unwrap();
            let expected = if alike { Err(one.to_owned()) } else { Ok(()) };
            assert_eq!(names.take(other), expected, "{one} and {other}");
        }
    }

    #[test]
    fn names_that_read_alike_are_one_name() {
        for (one, other) in [
            ("delete_file", "delete_file"),
            ("delete_file", "Delete_File"),
            ("LIST", "list"),
            ("list-files", "list_files"),
            ("list_files", "list__files"),
            ("list_files", "List-_fILES"),
            ("note", "note_"),
            ("note", "-note"),
            ("send_mail", "send_mai1"),
            ("send_mail", "send_maiI"),
            ("send_mail", "SEND_MAI1"),
            ("send_mail", "send_ma1l"),
            ("mild", "m1ld"),
            ("higher", "h1gher"),
            ("filter", "f1Iter"),
            ("LIST", "1IST"),
            ("item10", "itemlO"),
            ("item10", "item1O"),
            ("item_1", "item_l"),
            ("load", "l0ad"),
            ("LOAD", "l0ad"),
            ("send", "5end"),
            ("delete", "d3lete"),
            ("delete", "d3l373"),
            ("zip", "2ip"),
            ("modern", "modem"),
            ("rnove_file", "move_file"),
            ("RNOVE_FILE", "move_file"),
            ("vvipe", "wipe"),
            ("native", "Native"),
            ("p\u{430}y", "pay"),
        ] {
            check(one, other, true);
        }
    }

    #[test]
    fn names_that_do_not_are_two() {
        for (one, other) in [
            ("delete_file", "delete_files"),
            ("read_file", "readfile"),
            ("move", "remove"),
            ("get1", "get2"),
            ("get6", "get8"),
            ("step_3", "step_e"),
            ("plan_8", "plan_b"),
            ("mail", "mall"),
            ("fill", "file"),
            ("barn", "bar"),
            ("a_b", "ab"),
            ("clone", "done"),
            ("read", "road"),
        ] {
            check(one, other, false);
        }
    }

    #[test]
    fn every_name_that_is_taken_is_looked_at() {
        let mut names = Names::with(["mail", "mall"]);
        assert_eq!(names.take("ma1l"), Err("mail".to_owned()));
        assert_eq!(names.take("MALL"), Err("mall".to_owned()));
        assert_eq!(names.take("mill"), Ok(()));
    }
}
