//! How much a condition makes: texts, bytes and lists that were not there before, by their size, counted before they are made.

use super::MADE;
use cel::common::types::{CelBytes, CelList, CelMap, CelString};
use cel::common::value::Val;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a value needs beside its text.
const EACH: usize = 64;

/// What the condition that is asked has made. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Made(Arc<AtomicUsize>);

impl Made {
    /// Another condition is asked: what the one before made is gone.
    pub(super) fn begin(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Takes note of so much more; whether it may be made. What was refused stays counted: nothing is made after it.
    pub(super) fn takes(&self, size: usize) -> bool {
        let more = |made: usize| Some(made.saturating_add(size));
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).unwrap_or(usize::MAX);
        before.saturating_add(size) <= MADE
    }

    pub(super) fn is_too_much(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MADE
    }
}

/// About how much memory a copy of this needs.
pub(super) fn size(value: &dyn Val) -> usize {
    let within = if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        text.inner().len()
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        bytes.inner().len()
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().iter().map(|item| size(item.as_ref())).sum()
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        map.inner().iter().map(|(key, value)| size(key.inner()) + size(value.as_ref())).sum()
    } else {
        0
    };
    EACH + within
}
