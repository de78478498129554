//! Mutated component files. Whatever comes of one, the host lives on, a lock knows that it is another file, and a preview or
//! a safe call changes nothing in a directory that the plug-in may otherwise write.

use super::dice::Dice;
use super::{cases, repeat};
use counterfoil::Level;
use counterfoil::plugin::{Access, DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a mutated plug-in may take for anything; stopping it takes less than the rest.
const LIMIT: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(20);

/// The sections of a component, each with its head: what stands behind the first eight bytes.
fn sections(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 8;
    while at < bytes.len() {
        let (mut size, mut shift, mut head) = (0_usize, 0, at + 1);
        while let Some(byte) = bytes.get(head) {
            size |= usize::from(byte & 0x7f) << shift;
            (shift, head) = (shift + 7, head + 1);
            if byte & 0x80 == 0 {
                break;
            }
        }
        let end = (head + size).min(bytes.len());
        found.push(at..end);
        at = end;
    }
    found
}

fn mutated(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let sections = sections(&bytes);
    let joined = |bytes: &[u8], order: &[Range<usize>]| {
        order.iter().fold(bytes[..8].to_vec(), |whole, section| [&whole, &bytes[section.clone()]].concat())
    };
    match dice.below(8) {
        // Bits, here and there: most land in code and constants.
        0..=2 => {
            for _ in 0..=dice.below(4) {
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(8);
            }
            bytes
        }
        3 => {
            let mut order = sections;
            order.remove(dice.below(order.len()));
            joined(&bytes, &order)
        }
        4 => {
            let mut order = sections;
            let again = dice.one(&order).clone();
            order.insert(dice.below(order.len()), again);
            joined(&bytes, &order)
        }
        5 => {
            let mut order = sections;
            let (one, other) = (dice.below(order.len()), dice.below(order.len()));
            order.swap(one, other);
            joined(&bytes, &order)
        }
        6 => bytes[..dice.below(bytes.len())].to_vec(),
        // What it asks for, and names of every kind, in letters.
        _ => {
            let letters: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_lowercase()).collect();
            let manifest = bytes.windows(11).position(|part| part == b"\"manifest\":");
            let at = match manifest {
                Some(start) if dice.below(2) == 0 => (start + dice.below(80)).min(bytes.len() - 1),
                _ => *dice.one(&letters),
            };
            bytes[at] = b' ' + dice.below(95) as u8;
            bytes
        }
    }
}

fn options(granted: &Path) -> PluginOptions {
    let mut options = PluginOptions::new("mutated");
    options.limits.preview = LIMIT;
    options.limits.execute = LIMIT;
    options.dirs = vec![DirGrant { host: granted.into(), guest: "/data".into(), access: Access::ReadWrite }];
    options
}

/// Every name below a folder, with what a file holds.
fn whole(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = path.display().to_string();
        if path.is_dir() {
            found.extend(whole(&path));
        }
        found.insert(name, std::fs::read(&path).ok());
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutated_component_is_refused_or_contained() {
    let sandbox = Sandbox::new(SandboxOptions { cache: None }).unwrap();
    let fixtures = ["prowl", "counter", "levels", "start"].map(counterfoil_tests::fixture);
    let originals = fixtures.map(|file| std::fs::read(file).unwrap());
    let granted = tempfile::tempdir().unwrap();
    for name in ["old", "other"] {
        std::fs::write(granted.path().join(name), name).unwrap();
    }
    std::fs::create_dir(granted.path().join("empty")).unwrap();
    let before = whole(granted.path());
    let (mut loaded, mut refused) = (0, 0);
    let seed = super::seed();
    for case in cases() {
        let mut dice = Dice::new(seed, case);
        let original = dice.one(&originals);
        let bytes = mutated(original, &mut dice);
        if bytes == *original {
            continue;
        }
        let again = repeat(seed, case);
        let start = Instant::now();
        let mut locked = options(granted.path());
        locked.lock = Some(Plugin::digest_of(original));
        let error = Plugin::from_bytes(&sandbox, bytes.clone(), locked, "a mutated file").await;
        assert!(error.is_err(), "a lock let another file pass; {again}");
        match Plugin::from_bytes(&sandbox, bytes.clone(), options(granted.path()), "a mutated file").await {
            Err(error) => {
                refused += 1;
                let text = error.to_string();
                assert!(text.contains("mutated") && !text.contains("backtrace"), "{text}; {again}");
            }
            Ok(plugin) => {
                loaded += 1;
                assert_ne!(plugin.digest(), Plugin::digest_of(original), "{again}");
                harmless(&plugin).await;
            }
        }
        assert!(start.elapsed() < PATIENCE, "it took {:?}; {again}", start.elapsed());
        assert_eq!(whole(granted.path()), before, "a preview or a safe call changed something; {again}");
    }
    // Both happen, or nothing was tried.
    assert!(loaded > 0 && refused > 0, "{loaded} loaded, {refused} refused");
}

/// Previews every tool, and runs the safe ones. What they answer is theirs.
async fn harmless(plugin: &Plugin) {
    let bench = crate::plugin::bench::gate();
    let names: Vec<(String, Level)> = plugin.tools().iter().map(|tool| (tool.name.clone(), tool.level)).collect();
    for (name, _) in &names {
        drop(plugin.preview(name, "{}", None).await);
    }
    // A name that is none or stands twice ends here, with an error.
    let Ok(host) = counterfoil::Host::builder(bench).plugin(plugin.clone()).build().await else { return };
    for (name, _) in names.iter().filter(|(_, level)| *level == Level::Safe) {
        crate::plugin::bench::call(&host, name, "{}").await;
    }
}

#[test]
fn a_component_is_cut_into_its_sections() {
    let bytes = std::fs::read(counterfoil_tests::fixture("counter")).unwrap();
    let sections = sections(&bytes);
    assert!(sections.len() > 3 && sections[0].start == 8 && sections.last().unwrap().end == bytes.len());
    assert!(sections.windows(2).all(|pair| pair[0].end == pair[1].start));
}
