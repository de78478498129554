//! A whole call in this process: a fresh instance with every limit on for each preview and each run, beside a native
//! closure under the same contract, which has no sandbox.

use crate::cycle::gate;
use crate::figures::Figures;
use crate::program::fixture;
use crate::{TURNS, program};
use counterfoil::plugin::{Access, DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
use counterfoil::store::MemoryStore;
use counterfoil::tool::{Outcome, Plan};
use counterfoil::{Host, Incoming, Level, NativeTool, Owner, Status};
use criterion::Criterion;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;

pub fn bench(criterion: &mut Criterion, figures: &mut Figures) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let workspace = program::workspace();
    std::fs::write(workspace.path().join("old.txt"), "old\n").unwrap();
    let (host, files) = runtime.block_on(host(workspace.path()));
    let path = r#"{"path":"old.txt"}"#;

    let mut group = criterion.benchmark_group("plugin");
    for turn in 1..=TURNS {
        let mut side = |name: &str, call: &mut dyn FnMut(&Runtime)| {
            group.bench_function(format!("{name} {turn}"), |bencher| {
                bencher.iter_custom(|times| {
                    let start = Instant::now();
                    (0..times).for_each(|_| call(&runtime));
                    let spent = start.elapsed();
                    figures.add(name, spent, times);
                    spent
                });
            });
        };
        side("preview, fresh instance", &mut |runtime| {
            runtime.block_on(files.preview("delete_file", path, None)).unwrap();
        });
        side("run of nothing, fresh instance", &mut |runtime| called(runtime, &host, "echo", "{}"));
        side("run of read_file, fresh instance", &mut |runtime| called(runtime, &host, "read_file", path));
        side("run of a native closure", &mut |runtime| called(runtime, &host, "native", "{}"));
    }
    group.finish();
    for name in ["preview, fresh instance", "run of nothing, fresh instance", "run of read_file, fresh instance"] {
        figures.ratio(name, "run of a native closure", None);
    }
}

fn called(runtime: &Runtime, host: &Host, tool: &str, arguments: &str) {
    let owner = Owner::new("name", "bench").unwrap();
    let incoming = Incoming { owner, tool: tool.to_owned(), arguments: arguments.to_owned(), progress: None };
    let reply = runtime.block_on(host.call(incoming));
    assert!(reply.status == Status::Ok, "{}", reply.payload);
}

async fn host(workspace: &std::path::Path) -> (Host, Plugin) {
    let sandbox = Sandbox::new(SandboxOptions { cache: None }).unwrap();
    let mut options = PluginOptions::new("files");
    options.dirs = vec![DirGrant { host: workspace.to_owned(), guest: "/files".to_owned(), access: Access::ReadWrite }];
    let load = async |path: std::path::PathBuf, mut options: PluginOptions| {
        options.lock = Some(Plugin::digest_of(&std::fs::read(&path).unwrap()));
        Plugin::load(&sandbox, &path, options).await.unwrap()
    };
    let files = load(program::component("files"), options.clone()).await;
    let echo = load(fixture("echo"), PluginOptions::new("echo")).await;
    let native = NativeTool::new("native", Level::Safe, r#"{"type":"object"}"#, "1")
        .preview(|_| async { Ok(Plan::new("would do nothing", "{}")) })
        .execute(|_, _| async { Ok(Outcome::new("did nothing", "{}")) });
    let (gate, _) = gate(Arc::new(MemoryStore::new()));
    let again = load(program::component("files"), options).await;
    let host = Host::builder(gate).plugin(files).plugin(echo).native(native).build().await.unwrap();
    (host, again)
}
