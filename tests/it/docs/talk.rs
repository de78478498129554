//! One conversation with the program over MCP, kept by names: the examples that show whole messages.

use super::page;
use counterfoil_tests::program::{Folder, program};
use counterfoil_tests::{component, fixture};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Messages by name, handles and times in them replaced.
pub type Told = BTreeMap<String, String>;

/// `NAME` or `NAME POINTER`: a message, or a part of it, laid out.
pub fn part(told: &Told, source: &str) -> String {
    let (name, pointer) = source.rsplit_once(" /").unwrap_or((source, ""));
    let message = told.get(name).unwrap_or_else(|| panic!("nothing was said as \"{name}\": {:?}", told.keys()));
    page::json(pointer.split('/').filter(|key| !key.is_empty()).fold(message.as_str(), inside))
}

/// A member of an object or an item of a list, byte for byte.
fn inside<'a>(whole: &'a str, key: &str) -> &'a str {
    if let Ok(at) = key.parse::<usize>() {
        return serde_json::from_str::<Vec<&RawValue>>(whole).unwrap()[at].get();
    }
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(whole).unwrap();
    members.get(key).unwrap_or_else(|| panic!("no {key} in {whole}")).get()
}

struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    told: Told,
    asked: u32,
}

impl Client {
    fn new(folder: &Folder, owner: &str) -> Self {
        let mut command = folder.command(&["serve", "--owner", owner]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, told: Told::new(), asked: 0 }
    }

    /// Sends a request and keeps it as `NAME`, its answer as `NAME answer`.
    fn ask(&mut self, name: &str, method: &str, params: &str) -> Value {
        self.asked += 1;
        let request = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, self.asked);
        writeln!(self.input, "{request}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        let value = serde_json::from_str(&answer).unwrap_or_else(|e| panic!("{e}: {answer}"));
        self.told.insert(name.to_owned(), request);
        self.told.insert(format!("{name} answer"), answer);
        value
    }

    /// Calls a tool; returns its payload.
    fn call(&mut self, name: &str, tool: &str, arguments: &str) -> Value {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        let answer = self.ask(name, "tools/call", &params);
        let payload = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        assert_eq!(serde_json::from_str::<Value>(&payload).unwrap(), answer["result"]["structuredContent"]);
        self.told.insert(format!("{name} payload"), payload);
        answer["result"]["structuredContent"].clone()
    }

    /// The first call and the confirming one.
    fn confirm(&mut self, name: &str, tool: &str, arguments: &str) -> Value {
        let token = token(&self.call(&format!("{name} first"), tool, arguments));
        self.call(name, tool, &with(arguments, &token))
    }

    fn end(mut self) -> Told {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
        self.told
    }
}

fn token(payload: &Value) -> String {
    payload["confirm_token"].as_str().unwrap_or_else(|| panic!("no token: {payload}")).to_owned()
}

