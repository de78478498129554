//! Names that people would take for each other. Two such are one name to whoever reads a preview and agrees, so the second
//! cannot be had.
//!
//! Letters of one shape are those of Unicode's confusables (`1`, `l` and `I`; `0` and `O`; `rn` and `m`), and whoever
//! listens to a name or types it hears no case and sees no difference between `-` and `_`.

use std::collections::HashMap;
use unicode_security::confusable_detection::skeleton;

/// Names that are taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// By every form under which they would be recognised.
    taken: HashMap<String, String>,
}

impl Names {
    /// With names that are taken already.
    pub(crate) fn with<const N: usize>(names: [&str; N]) -> Self {
        let taken = names.iter().flat_map(|name| forms(name).map(|form| (form, (*name).to_owned())));
        Self { taken: taken.collect() }
    }

    /// Takes a name. The error is one that is taken already, this one or one that looks like it.
    pub(crate) fn take(&mut self, name: &str) -> Result<(), String> {
        let forms = forms(name);
        if let Some(other) = forms.iter().find_map(|form| self.taken.get(form)) {
            return Err(other.clone());
        }
        self.taken.extend(forms.map(|form| (form, name.to_owned())));
        Ok(())
    }
}

/// What is left of a name once no case, no shape or neither counts: `LIST` is `list` to the ear, `llst` to the eye.
fn forms(name: &str) -> [String; 3] {
    let shape = |name: &str| skeleton(name).collect::<String>();
    let lower = name.to_lowercase();
    [even(&shape(&lower)), even(&shape(name).to_lowercase()), even(&lower)]
}

/// One `_` for every run of what stands between words.
fn even(name: &str) -> String {
    let mut even = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' if even.ends_with('_') => {}
            '-' => even.push('_'),
            c => even.push(c),
        }
    }
    even
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
            ("send_mail", "send_mai1"),
            ("send_mail", "send_maiI"),
            ("send_mail", "SEND_MAI1"),
            ("LIST", "1IST"),
            ("item10", "itemlO"),
            ("item10", "item1O"),
            ("load", "l0ad"),
            ("LOAD", "l0ad"),
            ("modern", "modem"),
            ("rnove_file", "move_file"),
            ("RNOVE_FILE", "move_file"),
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
            ("mail", "mall"),
            ("fill", "file"),
            ("barn", "bar"),
            ("a_b", "a_b_"),
            ("clone", "done"),
            ("read", "road"),
        ] {
            check(one, other, false);
        }
    }
}
