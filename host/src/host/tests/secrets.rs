//! Arguments that a schema marks as secret: the tool gets them, and nobody is shown or keeps them.

use super::kit::*;
use crate::host::{Host, Incoming, Reply};
use crate::store::{State, Store};
use crate::tool::{Effect, Outcome, Plan, Progress, ToolError};
use crate::{Level, NativeTool, Owner};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const SECRET: &str = "correct-horse";
const SCHEMA: &str = r##"{"type":"object","properties":{"user":{"type":"string"},"how":{"type":"string"},
    "login":{"$ref":"#/$defs/login"}},
    "$defs":{"login":{"properties":{"password":{"type":"string","format":"password"}}}}}"##;

/// A tool that repeats its password wherever it can. It keeps the arguments of its runs.
fn chatty(ran: &Arc<Mutex<Vec<String>>>, level: Level) -> NativeTool {
    let ran = Arc::clone(ran);
    NativeTool::new("set_password", level, SCHEMA, "1")
        .preview(|arguments| async move {
            let given: Value = serde_json::from_str(&arguments).unwrap();
            let password = given["login"]["password"].as_str().unwrap_or("none").to_owned();
            let plan = Plan::new(
                format!("Will set the password to {password}."),
                json!({"deep": [{"url": format!("smtp://u:{password}@h"), "whole": password}], password.clone(): 1})
                    .to_string(),
            );
            match given["how"].as_str() {
                Some("refuses") => Err(ToolError::Refused(format!("{password} is weak"))),
                Some("rests on it") => Ok(plan.precondition(format!("was not {password}"))),
                _ => Ok(plan.warning(format!("{password} was used before")).precondition("v1")),
            }
        })
        .execute(move |arguments, context| {
            let ran = Arc::clone(&ran);
            async move {
                let given: Value = serde_json::from_str(&arguments).unwrap();
                let password = given["login"]["password"].as_str().unwrap_or("none").to_owned();
                ran.lock().unwrap().push(arguments);
                context.report(Some(0.5), &format!("setting {password}"));
                match given["how"].as_str() {
                    Some("fails") => {
                        Err(ToolError::Failed { message: format!("{password} is refused"), effect: Effect::None })
                    }
                    _ => Ok(Outcome::new(format!("It is {password} now"), json!({"now": [password]}).to_string())),
                }
            }
        })
}

#[derive(Default)]
struct Heard(Mutex<String>);

impl Progress for Heard {
    fn report(&self, _: Option<f64>, message: &str) {
        self.0.lock().unwrap().push_str(message);
    }
}

struct Stage {
    kit: Kit,
    host: Host,
    ran: Arc<Mutex<Vec<String>>>,
    heard: Arc<Heard>,
}

impl Stage {
    async fn new(level: Level) -> Self {
        let kit = Kit::new().await;
        let ran = Arc::default();
        let host = kit.beside().native(chatty(&ran, level)).build().await.unwrap();
        Self { kit, host, ran, heard: Arc::default() }
    }

    /// Calls, and holds that neither the answer nor what is reported meanwhile has the secret in it.
    async fn call(&self, arguments: &Value) -> Reply {
        let heard = Arc::clone(&self.heard);
        let incoming = Incoming {
            owner: Owner::new("name", "alice").unwrap(),
            tool: "set_password".into(),
            arguments: arguments.to_string(),
            progress: Some(heard as Arc<dyn Progress>),
        };
        let reply = self.host.call(incoming).await;
        assert!(!reply.payload.contains(SECRET), "{}", reply.payload);
        assert!(!self.heard.0.lock().unwrap().contains(SECRET));
        reply
    }

    /// Everything that the store has.
    async fn stored(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for state in [State::Pending, State::InFlight, State::Completed, State::Declined, State::Settled] {
            for row in self.kit.store.list_by_state(state, None, 100).await.unwrap() {
                all.extend(row.entry.body);
            }
        }
        all
    }

    async fn keeps_no_secret(&self) {
        let stored = self.stored().await;
        assert!(!stored.is_empty() && !stored.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()));
    }
}

