//! The contract as a table of facts, written from its documentation and not from the code: what every call must be
//! answered, given all that has happened. Keeps everything in the open and decides by looking it all through.

use serde_json::{Value, json};

pub const TTL: u64 = 60_000;
pub const WINDOW: u64 = 120_000;
pub const REPLAY: u64 = 30_000;
pub const TOMBSTONE: u64 = 120_000;
pub const COOL_DOWN: u64 = 20_000;
pub const RECENT: u64 = 200_000;
pub const PER_OWNER: usize = 4;
pub const IN_ALL: usize = 7;
pub const MAX_OUTCOME: usize = 400;

/// How every secret begins.
pub const SECRET: &str = "s3cret-";

/// A call, by small numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub owner: u8,
    pub tool: u8,
    pub arguments: u8,
    /// An argument like the other, which nobody may see where its tool marks it.
    pub secret: u8,
    pub revision: u8,
}

impl Call {
    pub fn is_identical(self, other: Self) -> bool {
        (self.owner, self.tool, self.arguments, self.secret) == (other.owner, other.tool, other.arguments, other.secret)
    }

    fn written(self, secret: &str) -> String {
        format!(r#"{{"n":{},"secret":"{secret}"}}"#, self.arguments)
    }

    /// The arguments as they are kept and shown where the secret is marked.
    pub fn masked(self) -> String {
        self.written("(secret)")
    }

    /// The arguments as they are given and run.
    pub fn whole(self) -> String {
        self.written(&format!("{SECRET}{}", self.secret))
    }

    pub fn json(self) -> Value {
        json!({
            "owner": owner(self.owner), "tool": format!("tool_{}", self.tool),
            "revision": format!("rev-{}", self.revision), "arguments": self.whole(),
        })
    }
}

pub fn owner(number: u8) -> String {
    format!("os:user{number}")
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    Pending,
    /// Pending, and a sweep has found it expired.
    Expired,
    /// `operation` is None where the answer with it was lost.
    InFlight {
        operation: Option<String>,
        started: u64,
        deadline: u64,
    },
    /// `payload` is None once a sweep has dropped it.
    Completed {
        operation: String,
        at: u64,
        status: String,
        payload: Option<String>,
        before: Value,
    },
    Declined {
        at: u64,
    },
    Settled {
        operation: Option<String>,
        at: u64,
        happened: bool,
        by: String,
    },
    /// A sweep has removed it.
    Gone,
}

#[derive(Clone, Debug)]
pub struct Confirmation {
    /// Empty where the answer with it was lost.
    pub token: String,
    pub approval_id: String,
    pub call: Call,
    /// Whether its secret is marked.
    pub masked: bool,
    pub issued: u64,
    /// How many have to agree; 0: the token is enough.
    pub approvers: usize,
    pub approvals: Vec<(String, u64)>,
    pub fate: Fate,
}

impl Confirmation {
    /// Whether a sweep has dropped what it was about.
    fn is_stripped(&self) -> bool {
        matches!(self.fate, Fate::Expired | Fate::Completed { payload: None, .. })
    }

    /// Whether what is kept of it holds its secret.
    pub fn tells_secret(&self) -> bool {
        !self.masked && !self.is_stripped()
    }

    /// The arguments as anybody may see them.
    pub fn shown(&self) -> String {
        match (self.is_stripped(), self.masked) {
            (true, _) => String::new(),
            (false, true) => self.call.masked(),
            (false, false) => self.call.whole(),
        }
    }

    pub fn expires(&self) -> u64 {
        match (self.approvers, self.agreed()) {
            (0, _) => self.issued + TTL,
            (_, Some(at)) => at + TTL,
            (_, None) => self.issued + WINDOW,
        }
    }

    pub fn agreed(&self) -> Option<u64> {
        self.approvals.get(self.approvers.checked_sub(1)?).map(|(_, at)| *at)
    }

    fn is_expired(&self, now: u64) -> bool {
        self.fate == Fate::Expired || now < self.issued || now >= self.expires()
    }

