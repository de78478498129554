//! The order of keys: by UTF-16 code units (RFC 8785, 3.2.3), without decoding; and the one copy that puts members into it.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Where an unescaped key is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) start: usize,
    pub(super) end: usize,
    /// In the unescaped keys; else in the draft, where it is spelled as it is.
    pub(super) unescaped: bool,
}

/// One member of an object: where it is in the draft, key to value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) start: usize,
    /// Known once its object is closed.
    pub(super) end: usize,
    pub(super) key: Key,
    /// Where its key is in the text that was sent.
    pub(super) at: usize,
}

/// An object whose members came out of order: where its inside is in the draft, and its members in order.
#[derive(Debug)]
pub(super) struct Shuffled {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// Compares two keys by their UTF-16 code units.
///
/// UTF-8 orders by code points, which differs in one thing only: in UTF-16 the characters above U+FFFF come between U+D7FF
/// and U+E000. So at the first byte that differs a leading byte of U+E000 to U+FFFF weighs more than every other. Where
/// the bytes differ inside a character their leading bytes are the same, and the order is that of the bytes.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let (Some((a, left_behind)), Some((b, right_behind))) =
        (left.split_first_chunk::<8>(), right.split_first_chunk::<8>())
    {
        if a != b {
            break;
        }
        (left, right) = (left_behind, right_behind);
    }
    let weight = |byte: u8| if matches!(byte, 0xee | 0xef) { byte | 0x10 } else { byte };
    left.iter().map(|&byte| weight(byte)).cmp(right.iter().map(|&byte| weight(byte)))
}

/// What `arrange` still has to write.
enum Task {
    /// A part of the draft.
    Part { start: usize, end: usize },
    /// Members, from `next` on; a comma first where one was written before.
    Members { next: usize, last: usize, comma: bool },
}

/// Copies a draft with the members of its shuffled objects in order. Every byte is copied once, however deep the objects
/// are nested. None: the ranges contradict each other.
pub(super) fn arrange(draft: &str, objects: &mut [Shuffled], members: &[Member]) -> Option<String> {
    objects.sort_unstable_by_key(|object| object.start);
    let mut out = String::with_capacity(draft.len());
    let mut tasks = Vec::new();
    tasks.push(Task::Part { start: 0, end: draft.len() });
    while let Some(task) = tasks.pop() {
        match task {
            Task::Part { start, end } => {
                // A part starts before the inside of the objects in it; a first member starts where its own object does.
                let next = objects.partition_point(|object| object.start <= start);
                match objects.get(next).filter(|object| object.start < end) {
                    None => out.push_str(draft.get(start..end)?),
                    Some(object) => {
                        out.push_str(draft.get(start..object.start)?);
                        tasks.push(Task::Part { start: object.end, end });
                        tasks.push(Task::Members { next: object.first, last: object.last, comma: false });
                    }
                }
            }
            Task::Members { next, last, comma } if next < last => {
                let member = members.get(next)?;
                if comma {
                    out.push(',');
                }
                tasks.push(Task::Members { next: next + 1, last, comma: true });
                tasks.push(Task::Part { start: member.start, end: member.end });
            }
            Task::Members { .. } => {}
        }
    }
    (out.len() == draft.len()).then_some(out)
}
