//! What a guest prints: kept up to a limit, never in the way of the protocol, and never fatal to the guest when full.

use crate::text;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Largest single write that is taken: WASI's usual piece.
const PIECE: usize = 64 * 1024;

/// A stream that keeps its beginning and counts the rest.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    limit: usize,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    bytes: Vec<u8>,
    lost: u64,
}

impl Kept {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, inner: Arc::default() }
    }

    fn take(&self, bytes: &[u8]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.limit.saturating_sub(inner.bytes.len()).min(bytes.len());
        let (kept, lost) = bytes.split_at(room);
        inner.bytes.extend_from_slice(kept);
        inner.lost += lost.len() as u64;
    }

    /// Hands what was printed to the log, escaped, with a word about what was lost.
    pub(super) fn log(&self, plugin: &str, tool: &str, stream: &'static str) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.bytes.is_empty() || inner.lost > 0 {
            let text = String::from_utf8_lossy(&inner.bytes);
            let text = text::escape(&text);
            let rest = if inner.lost > 0 { format!(" … and {} bytes more", inner.lost) } else { String::new() };
            tracing::info!(target: "counterfoil::plugin", plugin, tool, stream, "{text}{rest}");
        }
    }
}

impl IsTerminal for Kept {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Kept {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Kept {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.take(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PIECE)
    }
}

#[async_trait::async_trait]
impl Pollable for Kept {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Kept {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_kept_and_the_rest_counted() {
        let kept = Kept::new(5);
        kept.take(b"abc");
        kept.take(b"defg");
        let inner = kept.inner.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!((inner.bytes.as_slice(), inner.lost), (b"abcde".as_slice(), 2));
    }
}
