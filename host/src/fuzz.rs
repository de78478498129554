//! Entrances for the fuzz targets in `tests/fuzz`: the readers of what others wrote, as functions of values. They decide
//! nothing and are no part of the library.
#![allow(missing_docs, reason = "each is what it leads to")]

use crate::Error;
use crate::config::{Config, Dirs, Lock};
use crate::transport::mcp::envelope::{self, Line};
use crate::transport::mcp::lines::{Input, Lines};
use serde_json::Value;
use std::path::Path;
use tokio::io::AsyncRead;

/// `Config::load`, for a text and without a lock.
pub fn config(file: &Path, text: &str, user: &Dirs) -> Result<Config, Error> {
    Config::of_text(file, text.to_owned(), Lock::new(file), user)
}

/// `Lock::read`, for a text.
pub fn lock(file: &Path, text: &str) -> Result<Lock, Error> {
    Lock::parse(file.to_owned(), text.to_owned())
}

/// What a line of MCP is; ids as JSON.
#[derive(Debug, PartialEq)]
pub enum Message<'a> {
    Blank,
    Call { id: Value, name: String, arguments: &'a str, meta: Option<&'a str> },
    Request { id: Value, method: String },
    Notification,
    Response,
    Flaw { id: Option<Value>, code: i32, text: String },
}

/// `envelope::read`.
pub fn message(line: &[u8]) -> Message<'_> {
    match envelope::read(line) {
        Ok(Line::Blank) => Message::Blank,
        Ok(Line::Call { id, call }) => {
            Message::Call { id: id.into_json_value(), name: call.name, arguments: call.arguments, meta: call.meta }
        }
        Ok(Line::Request { id, method }) => Message::Request { id: id.into_json_value(), method },
        Ok(Line::Notification) => Message::Notification,
        Ok(Line::Response) => Message::Response,
        Err(flaw) => Message::Flaw { id: flaw.id.map(|id| id.into_json_value()), code: flaw.code, text: flaw.message },
    }
}

/// `envelope::id_of`.
pub fn id_of(beginning: &str) -> Option<Value> {
    envelope::id_of(beginning).map(|id| id.into_json_value())
}

/// What an input is cut into: lines, and whether each is whole.
pub async fn lines(input: impl AsyncRead + Unpin, longest: usize) -> Vec<(Vec<u8>, bool)> {
    let mut lines = Lines::new(input, longest);
    let mut all = Vec::new();
    loop {
        match lines.next().await {
            Input::Line(line) => all.push((line.to_vec(), true)),
            Input::TooLong(beginning) => all.push((beginning.to_vec(), false)),
            Input::End => return all,
        }
    }
}

#[cfg(test)]
mod tests;
