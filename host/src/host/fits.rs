//! Whether a call's arguments fit its tool's schema. What is checked in no time is checked where it came in; what may take
//! long (a schema is a plug-in's, arguments are a caller's) is checked where nobody waits for the thread, one check of a
//! plug-in's at a time, and given up when the time of a preview is over.

use super::Tool;
use std::sync::Arc;
use tokio::time::timeout;

impl Tool {
    /// The error says what does not fit, for the agent that sent it.
    pub(super) async fn fits(&self, arguments: &str) -> Result<(), String> {
        if self.schema.is_quick(arguments) {
            return self.schema.check(arguments);
        }
        let patience = self.backend.preview_deadline(&self.declaration.name);
        let check = async {
            // A check cannot be stopped: it keeps its turn until it ends by itself, whoever has stopped waiting for it.
            let turn = Arc::clone(&self.checking).acquire_owned().await;
            let (schema, arguments) = (Arc::clone(&self.schema), arguments.to_owned());
            let checked = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                schema.check(&arguments)
            });
            checked.await.unwrap_or_else(|error| {
                tracing::error!(tool = self.declaration.name, %error, "a check of arguments ended without an answer");
                Err("they could not be checked against the tool's schema".to_owned())
            })
        };
        timeout(patience, check).await.unwrap_or_else(|_| {
            Err(format!(
                "they could not be checked against the tool's schema within {patience:?}: give fewer or shorter ones"
            ))
        })
    }
}