fn arguments(password: &str, how: &str) -> Value {
    json!({"user": "bob", "how": how, "login": {"password": password}})
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_bound_and_run_and_neither_shown_nor_kept() {
    let stage = Stage::new(Level::ApprovalRequired).await;
    for how in ["", "fails"] {
        let shown = value(&stage.call(&arguments(SECRET, how)).await);
        assert_eq!(shown["summary"], "Will set the password to (secret).");
        assert_eq!(shown["warnings"], json!(["(secret) was used before"]));
        let deep = json!({"deep": [{"url": "smtp://u:(secret)@h", "whole": "(secret)"}], "(secret)": 1});
        assert_eq!(shown["preview"], deep);
        stage.keeps_no_secret().await;
        let token = shown["confirm_token"].as_str().unwrap();

        is_rejected(&stage.call(&confirming(arguments("another-horse", how), token)).await, "params_changed", None);
        is_rejected(&stage.call(&confirming(arguments("(secret)", how), token)).await, "params_changed", None);
        let reply = stage.call(&confirming(arguments(SECRET, how), token)).await;
        assert!(reply.payload.contains("(secret)"), "{}", reply.payload);
        let ran = stage.ran.lock().unwrap().pop().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&ran).unwrap(), arguments(SECRET, how));
        stage.keeps_no_secret().await;

        let again = stage.call(&confirming(arguments(SECRET, how), token)).await;
        assert!(again.replayed && again.payload == reply.payload);
        is_rejected(&stage.call(&confirming(arguments("another-horse", how), token)).await, "params_changed", None);
        assert!(stage.ran.lock().unwrap().is_empty());
    }
    assert_eq!(*stage.heard.0.lock().unwrap(), "setting (secret)".repeat(2));
}

#[tokio::test(start_paused = true)]
async fn people_are_shown_masked_arguments() {
    let stage = Stage::new(Level::ApprovalRequired).await;
    stage.call(&arguments(SECRET, "")).await;
    let pending = stage.host.gate().pending(None, 10).await.unwrap();
    let masked = r#"{"how":"","login":{"password":"(secret)"},"user":"bob"}"#;
    assert_eq!(pending.iter().map(|item| item.arguments.as_str()).collect::<Vec<_>>(), [masked]);
    assert_eq!(stage.host.masked("set_password", &arguments(SECRET, "").to_string()).as_deref(), Some(masked));
    assert_eq!(stage.host.masked("set_password", r#"{"user":"bob"}"#), None);
    assert_eq!(stage.host.masked("nothing", "{}"), None);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_a_precondition_and_a_call_at_once_tell_none_either() {
    let stage = Stage::new(Level::ApprovalRequired).await;
    let refused = stage.call(&arguments(SECRET, "refuses")).await;
    is_rejected(&refused, "refused", None);
    assert!(refused.payload.contains("(secret) is weak"), "{}", refused.payload);
    let rests = stage.call(&arguments(SECRET, "rests on it")).await;
    is_rejected(&rests, "refused", None);
    assert!(rests.payload.contains("precondition"), "{}", rests.payload);
    // A short one, too: it would be stored as it is.
    let rests = stage.call(&arguments("pin7", "rests on it")).await;
    is_rejected(&rests, "refused", None);
    assert!(rests.payload.contains("precondition") && !rests.payload.contains("pin7"), "{}", rests.payload);
    assert!(stage.stored().await.is_empty());

    let stage = Stage::new(Level::Caution).await;
    assert_eq!(is_ok(&stage.call(&arguments(SECRET, "")).await)["now"], json!(["(secret)"]));
    is_failed(&stage.call(&arguments(SECRET, "fails")).await, "tool_error", "none");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_secret_is_told_and_kept_as_ever() {
    let stage = Stage::new(Level::ApprovalRequired).await;
    let shown = value(&stage.call(&json!({"user": "bob"})).await);
    assert_eq!(shown["summary"], "Will set the password to none.");
    let item = stage.host.gate().pending(None, 1).await.unwrap().remove(0);
    assert_eq!(item.arguments, r#"{"user":"bob"}"#);
}
