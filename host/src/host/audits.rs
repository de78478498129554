//! The audit of a host, and those of the hosts whose place it takes. What is in force is told when the host is exchanged in or
//! first called, and not when it is made: one that never comes into force is not spoken of. And whatever an earlier host wrote
//! elsewhere is brought to the disk with the rest.

use super::Tool;
use super::in_force::Policy;
use super::succession::Coming;
use crate::audit::in_force::{Cause, InForce, Override};
use crate::audit::{Audit, WeakAudit};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Audits {
    own: Option<Own>,
    /// None of them is kept open by this.
    earlier: Vec<WeakAudit>,
}

struct Own {
    audit: Audit,
    in_force: InForce,
}

impl Audits {
    pub(super) fn new(own: Option<(Audit, InForce)>, earlier: Vec<WeakAudit>) -> Self {
        let own = own.map(|(audit, in_force)| Own { audit, in_force });
        Self { own, earlier }
    }

    /// The audit for a call of this host.
    pub(super) fn of_call(&self) -> Option<&Audit> {
        self.own.as_ref().map(|own| &own.audit)
    }

    /// Says under which rules the host's calls are decided. Where a later host is in force, that one's word stays: only an audit
    /// that is this host's alone has none.
    pub(super) fn say(&self, coming: Coming) {
        let Some(Own { audit, in_force }) = &self.own else { return };
        match coming {
            Coming::InForce => audit.in_force(in_force),
            Coming::Replaced => audit.in_force_at_first(in_force),
        }
    }

    /// Waits until what was said is on the disk.
    pub(super) async fn settled(&self) {
        if let Some(own) = &self.own {
            own.audit.settled().await;
        }
    }

    /// What a host that takes this one's place has to bring to the disk.
    pub(super) fn for_the_next(&self) -> Vec<WeakAudit> {
        self.open().map(|audit| audit.downgrade()).collect()
    }

    /// Waits until everything is on the disk, of the earlier ones too.
    pub(super) async fn flush(&self) {
        for audit in self.open() {
            if let Err(error) = audit.flush().await {
                tracing::error!("{error}");
            }
        }
    }

    /// Ends them in order.
    pub(super) async fn close(&self) {
        for audit in self.open() {
            if let Err(error) = audit.close().await {
                tracing::error!("{error}");
            }
        }
    }

    fn open(&self) -> impl Iterator<Item = Audit> {
        let own = self.own.as_ref().map(|own| own.audit.clone());
        self.earlier.iter().filter_map(WeakAudit::upgrade).chain(own)
    }
}

/// What there is to say of a host's tools and policy.
pub(super) fn in_force(cause: Cause, model: &str, tools: &HashMap<String, Arc<Tool>>, policy: &Policy) -> InForce {
    let tools: BTreeMap<&str, &Tool> = tools.iter().map(|(name, tool)| (name.as_str(), &**tool)).collect();
    let mut revision = crate::digest::Digest::new("counterfoil tools in force 1");
    for (name, tool) in &tools {
        revision.field(name).field(&tool.revision);
    }
    let raised = tools.iter().filter_map(|(name, tool)| {
        let level = tool.raised?.name();
        Some(Override { tool: (*name).to_owned(), declared: tool.rules.declared.name(), level })
    });
    let unlocked = tools.iter().filter(|(_, tool)| tool.is_held_for_its_lock());
    InForce {
        cause,
        model: model.to_owned(),
        tools: tools.len(),
        revision: revision.finish(),
        overrides: raised.collect(),
        unlocked: unlocked.map(|(name, _)| (*name).to_owned()).collect(),
        rules: policy.written(),
    }
}
