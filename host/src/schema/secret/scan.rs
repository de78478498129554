//! Steps over the parts of a JSON text. Reads no value; `None` says that the text is no JSON.

pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte that comes.
    pub(super) fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    pub(super) fn pass(&mut self, what: impl Fn(u8) -> bool) {
        while self.next().is_some_and(&what) {
            self.at += 1;
        }
    }

    pub(super) fn space(&mut self) {
        self.pass(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// A string, read.
    pub(super) fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            self.pass(|byte| byte != b'"' && byte != b'\\');
            if self.take(b'"').is_some() {
                return serde_json::from_str(self.text.get(start..self.at)?).ok();
            }
            self.take(b'\\')?;
            self.next()?;
            self.at += 1;
        }
    }

    /// A number or a word, as it is written.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.pass(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        self.text.get(start..self.at).filter(|word| !word.is_empty())
    }

    /// Whether nothing but white space is left.
    pub(super) fn is_over(&mut self) -> bool {
        self.space();
        self.at == self.text.len()
    }
}
