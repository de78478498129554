//! A component that stands in a file: what has been read of it, and what an instance of it comes to.

use super::Weight;
use super::kinds::Kind;
use wasmparser::ComponentExternalKind;

/// A component that is being read. The lists are its index spaces.
#[derive(Default)]
pub(super) struct Part {
    pub(super) kinds: Vec<Kind>,
    pub(super) components: Vec<Sealed>,
    pub(super) made: Vec<Weight>,
    /// How many imports each core module has.
    pub(super) modules: Vec<u64>,
    pub(super) instances: u64,
    pub(super) pieces: Weight,
    pub(super) again: u64,
    pub(super) exports: Weight,
    pub(super) closes: u64,
}

/// A component that has been read.
#[derive(Clone, Copy)]
pub(super) struct Sealed {
    /// Instances that an instance of it has inside.
    pub(super) instances: u64,
    /// Pieces of an instance of it.
    pub(super) pieces: Weight,
    /// Pieces that are as long as they are written.
    pub(super) again: u64,
    /// What an instance of it is, for whoever uses it.
    pub(super) exports: Weight,
    /// What it holds of the components around it, which is copied with it.
    pub(super) closes: u64,
}

impl Part {
    /// What is handed on with it.
    pub(super) fn handed(&self, kind: ComponentExternalKind, index: u32) -> Weight {
        match kind {
            ComponentExternalKind::Instance => self.made.get(index as usize).copied().unwrap_or(Weight::ONE),
            _ => Weight::ONE,
        }
    }

    pub(super) fn closure(&self) -> Weight {
        Weight::of(self.closes.saturating_add(1))
    }

    pub(super) fn sealed(self) -> Sealed {
        let Self { instances, pieces, again, exports, closes, .. } = self;
        Sealed { instances, pieces, again, exports, closes }
    }
}
