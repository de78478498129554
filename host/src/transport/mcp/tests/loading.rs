//! A host that is still being loaded.

use super::super::{Announced, GREETING, serve_while_loading};
use super::client::host;
use crate::{Error, ErrorKind, Owner};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

const LIST: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

/// Serves a host that is announced in this way, to a client that sends `lines` and closes its side after `open`. Returns
/// how that ended, what was written, and how long loading waited.
async fn serve(
    announce: impl FnOnce(&mut Announced),
    lines: &str,
    open: Duration,
) -> (Result<(), Error>, String, Option<Duration>) {
    let host = host().await;
    let mut announced = Announced::of(&host);
    announce(&mut announced);
    let (mut input, server_in) = tokio::io::duplex(1 << 16);
    let (server_out, mut output) = tokio::io::duplex(1 << 16);
    input.write_all(lines.as_bytes()).await.unwrap();
    let (start, begun) = (Instant::now(), Arc::new(Mutex::new(None)));
    let began = Arc::clone(&begun);
    let loading = async move {
        *began.lock().unwrap() = Some(start.elapsed());
        Ok(host)
    };
    let owner = Owner::new("name", "test").unwrap();
    let client = async {
        tokio::time::sleep(open).await;
        drop(input);
    };
    let (served, ()) = tokio::join!(serve_while_loading(announced, loading, owner, server_in, server_out), client);
    let mut written = String::new();
    output.read_to_string(&mut written).await.unwrap();
    let waited = *begun.lock().unwrap();
    (served, written, waited)
}

#[tokio::test(start_paused = true)]
async fn loading_goes_behind_the_greeting_and_no_further() {
    let open = 2 * GREETING;
    for (lines, expected) in [(PING, Duration::ZERO), (LIST, Duration::ZERO), ("", GREETING)] {
        let (served, written, waited) = serve(|_| {}, lines, open).await;
        served.unwrap();
        let waited = waited.expect("it was loaded");
        assert!((expected..expected + Duration::from_millis(2)).contains(&waited), "{lines}: {waited:?}");
        assert_eq!(written.lines().count(), lines.lines().count(), "{written}");
    }
    // Whoever has left by then does not wait.
    let (served, written, _) = serve(|_| {}, "", Duration::ZERO).await;
    served.unwrap();
    assert_eq!(written, "");
}

#[tokio::test]
async fn a_host_that_is_not_as_it_was_announced_lists_nothing() {
    let other: [fn(&mut Announced); 2] =
        [|announced| announced.confirm_parameter.push('s'), |announced| announced.max_arguments += 1];
    for announce in other {
        let (served, written, _) = serve(announce, LIST, Duration::ZERO).await;
        let error = served.unwrap_err();
        assert!(error.kind() == ErrorKind::Config && error.to_string().contains("announced"), "{error}");
        let answer: Value = serde_json::from_str(&written).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&1.into(), &(-32603).into()), "{written}");
    }
}
