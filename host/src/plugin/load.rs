//! From a file to a plug-in: decides whether a component fits the world, and says plainly what is wrong with one that
//! does not.

use super::bindings::PluginPre;
use super::given::Resolution;
use super::instance::State;
use super::lacks::Lacks;
use super::sandbox::{CORE_INSTANCES_EACH, MEMORIES_EACH};
use super::stdio::Volume;
use super::turns::Turns;
use super::veil::Veil;
use super::{Inner, Plugin, PluginOptions, Sandbox, describe, grants, manifest, weight};
use crate::digest::sha256;
use crate::{Error, ErrorKind};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use wasmtime::Engine;
use wasmtime::component::Component;

/// Largest plug-in file, in bytes: ten times the largest language runtime that is known.
const MAX_FILE: u64 = 256 << 20;
/// What a plug-in must export.
const TOOLS: &str = "counterfoil:tool/tools@0.1.0";
/// What a plug-in may import.
const PROVIDED: &[&str] = &[
    "counterfoil:tool/progress@0.1.",
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    #[cfg(feature = "http")]
    "wasi:http/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

pub(super) fn bad(name: &str, place: &str, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Plugin, format!("plug-in {name} ({place}): {what}"))
}

/// As [`bytes`], away from what must not block.
pub(super) async fn read(path: PathBuf) -> Result<Vec<u8>, String> {
    blocking(move || bytes(&path)).await
}

/// The bytes of a regular file, where it is not longer than a plug-in can be.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let not_blocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(not_blocking).open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err("is not a file".into());
    }
    fits(found.len())?;
    let mut bytes = Vec::new();
    // It may be growing.
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    fits(bytes.len() as u64)?;
    Ok(bytes)
}

fn fits(length: u64) -> Result<(), String> {
    if length > MAX_FILE { Err(format!("has more than {} MiB", MAX_FILE >> 20)) } else { Ok(()) }
}

pub(super) async fn plugin(
    sandbox: &Arc<Sandbox>,
    bytes: Vec<u8>,
    options: PluginOptions,
    place: &str,
    source: Option<&Path>,
) -> Result<Plugin, Error> {
    let named =
        |error: Error| Error::new(ErrorKind::Config, format!("plug-in {}: {error}", options.name)).with_source(error);
    let grants = options.check().map_err(&named)?;
    if !cfg!(feature = "http") && !options.http.is_empty() {
        let what = "this host is built without HTTP: build it with its feature `http`, or grant none";
        return Err(named(Error::new(ErrorKind::Config, what)));
    }
    grants::out_of_reach(&grants::protected(sandbox, source), &options.name, &grants)?;
    let bad = |what: String| bad(&options.name, place, what);
    kind(&bytes).map_err(&bad)?;
    let digest = sha256(&bytes);
    if let Some(lock) = options.lock.as_ref().filter(|lock| **lock != digest) {
        let lock = crate::text::escape(lock);
        let what = "look at what changed, and lock it again if you trust it";
        return Err(bad(format!("is not the one that was locked: its SHA-256 is {digest}, and not {lock}; {what}")));
    }
    let (compiling, key, stack) = (Arc::clone(sandbox), digest.clone(), options.limits.stack);
    let compiled = blocking(move || {
        weight::check(&bytes)?;
        let machine = compiling.machine(stack).map_err(|error| error.to_string())?;
        let compiled = compiling.cache.component(&machine.engine, &bytes, &key);
        let compiled = compiled.map_err(|error| format!("is damaged or uses what is not supported: {}", line(&error)));
        Ok((machine, compiled?, manifest::read(&bytes)?))
    });
    let (machine, component, own) = compiled.await.map_err(&bad)?;
    let declares = own.is_some();
    if declares && options.declares.is_some() {
        let what = "it says itself what it needs: take out what you declare for it";
        return Err(Error::new(ErrorKind::Config, format!("plug-in {}: {what}", options.name)));
    }
    let asked = own.or_else(|| options.declares.clone());
    let mut resolution = Resolution::new(asked.as_ref());
    resolution.dirs(grants);
    resolution.env(&options.env);
    resolution.fixed(&options.fixed);
    resolution.http(&options.http).map_err(&named)?;
    let Resolution { given, told, .. } = resolution;
    #[cfg(feature = "http")]
    let given = super::given::Given { web: given.web.through(&sandbox.network), ..given };
    let (imports, exports) = fit(&machine.engine, &component).map_err(&bad)?;
    within_its_share(&component).map_err(&bad)?;
    let pre = machine.linker.instantiate_pre(&component);
    let pre = pre.map_err(|error| bad(format!("imports what does not fit: {}", chain(&error))))?;
    let pre: PluginPre<State> =
        PluginPre::new(pre).map_err(|error| bad(format!("does not export {TOOLS} as it must: {}", chain(&error))))?;
    let (all, schemas) =
        describe::ask(sandbox, &pre, &options.name, &options.limits, &options.fixed).await.map_err(&bad)?;
    let (tools, own) = describe::listed(all.clone(), options.tools.as_deref(), &options.rename)
        .map_err(|what| Error::new(ErrorKind::Config, format!("plug-in {}: {what}", options.name)))?;
    Ok(Plugin {
        inner: Arc::new(Inner {
            name: options.name,
            sandbox: Arc::clone(sandbox),
            pre,
            digest,
            imports,
            exports,
            locked: options.lock.is_some(),
            all,
            source: source.map(Path::to_owned),
            declared: asked,
            declares,
            veil: Veil::of(&given.env),
            given,
            lacks: Lacks::of(&told),
            told,
            tools,
            own,
            schemas,
            turns: Arc::new(Turns::new(&options.limits)),
            turns_before: OnceLock::new(),
            _machine: machine,
            volume: Volume::new(options.limits.log_per_minute),
            limits: options.limits,
        }),
    })
}

