//! What is mutated: configurations without a mistake and without comments, which together have every key, and a folder with
//! everything that they name.

use counterfoil::Level;
use counterfoil::config::{Admitted, Config, Raise};
use counterfoil::tool::Declaration;
use std::path::{Path, PathBuf};

/// The tools that the file of a plug-in has.
const TOOLS: [(&str, &[(&str, Level)]); 3] = [
    ("files.wasm", &[("read", Level::Safe), ("write", Level::Caution), ("remove", Level::Review)]),
    ("mail.wasm", &[("list", Level::Safe), ("send", Level::ApprovalRequired), ("draft", Level::Safe)]),
    ("plug.wasm", &[("look", Level::Safe), ("refund", Level::Review)]),
];

/// What the plug-in `files` was when it was locked.
pub const LOCKED: (&str, &str) = ("files", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");

/// A folder with everything that a configuration can name.
pub struct Place {
    root: tempfile::TempDir,
    file: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for dir in ["own", "own/sub", "work", "work/inner", "other", "plugs", "record"] {
            std::fs::create_dir(at(dir)).unwrap();
        }
        for file in ["own/files.wasm", "own/mail.wasm", "plugs/plug.wasm", "own/key", "plugs/keep"] {
            std::fs::write(at(file), "").unwrap();
        }
        let (name, digest) = LOCKED;
        let lock = format!("version = 1\n[plugins.{name}]\nsha256 = \"{digest}\"\n");
        std::fs::write(at("own/counterfoil.lock"), lock).unwrap();
        let file = at("own/counterfoil.toml");
        Self { root, file }
    }

    /// The configuration.
    pub fn file(&self) -> PathBuf {
        self.file.clone()
    }

    pub fn write(&self, bytes: &[u8]) {
        std::fs::write(&self.file, bytes).unwrap();
    }

    /// What every error about the configuration begins with.
    pub fn name(&self) -> &str {
        self.file.to_str().unwrap()
    }

    /// The folder of the configuration.
    pub fn own(&self) -> PathBuf {
        self.root.path().join("own")
    }

    /// The tools of a plug-in's file; none, where it is no plug-in.
    pub fn tools(&self, source: &Path) -> &'static [(&'static str, Level)] {
        let name = source.canonicalize().ok().and_then(|file| Some(file.file_name()?.to_str()?.to_owned()));
        TOOLS.iter().find(|(file, _)| name.as_deref() == Some(file)).map_or(&[], |(_, tools)| tools)
    }

    /// Holds the configuration against the tools of its plug-ins, as the program does once they are loaded.
    pub fn admit(&self, config: &Config) -> Result<Vec<Raise>, String> {
        let mut admitted = Admitted::default();
        let mut raises = Vec::new();
        for plugin in &config.plugins {
            let declared: Vec<_> = self.tools(&plugin.source).iter().map(|(name, level)| tool(name, *level)).collect();
            raises.extend(config.admit(plugin, &declared, &mut admitted).map_err(|error| error.to_string())?);
        }
        Ok(raises)
    }
}

fn tool(name: &str, level: Level) -> Declaration {
    Declaration {
        name: name.into(),
        title: None,
        description: String::new(),
        input_schema: "{}".into(),
        output_schema: None,
        level,
        critical: false,
    }
}

/// The configurations.
pub fn texts(_: &Place) -> Vec<String> {
    [WHOLE, SHORT, TWO].map(str::to_owned).to_vec()
}

/// Every key of the contract, and a plug-in with everything.
const WHOLE: &str = r#"[gate]
ttl = "4m"
confirm_parameter = "token"
replay_window = "3m 30s"
tombstone = "12h"
recent_window = "9m"
approval_window = "20m"
cool_down = "15m"
max_arguments = "128 KiB"
max_depth = 32
max_number = 512
max_exponent = 300
max_plan = "32 KiB"
max_precondition = 512
max_outcome = "256 KiB"
max_output = "4 MiB"
pending_per_owner = 16
pending_in_all = 1000

[store]
url = "sqlite:sub/state.db"

[audit]
dir = "../record/audit"
checkpoint = "../record/heads"
checkpoint_command = ["../plugs/keep", "--append"]
max_file = "8 MiB"

[plugins.files]
source = "files.wasm"
tools = ["read", "write", "remove"]
rename = { read = "read_file" }

[[plugins.files.dirs]]
host = "../work"
guest = "/files"
access = "read-write"

[[plugins.files.dirs]]
host = "../other"
guest = "/other"

[[plugins.files.http]]
host = "api.example.com"
scheme = "https"
port = 8443
methods = ["GET", "POST"]
preview = true

[plugins.files.env]
API_KEY = { env = "DESK_KEY" }
TOKEN = { file = "key" }

[plugins.files.fixed]
clock = "2026-01-01T00:00:00Z"
random = 7

[plugins.files.levels]
write = "review"
remove = 3

[plugins.files.limits]
preview = "4s"
execute = "20s"
memory = "128 MiB"
output = "2 MiB"
log = "8 KiB"
table_elements = 5000
instances = 8
handles = 64
http_body = "1 MiB"
http_requests = 4
max_concurrent = 2
reading = 6
per_owner = 12
queue = "30s"
log_per_minute = "512 KiB"
stack = "512 KiB"

[[rules]]
tool = ["write", "remove"]
when = "args.path.contains('ledger')"
deny = true
reason = "the ledger is kept as it is"

[[budgets]]
tool = "remove"
calls = 20
per = "24h"
"#;

/// Little: most of it is what is not written.
const SHORT: &str = r#"[store]
url = "memory:"

[plugins.mail]
source = "mail.wasm"
dirs = [{ host = "../other", guest = "/mail" }]
http = [{ host = "*.example.org" }, { host = "192.0.2.7", scheme = "http" }]
tools = ["list", "send"]

[plugins.mail.limits]
execute = "10s"

[[rules]]
tool = "send"
when = "!args.to.endsWith('@example.org')"
level = "approval_required"
"#;

/// Two plug-ins, in the other forms.
const TWO: &str = r#"gate = { ttl = "1m", pending_per_owner = 4 }

[plugins.plug]
source = "../plugs/plug.wasm"
levels = { refund = "approval_required" }
dirs = [
  { host = "../work/inner", guest = "/in", access = "read-only" },
  { host = "../other", guest = "/out", access = "read-write" },
]

[plugins.plug.declares]
dirs = [{ path = "/in", access = "read-only" }, { path = "*", access = "read-write" }]
http = [{ scheme = "*", host = "api.example.com", port = "*", methods = ["POST"] }]
env = ["API_KEY"]

[plugins.mail]
source = "mail.wasm"
tools = ["list", "draft"]
rename = { list = "list_mail", draft = "write_mail" }

[plugins.mail.levels]
draft = "caution"

[[rules]]
tool = "*"
when = "owner == 'name:nightly'"
level = 2

[[budgets]]
tool = "refund"
sum = "args.amount"
at_most = "99.95"
per = "1h 30m"

[[budgets]]
tool = ["list_mail", "write_mail"]
calls = 100
per = "1h"
"#;
