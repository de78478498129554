//! Random spellings of a value.

use std::collections::BTreeMap;

use super::model::Value;

/// Spells values; the choices come from a seed.
pub struct Speller {
    pub seed: u64,
}

impl Speller {
    /// A number below `bound` (xorshift).
    pub fn choose(&mut self, bound: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 20) as usize % bound
    }

    fn space(&mut self) -> &'static str {
        ["", "", "", "", " ", "\t", "\n", "\r \n"][self.choose(8)]
    }

    pub fn spell(&mut self, value: &Value) -> String {
        let inside = match value {
            Value::Word(word) => (*word).to_string(),
            Value::Number { negative, whole, fraction } => self.number(*negative, whole, fraction),
            Value::Text(text) => self.text(text),
            Value::List(items) => {
                let items: Vec<_> = items.iter().map(|item| self.spell(item)).collect();
                format!("[{}{}]", self.space(), items.join(","))
            }
            Value::Object(members) => {
                let members = self.members(members);
                format!("{{{}{}}}", self.space(), members.join(","))
            }
        };
        format!("{}{inside}{}", self.space(), self.space())
    }

    fn members(&mut self, members: &BTreeMap<Vec<u16>, Value>) -> Vec<String> {
        let mut spelled = Vec::new();
        for (key, value) in members {
            let key = self.text(&String::from_utf16(key).unwrap());
            let member = format!("{}{key}{}:{}", self.space(), self.space(), self.spell(value));
            let place = self.choose(spelled.len() + 1);
            spelled.insert(place, member);
        }
        spelled
    }

    fn text(&mut self, text: &str) -> String {
        let mut spelled = String::from("\"");
        for character in text.chars() {
            let must = matches!(character, '"' | '\\') || character < ' ';
            let short = "\"\\/\u{8}\u{c}\n\r\t"
                .find(character)
                .map(|place| ["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"][place]);
            match (short, self.choose(8)) {
                (Some(short), 0..4) => spelled.push_str(short),
                (_, choice) if must || choice == 7 => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        let escape =
                            if self.choose(2) == 0 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
                        spelled.push_str(&escape);
                    }
                }
                _ => spelled.push(character),
            }
        }
        spelled + "\""
    }

    /// Moves the point by a random number of places and says so in the exponent.
    fn number(&mut self, negative: bool, whole: &str, fraction: &str) -> String {
        let mut digits = format!("{whole}{fraction}");
        let mut point = whole.len() as i64;
        let moved = if self.choose(2) == 0 { self.choose(40) as i64 - 20 } else { 0 };
        point += moved;
        while point < 1 {
            digits.insert(0, '0');
            point += 1;
        }
        while (digits.len() as i64) < point {
            digits.push('0');
        }
        let (whole, fraction) = digits.split_at(point as usize);
        let whole = whole.trim_start_matches('0');
        let mut spelled = String::from(if negative { "-" } else { "" });
        spelled.push_str(if whole.is_empty() { "0" } else { whole });
        if !fraction.is_empty() {
            spelled.push('.');
            spelled.push_str(fraction);
        }
        if moved != 0 || self.choose(4) == 0 {
            spelled.push_str(["e", "E"][self.choose(2)]);
            spelled.push_str(if moved > 0 { "-" } else { ["", "+"][self.choose(2)] });
            spelled.push_str(["", "0", "00"][self.choose(3)]);
            spelled.push_str(&moved.abs().to_string());
        }
        spelled
    }
}
