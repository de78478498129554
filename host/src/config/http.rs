//! The requests that a plug-in may send, as they are written: one entry for each host and what is asked of it.

use super::Places;
use super::file::At;
use crate::Error;
use crate::plugin::{HttpGrant, Scheme};
use schemars::JsonSchema;
use serde::Deserialize;

/// Requests that a plug-in may send.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpTable {
    /// A name such as "api.example.com", an address, or "*.example.com" for everything below a name.
    pub host: At<String>,
    /// With TLS ("https") or without ("http"). Default: "https".
    #[serde(default)]
    pub scheme: SchemeWord,
    /// The port. Default: the scheme's own, 443 or 80.
    pub port: Option<At<u16>>,
    /// The methods, in capitals. Default: ["GET", "HEAD"].
    pub methods: Option<At<Vec<String>>>,
    /// Whether previews and safe tools may use it, with GET and HEAD without a body only. Default: false.
    #[serde(default)]
    pub preview: bool,
}

/// With TLS or without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SchemeWord {
    /// With TLS; certificates are checked.
    #[default]
    Https,
    /// Without: whoever is on the way reads and changes what is sent.
    Http,
}

/// One entry, checked.
pub(super) fn grant(at: &At<HttpTable>, others: &[HttpGrant], places: &Places) -> Result<HttpGrant, Error> {
    let table = at.value();
    let scheme = match table.scheme {
        SchemeWord::Https => Scheme::Https,
        SchemeWord::Http => Scheme::Http,
    };
    let mut grant = HttpGrant { scheme, preview: table.preview, ..HttpGrant::new(table.host.value()) };
    grant.check().map_err(|what| places.error_at(table.host.span(), &what))?;
    if let Some(port) = &table.port {
        grant.port = Some(*port.value());
        grant.check().map_err(|what| places.error_at(port.span(), &what))?;
    }
    if let Some(methods) = &table.methods {
        grant.methods.clone_from(methods.value());
        grant.check().map_err(|what| places.error_at(methods.span(), &what))?;
    }
    if others.contains(&grant) {
        return Err(places.error_at(table.host.span(), "this entry is there twice: keep one of the two"));
    }
    Ok(grant)
}
