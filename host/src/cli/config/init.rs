//! `config init [DIR]`: a configuration, the plug-in `files` and an empty workspace, none of which was there before.

use super::super::print::{bold, inset, line, note};
use super::super::{Usage, exit};
use crate::config::FILE_NAME;
use crate::text;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The plug-in `files` as built with this program.
const FILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files.wasm"));

const CONFIG: &str = r#"# Counterfoil: which tools an agent gets, and what they may do.
# `counterfoil config check` shows what this file means; `counterfoil config schema` has every key.
# Paths are relative to this file.

[gate]
ttl = "5m"                             # life of a token: 15 s to 1 h
confirm_parameter = "confirm_token"    # the argument in which a caller gives the token back

[store]
# Where confirmations are kept. Default: an SQLite file in your state directory.
# url = "sqlite:state.db"

[plugins.files]
source = "files.wasm"
dirs = [{ host = "./workspace", guest = "/files", access = "read-write" }]
# Only some of its tools, by the plug-in's own names. Default: all.
# tools = ["list_files", "read_file", "write_file", "delete_file"]
# Another name for a tool.
# rename = { read_file = "read" }

[plugins.files.levels]
# By the plug-in's own names. A level can be raised, never lowered.
# write_file = "approval_required"     # or 3: each call is previewed and confirmed

[plugins.files.limits]
# execute = "30s"
# memory = "256 MiB"
"#;

pub(super) fn run(dir: &Path) -> anyhow::Result<u8> {
    let (config, plugin, workspace) = (dir.join(FILE_NAME), dir.join("files.wasm"), dir.join("workspace"));
    for path in [&config, &plugin] {
        if path.symlink_metadata().is_ok() {
            let message = format!("{} exists already, and nothing is overwritten: name another directory", shown(path));
            return Err(Usage(message).into());
        }
    }
    let failed = |path: &Path, e: std::io::Error| anyhow::anyhow!("{} cannot be written: {e}", shown(path));
    let found = workspace.is_dir();
    if !found {
        fs::DirBuilder::new().recursive(true).mode(0o755).create(&workspace).map_err(|e| failed(&workspace, e))?;
    }
    let write = |path: &Path, bytes: &[u8]| {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(bytes)
    };
    write(&plugin, FILES).map_err(|e| failed(&plugin, e))?;
    // The configuration last: where it stands, everything that it names does.
    write(&config, CONFIG.as_bytes()).map_err(|e| failed(&config, e))?;

    line(&format!("wrote {}, {} and {}", shown(&config), shown(&plugin), shown(&workspace)))?;
    if found {
        note(&format!(
            "{} was there already: agents can change what is in it, and delete it after a confirmation",
            shown(&workspace)
        ));
    }
    let here = dir == Path::new(".");
    let option = if here {
        String::new()
    } else {
        format!(" --config {}", text::escape(&text::shell(&config.display().to_string())))
    };
    line(&format!("\n{}", bold("Next")))?;
    line(&inset(&format!(
        "counterfoil{option} config check\ncounterfoil{option} call write_file '{{\"path\": \"/files/hello.txt\", \"content\": \"Hello\"}}'\ncounterfoil{option} call delete_file '{{\"path\": \"/files/hello.txt\"}}'"
    )))?;
    line(
        "\nThe last one shows what it would do and a token; the same command with --confirm and the token does it, once.",
    )?;
    line(&format!("\n{}", bold("For an MCP client")))?;
    let absolute = fs::canonicalize(&config).unwrap_or(config);
    let program = std::env::current_exe().map_or_else(|_| "counterfoil".to_owned(), |path| path.display().to_string());
    let (program, file) = (serde_json::to_string(&program)?, serde_json::to_string(&absolute.display().to_string())?);
    let server =
        format!(r#"{{"mcpServers":{{"counterfoil":{{"command":{program},"args":["serve","--config",{file}]}}}}}}"#);
    line(&inset(&format!("counterfoil{option} install --client NAME\n\nor by hand, in the form that most take:\n")))?;
    line(&inset(&text::indent(&server)))?;
    Ok(exit::OK)
}

fn shown(path: &Path) -> String {
    text::escape(&path.display().to_string()).into_owned()
}
