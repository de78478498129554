//! The built program, run as a person or an MCP client would run it.

#![allow(clippy::expect_used, clippy::panic, reason = "a missing piece fails the test and says what makes it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The program of this build. Cargo makes it for its own crate only, so it has to be there already.
///
/// # Panics
/// Where it is missing or older than its source: says which command makes it.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test's own path");
    let folder =
        test.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "deps")).and_then(Path::parent);
    let program = folder.expect("tests run from target/PROFILE/deps").join("counterfoil");
    let release = if program.components().any(|part| part.as_os_str() == "release") { " --release" } else { "" };
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let made_by = format!("cargo build -p counterfoil{release}");
    PROGRAM.get_or_init(|| crate::there(program, &["host/src"], &made_by)).clone()
}

/// A folder for one story, with a home of its own. The cache of compiled components is shared by all of them.
pub struct Folder {
    dir: tempfile::TempDir,
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// An empty one.
    pub fn new() -> Self {
        let folder = Self { dir: tempfile::tempdir().expect("a temporary folder") };
        std::fs::create_dir(folder.path("home")).expect("a home");
        std::fs::create_dir(folder.path("work")).expect("a working folder");
        folder
    }

    /// One in which `counterfoil config init` has run: `work/counterfoil.toml`, `work/files.wasm`, `work/workspace`.
    pub fn ready() -> Self {
        let folder = Self::new();
        assert_eq!(folder.run(&["config", "init"]).code, 0, "config init");
        folder
    }

    /// A path in it.
    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Writes a file in it. The configuration in `work` is one that the user has named before, as a person would.
    pub fn write(&self, path: &str, content: &str) {
        if path == "work/counterfoil.toml" && !self.path(path).exists() {
            std::fs::write(self.path(path), "").expect(path);
            // It says nothing of an audit that is not there; what matters is that it was named.
            self.run(&["--config", "counterfoil.toml", "audit", "verify"]);
        }
        std::fs::write(self.path(path), content).expect(path);
    }

    /// The program with nothing of this process's environment, in `work`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let cache = program().with_file_name("test-cache");
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.path("work")).env_clear();
        command.env("HOME", self.path("home")).env("XDG_CACHE_HOME", cache).stdin(Stdio::null());
        command
    }

    /// Locks the plug-ins of the configuration as they are.
    #[track_caller]
    pub fn lock(&self) {
        self.run(&["plugin", "lock", "--yes"]).gave(0, &["counterfoil.lock"]);
    }

    /// Runs the program to its end.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.command(arguments).output().expect("the program starts"))
    }

    /// Runs it with a text on its standard input.
    #[track_caller]
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        self.run_with_input_and_log(arguments, input, "warn")
    }

    /// The same with what is to be logged.
    #[track_caller]
    pub fn run_with_input_and_log(&self, arguments: &[&str], input: &str, log: &str) -> Ran {
        use std::io::Write as _;
        let mut command = self.command(arguments);
        command.env("COUNTERFOIL_LOG", log).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        // It may end without reading.
        let _ = child.stdin.take().expect("its input").write_all(input.as_bytes());
        Ran::of(&child.wait_with_output().expect("the program ends"))
    }
}

/// What a run of the program left.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code.
    pub code: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Ran {
    /// Of a command that has ended.
    ///
    /// # Panics
    /// Where it printed what is no UTF-8.
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        Self { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Its standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Holds it to an exit code and to words that must be in its output or its messages.
    #[track_caller]
    pub fn gave(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        for word in words {
            assert!(self.out.contains(word) || self.err.contains(word), "{word:?} is missing in {self:?}");
        }
    }
}
