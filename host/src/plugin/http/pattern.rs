//! What a grant or a declaration says of requests, and the place that a request is for. A pattern matches what it names and
//! nothing that only looks like it.

use super::{HostName, Scheme};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Longest method: far above every registered one.
const METHOD: usize = 32;

/// Requests, by scheme, host, port and method. `None` stands for any, which only a declaration may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) scheme: Option<Scheme>,
    pub(crate) host: HostPattern,
    pub(crate) port: Option<u16>,
    pub(crate) methods: Option<BTreeSet<String>>,
}

/// Hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostPattern {
    /// All of them.
    Any,
    /// This one.
    Is(HostName),
    /// Those whose name ends in a dot and this.
    Below(String),
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) scheme: Scheme,
    pub(crate) host: HostName,
    pub(crate) port: u16,
}

impl Pattern {
    /// Every request.
    pub(crate) fn any() -> Self {
        Self { scheme: None, host: HostPattern::Any, port: None, methods: None }
    }

    /// Whether it is one of these requests.
    pub(crate) fn matches(&self, target: &Target, method: &str) -> bool {
        self.goes_to(target) && self.methods.as_ref().is_none_or(|methods| methods.contains(method))
    }

    /// Whether it is for one of these places, whatever its method.
    pub(super) fn goes_to(&self, target: &Target) -> bool {
        self.scheme.is_none_or(|scheme| scheme == target.scheme)
            && self.host.matches(&target.host)
            && self.port.is_none_or(|port| port == target.port)
    }

    /// What both let through; `None` where that is nothing.
    pub(crate) fn both(&self, other: &Self) -> Option<Self> {
        /// What stands for any lets the other one decide.
        fn narrower<T: Clone + PartialEq>(one: &Option<T>, other: &Option<T>) -> Option<Option<T>> {
            match (one, other) {
                (Some(one), Some(other)) if one != other => None,
                (one, other) => Some(one.clone().or_else(|| other.clone())),
            }
        }
        let methods: Option<BTreeSet<String>> = match (&self.methods, &other.methods) {
            (Some(one), Some(other)) => Some(one.intersection(other).cloned().collect()),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        Some(Self {
            scheme: narrower(&self.scheme, &other.scheme)?,
            host: self.host.both(&other.host)?,
            port: narrower(&self.port, &other.port)?,
            methods,
        })
        .filter(|both| both.methods.as_ref().is_none_or(|methods| !methods.is_empty()))
    }

    /// Whether both name a place in common, whatever the methods.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        Self { methods: None, ..self.clone() }.both(&Self { methods: None, ..other.clone() }).is_some()
    }

    /// The methods, where they are named.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().flatten().map(String::as_str)
    }
}

impl HostPattern {
    /// A host that a declaration names: as a grant does, or `*`.
    pub(crate) fn declared(text: &str) -> Result<Self, String> {
        if text == "*" { Ok(Self::Any) } else { granted_host(text) }
    }

    /// The hosts that are in both.
    fn both(&self, other: &Self) -> Option<Self> {
        let below = |name: &str, parent: &str| name.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'));
        match (self, other) {
            (Self::Any, _) => Some(other.clone()),
            (_, Self::Any) => Some(self.clone()),
            (Self::Below(one), Self::Below(other)) if one == other || below(one, other) => Some(self.clone()),
            (Self::Below(one), Self::Below(two)) if below(two, one) => Some(other.clone()),
            (Self::Is(host), wider) if wider.matches(host) => Some(self.clone()),
            (wider, Self::Is(host)) if wider.matches(host) => Some(other.clone()),
            _ => None,
        }
    }

    fn matches(&self, host: &HostName) -> bool {
        match (self, host) {
            (Self::Any, _) => true,
            (Self::Is(this), host) => this == host,
            (Self::Below(parent), HostName::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            (Self::Below(_), HostName::Address(_)) => false,
        }
    }
}

impl std::fmt::Display for Pattern {
    /// On one line, so that two different ones never read alike.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.asked(), self.place())
    }
}

impl Pattern {
    /// The methods as people read them.
    pub(crate) fn asked(&self) -> String {
        match &self.methods {
            Some(_) => self.methods().collect::<Vec<_>>().join(","),
            None => "*".to_owned(),
        }
    }

    /// Scheme, host and port as people read them.
    pub(crate) fn place(&self) -> String {
        let (scheme, host) = (self.scheme.map_or("*", Scheme::name), &self.host);
        match self.port {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}:*"),
        }
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Is(host) => host.fmt(f),
            Self::Below(parent) => write!(f, "*.{parent}"),
        }
    }
}

impl Target {
    /// The place of a request; `None` where scheme or authority are not plain. A user or password in front of the host is
    /// not: what reads as one host is another then.
    pub(crate) fn of(scheme: &str, authority: &str) -> Option<Self> {
        let scheme = match scheme {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return None,
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, number(port)?),
            _ => (authority, scheme.port()),
        };
        Some(Self { scheme, host: HostName::in_authority(host)?, port })
    }

    /// As an authority: with the port where it is not the scheme's own.
    pub(crate) fn authority(&self) -> String {
        let Self { scheme, host, port } = self;
        if *port == scheme.port() { host.to_string() } else { format!("{host}:{port}") }
    }

    /// With its scheme, for people.
    pub(crate) fn place(&self) -> String {
        format!("{}://{}", self.scheme.name(), self.authority())
    }
}

/// A port in its one spelling.
fn number(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if plain { text.parse().ok() } else { None }
}

