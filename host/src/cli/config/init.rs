//! `config init [DIR]`: a configuration, plug-ins, and a directory for each; overwrites nothing that was there before.

use super::super::itself::itself;
use super::super::locked::pinned;
use super::super::plugin::lock::put;
use super::super::print::{bold, inset, line, note};
use super::super::shipped::{self, Shipped};
use super::super::wait::{loading, wait};
use super::super::{Usage, exit};
use crate::config::{Chosen, Dirs, FILE_NAME, Lock};
use crate::plugin::{Plugin, PluginOptions, Sandbox, SandboxOptions};
use crate::text;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

const GATE: &str = r#"# Counterfoil: which tools an agent gets, and what they may do.
# `counterfoil config check` shows what this file means; `counterfoil config schema` has every key.
# Paths are relative to this file.

[gate]
ttl = "5m"                             # life of a token: 15 s to 1 h
confirm_parameter = "confirm_token"    # the argument in which a caller gives the token back

[store]
# Where confirmations are kept. Default: an SQLite file in your state directory.
# url = "sqlite:state.db"
"#;

const FILES: &str = r#"
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

const OFFERS: &str = r#"
[plugins.offers]
source = "offers.wasm"
# Its data is the file offers.json there.
dirs = [{ host = "./data", guest = "/data", access = "read-write" }]
"#;

const PDF: &str = r#"
[plugins.pdf]
source = "pdf.wasm"
dirs = [
    # Documents that are begun, and PDFs that are written to /documents/NAME.pdf.
    { host = "./documents", guest = "/documents", access = "read-write" },
    # Further places for PDFs, each a folder that is there, under any name: here file_path = "/reports/may.pdf".
    # { host = "./out", guest = "/reports", access = "read-write" },
]
"#;

impl Shipped {
    fn section(self) -> &'static str {
        match self {
            Self::Files => FILES,
            Self::Offers => OFFERS,
            Self::Pdf => PDF,
        }
    }

    /// The directory that it is granted.
    fn place(self) -> &'static str {
        match self {
            Self::Files => "workspace",
            Self::Offers => "data",
            Self::Pdf => "documents",
        }
    }

    /// Calls to try, each tool with its arguments; the last one needs a confirmation.
    fn calls(self) -> [&'static str; 2] {
        match self {
            Self::Files => [
                r#"write_file '{"path": "/files/hello.txt", "content": "Hello"}'"#,
                r#"delete_file '{"path": "/files/hello.txt"}'"#,
            ],
            Self::Offers => ["list_offers", r#"update_offer_payout '{"offer_id": 12, "new_payout": 6.20}'"#],
            Self::Pdf => [
                r#"create_document '{"title": "May"}'"#,
                r#"output_pdf '{"document_id": "ID-OF-THAT", "file_path": "/documents/may.pdf"}'"#,
            ],
        }
    }
}