    /// From when on nothing is told of it any more.
    pub fn forgotten(&self) -> u64 {
        match &self.fate {
            Fate::Pending | Fate::Expired => self.expires() + TOMBSTONE,
            Fate::InFlight { .. } => u64::MAX,
            Fate::Completed { at, .. } => at + REPLAY + TOMBSTONE,
            Fate::Declined { at } => self.expires().max(*at) + TOMBSTONE,
            Fate::Settled { at, .. } => at + TOMBSTONE,
            Fate::Gone => 0,
        }
    }

    /// Until when something about it holds: what the clock likes to be set next to.
    pub fn limits(&self) -> Vec<u64> {
        let own = match &self.fate {
            Fate::InFlight { deadline, .. } => vec![*deadline],
            Fate::Completed { at, .. } => vec![at + REPLAY, at + RECENT],
            Fate::Declined { at } => vec![at + COOL_DOWN],
            _ => Vec::new(),
        };
        [own, vec![self.issued, self.expires()], vec![self.forgotten()]].concat()
    }
}

/// What must be answered to a call with a token, before anything is swapped.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Runnable,
    /// Another confirmation of the call is in flight: how long still, if its deadline has not passed.
    Unresolved(Option<u64>),
    Replay {
        operation: String,
        at: u64,
        status: String,
        payload: String,
    },
    Reject(&'static str, Option<&'static str>, Option<u64>),
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub now: u64,
    pub all: Vec<Confirmation>,
}

impl Model {
    pub fn verdict(&self, at: usize, call: Call) -> Verdict {
        use Verdict::{Reject, Replay, Runnable};
        let (c, now) = (&self.all[at], self.now);
        if c.fate == Fate::Gone || now >= c.forgotten() {
            return Reject("unknown_or_used", None, None);
        }
        if call.owner != c.call.owner {
            return Reject("wrong_owner", None, None);
        }
        if call.tool != c.call.tool {
            return Reject("wrong_tool", None, None);
        }
        if (call.arguments, call.secret) != (c.call.arguments, c.call.secret) {
            return Reject("params_changed", None, None);
        }
        let used = |detail, wait| Reject("unknown_or_used", Some(detail), wait);
        match &c.fate {
            Fate::Completed { operation, at, status, payload: Some(payload), .. } if now < at + REPLAY => {
                let (operation, status) = (operation.clone(), status.clone());
                return Replay { operation, at: *at, status, payload: payload.clone() };
            }
            Fate::Completed { .. } => return used("already_ran", None),
            Fate::InFlight { deadline, .. } if now < *deadline => return used("in_flight", Some(deadline - now)),
            Fate::InFlight { .. } => return used("outcome_unknown", None),
            Fate::Settled { happened: true, .. } => return used("settled_happened", None),
            Fate::Settled { .. } => return used("settled_did_not", None),
            Fate::Pending | Fate::Expired | Fate::Declined { .. } | Fate::Gone => {}
        }
        if c.is_expired(now) {
            return Reject("expired", None, None);
        }
        if call.revision != c.call.revision {
            return Reject("tool_changed", None, None);
        }
        if matches!(c.fate, Fate::Declined { .. }) {
            return Reject("declined", None, None);
        }
        if c.approvers > 0 && c.agreed().is_none() {
            return Reject("awaiting_approval", None, Some(15_000));
        }
        match self.running(c.call) {
            Some(deadline) => Verdict::Unresolved((now < deadline).then(|| deadline - now)),
            None => Runnable,
        }
    }

    /// The deadline of the identical call that is in flight.
    pub fn running(&self, call: Call) -> Option<u64> {
        self.identical(call)
            .find_map(|c| if let Fate::InFlight { deadline, .. } = c.fate { Some(deadline) } else { None })
    }

    fn identical(&self, call: Call) -> impl Iterator<Item = &Confirmation> {
        self.all.iter().filter(move |c| c.call.is_identical(call))
    }

