//! A command of the operator's that keeps checkpoints elsewhere. It gets a head on its standard input, one line of JSON, and
//! has a bounded time to take it. It never decides whether a call runs: whether it works is a row and a message.

use super::checkpoint::Head;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait between two of them: heads that come meanwhile are one.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// How often to look whether it is over.
const LOOK: Duration = Duration::from_millis(10);

/// A program with its arguments. No shell reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointCommand {
    /// Its file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl CheckpointCommand {
    /// Gives it a head. Blocks, for as long as its patience at most; a program that is still there then is killed.
    pub(super) fn tell(&self, head: &Head, patience: Duration) -> Result<(), String> {
        let program = self.program.display();
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{program} cannot be started: {e}"))?;
        if let Some(mut input) = child.stdin.take() {
            // Less than any pipe holds, so this does not wait; one that does not read may end well all the same.
            let _ = input.write_all(head.line().as_bytes());
        }
        let until = Instant::now() + patience;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(format!("{program} failed: {status}")),
                Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
                Ok(None) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("{program} took longer than {patience:?} and was stopped"));
                }
                Err(e) => return Err(format!("{program} cannot be waited for: {e}")),
            }
        }
    }
}
