//! Outbound HTTP for plug-ins: what the operator grants and what a component declares, and whether a request is within
//! both. A request that nothing here lets through is never sent.

#[cfg(feature = "http")]
mod address;
#[cfg(feature = "http")]
mod body;
#[cfg(feature = "http")]
pub(super) mod charged;
#[cfg(feature = "http")]
mod denials;
mod name;
#[cfg(feature = "http")]
mod network;
mod pattern;
#[cfg(feature = "http")]
mod traffic;
mod why;

#[cfg(feature = "http")]
pub(crate) use denials::{Denials, Denied};
pub(crate) use name::HostName;
#[cfg(feature = "http")]
pub(crate) use network::Network;
pub(crate) use pattern::{HostPattern, Pattern, Target, methods};
#[cfg(feature = "http")]
pub(crate) use traffic::{FIELDS, Traffic};
pub(crate) use why::Why;

use crate::{Error, ErrorKind};

/// What previews and safe calls may ever send.
const READING: [&str; 2] = ["GET", "HEAD"];

/// With or without TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// With TLS; certificates are checked against those that this machine trusts.
    #[default]
    Https,
    /// Without: whoever is on the way reads and changes what is sent.
    Http,
}

impl Scheme {
    /// As it is written in front of `://`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    /// The port where none is written.
    pub fn port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// Requests that a plug-in may send. Nothing follows a redirect: the plug-in's next request is held against the grants like
/// any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpGrant {
    /// With or without TLS.
    pub scheme: Scheme,
    /// A name (`api.example.com`), an address (`192.0.2.7`, `2001:db8::7`), or everything below a name (`*.example.com`,
    /// which `example.com` itself is not).
    pub host: String,
    /// The port; the scheme's own where it is `None`.
    pub port: Option<u16>,
    /// The methods, in capitals.
    pub methods: Vec<String>,
    /// Whether previews and safe calls may use it as well: with GET and HEAD only, whatever `methods` has beside them.
    pub preview: bool,
}

impl HttpGrant {
    /// GET and HEAD over TLS, in runs that are not safe.
    pub fn new(host: impl Into<String>) -> Self {
        let methods = READING.map(str::to_owned).to_vec();
        Self { scheme: Scheme::Https, host: host.into(), port: None, methods, preview: false }
    }

    /// Checks it.
    pub(crate) fn check(&self) -> Result<Allowed, String> {
        let host = pattern::granted_host(&self.host)?;
        let port = self.port.unwrap_or(self.scheme.port());
        if port == 0 {
            return Err("0 is no port: give one from 1 to 65535, or leave it out".into());
        }
        if self.methods.is_empty() {
            return Err("it has no methods: name them, or leave the key out for GET and HEAD".into());
        }
        let methods = pattern::methods(&self.methods)?;
        if self.preview && !methods.iter().any(|method| READING.contains(&method.as_str())) {
            return Err("previews send GET and HEAD only, and it has neither: add one, or leave out preview".into());
        }
        let pattern = Pattern { scheme: Some(self.scheme), host, port: Some(port), methods: Some(methods) };
        Ok(Allowed { pattern, preview: self.preview })
    }
}

/// A grant that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) pattern: Pattern,
    pub(crate) preview: bool,
}

impl std::fmt::Display for Allowed {
    /// On one line, so that two different grants never read alike.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pattern.fmt(f)?;
        if self.preview { f.write_str(" (previews, too)") } else { Ok(()) }
    }
}

/// What a call may send, by what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nothing: a component's start code, and its list of tools.
    #[default]
    Nothing,
    /// What is granted for previews: previews and safe calls.
    Reading,
    /// What is granted.
    Granted,
}

/// The HTTP of one plug-in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Web {
    granted: Vec<Allowed>,
    /// What the component says that it needs: a request must be within one of these, too.
    declared: Vec<Pattern>,
    /// The way out, which all plug-ins of a sandbox share.
    #[cfg(feature = "http")]
    network: std::sync::Arc<Network>,
    /// Its turns to look a name up.
    #[cfg(feature = "http")]
    lookups: network::LookUps,
}

