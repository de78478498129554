//! What `serve` does when nobody can read its answers any more, and when its input alone has ended.

use super::startup::{Session, request};
use counterfoil_tests::program::Folder;
use serde_json::json;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What no test waits for.
const DEADLINE: Duration = Duration::from_secs(90);

/// Plug-ins that compute for ever and that take their time, with a folder to write to.
fn stage() -> Folder {
    let folder = Folder::new();
    let mut config = String::new();
    for plugin in ["hang", "slow"] {
        std::fs::copy(counterfoil_tests::fixture(plugin), folder.path(&format!("work/{plugin}.wasm"))).unwrap();
        std::fs::create_dir(folder.path(&format!("work/{plugin}"))).unwrap();
        config += &format!(
            "[plugins.{plugin}]\nsource = \"{plugin}.wasm\"\n[plugins.{plugin}.limits]\nexecute = \"{}s\"\n\
             [[plugins.{plugin}.dirs]]\nhost = \"{plugin}\"\nguest = \"/data\"\naccess = \"read-write\"\n",
            DEADLINE.as_secs(),
        );
    }
    folder.write("work/counterfoil.toml", &config);
    folder.lock();
    folder
}

fn call(id: u32, tool: &str, arguments: &serde_json::Value) -> String {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// Calls that never end: one that has begun, and others that run beside it or wait for it.
fn looping(folder: &Folder, session: &mut Session) {
    session.send(&call(100, "write", &json!({})));
    until_there(folder, "work/hang/written");
    for id in 101..116 {
        session.send(&call(id, if id % 2 == 0 { "loop" } else { "write" }, &json!({"n": id})));
    }
}

fn until_there(folder: &Folder, path: &str) {
    let began = Instant::now();
    while !folder.path(path).exists() {
        assert!(began.elapsed() < DEADLINE, "{path} did not come");
        std::thread::yield_now();
    }
}

/// Waits for the end of a server whose output nobody reads; long before any call of it has to end.
#[track_caller]
fn ends(mut child: std::process::Child) {
    let began = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < DEADLINE / 6, "it went on for {:?}", began.elapsed());
}

#[test]
fn a_client_that_is_gone_takes_with_it_what_runs_for_it() {
    let folder = stage();
    // Its input first, as of a process that is killed; and where it goes on writing and reads nothing any more.
    for input_stays in [false, true] {
        let mut session = Session::start(&folder);
        looping(&folder, &mut session);
        let Session { child, mut input, output } = session;
        if !input_stays {
            input = None;
        }
        drop(output);
        ends(child);
        drop(input);
        std::fs::remove_file(folder.path("work/hang/written")).unwrap();
    }
}

/// Node gives its children sockets.
#[test]
fn a_client_on_the_other_end_of_a_socket_is_missed_too() {
    let folder = stage();
    let (client, output) = UnixStream::pair().unwrap();
    let (mut sends, input) = UnixStream::pair().unwrap();
    let mut command = folder.command(&["serve"]);
    command.stdin(Stdio::from(OwnedFd::from(input))).stdout(Stdio::from(OwnedFd::from(output)));
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    drop(command);
    std::io::Write::write_all(&mut sends, call(1, "write", &json!({})).as_bytes()).unwrap();
    until_there(&folder, "work/hang/written");
    drop((sends, client));
    ends(child);
}

#[test]
fn a_confirmed_run_comes_to_its_end_when_its_client_is_gone() {
    let folder = stage();
    let mut session = Session::start(&folder);
    let arguments = json!({"ms": 1500});
    session.send(&call(1, "slow_dangerous", &arguments));
    let token = session.answer(1)["result"]["structuredContent"]["confirm_token"].clone();
    assert!(token.is_string(), "{token}");
    looping(&folder, &mut session);
    session.send(&call(2, "slow_dangerous", &json!({"ms": 1500, "confirm_token": token})));
    until_there(&folder, "work/slow/log");
    let Session { child, input, output } = session;
    drop((input, output));
    ends(child);
    assert_eq!(std::fs::read_to_string(folder.path("work/slow/log")).unwrap(), "start\nend\n");
}

#[test]
fn a_client_that_only_has_nothing_more_to_say_gets_every_answer() {
    let folder = stage();
    let calls: String = (1..=12).map(|id| call(id, "look", &json!({"ms": 100, "n": id}))).collect();
    let ran = folder.run_with_input(&["serve"], &calls);
    let looked = ran.out.lines().filter(|line| line.contains("looked")).count();
    assert_eq!((ran.code, looked), (0, 12), "{ran:?}");
}

#[test]
fn whatever_ends_a_server_whose_calls_run_its_audit_is_ended_in_order() {
    let folder = stage();
    let mut servers = 0;
    for signal in ["-TERM", "-INT", "-TERM", "-INT", "none", "none"] {
        let mut session = Session::start(&folder);
        looping(&folder, &mut session);
        let Session { child, input, output } = session;
        let gone = signal == "none";
        let held = if gone {
            drop((input, output));
            None
        } else {
            let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
            assert!(sent.unwrap().success());
            Some((input, output))
        };
        ends(child);
        drop(held);
        servers += 1;
        let verified = folder.run(&["audit", "verify", "--json"]).json();
        let files = verified["files"].as_array().unwrap().len();
        assert_eq!((files, &verified["remarks"]), (servers, &json!([])), "{signal}: {verified}");
        let last = folder.run(&["audit", "show", "--last", "1", "--all", "--json"]).out;
        assert!(last.contains(r#""event":"closed""#), "{last}");
        std::fs::remove_file(folder.path("work/hang/written")).unwrap();
    }
}
