//! What of an audit no plug-in may reach: whoever writes there decides what is found later.

use super::CheckpointCommand;
use crate::plugin::reach::Protected;
use std::path::{Path, PathBuf};

/// The files that a command names: its program, and each argument that is one's path, also behind a `=`. It is started where
/// this program was.
pub(crate) fn named(command: &CheckpointCommand) -> impl Iterator<Item = PathBuf> {
    let parts = command.arguments.iter().flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        [Some(word.as_str()), value].into_iter().flatten()
    });
    let files = parts.map(PathBuf::from).filter(|path| path.is_file());
    std::iter::once(command.program.clone()).chain(files)
}

/// Its folder, the places of its checkpoints, and the files of the command that is given them, which may be read.
pub(crate) fn protect(
    dir: &Path,
    checkpoints: &[PathBuf],
    command: Option<&CheckpointCommand>,
    protected: &mut Protected,
) {
    protected.add("the audit", dir);
    for place in checkpoints {
        protected.add("the checkpoints of the audit", place);
    }
    for file in command.into_iter().flat_map(named) {
        protected.add_readable("the command that keeps checkpoints", &file);
    }
}
