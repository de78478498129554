//! What `serve` does while its plug-ins are still being compiled. One of them takes seconds for that, and answers take
//! milliseconds; no test reads a clock. Each looks whether the compiler was still at work when the answers had come. A machine
//! may compile faster, or let the client wait: then the story is told again with a larger plug-in. A program that waits for
//! its compiler is too late with each.

mod session;

pub(crate) use session::{Session, echo, hello, request};

use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, Stdio};
use wasm_encoder::{BlockType, CodeSection, Function, FunctionSection, Module, TypeSection, ValType};

/// Branches of the large function, one size after the other. Compiling the first takes a core some four seconds.
const BRANCHES: [i32; 3] = [30_000, 60_000, 120_000];

/// The fixture `echo` with one large function that nobody calls. One, since several would be compiled side by side.
fn slow_to_compile(branches: i32) -> Vec<u8> {
    const LOCALS: u32 = 16;
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut functions = FunctionSection::new();
    functions.function(0);
    let mut large = Function::new([(LOCALS, ValType::I32)]);
    for n in 0..branches {
        let (a, b) = (n.cast_unsigned() % LOCALS, n.cast_unsigned() * 7 % LOCALS);
        let mut body = large.instructions();
        body.block(BlockType::Empty).local_get(a).br_if(0);
        body.local_get(b).i32_const(n).i32_mul().local_get(a).i32_add().local_set(b).end();
    }
    large.instructions().end();
    let mut code = CodeSection::new();
    code.function(&large);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&code);
    let mut component = std::fs::read(counterfoil_tests::fixture("echo")).unwrap();
    let section = wasm_encoder::ModuleSection(&module);
    wasm_encoder::ComponentSection::append_to_component(&section, &mut component);
    component
}

/// What a story gives that was over before the plug-in was compiled, and its folder. See [`cold`] for `rest`.
#[track_caller]
pub(crate) fn before_it_is_compiled<T>(rest: &str, story: impl Fn(&Folder) -> T) -> (Folder, T) {
    let mut failure = None;
    for branches in BRANCHES {
        let folder = cold(branches, rest);
        // What goes wrong in a story that came too late says nothing: other answers come in between.
        let told = catch_unwind(AssertUnwindSafe(|| story(&folder)));
        match (told, compiled(&folder)) {
            (Ok(told), false) => return (folder, told),
            (Err(failure), false) => resume_unwind(failure),
            (told, true) => failure = told.err(),
        }
    }
    if let Some(failure) = failure {
        resume_unwind(failure);
    }
    panic!("{BRANCHES:?} branches were compiled before the story was over: does the program wait for that?")
}

/// A folder whose configuration names a plug-in that takes long, with nothing compiled. `rest` comes after it.
fn cold(branches: i32, rest: &str) -> Folder {
    let folder = Folder::ready();
    std::fs::write(folder.path("work/slow.wasm"), slow_to_compile(branches)).unwrap();
    folder.write("work/counterfoil.toml", &format!("[plugins.slow]\nsource = \"slow.wasm\"\n{rest}"));
    folder
}

/// The program with a cache of the folder's own.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = folder.command(arguments);
    command.env("XDG_CACHE_HOME", folder.path("cache"));
    command
}

/// The files in the folder's cache.
fn cached(folder: &Folder) -> Vec<String> {
    let found = std::fs::read_dir(folder.path("cache/counterfoil")).into_iter().flatten();
    found.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// Whether the plug-in that takes long is compiled.
#[track_caller]
fn compiled(folder: &Folder) -> bool {
    let digest = Sha256::digest(std::fs::read(folder.path("work/slow.wasm")).unwrap());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let files = cached(folder);
    assert!(files.iter().all(|name| name.ends_with(".cwasm")), "a draft was left: {files:?}");
    files.iter().any(|name| name.starts_with(&digest))
}

/// A line of what the system knows of a process.
#[cfg(target_os = "linux")]
fn status(id: u32, key: &str) -> String {
    let all = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    all.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).unwrap().trim().to_owned()
}

/// Whoever sends one as soon as it is caught does not end the server, and it is caught before there is anything else.
#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_in_the_first_moments_ends_no_server() {
    let folder = Folder::ready();
    for _ in 0..30 {
        let mut session = Session::start(&folder);
        let id = session.child.id();
        loop {
            let (threads, caught) = (status(id, "Threads"), status(id, "SigCgt"));
            if u64::from_str_radix(&caught, 16).unwrap() & 1 == 1 {
                break;
            }
            assert_eq!(threads, "1", "there is a runtime before hangups are caught");
        }
        for _ in 0..3 {
            assert!(Command::new("kill").args(["-HUP", &id.to_string()]).status().unwrap().success());
        }
        session.send(&hello(1));
        session.answer(1);
        assert_eq!(session.end().0, Some(0));
    }
}