impl Web {
    /// # Errors
    /// [`ErrorKind::Config`], which grant is none and why.
    pub(crate) fn new(grants: &[HttpGrant], declared: Vec<Pattern>) -> Result<Self, Error> {
        let mut granted = Vec::with_capacity(grants.len());
        for grant in grants {
            let allowed = grant.check().map_err(|what| {
                let host = crate::text::escape(&grant.host);
                Error::new(ErrorKind::Config, format!("HTTP to \"{host}\" cannot be granted: {what}"))
            })?;
            granted.push(allowed);
        }
        Ok(Self {
            granted,
            declared,
            #[cfg(feature = "http")]
            network: std::sync::Arc::default(),
            #[cfg(feature = "http")]
            lookups: network::LookUps::default(),
        })
    }

    /// The same on another way out.
    #[cfg(feature = "http")]
    pub(crate) fn through(&self, network: &std::sync::Arc<Network>) -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self { network: std::sync::Arc::clone(network), ..self.clone() })
    }

    /// The grants.
    pub(crate) fn granted(&self) -> &[Allowed] {
        &self.granted
    }

    /// What the component says that it needs.
    pub(crate) fn declared(&self) -> &[Pattern] {
        &self.declared
    }

    /// Whether a run may send something that is more than a look.
    pub(crate) fn can_change(&self) -> bool {
        self.granted.iter().any(|allowed| allowed.pattern.methods().any(|method| !is_reading(method)))
    }

    /// Whether a run may send something to this place that is more than a look: there, a body is within what is granted, too.
    pub(crate) fn can_change_at(&self, target: &Target) -> bool {
        let changes = |method: &str| !is_reading(method) && self.allows(Reach::Granted, target, method).is_ok();
        self.granted.iter().any(|allowed| allowed.pattern.methods().any(changes))
    }

    /// Whether this request may be sent, and why not.
    pub(crate) fn allows(&self, reach: Reach, target: &Target, method: &str) -> Result<(), Why> {
        if reach == Reach::Nothing {
            return Err(Why::TooEarly);
        }
        let here: Vec<&Allowed> = self.granted.iter().filter(|allowed| allowed.pattern.goes_to(target)).collect();
        if here.is_empty() {
            return Err(Why::NotGranted);
        }
        if reach == Reach::Reading && !is_reading(method) {
            return Err(Why::Changes);
        }
        let granted: Vec<&&Allowed> = here.iter().filter(|allowed| allowed.pattern.matches(target, method)).collect();
        if granted.is_empty() {
            return Err(Why::Method);
        }
        if reach == Reach::Reading && !granted.iter().any(|allowed| allowed.preview) {
            return Err(Why::NotInPreviews);
        }
        if !self.declared.iter().any(|pattern| pattern.matches(target, method)) {
            return Err(Why::NotDeclared);
        }
        Ok(())
    }
}

