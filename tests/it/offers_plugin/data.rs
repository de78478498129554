//! The data file: what is believed, what is kept, what is left behind.

use super::cases::CASES;
use super::desk::{Desk, record};
use counterfoil::Status;
use counterfoil::plugin::Access;
use serde_json::{Value, json};
use std::fs;

const PAYOUT: (&str, &str) = ("update_offer_payout", r#"{"offer_id": 12, "new_payout": 6.20}"#);

/// Every kind of tool refuses, and says this.
async fn none_works(desk: &Desk, words: &str) {
    for (tool, arguments) in [("get_offer", r#"{"id": 12}"#), ("pause_campaign", r#"{"id": 42}"#), PAYOUT] {
        desk.refused(tool, arguments, words).await;
    }
}

#[tokio::test]
async fn a_missing_file_is_named_with_what_to_do() {
    let desk = Desk::new().await;
    fs::remove_file(desk.path("data/offers.json")).unwrap();
    none_works(&desk, "there is no /data/offers.json: the operator grants").await;
    fs::create_dir(desk.path("data/offers.json")).unwrap();
    none_works(&desk, "not an ordinary file").await;
    fs::remove_dir(desk.path("data/offers.json")).unwrap();
    fs::write(desk.path("elsewhere.json"), "{}").unwrap();
    std::os::unix::fs::symlink(desk.path("elsewhere.json"), desk.path("data/offers.json")).unwrap();
    none_works(&desk, "not an ordinary file").await;
}

#[tokio::test]
async fn a_damaged_file_is_not_believed_in_any_part() {
    let desk = Desk::new().await;
    let path = desk.path("data/offers.json");
    let whole = fs::read_to_string(&path).unwrap();
    for (text, words) in [
        (whole.get(..whole.len() / 2).unwrap().to_owned(), "damaged"),
        (String::new(), "damaged"),
        ("[]".to_owned(), "\"format\" is not 1"),
        (whole.replacen("\"format\": 1", "\"format\": 2", 1), "\"format\" is not 1"),
        (whole.replacen("\"id\": 13", "\"id\": 12", 1), "two offers #12"),
        (whole.replacen("\"id\": 13", "\"id\": 0", 1), "entry 1 has no id"),
        (
            whole.replacen("\"payout\": \"4.50\"", "\"payout\": 4.50", 1),
            "offer #12: its member \"payout\" is not an amount",
        ),
        (whole.replacen("\"payout\": \"4.50\"", "\"payout\": \"-4.50\"", 1), "\"payout\""),
        (whole.replacen("\"payout\": \"4.50\"", "\"payout\": \"4.50\", \"payout\": \"1\"", 1), "there twice"),
        (whole.replacen("\"status\": \"active\"", "\"status\": \"alive\"", 1), "\"status\" is none of active, paused"),
        (whole.replacen("\"lifetime_clicks\": 4523", "\"lifetime_clicks\": -1", 1), "\"lifetime_clicks\""),
        (whole.replacen("Black Friday FR", &"x".repeat(301), 1), "at most 300 characters"),
        (whole.replacen("\"currency\": \"$\"", "\"currency\": \"\\n\"", 1), "\"currency\""),
    ] {
        assert_ne!(text, whole, "{words}");
        fs::write(&path, text).unwrap();
        none_works(&desk, words).await;
        none_works(&desk, "the operator repairs it or puts a copy back").await;
    }
    fs::write(&path, b"{\"format\": 1, \"x\": \"\xff\"}").unwrap();
    none_works(&desk, "damaged").await;
}

#[tokio::test]
async fn a_file_that_is_too_large_is_refused_and_the_largest_is_read_in_time() {
    let desk = Desk::new().await;
    let filler =
        |bytes: usize| json!((0..bytes / 100).map(|at| json!({ "n": at, "text": "x".repeat(80) })).collect::<Vec<_>>());
    desk.edit(|data| data["filler"] = filler(4_000_000));
    let size = fs::metadata(desk.path("data/offers.json")).unwrap().len();
    assert!((3_800_000..4_194_304).contains(&size), "{size}");
    assert_eq!(desk.done("get_offer", r#"{"id": 12}"#).await.status, Status::Ok);
    // What would be written is larger than what was read, since it has a member a line.
    desk.refused("pause_campaign", r#"{"id": 42}"#, "the most is 4194304: the operator takes old records out").await;
    desk.edit(|data| data["filler"] = filler(4_400_000));
    none_works(&desk, "the most is 4194304").await;
}

#[tokio::test]
async fn what_nobody_knows_stays_as_it_was_written() {
    let desk = Desk::new().await;
    let path = desk.path("data/offers.json");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replacen(
        "\"payout\": \"4.50\",",
        "\"weight\": 1.10, \"zeta\": {\"b\": 1e400, \"a\": null},\n\"payout\": \"4.50\",",
        1,
    );
    fs::write(&path, text.replacen("\"currency\"", "\"extra\": [12345678901234567890123],\n\"currency\"", 1)).unwrap();
    desk.done(PAYOUT.0, PAYOUT.1).await;
    let text = fs::read_to_string(&path).unwrap();
    let lines: String = text.split_whitespace().collect();
    assert!(lines.contains(r#""weight":1.10,"zeta":{"b":1e400,"a":null},"payout":"6.20""#), "{text}");
    assert!(lines.contains(r#""extra":[12345678901234567890123],"currency""#), "{text}");
}

#[tokio::test]
async fn the_id_of_something_deleted_is_never_given_again() {
    for forgets in [false, true] {
        let desk = Desk::new().await;
        if forgets {
            desk.edit(|data| drop(data.as_object_mut().unwrap().remove("next_ids")));
        }
        let create = |name: &str| format!(r#"{{"name": "{name}", "offer_id": 12}}"#);
        let id = |answer: &Value| answer["campaign"]["id"].as_u64().unwrap();
        let first = id(&desk.done("create_campaign", &create("A")).await.json);
        desk.done("delete_campaign", &format!(r#"{{"id": {first}}}"#)).await;
        assert_eq!((first, id(&desk.done("create_campaign", &create("A")).await.json)), (49, 50));
        desk.done("delete_email_conversion_trigger", r#"{"id": 2}"#).await;
        assert_eq!(desk.data()["next_ids"]["email_conversion_triggers"], 3);
    }
}

#[tokio::test]
async fn a_read_only_grant_refuses_every_change_and_leaves_nothing() {
    let desk = Desk::with(Access::ReadOnly, &[]).await;
    let before = desk.files();
    for case in CASES {
        let mut answer = desk.call(case.tool, case.arguments).await;
        if answer.status == Status::ConfirmationRequired {
            answer = desk.confirm(case.tool, case.arguments, &answer).await;
        }
        assert!(matches!(answer.status, Status::Rejected | Status::Failed), "{}", answer.text);
        assert!(answer.says("error").contains("access = \"read-write\""), "{}", answer.text);
        assert_eq!(before, desk.files(), "{}", case.tool);
    }
}

#[tokio::test]
async fn names_with_anything_in_them_stay_within_one_sentence() {
    let desk = Desk::new().await;
    let name = "It's \"new\"\n\u{1b}[2J\u{202e}gold\\";
    desk.edit(|data| record(data, "offers", 12)["name"] = json!(name));
    let preview = desk.preview(PAYOUT.0, PAYOUT.1).await;
    assert_eq!(
        preview.says("summary"),
        r#"Will update payout of offer #12 'It\'s "new"\n\u001b[2J\u202egold\\' from $4.50 to $6.20 (+37.8%)."#
    );
    assert_eq!(preview.json["preview"]["offer_name"], name);
    desk.edit(|data| data["currency"] = json!("€"));
    assert!(desk.preview(PAYOUT.0, PAYOUT.1).await.says("summary").contains("from €4.50 to €6.20"));
}

#[tokio::test]
async fn two_writers_lose_nothing_of_each_other() {
    let desk = Desk::new().await;
    let calls: Vec<String> =
        (0..12).map(|at| format!(r#"{{"list_id": 9, "email": "subscriber{at}@example.com"}}"#)).collect();
    let mut answers = Vec::new();
    let (left, right) = calls.split_at(6);
    for (one, other) in left.iter().zip(right) {
        let both = tokio::join!(desk.call("enroll_email_subscriber", one), desk.call("enroll_email_subscriber", other));
        answers.extend([both.0, both.1]);
    }
    assert!(answers.iter().all(|answer| answer.status == Status::Ok), "{answers:?}");
    assert_eq!(record(&mut desk.data(), "email_lists", 9)["subscribers"].as_array().unwrap().len(), 12);
}
