//! What becomes of plug-ins that hang, crash, or answer what they must not: an answer of its own for each, what is known of
//! the effect, and no harm to others.

use super::bench::{Bench, SHORT, Setup, bench, bench_with, call, check_refused, gate, load, options, short};
use crate::hostile::pace;
use counterfoil::gate::{Gate, GateOptions, Settings, SystemClock};
use counterfoil::plugin::Limits;
use counterfoil::store::MemoryStore;
use counterfoil::{Host, Status};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much later than its deadline a call may be stopped.
const LATE: Duration = Duration::from_millis(100);

async fn timed(bench: &Bench, tool: &str, arguments: &str) -> ((Status, Value), Duration) {
    let start = Instant::now();
    let answer = bench.call(tool, arguments).await;
    (answer, start.elapsed())
}

#[track_caller]
fn check_effect(answer: &(Status, Value), effect: &str) {
    assert_eq!(answer.1["effect"], effect, "{}", answer.1);
}

#[tokio::test]
async fn a_run_is_stopped_at_its_deadline_whether_it_computes_or_sleeps() {
    let hang = bench_with("hang", short()).await;
    for tool in ["loop", "sleep"] {
        pace::comes(tool, 50, async || {
            let mut times = Vec::new();
            for _ in 0..3 {
                let (answer, took) = timed(&hang, tool, "{}").await;
                check_effect(&answer, "none");
                check_refused(answer, Status::Failed, "deadline", "400ms");
                assert!(took >= SHORT, "{took:?}");
                times.push(took);
            }
            (times, SHORT + LATE)
        })
        .await;
    }
}

#[tokio::test]
async fn a_preview_is_stopped_at_its_deadline_and_nothing_ran() {
    let hang = bench_with("hang", short()).await;
    pace::comes("loop_dangerous", 50, async || {
        let mut times = Vec::new();
        for _ in 0..3 {
            let (answer, took) = timed(&hang, "loop_dangerous", r#"{"in":"preview"}"#).await;
            check_refused(answer, Status::Rejected, "refused", "nothing was changed");
            assert!(took >= SHORT, "{took:?}");
            times.push(took);
        }
        (times, SHORT + LATE)
    })
    .await;
}

#[tokio::test]
async fn what_was_changed_before_the_end_is_known_to_the_host() {
    let hang = bench_with("hang", short()).await;
    let answer = hang.call("write", "{}").await;
    check_effect(&answer, "unknown");
    check_refused(answer, Status::Failed, "deadline", "");
    assert_eq!(hang.text("written").as_deref(), Some("1"));

    let crash = bench("crash").await;
    let answer = crash.call("write", "{}").await;
    check_effect(&answer, "unknown");
    check_refused(answer, Status::Failed, "trapped", "panicked");
}

#[tokio::test]
async fn each_way_to_crash_has_a_plain_answer() {
    let mut setup = Setup::default();
    setup.limits.memory = 32 << 20;
    let crash = bench_with("crash", setup).await;
    for (tool, with) in
        [("panic", "panicked"), ("exit", "exited with status 0"), ("bomb", "may use 32 MiB"), ("recurse", "too deeply")]
    {
        let answer = crash.call(tool, "{}").await;
        check_effect(&answer, "none");
        assert!(!answer.1.to_string().contains("backtrace"), "{}", answer.1);
        check_refused(answer, Status::Failed, "trapped", with);
    }
}

#[tokio::test]
async fn an_outcome_is_bounded_and_must_be_an_object() {
    let output =
        bench_with("output", Setup { limits: Limits { output: 1 << 20, ..Limits::default() }, ..Setup::default() })
            .await;
    for size in [(1 << 20) + 1, 20 << 20, 60 << 20] {
        let answer = output.call("big", &format!(r#"{{"size":{size}}}"#)).await;
        check_effect(&answer, "none");
        check_refused(answer, Status::Failed, "output_limit", "it");
    }
    for (details, with) in
        [("text", "not a JSON object"), ("array", "not a JSON object"), ("twice", "twice"), ("cut", "EOF")]
    {
        let answer = output.call("big", &format!(r#"{{"details":"{details}"}}"#)).await;
        check_effect(&answer, "none");
        check_refused(answer, Status::Failed, "output_limit", with);
    }
    assert_eq!(output.call("big", r#"{"size":1000}"#).await.0, Status::Ok);
}

#[tokio::test]
async fn a_plan_is_bounded_and_must_be_an_object() {
    let output = bench("output").await;
    for arguments in [
        r#"{"summary":70000}"#,
        r#"{"warning":70000}"#,
        r#"{"summary":40000,"warning":40000}"#,
        r#"{"precondition":1025}"#,
        r#"{"plan":1,"size":70000}"#,
        r#"{"plan":1,"details":"text"}"#,
        r#"{"plan":1,"details":"twice"}"#,
    ] {
        let with = "the preview failed and nothing was changed: ";
        check_refused(output.call("big_dangerous", arguments).await, Status::Rejected, "refused", with);
    }
    let (status, payload) = output.call("big_dangerous", r#"{"precondition":1024,"summary":1000}"#).await;
    assert_eq!(status, Status::ConfirmationRequired, "{payload}");
}

#[tokio::test]
async fn how_long_a_plan_may_be_is_the_gates_setting_within_what_a_plug_in_may_return() {
    let settings = Settings { max_plan: 2 << 20, max_precondition: 4096, ..Settings::default() };
    let (store, clock, cache) = (Arc::default(), Arc::new(SystemClock), Some(counterfoil_tests::code()));
    let store: Arc<MemoryStore> = store;
    let gate = Gate::new(GateOptions { store, clock, settings, cache }).unwrap();
    let mut options = options("output");
    options.limits.output = 1 << 20;
    let host = Host::builder(gate).plugin(load("output", options).await.unwrap()).build().await.unwrap();
    let (status, payload) = call(&host, "big_dangerous", r#"{"precondition":4096,"summary":70000}"#).await;
    assert_eq!(status, Status::ConfirmationRequired, "{payload}");
    let beyond = call(&host, "big_dangerous", r#"{"summary":1048577}"#).await;
    check_refused(beyond, Status::Rejected, "refused", "its plan has 1048579 bytes: 1048576 are allowed");
}

#[tokio::test]
async fn what_a_plug_in_prints_is_in_nobodys_way() {
    let noisy = bench("noisy").await;
    let (status, payload) = noisy.call("shout", "{}").await;
    assert_eq!((status, payload["stdin"].as_u64()), (Status::Ok, Some(0)), "{payload}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_plug_ins_go_on_while_one_hangs() {
    let mut options_of_hang = options("hang");
    options_of_hang.limits.execute = Duration::from_secs(3);
    let hang = load("hang", options_of_hang).await.unwrap();
    let echo = load("echo", options("echo")).await.unwrap();
    let host = Host::builder(gate()).plugin(hang).plugin(echo).build().await.unwrap();
    let hanging: Vec<_> = (0..20)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { call(&host, "loop", "{}").await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let start = Instant::now();
    for _ in 0..5 {
        assert_eq!(call(&host, "echo", "{}").await.0, Status::Ok);
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    hanging.iter().for_each(tokio::task::JoinHandle::abort);
}
