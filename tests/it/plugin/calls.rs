//! What a call may do: both sides of each rule.

use super::bench::{Setup, bench, bench_with, call_with, check_refused, gate, load, options, short};
use counterfoil::plugin::{Access, DirGrant};
use counterfoil::tool::Progress;
use counterfoil::{Host, Level, Status};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_safe_call_gets_its_arguments_its_level_and_an_operation_id() {
    let echo = bench("echo").await;
    let (status, payload) = echo.call("echo", r#"{ "text" : "é", "n" : 6.20 }"#).await;
    assert_eq!(status, Status::Ok, "{payload}");
    assert_eq!(payload["message"], "echoed");
    assert_eq!(payload["given"].to_string(), r#"{"n":6.2,"text":"é"}"#);
    assert_eq!(payload["ran_at"], "Level::Safe");
    assert!(payload["operation_id"].as_str().unwrap().starts_with("op_"), "{payload}");
}

#[tokio::test]
async fn arguments_are_checked_before_anything_runs() {
    let counter = bench("counter").await;
    for (arguments, with) in [
        (r#"{"by":"x"}"#, "/by"),
        ("{}", "by"),
        (r#"{"by":0}"#, "/by"),
        (r#"{"by":1,"more":1}"#, "more"),
        (r#"{"by":9007199254740993}"#, "9007199254740993"),
    ] {
        check_refused(counter.call("increment", arguments).await, Status::Rejected, "invalid_arguments", with);
    }
}

#[tokio::test]
async fn a_dangerous_call_runs_when_confirmed_and_only_while_its_precondition_holds() {
    let counter = bench("counter").await;
    let (status, payload) = counter.confirmed("increment", r#"{"by":2}"#).await;
    assert_eq!((status, payload["value"].as_u64()), (Status::Ok, Some(2)), "{payload}");
    assert_eq!(counter.text("counter").as_deref(), Some("2"));

    let (_, first) = counter.call("increment", r#"{"by":3}"#).await;
    counter.put("counter", "40");
    let second = serde_json::json!({ "by": 3, "confirm_token": first["confirm_token"] }).to_string();
    let (status, payload) = counter.call("increment", &second).await;
    assert_eq!((status, payload["effect"].as_str()), (Status::Failed, Some("none")), "{payload}");
    assert!(payload["error"].as_str().unwrap().contains("has changed"), "{payload}");
    assert_eq!(counter.text("counter").as_deref(), Some("40"));
}

/// What the fixture `prowl` reports that it could do.
fn worked(payload: &serde_json::Value) -> BTreeSet<String> {
    payload["worked"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

async fn prowl(access: Access) -> super::bench::Bench {
    let prowl = bench_with("prowl", Setup { access, ..Setup::default() }).await;
    prowl.put("old", "old text");
    std::fs::create_dir(prowl.data.path().join("empty")).unwrap();
    prowl
}

fn listing(path: &std::path::Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| {
        let (entry, found) = {
            let entry = entry.unwrap();
            let found = entry.metadata().unwrap();
            (entry, found)
        };
        (entry.file_name().into_string().unwrap(), found.len(), found.modified().unwrap())
    });
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    entries
}

#[tokio::test]
async fn previews_and_safe_calls_change_nothing_and_granted_ones_everything() {
    let it = prowl(Access::ReadWrite).await;
    let before = listing(it.data.path());
    let (status, payload) = it.call("mutate", "{}").await;
    assert_eq!(status, Status::ConfirmationRequired, "{payload}");
    assert!(worked(&payload["preview"]).is_empty(), "{payload}");
    assert_eq!(payload["preview"]["readable"], true);
    let (status, payload) = it.call("mutate_safe", "{}").await;
    assert_eq!(status, Status::Ok, "{payload}");
    assert!(worked(&payload).is_empty(), "{payload}");
    assert_eq!(listing(it.data.path()), before);

    let (status, payload) = it.call("mutate_caution", "{}").await;
    assert_eq!(status, Status::Ok, "{payload}");
    let worked = worked(&payload);
    for name in
        ["create", "write", "append", "truncate", "size", "mkdir", "link", "symlink", "rename", "unlink", "rmdir"]
    {
        assert!(worked.contains(name), "{name}: {payload}");
    }
    assert_ne!(listing(it.data.path()), before);
}

#[tokio::test]
async fn a_read_only_grant_stays_one_whatever_the_level() {
    let it = prowl(Access::ReadOnly).await;
    let before = listing(it.data.path());
    let (status, payload) = it.confirmed("mutate", "{}").await;
    assert_eq!(status, Status::Ok, "{payload}");
    assert!(worked(&payload).is_empty(), "{payload}");
    assert_eq!(listing(it.data.path()), before);
}

#[tokio::test]
async fn a_tool_declared_safe_stays_read_only_when_its_level_is_raised() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("old"), "x").unwrap();
    let mut options = options("prowl");
    options.dirs.push(DirGrant { host: data.path().into(), guest: "/data".into(), access: Access::ReadWrite });
    let plugin = load("prowl", options).await.unwrap();
    let host =
        Host::builder(gate()).plugin(plugin).level("mutate_safe", Level::ApprovalRequired).build().await.unwrap();
    let before = listing(data.path());
    let (status, payload) = super::bench::confirmed(&host, "mutate_safe", "{}").await;
    assert_eq!(status, Status::Ok, "{payload}");
    assert!(worked(&payload).is_empty(), "{payload}");
    assert_eq!(listing(data.path()), before);
}

#[tokio::test]
async fn nothing_leads_out_of_the_directory() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("data");
    std::fs::create_dir_all(inner.join("inner")).unwrap();
    std::fs::write(outer.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret", inner.join("link")).unwrap();
    std::os::unix::fs::symlink(outer.path().join("secret"), inner.join("absolute")).unwrap();
    let mut options = options("prowl");
    options.dirs.push(DirGrant { host: inner, guest: "/data".into(), access: Access::ReadWrite });
    let host = Host::builder(gate()).plugin(load("prowl", options).await.unwrap()).build().await.unwrap();
    let (status, payload) = super::bench::call(&host, "escape", "{}").await;
    assert_eq!(status, Status::Ok, "{payload}");
    assert!(worked(&payload).is_empty(), "{payload}");
    assert_eq!(std::fs::read_to_string(outer.path().join("secret")).unwrap(), "secret");
}

#[tokio::test]
async fn without_a_grant_there_is_no_file_at_all() {
    let host = Host::builder(gate()).plugin(load("prowl", options("p")).await.unwrap()).build().await.unwrap();
    let (_, payload) = super::bench::call(&host, "mutate_caution", "{}").await;
    assert!(worked(&payload).is_empty(), "{payload}");
    assert_eq!(payload["readable"], false);
}

#[tokio::test]
async fn nothing_remains_of_one_call_in_the_next() {
    let canary = bench("canary").await;
    for _ in 0..3 {
        let (status, payload) = canary.call("write", "{}").await;
        assert_eq!((status, payload["files"].as_u64()), (Status::Ok, Some(0)), "{payload}");
        // As many as there are slots to be used again.
        for _ in 0..40 {
            let (_, payload) = canary.call("look", "{}").await;
            for place in ["memory", "static", "env", "files"] {
                assert_eq!(payload[place], 0, "{payload}");
            }
        }
    }
}

#[tokio::test]
async fn start_code_has_no_more_power_than_the_call() {
    let start = bench("start").await;
    let (status, payload) = start.call("safe", "{}").await;
    assert_eq!((status, &payload["late"]), (Status::Ok, &false.into()), "{payload}");
    assert_eq!((start.text("late"), start.text("started")), (None, None));
    let (status, payload) = start.call("late", "{}").await;
    assert_eq!((status, &payload["late"]), (Status::Ok, &true.into()), "{payload}");
    assert_eq!((start.text("late").as_deref(), start.text("started").as_deref()), (Some("1"), Some("1")));
}

#[tokio::test]
async fn a_plan_can_lower_the_level_and_a_critical_tool_ignores_it() {
    let levels = bench("levels").await;
    for (level, ran_at, written) in
        [("safe", "Level::Safe", false), ("caution", "Level::Caution", true), ("review", "Level::Review", true)]
    {
        let (status, payload) = levels.call("mild", &format!(r#"{{"level":"{level}"}}"#)).await;
        assert_eq!(status, Status::Ok, "{payload}");
        assert_eq!((&payload["ran_at"], &payload["written"]), (&ran_at.into(), &written.into()), "{payload}");
        assert_eq!(payload["precondition"], "as planned");
    }
    assert_eq!(levels.call("mild", "{}").await.0, Status::ConfirmationRequired);
    assert_eq!(levels.call("critical", "{}").await.0, Status::ConfirmationRequired);
    let (status, payload) = levels.confirmed("critical", "{}").await;
    assert_eq!((status, &payload["ran_at"]), (Status::Ok, &"Level::ApprovalRequired".into()), "{payload}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_that_can_change_something_take_turns_and_the_others_do_not() {
    let slow = Arc::new(bench("slow").await);
    let run = |tool: &'static str| {
        let slow = Arc::clone(&slow);
        tokio::spawn(async move { slow.call(tool, r#"{"ms":200}"#).await.0 })
    };
    let runs = [run("slow"), run("slow"), run("slow")];
    for ended in runs {
        assert_eq!(ended.await.unwrap(), Status::Ok);
    }
    assert_eq!(slow.text("log").unwrap(), "start\nend\n".repeat(3));

    let start = Instant::now();
    let looks: Vec<_> = (0..8).map(|_| run("look")).collect();
    for ended in looks {
        assert_eq!(ended.await.unwrap(), Status::Ok);
    }
    assert!(start.elapsed() < Duration::from_millis(8 * 200), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_dropped_call_gives_its_turn_back() {
    let mut setup = short();
    setup.limits.execute = Duration::from_secs(60);
    let hang = bench_with("hang", setup).await;
    let dropped = tokio::time::timeout(Duration::from_millis(200), hang.call("loop", "{}")).await;
    assert!(dropped.is_err());
    // The only turn there is: it must be free again.
    let next = tokio::time::timeout(Duration::from_millis(200), hang.call("sleep", "{}")).await;
    assert!(next.is_err());
    let (status, _) = hang.call("loop_dangerous", "{}").await;
    assert_eq!(status, Status::ConfirmationRequired);
}

/// What counts is that the next one runs: it cannot while the one that was dropped still computes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_call_is_stopped_at_once() {
    let mut setup = Setup::default();
    (setup.limits.execute, setup.limits.max_concurrent, setup.limits.per_owner) = (Duration::from_secs(60), 1, 2);
    let hang = bench_with("hang", setup).await;
    let mark = hang.data.path().join("written");
    // It writes a file, and computes for ever.
    let begun = async || {
        let looks = async {
            while std::fs::remove_file(&mark).is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            () = looks => {}
            ended = hang.call("write", "{}") => panic!("it ended: {ended:?}"),
        }
        Instant::now()
    };
    let mut dropped = begun().await;
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let next = begun().await;
        best = best.min(next - dropped);
        dropped = next;
    }
    assert!(best < Duration::from_millis(100), "{best:?} at best");
}

#[derive(Default)]
struct Heard(Mutex<Vec<(Option<f64>, String)>>);

impl Progress for Heard {
    fn report(&self, fraction: Option<f64>, message: &str) {
        self.0.lock().unwrap().push((fraction, message.to_owned()));
    }
}

#[tokio::test]
async fn progress_is_passed_on_bounded_in_length_and_rate() {
    let work = bench("progress").await;
    let heard = Arc::new(Heard::default());
    let listener = Some(Arc::clone(&heard) as Arc<dyn Progress>);
    assert_eq!(call_with(&work.host, "work", r#"{"times":4,"every":60}"#, listener).await.0, Status::Ok);
    let all = std::mem::take(&mut *heard.0.lock().unwrap());
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(all[0].1.len() <= 1024 && all[0].1.ends_with('…'), "{}", all[0].1.len());
    assert_eq!(all[0].0, Some(0.0));
    assert_eq!(all[1], (None, "odd".into()));
    assert_eq!(all[3], (Some(0.75), "step 3".into()));

    let listener = Some(Arc::clone(&heard) as Arc<dyn Progress>);
    let start = Instant::now();
    assert_eq!(call_with(&work.host, "work", r#"{"times":10000,"every":0}"#, listener).await.0, Status::Ok);
    let (heard, took) = (heard.0.lock().unwrap().len() as u128, start.elapsed());
    // The first, one each 50 ms after it, and the slice that had begun.
    assert!((1..=took.as_millis() / 50 + 2).contains(&heard), "{heard} in {took:?}");
    assert_eq!(call_with(&work.host, "work", r#"{"times":3,"every":0}"#, None).await.0, Status::Ok);
}
