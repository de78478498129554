//! Native Rust functions under the two-step contract, with a clock that the program sets.
//!
//! ```text
//! cargo run -p counterfoil --example native
//! ```

use counterfoil::gate::{Clock, Gate, GateOptions, Settings, TestClock};
use counterfoil::store::MemoryStore;
use counterfoil::tool::{Effect, Outcome, Plan, ToolError};
use counterfoil::{Host, Incoming, Level, NativeTool, Owner, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};

/// The orders of a small shop, and what each cost in cents.
type Orders = Arc<Mutex<BTreeMap<i64, u32>>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let orders: Orders = Arc::new(Mutex::new(BTreeMap::from([(7, 1250), (8, 990)])));
    let clock = Arc::new(TestClock::new(1_779_114_800_000));
    let gate = Gate::new(GateOptions {
        store: Arc::new(MemoryStore::default()),
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        settings: Settings::default(),
        cache: None,
    })?;
    let host = Host::builder(gate).native(list(&orders)).native(cancel(&orders)).build().await?;
    let show = |title: &str, reply: &Reply| println!("{title}\n  {}\n", reply.payload);

    show("A call that only reads runs at once.", &call(&host, "list_orders", json!({})).await?);

    let preview = call(&host, "cancel_order", json!({"id": 7})).await?;
    show("A call that spends is previewed: nothing has changed.", &preview);
    let payload: Value = serde_json::from_str(&preview.payload)?;
    let token = payload.get("confirm_token").cloned().ok_or("no token")?;

    let changed = call(&host, "cancel_order", json!({"id": 8, "confirm_token": token})).await?;
    show("Another order with the same token: refused, and the token is still good.", &changed);
    let ran = call(&host, "cancel_order", json!({"id": 7, "confirm_token": token})).await?;
    show("The order that was shown: it runs.", &ran);
    let again = call(&host, "cancel_order", json!({"id": 7, "confirm_token": token})).await?;
    show("The reply was lost and the call is sent again: the same answer, nothing runs.", &again);
    assert!(again.replayed && again.payload == ran.payload);

    let preview = call(&host, "cancel_order", json!({"id": 8})).await?;
    let payload: Value = serde_json::from_str(&preview.payload)?;
    let token = payload.get("confirm_token").cloned().ok_or("no token")?;
    clock.advance(Settings::default().ttl);
    let late = call(&host, "cancel_order", json!({"id": 8, "confirm_token": token})).await?;
    show("Five minutes later the token is no good any more.", &late);

    show("What is left.", &call(&host, "list_orders", json!({})).await?);
    host.close().await;
    Ok(())
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Result<Reply, Box<dyn Error>> {
    let owner = Owner::new("name", "example")?;
    Ok(host.call(Incoming { owner, tool: tool.to_owned(), arguments: arguments.to_string(), progress: None }).await)
}

/// Reads only: safe.
fn list(orders: &Orders) -> NativeTool {
    let orders = Arc::clone(orders);
    NativeTool::new("list_orders", Level::Safe, r#"{"type":"object","additionalProperties":false}"#, "shop 1")
        .description("Lists the open orders.")
        .execute(move |_arguments, _context| {
            let orders = Arc::clone(&orders);
            async move {
                let orders = orders.lock().map_err(|_| broken())?;
                Ok(Outcome::new(format!("{} open orders", orders.len()), json!({"orders": *orders}).to_string()))
            }
        })
}

/// Refunds money: needs a confirmation. What was previewed comes back as the precondition.
fn cancel(orders: &Orders) -> NativeTool {
    let schema =
        r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}"#;
    let (previewed, cancelled) = (Arc::clone(orders), Arc::clone(orders));
    NativeTool::new("cancel_order", Level::ApprovalRequired, schema, "shop 1")
        .description("Cancels an open order and refunds it.")
        .preview(move |arguments| {
            let orders = Arc::clone(&previewed);
            async move {
                let id = id(&arguments)?;
                let orders = orders.lock().map_err(|_| broken())?;
                let cents =
                    orders.get(&id).ok_or_else(|| ToolError::Refused(format!("there is no open order {id}")))?;
                let summary = format!("Will cancel order {id} and refund {}.{:02}.", cents / 100, cents % 100);
                Ok(Plan::new(summary, json!({"id": id, "refund_cents": cents}).to_string())
                    .warning("a refund cannot be taken back")
                    .precondition(cents.to_string()))
            }
        })
        .execute(move |arguments, context| {
            let orders = Arc::clone(&cancelled);
            async move {
                let id = id(&arguments)?;
                let mut orders = orders.lock().map_err(|_| broken())?;
                let cents = orders.get(&id).copied();
                if cents.map(|cents| cents.to_string()) != context.precondition {
                    return Err(ToolError::Refused(format!("order {id} is not as it was previewed: preview it again")));
                }
                orders.remove(&id);
                Ok(Outcome::new(
                    format!("Order {id} cancelled"),
                    json!({"id": id, "refunded_cents": cents}).to_string(),
                ))
            }
        })
}

/// The arguments fit the schema already: this only reads them.
fn id(arguments: &str) -> Result<i64, ToolError> {
    let arguments: Value = serde_json::from_str(arguments).map_err(|e| ToolError::InvalidArguments(e.to_string()))?;
    let id = arguments.get("id").and_then(Value::as_i64);
    id.ok_or_else(|| ToolError::InvalidArguments("id is too large".to_owned()))
}

fn broken() -> ToolError {
    ToolError::Failed { message: "the shop is closed".to_owned(), effect: Effect::None }
}
