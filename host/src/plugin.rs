//! Plug-ins: load, describe, call. Placeholder.

use crate::tool::{Backend, Declaration, Plan, Power, Prepared, Progress, ToolError};
use std::sync::Arc;
use std::time::Duration;

/// A loaded plug-in.
pub struct Plugin {
    tools: Vec<Declaration>,
}

#[async_trait::async_trait]
impl Backend for Plugin {
    fn name(&self) -> &str {
        "none"
    }
    fn tools(&self) -> &[Declaration] {
        &self.tools
    }
    fn identity(&self, _tool: &str) -> String {
        String::new()
    }
    fn enforced(&self) -> bool {
        true
    }
    fn deadline(&self, _tool: &str) -> Duration {
        Duration::from_secs(1)
    }
    async fn preview(&self, _: &str, _: &str, _: Option<Arc<dyn Progress>>) -> Result<Plan, ToolError> {
        Err(ToolError::UnknownTool)
    }
    async fn prepare(&self, _: &str, _: Power) -> Result<Box<dyn Prepared>, ToolError> {
        Err(ToolError::UnknownTool)
    }
}
