//! Two builds of this program beside each other: both measure the same groups in turns, and what each figure came to is
//! compared. It reads what `print` writes, so that a build of an earlier state needs to know nothing of it.

use crate::figures::time;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Turns of each side.
const TURNS: usize = 5;
/// How much more a figure may be than before.
const MOST: f64 = 1.10;

/// Runs the earlier build and this one in turns and compares the best of each: what others do on the machine only adds.
pub fn compare(earlier: &Path, filter: &str) -> ExitCode {
    let this = std::env::current_exe().expect("the path of this program");
    let (mut before, mut now) = (BTreeMap::new(), BTreeMap::new());
    for turn in 1..=TURNS {
        println!("==> turn {turn} of {TURNS}");
        // Who comes first changes: a machine grows warm.
        let order = if turn % 2 == 0 { [true, false] } else { [false, true] };
        for is_earlier in order {
            let (program, figures) = if is_earlier { (earlier, &mut before) } else { (&*this, &mut now) };
            take(&run(program, filter), figures);
        }
    }
    println!("\nbest of {TURNS} turns each; at most {MOST:.2} of before\n");
    let mut missed = 0;
    // A figure that is not there any more is held to nothing; a new one has nothing to be held to.
    for name in before.keys().filter(|name| !now.contains_key(*name)) {
        missed += 1;
        println!("{name:<58} is not measured any more   MISSED");
    }
    for (name, now) in &now {
        let Some(before) = before.get(name) else { continue };
        let ratio = now / before;
        missed += usize::from(ratio > MOST);
        let verdict = if ratio > MOST { "MISSED" } else { "held" };
        println!("{name:<58} {ratio:>6.2}x   {} to {}   {verdict}", time(*now), time(*before));
    }
    println!("\nlimits missed: {missed}");
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(program: &Path, filter: &str) -> String {
    let done = Command::new(program).arg(filter).output().unwrap_or_else(|error| {
        panic!("{} cannot be run: {error}; `just bench-against` builds it", program.display());
    });
    // A limit that is missed is no fault here: what is compared is the two builds.
    let text = String::from_utf8(done.stdout).expect("figures are text");
    assert!(text.contains("medians;"), "{} measured nothing:\n{text}", program.display());
    text
}

/// The figures of a printed table, in nanoseconds; the least of each name is kept.
fn take(text: &str, figures: &mut BTreeMap<String, f64>) {
    let (_, table) = text.split_once("medians;").expect("a table");
    for line in table.lines() {
        for (name, nanos) in line_of(line) {
            let least = figures.entry(name).or_insert(nanos);
            *least = least.min(nanos);
        }
    }
}

/// `name  1.20x   3.00 µs to 2.50 µs of other` or `name  3.00 µs`.
fn line_of(line: &str) -> Vec<(String, f64)> {
    let Some((name, rest)) = line.split_at_checked(58) else { return Vec::new() };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let name = name.trim().to_owned();
    match words.as_slice() {
        [ratio, one, unit, "to", _, _, "of", ..] if ratio.ends_with('x') => nanos(one, unit).map(|n| (name, n)),
        [one, unit, ..] => nanos(one, unit).map(|n| (name, n)),
        _ => None,
    }
    .into_iter()
    .collect()
}

fn nanos(number: &str, unit: &str) -> Option<f64> {
    let scale = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|number| number * scale)
}
