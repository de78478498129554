//! The rules once more, written to be obvious and not to be fast: recursive descent into a tree, keys as UTF-16, numbers
//! as digits on both sides of the point. Without limits: properties stay far below them.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Word(&'static str),
    /// Digits before and behind the point, as many as it takes.
    Number {
        negative: bool,
        whole: String,
        fraction: String,
    },
    Text(String),
    List(Vec<Value>),
    Object(BTreeMap<Vec<u16>, Value>),
}

#[derive(Debug, PartialEq)]
pub enum Answer {
    Read { token: Option<String>, arguments: String },
    MalformedToken,
    InvalidArguments,
}

/// The value of a text, if it is strict JSON and nothing else.
pub fn parse(text: &str) -> Option<Value> {
    let mut parser = Parser { rest: text.chars().collect() };
    parser.rest.reverse();
    let value = parser.value()?;
    parser.skip_white_space();
    parser.rest.is_empty().then_some(value)
}

pub fn read(text: &str, confirm_parameter: &str) -> Answer {
    let mut members = match parse(text) {
        Some(Value::Object(members)) => members,
        Some(Value::Word("null")) => BTreeMap::new(),
        _ => return Answer::InvalidArguments,
    };
    let confirm = members.remove(&confirm_parameter.encode_utf16().collect::<Vec<_>>());
    let arguments = Value::Object(members);
    if holds_token(&arguments) {
        return Answer::InvalidArguments;
    }
    let token = match confirm {
        None | Some(Value::Word("null")) => None,
        Some(Value::Text(text)) if text.is_empty() => None,
        Some(Value::Text(text)) if text.len() == 28 && has_token(&text) => Some(text),
        Some(_) => return Answer::MalformedToken,
    };
    Answer::Read { token, arguments: write(&arguments) }
}

fn has_token(text: &str) -> bool {
    text.as_bytes().windows(28).any(|window| {
        window.starts_with(b"cfm_") && window[4..].iter().all(|byte| b"abcdefghijklmnopqrstuvwxyz234567".contains(byte))
    })
}

fn holds_token(value: &Value) -> bool {
    match value {
        Value::Word(_) | Value::Number { .. } => false,
        Value::Text(text) => has_token(text),
        Value::List(items) => items.iter().any(holds_token),
        Value::Object(members) => {
            members.iter().any(|(key, value)| has_token(&String::from_utf16(key).unwrap()) || holds_token(value))
        }
    }
}

