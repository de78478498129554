//! What was measured, and the claims on it. A claim is a ratio of two medians of the same run.

use std::collections::BTreeMap;
use std::time::Duration;

/// Samples by name, in nanoseconds, and what is to be said of them.
#[derive(Default)]
pub struct Figures {
    samples: BTreeMap<String, Vec<f64>>,
    lines: Vec<String>,
    missed: usize,
}

impl Figures {
    /// One sample: so long for so many.
    pub fn add(&mut self, name: &str, spent: Duration, times: u64) {
        self.samples.entry(name.to_owned()).or_default().push(spent.as_nanos() as f64 / times as f64);
    }

    /// The median of what was added under a name.
    pub fn median(&self, name: &str) -> f64 {
        let mut samples = self.samples.get(name).unwrap_or_else(|| panic!("nothing was measured as {name}")).clone();
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    }

    /// A figure by itself.
    pub fn tell(&mut self, name: &str) {
        let line = format!("{:<58} {:>12}", name, time(self.median(name)));
        self.lines.push(line);
    }

    /// Anything else that was found.
    pub fn note(&mut self, line: String) {
        self.lines.push(line);
    }

    /// One figure against another, and how much it may be where that is promised.
    pub fn ratio(&mut self, name: &str, to: &str, most: Option<f64>) {
        let (one, other) = (self.median(name), self.median(to));
        self.claim(name, &format!("{} to {} of {to}", time(one), time(other)), one / other, most);
    }

    /// A ratio and how much it may be.
    pub fn claim(&mut self, name: &str, what: &str, ratio: f64, most: Option<f64>) {
        let limit =
            most.map_or_else(String::new, |most| format!("   at most {most:.2}: {}", self.verdict(ratio <= most)));
        self.lines.push(format!("{name:<58} {ratio:>11.2}x   {what}{limit}"));
    }

    /// A ratio and how much it has to be.
    pub fn least(&mut self, name: &str, what: &str, ratio: f64, least: f64) {
        let verdict = self.verdict(ratio >= least);
        self.lines.push(format!("{name:<58} {ratio:>11.2}x   {what}   at least {least:.2}: {verdict}"));
    }

    /// A time and how long it may be.
    pub fn within(&mut self, name: &str, most: Duration) {
        let median = self.median(name);
        let verdict = self.verdict(median <= most.as_nanos() as f64);
        self.lines.push(format!(
            "{name:<58} {:>12}   at most {}: {verdict}",
            time(median),
            time(most.as_nanos() as f64)
        ));
    }

    fn verdict(&mut self, held: bool) -> &'static str {
        self.missed += usize::from(!held);
        if held { "held" } else { "MISSED" }
    }

    /// Prints the whole table; how many limits were missed.
    pub fn print(&self) -> usize {
        println!("\nmedians; ratios count, absolute figures are this machine's\n");
        for line in &self.lines {
            println!("{line}");
        }
        self.missed
    }
}

/// Nanoseconds in the unit that suits them.
pub fn time(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}
