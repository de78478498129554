//! What a guest prints: kept up to a limit, never in the way of the protocol, and never fatal to the guest when full.

use super::piece::PIECE;
use super::veil::Veil;
use crate::text;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// What a plug-in prints is counted over this long.
const MINUTE: Duration = Duration::from_secs(60);

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

    /// Hands what was printed to the log, escaped and without secrets, with a word about what was lost.
    pub(super) fn log(&self, volume: &Volume, veil: &Veil, speaker: Speaker<'_>) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (size, lost) = (inner.bytes.len() as u64, inner.lost);
        if size == 0 && lost == 0 {
            return;
        }
        volume.say(Instant::now(), size, speaker, || {
            let text = veil.printed(&inner.bytes, lost > 0);
            let text = text::escape(&text);
            if lost > 0 { format!("{text} … and {lost} bytes more") } else { text.into_owned() }
        });
    }
}

/// Who says something, and where.
#[derive(Clone, Copy)]
pub(super) struct Speaker<'a> {
    pub(super) plugin: &'a str,
    pub(super) tool: &'a str,
    pub(super) stream: &'static str,
}

/// How much a plug-in prints in a minute, over all its calls.
#[derive(Debug)]
pub(super) struct Volume {
    limit: u64,
    minute: Mutex<Minute>,
}

#[derive(Debug, Default)]
struct Minute {
    began: Option<Instant>,
    shown: u64,
    quiet: Quiet,
}

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Quiet {
    times: u64,
    bytes: u64,
}

/// What becomes of what a call has printed, and what is to be said of the minute before.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    now: Now,
    before: Option<Quiet>,
}

#[derive(Debug, PartialEq, Eq)]
enum Now {
    Shown,
    /// The first that is left out in this minute.
    Over,
    Quiet,
}

impl Volume {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, minute: Mutex::default() }
    }

    /// Says it in the log; what the plug-in may no longer say in this minute is left out, which is said once.
    pub(super) fn say(&self, now: Instant, bytes: u64, speaker: Speaker<'_>, what: impl FnOnce() -> String) {
        let Speaker { plugin, tool, stream } = speaker;
        let said = self.take(now, bytes);
        if let Some(Quiet { times, bytes }) = said.before {
            tracing::warn!(target: "counterfoil::plugin", plugin, "{times} times it printed and was left out, {bytes} bytes in all");
        }
        match said.now {
            Now::Shown => tracing::info!(target: "counterfoil::plugin", plugin, tool, stream, "{}", what()),
            Now::Over => tracing::warn!(
                target: "counterfoil::plugin", plugin, tool, stream,
                "it prints more than {} bytes a minute: the rest of this minute is left out", self.limit
            ),
            Now::Quiet => {}
        }
    }

    fn take(&self, now: Instant, bytes: u64) -> Said {
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = None;
        if minute.began.is_none_or(|began| now.saturating_duration_since(began) >= MINUTE) {
            let ended = std::mem::replace(&mut *minute, Minute { began: Some(now), ..Minute::default() });
            before = Some(ended.quiet).filter(|quiet| quiet.times > 0);
        }
        // Once over, nothing more in this minute: short lines between long ones that are left out would mislead.
        let fits = minute.quiet.times == 0 && minute.shown.saturating_add(bytes) <= self.limit;
        let now = match (fits, minute.quiet.times) {
            (true, _) => Now::Shown,
            (false, 0) => Now::Over,
            (false, _) => Now::Quiet,
        };
        if fits {
            minute.shown = minute.shown.saturating_add(bytes);
        } else {
            minute.quiet.times += 1;
            minute.quiet.bytes = minute.quiet.bytes.saturating_add(bytes);
        }
        Said { now, before }
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

    #[test]
    fn a_minute_has_its_limit_and_what_was_left_out_is_said_in_the_next() {
        let (volume, start) = (Volume::new(10), Instant::now());
        let check = |second: u64, bytes, now, before| {
            let said = volume.take(start + Duration::from_secs(second), bytes);
            assert_eq!(said, Said { now, before }, "second {second}");
        };
        check(0, 6, Now::Shown, None);
        check(10, 4, Now::Shown, None);
        check(20, 1, Now::Over, None);
        check(30, 100, Now::Quiet, None);
        check(59, 1, Now::Quiet, None);
        check(60, 10, Now::Shown, Some(Quiet { times: 3, bytes: 102 }));
        check(61, 11, Now::Over, None);
        check(300, 1, Now::Shown, Some(Quiet { times: 1, bytes: 11 }));
        check(400, 1, Now::Shown, None);
    }
}
