//! Where and how an audit is written.

use super::CheckpointCommand;
use crate::gate::{Clock, SystemClock};
use std::path::PathBuf;
use std::sync::Arc;

/// Size at which a file is ended and the next begun, unless said otherwise.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;
/// The least that may be said: room for the first rows and some more.
pub const LEAST_FILE: u64 = 64 * 1024;

/// Where and how to write.
#[derive(Clone)]
pub struct AuditOptions {
    /// The folder of the files. It is made if it is not there; nobody else may own it or write to it.
    pub dir: PathBuf,
    /// Where the heads of the files are kept, outside `dir`: at least one folder. A checkpoint that cannot be written is an
    /// audit that cannot be written.
    pub checkpoints: Vec<PathBuf>,
    /// What else is given the heads.
    pub command: Option<CheckpointCommand>,
    /// The configuration that decides, for whoever reads the audit of several: it is in the first row of each file.
    pub config: Option<PathBuf>,
    /// Size at which a file is ended and the next begun.
    pub max_file: u64,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl AuditOptions {
    /// Files in `dir`, their heads in `checkpoints`, everything else as usual.
    pub fn new(dir: impl Into<PathBuf>, checkpoints: impl Into<PathBuf>) -> Self {
        let checkpoints = vec![checkpoints.into()];
        Self {
            dir: dir.into(),
            checkpoints,
            command: None,
            config: None,
            max_file: MAX_FILE,
            clock: Arc::new(SystemClock),
        }
    }
}
