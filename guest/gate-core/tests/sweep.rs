//! What a sweep does with a row that the store calls due, on both sides of each of its times.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterfoil_gate_core::answer::Assurance;
use counterfoil_gate_core::confirmation::{Call, Confirmation, Plan, State};
use counterfoil_gate_core::contract::{Swept, issue, start, sweep};
use counterfoil_gate_core::settings::Settings;

const START: u64 = 1_000_000;

fn issued(settings: &Settings) -> Box<Confirmation> {
    let call = Call { owner: "name:a", tool: "t", revision: "1", arguments: "{}" };
    let plan = Plan {
        summary: "s".into(),
        preview: "{}".into(),
        warnings: Vec::new(),
        precondition: None,
        masked_arguments: None,
        needs: Assurance::TokenOnly,
        approvers: 0,
    };
    issue(settings, START, &call, call.binding(), plan, &[], [[1; 15], [2; 15]]).unwrap().0
}

#[test]
fn a_row_whose_tombstone_was_lengthened_is_written_anew_with_its_new_time() {
    let short = Settings::default();
    let long = Settings { tombstone: 2 * short.tombstone, ..short.clone() };
    let expired = START + short.ttl;
    let Swept::Replace(stripped) = sweep(&short, expired, issued(&short)) else { panic!("not stripped") };
    let due = stripped.index(&short).purge_after;
    assert_eq!(due, expired + short.tombstone);

    // Unchanged settings: gone. Lengthened ones: kept, and due when they say.
    assert_eq!(sweep(&short, due, stripped.clone()), Swept::Remove);
    let Swept::Replace(kept) = sweep(&long, due, stripped) else { panic!("not written anew") };
    assert_eq!(kept.state, State::Expired);
    let due = kept.index(&long).purge_after;
    assert_eq!(due, expired + long.tombstone);
    assert!(matches!(sweep(&long, due - 1, kept.clone()), Swept::Replace(_)));
    assert_eq!(sweep(&long, due, kept), Swept::Remove);
}

#[test]
fn a_run_that_was_not_recorded_is_never_touched() {
    let settings = Settings::default();
    let (running, _) = start(START, issued(&settings), [3; 15], 1_000).unwrap();
    for now in [0, START, START + 1_000, u64::MAX] {
        assert_eq!(sweep(&settings, now, running.clone()), Swept::Keep);
    }
}

#[test]
fn what_was_dropped_is_still_for_its_arguments_and_no_others() {
    let settings = Settings::default();
    let whole = issued(&settings);
    let Swept::Replace(stripped) = sweep(&settings, START + settings.ttl, whole.clone()) else {
        panic!("not stripped")
    };
    assert!(stripped.arguments.is_empty());
    for c in [whole, stripped] {
        assert!(c.is_for("{}"));
        assert!(!c.is_for("{\"a\":1}") && !c.is_for(""));
    }
}

#[test]
fn what_is_stored_under_another_calls_binding_does_not_start() {
    let settings = Settings::default();
    let mut damaged = issued(&settings);
    damaged.binding = [7; 32];
    assert_eq!(start(START, damaged, [3; 15], 1_000), Err("the stored confirmation is damaged"));
}
