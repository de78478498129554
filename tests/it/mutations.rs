//! Mutations of configurations and of component files: never a crash, and no accepted configuration is weaker than the one it
//! came from, but where its document says so: under a known key, with a value that the documents allow.
//!
//! A slip (a name misspelt or twice, a header gone, lines run together) is no other statement: what is accepted of it is never
//! weaker. Anything else may be another configuration, with another value or without an entry. That one is accepted
//! exactly as it reads, and each fact by which it is weaker has a key of its own that is another than before
//! (`reasons`). What it reads as is judged by `oracle`, which reads a configuration by itself, from what the documents say
//! of each key.
//!
//! A seeded thousand by default; `just mutations 10000` has more. A failure names seed and case:
//! `COUNTERFOIL_MUTATION_SEED=… COUNTERFOIL_MUTATION_CASE=…` repeats it.

mod base;
mod components;
mod dice;
mod facts;
mod oracle;
mod order;
mod reasons;
mod typos;

use base::Place;
use counterfoil::config::Config;
use dice::Dice;
use order::{Facts, weaker};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use typos::Kind;

/// Reading a configuration takes milliseconds; what takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(10);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// What the dice are thrown with.
fn seed() -> u64 {
    number("COUNTERFOIL_MUTATION_SEED").unwrap_or(20_261_130)
}

/// The cases of a test.
fn cases() -> Range<u64> {
    match number("COUNTERFOIL_MUTATION_CASE") {
        Some(case) => case..case + 1,
        None => 0..number("COUNTERFOIL_MUTATIONS").unwrap_or(1000),
    }
}

/// How to see a case again.
fn repeat(seed: u64, case: u64) -> String {
    format!("again: COUNTERFOIL_MUTATION_SEED={seed} COUNTERFOIL_MUTATION_CASE={case}")
}

/// What the program makes of the file: as `config check` has it, with the tools that the plug-ins are known to have.
fn accepted(place: &Place) -> Result<Facts, String> {
    let config = Config::load(&place.file()).map_err(|error| error.to_string())?;
    let raises = place.admit(&config)?;
    Ok(facts::of(&config, &raises))
}

#[test]
fn no_mutated_configuration_is_weaker_than_what_it_came_from() {
    let place = Place::new();
    let seed = seed();
    let originals: Vec<(String, Facts)> = base::texts(&place)
        .into_iter()
        .map(|text| {
            place.write(text.as_bytes());
            let program = accepted(&place).unwrap_or_else(|error| panic!("a base is refused: {error}\n{text}"));
            let oracle = oracle::read(&text, &place).unwrap_or_else(|what| panic!("the oracle: {what}\n{text}"));
            assert_eq!(program, oracle, "program and oracle disagree on a base:\n{text}");
            (text, program)
        })
        .collect();
    let (mut accepted_slips, mut accepted_others, mut accepted_weaker, mut refused) = (0, 0, 0, 0);
    for case in cases() {
        let mut dice = Dice::new(seed, case);
        let (original, then) = dice.one(&originals);
        let (kind, bytes) = typos::mutated(original, &mut dice);
        let told = || format!("{}\n{}", repeat(seed, case), String::from_utf8_lossy(&bytes));
        place.write(&bytes);
        let start = Instant::now();
        let found =
            catch_unwind(AssertUnwindSafe(|| accepted(&place))).unwrap_or_else(|_| panic!("a crash; {}", told()));
        assert!(start.elapsed() < PATIENCE, "it took {:?}; {}", start.elapsed(), told());
        let now = match found {
            Ok(now) => now,
            Err(error) => {
                refused += 1;
                assert!(error.contains(place.name()), "an error that does not name the file: {error}; {}", told());
                continue;
            }
        };
        let text = std::str::from_utf8(&bytes).unwrap_or_else(|_| panic!("no UTF-8 and accepted; {}", told()));
        let said = oracle::read(text, &place).unwrap_or_else(|what| panic!("accepted, but {what}; {}", told()));
        let less = weaker(&now, &said);
        assert!(less.is_empty(), "weaker than what it says: {less:?}; {}", told());
        assert_eq!(now, said, "not what it says; {}", told());
        let less = weaker(&now, then);
        match kind {
            Kind::Slip => {
                accepted_slips += 1;
                assert!(less.is_empty(), "a slip made it weaker: {less:?}; {}", told());
            }
            Kind::Anything => {
                accepted_others += 1;
                accepted_weaker += usize::from(!less.is_empty());
                let unsaid = reasons::unsaid((text, &now), (original, then));
                assert!(unsaid.is_empty(), "weaker, and no key says so: {unsaid:?}; {}", told());
            }
        }
    }
    if cases().end - cases().start >= 1000 {
        // All of them happen, or little was tried.
        assert!(
            accepted_slips > 20 && accepted_others > 20 && accepted_weaker > 5 && refused > 200,
            "{accepted_slips} {accepted_others} {accepted_weaker} {refused}"
        );
    }
}

#[test]
fn the_bases_have_every_key_that_there_is() {
    let schema = Config::schema();
    let place = Place::new();
    let texts = base::texts(&place).join("\n");
    let mut missing: Vec<String> = Vec::new();
    let mut look = |table: &serde_json::Value| {
        for key in table["properties"].as_object().into_iter().flatten().map(|(key, _)| key) {
            let used = [format!("{key} ="), format!("[{key}"), format!(".{key}]"), format!("{key}.")];
            if !used.iter().any(|form| texts.contains(form)) {
                missing.push(key.clone());
            }
        }
    };
    look(&schema);
    schema["$defs"].as_object().unwrap().values().for_each(&mut look);
    assert!(missing.is_empty(), "keys that no base has: {missing:?}");
}

/// The judge can say no: each of these takes something away behind the text's back.
#[test]
fn the_oracle_objects_to_what_is_weaker_than_the_text() {
    let place = Place::new();
    for text in base::texts(&place) {
        let said = oracle::read(&text, &place).unwrap();
        for (name, fact) in &said {
            let mut now = said.clone();
            match fact {
                order::Fact::Power | order::Fact::Label(_) => continue,
                order::Fact::AtMost(most) => drop(now.insert(name.clone(), order::Fact::AtMost(most + 1))),
                order::Fact::AtLeast(least) => {
                    drop(now.insert(name.clone(), order::Fact::AtLeast(least.saturating_sub(1))))
                }
                order::Fact::Guard => drop(now.remove(name)),
                order::Fact::Is(word) => drop(now.insert(name.clone(), order::Fact::Is(format!("{word}!")))),
            }
            if now != said {
                assert_eq!(weaker(&now, &said), [name.as_str()]);
            }
        }
        let mut more = said.clone();
        more.insert("another power".into(), order::Fact::Power);
        assert_eq!(weaker(&more, &said), ["another power"]);
    }
}
