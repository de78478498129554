//! Issue and consume while a thousand and while a million confirmations are pending, in memory and in a file; what one of
//! them takes up, and how fast they are swept.

use crate::TURNS;
use crate::cycle::{START, call, plan, raw, settings};
use crate::figures::Figures;
use counterfoil::gate::{Gate, GateOptions, TestClock};
use counterfoil::store::{MemoryStore, SqliteStore, Store};
use criterion::Criterion;
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const FEW: u64 = 1_000;
const MANY: u64 = 1_000_000;
/// Of one owner, which is the default limit.
const OF_OWNER: u32 = 32;
/// Confirmations that are timed in a turn, and then removed.
const TIMED: u64 = 2_000;
/// Rows of a sweep.
const SWEEP: u32 = 1_000;

/// A gate on a store, with so many confirmations pending.
struct Crowd {
    store: Arc<dyn Store>,
    gate: Gate,
    clock: Arc<TestClock>,
    next: u64,
}

impl Crowd {
    fn new(store: Arc<dyn Store>) -> Self {
        let clock = Arc::new(TestClock::new(START));
        // An hour for each token: none is due while they are made.
        let settings = counterfoil::gate::Settings { ttl: 3_600_000, ..settings() };
        let gate =
            Gate::new(GateOptions { store: store.clone(), clock: clock.clone(), settings, cache: None }).unwrap();
        Self { store, gate, clock, next: 0 }
    }

    /// Issues so many, and gives their calls and tokens.
    async fn issue(&mut self, many: u64) -> Vec<(counterfoil::gate::Call, String)> {
        let mut issued = Vec::new();
        for _ in 0..many {
            let owner = format!("name:owner{}", self.next / u64::from(OF_OWNER));
            let request = self.gate.read(&raw(self.next), "confirm_token").await.unwrap();
            self.next += 1;
            self.clock.advance(1);
            let call = call(&owner, request.arguments);
            let token = self.gate.issue(&call, &plan()).await.unwrap().token.to_string();
            issued.push((call, token));
        }
        issued
    }

    async fn consume(&self, issued: &[(counterfoil::gate::Call, String)]) {
        for (call, token) in issued {
            let decision = self.gate.consume(token, call, Duration::from_secs(30)).await.unwrap();
            assert!(matches!(decision, counterfoil::gate::Decision::Execute(_)));
        }
    }

    /// One turn of what is timed; leaves as many pending as there were.
    async fn turn(&mut self, figures: &mut Figures, name: &str) {
        let start = Instant::now();
        let issued = self.issue(TIMED).await;
        figures.add(&format!("issue, {name}"), start.elapsed(), TIMED);
        let start = Instant::now();
        self.consume(&issued).await;
        figures.add(&format!("consume, {name}"), start.elapsed(), TIMED);
        for (_, token) in issued {
            let key = Sha256::digest(token).into();
            let row = self.store.load(key).await.unwrap().unwrap();
            assert!(self.store.remove(key, row.version).await.unwrap());
        }
    }
}

pub fn bench(_: &mut Criterion, figures: &mut Figures) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    memory(&runtime, figures);
    file(&runtime, figures);
}

fn memory(runtime: &Runtime, figures: &mut Figures) {
    let mut few = Crowd::new(Arc::new(MemoryStore::new()));
    let mut many = Crowd::new(Arc::new(MemoryStore::new()));
    runtime.block_on(few.issue(FEW));
    let before = resident();
    runtime.block_on(async {
        for _ in 0..MANY / FEW {
            many.issue(FEW).await;
        }
    });
    let bytes = resident().saturating_sub(before) / MANY;
    compare(runtime, figures, "in memory", few, many);
    figures.note(format!("a pending confirmation in memory takes {bytes} bytes"));
}

fn file(runtime: &Runtime, figures: &mut Figures) {
    // In memory where the system has a place: a disk's own time is not what is measured.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let open = |name: &str| Arc::new(SqliteStore::open(&folder.path().join(name)).unwrap());
    let mut few = Crowd::new(open("few.db"));
    let mut many = Crowd::new(open("many.db"));
    runtime.block_on(few.issue(FEW));
    // What a turn sweeps is real; the rest, which nobody asks for, is copied from one of them with handles of its own.
    let real = 20 * u64::from(SWEEP);
    runtime.block_on(many.issue(real));
    let file = folder.path().join("many.db");
    multiply(&file, MANY - real);
    many.next = MANY;
    let bytes = std::fs::metadata(&file).unwrap().len() / MANY;
    compare(runtime, figures, "in a file", few, many);
    figures
        .note(format!("a pending confirmation in a file takes {bytes} bytes (files in {})", folder.path().display()));
}

fn compare(runtime: &Runtime, figures: &mut Figures, place: &str, mut few: Crowd, mut many: Crowd) {
    let (one, other) = (format!("a million pending {place}"), format!("a thousand pending {place}"));
    for turn in 0..=2 * TURNS {
        // The first turn of each side warms it up.
        let mut warm = Figures::default();
        let figures = if turn == 0 { &mut warm } else { &mut *figures };
        runtime.block_on(few.turn(figures, &other));
        runtime.block_on(many.turn(figures, &one));
    }
    for step in ["issue", "consume"] {
        figures.ratio(&format!("{step}, {one}"), &format!("{step}, {other}"), Some(1.5));
    }
    let name = |crowd: &str| format!("sweep of an expired row, {crowd}");
    for (crowd, name) in [(&many, name(&one)), (&few, name(&other))] {
        crowd.clock.advance(3_600_000);
        for _ in 0..15 {
            let start = Instant::now();
            let swept = runtime.block_on(crowd.gate.sweep(SWEEP)).unwrap();
            if swept > 0 {
                figures.add(&name, start.elapsed(), swept.into());
            }
        }
    }
    figures.ratio(&name(&one), &name(&other), None);
}

/// Adds copies of a pending row, each with handles, a binding and, by `OF_OWNER`, an owner of its own.
fn multiply(file: &Path, many: u64) {
    let connection = Connection::open(file).unwrap();
    connection.pragma_update(None, "cache_size", -1_000_000).unwrap();
    let sql = "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?1)
        INSERT INTO confirmation (key, version, state, owner, approval_id, binding, issued, changed, until, purge_after, body)
        SELECT randomblob(32), version, state, 'name:copy' || (n.n / ?2), 'apr_' || lower(hex(randomblob(12))),
            randomblob(32), issued, changed, until + n.n, purge_after + n.n, body
        FROM n, (SELECT * FROM confirmation WHERE state = 0 LIMIT 1)";
    let added = connection.execute(sql, params![i64::try_from(many).unwrap(), OF_OWNER]).unwrap();
    assert_eq!(added as u64, many);
    connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
}

/// Bytes of this process in memory, where the system tells; else nothing.
fn resident() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or_default()
}
