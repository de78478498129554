//! The requests that a plug-in asks to make.

use super::ANY;
use super::written::quoted;
use crate::plugin::http::{HostPattern, Pattern, Scheme, methods};
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeSet;

/// Requests that a plug-in asks to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredHttp {
    /// `None` for both.
    pub scheme: Option<Scheme>,
    /// As a grant names it; `*` for any.
    pub host: String,
    /// `None` for any.
    pub port: Option<u16>,
    /// In capitals; `None` for any.
    pub methods: Option<Vec<String>>,
}

/// Requests that a plug-in asks to make.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "program", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    /// "https", "http", or "*" for both. Default: "https".
    #[serde(default = "https")]
    scheme: String,
    /// A name or an address; "*" for any.
    host: String,
    /// A number, or "*" for any. Default: the scheme's own, 443 or 80.
    #[cfg_attr(feature = "program", schemars(with = "Option<serde_json::Value>"))]
    port: Option<Port>,
    /// Such as "POST"; "*" for any. Default: GET and HEAD.
    #[serde(default = "reading")]
    methods: Vec<String>,
}

fn https() -> String {
    "https".to_owned()
}

fn reading() -> Vec<String> {
    vec!["GET".to_owned(), "HEAD".to_owned()]
}

/// A port; `None` for any.
#[derive(Clone, Copy, Debug)]
struct Port(Option<u16>);

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl de::Visitor<'_> for Reader {
            type Value = Port;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a port from 1 to 65535, or \"*\" for any")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Port, E> {
                let port = u16::try_from(number).ok().filter(|port| *port > 0);
                port.map(|port| Port(Some(port)))
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Port, E> {
                let positive = u64::try_from(number);
                self.visit_u64(positive.map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &Reader))?)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Port, E> {
                if text == ANY { Ok(Port(None)) } else { Err(E::invalid_value(de::Unexpected::Str(text), &self)) }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl DeclaredHttp {
    /// What it matches.
    pub(in super::super) fn pattern(&self) -> Result<Pattern, String> {
        let host = HostPattern::declared(&self.host).map_err(|what| format!("host {}: {what}", quoted(&self.host)))?;
        let methods = self.methods.as_deref().map(methods).transpose()?;
        if methods.as_ref().is_some_and(BTreeSet::is_empty) {
            return Err("it asks for requests without a method: name them, or leave `methods` out".to_owned());
        }
        Ok(Pattern { scheme: self.scheme, host, port: self.port, methods })
    }
}

impl TryFrom<&Written> for DeclaredHttp {
    type Error = String;

    fn try_from(written: &Written) -> Result<Self, String> {
        let scheme = match written.scheme.as_str() {
            "https" => Some(Scheme::Https),
            "http" => Some(Scheme::Http),
            ANY => None,
            other => return Err(format!("{} is no scheme: write \"https\" or \"http\"", quoted(other))),
        };
        let methods = match written.methods.iter().any(|method| method == ANY) {
            true => None,
            false => Some(written.methods.clone()),
        };
        let port = written.port.map_or(scheme.map(Scheme::port), |port| port.0);
        let asked = Self { scheme, host: written.host.clone(), port, methods };
        asked.pattern()?;
        Ok(asked)
    }
}