/// Whether a request of this method only looks, by HTTP's own definition.
pub(crate) fn is_reading(method: &str) -> bool {
    READING.contains(&method)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    fn web(grants: &[HttpGrant]) -> Web {
        Web::new(grants, vec![Pattern::any()]).unwrap()
    }

    #[track_caller]
    fn asked(web: &Web, reach: Reach, request: &str) -> Result<(), Why> {
        let (method, rest) = request.split_once(' ').unwrap();
        let (scheme, authority) = rest.split_once("://").unwrap();
        web.allows(reach, &Target::of(scheme, authority).unwrap(), method)
    }

    #[track_caller]
    fn allows(web: &Web, reach: Reach, request: &str) -> bool {
        asked(web, reach, request).is_ok()
    }

    #[test]
    fn each_key_of_a_grant_opens_what_it_says_and_nothing_else() {
        let plain = HttpGrant::new("api.example.com");
        let with = |change: fn(&mut HttpGrant)| {
            let mut grant = plain.clone();
            change(&mut grant);
            web(&[grant])
        };
        let usual = web(std::slice::from_ref(&plain));
        for (changed, request) in [
            (with(|grant| grant.host = "www.example.com".into()), "GET https://www.example.com"),
            (with(|grant| grant.scheme = Scheme::Http), "GET http://api.example.com"),
            (with(|grant| grant.port = Some(8443)), "GET https://api.example.com:8443"),
            (with(|grant| grant.methods = vec!["POST".into()]), "POST https://api.example.com"),
        ] {
            assert!(allows(&changed, Reach::Granted, request), "{request}");
            assert!(!allows(&changed, Reach::Granted, "GET https://api.example.com"), "{request}");
            assert!(!allows(&usual, Reach::Granted, request), "{request}");
        }
        let previewed = with(|grant| {
            grant.preview = true;
            grant.methods.push("POST".into());
        });
        for (reach, method, usually, in_previews) in [
            (Reach::Nothing, "GET", false, false),
            (Reach::Reading, "GET", false, true),
            (Reach::Reading, "HEAD", false, true),
            (Reach::Reading, "POST", false, false),
            (Reach::Granted, "GET", true, true),
            (Reach::Granted, "POST", false, true),
        ] {
            let request = format!("{method} https://api.example.com:443");
            assert_eq!(allows(&usual, reach, &request), usually, "{reach:?} {request}");
            assert_eq!(allows(&previewed, reach, &request), in_previews, "{reach:?} {request}");
        }
    }

    #[test]
    fn a_body_is_within_what_is_granted_where_a_change_is() {
        let get = |host: &str| HttpGrant::new(host);
        let post = HttpGrant { methods: vec!["POST".into()], ..get("b.example") };
        let target = |host: &str| Target::of("https", host).unwrap();
        let web = web(&[get("a.example"), get("b.example"), post]);
        assert!(!web.can_change_at(&target("a.example")) && web.can_change_at(&target("b.example")));
        assert!(!web.can_change_at(&target("b.example:8443")) && !web.can_change_at(&target("c.example")));
    }

    #[test]
    fn a_request_must_be_within_what_is_granted_and_what_is_declared() {
        let grants = [HttpGrant::new("*.example.com")];
        let declared = HttpGrant::new("api.example.com").check().unwrap().pattern;
        let both = Web::new(&grants, vec![declared]).unwrap();
        assert!(allows(&both, Reach::Granted, "GET https://api.example.com"));
        assert!(!allows(&both, Reach::Granted, "GET https://www.example.com"));
        assert!(!allows(&Web::new(&grants, Vec::new()).unwrap(), Reach::Granted, "GET https://api.example.com"));
        assert!(!allows(&web(&[]), Reach::Granted, "GET https://api.example.com"));
    }

    #[test]
    fn a_request_that_is_denied_is_so_for_a_reason() {
        let grants = [
            HttpGrant { preview: true, ..HttpGrant::new("a.example.com") },
            HttpGrant { methods: vec!["GET".into(), "POST".into()], ..HttpGrant::new("b.example.com") },
            HttpGrant::new("c.example.com"),
        ];
        let declared = ["a", "b"].map(|name| HttpGrant {
            methods: ["GET", "POST", "PUT"].map(str::to_owned).to_vec(),
            ..HttpGrant::new(format!("{name}.example.com"))
        });
        let declared = declared.map(|grant| grant.check().unwrap().pattern).to_vec();
        let web = Web::new(&grants, declared).unwrap();
        for (reach, request, why) in [
            (Reach::Nothing, "GET https://a.example.com", Why::TooEarly),
            (Reach::Granted, "GET https://d.example.com", Why::NotGranted),
            (Reach::Granted, "GET http://a.example.com", Why::NotGranted),
            (Reach::Granted, "GET https://a.example.com:444", Why::NotGranted),
            (Reach::Granted, "POST https://a.example.com", Why::Method),
            (Reach::Granted, "PUT https://b.example.com", Why::Method),
            (Reach::Reading, "POST https://b.example.com", Why::Changes),
            (Reach::Reading, "GET https://b.example.com", Why::NotInPreviews),
            (Reach::Granted, "GET https://c.example.com", Why::NotDeclared),
        ] {
            assert_eq!(asked(&web, reach, request), Err(why), "{reach:?} {request}");
        }
        for (reach, request) in
            [(Reach::Reading, "GET https://a.example.com"), (Reach::Granted, "POST https://b.example.com")]
        {
            assert_eq!(asked(&web, reach, request), Ok(()), "{reach:?} {request}");
        }
    }

    #[test]
    fn what_is_no_grant_is_refused_with_its_reason() {
        let refused = |grant: HttpGrant, with: &str| {
            let error = Web::new(&[grant], Vec::new()).unwrap_err();
            assert!(error.to_string().contains(with), "{error}");
        };
        let usual = HttpGrant::new("example.com");
        refused(HttpGrant { port: Some(0), ..usual.clone() }, "0 is no port");
        refused(HttpGrant { methods: Vec::new(), ..usual.clone() }, "no methods");
        refused(HttpGrant { methods: vec!["post".into()], ..usual.clone() }, "in capitals");
        refused(HttpGrant { methods: vec!["CONNECT".into()], ..usual.clone() }, "tunnel");
        refused(HttpGrant { methods: vec!["POST".into()], preview: true, ..usual }, "GET and HEAD only");
        refused(HttpGrant::new("*"), "name the hosts");
    }
}
