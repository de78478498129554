//! The canonical form by size, sorted and not: through the component, native, and what JSON.parse with sorted keys takes
//! in Rust's usual way, which is not strict.

use crate::cycle::{at_once, gate};
use crate::figures::Figures;
use counterfoil::store::MemoryStore;
use counterfoil_gate_core::{canonical, settings};
use criterion::{Criterion, Throughput};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// An object of about so many bytes.
fn arguments(size: usize, sorted: bool) -> String {
    let fields = size / 50;
    let key = |n: usize| if sorted { n + 10_000 } else { n * 17 % 10_007 + 10_000 };
    let fields: Vec<String> =
        (0..fields.max(1)).map(|n| format!(r#""key{}":["some text \n",{n},2.50,true]"#, key(n))).collect();
    format!("{{{}}}", fields.join(","))
}

pub fn bench(criterion: &mut Criterion, figures: &mut Figures) {
    let (gate, _) = gate(Arc::new(MemoryStore::new()));
    let limits = settings::Settings::default().arguments();
    let mut group = criterion.benchmark_group("canonical");
    for size in [127, 2_000, 32_000, 250_000] {
        for sorted in [true, false] {
            let raw = arguments(size, sorted);
            let order = if sorted { "sorted" } else { "unsorted" };
            group.throughput(Throughput::Bytes(raw.len() as u64));
            let mut side = |name: &str, read: &mut dyn FnMut()| {
                let name = format!("{size} bytes {order}, {name}");
                group.bench_function(&name, |bencher| {
                    bencher.iter_custom(|times| {
                        let start = Instant::now();
                        (0..times).for_each(|_| read());
                        let spent = start.elapsed();
                        figures.add(&name, spent, times);
                        spent
                    });
                });
            };
            side("component", &mut || drop(at_once(gate.read(black_box(&raw), "confirm_token")).unwrap()));
            side("native", &mut || drop(black_box(canonical::read(black_box(&raw), "confirm_token", &limits))));
            side("serde_json's Value", &mut || {
                let value: serde_json::Value = serde_json::from_str(black_box(&raw)).unwrap();
                black_box(value.to_string());
            });
            let name = |side: &str| format!("{size} bytes {order}, {side}");
            figures.ratio(&name("component"), &name("native"), None);
            figures.ratio(&name("component"), &name("serde_json's Value"), None);
        }
    }
    group.finish();
}
