//! A plug-in that is locked, one that is not, and one that is not what was locked.

use super::bench::{SANDBOX, call, gate, load, options};
use counterfoil::plugin::{Access, DirGrant, Plugin, PluginOptions};
use counterfoil::{ErrorKind, Host, Level, Status};
use counterfoil_tests::fixture;
use serde_json::Value;

fn with_data(data: &std::path::Path) -> PluginOptions {
    let mut options = options("stamp");
    options.dirs.push(DirGrant { host: data.to_owned(), guest: "/data".into(), access: Access::ReadWrite });
    options
}

#[tokio::test]
async fn until_a_plug_in_is_locked_all_that_may_change_something_is_confirmed() {
    let data = tempfile::tempdir().unwrap();
    let open = Plugin::load(&SANDBOX, &fixture("stamp"), with_data(data.path())).await.unwrap();
    assert!(!open.is_locked());
    let host = Host::builder(gate()).plugin(open).build().await.unwrap();
    for tool in host.tools() {
        let schema: Value = serde_json::from_str(&tool.input_schema).unwrap();
        let lists = schema["properties"]["confirm_token"].is_object();
        let confirmed = tool.name != "look";
        assert_eq!(
            (tool.needs_confirmation, tool.always_confirmed, lists),
            (confirmed, confirmed, confirmed),
            "{tool:?}"
        );
        assert_eq!(tool.level == Level::ApprovalRequired, confirmed, "{tool:?}");
        assert!(!tool.locked);
    }
    let (status, asked) = call(&host, "stamp", "{}").await;
    assert_eq!((status, &asked["level"]), (Status::ConfirmationRequired, &Value::from("approval_required")), "{asked}");
    assert!(!data.path().join("log").exists());
    let confirm = format!("{{\"confirm_token\":{}}}", asked["confirm_token"]);
    assert_eq!(call(&host, "stamp", &confirm).await.0, Status::Ok);
    // What only reads runs at once, as ever.
    assert_eq!(call(&host, "look", "{}").await.0, Status::Ok);

    let locked = load("stamp", with_data(data.path())).await.unwrap();
    assert!(locked.is_locked());
    let host = Host::builder(gate()).plugin(locked).build().await.unwrap();
    assert!(host.tools().iter().all(|tool| tool.locked && tool.level == tool.declared));
    assert_eq!(call(&host, "stamp", "{}").await.0, Status::Ok);
    assert_eq!(call(&host, "wipe", "{}").await.0, Status::ConfirmationRequired);
}

#[tokio::test]
async fn an_attempt_to_lower_is_a_mistake_also_of_a_plug_in_that_is_not_locked() {
    let data = tempfile::tempdir().unwrap();
    for lock in [None, Some(Plugin::digest_of(&std::fs::read(fixture("stamp")).unwrap()))] {
        let mut options = with_data(data.path());
        options.lock = lock;
        let plugin = Plugin::load(&SANDBOX, &fixture("stamp"), options).await.unwrap();
        let lowered = Host::builder(gate()).plugin(plugin).level("wipe", Level::Caution).build().await;
        assert_eq!(lowered.err().unwrap().kind(), ErrorKind::Policy);
    }
}

#[tokio::test]
async fn another_component_than_the_locked_one_is_refused_before_it_is_compiled() {
    let stamp = Plugin::digest_of(&std::fs::read(fixture("stamp")).unwrap());
    for lock in [stamp.as_str(), "", "x", &stamp.to_uppercase()] {
        let mut options = options("stamp");
        options.lock = Some(lock.to_owned());
        let refused = Plugin::load(&SANDBOX, &fixture("stamp_next"), options).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Plugin);
        assert!(refused.to_string().contains("not the one that was locked"), "{refused}");
    }
    let mut options = options("text");
    options.lock = Some(stamp);
    let text = Plugin::from_bytes(&SANDBOX, *b"\0asm\x0d\0\x01\0damaged", options, "text").await.unwrap_err();
    assert!(text.to_string().contains("not the one that was locked"), "{text}");
}