/// Of other verbs a hangup is the end, as whoever closes a terminal expects.
#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_ends_what_is_no_server() {
    use std::os::unix::process::ExitStatusExt as _;
    let folder = Folder::ready();
    for arguments in [&["call", "read_file", "-"][..], &["call", "serve", "-"]] {
        let mut command = command(&folder, arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while status(child.id(), "Threads") == "1" {}
        assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().signal(), Some(1), "{arguments:?}");
    }
}

#[test]
fn what_needs_no_tools_is_answered_while_they_are_compiled_and_the_rest_afterwards() {
    let discover = request(
        5,
        "server/discover",
        &json!({"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }}),
    );
    let (folder, (mut session, told)) = before_it_is_compiled("", |folder| {
        let mut session = Session::start(folder);
        session.send(&(hello(1) + &request(2, "tools/list", &json!({})) + &echo(3)));
        let told = session.answer(1);
        assert_eq!(told["result"]["serverInfo"]["name"], "counterfoil", "{told}");
        session.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        session.send(&request(4, "ping", &json!({})));
        session.answer(4);
        session.send(&discover);
        assert_eq!(session.answer(5)["result"]["instructions"], told["result"]["instructions"]);
        session.send(&request(6, "nothing", &json!({})));
        assert_eq!(session.answer(6)["error"]["code"], -32601);
        session.send("broken\n");
        assert_eq!(session.line()["error"]["code"], -32700);
        (session, told)
    });

    let mut answers = [session.line(), session.line()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["result"]["tools"][0]["name"], "echo", "{answers:?}");
    assert_eq!(answers[1]["result"]["structuredContent"]["given"]["n"], 3, "{answers:?}");
    assert!(compiled(&folder));
    let (code, rest, _) = session.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));

    // What was said before there was a host is what is said by one.
    let mut session = Session::start(&folder);
    session.send(&request(1, "tools/list", &json!({})));
    session.answer(1);
    // No id is used twice: the first may be in use for a moment after its answer.
    session.send(&hello(7));
    assert_eq!(session.answer(7)["result"], told["result"]);
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn requests_that_were_read_before_the_input_ended_are_answered_once_the_tools_are_there() {
    let (_folder, session) = before_it_is_compiled("", |folder| {
        let mut session = Session::start(folder);
        session.send(&(hello(1) + &request(2, "tools/list", &json!({})) + &echo(3)));
        session.input = None;
        session.answer(1);
        session
    });
    let (code, rest, _) = session.end();
    assert_eq!((code, rest.lines().count()), (Some(0), 2), "{rest}");
    assert!(rest.contains("\"tools\":[") && rest.contains("echoed"), "{rest}");
}

#[test]
fn a_client_that_leaves_or_waits_for_nothing_any_more_does_not_wait_for_the_compiler() {
    // One that only looks whether anyone is there.
    before_it_is_compiled("", |folder| {
        let (code, rest, log) = Session::start(folder).end();
        assert_eq!((code, rest.as_str()), (Some(0), ""));
        // Which configuration it is, and nothing else.
        assert!(log.lines().count() == 1 && log.starts_with("note: the configuration is "), "{log}");
    });

    before_it_is_compiled("", |folder| {
        let mut session = Session::start(folder);
        session.send(&hello(1));
        session.answer(1);
        let (code, rest, _) = session.end();
        assert_eq!((code, rest.as_str()), (Some(0), ""));
    });

    // What was called off is waited for no longer.
    before_it_is_compiled("", |folder| {
        let mut session = Session::start(folder);
        session.send(&(hello(1) + &request(2, "tools/list", &json!({})) + &echo(3)));
        session.answer(1);
        for id in [2, 3] {
            let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
            session.send(&format!("{cancelled}\n"));
        }
        let (code, rest, _) = session.end();
        assert_eq!((code, rest.as_str()), (Some(0), ""));
    });

    // And one that is asked to stop stops.
    before_it_is_compiled("", |folder| {
        let mut session = Session::start(folder);
        session.send(&(hello(1) + &echo(2)));
        session.answer(1);
        assert!(Command::new("kill").arg(session.child.id().to_string()).status().unwrap().success());
        assert_eq!(session.ended().0, Some(0));
    });
}

#[test]
fn what_is_found_wrong_behind_the_greeting_ends_the_process_before_any_tool_is_listed() {
    let files = "[plugins.files]\nsource = \"files.wasm\"\n";
    let lowered = format!("{files}[plugins.files.levels]\ndelete_file = 0\n");
    let (folder, mut session) = before_it_is_compiled(&lowered, |folder| {
        let mut session = Session::start(folder);
        session.send(&(hello(1) + &request(2, "tools/list", &json!({})) + &echo(3)));
        session.answer(1);
        session.send(&request(4, "ping", &json!({})));
        session.answer(4);
        session
    });
    // The client goes on listening, and keeps its side open.
    let input = session.input.take();
    let (code, rest, messages) = session.ended();
    drop(input);
    let answers: Vec<Value> = rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, answers.len()), (Some(2), 2), "{rest}");
    assert!(answers.iter().all(|answer| answer["error"]["code"] == -32603), "{rest}");
    assert!(!rest.contains("approval_required") && rest.contains("could not start"), "the reason is not the client's");
    assert!(messages.contains("counterfoil.toml:6:") && messages.contains("approval_required"), "{messages}");

    // Each mistake ends in the words and the code that it has for people.
    std::fs::copy(counterfoil_tests::fixture("echo"), folder.path("work/echo.wasm")).unwrap();
    folder.write("work/text.wasm", "text");
    let echo_too = "[plugins.echo]\nsource = \"echo.wasm\"\n";
    for (mistake, words) in [
        (lowered, "approval_required"),
        (format!("{files}[plugins.files.levels]\ndelete = 3\n"), "no tool \"delete\""),
        (format!("{files}tools = [\"read\"]\n"), "no tool \"read\""),
        (format!("{files}rename = {{ read_file = \"list_files\" }}\n"), "list_files"),
        (echo_too.to_owned(), "already"),
        ("[plugins.text]\nsource = \"text.wasm\"\n".to_owned(), "not WebAssembly"),
        (format!("{files}[gate]\nconfirm_parameter = \"path\"\n"), "confirm parameter"),
        (format!("{files}[gate]\nmax_depth = 100000\n"), "max"),
    ] {
        folder.write("work/counterfoil.toml", &format!("[plugins.slow]\nsource = \"slow.wasm\"\n{mistake}"));
        let checked = command(&folder, &["config", "check"]).output().unwrap();
        let mut session = Session::start(&folder);
        let sent = session.input.as_mut().unwrap().write_all((hello(1) + &echo(2)).as_bytes());
        // A start that fails at once may not have read it.
        drop(sent);
        let (code, rest, messages) = session.end();
        assert_eq!(code, Some(2), "{mistake}: {messages}");
        assert!(!rest.contains("echo") && !rest.contains("\"tools\":["), "{rest}");
        assert!(messages.contains(words), "{messages}");
        // A machine that is busy says what it waits for.
        let said = |text: &str| {
            text.lines().filter(|line| !line.starts_with("note: compiling")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(said(&messages), said(&String::from_utf8(checked.stderr).unwrap()));
    }
}

#[test]
fn what_takes_no_compiling_is_found_wrong_before_the_client_hears_a_word() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = cold(BRANCHES[0], "");
    let refused = |code: i32, words: &str| {
        let mut session = Session::start(&folder);
        let sent = session.input.as_mut().unwrap().write_all(hello(1).as_bytes());
        drop(sent);
        let (ended, rest, messages) = session.end();
        assert_eq!((ended, rest.as_str()), (Some(code), ""), "{messages}");
        assert!(messages.contains(words), "{messages}");
    };
    let slow = "[plugins.slow]\nsource = \"slow.wasm\"\n";
    for (rest, words) in [
        ("colour = 1\n", "unknown key"),
        ("[gate]\nttl = \"1s\"\n", "15 s to 1 h"),
        ("[plugins.none]\nsource = \"none.wasm\"\n", "there is no plug-in file"),
        ("dirs = [{ host = \"none\", guest = \"/x\", access = \"read-only\" }]\n", "does not exist"),
    ] {
        folder.write("work/counterfoil.toml", &format!("{slow}{rest}"));
        refused(2, words);
    }
    folder.write("work/counterfoil.toml", &format!("[store]\nurl = \"sqlite:text.db\"\n{slow}"));
    folder.write("work/text.db", "no database, and long enough to be taken for one: ".repeat(100).as_str());
    refused(1, "text.db");
    folder.write("work/counterfoil.toml", slow);
    std::fs::set_permissions(folder.path("work/slow.wasm"), std::fs::Permissions::from_mode(0o666)).unwrap();
    refused(2, "everybody");
    assert!(cached(&folder).is_empty(), "nothing was compiled");
}

#[test]
fn several_that_start_at_once_with_nothing_compiled_do_not_disturb_each_other() {
    let folder = Folder::ready();
    let mut sessions: Vec<Session> = (0..3).map(|_| Session::start(&folder)).collect();
    for session in &mut sessions {
        session.send(&(hello(1) + &request(2, "tools/list", &json!({}))));
    }
    for mut session in sessions {
        session.answer(1);
        assert!(session.answer(2)["result"]["tools"].as_array().is_some_and(|tools| tools.len() == 8));
        assert_eq!(session.end().0, Some(0));
    }
    let files = cached(&folder);
    assert_eq!(files.len(), 2, "the gate and the plug-in: {files:?}");
    assert!(files.iter().all(|name| name.ends_with(".cwasm")), "{files:?}");
    // It is used as it is.
    let mut session = Session::start(&folder);
    session.send(&request(1, "tools/list", &json!({})));
    session.answer(1);
    assert_eq!(session.end().0, Some(0));
    assert_eq!(cached(&folder).len(), 2);
}
