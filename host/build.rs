//! Builds the components that the crate embeds: the gate, and with feature `program` the plug-ins of `guest::PLUGINS`.
//!
//! They come out of the sources in `../guest`, by a cargo of their own with a target folder of its own and nothing of this
//! build's environment. A packaged crate has no `../guest` and carries the finished components in `components/`.
//! They land in `OUT_DIR`, for `include_bytes!`, and in `<target>/components`, for tests and other hosts; beside them, as
//! `sample/NAME/FILE`, what plug-ins have in their folders `sample`.

#[path = "build/guest.rs"]
mod guest;
#[path = "build/place.rs"]
mod place;
#[path = "build/slim.rs"]
mod slim;

use std::path::Path;
use std::{env, fs, process};

type Result<T> = std::result::Result<T, String>;

fn main() {
    if let Err(message) = run() {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
        process::exit(1);
    }
}

fn run() -> Result<()> {
    let manifest = place::from_env("CARGO_MANIFEST_DIR")?;
    let out = place::from_env("OUT_DIR")?;
    let program = env::var_os("CARGO_FEATURE_PROGRAM").is_some();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    match manifest.parent().filter(|root| root.join("guest/gate/Cargo.toml").is_file()) {
        Some(root) => build(root, &out, program),
        None => take(&manifest.join("components"), &out, program),
    }
}

/// In the repository: builds from source.
fn build(root: &Path, out: &Path, program: bool) -> Result<()> {
    for input in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "wit", "guest/gate-core", "guest/gate"] {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    let target = place::target_folder(out)?;
    let cargo = guest::Cargo::new(root, &target)?;
    let components = target.join("components");

    let module = cargo.build(&guest::GATE)?;
    let gate = guest::encode(&module)
        .and_then(|gate| slim::slim(&gate))
        .map_err(|e| format!("the gate cannot be made a component: {e}"))?;
    place::put(&out.join("gate.wasm"), &gate)?;
    place::put(&components.join("gate.wasm"), &gate)?;

    if program {
        for name in guest::PLUGINS {
            let source = root.join("guest/tools").join(name);
            println!("cargo::rerun-if-changed={}", source.display());
            let wasm = cargo.build(&guest::plugin(name))?;
            let file = format!("{name}.wasm");
            place::put(&out.join(&file), &wasm)?;
            place::put(&components.join(&file), &wasm)?;
            for place in [out, &components] {
                samples(&source.join("sample"), &place.join("sample").join(name))?;
            }
        }
    }
    Ok(())
}

/// In the packaged crate: the components are there already.
fn take(from: &Path, out: &Path, program: bool) -> Result<()> {
    println!("cargo::rerun-if-changed={}", from.display());
    let plugins = if program { guest::PLUGINS } else { &[] };
    for name in ["gate"].iter().chain(plugins) {
        let path = from.join(format!("{name}.wasm"));
        let bytes = fs::read(&path).map_err(|e| {
            format!("{}: {e}: this package lacks its components; take it from the registry again", path.display())
        })?;
        place::put(&out.join(format!("{name}.wasm")), &bytes)?;
        samples(&from.join("sample").join(name), &out.join("sample").join(name))?;
    }
    Ok(())
}

/// The sample data of a plug-in that has any.
fn samples(from: &Path, to: &Path) -> Result<()> {
    let failed = |e: std::io::Error| format!("{}: {e}", from.display());
    if !from.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        place::put(&to.join(entry.file_name()), &fs::read(entry.path()).map_err(failed)?)?;
    }
    Ok(())
}
