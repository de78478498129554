//! How a confirmation is stored: bytes that only this module writes and reads. The store is outside the gate, so reading
//! trusts nothing: every length, tag and text is checked, and nothing may be left over.
//!
//! `CFB1`, or `CFB2` where the arguments are masked; then the fields in order: texts and lists by length (four bytes,
//! big-endian), numbers as eight bytes, variants by one byte.

mod reader;

use crate::answer::Assurance;
use crate::confirmation::{Approval, Confirmation, Index, Plan, Run, Settlement, State, Status};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;
use reader::Reader;

const WHOLE: &[u8] = b"CFB1";
/// A gate that does not know this mark would compare the masked arguments with a caller's.
const MASKED: &[u8] = b"CFB2";

/// More approvals than any plan can ask for (`approvers` is one byte).
const MAX_APPROVALS: u64 = 255;
/// More warnings than the largest plan holds.
const MAX_WARNINGS: u64 = 1 << 21;

/// Writes a confirmation.
pub fn encode(c: &Confirmation) -> Vec<u8> {
    let arguments = c.shown_arguments();
    let size = arguments.len() + c.plan.size() + c.owner.len() + c.tool.len() + c.revision.len() + 256;
    let payload = if let State::Completed { payload: Some(payload), .. } = &c.state { payload.len() } else { 0 };
    let mut out = Vec::with_capacity(size + payload);
    out.extend_from_slice(if c.plan.masked_arguments.is_some() { MASKED } else { WHOLE });
    for text in [&c.approval_id, &c.owner, &c.tool, &c.revision, arguments] {
        put_text(&mut out, text);
    }
    out.extend_from_slice(&c.binding);
    put_text(&mut out, &c.plan.summary);
    put_text(&mut out, &c.plan.preview);
    put_length(&mut out, c.plan.warnings.len());
    c.plan.warnings.iter().for_each(|warning| put_text(&mut out, warning));
    put_option(&mut out, c.plan.precondition.as_deref());
    out.push(assurance(c.plan.needs));
    out.push(c.plan.approvers);
    [c.issued, c.window, c.ttl].into_iter().for_each(|n| put_number(&mut out, n));
    put_length(&mut out, c.approvals.len());
    for approval in &c.approvals {
        put_text(&mut out, &approval.by);
        put_number(&mut out, approval.at);
        out.push(assurance(approval.proof));
    }
    match &c.state {
        State::Pending => out.push(0),
        State::Expired => out.push(1),
        State::InFlight(run) => {
            out.push(2);
            put_run(&mut out, run);
        }
        State::Completed { run, at, replay_until, status, payload, settled_before } => {
            out.push(3);
            put_run(&mut out, run);
            put_number(&mut out, *at);
            put_number(&mut out, *replay_until);
            out.push(u8::from(*status == Status::Failed));
            put_option(&mut out, payload.as_deref());
            out.push(u8::from(settled_before.is_some()));
            if let Some(settlement) = settled_before {
                put_settlement(&mut out, settlement);
            }
        }
        State::Declined(refusal) => {
            out.push(4);
            put_text(&mut out, &refusal.by);
            put_number(&mut out, refusal.at);
            put_text(&mut out, &refusal.why);
        }
        State::Settled { run, settlement } => {
            out.push(5);
            put_run(&mut out, run);
            put_settlement(&mut out, settlement);
        }
    }
    out
}

