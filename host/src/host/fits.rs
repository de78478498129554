//! Looks at a call's arguments with its tool's schema: whether they fit, and what in them is secret. What takes no time is done
//! where it came in; what may take long (a schema is a plug-in's, arguments are a caller's) is done where nobody waits for
//! the thread, one look of a plug-in's at a time, and given up when the time of a preview is over.

use super::Tool;
use super::hidden::Hidden;
use crate::schema::Schema;
use std::sync::Arc;
use tokio::time::timeout;

impl Tool {
    /// The error says what does not fit, for the agent that sent it.
    pub(super) async fn fits(&self, arguments: &str) -> Result<(), String> {
        self.look(arguments, Schema::check).await?
    }

    /// The secrets of a call. The error says, for the agent that sent it, why nobody knows them: then nothing may be told or
    /// kept of the arguments.
    pub(super) async fn hidden(&self, arguments: &str) -> Result<Hidden, String> {
        if !self.schema.marks_secrets() {
            return Ok(Hidden::nothing());
        }
        self.look(arguments, Hidden::of).await
    }

    async fn look<T: Send + 'static>(&self, arguments: &str, look: fn(&Schema, &str) -> T) -> Result<T, String> {
        if self.schema.is_quick(arguments) {
            return Ok(look(&self.schema, arguments));
        }
        let patience = self.backend.preview_deadline(&self.declaration.name);
        let looking = async {
            // It cannot be stopped: it keeps its turn until it ends by itself, whoever has stopped waiting for it.
            let turn = Arc::clone(&self.checking).acquire_owned().await;
            let (schema, arguments) = (Arc::clone(&self.schema), arguments.to_owned());
            let looked = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                look(&schema, &arguments)
            });
            looked.await.map_err(|error| {
                tracing::error!(tool = self.declaration.name, %error, "a check of arguments ended without an answer");
                "they could not be checked against the tool's schema".to_owned()
            })
        };
        timeout(patience, looking).await.unwrap_or_else(|_| {
            Err(format!(
                "they could not be checked against the tool's schema within {patience:?}: give fewer or shorter ones"
            ))
        })
    }
}
