//! Confirms a call and dies on the way, without a chance to tidy up: `dies ready|consumed|ran STORE EFFECTS TOKEN`.
//! `ready`: when the token is about to be spent; `consumed`: once the token is spent and before the tool runs; `ran`: once it has run and before that is recorded.

use async_trait::async_trait;
use counterfoil::Status;
use counterfoil::gate::SystemClock;
use counterfoil::store::{
    Account, Binding, Charge, Charging, Cursor, Entry, Found, Insertion, Key, MemoryStore, Replacement, Room, Spent,
    SqliteStore, State, Store, Stored, Unavailable,
};
use counterfoil_tests::refunds;
use std::path::Path;
use std::sync::Arc;

/// A store at which the process dies.
struct Deadly {
    store: SqliteStore,
    mode: String,
}

#[async_trait]
impl Store for Deadly {
    async fn replace(&self, key: Key, version: u64, entry: Entry) -> Result<Replacement, Unavailable> {
        if self.mode == "ran" && entry.index.state == State::Completed {
            std::process::abort();
        }
        let state = entry.index.state;
        if self.mode == "ready" && state == State::InFlight {
            std::process::abort();
        }
        let made = self.store.replace(key, version, entry).await;
        if self.mode == "consumed" && state == State::InFlight {
            std::process::abort();
        }
        made
    }
    async fn insert(&self, key: Key, entry: Entry, room: Room) -> Result<Insertion, Unavailable> {
        self.store.insert(key, entry, room).await
    }
    async fn load(&self, key: Key) -> Result<Option<Stored>, Unavailable> {
        self.store.load(key).await
    }
    async fn load_by_approval_id(&self, approval_id: &str) -> Result<Option<Stored>, Unavailable> {
        self.store.load_by_approval_id(approval_id).await
    }
    async fn find(&self, binding: Binding, limit: u32) -> Result<Vec<Found>, Unavailable> {
        self.store.find(binding, limit).await
    }
    async fn list_by_state(&self, state: State, after: Option<Cursor>, limit: u32) -> Result<Vec<Stored>, Unavailable> {
        self.store.list_by_state(state, after, limit).await
    }
    async fn due(&self, now: u64, limit: u32) -> Result<Vec<Found>, Unavailable> {
        self.store.due(now, limit).await
    }
    async fn remove(&self, key: Key, version: u64) -> Result<bool, Unavailable> {
        self.store.remove(key, version).await
    }
    async fn charge(&self, charges: &[Charge]) -> Result<Charging, Unavailable> {
        let charged = self.store.charge(charges).await;
        if self.mode == "charged" {
            std::process::abort();
        }
        charged
    }
    async fn refund(&self, charges: &[Charge]) -> Result<(), Unavailable> {
        self.store.refund(charges).await
    }
    async fn spent(&self, account: Account, since: u64) -> Result<Vec<Spent>, Unavailable> {
        self.store.spent(account, since).await
    }
    async fn sweep_accounts(&self, now: u64, limit: u32) -> Result<u32, Unavailable> {
        self.store.sweep_accounts(now, limit).await
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [full, effects, audit] = arguments.as_slice()
        && full == "full"
    {
        return until_full(Path::new(effects), Path::new(audit)).await;
    }
    let [mode, path, effects, token, more @ ..] = arguments.as_slice() else {
        anyhow::bail!("usage: dies ready|charged|consumed|ran STORE EFFECTS TOKEN [CALLS-A-DAY | AUDIT]");
    };
    let store = Deadly { store: SqliteStore::open(Path::new(path))?, mode: mode.clone() };
    let mut builder = refunds::builder(Arc::new(store), Arc::new(SystemClock), Path::new(effects));
    match more {
        [audit] if audit.starts_with('/') => builder = builder.audit(refunds::audit(Path::new(audit))),
        [calls] => builder = builder.budget(refunds::a_day(calls.parse()?)),
        _ => {}
    }
    let host = builder.build().await?;
    let reply = refunds::call(&host, Some(token)).await;
    anyhow::bail!("still alive: {}", reply.payload)
}

/// Does not die: previews and confirms until the audit takes no more, which its parent sees to, and prints the last answer,
/// the one to a confirmation that was kept, and how many wait unspent.
async fn until_full(effects: &Path, audit: &Path) -> anyhow::Result<()> {
    let store = Arc::new(MemoryStore::new());
    let host = refunds::audited(store, Arc::new(SystemClock), effects, refunds::audit(audit)).await;
    let kept = refunds::told(&refunds::call(&host, None).await, "confirm_token");
    let last = loop {
        let reply = refunds::call(&host, None).await;
        let token = refunds::told(&reply, "confirm_token");
        if token.is_empty() {
            break reply;
        }
        let ran = refunds::call(&host, Some(&token)).await;
        if ran.status != Status::Ok {
            break ran;
        }
    };
    let confirmed = refunds::call(&host, Some(&kept)).await;
    let waiting = host.gate().pending(None, 100).await?.len();
    println!("{}\n{}\n{waiting}", last.payload, confirmed.payload);
    Ok(())
}
