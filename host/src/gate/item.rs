//! A confirmation as people see it. The component writes it as JSON, whose keys `wit/gate` lists; here it is read.

use super::{Assurance, GateError, OutcomeStatus, Settlement};
use serde::{Deserialize, Deserializer};

/// How far a confirmation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Waiting for its token; for a person first, where `needs` says so.
    Pending,
    /// Every approver that is needed has agreed.
    Approved,
    /// Past its time.
    Expired,
    /// Running.
    InFlight,
    /// Started, past its deadline, not recorded.
    OutcomeUnknown,
    /// Recorded.
    Completed,
    /// Refused.
    Declined,
    /// The operator found that the effect happened.
    SettledHappened,
    /// The operator found that it did not.
    SettledDidNot,
}

/// One approver's agreement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Approval {
    /// Who.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What it proves.
    pub proof: Assurance,
}

/// Who refused, and why.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Refusal {
    /// Who.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// In their words.
    pub why: String,
}

/// A confirmation, without its token. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Item {
    /// The handle for people.
    pub approval_id: String,
    /// How far it is.
    pub progress: Progress,
    /// Whom it was issued to.
    pub owner: String,
    /// For which tool.
    pub tool: String,
    /// Of which revision.
    pub revision: String,
    /// For which arguments: canonical JSON, with a fixed text for each secret.
    pub arguments: String,
    /// What was shown, in one sentence.
    pub summary: String,
    /// The same, structured: a JSON object.
    pub preview: String,
    /// What a person should know before agreeing.
    pub warnings: Vec<String>,
    /// What the plan rests on.
    pub precondition: Option<String>,
    /// What the confirmation has to prove.
    pub needs: Assurance,
    /// How many different approvers have to agree.
    pub approvers: u8,
    /// When it was issued.
    pub issued_at: u64,
    /// Until when it waits: for the token, or for an approver.
    pub expires_at: u64,
    /// Who agreed so far.
    pub approvals: Vec<Approval>,
    /// Who refused.
    pub refusal: Option<Refusal>,
    /// Of a run that started.
    pub operation_id: Option<String>,
    /// Of a run that started.
    pub started_at: Option<u64>,
    /// Of a run that started: when it has to have ended.
    pub deadline: Option<u64>,
    /// Of a run that was recorded.
    pub completed_at: Option<u64>,
    /// Of a run that was recorded.
    pub status: Option<OutcomeStatus>,
    /// What the operator said of a run.
    pub settlement: Option<Settlement>,
    /// Digest of everything above that an approver decides on: 64 hexadecimal digits.
    pub shown: String,
}

impl Item {
    /// What the confirmation proves; as long as not every approver that is needed has agreed, what it has to prove.
    pub fn assurance(&self) -> Assurance {
        let needed = usize::from(self.approvers.max(1));
        match self.needs {
            Assurance::TokenOnly => Assurance::TokenOnly,
            needs if self.approvals.len() < needed => needs,
            needs => {
                let proofs = self.approvals.iter().take(needed).map(|approval| approval.proof);
                proofs.min_by_key(|proof| *proof as u8).unwrap_or(needs)
            }
        }
    }
}

/// An item as the component wrote it.
pub(super) fn read(text: &str) -> Result<Item, GateError> {
    serde_json::from_str(text).map_err(|e| GateError::Fault(format!("an item is not what it has to be: {e}")))
}

/// The generated types that an item contains.
macro_rules! readable {
    ($named:ident) => {
        impl<'de> Deserialize<'de> for $named {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                shapes::$named::deserialize(from)
            }
        }
    };
}
readable!(Assurance);
readable!(OutcomeStatus);
readable!(Settlement);

mod shapes {
    use serde::Deserialize;

    #[derive(Deserialize)]
    #[serde(remote = "super::Assurance", rename_all = "snake_case")]
    pub enum Assurance {
        TokenOnly,
        ClientPrompt,
        OutOfBand,
    }

    #[derive(Deserialize)]
    #[serde(remote = "super::OutcomeStatus", rename_all = "snake_case")]
    pub enum OutcomeStatus {
        Ok,
        Failed,
    }

    #[derive(Deserialize)]
    #[serde(remote = "super::Settlement")]
    pub struct Settlement {
        happened: bool,
        by: String,
        at: u64,
    }
}
