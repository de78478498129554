//! Writes whole lines, and nothing but messages of the protocol. A tool's payload goes out as it was stored.

use rmcp::model::{ContentBlock, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::envelope::Flaw;

/// How long a client that has closed its side may leave an answer unread: after that it counts as gone.
const UNREAD: Duration = Duration::from_secs(5);

/// The output, shared by all who answer.
pub(super) struct Output<W> {
    shared: Arc<Shared<W>>,
}

struct Shared<W> {
    writer: Mutex<Writer<W>>,
    /// A write has failed or was given up: nothing is written any more.
    broken: CancellationToken,
    /// The input has ended.
    ended: CancellationToken,
}

struct Writer<W> {
    inner: W,
    /// No line was begun and left: after half a line nothing may follow.
    whole: bool,
}

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<W: AsyncWrite + Unpin> Output<W> {
    /// `ended` tells that the client has closed its side.
    pub(super) fn new(writer: W, ended: CancellationToken) -> Self {
        let writer = Mutex::new(Writer { inner: writer, whole: true });
        Self { shared: Arc::new(Shared { writer, broken: CancellationToken::new(), ended }) }
    }

    /// Nobody reads any more.
    pub(super) fn broken(&self) -> &CancellationToken {
        &self.shared.broken
    }

    /// Writes a line. A client that is gone is no error: what runs for it goes on and is recorded.
    pub(super) async fn line(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        let mut writer = self.shared.writer.lock().await;
        if self.broken().is_cancelled() {
            return;
        }
        // Stays false when this future is dropped in the middle of the line.
        let began_whole = std::mem::replace(&mut writer.whole, false);
        let write = async {
            if !began_whole {
                return Err(std::io::Error::other("half a line stands there"));
            }
            writer.inner.write_all(&line).await?;
            writer.inner.flush().await?;
            writer.whole = true;
            Ok(())
        };
        let late = async {
            self.shared.ended.cancelled().await;
            tokio::time::sleep(UNREAD).await;
        };
        tokio::select! {
            biased;
            written = write => {
                let Err(error) = written else { return };
                tracing::warn!(%error, "the client no longer reads: answers are dropped");
            }
            () = late => tracing::warn!("the client has not read its answers: they are dropped"),
        }
        self.shared.broken.cancel();
    }
}

/// The error line for a message that is no request.
pub(super) fn flaw(flaw: &Flaw) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RequestId>,
        error: ErrorObject<'a>,
    }
    #[derive(Serialize)]
    struct ErrorObject<'a> {
        code: i32,
        message: &'a str,
    }
    let error = ErrorObject { code: flaw.code, message: &flaw.message };
    serde_json::to_vec(&Line { jsonrpc: "2.0", id: flaw.id.as_ref(), error }).unwrap_or_default()
}

/// The id that a message answers.
pub(super) fn answers(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// The line for a message. The payload of a tool's result, one text, becomes the structured content too, byte for byte:
/// a parsed value would sort its keys and round its numbers.
pub(super) fn message(message: &ServerJsonRpcMessage) -> Result<Vec<u8>, serde_json::Error> {
    let JsonRpcMessage::Response(response) = message else { return serde_json::to_vec(message) };
    let ServerResult::CallToolResult(result) = &response.result else { return serde_json::to_vec(message) };
    let payload = match result.content.as_slice() {
        [ContentBlock::Text(text)] if result.structured_content.is_none() => structured(&text.text),
        _ => None,
    };
    let Some(payload) = payload else { return serde_json::to_vec(message) };
    let mut line = Vec::with_capacity(payload.len() * 2 + payload.len() / 2 + 256);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    serde_json::to_writer(&mut line, &response.id)?;
    line.extend_from_slice(br#","result":"#);
    serde_json::to_writer(&mut line, result)?;
    // The result is an object with members: its closing brace makes room for one more.
    line.pop();
    line.extend_from_slice(br#","structuredContent":"#);
    line.extend_from_slice(payload.as_bytes());
    line.extend_from_slice(b"}}");
    Ok(line)
}

/// The payload, if it is an object on one line, as the gate writes it.
fn structured(payload: &str) -> Option<&str> {
    let sound = payload.starts_with('{')
        && !payload.contains(['\n', '\r'])
        && serde_json::from_str::<&RawValue>(payload).is_ok();
    sound.then_some(payload)
}
