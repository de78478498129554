//! What to say where a call ends early. Shared by the plug-ins that work on files. Pure.

use crate::bindings::exports::counterfoil::tool::tools::{Effect, Failure, ToolError};
use serde::de::DeserializeOwned;

pub fn invalid(text: impl Into<String>) -> ToolError {
    ToolError::InvalidArguments(text.into())
}

pub fn refused(text: impl Into<String>) -> ToolError {
    ToolError::Refused(text.into())
}

pub fn failed(message: impl Into<String>, effect: Effect) -> ToolError {
    ToolError::Failed(Failure { message: message.into(), effect })
}

/// What to tell about an error of the file system before anything was changed.
pub fn io(what: &str, error: &std::io::Error) -> ToolError {
    use std::io::ErrorKind as E;
    match error.kind() {
        E::NotFound => refused(format!("{what}: it does not exist")),
        E::PermissionDenied | E::ReadOnlyFilesystem => refused(format!(
            "{what}: not permitted; the path leads out of the granted directories, or the grant or the file is read-only"
        )),
        E::InvalidFilename => {
            refused(format!("{what}: the name is too long or has characters that the file system does not take"))
        }
        _ => failed(format!("{what}: {error}"), Effect::None),
    }
}

pub fn parse<T: DeserializeOwned>(arguments: &str) -> Result<T, ToolError> {
    serde_json::from_str(arguments).map_err(|error| invalid(format!("the arguments do not fit: {error}")))
}
