//! What a plug-in asks for and what it is granted: it has what is both, and neither alone gives anything.

use super::bench::{SANDBOX, call, confirmed, gate, load, options};
use counterfoil::gate::{Gate, GateOptions, Settings, SystemClock};
use counterfoil::plugin::{
    Access, Declared, DirGrant, Grant, GrantKind, HttpGrant, Plugin, PluginOptions, SECTION, Secret,
};
use counterfoil::store::MemoryStore;
use counterfoil::{Error, ErrorKind, Host, Status};
use counterfoil_tests::fixture;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use tempfile::TempDir;
use wasm_encoder::{CustomSection, Encode as _, Section as _};

/// Grants of everything that the fixtures look for.
fn granted(name: &str, access: Access) -> (TempDir, PluginOptions) {
    let place = tempfile::tempdir().unwrap();
    let mut options = options(name);
    for dir in ["data", "other"] {
        let host = place.path().join(dir);
        std::fs::create_dir(&host).unwrap();
        std::fs::write(host.join("file"), "there").unwrap();
        options.dirs.push(DirGrant { host, guest: format!("/{dir}"), access });
    }
    options.env = [("WANTED", "one"), ("OTHER", "two")].map(|(name, value)| (name.into(), Secret::new(value))).into();
    options.http.push(HttpGrant { methods: vec!["GET".into(), "POST".into()], ..HttpGrant::new("*.example.com") });
    (place, options)
}

async fn host(fixture: &str, options: PluginOptions) -> Host {
    Host::builder(gate()).plugin(load(fixture, options).await.unwrap()).build().await.unwrap()
}

/// What a call of the fixture tells that it has.
async fn reached(host: &Host, tool: &str) -> Value {
    let (status, payload) = match tool.ends_with("_confirmed") {
        true => confirmed(host, tool, "{}").await,
        false => call(host, tool, "{}").await,
    };
    assert_eq!(status, Status::Ok, "{payload}");
    json!({"read": payload["read"], "wrote": payload["wrote"], "env": payload["env"]})
}

/// One line for each power: what, what it may, why not more.
fn told(plugin: &Plugin) -> Vec<String> {
    let line = |Grant { kind, what, may, why }: &Grant| {
        format!("{} {what}: {} ({})", kind.name(), may.as_deref().unwrap_or("-"), why.as_deref().unwrap_or(""))
    };
    plugin.grants().iter().map(line).collect()
}

fn declared(text: &str) -> Option<Declared> {
    Some(Declared::from_json(text).unwrap())
}

#[tokio::test]
async fn a_plug_in_that_says_nothing_has_nothing() {
    let (_place, options) = granted("silent", Access::ReadWrite);
    let silent = host("silent", options).await;
    for tool in ["silent", "silent_safe", "silent_confirmed"] {
        assert_eq!(reached(&silent, tool).await, json!({"read": [], "wrote": [], "env": []}), "{tool}");
    }
    let plugin = &silent.plugins()[0];
    assert_eq!(plugin.declaration(), None);
    assert_eq!(plugin.grants().len(), 5);
    for grant in plugin.grants() {
        assert_eq!(grant.may, None, "{grant:?}");
        assert!(
            grant.why.as_ref().unwrap().contains("says nothing") && grant.why.as_ref().unwrap().contains("`declares`")
        );
    }
}

#[tokio::test]
async fn what_the_operator_declares_for_it_is_what_it_has() {
    let (_place, mut options) = granted("silent", Access::ReadWrite);
    options.declares = declared(
        r#"{"manifest":1,"dirs":[{"path":"/data","access":"read-write"},{"path":"*"}],"env":["OTHER"],
            "http":[{"host":"a.example.com","methods":["*"]}]}"#,
    );
    let silent = host("silent", options).await;
    let has = json!({"read": ["/data", "/other"], "wrote": ["/data"], "env": ["OTHER=two"]});
    assert_eq!(reached(&silent, "silent").await, has);
    assert_eq!(reached(&silent, "silent_confirmed").await, has);
    let reads = json!({"read": ["/data", "/other"], "wrote": [], "env": ["OTHER=two"]});
    assert_eq!(reached(&silent, "silent_safe").await, reads);
    let all = told(&silent.plugins()[0]);
    assert!(all.contains(&"http https://a.example.com:443: GET,POST (the plug-in asks for no more; GET,POST https://*.example.com:443 is granted)".to_owned()), "{all:#?}");
    // The word of the operator is not that of the component.
    assert_eq!(silent.plugins()[0].declaration(), None);
}

#[tokio::test]
async fn of_a_right_that_is_asked_for_and_one_that_is_granted_the_weaker_counts() {
    let (_place, options) = granted("modest", Access::ReadWrite);
    let modest = host("modest", options).await;
    for tool in ["modest", "modest_safe", "modest_confirmed"] {
        let has = json!({"read": ["/data"], "wrote": [], "env": ["WANTED=one"]});
        assert_eq!(reached(&modest, tool).await, has, "{tool}");
    }
    let all = told(&modest.plugins()[0]);
    let not = "the plug-in does not ask for it: take it out of";
    let expected = [
        "directory /data: read-only (the plug-in asks for no more)".to_owned(),
        format!("directory /other: - ({not} `dirs`, or ask its author)"),
        format!("variable OTHER: - ({not} `env`, or ask its author)"),
        "variable WANTED: read it ()".to_owned(),
        "http https://api.example.com:443: GET (the plug-in asks for no more; GET,POST https://*.example.com:443 is granted)".to_owned(),
    ];
    assert_eq!(all, expected, "{all:#?}");

    let (_place, options) = granted("reaches", Access::ReadOnly);
    let reaches = host("reaches", options).await;
    let has = json!({"read": ["/data", "/other"], "wrote": [], "env": ["OTHER=two", "WANTED=one"]});
    assert_eq!(reached(&reaches, "reaches_confirmed").await, has);
    let (_place, options) = granted("reaches", Access::ReadWrite);
    let reaches = host("reaches", options).await;
    let has = json!({"read": ["/data", "/other"], "wrote": ["/data", "/other"], "env": ["OTHER=two", "WANTED=one"]});
    assert_eq!(reached(&reaches, "reaches_confirmed").await, has);
}

