//! Looks at a call's arguments with its tool's schema: whether they fit, and what in them is secret. What takes no time is done
//! where it came in; what may take long (a schema is a plug-in's, arguments are a caller's) is done where nobody waits for
//! the thread, a few looks of a plug-in's at a time and of one owner's fewer, and given up when the time of a preview is over.

use super::Tool;
use super::hidden::Hidden;
use crate::gate::Reason;
use crate::schema::Schema;
use std::sync::Arc;
use tokio::time::timeout;

/// Why a call cannot go on, for the agent that sent it.
pub(super) struct Unfit {
    pub(super) reason: Reason,
    pub(super) what: String,
}

impl Unfit {
    fn arguments(what: String) -> Self {
        Self { reason: Reason::InvalidArguments, what }
    }

    /// It is not about the arguments: others are being looked at.
    fn busy(what: String) -> Self {
        Self { reason: Reason::Unavailable, what }
    }
}

impl Tool {
    /// Whether the arguments fit.
    pub(super) async fn fits(&self, owner: &str, arguments: &str) -> Result<(), Unfit> {
        self.look(owner, arguments, Schema::check).await?.map_err(Unfit::arguments)
    }

    /// The secrets of a call. Where nobody knows them, nothing may be told or kept of the arguments.
    pub(super) async fn hidden(&self, owner: &str, arguments: &str) -> Result<Hidden, Unfit> {
        if !self.schema.marks_secrets() {
            return Ok(Hidden::nothing());
        }
        self.look(owner, arguments, Hidden::of).await
    }

    async fn look<T: Send + 'static>(
        &self,
        owner: &str,
        arguments: &str,
        look: fn(&Schema, &str) -> T,
    ) -> Result<T, Unfit> {
        if self.schema.is_quick(arguments) {
            return Ok(look(&self.schema, arguments));
        }
        let patience = self.backend.preview_deadline(&self.declaration.name);
        let place = self.checking.enter(owner).map_err(|calls| {
            Unfit::busy(format!(
                "the arguments of {calls} calls of yours are being checked already, or wait for it: wait until some of them \
                 have been answered, then call again"
            ))
        })?;
        let Ok(Ok(turn)) = timeout(patience, place.turn(false)).await else {
            return Err(Unfit::busy("too many arguments of others are being checked: call again later".to_owned()));
        };
        let (schema, arguments) = (Arc::clone(&self.schema), arguments.to_owned());
        // It cannot be stopped: it keeps its turn until it ends by itself, whoever has stopped waiting for it.
        let looking = tokio::task::spawn_blocking(move || {
            let looked = look(&schema, &arguments);
            drop((turn, place));
            looked
        });
        match timeout(patience, looking).await {
            Ok(Ok(looked)) => Ok(looked),
            Ok(Err(error)) => {
                tracing::error!(tool = self.declaration.name, %error, "a check of arguments ended without an answer");
                Err(Unfit::arguments("they could not be checked against the tool's schema".to_owned()))
            }
            Err(_) => Err(Unfit::arguments(format!(
                "they could not be checked against the tool's schema within {patience:?}: give fewer or shorter ones"
            ))),
        }
    }
}
