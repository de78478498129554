//! Starts a server as an MCP client would, asks it for its tools, and ends it. Nothing is called.

use super::super::clients::{GIVEN, ServerEntry};
use super::report::{Part, Report};
use crate::text::brief;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// The shortest patience of a client that is known: ten seconds until the server has answered.
const CLIENTS_WAIT: Duration = Duration::from_secs(10);
/// How long a server may take to end once its input has.
const ENDING: Duration = Duration::from_secs(3);
/// Longest answer that is read: lists of thousands of tools are shorter.
const MAX_ANSWER: u64 = 64 << 20;
/// What is kept of a server's messages.
const MAX_MESSAGES: u64 = 4 << 10;

/// Starts `entry`, with `extra` in its environment, and reports what it answers. `who` has the entry.
pub(super) async fn start(
    report: &mut Report,
    who: &str,
    entry: &ServerEntry,
    extra: &[(&str, &Path)],
    home: &Path,
    patience: Duration,
) {
    let mut command = Command::new(&entry.command);
    command
        .args(&entry.args)
        .env_clear()
        .envs(GIVEN.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.envs(&entry.env).envs(extra.iter().copied()).current_dir(home);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).process_group(0);
    let begun = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => {
            let what = format!("the server of {who} cannot be started: {}: {e}", entry.command);
            return report.wrong(Part::Server, what, "install it anew: counterfoil install --client NAME");
        }
    };
    let group = child.id();
    let messages = child.stderr.take().map(|stderr| {
        tokio::spawn(async move {
            let mut kept = Vec::new();
            let mut stderr = BufReader::new(stderr);
            let _ = (&mut stderr).take(MAX_MESSAGES).read_to_end(&mut kept).await;
            // What is not read would stop the server some time.
            let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
            String::from_utf8_lossy(&kept).into_owned()
        })
    });
    let asked = timeout(patience, ask(&mut child, begun)).await;
    let failed = match &asked {
        Ok(Ok(_)) => None,
        Ok(Err(what)) => Some(what.clone()),
        Err(_) => Some(format!("has not answered within {} s", patience.as_secs())),
    };
    // Its input has ended: an orderly server ends by itself.
    let waited = if asked.is_ok() { timeout(ENDING, child.wait()).await.ok() } else { None };
    let stays = waited.is_none();
    if stays {
        end(&mut child, group).await;
    }
    let said = match messages {
        Some(messages) => timeout(ENDING, messages).await.ok().and_then(Result::ok).unwrap_or_default(),
        None => String::new(),
    };
    if let Some(what) = failed {
        let said: Vec<_> = said.lines().map(|row| format!("\n  {row}")).collect();
        let what = format!("the server of {who} {what}{}", said.concat());
        return report.wrong(
            Part::Server,
            what,
            "start it by hand and read what it says: the command is in the client's file",
        );
    }
    let Ok(Ok(answer)) = asked else { return };
    let Answer { name, version, hello, tools, count } = answer;
    let time = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let shown = format!("{} {}", brief(&name), brief(&version));
    let found = format!("{shown} of {who} answered in {}, and listed {count} tools in {}", time(hello), time(tools));
    if tools > CLIENTS_WAIT {
        report.warning(Part::Server, found, "some clients wait for 10 s only: raise their time limit for this server");
    } else {
        report.started(found, hello, tools, count);
    }
    if name == env!("CARGO_PKG_NAME") && version != env!("CARGO_PKG_VERSION") {
        let what = format!("{who} starts version {}; this is {}", brief(&version), env!("CARGO_PKG_VERSION"));
        report.warning(Part::Server, what, "install this one: counterfoil install --client NAME");
    } else if name != env!("CARGO_PKG_NAME") {
        let what = format!("{who} starts a server that calls itself \"{}\", not counterfoil", brief(&name));
        report.warning(Part::Server, what, "look at the entry; counterfoil install --client NAME replaces it");
    }
    if count == 0 {
        report.warning(Part::Server, format!("the server of {who} has no tool"), "add a plug-in under [plugins.NAME]");
    }
    if stays {
        let what = format!("the server of {who} did not end when its client was gone, and was stopped");
        report.warning(Part::Server, what, "a client may leave such servers behind");
    }
}

struct Answer {
    name: String,
    version: String,
    hello: Duration,
    tools: Duration,
    count: usize,
}

/// `initialize`, then `tools/list`; then the server's input ends.
async fn ask(child: &mut Child, begun: Instant) -> Result<Answer, String> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("cannot be spoken to".to_owned());
    };
    let mut output = BufReader::new(output);
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "counterfoil doctor", "version": env!("CARGO_PKG_VERSION")},
    });
    send(&mut input, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await?;
    let initialized = answer(&mut output, 1).await?;
    let hello = begun.elapsed();
    send(&mut input, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
    let (mut count, mut cursor) = (0, Value::Null);
    // A server may list its tools on several pages.
    const PAGES: u64 = 100;
    for id in 2..2 + PAGES {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        send(&mut input, &json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params})).await?;
        let mut page = answer(&mut output, id).await?;
        let tools = page.get("tools").and_then(Value::as_array).ok_or("answered tools/list without tools")?;
        count += tools.len();
        cursor = page.get_mut("nextCursor").map(Value::take).unwrap_or_default();
        if cursor.is_null() {
            break;
        }
    }
    let info = |key: &str| initialized.get("serverInfo").and_then(|info| info.get(key)).and_then(Value::as_str);
    let text = |key: &str| info(key).unwrap_or("?").to_owned();
    Ok(Answer { name: text("name"), version: text("version"), hello, tools: begun.elapsed(), count })
}

async fn send(input: &mut ChildStdin, message: &Value) -> Result<(), String> {
    let sent = async {
        input.write_all(format!("{message}\n").as_bytes()).await?;
        input.flush().await
    };
    sent.await.map_err(|_| "ended before it had answered".to_owned())
}

/// The result with that id; what a server tells beside it is passed over.
async fn answer(output: &mut BufReader<ChildStdout>, id: u64) -> Result<Value, String> {
    let mut output = output.take(MAX_ANSWER);
    loop {
        let mut row = Vec::new();
        let read = output.read_until(b'\n', &mut row).await.map_err(|e| format!("cannot be read: {e}"))?;
        if read == 0 {
            return Err("ended before it had answered".to_owned());
        }
        let mut message: Value = serde_json::from_slice(&row)
            .map_err(|_| format!("wrote what is not the protocol: {}", brief(&String::from_utf8_lossy(&row))))?;
        if message.get("id").and_then(Value::as_u64) != Some(id) {
            continue;
        }
        if let Some(error) = message.get("error") {
            return Err(format!("answered with an error: {}", brief(&error.to_string())));
        }
        return message.get_mut("result").map(Value::take).ok_or_else(|| "answered without a result".to_owned());
    }
}

/// Stops the server, and with it what it started.
async fn end(child: &mut Child, group: Option<u32>) {
    let group = group.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill().await;
}
