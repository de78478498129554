//! The one pass. Nothing here calls itself: nesting is a list of open frames, bounded by the depth limit.
//!
//! What needs no change is not copied piece by piece: it waits in the text until something else has to be written, and a
//! text that is canonical already is copied once, whole.
//!
//! The draft is the canonical text with the members of each object in the order in which they came. A key that comes out
//! of order marks its object, whose members are sorted when it closes; at the end one copy puts them all into order.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::fault::{Fault, Malformed, Stop, What};
use super::order::{Key, Mark, Members};
use super::{Limits, is_token, number, text};

/// What is being read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rules<'a> {
    /// Arguments of a call, into canonical form. `confirm`: the key that is taken out at top level.
    Arguments { confirm: Option<&'a str> },
    /// Any JSON value, spelled as it was sent.
    AsSent,
}

impl<'a> Rules<'a> {
    fn confirm(self) -> Option<&'a str> {
        match self {
            Self::Arguments { confirm } => confirm,
            Self::AsSent => None,
        }
    }
}

/// What was read.
pub(super) struct Output {
    pub(super) text: String,
    pub(super) token: Option<String>,
    pub(super) malformed: Option<Malformed>,
    pub(super) keys: Option<Vec<String>>,
}

/// An object or array that is open.
#[derive(Debug)]
struct Frame {
    object: bool,
    /// Its first member.
    first: usize,
    /// Its place among the shuffled objects, should it become one.
    place: usize,
    /// Whether each key so far came behind the one before.
    ordered: bool,
}

