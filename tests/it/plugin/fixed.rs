//! A fixed clock and fixed randomness: a call comes out the same each time, and by default it does not.

use super::bench::{call, confirmed, gate, load, options};
use counterfoil::plugin::Fixed;
use counterfoil::{Host, Status};
use serde_json::Value;
use std::time::{Duration, SystemTime};

const KEYS: [&str; 6] = ["now", "passed", "random", "next", "insecure", "seed"];

async fn host(fixed: Fixed) -> Host {
    let mut options = options("chance");
    options.fixed = fixed;
    Host::builder(gate()).plugin(load("chance", options).await.unwrap()).build().await.unwrap()
}

/// What preview, run and safe call of one host see.
async fn seen(host: &Host) -> Vec<Value> {
    let (status, challenge) = call(host, "chance", "{}").await;
    assert_eq!(status, Status::ConfirmationRequired, "{challenge}");
    let ran = confirmed(host, "chance", "{}").await;
    let safe = call(host, "chance_safe", "{}").await;
    assert_eq!((ran.0, safe.0), (Status::Ok, Status::Ok), "{} {}", ran.1, safe.1);
    let only = |from: &Value| KEYS.iter().map(|key| (String::from(*key), from[key].clone())).collect();
    vec![only(&challenge["preview"]), only(&ran.1), only(&safe.1)]
}

#[tokio::test]
async fn what_is_fixed_is_the_same_in_every_call_and_every_process() {
    let clock = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
    let fixed = Fixed { clock: Some(clock), random: Some(42) };
    let (one, other) = (seen(&host(fixed.clone()).await).await, seen(&host(fixed.clone()).await).await);
    for call in one.iter().chain(&other) {
        assert_eq!(call, &one[0]);
    }
    assert_eq!(one[0]["now"], 1_767_225_600_000_u64);
    // Read five times or so; how long it took is not in it.
    assert_eq!(one[0]["passed"].as_u64().unwrap() % 1_000_000, 0);
    assert_ne!(one[0]["random"], one[0]["insecure"]);

    // Each by itself, and another number is another chance.
    let chance = seen(&host(Fixed { random: Some(42), ..Fixed::default() }).await).await;
    assert_eq!((&chance[0]["random"], &chance[0]["seed"]), (&one[0]["random"], &one[0]["seed"]));
    assert_ne!(chance[0]["now"], one[0]["now"]);
    let clock = seen(&host(Fixed { clock: fixed.clock, random: None }).await).await;
    assert_eq!(clock[0]["now"], one[0]["now"]);
    assert_ne!(clock[0]["random"], clock[1]["random"]);
    let other = seen(&host(Fixed { clock: fixed.clock, random: Some(43) }).await).await;
    for key in ["random", "next", "insecure", "seed"] {
        assert_ne!(other[0][key], one[0][key], "{key}");
    }
}

#[tokio::test]
async fn a_list_that_depends_on_chance_or_time_is_none_unless_they_are_fixed() {
    let list = |name: &'static str, fixed| async move {
        let mut options = options(name);
        options.fixed = fixed;
        load(name, options).await.map(|plugin| plugin.tools()[0].description.clone()).map_err(|e| e.to_string())
    };
    let refused = |said: Result<String, String>| {
        let said = said.unwrap_err();
        assert!(said.contains("when it is asked again") && said.contains("other title or description"), "{said}");
    };
    let chance = Fixed { random: Some(1), ..Fixed::default() };
    refused(list("fickle", Fixed::default()).await);
    refused(list("fickle", Fixed { clock: Some(SystemTime::UNIX_EPOCH), ..Fixed::default() }).await);
    assert_eq!(list("fickle", chance.clone()).await, list("fickle", chance.clone()).await);
    assert_ne!(list("fickle", chance.clone()).await, list("fickle", Fixed { random: Some(2), ..chance }).await);
    // The same today whenever it is asked, and another one some day.
    refused(list("someday", Fixed::default()).await);
    assert_eq!(
        list("someday", Fixed { clock: Some(SystemTime::UNIX_EPOCH), ..Fixed::default() }).await,
        Ok("Means well.".to_owned())
    );
}

#[tokio::test]
async fn by_default_nothing_is_fixed() {
    let host = host(Fixed::default()).await;
    let seen = seen(&host).await;
    for key in ["random", "next", "insecure", "seed"] {
        assert_ne!(seen[0][key], seen[1][key], "{key}");
        assert_ne!(seen[1][key], seen[2][key], "{key}");
    }
    assert_ne!(seen[0]["now"], seen[1]["now"]);
    assert_eq!(host.plugins()[0].grants(), []);
}
