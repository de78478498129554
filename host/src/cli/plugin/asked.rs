//! What a plug-in asks for, as it is shown.

use crate::plugin::{Declared, DeclaredHttp, Scheme};
use serde_json::{Value, json};

/// Kind, which, and the most that it asks for; `*` stands for any.
pub(in crate::cli) fn rows(declared: &Declared) -> Vec<[String; 3]> {
    let dirs = declared.dirs.iter().map(|dir| ["directory".to_owned(), dir.path.clone(), dir.access.name().to_owned()]);
    let http = declared.http.iter().map(|http| ["http".to_owned(), place(http), methods(http).join(", ")]);
    let env = declared.env.iter().map(|name| ["variable".to_owned(), name.clone(), "read it".to_owned()]);
    dirs.chain(http).chain(env).collect()
}

/// As a manifest says it.
pub(super) fn json(declared: &Declared) -> Value {
    let dirs: Vec<_> =
        declared.dirs.iter().map(|dir| json!({ "path": dir.path, "access": dir.access.name() })).collect();
    let http: Vec<_> = declared
        .http
        .iter()
        .map(|http| {
            let port = http.port.map_or_else(|| json!("*"), |port| json!(port));
            json!({ "scheme": scheme(http), "host": http.host, "port": port, "methods": methods(http) })
        })
        .collect();
    json!({ "manifest": 1, "dirs": dirs, "http": http, "env": declared.env })
}

fn scheme(http: &DeclaredHttp) -> &'static str {
    http.scheme.map_or("*", Scheme::name)
}

fn place(http: &DeclaredHttp) -> String {
    let scheme = scheme(http);
    match (scheme, http.port) {
        ("https", Some(443)) | ("http", Some(80)) => format!("{scheme}://{}", http.host),
        (_, Some(port)) => format!("{scheme}://{}:{port}", http.host),
        (_, None) => format!("{scheme}://{}:*", http.host),
    }
}

fn methods(http: &DeclaredHttp) -> Vec<String> {
    http.methods.clone().unwrap_or_else(|| vec!["*".to_owned()])
}