/// Tells a component from the files that are taken for one.
pub(super) fn kind(bytes: &[u8]) -> Result<(), String> {
    const WASM: &[u8] = b"\0asm";
    const BUILD: &str = "build one with: cargo build --release --target wasm32-wasip2";
    fits(bytes.len() as u64)?;
    if bytes.is_empty() {
        return Err("is empty".into());
    }
    match bytes.strip_prefix(WASM).and_then(|rest| rest.first_chunk()) {
        Some([_, 0, 1, 0]) => Ok(()),
        Some([1, 0, 0, 0]) => Err(format!("is a core module, not a component: {BUILD}")),
        Some(_) => Err("is of a WebAssembly version that is not known".into()),
        None if bytes.starts_with(WASM) => Err("is cut short: it ends within its first 8 bytes".into()),
        None if Engine::detect_precompiled(bytes).is_some() => {
            Err("is compiled code, which is not taken from a file: give the component".into())
        }
        None if bytes.trim_ascii_start().starts_with(b"(") => {
            Err(format!("is WebAssembly text, not a component: {BUILD}"))
        }
        None => Err(format!("is not WebAssembly: {BUILD}")),
    }
}

/// Imports and exports, where the former are provided and the latter are enough.
fn fit(engine: &Engine, component: &Component) -> Result<(Vec<String>, Vec<String>), String> {
    let kind = component.component_type();
    let imports: Vec<String> = kind.imports(engine).map(|(name, _)| name.to_owned()).collect();
    let exports: Vec<String> = kind.exports(engine).map(|(name, _)| name.to_owned()).collect();
    let missing: Vec<&str> = imports
        .iter()
        .map(String::as_str)
        .filter(|name| !PROVIDED.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    if !missing.is_empty() {
        let feature = match cfg!(not(feature = "http")) && missing.iter().all(|name| name.starts_with("wasi:http/")) {
            true => ": this program is built without the feature `http` of counterfoil",
            false => "",
        };
        return Err(format!("imports {}, which is not provided to plug-ins{feature}", missing.join(", ")));
    }
    if !exports.iter().any(|name| name == TOOLS) {
        return Err(match exports.iter().find(|name| name.starts_with("counterfoil:tool/")) {
            Some(other) => format!("exports {other}; this program needs {TOOLS}"),
            None => format!("does not export {TOOLS}: it is a component, but no plug-in"),
        });
    }
    Ok((imports, exports))
}

/// Every instance has a part of the pool, and no component is made of more.
fn within_its_share(component: &Component) -> Result<(), String> {
    let Some(needed) = component.resources_required() else {
        return Err("takes core modules from outside, which is not provided to plug-ins".into());
    };
    for (what, count, most) in
        [("memories", needed.num_memories, MEMORIES_EACH), ("tables", needed.num_tables, CORE_INSTANCES_EACH)]
    {
        if count > most {
            return Err(format!("has {count} {what}: a plug-in may have {most}"));
        }
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(format!("could not be loaded: {error}")))
}

/// The outermost line of an error.
fn line(error: &wasmtime::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Every cause, on one line.
pub(super) fn chain(error: &wasmtime::Error) -> String {
    let causes: Vec<String> =
        error.chain().map(|cause| cause.to_string().lines().collect::<Vec<_>>().join(" ")).collect();
    causes.join(": ")
}

/// Why there is no instance. That a function has other types than it must have shows only here.
pub(super) fn not_started(error: &wasmtime::Error) -> String {
    let causes = chain(error);
    match causes.split_once("failed to convert function to given type: ") {
        Some((_, what)) => format!("exports {TOOLS} with functions of other types: {what}"),
        None => format!("could not be started: {causes}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_file_that_is_too_long_or_none_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.wasm");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(MAX_FILE + 1).unwrap();
        assert_eq!(bytes(&path), Err("has more than 256 MiB".to_owned()));
        file.set_len(3).unwrap();
        assert_eq!(bytes(&path), Ok(vec![0; 3]));
        assert_eq!(bytes(place.path()), Err("is not a file".to_owned()));
    }
}
