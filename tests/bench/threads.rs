//! Two threads, each on a core of its own, on one gate and one store: how much more they do than one.

use crate::cycle::{Component, lives};
use crate::figures::Figures;
use core_affinity::CoreId;
use counterfoil::store::MemoryStore;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

const LIVES: u64 = 20_000;
const TURNS: usize = 7;

pub fn bench(cores: &[CoreId], figures: &mut Figures) {
    let [first, second, ..] = cores else {
        figures.note("two threads: this machine has one core".into());
        return;
    };
    let mut ratios = Vec::new();
    for _ in 0..TURNS {
        let alone = run(&[*first]).min(run(&[*second]));
        let both = run(&[*first, *second]);
        ratios.push(2.0 * alone.as_secs_f64() / both.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    figures.least("two threads", "of what one does, one gate, one store", ratios[TURNS / 2], 1.6);
}

fn run(cores: &[CoreId]) -> Duration {
    let component = Component::new(Arc::new(MemoryStore::new()), false);
    let ready = Barrier::new(cores.len() + 1);
    std::thread::scope(|scope| {
        for (n, core) in cores.iter().enumerate() {
            let (gate, clock, ready) = (component.gate.clone(), component.clock.clone(), &ready);
            scope.spawn(move || {
                assert!(core_affinity::set_for_current(*core), "this thread cannot be pinned to a core");
                let owner = format!("name:bench{n}");
                let mut own = Component { gate, clock, owner, checked: false, alone: false };
                ready.wait();
                lives(&mut own, LIVES);
                ready.wait();
            });
        }
        ready.wait();
        let start = Instant::now();
        ready.wait();
        start.elapsed()
    })
}