pub(super) async fn run(dir: &Path, mut plugins: Vec<Shipped>) -> anyhow::Result<u8> {
    plugins.sort_unstable();
    plugins.dedup();
    let config = dir.join(FILE_NAME);
    let component = |plugin: &Shipped| dir.join(format!("{}.wasm", plugin.name()));
    for path in plugins.iter().map(component).chain([config.clone(), Lock::place(&config)]) {
        if path.symlink_metadata().is_ok() {
            let message =
                format!("{} exists already, and nothing is overwritten: name another directory", shown(&path));
            return Err(Usage(message).into());
        }
    }
    if let Some(place) = plugins.iter().map(|plugin| dir.join(plugin.place())).find(|place| place.is_symlink()) {
        let message = format!(
            "{} is a link, and agents would be granted what it leads to: look where that is, and put a directory there",
            shown(&place)
        );
        return Err(Usage(message).into());
    }
    let lock = lock(&config, &plugins).await?;
    let mut written = Vec::new();
    for plugin in &plugins {
        let place = dir.join(plugin.place());
        if place.is_dir() {
            note(&format!(
                "{} was there already: agents can change what is in it, and delete it after a confirmation",
                shown(&place)
            ));
        } else {
            // Nobody else has business in it: whoever can open it can lock it, and runs that write would wait.
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&place);
            made.map_err(|e| failed(&place, &e))?;
            written.push(shown(&place));
        }
        if *plugin == Shipped::Offers {
            let data = place.join("offers.json");
            if data.symlink_metadata().is_ok() {
                note(&format!("{} was there already, and stays as it is", shown(&data)));
            } else {
                write(&data, shipped::OFFERS)?;
                written.push(shown(&data));
            }
        }
        let component = component(plugin);
        write(&component, plugin.component())?;
        written.push(shown(&component));
    }
    put(lock.file(), &lock.text())?;
    written.push(shown(lock.file()));
    // The configuration last: where it stands, everything that it names does.
    let sections: String = plugins.iter().map(|plugin| plugin.section()).collect();
    write(&config, format!("{GATE}{sections}").as_bytes())?;
    written.push(shown(&config));
    line(&format!("wrote {}", written.join(", ")))?;
    if let Err(e) = Dirs::of_user().map_err(io::Error::other).and_then(|dirs| Chosen::of(&dirs).note(&config)) {
        let what = "that you chose this configuration cannot be noted: name it with --config each time";
        note(&format!("{what} ({})", text::escape(&e.to_string())));
    }
    let here = dir == Path::new(".");
    let option = if here {
        String::new()
    } else {
        format!(" --config {}", text::escape(&text::shell(&config.display().to_string())))
    };
    line(&format!("\n{}", bold("Next")))?;
    let program = itself();
    let calls = plugins.iter().flat_map(|plugin| plugin.calls()).map(|call| format!("\n{program}{option} call {call}"));
    line(&inset(&format!("{program}{option} config check{}", calls.collect::<String>())))?;
    line(
        "\nThe last one shows what it would do and a token; the same command with --confirm and the token does it, once.",
    )?;
    line(&format!("\n{}", bold("For an MCP client")))?;
    let absolute = fs::canonicalize(&config).unwrap_or(config);
    let command = std::env::current_exe().map_or_else(|_| "counterfoil".to_owned(), |path| path.display().to_string());
    let (command, file) = (serde_json::to_string(&command)?, serde_json::to_string(&absolute.display().to_string())?);
    let server =
        format!(r#"{{"mcpServers":{{"counterfoil":{{"command":{command},"args":["serve","--config",{file}]}}}}}}"#);
    line(&inset(&format!("{program}{option} install --client NAME\n\nor by hand, in the form that most take:\n")))?;
    line(&inset(&text::indent(&server)))?;
    Ok(exit::OK)
}

/// The lock of plug-ins that this program carries: whoever trusts it has looked at them.
async fn lock(config: &Path, plugins: &[Shipped]) -> anyhow::Result<Lock> {
    let cache = Dirs::of_user().ok().map(|dirs| dirs.cache);
    let sandbox = Sandbox::new(SandboxOptions { cache: cache.clone() })?;
    let mut lock = Lock::new(config);
    for plugin in plugins {
        let (sandbox, options, bytes) = (sandbox.clone(), PluginOptions::new(plugin.name()), plugin.component());
        let (what, at_hand, own) = (format!("plug-in {}", plugin.name()), sandbox.clone(), plugin.component());
        let held = |folder: &Path| Some(at_hand.held(folder, own));
        let load = async move { Plugin::from_bytes(&sandbox, bytes, options, "in this program").await };
        let plugin = wait(|| loading(&what, cache.as_deref(), held), load).await??;
        lock.plugins.insert(plugin.name().to_owned(), pinned(&plugin));
    }
    Ok(lock)
}

/// Writes a file that was not there.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let file = File::options().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(|e| failed(path, &e))
}

fn failed(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow::anyhow!("{} cannot be written: {error}", shown(path))
}

fn shown(path: &Path) -> String {
    text::escape(&path.display().to_string()).into_owned()
}
