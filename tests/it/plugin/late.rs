//! A function of the file system that goes on after its call was stopped: its effect is unknown, and whoever comes next waits for
//! it. What goes on here is the opening of a file to write, which the system keeps waiting as long as somebody has a lease on it.

use super::bench::{Bench, Setup, bench_with, call, check_refused, gate, load, options};
use counterfoil::plugin::{Access, DirGrant, Limits};
use counterfoil::{Host, Status};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_millis(400);
/// How long a call waits for its turn.
const QUEUE: Duration = Duration::from_millis(500);

/// Somebody with a lease, who says when it is wanted and gives it up when told to.
struct Lease {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Lease {
    fn on(file: &Path) -> Self {
        let holder = "import fcntl, os, signal, sys\n\
            signal.signal(signal.SIGIO, lambda *_: os.write(1, b'wanted\\n'))\n\
            file = os.open(sys.argv[1], os.O_RDONLY)\n\
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)\n\
            os.write(1, b'held\\n')\n\
            sys.stdin.readline()\n\
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)\n";
        let mut command = Command::new("python3");
        command.args(["-c", holder]).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python3, which the other tests need as well");
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut lease = Self { child, input, output };
        lease.says("held");
        lease
    }

    #[track_caller]
    fn says(&mut self, word: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), word);
    }

    fn given_up(mut self) {
        writeln!(self.input).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

async fn slow() -> (Bench, Lease) {
    let limits = Limits { execute: DEADLINE, queue: QUEUE, ..Limits::default() };
    let slow = bench_with("slow", Setup { limits, ..Setup::default() }).await;
    slow.put("log", "");
    let lease = Lease::on(&slow.data.path().join("log"));
    (slow, lease)
}

/// Another server with the same directory.
async fn other(data: &Path) -> Host {
    let mut options = options("slow");
    options.limits.queue = QUEUE;
    options.dirs.push(DirGrant { host: data.into(), guest: "/data".into(), access: Access::ReadWrite });
    Host::builder(gate()).plugin(load("slow", options).await.unwrap()).build().await.unwrap()
}

/// Whoever wants to write waits as long as the old call goes on, in this server and in others; whoever only looks does not.
async fn is_waited_for(slow: &Bench, lease: Lease) {
    let other = other(slow.data.path()).await;
    let told = [(&slow.host, "is busy: try again later"), (&other, "was still locked by another process or plug-in")];
    for (host, what) in told {
        check_refused(call(host, "slow", "{}").await, Status::Rejected, "unavailable", what);
        assert_eq!(call(host, "look", "{}").await.0, Status::Ok);
    }
    lease.given_up();
    for host in [&slow.host, &other] {
        let (status, payload) = call(host, "slow", "{}").await;
        assert_eq!(status, Status::Ok, "{payload}");
    }
    assert_eq!(slow.text("log").as_deref(), Some("start\nend\nstart\nend\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_on_after_the_deadline_is_waited_for_and_told_as_unknown() {
    let (slow, mut lease) = slow().await;
    let begun = Instant::now();
    let answer = slow.call("slow", "{}").await;
    // In case it is over in a moment.
    assert!(begun.elapsed() >= DEADLINE + Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(answer.1["effect"], "unknown", "{}", answer.1);
    check_refused(answer, Status::Failed, "deadline", "it took longer than 400ms");
    lease.says("wanted");
    is_waited_for(&slow, lease).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_over_soon_after_the_deadline_holds_up_nobody() {
    let (slow, lease) = slow().await;
    let ends = tokio::task::spawn_blocking(move || {
        let mut lease = lease;
        lease.says("wanted");
        // After the deadline, and before it is given up as late. Both are times of the host's own, and what waits is a
        // thread inside the system: no clock that a test could move has a part in it.
        std::thread::sleep(DEADLINE * 2);
        lease.given_up();
    });
    let begun = Instant::now();
    let answer = slow.call("slow", "{}").await;
    assert!(begun.elapsed() >= DEADLINE * 2, "{:?}", begun.elapsed());
    check_refused(answer, Status::Failed, "deadline", "it took longer than 400ms");
    ends.await.unwrap();
    assert_eq!(slow.call("slow", "{}").await.0, Status::Ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_on_after_its_caller_went_away_is_waited_for() {
    let (slow, mut lease) = slow().await;
    let host = slow.host.clone();
    let called = tokio::spawn(async move { call(&host, "slow", "{}").await });
    let lease = tokio::task::spawn_blocking(move || {
        lease.says("wanted");
        lease
    });
    let lease = lease.await.unwrap();
    called.abort();
    assert!(called.await.unwrap_err().is_cancelled());
    is_waited_for(&slow, lease).await;
}

#[tokio::test]
async fn a_file_system_that_does_not_answer_holds_up_no_other_call() {
    // On one thread: whatever waits for the file system there holds up everybody.
    let (slow, lease) = slow().await;
    let echo = Host::builder(gate()).plugin(load("echo", options("echo")).await.unwrap()).build().await.unwrap();
    let answers = async {
        for _ in 0..20 {
            assert_eq!(call(&echo, "echo", "{}").await.0, Status::Ok);
        }
        Instant::now()
    };
    let waits = async {
        slow.call("slow", "{}").await;
        Instant::now()
    };
    let (answered, ended) = tokio::join!(answers, waits);
    assert!(answered < ended);
    lease.given_up();
}
