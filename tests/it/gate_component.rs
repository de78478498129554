//! The gate component as it is shipped: what it imports and exports, how large it is, and that it tells nothing of the
//! machine that built it. It is read from where the host's build script leaves it.

use std::collections::BTreeSet;
use std::path::Path;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Other hosts ship it too, and reading it is a part of each start.
const MAX_SIZE: usize = 102_400;

fn gate() -> Vec<u8> {
    std::fs::read(counterfoil_tests::component("gate")).expect("the gate component can be read")
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn it_imports_its_store_a_clock_and_randomness_and_exports_the_contract() {
    let engine = Engine::default();
    let component = Component::new(&engine, gate()).expect("it is a component");
    let world = component.component_type();
    let imports = names(world.imports(&engine).map(|(name, _)| name));
    let exports = names(world.exports(&engine).map(|(name, _)| name));
    let imported = ["counterfoil:gate/store@0.1.0", "wasi:clocks/wall-clock@0.2.6", "wasi:random/random@0.2.6"];
    let exported = ["gate", "approvals", "responses", "levels"].map(|name| format!("counterfoil:gate/{name}@0.1.0"));
    assert_eq!(imports, names(imported));
    assert_eq!(exports, names(exported.iter().map(String::as_str)));
}

#[test]
fn it_is_small() {
    let size = gate().len();
    assert!(size < MAX_SIZE, "the gate has {size} bytes, and {MAX_SIZE} are too many");
}

#[test]
fn it_is_the_one_that_the_host_embeds() {
    use sha2::{Digest, Sha256};
    let digest: String = Sha256::digest(gate()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, counterfoil::gate::Gate::digest());
}

#[test]
fn it_names_no_path_of_the_machine_that_built_it() {
    let gate = gate();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf);
    let cargo = std::env::var_os("CARGO_HOME").map(Into::into);
    for place in [root, std::env::home_dir(), cargo].into_iter().flatten() {
        let place = place.to_string_lossy().into_owned();
        let found = place.len() > 1 && gate.windows(place.len()).any(|bytes| bytes == place.as_bytes());
        assert!(!found, "the gate contains {place}");
    }
}
