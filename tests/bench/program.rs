//! The program over standard input and output, as a client starts it: what a call costs beside a Python server that does
//! nothing, and how soon a process that has just been started answers, with and without compiled code.

use crate::TURNS;
use crate::figures::Figures;
use criterion::Criterion;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts of each kind.
const STARTS: usize = 21;

fn target() -> PathBuf {
    // This is <target>/release/speed.
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned()
}

fn there(path: PathBuf) -> PathBuf {
    assert!(path.is_file(), "{} is missing: run `just bench`, which builds it", path.display());
    path
}

/// A component that the build leaves.
pub fn component(name: &str) -> PathBuf {
    there(target().join("components").join(format!("{name}.wasm")))
}

/// A fixture plug-in.
pub fn fixture(name: &str) -> PathBuf {
    there(target().join("guest/wasm32-wasip2/guest/examples").join(format!("{name}.wasm")))
}

/// A folder for what a plug-in may read, a store that is not written and compiled code.
pub fn workspace() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A server process that is spoken to line by line.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    /// No id is used twice.
    id: u64,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, line: String::new(), id: 0 }
    }

    /// Sends a line and reads the next.
    fn ask(&mut self, message: &str) -> &str {
        self.input.write_all(message.as_bytes()).unwrap();
        self.line.clear();
        self.output.read_line(&mut self.line).unwrap();
        assert!(self.line.contains(r#""result""#) && !self.line.contains(r#""isError":true"#), "{}", self.line);
        &self.line
    }

    fn initialize(&mut self) {
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        self.ask(&format!("{hello}\n"));
        self.input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").unwrap();
    }

    fn call(&mut self, tool: &str, arguments: &str) {
        self.id += 1;
        let id = self.id;
        self.ask(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}\n"
        ));
    }

    fn end(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

fn python() -> Command {
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("null_server.py"));
    command
}

/// The program on a folder with a configuration: the plug-in `files` and a tool that does nothing.
fn program(root: &Path, cache: &Path) -> Command {
    let path = there(target().join("release/counterfoil"));
    let mut command = Command::new(path);
    command.args(["serve", "--owner", "bench", "--config"]).arg(root.join("counterfoil.toml"));
    command.env("XDG_STATE_HOME", root).env("XDG_CACHE_HOME", cache).env("COUNTERFOIL_LOG", "warn");
    command
}

fn configure(root: &Path) {
    std::fs::create_dir(root.join("workspace")).unwrap();
    std::fs::write(root.join("workspace/old.txt"), "old\n").unwrap();
    let config = format!(
        "[store]\nurl = \"sqlite:state.db\"\n[plugins.files]\nsource = {:?}\ndirs = [{{ host = \"./workspace\", guest = \"/files\", access = \"read-write\" }}]\n[plugins.echo]\nsource = {:?}\n",
        component("files"),
        fixture("echo")
    );
    std::fs::write(root.join("counterfoil.toml"), config).unwrap();
    let mut lock = Command::new(there(target().join("release/counterfoil")));
    lock.args(["plugin", "lock", "--yes", "--config"]).arg(root.join("counterfoil.toml"));
    lock.env("XDG_STATE_HOME", root).env("XDG_CACHE_HOME", root.join("cache"));
    assert!(lock.output().unwrap().status.success());
}

/// Calls over standard input and output, on one core.
pub fn calls(criterion: &mut Criterion, figures: &mut Figures) {
    let root = workspace();
    configure(root.path());
    let cache = root.path().join("cache");
    let mut group = criterion.benchmark_group("stdio");
    let mut ours = Server::start(program(root.path(), &cache));
    ours.initialize();
    let mut null = Server::start(python());
    null.initialize();
    const NULL: &str = "tools/call of a Python server that does nothing";
    for turn in 1..=TURNS {
        let mut side = |name: &str, call: &mut dyn FnMut()| {
            group.bench_function(format!("{name} {turn}"), |bencher| {
                bencher.iter_custom(|times| {
                    let start = Instant::now();
                    (0..times).for_each(|_| call());
                    let spent = start.elapsed();
                    figures.add(name, spent, times);
                    spent
                });
            });
        };
        side(NULL, &mut || null.call("anything", "{}"));
        side("tools/call of a tool that does nothing", &mut || ours.call("echo", "{}"));
        side("tools/call of read_file", &mut || ours.call("read_file", r#"{"path":"old.txt"}"#));
    }
    group.finish();
    ours.end();
    null.end();
    figures.ratio("tools/call of a tool that does nothing", NULL, Some(2.5));
    figures.ratio("tools/call of read_file", NULL, Some(2.5));
}

/// From the start of a process to its answers, on all cores.
pub fn starts(figures: &mut Figures) {
    let root = workspace();
    configure(root.path());
    let warm = root.path().join("warm");
    let mut first = Server::start(program(root.path(), &warm));
    first.initialize();
    first.call("echo", "{}");
    first.end();
    for turn in 0..STARTS {
        let cold = root.path().join(format!("cold-{turn}"));
        // Compiling takes seconds of processor time: a few times tell enough.
        let kinds = [("warm", &warm, true), ("cold", &cold, turn < 5)];
        for (kind, cache, _) in kinds.into_iter().filter(|(_, _, now)| *now) {
            let start = Instant::now();
            let mut server = Server::start(program(root.path(), cache));
            server.initialize();
            figures.add(&format!("start to initialize, {kind}"), start.elapsed(), 1);
            server.ask("{\"jsonrpc\":\"2.0\",\"id\":\"list\",\"method\":\"tools/list\"}\n");
            figures.add(&format!("start to tools/list, {kind}"), start.elapsed(), 1);
            server.call("echo", "{}");
            figures.add(&format!("start to first tools/call, {kind}"), start.elapsed(), 1);
            server.end();
        }
        let start = Instant::now();
        let mut server = Server::start(python());
        server.initialize();
        figures.add("start to initialize, Python that does nothing", start.elapsed(), 1);
        server.end();
    }
    const NULL: &str = "start to initialize, Python that does nothing";
    for name in ["start to initialize, warm", "start to tools/list, warm", "start to first tools/call, warm"] {
        figures.ratio(name, NULL, None);
        figures.within(name, Duration::from_millis(15));
    }
    figures.ratio("start to initialize, cold", NULL, None);
    figures.within("start to initialize, cold", Duration::from_millis(10));
    figures.tell("start to tools/list, cold");
}