#[tokio::test]
async fn what_is_asked_for_and_not_granted_is_not_given_and_told() {
    let modest = load("modest", options("modest")).await.unwrap();
    assert!(modest.grants().iter().all(|grant| grant.may.is_none()), "{:?}", modest.grants());
    let all = told(&modest);
    let not = "the plug-in asks for it";
    let expected = [
        format!("directory /data: - ({not} (read-only); it is not granted)"),
        format!("variable WANTED: - ({not} (to read it); it is not granted)"),
        format!("http https://api.example.com:443: - ({not} (GET,HEAD); it is not granted)"),
    ];
    assert_eq!(all, expected);
    assert_eq!(modest.grants()[0].kind, GrantKind::Directory);
}

#[tokio::test]
async fn a_list_of_tools_is_made_without_grants() {
    let (_place, options) = granted("reaches", Access::ReadWrite);
    let reaches = host("reaches", options).await;
    assert_eq!(reaches.tools()[0].description, r#"{"read":[],"wrote":[],"env":[]}"#);
}

/// A fixture with this section at its end.
fn with_section(name: &str, manifest: &[u8]) -> Vec<u8> {
    let mut component = std::fs::read(fixture(name)).unwrap();
    let section = CustomSection { name: Cow::Borrowed(SECTION), data: Cow::Borrowed(manifest) };
    component.push(section.id());
    section.encode(&mut component);
    component
}

async fn bytes(component: Vec<u8>, options: PluginOptions) -> Result<Plugin, Error> {
    Plugin::from_bytes(&SANDBOX, component, options, "x.wasm").await
}

#[tokio::test]
async fn a_section_at_the_end_of_a_finished_component_counts_like_one_inside() {
    let (_place, options) = granted("silent", Access::ReadWrite);
    let component = with_section("silent", br#"{"manifest":1,"dirs":[{"path":"/other"}]}"#);
    let silent = bytes(component, options).await.unwrap();
    assert_eq!(silent.declaration().unwrap().dirs[0].path, "/other");
    assert_eq!(silent.grants().iter().filter(|grant| grant.may.is_some()).count(), 1);
}

#[tokio::test]
async fn a_manifest_that_cannot_be_read_stops_the_start_and_says_why() {
    for (component, with) in [
        (with_section("modest", br#"{"manifest":1}"#), "more than one manifest"),
        (with_section("silent", b""), "its manifest is not acceptable"),
        (with_section("silent", b"\xff"), "not UTF-8"),
        (with_section("silent", br#"{"manifest":2}"#), "version 2"),
        (with_section("silent", br#"{"manifest":1,"sockets":[]}"#), "unknown key `sockets`"),
        (with_section("silent", br#"{"manifest":1,"http":[{"host":"*.com"}]}"#), "two parts"),
        (with_section("silent", &[b' '; 20_000]), "16384 are allowed"),
    ] {
        let error = bytes(component, options("x")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Plugin, "{error}");
        assert!(error.to_string().contains(with), "{error}");
    }
}

#[tokio::test]
async fn nobody_declares_for_a_plug_in_that_does_so_itself() {
    let (_place, mut options) = granted("modest", Access::ReadWrite);
    options.declares = declared(r#"{"manifest":1,"dirs":[{"path":"*","access":"read-write"}]}"#);
    let error = load("modest", options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    assert!(error.to_string().contains("says itself what it needs"), "{error}");
}

#[tokio::test]
async fn what_it_has_is_part_of_what_is_confirmed() {
    // Servers that are started one after the other, over one store.
    let store = Arc::new(MemoryStore::default());
    let over = |store: &Arc<MemoryStore>| {
        let (clock, settings) = (Arc::new(SystemClock), Settings::default());
        let cache = Some(counterfoil_tests::code());
        Gate::new(GateOptions { store: store.clone(), clock, settings, cache }).unwrap()
    };
    let with = async |value: &str| {
        let (_place, mut options) = granted("silent", Access::ReadWrite);
        options.dirs.clear();
        options.declares = declared(r#"{"manifest":1,"env":["*"]}"#);
        options.env.insert("OTHER".into(), Secret::new(value));
        Host::builder(over(&store)).plugin(load("silent", options).await.unwrap()).build().await.unwrap()
    };
    let (_, challenge) = call(&with("two").await, "silent_confirmed", "{}").await;
    let confirm = json!({"confirm_token": challenge["confirm_token"]}).to_string();
    let (_, changed) = call(&with("three").await, "silent_confirmed", &confirm).await;
    assert_eq!(changed["reason"], "tool_changed", "{changed}");
    let (status, _) = call(&with("two").await, "silent_confirmed", &confirm).await;
    assert_eq!(status, Status::Ok);
}
