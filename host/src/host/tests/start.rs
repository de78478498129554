//! What stops a host from starting.

use super::backends::Fake;
use super::kit::*;
use crate::host::HostBuilder;
use crate::tool::{Outcome, Plan};
use crate::{ErrorKind, Level, NativeTool};
use std::sync::Arc;
use std::time::Duration;

async fn check(builder: HostBuilder, kind: ErrorKind, says: &[&str]) {
    let error = builder.build().await.err().expect("it started");
    assert_eq!(error.kind(), kind, "{error}");
    for part in says {
        assert!(error.to_string().contains(part), "{error}: does not say {part:?}");
    }
}

fn schema(text: &str) -> NativeTool {
    NativeTool::new("odd", Level::ApprovalRequired, text, "1")
        .preview(|_| async { Ok(Plan::new("Will do it.", "{}")) })
        .execute(|_, _| async { Ok(Outcome::new("done", "{}")) })
}

#[tokio::test]
async fn a_level_is_raised_or_the_start_is_stopped() {
    let kit = Kit::new().await;
    check(kit.revised("1").level("delete", Level::Safe), ErrorKind::Policy, &["delete"]).await;
    check(kit.revised("1").level("note", Level::Safe), ErrorKind::Policy, &["note"]).await;
    check(kit.revised("1").level("no_such_tool", Level::Review), ErrorKind::Policy, &["no_such_tool", "listed"]).await;
    let twice = kit.revised("1").level("note", Level::Review).level("note", Level::Caution);
    check(twice, ErrorKind::Policy, &["note", "twice"]).await;
    kit.revised("1").level("note", Level::Caution).build().await.unwrap();
}

#[tokio::test]
async fn names_are_names_and_taken_once() {
    let kit = Kit::new().await;
    let twice = kit.revised("1").native(tool(&kit.world, "delete", Level::Safe, "1"));
    check(twice, ErrorKind::Config, &["delete", "rename"]).await;
    for bad in ["", "a b", "é", "a.b", &"x".repeat(65)] {
        let named = kit.beside().native(tool(&kit.world, bad, Level::Safe, "1"));
        check(named, ErrorKind::Config, &["bad name"]).await;
        check(kit.revised("1").confirm_parameter(bad), ErrorKind::Config, &["confirm parameter"]).await;
    }
    kit.beside().native(tool(&kit.world, &"x".repeat(64), Level::Safe, "1")).build().await.unwrap();
}

#[tokio::test]
async fn names_are_not_easily_taken_for_others() {
    let kit = Kit::new().await;
    let with = |name: &str| kit.revised("1").native(tool(&kit.world, name, Level::Safe, "1"));
    for name in ["Delete", "DELETE", "de1ete", "deIete"] {
        let says = [name, "\"native\"", "easily taken for \"delete\"", "rename"];
        check(with(name), ErrorKind::Config, &says).await;
    }
    let across = kit.revised("1").backend(Arc::new(Fake::listing("shop", "Note")));
    check(across, ErrorKind::Config, &["\"note\" of \"native\"", "easily taken for \"Note\" of \"shop\""]).await;
    for name in ["deleted", "delete2", "un_delete"] {
        with(name).build().await.unwrap();
    }
    kit.revised("1").backend(Arc::new(Fake::listing("shop", "notes"))).build().await.unwrap();
}

#[tokio::test]
async fn a_schema_is_one_and_does_not_have_the_confirm_parameter() {
    let kit = Kit::new().await;
    let has = r#"{"type":"object","properties":{"confirm_token":{"type":"string"}}}"#;
    check(kit.beside().native(schema(has)), ErrorKind::Config, &["odd", "confirm_token", "choose another name"]).await;
    kit.beside().native(schema(has)).confirm_parameter("other").build().await.unwrap();
    for bad in ["", "[]", "true", r#"{"type":"array"}"#, "{}", r#"{"type":"object","properties":7}"#] {
        check(kit.beside().native(schema(bad)), ErrorKind::Config, &["odd", "schema"]).await;
    }
    let output = schema(r#"{"type":"object"}"#).output_schema("7");
    check(kit.beside().native(output), ErrorKind::Config, &["odd", "output schema"]).await;
    let output = schema(r#"{"type":"object"}"#).output_schema(r#"{"type":"object"}"#);
    let host = kit.beside().native(output).build().await.unwrap();
    assert!(host.tools()[0].output_schema.as_ref().is_some_and(|schema| schema.contains("anyOf")));
}

#[tokio::test]
async fn a_native_tool_is_complete() {
    let kit = Kit::new().await;
    let bare = || NativeTool::new("odd", Level::ApprovalRequired, r#"{"type":"object"}"#, "1");
    let whole = || schema(r#"{"type":"object"}"#);
    check(kit.beside().native(bare()), ErrorKind::Config, &["odd", "execute"]).await;
    let blind = bare().execute(|_, _| async { Ok(Outcome::new("done", "{}")) });
    check(kit.beside().native(blind), ErrorKind::Config, &["odd", "preview"]).await;
    check(kit.beside().native(whole().deadline(Duration::ZERO)), ErrorKind::Config, &["odd", "zero"]).await;
    check(kit.beside().native(whole().preview_deadline(Duration::ZERO)), ErrorKind::Config, &["odd", "zero"]).await;
    let unrevised = NativeTool::new("odd", Level::Safe, r#"{"type":"object"}"#, "");
    let unrevised = unrevised.execute(|_, _| async { Ok(Outcome::new("done", "{}")) });
    check(kit.beside().native(unrevised), ErrorKind::Config, &["odd", "revision"]).await;
    kit.beside().native(whole()).build().await.unwrap();
}

#[tokio::test]
async fn the_names_of_plug_ins_are_taken_once_and_native_is_taken() {
    let kit = Kit::new().await;
    let with = |names: &[&'static str]| {
        names.iter().fold(kit.revised("1"), |builder, name| builder.backend(Arc::new(Fake::named(name))))
    };
    check(with(&["a", "b", "a"]), ErrorKind::Config, &["plug-in \"a\"", "rename"]).await;
    check(with(&["native"]), ErrorKind::Config, &["plug-in \"native\"", "rename"]).await;
    check(with(&["Native"]), ErrorKind::Config, &["\"Native\"", "easily taken for \"native\"", "rename"]).await;
    check(with(&["shop", "b", "SH0P"]), ErrorKind::Config, &["\"SH0P\"", "easily taken for \"shop\""]).await;
    with(&["a", "b", "shops"]).build().await.unwrap();
}
