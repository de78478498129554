//! A server and its client, line by line, and the requests that most stories send.

use super::command;
use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) fn request(id: u32, method: &str, params: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

pub(crate) fn hello(id: u32) -> String {
    let client = json!({"name": "test", "version": "1"});
    request(id, "initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}))
}

pub(crate) fn echo(id: u32) -> String {
    request(id, "tools/call", &json!({"name": "echo", "arguments": {"n": id}}))
}

/// A server and its client.
pub(crate) struct Session {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Session {
    pub(crate) fn start(folder: &Folder) -> Self {
        Self::of(command(folder, &["serve"]))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    pub(crate) fn send(&mut self, lines: &str) {
        self.input.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// The next answer, which must be to this request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u32) -> Value {
        let answer = self.line();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// What it says to people. It is for the caller to read from here on.
    pub(crate) fn messages(&mut self) -> BufReader<ChildStderr> {
        BufReader::new(self.child.stderr.take().unwrap())
    }

    /// Waits for the end: exit code, what was still written, messages that nobody else reads.
    pub(crate) fn ended(mut self) -> (Option<i32>, String, String) {
        let (mut rest, mut messages) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut messages).unwrap();
        }
        (self.child.wait().unwrap().code(), rest, messages)
    }

    /// Closes the input and waits for the end.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        self.input = None;
        self.ended()
    }
}