pub fn write(value: &Value) -> String {
    match value {
        Value::Word(word) => (*word).to_string(),
        Value::Number { negative, whole, fraction } => write_number(*negative, whole, fraction),
        Value::Text(text) => write_text(text),
        Value::List(items) => format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let member = |(key, value): (&Vec<u16>, &Value)| {
                format!("{}:{}", write_text(&String::from_utf16(key).unwrap()), write(value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
    }
}

fn write_text(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' => r#"\""#.to_string(),
        '\\' => r"\\".to_string(),
        '\u{8}' => r"\b".to_string(),
        '\u{9}' => r"\t".to_string(),
        '\u{a}' => r"\n".to_string(),
        '\u{c}' => r"\f".to_string(),
        '\u{d}' => r"\r".to_string(),
        control if u32::from(control) < 0x20 => format!("\\u{:04x}", u32::from(control)),
        other => other.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn write_number(negative: bool, whole: &str, fraction: &str) -> String {
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let sign = if negative { "-" } else { "" };
    let scientific = |digits: &str, exponent: String| match digits.split_at(1) {
        (first, "") => format!("{sign}{first}e{exponent}"),
        (first, rest) => format!("{sign}{first}.{rest}e{exponent}"),
    };
    if whole.is_empty() && fraction.is_empty() {
        "0".to_string()
    } else if whole.len() > 21 {
        let digits = format!("{whole}{fraction}");
        scientific(digits.trim_end_matches('0'), format!("+{}", whole.len() - 1))
    } else if !whole.is_empty() {
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{fraction}")
    } else if fraction.starts_with("000000") {
        let digits = fraction.trim_start_matches('0');
        scientific(digits, format!("-{}", fraction.len() - digits.len() + 1))
    } else {
        format!("{sign}0.{fraction}")
    }
}

/// What is left of the text, last character first.
struct Parser {
    rest: Vec<char>,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.rest.last().copied()
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        (self.rest.pop()? == wanted).then_some(())
    }

    fn takes(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.rest.pop();
        }
        there
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.rest.pop();
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.skip_white_space();
        match self.peek()? {
            '{' => self.object(),
            '[' => self.list(),
            '"' => self.text().map(Value::Text),
            't' => self.word("true"),
            'f' => self.word("false"),
            'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &'static str) -> Option<Value> {
        word.chars().try_for_each(|letter| self.take(letter))?;
        Some(Value::Word(word))
    }

    fn object(&mut self) -> Option<Value> {
        self.take('{')?;
        let mut members = BTreeMap::new();
        self.skip_white_space();
        if self.takes('}') {
            return Some(Value::Object(members));
        }
        loop {
            self.skip_white_space();
            let key = self.text()?.encode_utf16().collect();
            self.skip_white_space();
            self.take(':')?;
            let value = self.value()?;
            if members.insert(key, value).is_some() {
                return None;
            }
            self.skip_white_space();
            if self.takes('}') {
                return Some(Value::Object(members));
            }
            self.take(',')?;
        }
    }

    fn list(&mut self) -> Option<Value> {
        self.take('[')?;
        let mut items = Vec::new();
        self.skip_white_space();
        if self.takes(']') {
            return Some(Value::List(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_white_space();
            if self.takes(']') {
                return Some(Value::List(items));
            }
            self.take(',')?;
        }
    }

    /// Code units first, then characters: a lone surrogate does not become one.
    fn text(&mut self) -> Option<String> {
        self.take('"')?;
        let mut units = Vec::new();
        loop {
            match self.rest.pop()? {
                '"' => return String::from_utf16(&units).ok(),
                '\\' => units.push(match self.rest.pop()? {
                    'u' => {
                        let digits = (0..4).map(|_| self.rest.pop()).collect::<Option<String>>()?;
                        let hexadecimal = digits.chars().all(|digit| digit.is_ascii_hexdigit());
                        u16::from_str_radix(&digits, 16).ok().filter(|_| hexadecimal)?
                    }
                    other => {
                        let place = "\"\\/bfnrt".find(other)?;
                        u16::from(b"\"\\/\x08\x0c\n\r\t"[place])
                    }
                }),
                control if control < ' ' => return None,
                other => units.extend_from_slice(other.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn digits(&mut self) -> Option<String> {
        let mut digits = String::new();
        while let Some(digit) = self.peek().filter(char::is_ascii_digit) {
            digits.push(digit);
            self.rest.pop();
        }
        (!digits.is_empty()).then_some(digits)
    }

    fn number(&mut self) -> Option<Value> {
        let negative = self.takes('-');
        let mut whole = self.digits()?;
        if whole.starts_with('0') && whole != "0" {
            return None;
        }
        let mut fraction = if self.takes('.') { self.digits()? } else { String::new() };
        if self.takes('e') || self.takes('E') {
            let minus = self.takes('-');
            if !minus {
                self.takes('+');
            }
            let places: usize = self.digits()?.parse().ok().filter(|places| *places < 10_000)?;
            // One place at a time.
            for _ in 0..places {
                if minus {
                    fraction.insert(0, whole.pop().unwrap_or('0'));
                } else {
                    whole.push(if fraction.is_empty() { '0' } else { fraction.remove(0) });
                }
            }
        }
        Some(Value::Number { negative, whole, fraction })
    }
}
