//! What a hostile plug-in is granted besides a directory: requests to a server on this machine, which tells afterwards what came.

use super::case::Case;
use crate::web::server::Server;
use counterfoil::plugin::{HttpGrant, PluginOptions, Scheme, Secret};

/// A grant for requests, without TLS, at the server's port.
pub struct Web {
    host: &'static str,
    methods: &'static [&'static str],
    preview: bool,
    /// What the server has got in the end.
    got: &'static [&'static str],
}

impl Web {
    /// GET, in runs only; nothing comes.
    pub const fn at(host: &'static str) -> Self {
        Self { host, methods: &["GET"], preview: false, got: &[] }
    }

    pub const fn methods(self, methods: &'static [&'static str]) -> Self {
        Self { methods, ..self }
    }

    pub const fn preview(self) -> Self {
        Self { preview: true, ..self }
    }

    pub const fn got(self, got: &'static [&'static str]) -> Self {
        Self { got, ..self }
    }

    fn grant(&self, port: u16) -> HttpGrant {
        let methods = self.methods.iter().map(|&method| method.into()).collect();
        let (scheme, port, preview) = (Scheme::Http, Some(port), self.preview);
        HttpGrant { scheme, port, methods, preview, ..HttpGrant::new(self.host) }
    }
}

/// Grants what the case says. Returns the server that it is about.
pub async fn grant(case: &Case, options: &mut PluginOptions) -> Server {
    let server = Server::start(None).await;
    options.http.extend(case.web.iter().map(|web| web.grant(server.port)));
    options.env.extend(case.variable.map(|name| (name.to_owned(), Secret::new("granted"))));
    server
}

/// What came to the server is what may have come.
pub fn hold(case: &Case, server: &Server) {
    let came: Vec<String> = server.seen().iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect();
    let got: Vec<String> = case.web.iter().flat_map(|web| web.got).map(|&line| server.spelled(line)).collect();
    assert_eq!(came, got, "{}", case.name);
}
