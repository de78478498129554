//! For people and their tools: who agrees, who refuses, what became of a lost run. Never listed to agents.

use super::bindings::approvals::Selection;
use super::item::read;
use super::{Assurance, Cursor, Gate, GateError, Item};

impl Gate {
    /// The approval id of a token's confirmation, whoever holds the token: for an audit, never for a caller. None: no such
    /// confirmation.
    ///
    /// # Errors
    /// Rejected `unavailable`.
    pub async fn identify(&self, token: &str) -> Result<Option<String>, GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_approvals().call_identify(store, token).await;
        Ok(lease.settle(result)??)
    }

    /// Takes back a confirmation whose token nobody was given. Where the store does not answer it stays until its time is over.
    pub(crate) async fn withdraw(&self, approval_id: &str) {
        let removed = match self.store.load_by_approval_id(approval_id).await {
            Ok(Some(stored)) => self.store.remove(stored.key, stored.version).await.map(|_| ()),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            tracing::warn!("a confirmation of which nobody has the token could not be taken back: {error}");
        }
    }

    /// One confirmation. None: no such approval id.
    ///
    /// # Errors
    /// Rejected `unavailable`.
    pub async fn show(&self, approval_id: &str) -> Result<Option<Item>, GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_approvals().call_show(store, approval_id).await;
        lease.settle(result)??.as_deref().map(read).transpose()
    }

    /// Unspent, unexpired confirmations, oldest first, behind `after`.
    ///
    /// # Errors
    /// Rejected `unavailable`.
    pub async fn pending(&self, after: Option<&Cursor>, limit: u32) -> Result<Vec<Item>, GateError> {
        self.list(Selection::Pending, after, limit).await
    }

    /// Runs that started and were not recorded, oldest first, behind `after`.
    ///
    /// # Errors
    /// Rejected `unavailable`.
    pub async fn unrecorded(&self, after: Option<&Cursor>, limit: u32) -> Result<Vec<Item>, GateError> {
        self.list(Selection::Unrecorded, after, limit).await
    }

    async fn list(&self, which: Selection, after: Option<&Cursor>, limit: u32) -> Result<Vec<Item>, GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_approvals().call_list(store, which, after, limit).await;
        lease.settle(result)??.iter().map(|text| read(text)).collect()
    }

    /// A person agrees to what was shown.
    ///
    /// # Errors
    /// Rejected `unavailable`. Misuse: no such id, not pending, past its time, another digest than `shown`, the owner
    /// approving their own call, the same approver twice, a proof weaker than the plan needs.
    pub async fn approve(&self, approval_id: &str, by: &str, shown: &str, proof: Assurance) -> Result<(), GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_approvals().call_approve(store, approval_id, by, shown, proof).await;
        Ok(lease.settle(result)??)
    }

    /// A person refuses, finally.
    ///
    /// # Errors
    /// Rejected `unavailable`. Misuse: no such id, not pending, past its time.
    pub async fn decline(&self, approval_id: &str, by: &str, why: &str) -> Result<(), GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_approvals().call_decline(store, approval_id, by, why).await;
        Ok(lease.settle(result)??)
    }

    /// The operator says what became of a run that was never recorded.
    ///
    /// # Errors
    /// Rejected `unavailable`. Misuse: no such id, not a lost run, or its deadline has not passed.
    pub async fn resolve(&self, approval_id: &str, by: &str, happened: bool) -> Result<(), GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_approvals().call_resolve(store, approval_id, by, happened).await;
        Ok(lease.settle(result)??)
    }

    /// Decodes a stored body: JSON for people, an item as it was when it was issued.
    ///
    /// # Errors
    /// Misuse: what is wrong with it.
    pub async fn decode(&self, body: &[u8]) -> Result<String, GateError> {
        self.instances.aside(|i, s| i.counterfoil_gate_approvals().call_decode(s, body))?.map_err(GateError::Misuse)
    }
}
