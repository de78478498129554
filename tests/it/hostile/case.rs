//! One hostile plug-in: which it is, how it ends, and the driver that holds it to that beside a plug-in that does no harm.

use super::granted::{self, Web};
use super::pace;
use crate::plugin::bench::{SANDBOX, call, confirmed, gate, load, options};
use counterfoil::plugin::{Access, DirGrant, Limits, Plugin};
use counterfoil::{Host, Level, Status};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What a hostile plug-in has for a preview and for a run.
pub const TIME: Duration = Duration::from_millis(400);
/// The same, where its end has nothing to do with time.
const PATIENCE: Duration = Duration::from_secs(30);
/// Answers of the other plug-in that are measured before anything goes on beside it.
const ALONE: usize = 15;
/// How much later than its deadline a case may end that is held to its time: how late a call is stopped is measured by a test of
/// its own, often enough to tell it from a machine that is busy elsewhere.
const LATE: Duration = Duration::from_secs(2);

pub struct Case {
    pub name: &'static str,
    /// What it does, where no fixture says it.
    pub does: Option<&'static str>,
    pub end: End,
    /// The same for people.
    pub happens: &'static str,
    /// What is different in its directory afterwards: `+new -old`.
    changes: &'static str,
    raised: bool,
    /// Requests that it is granted.
    pub web: Option<Web>,
    /// A variable that it is granted.
    pub variable: Option<&'static str>,
}

pub enum End {
    /// It is not loaded; the error says why.
    NotLoaded(&'static str),
    /// It is loaded, and no host starts with it.
    NotStarted(&'static str),
    /// Its calls are answered so.
    Answers(&'static [Step]),
}

/// A call of its tool `bad`, with a preview before it where it needs one, and what has to be in the answer: JSON pointers,
/// and what the text there contains.
pub struct Step {
    confirm: bool,
    arguments: &'static str,
    status: Status,
    has: &'static [(&'static str, &'static str)],
}

pub const fn call_it(status: Status, has: &'static [(&'static str, &'static str)]) -> Step {
    Step { confirm: false, arguments: "{}", status, has }
}

pub const fn confirm_it(status: Status, has: &'static [(&'static str, &'static str)]) -> Step {
    Step { confirm: true, arguments: "{}", status, has }
}

impl Step {
    pub const fn with(self, arguments: &'static str) -> Self {
        Self { arguments, ..self }
    }
}

impl Case {
    pub const fn not_loaded(name: &'static str, says: &'static str, happens: &'static str) -> Self {
        Self::new(name, End::NotLoaded(says), happens)
    }

    pub const fn not_started(name: &'static str, says: &'static str, happens: &'static str) -> Self {
        Self::new(name, End::NotStarted(says), happens)
    }

    pub const fn answers(name: &'static str, steps: &'static [Step], happens: &'static str) -> Self {
        Self::new(name, End::Answers(steps), happens)
    }

    const fn new(name: &'static str, end: End, happens: &'static str) -> Self {
        Self { name, does: None, end, happens, changes: "", raised: false, web: None, variable: None }
    }

    pub const fn changes(self, changes: &'static str) -> Self {
        Self { changes, ..self }
    }

    pub const fn raised(self) -> Self {
        Self { raised: true, ..self }
    }

    pub const fn web(self, web: Web) -> Self {
        Self { web: Some(web), ..self }
    }

    pub const fn variable(self, name: &'static str) -> Self {
        Self { variable: Some(name), ..self }
    }

    pub const fn does(self, does: &'static str) -> Self {
        Self { does: Some(does), ..self }
    }

    /// What it does, in the words of its source.
    pub fn doing(&self) -> String {
        if let Some(does) = self.does {
            return does.to_owned();
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/examples/hostile/{}.rs", self.name));
        let text = std::fs::read_to_string(&source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
        let first: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
        let told = first.join(" ");
        told.strip_prefix("Bad: ").unwrap_or_else(|| panic!("{} does not say what is bad", self.name)).to_owned()
    }

    /// Whether it is held to its time: a machine may be slow at everything else.
    fn is_timed(&self) -> bool {
        let says = |text: &str| text.contains(&format!("{TIME:?}"));
        match self.end {
            End::NotLoaded(what) | End::NotStarted(what) => says(what),
            End::Answers(steps) => steps.iter().any(|step| step.has.iter().any(|(_, what)| says(what))),
        }
    }

    /// The component: a fixture, or bytes that the test makes.
    fn component(&self) -> Vec<u8> {
        match self.does {
            None => std::fs::read(counterfoil_tests::hostile(self.name)).unwrap(),
            Some(_) => super::made::component(self.name),
        }
    }
}

/// A directory to be granted, with what may tempt a plug-in, beside a file that is none of its business.
struct Place {
    place: TempDir,
    listener: TcpListener,
}

impl Place {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        std::fs::write(at("secret"), "secret").unwrap();
        std::fs::create_dir_all(at("data/inner")).unwrap();
        std::fs::write(at("data/old"), "old text").unwrap();
        std::fs::File::create(at("data/huge")).and_then(|file| file.set_len(1 << 40)).unwrap();
        symlink("../secret", at("data/link")).unwrap();
        symlink(at("secret"), at("data/absolute")).unwrap();
        symlink("..", at("data/up")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("data/pipe")).status().unwrap().success());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { place, listener }
    }

    fn grant(&self) -> DirGrant {
        DirGrant { host: self.place.path().join("data"), guest: "/data".into(), access: Access::ReadWrite }
    }

    /// Everything in it, with sizes.
    fn listing(&self) -> BTreeMap<PathBuf, u64> {
        let data = self.place.path().join("data");
        let entries = [self.place.path(), &data].map(|folder| std::fs::read_dir(folder).unwrap());
        let size =
            |path: &Path| path.symlink_metadata().map_or(0, |found| if found.is_dir() { 0 } else { found.len() });
        entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), size(&path)))
            .collect()
    }
}

