//! A process that dies around the moment at which a call is counted: too much is counted then, and never too little.

use counterfoil::gate::SystemClock;
use counterfoil::store::SqliteStore;
use counterfoil::{Host, Reply};
use counterfoil_tests::refunds::{self, call, effects, told};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

struct Place {
    folder: TempDir,
    host: Host,
}

impl Place {
    async fn new(calls_a_day: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&folder.path().join("state.db")).unwrap());
        let builder = refunds::builder(store, Arc::new(SystemClock), &folder.path().join("effects"));
        let host = builder.budget(refunds::a_day(calls_a_day)).build().await.unwrap();
        Self { folder, host }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn dies(&self, mode: &str, token: &str, calls_a_day: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dies"));
        command.arg(mode).args([self.path("state.db"), self.path("effects")]).args([token, calls_a_day]);
        let ran = command.output().unwrap();
        assert!(ran.status.code().is_none(), "it should have died: {ran:?}");
    }

    fn effects(&self) -> usize {
        effects(Path::new(&self.path("effects")))
    }
}

#[track_caller]
fn denied(reply: &Reply) {
    assert_eq!(told(reply, "reason"), "denied", "{}", reply.payload);
}

#[tokio::test]
async fn a_call_that_was_counted_and_whose_process_died_before_it_ran_stays_counted() {
    let place = Place::new(2).await;
    let token = told(&call(&place.host, None).await, "confirm_token");
    place.dies("charged", &token, "2");
    assert_eq!(place.effects(), 0);
    // The token is good still, and one of the two is gone for nothing.
    assert_eq!(told(&call(&place.host, Some(&token)).await, "status"), "ok");
    denied(&call(&place.host, None).await);
    assert_eq!(place.effects(), 1);
}

#[tokio::test]
async fn a_call_whose_process_died_after_its_token_was_spent_stays_counted() {
    for (mode, ran) in [("consumed", 0), ("ran", 1)] {
        let place = Place::new(1).await;
        let token = told(&call(&place.host, None).await, "confirm_token");
        place.dies(mode, &token, "1");
        assert_eq!(place.effects(), ran);
        denied(&call(&place.host, None).await);
    }
}
