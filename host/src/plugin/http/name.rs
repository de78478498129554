//! One spelling for each host. What can be spelled in more ways than its letters' case and a last dot is refused, not
//! guessed at: a name that some resolvers take for an address, percent signs, a zone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Longest name, in bytes (RFC 1035).
const NAME: usize = 253;
/// Longest part of a name.
const LABEL: usize = 63;

/// A host, in the one spelling that is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum HostName {
    /// Lower case, no dot at the end.
    Name(String),
    /// An IPv4 address inside an IPv6 one is the IPv4 address.
    Address(IpAddr),
}

impl HostName {
    /// A host as an authority has it: an IPv6 address stands in brackets.
    pub(crate) fn in_authority(text: &str) -> Option<Self> {
        match text.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']')?.parse().ok().map(Self::v6),
            None => Self::plain(text),
        }
    }

    /// A host as a person writes it, where no port can follow: the brackets may be left out.
    pub(crate) fn alone(text: &str) -> Option<Self> {
        text.parse().map(Self::v6).ok().or_else(|| Self::in_authority(text))
    }

    fn v6(address: Ipv6Addr) -> Self {
        Self::Address(IpAddr::V6(address).to_canonical())
    }

    /// A name or an IPv4 address.
    fn plain(text: &str) -> Option<Self> {
        let text = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let fits = |label: &str| {
            (1..=LABEL).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        if text.len() > NAME || !text.split('.').all(fits) {
            return None;
        }
        // What ends in a number is an address or, to a resolver, may be another spelling of one: `127.1`, `0x7f.1`.
        if text.rsplit('.').next().is_some_and(is_number) {
            return text.parse::<Ipv4Addr>().ok().map(|address| Self::Address(address.into()));
        }
        Some(Self::Name(text))
    }

    /// Whether it is the machine itself by its usual name, which is never looked up.
    pub(crate) fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost")
    }
}

impl std::fmt::Display for HostName {
    /// As an authority has it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Whether a name's last part is a number, as URLs count: decimal, or hexadecimal behind `0x`.
fn is_number(label: &str) -> bool {
    let digits = |text: &str, radix| text.chars().all(|digit| digit.is_digit(radix));
    digits(label, 10) || label.strip_prefix("0x").is_some_and(|rest| digits(rest, 16))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let host = HostName::in_authority(text);
        assert_eq!(host.map(|host| host.to_string()).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn each_host_has_one_spelling() {
        check("example.com", Some("example.com"));
        check("EXAMPLE.com.", Some("example.com"));
        check("LOCALHOST.", Some("localhost"));
        check("my_host", Some("my_host"));
        check("127.0.0.1", Some("127.0.0.1"));
        check("127.0.0.1.", Some("127.0.0.1"));
        check("[::1]", Some("[::1]"));
        check("[0:0::0:1]", Some("[::1]"));
        check("[::ffff:127.0.0.1]", Some("127.0.0.1"));
        check("[::FFFF:7f00:1]", Some("127.0.0.1"));
        assert_eq!(HostName::alone("::1"), HostName::in_authority("[::1]"));
        assert_eq!(HostName::alone("[::1]"), HostName::in_authority("[::1]"));
    }

    #[test]
    fn what_some_take_for_an_address_or_for_another_name_is_no_host() {
        for odd in
            ["127.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "0x", "a.1"]
        {
            check(odd, None);
        }
        for odd in
            ["", ".", "..", "a..b", ".a", "a..", "ex%61mple.com", "exämple.com", "a b", "a:1", "a/b", "a@b", "a\0", "*"]
        {
            check(odd, None);
        }
        for odd in
            ["::1", "[::1", "::1]", "[]", "[127.0.0.1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1]x", "[v1.a]"]
        {
            check(odd, None);
        }
        check(&"a".repeat(64), None);
        check(&["a"; 128].join("."), None);
    }
}