/// `+new -old`, by the names.
fn difference(before: &BTreeMap<PathBuf, u64>, after: &BTreeMap<PathBuf, u64>) -> String {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let gone = before.keys().filter(|path| !after.contains_key(*path)).map(|path| format!("-{}", name(path)));
    let new = after.iter().filter_map(|(path, size)| match before.get(path) {
        None => Some(format!("+{}", name(path))),
        Some(old) if old != size => Some(format!("~{}", name(path))),
        Some(_) => None,
    });
    new.chain(gone).collect::<Vec<_>>().join(" ")
}

/// Holds a plug-in to its end.
pub async fn hold(case: &Case) {
    let place = Place::new();
    let before = place.listing();
    let good = load("echo", options("good")).await.unwrap();
    let alone = Host::builder(gate()).plugin(good.clone()).build().await.unwrap();
    let mut times = Vec::new();
    for _ in 0..ALONE {
        times.push(answers(&alone).await);
    }
    let normal = pace::within(times, 50);

    let mut options = options("hostile");
    options.dirs.push(place.grant());
    let server = granted::grant(case, &mut options).await;
    let time = if case.is_timed() { TIME } else { PATIENCE };
    options.limits = Limits { preview: time, execute: time, memory: 128 << 20, ..Limits::default() };
    let bytes = case.component();
    // Locked: who has not looked at a plug-in yet is asked for every call that may change something.
    options.lock = Some(Plugin::digest_of(&bytes));
    let loading = Plugin::from_bytes(&SANDBOX, bytes, options, "hostile.wasm");
    let loaded = meanwhile(case, &alone, normal, loading).await;
    let says = |error: &str, what: &str| {
        assert!(error.contains(what), "{}: does not say {what:?}: {error}", case.name);
        assert!(error.len() < 1000 && !error.contains(char::is_control), "{}: {error:?}", case.name);
    };
    match (&case.end, loaded) {
        (End::NotLoaded(what), loaded) => match loaded {
            Err(error) => says(&error.to_string(), what),
            Ok(_) => panic!("{} was loaded", case.name),
        },
        (_, Err(error)) => panic!("{}: {error}", case.name),
        (End::NotStarted(what), Ok(hostile)) => {
            let started = Host::builder(gate()).plugin(good).plugin(hostile).build().await;
            says(&started.err().unwrap_or_else(|| panic!("{} was started", case.name)).to_string(), what);
        }
        (End::Answers(steps), Ok(hostile)) => {
            let mut host = Host::builder(gate()).plugin(good).plugin(hostile);
            if case.raised {
                host = host.level("bad", Level::ApprovalRequired);
            }
            let host = host.build().await.unwrap();
            let port = place.listener.local_addr().unwrap().port().to_string();
            for step in *steps {
                let arguments =
                    server.spelled(step.arguments).replace("PORT", &port).replace("LONG", &"a".repeat(100_000));
                let arguments = arguments.replace("\"WORDS\"", &vec![r#""w1999""#; 25_000].join(","));
                let called = async {
                    match step.confirm {
                        true => confirmed(&host, "bad", &arguments).await,
                        false => call(&host, "bad", &arguments).await,
                    }
                };
                let start = Instant::now();
                let (status, payload) = meanwhile(case, &host, normal, called).await;
                let (took, times) = (start.elapsed(), if step.confirm { 2 } else { 1 });
                assert!(!case.is_timed() || took < time * times + LATE, "{}: ended after {took:?}", case.name);
                check(case, step, status, &payload);
            }
            answers(&host).await;
        }
    }
    answers(&alone).await;
    assert_eq!(difference(&before, &place.listing()), case.changes, "{}", case.name);
    assert_eq!(std::fs::read_to_string(place.place.path().join("secret")).unwrap(), "secret", "{}", case.name);
    assert!(place.listener.accept().is_err(), "{} has connected", case.name);
    granted::hold(case, &server);
}

fn check(case: &Case, step: &Step, status: Status, payload: &Value) {
    let name = case.name;
    let shown: String = payload.to_string().chars().take(2000).collect();
    assert_eq!(status, step.status, "{name}: {shown}");
    for (place, what) in step.has {
        let found = payload.pointer(place).unwrap_or_else(|| panic!("{name}: no {place} in {shown}"));
        let found = found.as_str().map_or_else(|| found.to_string(), ToOwned::to_owned);
        assert!(found.contains(what), "{name}: {place} is not {what:?} in {shown}");
    }
}

/// The plug-in that does no harm, once, and how long it took.
async fn answers(host: &Host) -> Duration {
    let start = Instant::now();
    let (status, payload) = call(host, "echo", r#"{"text":"hello"}"#).await;
    assert_eq!((status, &payload["given"]["text"]), (Status::Ok, &"hello".into()), "{payload}");
    start.elapsed()
}

/// Waits for something, and asks the plug-in that does no harm until it is there: it answers all the time, half of its answers come in
/// little more than the time that they need alone, and nine of ten in not much more than that.
async fn meanwhile<T>(case: &Case, host: &Host, alone: Duration, something: impl Future<Output = T>) -> T {
    let host = host.clone();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let asking = tokio::spawn(async move {
        let mut times = Vec::new();
        while !*stopped.borrow() {
            times.push(answers(&host).await);
        }
        times
    });
    let start = Instant::now();
    let there = something.await;
    let took = start.elapsed();
    stop.send_replace(true);
    let times = asking.await.unwrap_or_else(|e| panic!("{}: beside it: {e}", case.name));
    assert!(took < TIME || times.len() > 2, "{}: {} answers in {took:?}", case.name, times.len());
    // Of a few, one that met something else would be too many.
    for (hundredths, limit) in [(50, pace::beside(alone)), (90, pace::beside(alone) * 5)] {
        if times.len() >= 10 {
            let most = pace::within(times.clone(), hundredths);
            assert!(most < limit, "{}: {most:?} for {hundredths} of a hundred beside it, alone {alone:?}", case.name);
        }
    }
    there
}
