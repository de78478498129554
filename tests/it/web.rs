//! Plug-ins and the network: what they may send to whom, in previews, safe calls and runs, and what is known afterwards.

mod change;
mod denied;
mod effect;
mod limits;
mod reload;
pub mod server;
mod sockets;
mod targets;
mod tls;

use crate::plugin::bench::{gate, load, options};
use counterfoil::plugin::{Access, DirGrant, HttpGrant, Limits, Scheme};
use counterfoil::{Host, Level};
use std::path::Path;

/// GET and HEAD without TLS, to the tests' own server by its address.
fn plain(port: u16) -> HttpGrant {
    HttpGrant { scheme: Scheme::Http, port: Some(port), ..HttpGrant::new("127.0.0.1") }
}

/// The same with every method that a fixture knows, for previews as well.
fn everything(port: u16) -> HttpGrant {
    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE"];
    HttpGrant { methods: methods.map(str::to_owned).to_vec(), preview: true, ..plain(port) }
}

/// What a plug-in is served with.
#[derive(Default)]
struct Served<'a> {
    http: Vec<HttpGrant>,
    dir: Option<&'a Path>,
    limits: Limits,
    /// Tools that the operator raised.
    raised: &'a [&'a str],
}

async fn serve(fixture: &str, served: Served<'_>) -> Host {
    let mut options = options(fixture);
    options.http = served.http;
    options.limits = served.limits;
    let dir = |host: &Path| DirGrant { host: host.into(), guest: "/data".into(), access: Access::ReadWrite };
    options.dirs.extend(served.dir.map(dir));
    let mut builder = Host::builder(gate()).plugin(load(fixture, options).await.unwrap());
    for tool in served.raised {
        builder = builder.level(*tool, Level::ApprovalRequired);
    }
    builder.build().await.unwrap()
}

/// The arguments of the fixture `fetch`.
fn request(method: &str, authority: &str, path: &str) -> String {
    serde_json::json!({ "method": method, "authority": authority, "path": path }).to_string()
}
