//! What the audit costs a call: the same tools that do nothing, over a store in a file, in a host with an audit and in one
//! without, in turns. A confirmed call waits once for the disk for its row; the store waits for it with or without.

use crate::TURNS;
use crate::cycle::settings;
use crate::figures::Figures;
use counterfoil::audit::{Audit, AuditOptions};
use counterfoil::gate::{Gate, GateOptions, SystemClock};
use counterfoil::store::SqliteStore;
use counterfoil::tool::{Outcome, Plan};
use counterfoil::{Host, Incoming, Level, NativeTool, Owner, Reply};
use criterion::Criterion;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Confirmations that are open at once: of one step all are timed, then of the next.
const BATCH: u64 = 32;
const STEPS: [&str; 3] = ["preview", "confirmed call", "replay"];

/// A host whose tools do nothing.
struct Side {
    runtime: Runtime,
    host: Host,
    /// No two calls are alike.
    next: u64,
}

impl Side {
    fn new(folder: &Path, audited: bool) -> Self {
        std::fs::create_dir(folder).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let store = Arc::new(SqliteStore::open(&folder.join("state.db")).unwrap());
        let options = GateOptions { store, clock: Arc::new(SystemClock), settings: settings(), cache: None };
        let tool = |name: &str, level: Level| {
            NativeTool::new(name, level, r#"{"type":"object"}"#, "1")
                .preview(|_| async { Ok(Plan::new("Will do nothing.", "{}")) })
                .execute(|_, _| async { Ok(Outcome::new("Done", "{}")) })
        };
        let mut builder = Host::builder(Gate::new(options).unwrap())
            .native(tool("note", Level::Caution))
            .native(tool("delete", Level::ApprovalRequired));
        if audited {
            let options = AuditOptions::new(folder.join("audit"), folder.join("checkpoints"));
            builder = builder.audit(Audit::open(options).unwrap());
        }
        let host = runtime.block_on(builder.build()).unwrap();
        Self { runtime, host, next: 0 }
    }

    fn call(&self, tool: &str, arguments: String) -> Reply {
        let owner = Owner::new("name", "bench").unwrap();
        self.runtime.block_on(self.host.call(Incoming { owner, tool: tool.into(), arguments, progress: None }))
    }

    /// Calls that need no confirmation.
    fn notes(&mut self, times: u64) -> Duration {
        let start = Instant::now();
        for _ in 0..times {
            self.next += 1;
            let reply = self.call("note", format!(r#"{{"n":{}}}"#, self.next));
            assert_eq!(reply.status.name(), "ok");
        }
        start.elapsed()
    }

    /// So many lives; the time of each step in all.
    fn lives(&mut self, times: u64) -> [Duration; 3] {
        let (mut spent, mut done) = ([Duration::ZERO; 3], 0);
        while done < times {
            let size = BATCH.min(times - done);
            let numbers = self.next..self.next + size;
            self.next += size;
            let start = Instant::now();
            let previews: Vec<Reply> =
                numbers.clone().map(|n| self.call("delete", format!(r#"{{"n":{n}}}"#))).collect();
            spent[0] += start.elapsed();
            let confirms: Vec<String> = numbers.zip(&previews).map(|(n, preview)| confirming(n, preview)).collect();
            for (step, replayed) in [(1, false), (2, true)] {
                let start = Instant::now();
                for arguments in &confirms {
                    let reply = self.call("delete", arguments.clone());
                    assert!(reply.status.name() == "ok" && reply.replayed == replayed, "{}", reply.payload);
                }
                spent[step] += start.elapsed();
            }
            done += size;
        }
        spent
    }
}

fn confirming(n: u64, preview: &Reply) -> String {
    let payload: serde_json::Value = serde_json::from_str(&preview.payload).unwrap();
    format!(r#"{{"n":{n},"confirm_token":{}}}"#, payload["confirm_token"])
}

pub fn bench(criterion: &mut Criterion, figures: &mut Figures) {
    let root = crate::program::workspace();
    let mut sides = [("with an audit", true), ("without one", false)]
        .map(|(name, audited)| (name, Side::new(&root.path().join(name), audited)));
    let mut group = criterion.benchmark_group("audit");
    for turn in 1..=TURNS {
        for (name, side) in &mut sides {
            group.bench_function(format!("call at once, {name} {turn}"), |bencher| {
                bencher.iter_custom(|times| {
                    let spent = side.notes(times);
                    figures.add(&format!("call at once, {name}"), spent, times);
                    spent
                });
            });
            group.bench_function(format!("confirmed, {name} {turn}"), |bencher| {
                bencher.iter_custom(|times| {
                    let spent = side.lives(times);
                    for (step, spent) in STEPS.iter().zip(spent) {
                        figures.add(&format!("{step}, {name}"), spent, times);
                    }
                    spent.iter().sum()
                });
            });
        }
    }
    group.finish();
    for step in ["call at once"].iter().chain(&STEPS) {
        figures.ratio(&format!("{step}, with an audit"), &format!("{step}, without one"), None);
    }
}
