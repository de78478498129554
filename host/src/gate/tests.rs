//! The gate through its component.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::store::MemoryStore;

fn gate_over(store: Arc<dyn Store>, clock: Arc<TestClock>) -> Gate {
    Gate::new(GateOptions { store, clock, settings: Settings::default(), cache: None }).unwrap()
}

fn call() -> Call {
    Call { owner: "name:ci".into(), tool: "delete".into(), revision: "r1".into(), arguments: r#"{"path":"a"}"#.into() }
}

fn plan() -> Plan {
    Plan {
        summary: "deletes a".into(),
        preview: r#"{"path":"a"}"#.into(),
        warnings: Vec::new(),
        precondition: Some("seen".into()),
        needs: Assurance::TokenOnly,
        approvers: 0,
    }
}

const RUN: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_confirmed_call_runs_once_and_is_replayed() {
    let gate = gate_over(Arc::new(MemoryStore::new()), Arc::default());
    let challenge = gate.issue(&call(), &plan()).await.unwrap();
    let token = challenge.token.as_str();
    assert_eq!(gate.check(token, &call()).await.unwrap(), Readiness::Ready);
    let Decision::Execute(permit) = gate.consume(token, &call(), RUN).await.unwrap() else { panic!("not run") };
    assert_eq!(permit.precondition.as_deref(), Some("seen"));
    let payload = gate.ok("delete", "done", "{}", Some(permit.assurance)).await.unwrap();
    let outcome = Outcome { status: OutcomeStatus::Ok, payload };
    assert!(gate.record(token, &permit.operation_id, &outcome).await.unwrap().whole);
    let Decision::Replay(replayed) = gate.consume(token, &call(), RUN).await.unwrap() else { panic!("not replayed") };
    assert_eq!(replayed.outcome, outcome);
}