/// Reads a confirmation.
///
/// # Errors
/// Says what is wrong. Nothing that does not read may run.
pub fn decode(bytes: &[u8]) -> Result<Box<Confirmation>, &'static str> {
    let mut r = Reader { rest: bytes, fault: None };
    let mark = r.take(WHOLE.len());
    if mark != WHOLE && mark != MASKED {
        return Err(r.fault.unwrap_or("the stored confirmation is of a format that this gate does not know"));
    }
    let mut c = Box::new(Confirmation {
        approval_id: r.text(),
        owner: r.text(),
        tool: r.text(),
        revision: r.text(),
        arguments: r.text(),
        binding: r.sha(),
        plan: Plan {
            summary: r.text(),
            preview: r.text(),
            warnings: r.list(MAX_WARNINGS, Reader::text),
            precondition: r.option(Reader::text),
            masked_arguments: None,
            needs: r.assurance(),
            approvers: r.number(1) as u8,
        },
        issued: r.number(8),
        window: r.number(8),
        ttl: r.number(8),
        approvals: r.list(MAX_APPROVALS, |r| Approval { by: r.text(), at: r.number(8), proof: r.assurance() }),
        state: r.state(),
    });
    if mark == MASKED {
        c.plan.masked_arguments = Some(mem::take(&mut c.arguments));
    }
    if !r.rest.is_empty() || [&c.approval_id, &c.owner, &c.tool, &c.revision].iter().any(|text| text.is_empty()) {
        r.fail(BAD);
    }
    r.fault.map_or(Ok(c), Err)
}

/// Reads a row: the body, and that what the backend sees beside it says the same.
///
/// # Errors
/// Says what is wrong.
pub fn decode_row(index: &Index, bytes: &[u8]) -> Result<Box<Confirmation>, &'static str> {
    let c = decode(bytes)?;
    let (phase, changed, until) = c.standing();
    let same = phase == index.phase
        && c.owner == index.owner
        && c.approval_id == index.approval_id
        && c.binding == index.binding
        && c.issued == index.issued
        && changed == index.changed
        // Where it rests on a setting, the setting may be another one by now, and nothing can be run any more.
        && until.is_none_or(|until| until == index.until);
    if same { Ok(c) } else { Err("the stored confirmation and its row disagree") }
}

/// What is said of a confirmation that cannot be.
pub(crate) const BAD: &str = "the stored confirmation is damaged";

fn assurance(value: Assurance) -> u8 {
    match value {
        Assurance::TokenOnly => 0,
        Assurance::ClientPrompt => 1,
        Assurance::OutOfBand => 2,
    }
}

