//! Reads a stored confirmation field by field, and trusts none of its bytes: whatever does not fit is a fault, and behind a
//! fault nothing is read.

use super::BAD;
use crate::answer::Assurance;
use crate::confirmation::{Refusal, Run, Settlement, State, Status};
use crate::digest::Sha;
use crate::prose::say;
use alloc::string::String;
use alloc::vec::Vec;

const CUT: &str = "the stored confirmation is cut short";

/// Takes fields off the front. The first fault stays and nothing is left to read behind it, so what is read then is empty
/// or zero, and one look at the end is enough: a look at each field would be the larger part of this module's code.
pub(super) struct Reader<'a> {
    pub(super) rest: &'a [u8],
    pub(super) fault: Option<&'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn fail(&mut self, fault: &'static str) {
        self.fault.get_or_insert(fault);
        self.rest = &[];
    }

    #[inline(never)]
    pub(super) fn take(&mut self, length: usize) -> &'a [u8] {
        if let Some((head, rest)) = self.rest.split_at_checked(length) {
            self.rest = rest;
            return head;
        }
        self.fail(CUT);
        &[]
    }

    /// A number of so many bytes, eight at most.
    #[inline(never)]
    pub(super) fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// One of the first `cases` numbers, as a byte.
    fn case(&mut self, cases: u64) -> u64 {
        let case = self.number(1);
        if case >= cases {
            self.fail(BAD);
        }
        case
    }

    fn flag(&mut self) -> bool {
        self.case(2) == 1
    }

    pub(super) fn sha(&mut self) -> Sha {
        self.take(32).try_into().unwrap_or_default()
    }

    #[inline(never)]
    pub(super) fn text(&mut self) -> String {
        let length = self.number(4) as usize;
        match core::str::from_utf8(self.take(length)) {
            Ok(text) => say(text),
            Err(_) => {
                self.fail(BAD);
                String::new()
            }
        }
    }

    pub(super) fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| read(self))
    }

    pub(super) fn list<T>(&mut self, most: u64, read: impl Fn(&mut Self) -> T) -> Vec<T> {
        let length = self.number(4);
        if length > most {
            self.fail(BAD);
        }
        let mut out = Vec::new();
        for _ in 0..length {
            if self.fault.is_some() {
                break;
            }
            out.push(read(self));
        }
        out
    }

    #[inline(never)]
    pub(super) fn assurance(&mut self) -> Assurance {
        match self.case(3) {
            0 => Assurance::TokenOnly,
            1 => Assurance::ClientPrompt,
            _ => Assurance::OutOfBand,
        }
    }

    pub(super) fn state(&mut self) -> State {
        match self.case(6) {
            0 => State::Pending,
            1 => State::Expired,
            2 => State::InFlight(self.run()),
            3 => State::Completed {
                run: self.run(),
                at: self.number(8),
                replay_until: self.number(8),
                status: if self.flag() { Status::Failed } else { Status::Ok },
                payload: self.option(Self::text),
                settled_before: self.option(Self::settlement),
            },
            4 => State::Declined(Refusal { by: self.text(), at: self.number(8), why: self.text() }),
            _ => State::Settled { run: self.run(), settlement: self.settlement() },
        }
    }

    #[inline(never)]
    fn settlement(&mut self) -> Settlement {
        Settlement { happened: self.flag(), by: self.text(), at: self.number(8) }
    }

    #[inline(never)]
    fn run(&mut self) -> Run {
        Run { operation_id: self.text(), started: self.number(8), deadline: self.number(8) }
    }
}
