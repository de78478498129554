//! Runs cargo for a guest. Nothing of the outer build reaches it but the compiler, the job slots and the user's network
//! settings; no path of this machine reaches the wasm.

use crate::Result;
use crate::place::from_env;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};
use wit_component::ComponentEncoder;

/// A guest crate and how it is built.
pub struct Guest {
    package: Cow<'static, str>,
    target: &'static str,
    flags: &'static [&'static str],
}

/// `wasm32-unknown-unknown` and not wasip2, whose standard library brings thirteen imports of its own.
///
/// Compressed relocations: the linker else pads every number that it fills in to five bytes, a seventh of the code. The
/// stack holds no more than a few kilobytes, since nothing in the gate calls itself; addresses behind a small one are short.
pub const GATE: Guest = Guest {
    package: Cow::Borrowed("counterfoil-gate"),
    target: "wasm32-unknown-unknown",
    flags: &["-Ctarget-feature=+simd128", "-Clink-arg=--compress-relocations", "-Clink-arg=-zstack-size=262144"],
};

/// The plug-ins that ship with the program. Each is the crate `counterfoil-NAME` in `guest/tools/NAME`.
pub const PLUGINS: &[&str] = &["files", "offers", "pdf"];

const PLUGIN_TARGET: &str = "wasm32-wasip2";

/// An ordinary plug-in: its linker makes a component of it.
pub fn plugin(name: &str) -> Guest {
    Guest { package: Cow::Owned(format!("counterfoil-{name}")), target: PLUGIN_TARGET, flags: &[] }
}

const INSTALL: &str = "rustup target add wasm32-unknown-unknown wasm32-wasip2";

/// Variables that the nested cargo may inherit, of those that start with `CARGO`: where crates come from, how the
/// network is reached, and the job slots that it shares with the outer one.
const KEPT: &[&str] =
    &["CARGO_HOME", "CARGO_MAKEFLAGS", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_TERM_"];

/// Other variables that would change what is built, or that lint and coverage tools set for the outer build.
const DROPPED: &[&str] = &[
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_LINKER",
    "RUSTC_BOOTSTRAP",
    "TARGET",
    "HOST",
    "PROFILE",
    "OPT_LEVEL",
    "DEBUG",
    "NUM_JOBS",
    "OUT_DIR",
    "CLIPPY_ARGS",
    "CLIPPY_CONF_DIR",
];

/// The cargo of this build, for guests.
pub struct Cargo {
    program: PathBuf,
    rustc: PathBuf,
    root: PathBuf,
    target: PathBuf,
}

impl Cargo {
    /// For the workspace at `root`, with a folder of its own in `target`: cargo locks the outer one while this runs.
    pub fn new(root: &Path, target: &Path) -> Result<Self> {
        let cargo = Self {
            program: from_env("CARGO")?,
            rustc: from_env("RUSTC")?,
            root: root.to_path_buf(),
            target: target.join("guest"),
        };
        for wanted in [GATE.target, PLUGIN_TARGET] {
            cargo.check_installed(wanted)?;
        }
        Ok(cargo)
    }

    /// The compiler in use has the standard library for a target.
    fn check_installed(&self, target: &str) -> Result<()> {
        let libraries = self.ask(&["--print", "target-libdir", "--target", target])?;
        if Path::new(&libraries).is_dir() {
            return Ok(());
        }
        Err(format!(
            "{} has no target {target}, which the gate and its plug-ins need: run `{INSTALL}`",
            self.rustc.display()
        ))
    }

    fn ask(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new(&self.rustc)
            .args(arguments)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("{}: {e}", self.rustc.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Builds a guest and returns its wasm.
    pub fn build(&self, guest: &Guest) -> Result<Vec<u8>> {
        let arguments =
            ["build", "--locked", "--profile", "guest", "--package", &guest.package, "--target", guest.target];
        let mut command = Command::new(&self.program);
        for (name, _) in env::vars_os().filter(|(name, _)| !inherits(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        let status = command
            .args(arguments)
            .arg("--manifest-path")
            .arg(self.root.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&self.target)
            .env("RUSTC", &self.rustc)
            .env("CARGO_ENCODED_RUSTFLAGS", self.flags(guest)?)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map_err(|e| format!("{}: {e}", self.program.display()))?;
        if !status.success() {
            let command = arguments.join(" ");
            return Err(format!("{} does not build: see below, or run `cargo {command}`", guest.package));
        }
        let file = format!("{}.wasm", guest.package.replace('-', "_"));
        let path = self.target.join(guest.target).join("guest").join(file);
        fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// The compiler flags of a guest. Sources are named by where they are in the project, not on this machine; the later
    /// of two prefixes that fit wins.
    fn flags(&self, guest: &Guest) -> Result<OsString> {
        let mut flags = OsString::from(guest.flags.join("\x1f"));
        let sysroot = PathBuf::from(self.ask(&["--print", "sysroot"])?);
        let places = [
            (env::home_dir(), "/home"),
            (cargo_home(), "/cargo"),
            (Some(sysroot.join("lib/rustlib/src/rust")), "/rust"),
            (Some(self.root.clone()), "/counterfoil"),
            (Some(self.target.clone()), "/target"),
        ];
        for (place, name) in places {
            let Some(place) = place else { continue };
            if !flags.is_empty() {
                flags.push("\x1f");
            }
            flags.push("--remap-path-prefix=");
            flags.push(place);
            flags.push(format!("={name}"));
        }
        Ok(flags)
    }
}

fn cargo_home() -> Option<PathBuf> {
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")))
}

/// Whether the nested cargo sees a variable.
fn inherits(name: &str) -> bool {
    if name.starts_with("CARGO") || name.starts_with("__CARGO") {
        return KEPT.iter().any(|kept| name.starts_with(kept));
    }
    !DROPPED.contains(&name) && !name.starts_with("DEP_")
}

/// Wraps a core module, which carries its world in a custom section, as a component.
pub fn encode(module: &[u8]) -> std::result::Result<Vec<u8>, String> {
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|encoder| encoder.encode())
        .map_err(|e| format!("{e:#}"))
}
