//! What the contract costs, each figure beside something to compare it to, measured in the same run: machines differ and
//! change their speed, so only ratios are claims.
//!
//! ```text
//! just bench            # all of it
//! just bench cycle      # groups whose name contains this
//! just bench-against v1 # beside an earlier state, in turns
//! ```
//!
//! Everything runs on one core, the first that this process may use, but for starts and the group of two threads. Sides that
//! are compared take turns. Ends with 1 where a limit is missed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod against;
mod audit;
mod canonical;
mod cycle;
mod figures;
mod million;
mod native;
mod node;
mod plugin;
mod program;
mod threads;

use criterion::Criterion;
use figures::Figures;
use std::process::ExitCode;
use std::time::Duration;

type Group = fn(&mut Criterion, &mut Figures);

/// Turns of each side in a comparison.
const TURNS: usize = 3;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let filter = match arguments.next() {
        Some(word) if word == "against" => {
            let earlier = arguments.next().expect("the path of the earlier build");
            return against::compare(earlier.as_ref(), &arguments.next().unwrap_or_default());
        }
        word => word.unwrap_or_default(),
    };
    let cores = core_affinity::get_core_ids().expect("the cores of this machine");
    let mut figures = Figures::default();
    let groups: [(&str, Group); 6] = [
        ("cycle", cycle::bench),
        ("canonical", canonical::bench),
        ("plugin", plugin::bench),
        ("audit", audit::bench),
        ("stdio", program::calls),
        ("million", million::bench),
    ];
    for (name, bench) in groups.into_iter().filter(|(name, _)| name.contains(&filter)) {
        println!("\n==> {name}");
        // In a thread of its own, since threads and processes stay on the core of the one that starts them.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(core_affinity::set_for_current(cores[0]), "this thread cannot be pinned to a core");
                bench(&mut criterion(), &mut figures);
            });
        });
    }
    if "start".contains(&filter) {
        println!("\n==> start");
        program::starts(&mut figures);
    }
    if "threads".contains(&filter) {
        println!("\n==> threads");
        threads::bench(&cores, &mut figures);
    }
    match figures.print() {
        0 => ExitCode::SUCCESS,
        missed => {
            println!("\nlimits missed: {missed}");
            ExitCode::FAILURE
        }
    }
}

fn criterion() -> Criterion {
    let (warm, measure) = (Duration::from_millis(500), Duration::from_secs(2));
    Criterion::default().without_plots().sample_size(20).warm_up_time(warm).measurement_time(measure)
}
