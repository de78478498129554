//! A host of plug-ins: the plug-in `files`, with one directory granted, under the two-step contract.
//!
//! ```text
//! cargo run -p counterfoil --example plugins [PLUGIN.wasm]
//! ```

use counterfoil::gate::{Gate, GateOptions, Settings, SystemClock};
use counterfoil::plugin::{Access, DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
use counterfoil::store::MemoryStore;
use counterfoil::{Host, Incoming, Owner, Reply};
use serde_json::{Value, json};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    let file = workspace.path().join("report.txt");
    std::fs::write(&file, "all the figures of May")?;

    // What the plug-in may reach is the operator's decision, and nothing is granted by default.
    let mut options = PluginOptions::new("files");
    options.dirs =
        vec![DirGrant { host: workspace.path().to_owned(), guest: "/files".to_owned(), access: Access::ReadWrite }];
    let sandbox = Sandbox::new(SandboxOptions { cache: None })?;
    // The component that was looked at, so that another one in its place is refused. Here it is the one that was just built;
    // an operator writes down what `sha256sum` prints. Without it every call that may change something is confirmed.
    options.lock = Some(Plugin::digest_of(&std::fs::read(component()?)?));
    let plugin = Plugin::load(&sandbox, &component()?, options).await?;

    let gate = Gate::new(GateOptions {
        store: Arc::new(MemoryStore::default()),
        clock: Arc::new(SystemClock),
        settings: Settings::default(),
        cache: None,
    })?;
    let host = Host::builder(gate).plugin(plugin).build().await?;
    for tool in host.tools() {
        println!(
            "{:18} {:18} {}",
            tool.name,
            tool.level.name(),
            if tool.needs_confirmation { "two steps" } else { "" }
        );
    }
    let show = |title: &str, reply: &Reply| println!("\n{title}\n  {}", reply.payload);

    let path = json!({"path": "/files/report.txt"});
    show("Reading runs at once.", &call(&host, "read_file", &path).await?);
    let preview = call(&host, "delete_file", &path).await?;
    show("Deleting is previewed.", &preview);
    println!("  the file is there: {}", file.exists());

    let payload: Value = serde_json::from_str(&preview.payload)?;
    let token = payload.get("confirm_token").ok_or("no token")?;
    let confirm = json!({"path": "/files/report.txt", "confirm_token": token});
    let ran = call(&host, "delete_file", &confirm).await?;
    show("With its token it runs.", &ran);
    println!("  the file is there: {}", file.exists());

    let again = call(&host, "delete_file", &confirm).await?;
    show("Asked again, it answers the same and runs nothing.", &again);
    assert!(again.replayed && again.payload == ran.payload && !file.exists());
    host.close().await;
    Ok(())
}

async fn call(host: &Host, tool: &str, arguments: &Value) -> Result<Reply, Box<dyn Error>> {
    let owner = Owner::new("name", "example")?;
    Ok(host.call(Incoming { owner, tool: tool.to_owned(), arguments: arguments.to_string(), progress: None }).await)
}

/// The plug-in that was named, or the one that the build leaves in `target/components`.
fn component() -> Result<PathBuf, Box<dyn Error>> {
    if let Some(path) = std::env::args_os().nth(1) {
        return Ok(path.into());
    }
    let example = std::env::current_exe()?;
    let target = example.ancestors().nth(3).ok_or("the example is not in a target folder: name a plug-in")?;
    let path = target.join("components/files.wasm");
    if path.is_file() { Ok(path) } else { Err(format!("no plug-in at {}: run `cargo build`", path.display()).into()) }
}
