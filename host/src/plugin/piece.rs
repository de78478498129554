//! A stream into a file that takes one piece at a time. Without this, what is handed to a stream in one go stays in the host's
//! memory until the disk has it, however much it is, and a call may hold many streams.

use bytes::Bytes;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamError, StreamResult};

/// Largest single write that is taken, and the most that a stream holds: WASI's usual piece.
pub(super) const PIECE: usize = 64 << 10;

/// A stream of wasmtime-wasi's, which says how much it takes, and takes more.
pub(super) struct Piecewise(pub(super) DynOutputStream);

#[async_trait::async_trait]
impl OutputStream for Piecewise {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > PIECE {
            return Err(StreamError::trap("more is written to a stream at once than it takes"));
        }
        self.0.write(bytes)
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.blocking_write_and_flush(bytes).await
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.0.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(self.0.check_write()?.min(PIECE))
    }

    async fn cancel(&mut self) {
        self.0.cancel().await;
    }
}

#[async_trait::async_trait]
impl Pollable for Piecewise {
    async fn ready(&mut self) {
        self.0.ready().await;
    }
}