/// A host that the operator may grant.
pub(super) fn granted_host(text: &str) -> Result<HostPattern, String> {
    if text == "*" {
        return Err("\"*\" would be every host: name the hosts, or write \"*.example.com\" for all below one".into());
    }
    if text.contains('/') {
        return Err("write the host alone, without a scheme and without a path".into());
    }
    if let Some(parent) = text.strip_prefix("*.") {
        return match HostName::alone(parent) {
            Some(HostName::Name(name)) if name.contains('.') => Ok(HostPattern::Below(name)),
            Some(HostName::Name(_)) => {
                Err("that is too much: name a domain of two parts at least behind \"*.\"".into())
            }
            Some(HostName::Address(_)) | None => Err("behind \"*.\" comes a name such as example.com".into()),
        };
    }
    match HostName::alone(text) {
        Some(HostName::Address(address)) if is_nobody(address) => Err(format!("{address} is no machine's address")),
        Some(host) => Ok(HostPattern::Is(host)),
        None if text.contains(':') => Err("write the host alone; the port has a key of its own".into()),
        None => Err("this is no host: write a name such as api.example.com (in its ASCII form), or an address".into()),
    }
}

/// Addresses that stand for no machine, or for all of them.
fn is_nobody(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    address.is_unspecified() || address.is_multicast() || broadcast
}

/// Methods as they are written, checked. They are told apart by case, and all that are in use are in capitals.
pub(crate) fn methods(written: &[String]) -> Result<BTreeSet<String>, String> {
    written.iter().map(|method| checked(method)).collect()
}

fn checked(method: &str) -> Result<String, String> {
    let fits = (1..=METHOD).contains(&method.len())
        && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_'));
    match method {
        "CONNECT" => Err("CONNECT makes a tunnel to anywhere: no plug-in gets that".into()),
        _ if fits => Ok(method.to_owned()),
        _ => Err(format!("\"{}\" is no method: write it in capitals, as in \"POST\"", crate::text::escape(method))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    #[track_caller]
    fn matches(pattern: &str, authority: &str, expected: bool) {
        let pattern = Pattern { host: granted_host(pattern).unwrap(), ..Pattern::any() };
        let target = Target::of("https", authority);
        assert_eq!(target.is_some_and(|target| pattern.matches(&target, "GET")), expected, "{authority}");
    }

    #[test]
    fn a_name_matches_itself_in_every_spelling_and_nothing_else() {
        for same in
            ["api.example.com", "API.Example.COM", "api.example.com.", "api.example.com:443", "api.example.com:1"]
        {
            matches("Api.example.com.", same, true);
        }
        for other in ["example.com", "x.api.example.com", "api.example.com.evil", "api.example.org", "api-example.com"]
        {
            matches("api.example.com", other, false);
        }
        for odd in [
            "api.example.com:",
            "api.example.com:0443",
            "api.example.com:+443",
            "api.example.com:65536",
            "api.example.com:0",
        ] {
            matches("api.example.com", odd, false);
        }
        for user in
            ["api.example.com@evil.org", "user@api.example.com", "user:password@api.example.com", "@api.example.com"]
        {
            matches("api.example.com", user, false);
        }
    }

    #[test]
    fn everything_below_a_name_is_not_the_name_itself() {
        for below in ["a.example.com", "A.B.example.com.", "a.example.com:8443"] {
            matches("*.example.com", below, true);
        }
        for other in ["example.com", ".example.com", "aexample.com", "a.example.com.evil", "127.0.0.1", "example.com.a"]
        {
            matches("*.example.com", other, false);
        }
    }

    #[test]
    fn an_address_is_not_let_through_in_another_spelling_unless_it_is_the_same() {
        matches("127.0.0.1", "[::ffff:127.0.0.1]", true);
        matches("::1", "[0::1]:443", true);
        for other in
            ["127.1", "0x7f.0.0.1", "2130706433", "localhost", "LOCALHOST", "localhost.", "0.0.0.0", "[::1]", "[::]"]
        {
            matches("127.0.0.1", other, false);
            if !other.to_ascii_lowercase().starts_with("localhost") {
                matches("localhost", other, false);
            }
        }
        matches("localhost", "127.0.0.1", false);
    }

    #[test]
    fn the_operator_names_hosts_and_the_reason_says_what_is_wrong() {
        for (host, with) in [
            ("*", "name the hosts"),
            ("*.com", "two parts"),
            ("*.localhost", "two parts"),
            ("*.*.com", "behind \"*.\""),
            ("*.127.0.0.1", "behind \"*.\""),
            ("a.*.com", "no host"),
            ("https://example.com", "without a scheme"),
            ("example.com/a", "without a path"),
            ("example.com:443", "key of its own"),
            ("user@example.com", "no host"),
            ("exämple.com", "ASCII form"),
            ("127.1", "no host"),
            ("0.0.0.0", "no machine"),
            ("::", "no machine"),
            ("224.0.0.1", "no machine"),
            ("255.255.255.255", "no machine"),
            ("", "no host"),
        ] {
            let error = granted_host(host).unwrap_err();
            assert!(error.contains(with), "{host}: {error}");
        }
        assert_eq!(HostPattern::declared("*"), Ok(HostPattern::Any));
        assert!(HostPattern::declared("*.com").is_err());
    }

    #[test]
    fn an_authority_says_the_port_where_it_is_not_the_usual_one() {
        for (scheme, authority, expected) in [
            ("https", "A.example:443", "a.example"),
            ("https", "a.example:80", "a.example:80"),
            ("http", "a.example:80", "a.example"),
            ("http", "[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(Target::of(scheme, authority).unwrap().authority(), expected);
        }
        assert_eq!(Target::of("HTTPS", "a.example"), None);
        assert_eq!(Target::of("ftp", "a.example"), None);
    }
}
