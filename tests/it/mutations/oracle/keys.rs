//! A table of which each key has to be asked for: what is left at the end is unknown.

use super::words;
use toml::{Table, Value};

pub struct Keys {
    of: String,
    table: Table,
}

impl Keys {
    /// A value that has to be a table.
    pub fn of(of: impl Into<String>, value: Value) -> Result<Self, String> {
        let of = of.into();
        match value {
            Value::Table(table) => Ok(Self { of, table }),
            other => Err(format!("{of} is {other} and no table")),
        }
    }

    /// Whether anything was left out.
    pub fn end(self) -> Result<(), String> {
        match self.table.keys().next() {
            Some(key) => Err(format!("{} has a key that no document knows: {key:?}", self.of)),
            None => Ok(()),
        }
    }

    fn no<T>(&self, key: &str, value: &Value) -> Result<T, String> {
        Err(format!("{}: {key} = {value} is none", self.of))
    }

    pub fn value(&mut self, key: &str) -> Option<Value> {
        self.table.remove(key)
    }

    /// A table, an empty one where there is none.
    pub fn table(&mut self, key: &str) -> Result<Self, String> {
        let value = self.value(key).unwrap_or_else(|| Value::Table(Table::new()));
        Self::of(format!("{} {key}", self.of), value)
    }

    /// A table of names that the operator chose, in their order.
    pub fn named(&mut self, key: &str) -> Result<Vec<(String, Value)>, String> {
        let mut entries: Vec<_> = self.table(key)?.table.into_iter().collect();
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(entries)
    }

    /// A list, an empty one where there is none.
    pub fn list(&mut self, key: &str) -> Result<Vec<Value>, String> {
        match self.value(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(values)) => Ok(values),
            Some(other) => self.no(key, &other),
        }
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>, String> {
        if !self.table.contains_key(key) {
            return Ok(None);
        }
        let texts = self.list(key)?.into_iter().map(|value| match value {
            Value::String(text) => Ok(text),
            other => self.no(key, &other),
        });
        texts.collect::<Result<_, _>>().map(Some)
    }

    pub fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => self.no(key, &other),
        }
    }

    /// A text that has to be there.
    pub fn needed(&mut self, key: &str) -> Result<String, String> {
        self.text(key)?.ok_or_else(|| format!("{} has no {key}", self.of))
    }

    pub fn flag(&mut self, key: &str) -> Result<Option<bool>, String> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(flag)),
            Some(other) => self.no(key, &other),
        }
    }

    /// A number above zero; a size may have a unit.
    pub fn number(&mut self, key: &str, size: bool) -> Result<Option<u64>, String> {
        let found = match self.value(key) {
            None => return Ok(None),
            Some(Value::Integer(number)) => u64::try_from(number).map_err(|_| format!("{key} = {number}"))?,
            Some(Value::String(text)) if size => words::size(&text)?,
            Some(other) => return self.no(key, &other),
        };
        if found == 0 {
            return Err(format!("{}: {key} is zero, and would bound nothing or everything", self.of));
        }
        if !size && found > u32::MAX.into() {
            return Err(format!("{}: {key} is more than can be counted", self.of));
        }
        Ok(Some(found))
    }
}
