//! The side of `gate.mjs`: a Node process that is told how many lives to run and answers how long they took.

use crate::cycle::{PAYLOAD, PREVIEW, SUMMARY, TEMPLATE};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A process; it ends with its input.
pub struct Node {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Node {
    pub fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("gate.mjs");
        let told = serde_json::json!({
            "template": TEMPLATE,
            "plan": { "summary": SUMMARY, "preview": PREVIEW, "warnings": [], "precondition": "4.50" },
            "payload": PAYLOAD,
        });
        let mut child = Command::new("node")
            .arg(script)
            .arg(told.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node 20 or newer on the path");
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    pub fn lives(&mut self, times: u64, batch: u64) -> [Duration; 4] {
        writeln!(self.input.as_mut().unwrap(), "{times} {batch}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let spent: [f64; 4] = serde_json::from_str(&line).expect("four times: see what node printed");
        spent.map(|nanos| Duration::from_nanos(nanos as u64))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
