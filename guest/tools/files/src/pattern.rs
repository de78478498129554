//! What a search pattern matches. Pure, and linear in name times pattern whatever the pattern is.

/// A pattern for names: a glob where it has `*` or `?`, else a part of the name.
pub struct Pattern<'a> {
    text: &'a str,
    glob: Option<Vec<Piece>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Literal(char),
    /// `?`: one character that is not `/`.
    One,
    /// `*`: any run without `/`.
    Run,
    /// `**`: any run.
    Deep,
    /// `**/`: nothing, or any run that ends in `/`.
    Folders,
}

impl<'a> Pattern<'a> {
    pub fn new(text: &'a str) -> Self {
        let glob = text.contains(['*', '?']).then(|| compile(text));
        Self { text, glob }
    }

    /// Whether the pattern is for names alone: nobody looks for `*.txt` in a text.
    pub fn is_glob(&self) -> bool {
        self.glob.is_some()
    }

    /// Whether it matches: the whole path from the searched directory where the pattern has a `/`, else the name alone.
    pub fn matches(&self, path: &str) -> bool {
        let subject = if self.text.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
        match &self.glob {
            None => subject.contains(self.text),
            Some(pieces) => run(pieces, subject),
        }
    }
}

fn compile(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        pieces.push(match c {
            '?' => Piece::One,
            '*' if rest.next_if_eq(&'*').is_some() => {
                while rest.next_if_eq(&'*').is_some() {}
                if rest.next_if_eq(&'/').is_some() { Piece::Folders } else { Piece::Deep }
            }
            '*' => Piece::Run,
            c => Piece::Literal(c),
        });
    }
    pieces
}

/// Walks all the ways in which the pattern may match side by side: `live` holds how many pieces each way has behind it.
fn run(pieces: &[Piece], subject: &str) -> bool {
    let mut live = vec![false; pieces.len() + 1];
    let mut next = live.clone();
    enter(pieces, &mut live, 0);
    for c in subject.chars() {
        next.fill(false);
        for (at, piece) in pieces.iter().enumerate().filter(|(at, _)| live.get(*at).copied().unwrap_or_default()) {
            match piece {
                Piece::Literal(wanted) if *wanted == c => enter(pieces, &mut next, at + 1),
                Piece::One if c != '/' => enter(pieces, &mut next, at + 1),
                Piece::Run if c != '/' => enter(pieces, &mut next, at),
                Piece::Deep => enter(pieces, &mut next, at),
                // Skipped over only at its end: `**/a` is not to match `ba`.
                Piece::Folders => {
                    if let Some(here) = next.get_mut(at) {
                        *here = true;
                    }
                    if c == '/' {
                        enter(pieces, &mut next, at + 1);
                    }
                }
                _ => {}
            }
        }
        std::mem::swap(&mut live, &mut next);
    }
    live.last().copied().unwrap_or_default()
}

/// Marks a way and those that need no further character.
fn enter(pieces: &[Piece], live: &mut [bool], mut at: usize) {
    while let Some(here) = live.get_mut(at).filter(|here| !**here) {
        *here = true;
        if !matches!(pieces.get(at), Some(Piece::Run | Piece::Deep | Piece::Folders)) {
            return;
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        assert_eq!(Pattern::new(pattern).matches(path), expected, "{pattern} on {path}");
    }

    #[test]
    fn patterns_match_as_described() {
        check("todo", "notes/my-todo.txt", true);
        check("todo", "todo/a.txt", false);
        check("todo/a", "todo/a.txt", true);
        check("TODO", "notes/todo.txt", false);
        check("*.txt", "notes/a.txt", true);
        check("*.txt", "notes/a.txt.bak", false);
        check("notes/*.txt", "notes/a.txt", true);
        check("notes/*.txt", "notes/deep/a.txt", false);
        check("notes/**/*.txt", "notes/deep/er/a.txt", true);
        check("notes/**/*.txt", "notes/a.txt", true);
        check("**/a", "ba", false);
        check("**/a", "b/a", true);
        check("**/a", "a", true);
        check("notes/**", "notes/deep/a.txt", true);
        check("**", "anything/at/all", true);
        check("a?c", "abc", true);
        check("a?c", "ac", false);
        check("?/c", "//c", false);
        check("é*", "été", true);
        check("a*b*c", "aXXbYYc", true);
        check("a*b*c", "aXXbYY", false);
        check("[a]*", "[a]b", true);
        check("*", "", true);
    }

    #[test]
    fn a_hostile_pattern_is_no_slower_than_its_length() {
        let name = "a".repeat(4_000);
        let pattern = "*a".repeat(500) + "b";
        check(&pattern, &name, false);
    }
}
