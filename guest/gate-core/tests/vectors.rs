//! The language-neutral vectors on these rules alone, without a component: what judges a mutant of this crate. The runners
//! are those of the workspace's tests, which run the same on the built component.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use runners::Side;
use runners::cases::Sweeping;
use runners::{canonical, contract};

#[path = "../../../tests/runners"]
mod runners {
    pub mod answers;
    pub mod canonical;
    pub mod cases;
    pub mod contract;
    pub mod native;
    pub mod native_json;
    pub mod value;
    pub mod world;

    use serde_json::{Map, Value};
    use std::path::PathBuf;

    pub trait Answers {
        fn call(&mut self, function: &str, arguments: &Map<String, Value>) -> Value;
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Side {
        Native,
    }

    impl Side {
        pub fn gate(self, world: &world::World) -> Box<dyn Answers + Send> {
            Box::new(native::Native::new(world.clone()))
        }
    }

    pub fn vectors() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
    }
}

#[test]
fn the_contract_vectors_hold() {
    let all = contract::header().files.values().sum::<usize>();
    assert_eq!(contract::all(Side::Native, Sweeping::AsWritten), all);
}

#[test]
fn sweeping_early_changes_no_answer() {
    assert!(contract::all(Side::Native, Sweeping::Eager) >= 100);
}

#[test]
fn every_canonical_case_is_answered() {
    assert_eq!(canonical::run(counterfoil_gate_core::canonical::read), canonical::CASES);
}
