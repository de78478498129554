//! What there is to tell, and how a row is laid out. Knows no file and no clock.
//!
//! A row holds no text of a tool's or a caller's but names, which are bounded; of arguments it holds a digest. So neither a
//! token nor a secret can come into one, whatever was sent.

use super::words;
use crate::Level;
use crate::gate::{Assurance, Detail, Failure, OutcomeStatus, Reason};
use crate::tool::Effect;
use serde::Serialize;
use std::borrow::Cow;
use std::time::Duration;

/// Longest name that is repeated whole, in characters: no tool and no plug-in has a longer one.
const LONGEST_NAME: usize = 64;

/// The call that a row is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject {
    pub(crate) owner: String,
    pub(crate) tool: String,
    /// The level at which it ran; before that is decided, the most that it can need. None: there is no such tool.
    pub(crate) level: Option<Level>,
    /// None: there is no such tool.
    pub(crate) revision: Option<String>,
    /// Digest of the canonical arguments, of the masked ones where the schema marks secrets. None: they could not be read, or
    /// no schema says what in them is secret.
    pub(crate) arguments: Option<String>,
    pub(crate) approval_id: Option<String>,
    /// What that confirmation proves; before its token is spent, what it has to prove.
    pub(crate) assurance: Option<Assurance>,
    /// What the operator's rules and budgets say of the call, in the operator's words.
    pub(crate) policy: Vec<String>,
}

/// So many words of the operator's on one call are in a row, and each no longer than this in bytes.
const MOST_POLICY: usize = 16;
const LONGEST_POLICY: usize = 512;

impl Subject {
    /// Rules or budgets said this of the call.
    pub(crate) fn follows(&mut self, policy: &[String]) {
        let room = MOST_POLICY.saturating_sub(self.policy.len());
        self.policy.extend(policy.iter().take(room).map(|what| {
            let start = what.get(..what.floor_char_boundary(LONGEST_POLICY)).unwrap_or_default();
            if start.len() == what.len() { what.clone() } else { format!("{start}… ({} bytes)", what.len()) }
        }));
    }
}

/// How a started run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Ok,
    Failed(Failure, Effect),
}

