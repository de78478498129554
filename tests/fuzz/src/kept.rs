//! The inputs that are kept of a target: a few that reach most of what it reads, and every one that was a finding once.

use std::collections::BTreeMap;
use std::path::Path;

/// More would be run and read by nobody.
const MOST: usize = 64;
const LARGEST: usize = 8 * 1024;

/// Runs a target over what is kept of it in the folder `fuzz`. Counts what the inputs were.
pub fn run(fuzz: &Path, target: &str, check: impl Fn(&[u8]) -> &'static str) -> BTreeMap<&'static str, usize> {
    let mut seen = BTreeMap::new();
    for folder in ["corpus", "found"] {
        let folder = fuzz.join(folder).join(target);
        if folder.ends_with(Path::new("found").join(target)) && !folder.exists() {
            continue;
        }
        let inputs = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut count = 0;
        for input in inputs {
            let file = input.unwrap().path();
            let bytes = std::fs::read(&file).unwrap();
            assert!(bytes.len() <= LARGEST, "{} is large: keep a shorter one", file.display());
            println!("{}", file.display());
            *seen.entry(check(&bytes)).or_default() += 1;
            count += 1;
        }
        assert!(count <= MOST, "{} has {count} inputs: keep fewer, `just fuzz-keep {target}`", folder.display());
    }
    seen
}
