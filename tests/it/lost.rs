//! A process that dies at the two moments that matter: when the token is spent and nothing has run, and when the tool has
//! run and nothing is recorded. From outside they look alike, and the answers are the same. And one token, 64 threads.

use counterfoil::gate::{Clock, SystemClock, TestClock};
use counterfoil::store::SqliteStore;
use counterfoil_tests::refunds::{self, call, effects, told};
use std::process::Command;
use std::sync::{Arc, Barrier};

/// Longer than any run.
const HOUR: u64 = 3_600_000;

#[track_caller]
fn used(reply: &counterfoil::Reply, detail: &str) {
    assert_eq!(
        (told(reply, "reason"), told(reply, "detail")),
        ("unknown_or_used".into(), detail.into()),
        "{}",
        reply.payload
    );
}

async fn dies(mode: &str, happened: bool, expected: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("state.db"), folder.path().join("effects"));
    let clock = Arc::new(TestClock::new(SystemClock.now()));
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    let host = refunds::host(store, Arc::clone(&clock) as Arc<dyn Clock>, &file).await;
    let token = told(&call(&host, None).await, "confirm_token");

    let ran = Command::new(env!("CARGO_BIN_EXE_dies")).arg(mode).args([&path, &file]).arg(&token).output().unwrap();
    assert!(ran.status.code().is_none(), "it should have died: {ran:?}");
    assert_eq!(effects(&file), expected);

    clock.set(SystemClock.now());
    used(&call(&host, Some(&token)).await, "in_flight");
    clock.advance(HOUR);
    used(&call(&host, Some(&token)).await, "outcome_unknown");
    assert_eq!(told(&call(&host, None).await, "reason"), "unresolved");
    host.gate().sweep(100).await.unwrap();
    let lost = host.gate().unrecorded(None, 10).await.unwrap();
    host.gate().resolve(&lost[0].approval_id, "name:operator", happened).await.unwrap();
    used(&call(&host, Some(&token)).await, if happened { "settled_happened" } else { "settled_did_not" });
    assert_eq!(effects(&file), expected, "nothing ran a second time");

    // Settled, the call may be made anew, with a confirmation of its own.
    let anew = told(&call(&host, None).await, "confirm_token");
    assert_eq!(told(&call(&host, Some(&anew)).await, "status"), "ok");
    assert_eq!(effects(&file), expected + 1);
}

#[tokio::test]
async fn killed_between_consume_and_run() {
    dies("consumed", false, 0).await;
}

#[tokio::test]
async fn killed_between_effect_and_record() {
    dies("ran", true, 1).await;
}

#[test]
fn sixty_four_threads_with_one_token_have_one_effect() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("effects");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (host, token) = runtime.block_on(async {
        let store = Arc::new(SqliteStore::open(&folder.path().join("state.db")).unwrap());
        let host = refunds::host(store, Arc::new(SystemClock), &file).await;
        let token = told(&call(&host, None).await, "confirm_token");
        (host, token)
    });
    let start = Barrier::new(64);
    let replies: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    runtime.block_on(call(&host, Some(&token)))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(effects(&file), 1);
    let first = replies.iter().filter(|reply| told(reply, "status") == "ok" && !reply.replayed);
    assert_eq!(first.count(), 1);
    for reply in replies.iter().filter(|reply| told(reply, "status") != "ok") {
        used(reply, "in_flight");
    }
}
