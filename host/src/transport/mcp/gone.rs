//! Notices that nobody can read an output any more, before anything has to be written to it.

use std::os::fd::{AsFd, BorrowedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Returns when nobody can read standard output any more: the other end of its pipe, socket or terminal is closed. Never
/// returns where there is no other end, as of a file.
pub async fn hung_up() {
    closed(std::io::stdout().as_fd()).await;
}

#[expect(
    deprecated,
    reason = "the successor is unsafe, for descriptors that may be closed meanwhile; this one is owned"
)]
async fn closed(output: BorrowedFd<'_>) {
    let watched = output.try_clone_to_owned().and_then(|output| AsyncFd::with_interest(output, Interest::WRITABLE));
    // The system does not watch files.
    let Ok(watched) = watched else { return std::future::pending().await };
    // Wakes when there is news of it, and not for as long as it can be written.
    while let Ok(mut news) = watched.writable().await {
        if news.ready().is_write_closed() {
            return;
        }
        news.clear_ready();
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[tokio::test]
    async fn an_output_is_gone_when_its_other_end_is_and_not_before() {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let end = writer.try_clone().unwrap();
        let mut gone = pin!(closed(end.as_fd()));
        let mut is_pending = || gone.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Pending;
        assert!(is_pending());
        writer.write_all(b"x").unwrap();
        tokio::task::yield_now().await;
        assert!(is_pending());
        reader.read_exact(&mut [0]).unwrap();
        tokio::task::yield_now().await;
        assert!(is_pending());
        drop(reader);
        gone.await;
    }

    #[tokio::test]
    async fn so_it_is_of_a_socket_and_from_the_beginning() {
        let (one, other) = UnixStream::pair().unwrap();
        drop(other);
        closed(one.as_fd()).await;
    }

    #[tokio::test]
    async fn a_file_has_no_other_end() {
        let file = tempfile::tempfile().unwrap();
        let mut gone = pin!(closed(file.as_fd()));
        assert_eq!(gone.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
    }
}
