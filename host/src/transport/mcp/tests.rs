#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::serve;
use crate::{Error, Host, Owner};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// How long a test waits for what must come.
const SOON: Duration = Duration::from_secs(10);

/// A client at the other end of two pipes.
struct Client {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    served: JoinHandle<Result<(), Error>>,
}

impl Client {
    fn start(host: Host) -> Self {
        let (input, server_in) = tokio::io::duplex(1 << 16);
        let (server_out, output) = tokio::io::duplex(1 << 16);
        let owner = Owner::new("name", "test").unwrap();
        let served = tokio::spawn(serve(host, owner, server_in, server_out));
        Self { input: Some(input), output: BufReader::new(output).lines(), served }
    }

    async fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    async fn line(&mut self) -> String {
        tokio::time::timeout(SOON, self.output.next_line()).await.expect("an answer in time").unwrap().expect("a line")
    }

    async fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// Sends a request under this id and returns its answer.
    async fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn call(&mut self, id: i64, tool: &str, arguments: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Closes the input and waits for the end; returns the lines that were still to come.
    async fn end(mut self) -> Vec<String> {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(line) = tokio::time::timeout(SOON, self.output.next_line()).await.expect("an end").unwrap() {
            rest.push(line);
        }
        tokio::time::timeout(SOON, self.served).await.expect("an end in time").unwrap().unwrap();
        rest
    }
}
