//! A small HTTP server on this machine, with TLS or without, that remembers what it was sent. What it answers is in the path:
//! `/302/PLACE` redirects, `/bytes/N` sends so many, `/headers/N` so many in its headers, `/pause` half of its answer and
//! `/hang` nothing; everything else is greeted.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// A request, as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub host: String,
    pub body: String,
}

/// The server; it ends with the test.
#[derive(Clone)]
pub struct Server {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    came: Arc<Notify>,
    gone: Arc<Notify>,
}

impl Server {
    pub async fn start(tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { port, seen: Arc::default(), came: Arc::default(), gone: Arc::default() };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (serving, tls) = (serving.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serving.serve(stream).await,
                        // A client that does not trust it goes away.
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => serving.serve(stream).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        server
    }

    /// A text with the server's port in it.
    pub fn spelled(&self, text: &str) -> String {
        text.replace("SERVER", &self.port.to_string())
    }

    pub fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn methods(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.method).collect()
    }

    /// Until a request has come in.
    pub async fn came(&self) {
        tokio::time::timeout(Duration::from_secs(10), self.came.notified()).await.expect("a request");
    }

    /// Until a client has gone that was not answered to the end.
    pub async fn gone(&self) {
        tokio::time::timeout(Duration::from_secs(10), self.gone.notified()).await.expect("a client that goes");
    }

    async fn serve(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
        let (head, rest) = head(&mut stream).await?;
        let mut lines = head.lines();
        let (method, target) = lines.next()?.split_once(' ')?;
        let path = target.split_once(' ')?.0.to_owned();
        let header = |name: &str| {
            let of = |line: &str| {
                line.split_once(": ")
                    .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.to_owned())
            };
            head.lines().find_map(of)
        };
        let body = match header("content-length") {
            Some(length) => {
                let mut body = rest;
                let length: usize = length.parse().ok()?;
                let mut more = vec![0; length.saturating_sub(body.len())];
                stream.read_exact(&mut more).await.ok()?;
                body.extend(more);
                body
            }
            None if header("transfer-encoding").is_some() => pieces(&mut stream, rest).await?,
            None => rest,
        };
        let (method, host) = (method.to_owned(), header("host").unwrap_or_default());
        let body = String::from_utf8_lossy(&body).into_owned();
        self.seen.lock().unwrap().push(Seen { method: method.clone(), path: path.clone(), host, body });
        self.came.notify_one();
        let mut parts = path.trim_start_matches('/').splitn(2, '/');
        let (what, rest) = (parts.next()?, parts.next().unwrap_or_default());
        let number = rest.parse().unwrap_or(0);
        let (start, body) = match what {
            "301" | "302" | "307" => (format!("HTTP/1.1 {what} Elsewhere\r\nlocation: {rest}\r\n"), Vec::new()),
            "bytes" => ("HTTP/1.1 200 OK\r\n".to_owned(), vec![b'y'; number]),
            "headers" => (format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n", "z".repeat(number)), Vec::new()),
            _ => ("HTTP/1.1 200 OK\r\n".to_owned(), b"hello".to_vec()),
        };
        let answer = format!("{start}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
        if what == "hang" || what == "pause" {
            if what == "pause" {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf ").await.ok()?;
            }
            while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
            self.gone.notify_one();
            return None;
        }
        stream.write_all(answer.as_bytes()).await.ok()?;
        if method != "HEAD" {
            stream.write_all(&body).await.ok()?;
        }
        stream.shutdown().await.ok()
    }
}

/// A body in pieces, each behind its length, put together.
async fn pieces(stream: &mut (impl AsyncRead + Unpin), mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    while !bytes.ends_with(b"0\r\n\r\n") {
        let mut piece = [0; 1024];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    }
    let text = String::from_utf8(bytes).ok()?;
    Some(text.lines().skip(1).step_by(2).collect::<String>().into_bytes())
}

/// The head of a request, and what came with it of its body.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 1024];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            return Some((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
    }
}