/// Lengths fit: limits keep every text far below 4 GiB. One that did not would be written cut and refused on reading.
fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_be_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_length(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn put_option(out: &mut Vec<u8>, text: Option<&str>) {
    out.push(u8::from(text.is_some()));
    if let Some(text) = text {
        put_text(out, text);
    }
}

fn put_settlement(out: &mut Vec<u8>, settlement: &Settlement) {
    out.push(u8::from(settlement.happened));
    put_text(out, &settlement.by);
    put_number(out, settlement.at);
}

fn put_run(out: &mut Vec<u8>, run: &Run) {
    put_text(out, &run.operation_id);
    put_number(out, run.started);
    put_number(out, run.deadline);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::confirmation::{Phase, Refusal};
    use alloc::string::{String, ToString};
    use alloc::vec;

    fn samples() -> Vec<Confirmation> {
        let run = Run { operation_id: "op_x".to_string(), started: 5, deadline: 9 };
        let settlement = Settlement { happened: true, by: "os:root".to_string(), at: 10 };
        let states = vec![
            State::Pending,
            State::Expired,
            State::InFlight(run.clone()),
            State::Completed {
                run: run.clone(),
                at: 7,
                replay_until: 8,
                status: Status::Failed,
                payload: Some("{\"status\":\"failed\"}".to_string()),
                settled_before: Some(settlement.clone()),
            },
            State::Completed {
                run: run.clone(),
                at: 7,
                replay_until: 8,
                status: Status::Ok,
                payload: None,
                settled_before: None,
            },
            State::Declined(Refusal { by: "b".to_string(), at: 6, why: "no".to_string() }),
            State::Settled { run, settlement },
        ];
        let base = Confirmation {
            approval_id: "apr_x".to_string(),
            owner: "os:alice".to_string(),
            tool: "delete_file".to_string(),
            revision: "r1".to_string(),
            arguments: "{\"path\":\"é\"}".to_string(),
            binding: [7; 32],
            plan: Plan {
                summary: "s".to_string(),
                preview: "{}".to_string(),
                warnings: vec!["w1".to_string(), String::new()],
                precondition: Some(String::new()),
                masked_arguments: None,
                needs: Assurance::OutOfBand,
                approvers: 2,
            },
            issued: 1,
            window: 2,
            ttl: 3,
            approvals: vec![Approval { by: "a".to_string(), at: 4, proof: Assurance::OutOfBand }],
            state: State::Pending,
        };
        let mut masked = base.clone();
        masked.plan.masked_arguments = Some(mem::take(&mut masked.arguments));
        let whole = states.into_iter().map(|state| Confirmation { state, ..base.clone() });
        whole.chain([masked]).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        for c in samples() {
            assert_eq!(decode(&encode(&c)), Ok(Box::new(c)));
        }
    }

    #[test]
    fn nothing_cut_or_longer_is_read() {
        for c in samples() {
            let bytes = encode(&c);
            for end in 0..bytes.len() {
                assert!(decode(&bytes[..end]).is_err(), "cut at {end}");
            }
            let mut longer = bytes.clone();
            longer.push(0);
            assert!(decode(&longer).is_err());
        }
    }

    #[test]
    fn a_changed_byte_never_crashes_and_never_reads_as_the_same() {
        for c in samples() {
            let bytes = encode(&c);
            for at in 0..bytes.len() {
                for flip in [1u8, 0x80, 0xff] {
                    let mut bad = bytes.clone();
                    bad[at] ^= flip;
                    assert_ne!(decode(&bad).map(|read| *read), Ok(c.clone()), "byte {at}");
                }
            }
        }
    }

    #[test]
    fn as_many_have_agreed_as_a_plan_can_ask_for_and_no_more() {
        let sample = samples().remove(0);
        for (count, good) in [(0, true), (255, true), (256, false), (257, false)] {
            let approvals = vec![sample.approvals[0].clone(); count];
            let bytes = encode(&Confirmation { approvals, ..sample.clone() });
            assert_eq!(decode(&bytes).map_err(|error| assert_eq!(error, BAD)).is_ok(), good, "{count}");
        }
    }

    #[test]
    fn a_row_that_disagrees_with_its_body_is_not_read() {
        let c = samples().remove(0);
        let index = c.index(&crate::settings::Settings::default());
        let bytes = encode(&c);
        assert!(decode_row(&index, &bytes).is_ok());
        for bad in [
            Index { phase: Phase::InFlight, ..index.clone() },
            Index { owner: "os:bob".to_string(), ..index.clone() },
            Index { approval_id: "apr_y".to_string(), ..index.clone() },
            Index { binding: [8; 32], ..index.clone() },
            Index { issued: 2, ..index.clone() },
            Index { changed: 2, ..index.clone() },
            Index { until: 2, ..index.clone() },
        ] {
            assert!(decode_row(&bad, &bytes).is_err());
        }
    }

    #[test]
    fn a_body_that_gives_itself_more_time_is_not_read() {
        let settings = crate::settings::Settings::default();
        for c in samples().into_iter().take(4) {
            let index = c.index(&settings);
            let mut longer = c.clone();
            (longer.ttl, longer.window) = (c.ttl + 1, c.window + 1);
            match &mut longer.state {
                State::InFlight(run) => run.deadline += 1,
                State::Completed { replay_until, .. } => *replay_until += 1,
                _ => {}
            }
            assert!(decode_row(&index, &encode(&longer)).is_err(), "{index:?}");
        }
    }

    #[test]
    fn a_row_is_read_under_other_settings_than_it_was_written() {
        let before = crate::settings::Settings::default();
        for c in samples() {
            let bytes = encode(&c);
            assert!(decode_row(&c.index(&before), &bytes).is_ok());
            let after =
                crate::settings::Settings { tombstone: 1, replay_window: 1, ttl: 1, cool_down: 1, ..before.clone() };
            assert!(decode_row(&c.index(&after), &bytes).is_ok());
        }
    }
}
