//! Bodies, both ways: counted against what a call may send and receive, and waited for no longer than the plug-in said.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};
use wasmtime_wasi_http::{Error, WasiBody};

/// What is left of the bytes that a call's bodies may have together.
#[derive(Clone, Debug)]
pub(super) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Arc::new(AtomicU64::new(bytes)))
    }

    /// Whether so many more were left. What is taken past the end stays taken: a call that went over gets no more.
    fn take(&self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let less = |left: u64| Some(left.saturating_sub(bytes));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok_and(|left| left >= bytes)
    }
}

/// A body that is counted.
pub(super) struct Counted<B: Body> {
    inner: B,
    left: Allowance,
    over: fn() -> Error,
    failed: fn(B::Error) -> Error,
    pause: Option<(Duration, Pin<Box<Sleep>>)>,
}

impl<B: Body<Data = Bytes> + Unpin> Counted<B> {
    /// A request's.
    pub(super) fn sent(inner: B, left: Allowance, failed: fn(B::Error) -> Error) -> Self {
        Self { inner, left, over: || Error::HttpRequestBodySize(None), failed, pause: None }
    }

    /// An answer's: between two pieces of it there may be so much time.
    pub(super) fn received(
        inner: B,
        left: Allowance,
        failed: fn(B::Error) -> Error,
        between: Option<Duration>,
    ) -> Self {
        let pause = between.map(|between| (between, Box::pin(sleep(between))));
        Self { inner, left, over: || Error::HttpResponseBodySize(None), failed, pause }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Counted<B> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = &mut *self;
        match Pin::new(&mut this.inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some((between, pause)) = &mut this.pause {
                    *pause = Box::pin(sleep(*between));
                }
                let fits = frame.data_ref().is_none_or(|data| this.left.take(data.len()));
                Poll::Ready(Some(if fits { Ok(frame) } else { Err((this.over)()) }))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err((this.failed)(error)))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => match &mut this.pause {
                Some((_, pause)) => pause.as_mut().poll(cx).map(|()| Some(Err(Error::ConnectionReadTimeout))),
                None => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A body whose first piece has been looked at.
pub(super) struct Begun {
    first: Option<Frame<Bytes>>,
    rest: WasiBody,
}

impl Begun {
    /// Waits for the first piece; `None` where there is none at all. Empty pieces are none.
    pub(super) async fn of(mut rest: WasiBody) -> Result<Option<Self>, Error> {
        loop {
            let next = std::future::poll_fn(|cx| Pin::new(&mut rest).poll_frame(cx)).await;
            match next.transpose()? {
                None => return Ok(None),
                Some(frame) if frame.data_ref().is_some_and(Bytes::is_empty) => {}
                Some(first) => return Ok(Some(Self { first: Some(first), rest })),
            }
        }
    }
}

impl Body for Begun {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowance_is_one_for_all_and_ends() {
        let left = Allowance::new(10);
        let same = left.clone();
        assert!(left.take(6) && same.take(4) && left.take(0));
        assert!(!left.take(1));
        assert!(!Allowance::new(5).take(6));
    }
}