pub(super) struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    rules: Rules<'a>,
    limits: &'a Limits,
    draft: String,
    /// From here to `at` the text belongs to the draft as it stands and is not in it yet.
    waiting: usize,
    frames: Vec<Frame>,
    members: Members,
    /// Room for a number's digits.
    digits: String,
    /// Set while the value of the confirm parameter is read: what there was before, to which the draft is cut again.
    confirming: Option<(usize, Mark)>,
    confirmed: bool,
    token: Option<String>,
    malformed: Option<Malformed>,
    keys: Option<Vec<String>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, rules: Rules<'a>, limits: &'a Limits) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            rules,
            limits,
            draft: String::new(),
            waiting: 0,
            frames: Vec::new(),
            members: Members::default(),
            digits: String::new(),
            confirming: None,
            confirmed: false,
            token: None,
            malformed: None,
            keys: None,
        }
    }

    pub(super) fn run(mut self) -> Result<Output, Stop> {
        self.start()?;
        self.values()?;
        self.finish()
    }

    /// The pass itself. By reference, so that its many exits have nothing to drop.
    fn values(&mut self) -> Result<(), Stop> {
        'value: loop {
            match self.significant() {
                Some(b'{') => {
                    self.open(true)?;
                    let place = self.place();
                    if self.significant() != Some(b'}') {
                        self.key(place)?;
                        continue 'value;
                    }
                    self.close()?;
                }
                Some(b'[') => {
                    self.open(false)?;
                    if self.significant() != Some(b']') {
                        continue 'value;
                    }
                    self.close()?;
                }
                Some(b'"') => self.string_value()?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(_) => return Err(self.fault(What::ValueExpected)),
                None => return Err(self.fault(What::End)),
            }
            // A value is complete: what may follow depends on what it is in.
            loop {
                let Some(frame) = self.frames.last() else { return Ok(()) };
                let object = frame.object;
                if self.frames.len() == 1
                    && let Some((draft, mark)) = self.confirming.take()
                {
                    self.take_confirm_parameter(draft, &mark);
                }
                match self.significant() {
                    Some(b',') if object => {
                        let place = self.place();
                        self.comma();
                        self.key(place)?;
                        continue 'value;
                    }
                    Some(b',') => {
                        self.at += 1;
                        continue 'value;
                    }
                    Some(b'}') if object => self.close()?,
                    Some(b']') if !object => self.close()?,
                    Some(_) if object => return Err(self.fault(What::CommaOrBraceExpected)),
                    Some(_) => return Err(self.fault(What::CommaOrBracketExpected)),
                    None => return Err(self.fault(What::End)),
                }
            }
        }
    }

    /// What can be said of the text before anything is read.
    fn start(&mut self) -> Result<(), Stop> {
        let bytes = self.bytes.len();
        let arguments = matches!(self.rules, Rules::Arguments { .. });
        if arguments && bytes > self.limits.max_bytes as usize {
            return Err(self.fault(What::TooLong { bytes }));
        }
        if self.text.starts_with('\u{feff}') {
            return Err(self.fault(What::ByteOrderMark));
        }
        match self.significant() {
            None => return Err(self.fault(What::Empty)),
            Some(b'[' | b'"' | b't' | b'f' | b'-' | b'0'..=b'9') if arguments => {
                return Err(self.fault(What::NotAnObject));
            }
            Some(_) => {}
        }
        self.draft.reserve(bytes);
        Ok(())
    }

    fn finish(mut self) -> Result<Output, Stop> {
        if self.significant().is_some() {
            return Err(self.fault(What::TextBehind));
        }
        self.flush();
        let mut text = self.members.arrange(self.draft).ok_or(Fault::new(self.at, What::Defect))?;
        if matches!(self.rules, Rules::Arguments { .. }) {
            if text == "null" {
                text = "{}".to_string();
            }
            let bytes = text.len();
            if bytes > self.limits.max_bytes as usize {
                return Err(Fault::new(0, What::TooLongCanonical { bytes }));
            }
        }
        Ok(Output { text, token: self.token, malformed: self.malformed, keys: self.keys })
    }

    fn fault(&self, what: What) -> Stop {
        Fault::new(self.at, what)
    }

    /// Goes to the next byte that is not white space, and looks at it.
    fn significant(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.skip(1),
                byte => return byte.copied(),
            }
        }
    }

    /// Where in the draft the next byte belongs.
    fn place(&self) -> usize {
        self.draft.len() + (self.at - self.waiting)
    }

    /// Copies what waits.
    fn flush(&mut self) {
        if self.waiting < self.at {
            self.draft.push_str(self.text.get(self.waiting..self.at).unwrap_or_default());
            self.waiting = self.at;
        }
    }

    /// Passes bytes of the text that do not belong to the draft, or not as they stand.
    fn skip(&mut self, length: usize) {
        self.flush();
        self.at += length;
        self.waiting = self.at;
    }

    /// Cuts the draft; what waits is gone as well.
    fn cut(&mut self, place: usize) {
        self.flush();
        self.draft.truncate(place);
    }

    fn word(&mut self, word: &str) -> Result<(), Stop> {
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            return Err(self.fault(What::ValueExpected));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Stop> {
        if let Some(length) = number::plain_integer(self.bytes, self.at, self.limits) {
            self.at += length;
            return Ok(());
        }
        let number = number::read(self.bytes, self.at, self.limits)?;
        if matches!(self.rules, Rules::AsSent) {
            self.at = number.end;
            return Ok(());
        }
        self.skip(number.end - number.start);
        number.write(self.text, self.limits, &mut self.digits, &mut self.draft)
    }

    fn string_value(&mut self) -> Result<(), Stop> {
        let (at, start) = (self.at, self.place());
        self.string(false)?;
        self.refuse_token(at, start)
    }

    /// Refuses a token in the literal that was just written, unless this is the place for one.
    fn refuse_token(&mut self, at: usize, start: usize) -> Result<(), Stop> {
        if matches!(self.rules, Rules::AsSent) || self.confirming.is_some() {
            return Ok(());
        }
        let literal = if start < self.draft.len() {
            self.flush();
            self.draft.as_bytes().get(start..)
        } else {
            self.bytes.get(at..self.at)
        };
        if text::contains_token(literal.unwrap_or_default()) { Err(Fault::new(at, What::Token)) } else { Ok(()) }
    }

    /// Reads a string and writes it to the draft; a key that has escapes also to the unescaped keys.
    fn string(&mut self, is_key: bool) -> Result<Key, Stop> {
        let start = self.at + 1;
        let run = text::plain_run(self.bytes, start);
        self.at = start + run;
        if self.bytes.get(self.at) == Some(&b'"') {
            self.at += 1;
            return Ok(Key { start, end: start + run, unescaped: false });
        }
        let mut key = Key { start, end: 0, unescaped: false };
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    let (character, length) = text::read_escape(self.bytes, self.at)?;
                    if is_key {
                        if !key.unescaped {
                            let before = self.text.get(start..self.at).unwrap_or_default();
                            key = Key { start: self.members.unescaped.len(), end: 0, unescaped: true };
                            self.members.unescaped.push_str(before);
                        }
                        self.members.unescaped.push(character);
                    }
                    if matches!(self.rules, Rules::AsSent) {
                        self.at += length;
                    } else {
                        self.skip(length);
                        text::write_character(&mut self.draft, character);
                    }
                }
                Some(&byte) => return Err(self.fault(What::Control { byte: byte.into() })),
                None => return Err(self.fault(What::End)),
            }
            let run = self.at;
            self.at += text::plain_run(self.bytes, run);
            if key.unescaped {
                self.members.unescaped.push_str(self.text.get(run..self.at).unwrap_or_default());
            }
        }
        key.end = if key.unescaped { self.members.unescaped.len() } else { self.at };
        self.at += 1;
        Ok(key)
    }

    /// Passes the comma behind a member. It is not for the draft where the only members so far were taken out.
    fn comma(&mut self) {
        let first = self.frames.last().map_or(0, |frame| frame.first);
        if self.members.next() > first { self.at += 1 } else { self.skip(1) }
    }

    /// Reads a key and its colon. `place`: where the draft ended before it and its comma.
    fn key(&mut self, place: usize) -> Result<(), Stop> {
        match self.significant() {
            Some(b'"') => {}
            Some(_) => return Err(self.fault(What::KeyExpected)),
            None => return Err(self.fault(What::End)),
        }
        let first = self.frames.last().map_or(0, |frame| frame.first);
        let (at, start) = (self.at, self.place());
        let key = self.string(true)?;
        let name = self.members.key(self.text, key);
        if self.frames.len() == 1 && self.rules.confirm() == Some(name) {
            if self.confirmed {
                return Err(Fault::duplicate(at, name));
            }
            self.colon()?;
            self.cut(place);
            self.confirming = Some((place, self.members.mark()));
            self.confirmed = true;
            return Ok(());
        }
        self.refuse_token(at, start)?;
        let ordered = self.members.push(first, start, key, at, self.text);
        if let Some(frame) = self.frames.last_mut() {
            frame.ordered &= ordered;
        }
        self.colon()
    }

    fn colon(&mut self) -> Result<(), Stop> {
        match self.significant() {
            Some(b':') => self.at += 1,
            Some(_) => return Err(self.fault(What::ColonExpected)),
            None => return Err(self.fault(What::End)),
        }
        Ok(())
    }

    fn open(&mut self, object: bool) -> Result<(), Stop> {
        if self.frames.len() >= self.limits.max_depth as usize {
            return Err(self.fault(What::TooDeep));
        }
        self.at += 1;
        let place = if object { self.members.open(self.place()) } else { 0 };
        self.frames.push(Frame { object, first: self.members.next(), place, ordered: true });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Stop> {
        let Some(frame) = self.frames.pop() else { return Err(self.fault(What::Defect)) };
        if frame.object {
            let as_sent = matches!(self.rules, Rules::AsSent);
            if as_sent && self.frames.is_empty() {
                self.keys = Some(self.members.keys(frame.first, self.text));
            }
            if !frame.ordered {
                self.members.sort(frame.first, frame.place, self.place(), self.text, !as_sent)?;
            }
            self.members.close(frame.first, frame.place);
        }
        self.at += 1;
        Ok(())
    }

    /// Takes the confirm parameter's value off the end of the draft and judges it.
    fn take_confirm_parameter(&mut self, draft: usize, mark: &Mark) {
        self.flush();
        let literal = self.draft.get(draft..).unwrap_or_default();
        match literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some("") => {}
            Some(token) if is_token(token) => self.token = Some(token.to_string()),
            Some(_) => self.malformed = Some(Malformed::NotAToken),
            None if literal == "null" => {}
            None => self.malformed = Some(Malformed::NotAString),
        }
        self.cut(draft);
        self.members.back_to(mark);
    }
}
