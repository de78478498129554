//! The order of keys: by UTF-16 code units (RFC 8785, 3.2.3), without decoding; and the one copy that puts members into it.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::fault::{Fault, Stop};

/// Where an unescaped key is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) start: usize,
    pub(super) end: usize,
    /// In the unescaped keys; else in the text that was sent, where it is spelled as it is.
    pub(super) unescaped: bool,
}

/// One member of an object: where it is in the draft, key to value.
#[derive(Clone, Copy, Debug)]
struct Member {
    start: usize,
    /// Known once its object is closed.
    end: usize,
    key: Key,
    /// Where its key is in the text that was sent.
    at: usize,
}

/// An object whose members came out of order, or may still do so: where its inside is in the draft, and its members in
/// order, of which there are none until it closes.
#[derive(Debug)]
struct Shuffled {
    start: usize,
    end: usize,
    first: usize,
    last: usize,
}

/// How many shuffled objects there were at some time.
#[derive(Debug)]
pub(super) struct Mark {
    shuffled: usize,
    sorted: usize,
}

/// The members of objects, as ranges of the draft.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Of the objects that are open.
    open: Vec<Member>,
    /// Of the shuffled objects that are closed, in order.
    sorted: Vec<Member>,
    /// In the order in which they start: an object has its place from when it opens, and loses it if it stays in order.
    shuffled: Vec<Shuffled>,
    /// Keys that were spelled with escapes.
    pub(super) unescaped: String,
}

impl Members {
    /// How many there are of open objects: where the next one will be.
    pub(super) fn next(&self) -> usize {
        self.open.len()
    }

    pub(super) fn key<'a>(&'a self, text: &'a str, key: Key) -> &'a str {
        key_in(text, &self.unescaped, key)
    }

    /// The keys from `first` on, as they came.
    pub(super) fn keys(&self, first: usize, text: &str) -> Vec<String> {
        let members = self.open.get(first..).unwrap_or_default();
        members.iter().map(|member| self.key(text, member.key).into()).collect()
    }

    /// Adds a member to the object whose first member is `first`: its place in the draft, its key, and where that is in
    /// the text. Returns whether its key comes behind the one before.
    pub(super) fn push(&mut self, first: usize, start: usize, key: Key, at: usize, text: &str) -> bool {
        let before = self.open.get(first..).and_then(<[Member]>::last);
        let ordered = before.is_none_or(|before| compare(self.key(text, before.key), self.key(text, key)).is_lt());
        self.open.push(Member { start, end: 0, key, at });
        ordered
    }

    /// An object opens, with its inside at `start`. Returns its place among the shuffled ones.
    pub(super) fn open(&mut self, start: usize) -> usize {
        self.shuffled.push(Shuffled { start, end: 0, first: 0, last: 0 });
        self.shuffled.len() - 1
    }

    /// Forgets the members of an object that closes; its place too, if nothing shuffled is in or behind it.
    pub(super) fn close(&mut self, first: usize, place: usize) {
        self.open.truncate(first);
        if self.shuffled.len() == place + 1 {
            self.shuffled.pop_if(|object| object.last == 0);
        }
    }

    /// Sorts the members of an object that is about to close, with its inside ending at `inside` in the draft, and refuses
    /// keys that are there twice. `place`: as [`open`](Self::open) gave it. `keep`: for [`arrange`](Self::arrange).
    pub(super) fn sort(
        &mut self,
        first: usize,
        place: usize,
        inside: usize,
        text: &str,
        keep: bool,
    ) -> Result<(), Stop> {
        let unescaped = &self.unescaped;
        let key = |member: &Member| key_in(text, unescaped, member.key);
        let members = self.open.get_mut(first..).unwrap_or_default();
        let mut end = inside;
        for member in members.iter_mut().rev() {
            member.end = end;
            // The comma between this one and the one before is of neither.
            end = member.start.saturating_sub(1);
        }
        merge_sort(members, |a, b| compare(key(a), key(b)).is_lt());
        for pair in members.windows(2) {
            if let [a, b] = pair
                && key(a) == key(b)
            {
                return Err(Fault::duplicate(b.at, key(b)));
            }
        }
        if keep && let Some(object) = self.shuffled.get_mut(place) {
            let before = self.sorted.len();
            self.sorted.extend_from_slice(members);
            (object.first, object.last, object.end) = (before, self.sorted.len(), inside);
        }
        Ok(())
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { shuffled: self.shuffled.len(), sorted: self.sorted.len() }
    }

