//! How a person calls this very program from a shell.

use crate::text;
use std::ffi::OsStr;
use std::path::Path;

/// `counterfoil` where the shell finds this program by that name, and otherwise its path, as one word of a shell.
pub(super) fn itself() -> String {
    const NAME: &str = "counterfoil";
    match std::env::current_exe() {
        Ok(program) if !is_found(&program, NAME, std::env::var_os("PATH").as_deref()) => {
            text::escape(&text::shell(&program.display().to_string())).into_owned()
        }
        _ => NAME.to_owned(),
    }
}

/// Whether the first file of that name along `path` is the program.
fn is_found(program: &Path, name: &str, path: Option<&OsStr>) -> bool {
    let mut files = path.into_iter().flat_map(std::env::split_paths).map(|folder| folder.join(name));
    let Some(found) = files.find(|file| file.is_file()) else { return false };
    match (found.canonicalize(), program.canonicalize()) {
        (Ok(found), Ok(program)) => found == program,
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_enough_only_where_it_leads_to_this_program() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for name in ["ours", "linked", "other", "empty"] {
            std::fs::create_dir(place(name)).unwrap();
        }
        let program = place("ours/it");
        std::fs::write(&program, "").unwrap();
        std::fs::write(place("other/it"), "").unwrap();
        std::os::unix::fs::symlink(&program, place("linked/it")).unwrap();
        let found = |folders: &[&str]| {
            let path = std::env::join_paths(folders.iter().map(|name| place(name))).unwrap();
            is_found(&program, "it", Some(&path))
        };
        assert!(found(&["ours"]) && found(&["empty", "linked", "other"]));
        assert!(!found(&["other", "ours"]) && !found(&["empty"]) && !is_found(&program, "it", None));
    }
}
