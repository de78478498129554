//! A hash table in many parts, so that none of its growing takes long: a table of a million entries would hold the lock
//! for tens of milliseconds, a part of one for microseconds.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

/// Parts: with a million entries one has some thousands.
const PARTS: usize = 256;

/// Values by key. Callers choose some keys (owners), so the hash is a keyed one.
pub(super) struct Sharded<K, V> {
    hasher: RandomState,
    parts: Vec<HashMap<K, V, RandomState>>,
}

impl<K, V> Default for Sharded<K, V> {
    fn default() -> Self {
        let hasher = RandomState::new();
        Self { parts: (0..PARTS).map(|_| HashMap::with_hasher(hasher.clone())).collect(), hasher }
    }
}

impl<K: Hash + Eq, V> Sharded<K, V> {
    fn part<Q: Hash + ?Sized>(&self, key: &Q) -> usize {
        // A table looks at the lowest and the highest bits of the same hash.
        (self.hasher.hash_one(key) >> 32) as usize % PARTS
    }

    pub(super) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.parts.get(self.part(key))?.get(key)
    }

    pub(super) fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let part = self.part(key);
        self.parts.get_mut(part)?.get_mut(key)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        let part = self.part(&key);
        if let Some(part) = self.parts.get_mut(part) {
            part.insert(key, value);
        }
    }

    pub(super) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let part = self.part(key);
        self.parts.get_mut(part)?.remove(key)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().all(HashMap::is_empty)
    }
}