    /// Forgets the shuffled objects that came behind the mark.
    pub(super) fn back_to(&mut self, mark: &Mark) {
        self.shuffled.truncate(mark.shuffled);
        self.sorted.truncate(mark.sorted);
    }

    /// Copies the draft with the members of the shuffled objects in order. Every byte is copied once, however deep the
    /// objects are nested. None: the ranges contradict each other.
    pub(super) fn arrange(&mut self, draft: String) -> Option<String> {
        self.shuffled.retain(|object| object.last > 0);
        if self.shuffled.is_empty() {
            return Some(draft);
        }
        let mut out = String::with_capacity(draft.len());
        let mut open = Vec::<Open>::new();
        // The part of the draft that comes next.
        let (mut start, mut end) = (0, draft.len());
        loop {
            // A part starts before the inside of the objects in it; a first member starts where the inside of its own
            // object does.
            let next = self.shuffled.partition_point(|object| object.start <= start);
            if let Some(object) = self.shuffled.get(next).filter(|object| object.start < end) {
                out.push_str(draft.get(start..object.start)?);
                open.push(Open { next: object.first, last: object.last, behind: (object.end, end) });
            } else {
                out.push_str(draft.get(start..end)?);
                if open.last().is_some_and(|open| open.next < open.last) {
                    out.push(',');
                }
            }
            let Some(object) = open.last_mut() else { break };
            if object.next < object.last {
                let member = self.sorted.get(object.next)?;
                object.next += 1;
                (start, end) = (member.start, member.end);
            } else {
                (start, end) = object.behind;
                open.pop();
            }
        }
        (out.len() == draft.len()).then_some(out)
    }
}

/// A shuffled object that is being written: the members that are still to come, and the part of the draft behind it.
struct Open {
    next: usize,
    last: usize,
    behind: (usize, usize),
}

/// Sorts; equal ones stay as they are. The standard library's sorts are faster and seven kilobytes.
fn merge_sort(members: &mut [Member], before: impl Fn(&Member, &Member) -> bool) {
    let mut merged = Vec::with_capacity(members.len());
    let mut width = 1;
    while width < members.len() {
        for pair in members.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            loop {
                let from = match (left, right) {
                    ([a, ..], [b, ..]) if before(b, a) => &mut right,
                    ([_, ..], _) => &mut left,
                    _ => &mut right,
                };
                let Some((next, rest)) = from.split_first() else { break };
                merged.push(*next);
                *from = rest;
            }
        }
        members.copy_from_slice(&merged);
        merged.clear();
        width *= 2;
    }
}

fn key_in<'a>(text: &'a str, unescaped: &'a str, key: Key) -> &'a str {
    let spelled = if key.unescaped { unescaped } else { text };
    spelled.get(key.start..key.end).unwrap_or_default()
}

/// Compares two keys by their UTF-16 code units.
///
/// UTF-8 orders by code points, which differs in one thing only: in UTF-16 the characters above U+FFFF come between U+D7FF
/// and U+E000. So at the first byte that differs a leading byte of U+E000 to U+FFFF weighs more than every other. Where
/// the bytes differ inside a character their leading bytes are the same, and the order is that of the bytes.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let weight = |byte: u8| if matches!(byte, 0xee | 0xef) { byte | 0x10 } else { byte };
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let (Some((a, left_behind)), Some((b, right_behind))) =
        (left.split_first_chunk::<8>(), right.split_first_chunk::<8>())
    {
        if a != b {
            break;
        }
        (left, right) = (left_behind, right_behind);
    }
    for (&a, &b) in left.iter().zip(right) {
        if a != b {
            return weight(a).cmp(&weight(b));
        }
    }
    left.len().cmp(&right.len())
}
