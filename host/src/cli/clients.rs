//! The MCP clients that `install` can write to and `doctor` looks at: where each keeps its servers, and in which form.
//! Only what a client's own documentation says stands here; a client that is not sure is not in the table.

mod entry;
mod file;
mod json;
mod toml;

pub(super) use entry::{STATE, ServerEntry};
pub(super) use file::{Source, Written, restore};

use crate::config::ClientFolders;
use std::fmt;
use std::path::PathBuf;

/// A client and its configuration.
pub(super) struct Client {
    /// What `--client` takes.
    pub(super) name: &'static str,
    /// What its makers call it.
    pub(super) title: &'static str,
    /// How its file is written.
    form: Form,
    /// Where it keeps the servers of a user.
    user: fn(&ClientFolders) -> PathBuf,
    /// Where it keeps those of a project, from the project's folder.
    pub(super) project: Option<&'static str>,
    /// What makes it read the file again.
    pub(super) after: &'static str,
}

#[derive(Clone, Copy)]
enum Form {
    /// JSON, perhaps with comments: the key of the servers, and the keys of an entry beside command, arguments and
    /// environment.
    Json(&'static str, &'static [(&'static str, Fixed)]),
    /// TOML: the table of the servers.
    Toml(&'static str),
}

/// A value that is the same in each entry.
#[derive(Clone, Copy)]
enum Fixed {
    Text(&'static str),
    /// Every tool.
    All,
}

/// What a client gives to a server of its own environment.
pub(super) const GIVEN: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Clients that also name in lists which servers they start: those that they do not, and, where there is such a list, the
/// only ones that they do.
const LISTS: &[(&str, [&str; 2], [&str; 2])] = &[("gemini-cli", ["mcp", "excluded"], ["mcp", "allowed"])];

const STDIO: &[(&str, Fixed)] = &[("type", Fixed::Text("stdio"))];
const RESTART: &str = "quit it and start it again";

/// Every client, by name.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        form: Form::Json("mcpServers", STDIO),
        user: |folders| folders.claude.as_ref().unwrap_or(&folders.home).join(".claude.json"),
        project: Some(".mcp.json"),
        after: "start a new session; /mcp in it shows the server",
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        form: Form::Json("mcpServers", &[]),
        user: |folders| folders.applications.join("Claude/claude_desktop_config.json"),
        project: None,
        after: RESTART,
    },
    Client {
        name: "cline",
        title: "Cline",
        form: Form::Json("mcpServers", &[]),
        user: |folders| {
            let usual = || folders.home.join(".cline/data/settings/cline_mcp_settings.json");
            folders.cline.clone().unwrap_or_else(usual)
        },
        project: None,
        after: "open its MCP servers and restart the server there",
    },
    Client {
        name: "codex",
        title: "Codex",
        form: Form::Toml("mcp_servers"),
        user: |folders| folders.codex.clone().unwrap_or_else(|| folders.home.join(".codex")).join("config.toml"),
        project: Some(".codex/config.toml"),
        after: "start a new session; /mcp in it shows the server",
    },
    Client {
        name: "copilot-cli",
        title: "GitHub Copilot CLI",
        form: Form::Json("mcpServers", &[("type", Fixed::Text("local")), ("tools", Fixed::All)]),
        user: |folders| {
            folders.copilot.clone().unwrap_or_else(|| folders.home.join(".copilot")).join("mcp-config.json")
        },
        project: None,
        after: "start a new session; /mcp show in it shows the server",
    },
    Client {
        name: "cursor",
        title: "Cursor",
        form: Form::Json("mcpServers", STDIO),
        user: |folders| folders.home.join(".cursor/mcp.json"),
        project: Some(".cursor/mcp.json"),
        after: "quit it and start it again; its settings list the server",
    },
    Client {
        name: "gemini-cli",
        title: "Gemini CLI",
        form: Form::Json("mcpServers", &[]),
        user: |folders| folders.home.join(".gemini/settings.json"),
        project: Some(".gemini/settings.json"),
        after: "start a new session; /mcp in it shows the server",
    },
    Client {
        name: "kiro",
        title: "Kiro",
        form: Form::Json("mcpServers", &[]),
        user: |folders| folders.home.join(".kiro/settings/mcp.json"),
        project: Some(".kiro/settings/mcp.json"),
        after: "its panel of MCP servers shows the server",
    },
    Client {
        name: "vscode",
        title: "Visual Studio Code",
        form: Form::Json("servers", STDIO),
        user: |folders| folders.applications.join("Code/User/mcp.json"),
        project: Some(".vscode/mcp.json"),
        after: "run the command `MCP: List Servers` in it, and start the server there",
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        form: Form::Json("mcpServers", &[]),
        user: |folders| folders.home.join(".codeium/windsurf/mcp_config.json"),
        project: None,
        after: "refresh the MCP servers in its settings",
    },
    Client {
        name: "zed",
        title: "Zed",
        form: Form::Json("context_servers", &[]),
        user: |folders| folders.settings.join("zed/settings.json"),
        project: None,
        after: "the settings of its agent panel show the server",
    },
];

impl Client {
    /// The client of that name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// The file with the user's servers.
    pub(super) fn file(&self, folders: &ClientFolders) -> PathBuf {
        (self.user)(folders)
    }

    /// A file that has the entry and nothing else: what can be pasted by hand.
    pub(super) fn snippet(&self, name: &str, entry: &ServerEntry) -> Result<String, Fault> {
        self.put("", name, entry)
    }

    /// The text with the entry, everything else as it was. The same text where it has the entry already.
    pub(super) fn put(&self, text: &str, name: &str, entry: &ServerEntry) -> Result<String, Fault> {
        if self.get(text, name)?.is_some_and(|found| found.is(entry)) && self.fixed_hold(text, name)? {
            return Ok(text.to_owned());
        }
        match self.form {
            Form::Json(servers, fixed) => json::put(text, servers, name, entry, fixed),
            Form::Toml(servers) => toml::put(text, servers, name, entry),
        }
    }

    /// The text without the entry; none where it has no such entry.
    pub(super) fn remove(&self, text: &str, name: &str) -> Result<Option<String>, Fault> {
        match self.form {
            Form::Json(servers, _) => json::remove(text, servers, name),
            Form::Toml(servers) => toml::remove(text, servers, name),
        }
    }

    /// The entry of that name.
    pub(super) fn get(&self, text: &str, name: &str) -> Result<Option<ServerEntry>, Fault> {
        let Some(value) = self.value(text, name)? else { return Ok(None) };
        let mut entry = ServerEntry::of(&value);
        entry.disabled |= self.left_out(text)(name);
        Ok(Some(entry))
    }

    /// The entry of that name as it stands in the file, laid out for people.
    pub(super) fn whole(&self, text: &str, name: &str) -> Result<String, Fault> {
        Ok(self.value(text, name)?.map(|value| crate::text::indent(&value.to_string())).unwrap_or_default())
    }

    /// Every server with its name.
    pub(super) fn all(&self, text: &str) -> Result<Vec<(String, ServerEntry)>, Fault> {
        let all = match self.form {
            Form::Json(servers, _) => json::all(text, servers),
            Form::Toml(servers) => toml::all(text, servers),
        };
        let left_out = self.left_out(text);
        let one = |(name, value): (String, serde_json::Value)| {
            let mut entry = ServerEntry::of(&value);
            entry.disabled |= left_out(&name);
            (name, entry)
        };
        Ok(all?.into_iter().map(one).collect())
    }

    /// Which servers the client does not start, whatever their entries say.
    fn left_out(&self, text: &str) -> impl Fn(&str) -> bool + use<> {
        let lists = LISTS.iter().filter(|(client, ..)| *client == self.name);
        let lists: Vec<_> =
            lists.map(|(_, excluded, allowed)| [excluded, allowed].map(|list| json::listed(text, *list))).collect();
        move |name| {
            lists.iter().any(|[excluded, allowed]| {
                excluded.as_ref().is_some_and(|list| list.contains(name))
                    || allowed.as_ref().is_some_and(|list| !list.contains(name))
            })
        }
    }

    fn value(&self, text: &str, name: &str) -> Result<Option<serde_json::Value>, Fault> {
        match self.form {
            Form::Json(servers, _) => json::get(text, servers, name),
            Form::Toml(servers) => toml::get(text, servers, name),
        }
    }

    /// Whether the entry has what is the same in each.
    fn fixed_hold(&self, text: &str, name: &str) -> Result<bool, Fault> {
        let Form::Json(_, fixed) = self.form else { return Ok(true) };
        let value = self.value(text, name)?.unwrap_or_default();
        Ok(fixed.iter().all(|(key, expected)| match expected {
            Fixed::Text(text) => value.get(key).and_then(serde_json::Value::as_str) == Some(text),
            // The user may have let in fewer.
            Fixed::All => value.get(key).is_some_and(serde_json::Value::is_array),
        }))
    }
}

/// Most servers of a file that are looked at: no client could serve as many.
const MAX_SERVERS: usize = 1000;

fn too_many(text: &str, offset: usize) -> Fault {
    Fault::at(text, offset, format!("there are more than {MAX_SERVERS} servers here, and they are not looked at"))
}

/// What is wrong with a client's file, and where. Nothing is written to such a file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) what: String,
}

impl Fault {
    /// At a byte of the text.
    fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Self { line, column, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, crate::text::escape(&self.what))
    }
}

#[cfg(test)]
mod tests;