/// Everything that is told. Whoever adds a case says here which row it makes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<'a> {
    /// A confirmation was issued.
    ChallengeIssued { took: Duration },
    /// Nothing ran on the strength of this call. `started`: a run had been begun for it.
    Refused { reason: Reason, detail: Option<Detail>, started: Option<u64>, took: Duration },
    /// A run is about to begin: with a token, before that is spent.
    Started { operation_id: Option<&'a str> },
    /// It is over. `kept`: whether its outcome could be stored, where one has to be.
    Ended { started: u64, operation_id: &'a str, ending: Ending, kept: Option<bool>, took: Duration },
    /// Its caller went away: nothing was spent for it. `stopped`: whether it was stopped with that, or may be running still.
    Cancelled { started: u64, operation_id: Option<&'a str>, effect: Effect, stopped: bool, took: Duration },
    /// A stored outcome was delivered again.
    Replayed { operation_id: &'a str, status: OutcomeStatus, started: Option<u64>, took: Duration },
    /// A run came back that the operator had settled: its own outcome replaces that.
    SettlementReplaced { started: u64, operation_id: &'a str, happened: bool, by: &'a str },
    /// The operator is about to settle a lost run.
    Settling { happened: bool, by: &'a str },
    /// It is settled.
    Resolved { started: u64, happened: bool, by: &'a str, took: Duration },
    /// It could not be settled, and nothing was changed.
    NotResolved { started: u64, by: &'a str, took: Duration },
    /// The command that keeps checkpoints fails, or works again.
    CheckpointCommand { works: bool },
}

impl Event<'_> {
    /// Why, where a caller can bring this about as often as it likes while nothing runs.
    pub(super) fn idle(&self) -> Option<&'static str> {
        match *self {
            Self::Refused { started: None, reason, .. } => Some(words::reason(reason)),
            Self::Replayed { started: None, .. } => Some("replayed"),
            _ => None,
        }
    }

    pub(super) fn row<'a>(&'a self, subject: Option<&'a Subject>) -> Row<'a> {
        let row = subject.map(Row::about).unwrap_or_default();
        match *self {
            Self::ChallengeIssued { took } => Row { event: "challenge_issued", duration_ms: Some(millis(took)), ..row },
            Self::Refused { reason, detail, started, took } => Row {
                event: "refused",
                reason: Some(words::reason(reason)),
                detail: detail.map(words::detail),
                started,
                duration_ms: Some(millis(took)),
                ..row
            },
            Self::Started { operation_id } => Row { event: "started", operation_id, ..row },
            Self::Ended { started, operation_id, ending, kept, took } => {
                let (outcome, effect) = match ending {
                    Ending::Ok => ("ok", None),
                    Ending::Failed(failure, effect) => (words::failure(failure), Some(words::effect(effect))),
                };
                Row {
                    event: "ended",
                    operation_id: Some(operation_id),
                    started: Some(started),
                    outcome: Some(outcome),
                    effect,
                    kept,
                    duration_ms: Some(millis(took)),
                    ..row
                }
            }
            Self::Cancelled { started, operation_id, effect, stopped, took } => Row {
                event: "cancelled",
                operation_id,
                started: Some(started),
                effect: Some(words::effect(effect)),
                stopped: Some(stopped),
                duration_ms: Some(millis(took)),
                ..row
            },
            Self::Replayed { operation_id, status, started, took } => Row {
                event: "replayed",
                operation_id: Some(operation_id),
                status: Some(words::status(status)),
                started,
                duration_ms: Some(millis(took)),
                ..row
            },
            Self::SettlementReplaced { started, operation_id, happened, by } => Row {
                event: "settlement_replaced",
                operation_id: Some(operation_id),
                started: Some(started),
                settled: Some(words::settled(happened)),
                by: Some(bounded(by)),
                ..row
            },
            Self::Settling { happened, by } => {
                Row { event: "settling", settled: Some(words::settled(happened)), by: Some(bounded(by)), ..row }
            }
            Self::Resolved { started, happened, by, took } => Row {
                event: "resolved",
                started: Some(started),
                settled: Some(words::settled(happened)),
                by: Some(bounded(by)),
                duration_ms: Some(millis(took)),
                ..row
            },
            Self::NotResolved { started, by, took } => Row {
                event: "not_resolved",
                started: Some(started),
                by: Some(bounded(by)),
                duration_ms: Some(millis(took)),
                ..row
            },
            Self::CheckpointCommand { works } => {
                Row { event: if works { "checkpoint_restored" } else { "checkpoint_failed" }, ..row }
            }
        }
    }
}

/// Where the file goes on that another one ended.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Previous {
    pub(super) file: String,
    pub(super) seq: u64,
    pub(super) head: String,
}

/// One row. The order of the fields is the order in the line; what there is not is left out.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Row<'a> {
    pub(super) seq: u64,
    pub(super) time: String,
    pub(super) event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) owner: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approval_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) assurance: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) policy: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effect: Option<&'static str>,
    /// `cancelled`: whether it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) settled: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<f64>,
    /// `opened`: the format of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) process: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) config: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<&'a Previous>,
    /// `in_force`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) overrides: Option<&'a [super::in_force::Override]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unlocked: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rules: Option<&'a [String]>,
    /// How many rows were left out since the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left_out_why: Option<&'a super::idle::LeftOut>,
    pub(super) prev: &'a str,
}

impl<'a> Row<'a> {
    fn about(subject: &'a Subject) -> Self {
        Self {
            owner: Some(Cow::Borrowed(&subject.owner)),
            tool: Some(bounded(&subject.tool)),
            level: subject.level.map(Level::name),
            revision: subject.revision.as_deref(),
            arguments: subject.arguments.as_deref(),
            approval_id: subject.approval_id.as_deref(),
            assurance: subject.assurance.map(words::assurance),
            policy: &subject.policy,
            ..Self::default()
        }
    }
}

/// Every event that a row can tell of: `docs/audit.md` is held to these.
pub const EVENTS: [&str; 16] = [
    "opened",
    "in_force",
    "challenge_issued",
    "refused",
    "started",
    "ended",
    "cancelled",
    "replayed",
    "settling",
    "resolved",
    "not_resolved",
    "settlement_replaced",
    "checkpoint_failed",
    "checkpoint_restored",
    "closed",
    "left_out",
];

