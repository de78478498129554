//! What a component asks for: a custom section of its own, read before anything of it runs. A component without one asks
//! for nothing, and none gets more than it asks for.
//!
//! The section is named `counterfoil:manifest` and stands at the top level of the component or of a part of it, once. It
//! is UTF-8 JSON, read strictly: an unknown key, a key twice or a version that is not known is an error.
//!
//! ```json
//! {
//!   "manifest": 1,
//!   "dirs": [{ "path": "/files", "access": "read-write" }],
//!   "http": [{ "scheme": "https", "host": "api.example.com", "methods": ["GET", "POST"] }],
//!   "env": ["API_KEY"]
//! }
//! ```

mod http;
mod section;
mod written;

pub use http::DeclaredHttp;
#[cfg(feature = "program")]
pub(crate) use section::put;
pub(super) use section::read;
#[cfg(feature = "program")]
pub(crate) use written::Written;

use super::options::Access;

/// The name of the section.
pub const SECTION: &str = "counterfoil:manifest";
/// What stands for any path, host, method or name.
pub(super) const ANY: &str = "*";
/// Longest manifest, in bytes: some hundred lines, which a person still reads.
pub(super) const MAX: usize = 16 * 1024;
/// The version of the manifest that this host knows.
const VERSION: u64 = 1;

/// What a plug-in asks for. It gets what of it the operator grants, and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Directories, by the plug-in's own paths for them.
    pub dirs: Vec<DeclaredDir>,
    /// Requests to other machines.
    pub http: Vec<DeclaredHttp>,
    /// Environment variables, by name; `*` for any.
    pub env: Vec<String>,
}

/// A directory that a plug-in asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredDir {
    /// The guest path, such as `/files`; `*` for any.
    pub path: String,
    /// The most that it does there.
    pub access: Access,
}

impl Declared {
    /// From the JSON text of a manifest.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub fn from_json(text: &str) -> Result<Self, String> {
        written::parse(text)
    }

    /// The most that it asks for in the directory with this guest path.
    pub(super) fn dir(&self, guest: &str) -> Option<Access> {
        self.dirs.iter().filter(|dir| dir.path == ANY || dir.path == guest).map(|dir| dir.access).max()
    }

    /// Whether it asks for this variable.
    pub(super) fn env(&self, name: &str) -> bool {
        self.env.iter().any(|asked| asked == ANY || asked == name)
    }

    /// Whether it asks for nothing at all.
    pub fn is_empty(&self) -> bool {
        self.dirs.is_empty() && self.http.is_empty() && self.env.is_empty()
    }
}

/// Whether this can be what a plug-in calls a directory: absolute and plain.
pub(crate) fn is_guest_path(path: &str) -> bool {
    let parts = path.strip_prefix('/').map(|rest| rest.split('/'));
    parts.is_some_and(|mut parts| {
        path == "/" || parts.all(|part| !matches!(part, "" | "." | "..") && !part.contains(char::is_control))
    })
}

/// Whether this can be the name of an environment variable.
pub(crate) fn is_variable(name: &str) -> bool {
    /// As long as the longest that a person types.
    const LONGEST: usize = 128;
    let first = name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    first && name.len() <= LONGEST && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What a name of a variable looks like.
pub(crate) const VARIABLE_RULE: &str = "use letters, digits and _, and no digit first";