fn with(arguments: &str, token: &str) -> String {
    let comma = if arguments == "{}" { "" } else { "," };
    format!(r#"{}{comma}"confirm_token":"{token}"}}"#, arguments.strip_suffix('}').unwrap())
}

fn is(payload: &Value, status: &str, reason: &str) {
    assert_eq!((&payload["status"], &payload["reason"]), (&json!(status), &json!(reason)), "{payload}");
}

/// Everything that the pages show of the program.
pub fn talk() -> Told {
    assert!(program().is_file());
    let folder = Folder::new();
    let file = |path| json!(path).to_string();
    let names =
        ["files", "crash", "hang", "output"].map(|name| if name == "files" { component(name) } else { fixture(name) });
    let [files, crash, hang, output] = names.map(file);
    folder.write(
        "work/counterfoil.toml",
        &format!(
            r#"
[store]
url = "sqlite:state.db"
[plugins.files]
source = {files}
dirs = [{{ host = "./workspace", guest = "/files", access = "read-write" }}]
[plugins.crash]
source = {crash}
dirs = [{{ host = "./data", guest = "/data", access = "read-write" }}]
tools = ["write"]
rename = {{ write = "import_orders" }}
[plugins.hang]
source = {hang}
tools = ["loop_dangerous"]
rename = {{ loop_dangerous = "rebuild_index" }}
limits = {{ execute = "200ms" }}
[plugins.output]
source = {output}
tools = ["big_dangerous"]
rename = {{ big_dangerous = "export_orders" }}
limits = {{ output = "64 KiB" }}
"#
        ),
    );
    for name in ["workspace/notes", "data"] {
        std::fs::create_dir_all(folder.path("work").join(name)).unwrap();
    }
    folder.lock();
    folder.write("work/workspace/notes/old.txt", "an old note\n");
    folder.write("work/workspace/notes/plan.txt", "version 1\n");

    let mut client = Client::new(&folder, "docs");
    let hello =
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1.0.0"}}"#;
    client.ask("initialize", "initialize", hello);
    let modern = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"example","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}}"#;
    client.ask("discover", "server/discover", modern);
    let listed = client.ask("list", "tools/list", "{}");
    let place = |name: &str| {
        listed["result"]["tools"].as_array().unwrap().iter().position(|tool| tool["name"] == name).unwrap()
    };
    for tool in ["delete_file", "read_file", "create_directory"] {
        let listing =
            ["result", "tools", &place(tool).to_string()].into_iter().fold(client.told["list answer"].as_str(), inside);
        let listing = listing.to_owned();
        client.told.insert(format!("listed {tool}"), listing);
    }

    let old = r#"{"path":"notes/old.txt"}"#;
    let first = token(&client.call("first", "delete_file", old));
    client.call("confirm", "delete_file", &with(old, &first));
    let replay = client.call("replay", "delete_file", &with(old, &first));
    assert_eq!(replay["status"], "ok");

    is(
        &client.call("malformed", "delete_file", r#"{"path":"notes/plan.txt","confirm_token":"yes"}"#),
        "rejected",
        "malformed_token",
    );
    is(&client.call("invalid", "delete_file", r#"{"file":"notes/plan.txt"}"#), "rejected", "invalid_arguments");
    is(&client.call("twice", "delete_file", r#"{"path":"a","path":"b"}"#), "rejected", "invalid_arguments");
    is(&client.call("unknown tool", "delete_everything", "{}"), "rejected", "unknown_tool");
    is(&client.call("refused", "delete_file", r#"{"path":"notes/absent.txt"}"#), "rejected", "refused");
    client.call("mild", "write_file", r#"{"path":"notes/new.txt","content":"hello\n"}"#);

    let plan = r#"{"path":"notes/plan.txt","content":"version 2\n"}"#;
    let stale = token(&client.call("overwrite", "write_file", plan));
    folder.write("work/workspace/notes/plan.txt", "an hour of work\n");
    is(&client.call("tool error", "write_file", &with(plan, &stale)), "failed", "tool_error");
    is(&client.call("trapped", "import_orders", "{}"), "failed", "trapped");
    is(&client.confirm("deadline", "rebuild_index", "{}"), "failed", "deadline");
    is(&client.confirm("output limit", "export_orders", r#"{"size":100000,"summary":40}"#), "failed", "output_limit");

    let mut names = Names::default();
    client.end().into_iter().map(|(name, said)| (name, names.told(&said))).collect()
}

/// Handles and times as examples have them: the same one for the same one.
#[derive(Default)]
struct Names {
    known: BTreeMap<String, String>,
}

impl Names {
    fn told(&mut self, said: &str) -> String {
        const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz234567";
        let mut said = timeless(said);
        for kind in ["cfm_", "op_", "apr_"] {
            let handle =
                |rest: &str| rest.len() >= 24 && rest.bytes().take(24).all(|byte| LETTERS.as_bytes().contains(&byte));
            let found: Vec<String> = said
                .split(kind)
                .skip(1)
                .filter(|rest| handle(rest))
                .map(|rest| format!("{kind}{}", &rest[..24]))
                .collect();
            for real in found {
                let at = self.known.len() % LETTERS.len();
                let letters: String = LETTERS.chars().cycle().skip(at).take(24).collect();
                let shown = self.known.entry(real.clone()).or_insert_with(|| format!("{kind}{letters}")).clone();
                said = said.replace(&real, &shown);
            }
        }
        said
    }
}

/// Every time of the form that the wire has (RFC 3339, with or without milliseconds) as one and the same.
fn timeless(said: &str) -> String {
    const FORM: &str = "0000-00-00T00:00:00";
    let fits = |rest: &str| {
        rest.len() > FORM.len()
            && rest
                .bytes()
                .zip(FORM.bytes())
                .all(|(is, form)| if form == b'0' { is.is_ascii_digit() } else { is == form })
    };
    let (mut shown, mut rest) = (String::with_capacity(said.len()), said);
    while let Some(c) = rest.chars().next() {
        if fits(rest) {
            let end = rest.find('Z').unwrap();
            shown += "2026-05-18T14:35:00Z";
            rest = &rest[end + 1..];
        } else {
            shown.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    shown
}
