//! What happens in a history, and how likely.

use super::rules::Call;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
pub(super) enum Trouble {
    None,
    /// The swap is not done.
    Fail,
    /// It is done and not answered.
    LoseAck,
    /// It is done and not answered, and the store stays away.
    LoseAll,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Wait(i64),
    /// To a limit of a confirmation, or one millisecond beside it.
    ClockTo {
        of: usize,
        limit: usize,
        beside: i64,
    },
    Issue {
        call: Call,
        approvers: u8,
        masked: bool,
        lost: bool,
    },
    Check {
        of: usize,
        change: u8,
    },
    Consume {
        of: usize,
        change: u8,
        run: u64,
        trouble: Trouble,
    },
    Race {
        of: usize,
        run: u64,
        meanwhile: Box<Op>,
    },
    Record {
        of: usize,
        run_of: usize,
        outcome: u8,
        trouble: Trouble,
    },
    Approve {
        of: usize,
        by: u8,
        weak: bool,
        unseen: bool,
    },
    Decline {
        of: usize,
    },
    Resolve {
        of: usize,
        happened: bool,
    },
    Sweep,
}

fn call() -> impl Strategy<Value = Call> {
    let small = || prop_oneof![3 => Just(0u8), 1 => Just(1u8)];
    (small(), small(), small(), small(), small()).prop_map(|(owner, tool, arguments, secret, revision)| Call {
        owner,
        tool,
        arguments,
        secret,
        revision,
    })
}

fn trouble() -> impl Strategy<Value = Trouble> {
    use Trouble::{Fail, LoseAck, LoseAll, None};
    prop_oneof![8 => Just(None), 1 => Just(Fail), 1 => Just(LoseAck), 1 => Just(LoseAll)]
}

fn simple() -> impl Strategy<Value = Op> {
    let of = || any::<usize>();
    let run = || prop_oneof![Just(1_000u64), Just(10_000), Just(90_000)];
    let change = || prop_oneof![12 => Just(0u8), 1 => 1u8..6];
    prop_oneof![
        3 => prop_oneof![6 => 0i64..5_000, 2 => 5_000i64..400_000, 1 => -100_000i64..0].prop_map(Op::Wait),
        3 => (of(), of(), -1i64..=1).prop_map(|(of, limit, beside)| Op::ClockTo { of, limit, beside }),
        6 => (call(), prop_oneof![4 => Just(0u8), 2 => 1u8..=2], any::<bool>(), prop::bool::weighted(0.05))
            .prop_map(|(call, approvers, masked, lost)| Op::Issue { call, approvers, masked, lost }),
        2 => (of(), change()).prop_map(|(of, change)| Op::Check { of, change }),
        8 => (of(), change(), run(), trouble())
            .prop_map(|(of, change, run, trouble)| Op::Consume { of, change, run, trouble }),
        5 => (of(), prop_oneof![9 => Just(None), 1 => of().prop_map(Some)], 0u8..4, trouble()).prop_map(
            |(of, other, outcome, trouble)| Op::Record { of, run_of: other.unwrap_or(of), outcome, trouble }
        ),
        4 => (of(), 0u8..4, prop::bool::weighted(0.1), prop::bool::weighted(0.1))
            .prop_map(|(of, by, weak, unseen)| Op::Approve { of, by, weak, unseen }),
        1 => of().prop_map(|of| Op::Decline { of }),
        2 => (of(), any::<bool>()).prop_map(|(of, happened)| Op::Resolve { of, happened }),
        2 => Just(Op::Sweep),
    ]
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    let race = (any::<usize>(), simple()).prop_map(|(of, meanwhile)| {
        let meanwhile = match meanwhile {
            // What comes in between is somebody else's call, not the clock's jump or a second fault.
            Op::Wait(_) | Op::ClockTo { .. } => Op::Consume { of, change: 0, run: 5_000, trouble: Trouble::None },
            Op::Consume { of, change, run, .. } => Op::Consume { of, change, run, trouble: Trouble::None },
            Op::Record { of, run_of, outcome, .. } => Op::Record { of, run_of, outcome, trouble: Trouble::None },
            Op::Issue { call, approvers, masked, .. } => Op::Issue { call, approvers, masked, lost: false },
            other => other,
        };
        Op::Race { of, run: 7_000, meanwhile: Box::new(meanwhile) }
    });
    prop_oneof![6 => simple(), 1 => race]
}

/// How a run ends that this number stands for.
pub(super) fn outcome(number: u8) -> (&'static str, String) {
    match number {
        0 => ("ok", r#"{"status":"ok","tool":"t","message":"done"}"#.to_string()),
        1 => (
            "failed",
            r#"{"status":"failed","tool":"t","error":"no","reason":"tool_error","effect":"none"}"#.to_string(),
        ),
        2 => ("ok", r#"{"status":"ok","tool":"t","message":"done otherwise"}"#.to_string()),
        _ => ("ok", format!(r#"{{"status":"ok","tool":"t","message":"{}"}}"#, "large ".repeat(100))),
    }
}

/// The changed call that a number stands for.
pub(super) fn changed(call: Call, change: u8) -> Call {
    match change {
        1 => Call { owner: call.owner + 7, ..call },
        2 => Call { tool: call.tool + 7, ..call },
        3 => Call { arguments: call.arguments + 7, ..call },
        4 => Call { revision: call.revision + 7, ..call },
        5 => Call { secret: call.secret + 7, ..call },
        _ => call,
    }
}