    /// What must be answered to a call without a token: `recent`, or the refusal.
    pub fn issue(&self, call: Call) -> Result<Value, (&'static str, Option<u64>)> {
        let now = self.now;
        if self.running(call).is_some_and(|deadline| now >= deadline) {
            return Err(("unresolved", None));
        }
        let declined = |c: &Confirmation| if let Fate::Declined { at } = c.fate { Some(at) } else { None };
        if let Some(at) = self.identical(call).filter_map(declined).max().filter(|at| now < at + COOL_DOWN) {
            return Err(("declined", Some(at + COOL_DOWN - now)));
        }
        let waits = |c: &&Confirmation| matches!(c.fate, Fate::Pending | Fate::Expired) && c.expires() > now;
        let waiting: Vec<_> = self.all.iter().filter(waits).collect();
        let own = waiting.iter().filter(|c| c.call.owner == call.owner).count();
        if own >= PER_OWNER || waiting.len() >= IN_ALL {
            return Err(("too_many_pending", None));
        }
        let mut recent: Vec<(bool, u64)> = Vec::new();
        for c in self.identical(call) {
            match c.fate {
                Fate::InFlight { started, .. } => recent.push((false, started)),
                Fate::Completed { at, .. } if now.saturating_sub(at) < RECENT => recent.push((true, at)),
                _ => {}
            }
        }
        recent.sort_by_key(|(completed, at)| (*completed, u64::MAX - at));
        let told = |(completed, at): (bool, u64)| json!({ "state": if completed { "completed" } else { "in_flight" }, "at": at, "ago": now.saturating_sub(at) });
        Ok(recent.into_iter().map(told).collect())
    }

    /// What must be answered to a record, and what is so then. None: misuse.
    pub fn record(&self, at: usize, operation: &str, status: &str, payload: &str) -> Option<(Value, Fate)> {
        let mine = |other: &Option<String>| other.as_deref() == Some(operation);
        let completed = |before: Value| Fate::Completed {
            operation: operation.to_string(),
            at: self.now,
            status: status.to_string(),
            payload: Some(payload.to_string()),
            before,
        };
        match &self.all[at].fate {
            Fate::InFlight { operation, .. } if mine(operation) => Some((Value::Null, completed(Value::Null))),
            Fate::Settled { operation, at, happened, by } if mine(operation) => {
                let before = json!({ "happened": happened, "by": by, "at": at });
                Some((before.clone(), completed(before)))
            }
            Fate::Completed { operation: kept, status: was, payload: had, before, .. }
                if kept == operation && was == status && had.as_deref().is_none_or(|had| had == payload) =>
            {
                Some((before.clone(), self.all[at].fate.clone()))
            }
            _ => None,
        }
    }

    pub fn may_approve(&self, at: usize, by: &str) -> bool {
        let c = &self.all[at];
        let open = c.fate == Fate::Pending && !c.is_expired(self.now) && c.approvers > 0 && c.agreed().is_none();
        open && by != owner(c.call.owner) && c.approvals.iter().all(|(other, _)| other != by)
    }

    pub fn may_decline(&self, at: usize) -> bool {
        self.all[at].fate == Fate::Pending && !self.all[at].is_expired(self.now)
    }

    /// What a sweep of everything may drop: nothing that is still told now or later.
    pub fn sweep(&mut self) {
        let now = self.now;
        for c in &mut self.all {
            let forgotten = c.forgotten();
            let (expires, fate) = (c.expires(), &mut c.fate);
            match fate {
                Fate::Pending | Fate::Expired if now >= forgotten => *fate = Fate::Gone,
                Fate::Pending if now >= expires => *fate = Fate::Expired,
                Fate::Completed { at, payload, .. } if now >= *at + REPLAY => {
                    if now >= forgotten.max(*at + RECENT) {
                        *fate = Fate::Gone;
                    } else {
                        *payload = None;
                    }
                }
                Fate::Declined { at } if now >= forgotten.max(*at + COOL_DOWN) => *fate = Fate::Gone,
                Fate::Settled { .. } if now >= forgotten => *fate = Fate::Gone,
                _ => {}
            }
        }
    }
}