/// Every field that a row can have, in the order of a line, and what it says: `docs/audit.md` is held to these.
pub const FIELDS: [(&str, &str); 40] = [
    ("seq", "number of the row: 1 for the first of a process, one more for each; it goes on over a rotation"),
    ("time", "when it was written: RFC 3339 with milliseconds, UTC"),
    ("event", "what happened: the table above"),
    ("owner", "who called"),
    ("tool", "the name that was called; one that is longer than any tool's is cut, and says so"),
    ("level", "at which it ran; before that is decided, the most that it can need; not there for an unknown tool"),
    (
        "revision",
        "digest of what would run and under which rules, of a tool that is gone as it was confirmed; in `in_force` of all tools",
    ),
    ("arguments", "SHA-256 of the canonical arguments, of the masked ones where the schema marks secrets"),
    ("approval_id", "the confirmation"),
    ("operation_id", "the run"),
    ("assurance", "what the confirmation proves; where its token was not spent, what it has to prove"),
    (
        "policy",
        "what the operator's rules and budgets said of the call: each that raised or denied it, with its reason",
    ),
    ("started", "`seq` of the row with which this run, or this settling, began"),
    ("reason", "why it was refused: a reason of the wire"),
    ("detail", "what more is known of it: a detail of the wire"),
    ("status", "`ok` or `failed`: what was delivered again"),
    ("outcome", "`ok`, `tool_error`, `trapped`, `deadline` or `output_limit`: how the run ended"),
    ("effect", "of a run that failed or whose caller went away: `none`, `partial` or `unknown`"),
    ("stopped", "`false`: nothing can stop this tool, so it may be running still, though its caller went away"),
    ("kept", "whether the outcome of a confirmed run could be stored"),
    ("settled", "`happened` or `did_not`: what the operator said of a lost run"),
    ("by", "who settled it"),
    (
        "duration_ms",
        "milliseconds: of a run from its `started`, of a settlement from its `settling`, of anything else from when the call came",
    ),
    ("format", "`counterfoil-audit 1`"),
    ("file", "the name of this file"),
    ("program", "version of the program or library that wrote it"),
    ("process", "number of the process that wrote it"),
    ("config", "the configuration of that process, by its path"),
    ("previous", "after a rotation: `file`, last `seq` and `head` of the file before"),
    ("cause", "`start`, `reload` or `rotation`; of `closed`: `rotation` where the next file goes on from this one"),
    ("since", "since when it is in force"),
    ("model", "version of the risk model"),
    ("tools", "how many tools there are"),
    ("part", "which of `parts` rows this is, where one line would be too long"),
    ("parts", "how many rows it takes"),
    ("overrides", "what the operator raised: `tool`, `declared` and `level`"),
    (
        "unlocked",
        "tools that need a confirmation because their plug-in is not locked, whatever the operator says of them",
    ),
    (
        "rules",
        "the operator's rules and budgets, as written, each rule with its reason; a long one is cut, with its digest",
    ),
    ("left_out", "how many refusals and replays were not written since the row before, because too many came at once"),
    ("left_out_why", "the same by why: each reason of the wire, and `replayed`, with how many"),
];

/// The last field, in every row.
pub const PREV: (&str, &str) = ("prev", "SHA-256 of the line before, without its end of line; 64 zeros in the first");

fn millis(took: Duration) -> f64 {
    // Whole microseconds: as exact as anybody can use, and short in print.
    u32::try_from(took.as_micros()).map_or_else(|_| took.as_secs_f64().round() * 1e3, |micros| f64::from(micros) / 1e3)
}

/// A name as it may be repeated: what is longer than any name is cut, visibly, and a token is in none.
pub(crate) fn bounded(name: &str) -> Cow<'_, str> {
    let masked = crate::text::mask(name);
    let name = match &masked {
        Cow::Borrowed(name) => *name,
        Cow::Owned(name) => return Cow::Owned(shortened(name).into_owned()),
    };
    shortened(name)
}

fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST_NAME) {
        None => Cow::Borrowed(name),
        Some((end, _)) => {
            let start = name.get(..end).unwrap_or_default();
            Cow::Owned(format!("{start}… ({} characters)", name.chars().count()))
        }
    }
}
