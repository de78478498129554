//! Canonical arguments as values, read as they stand: a number is its text, so that nothing is rounded. Reads what
//! `gate.read` made and nothing else.

use std::borrow::Cow;

/// Deeper nesting than the gate ever lets through.
const DEPTH: usize = 512;

/// One value of a canonical text.
#[derive(Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    /// In the order of the text, no key twice.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// The value of a whole text; none where it is not canonical JSON.
pub(crate) fn read(text: &str) -> Option<Json<'_>> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    (reader.at == text.len()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over this text, if it comes next.
    fn eat(&mut self, expected: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(expected).then(|| self.at += expected.len())
    }

    fn value(&mut self, depth: usize) -> Option<Json<'a>> {
        if depth > DEPTH {
            return None;
        }
        match self.peek()? {
            b'n' => self.eat("null").map(|()| Json::Null),
            b't' => self.eat("true").map(|()| Json::Bool(true)),
            b'f' => self.eat("false").map(|()| Json::Bool(false)),
            b'"' => self.string().map(Json::Text),
            b'[' => self.list(depth),
            b'{' => self.object(depth),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Json<'a>> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        self.text.get(start..self.at).map(Json::Number)
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        self.eat("\"")?;
        let mut escaped = false;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.at += 1;
        match escaped {
            false => self.text.get(start + 1..self.at - 1).map(Cow::Borrowed),
            true => serde_json::from_str(self.text.get(start..self.at)?).ok().map(Cow::Owned),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json<'a>> {
        self.eat("[")?;
        let mut items = Vec::new();
        if self.eat("]").is_some() {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.eat(",").is_none() {
                return self.eat("]").map(|()| Json::List(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json<'a>> {
        self.eat("{")?;
        let mut entries = Vec::new();
        if self.eat("}").is_some() {
            return Some(Json::Object(entries));
        }
        loop {
            let key = self.string()?;
            self.eat(":")?;
            entries.push((key, self.value(depth + 1)?));
            if self.eat(",").is_none() {
                return self.eat("}").map(|()| Json::Object(entries));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_it_stands() {
        let text = r#"{"a":[1,-2.50,1e+21,9007199254740993],"b":{"":null},"c\n":"x\"\u001fé","d":[true,false,[],{}]}"#;
        let number = |text| Json::Number(text);
        let expected = Json::Object(vec![
            ("a".into(), Json::List(vec![number("1"), number("-2.50"), number("1e+21"), number("9007199254740993")])),
            ("b".into(), Json::Object(vec![("".into(), Json::Null)])),
            ("c\n".into(), Json::Text("x\"\u{1f}é".into())),
            (
                "d".into(),
                Json::List(vec![Json::Bool(true), Json::Bool(false), Json::List(vec![]), Json::Object(vec![])]),
            ),
        ]);
        assert_eq!(read(text), Some(expected));
    }

    #[test]
    fn what_is_no_canonical_text_is_none() {
        for text in
            ["", "{", "{}x", "[1,]", "{\"a\"}", "{\"a\":}", "\"a", "\"\\", "nul", "{ }", "{\"a\":1,}", "\"\\u12\""]
        {
            assert_eq!(read(text), None, "{text}");
        }
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&deep(DEPTH)).is_some());
        assert!(read(&deep(DEPTH + 1)).is_none());
    }
}
