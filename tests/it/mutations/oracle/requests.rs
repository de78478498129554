//! Requests that a plug-in may send, and those that it is declared to need.

use super::super::order::Fact::{self, Power};
use super::keys::Keys;
use super::words;
use toml::Value;

type Put<'a> = &'a mut dyn FnMut(String, Fact);

/// One entry of `http`: https, its port, GET and HEAD, and no previews, unless something else is written.
pub fn granted(value: Value, put: Put<'_>) -> Result<(), String> {
    let mut entry = Keys::of("http", value)?;
    let host = entry.needed("host")?;
    if host == "*" {
        return Err("every host".into());
    }
    plain(&host)?;
    let scheme = entry.text("scheme")?.unwrap_or_else(|| "https".into());
    let usual = usual(&scheme).ok_or_else(|| format!("{scheme:?} is no scheme"))?;
    let port = entry.value("port").map_or(Ok(usual), |value| port(&value))?;
    let methods = entry.texts("methods")?.unwrap_or_else(|| vec!["GET".into(), "HEAD".into()]);
    let preview = entry.flag("preview")?.unwrap_or(false);
    entry.end()?;
    if methods.is_empty() {
        return Err("requests without a method".into());
    }
    for method in &methods {
        named(method)?;
        put(format!("sends {method} {scheme}://{host}:{port}"), Power);
        if preview {
            put(format!("sends {method} {scheme}://{host}:{port} in previews"), Power);
        }
    }
    if preview && !methods.iter().any(|method| method == "GET" || method == "HEAD") {
        return Err("previews that cannot send anything".into());
    }
    Ok(())
}

/// What `declares` says.
pub fn declared(value: Value, put: Put<'_>) -> Result<(), String> {
    let mut table = Keys::of("declares", value)?;
    put("is declared for".into(), Power);
    for dir in table.list("dirs")? {
        let mut dir = Keys::of("declares dirs", dir)?;
        let path = dir.needed("path")?;
        if path != "*" {
            words::guest(&path)?;
        }
        put(format!("asks to read {path}"), Power);
        if writes(dir.text("access")?)? {
            put(format!("asks to write {path}"), Power);
        }
        dir.end()?;
    }
    for http in table.list("http")? {
        let mut http = Keys::of("declares http", http)?;
        let host = http.needed("host")?;
        if host != "*" {
            plain(&host)?;
        }
        let scheme = http.text("scheme")?.unwrap_or_else(|| "https".into());
        let usual = if scheme == "*" {
            "*".to_owned()
        } else {
            usual(&scheme).ok_or_else(|| format!("{scheme:?} is no scheme"))?.to_string()
        };
        let port = match http.value("port") {
            None => usual,
            Some(Value::String(any)) if any == "*" => any,
            Some(other) => port(&other)?.to_string(),
        };
        let mut methods = http.texts("methods")?.unwrap_or_else(|| vec!["GET".into(), "HEAD".into()]);
        http.end()?;
        if methods.is_empty() {
            return Err("requests without a method".into());
        }
        if methods.iter().any(|method| method == "*") {
            methods = vec!["*".into()];
        }
        for method in methods {
            if method != "*" {
                named(&method)?;
            }
            put(format!("asks to send {method} {scheme}://{host}:{port}"), Power);
        }
    }
    for name in table.texts("env")?.unwrap_or_default() {
        if name != "*" {
            words::variable(&name)?;
        }
        put(format!("asks for the variable {name}"), Power);
    }
    table.end()
}

/// Whether a directory may be written: "read-only" where nothing is said.
pub fn writes(access: Option<String>) -> Result<bool, String> {
    match access.as_deref() {
        None | Some("read-only") => Ok(false),
        Some("read-write") => Ok(true),
        Some(other) => Err(format!("{other:?} is no access")),
    }
}

fn usual(scheme: &str) -> Option<u16> {
    [("https", 443), ("http", 80)].into_iter().find(|(name, _)| *name == scheme).map(|(_, port)| port)
}

fn port(value: &Value) -> Result<u16, String> {
    let number = value.as_integer().and_then(|number| u16::try_from(number).ok());
    number.filter(|port| *port > 0).ok_or_else(|| format!("{value} is no port"))
}

fn named(method: &str) -> Result<(), String> {
    let capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if !method.is_empty() && method.bytes().all(capital) && method != "CONNECT" {
        return Ok(());
    }
    Err(format!("{method:?} is no method"))
}

/// One name or address, or `*.` and a name of two parts at least. Nothing that could be read in two ways.
fn plain(host: &str) -> Result<(), String> {
    let wrong = || Err(format!("{host:?} is no host"));
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = inner.parse::<std::net::Ipv6Addr>() {
        return if address.is_unspecified() || address.is_multicast() { wrong() } else { Ok(()) };
    }
    let (name, least) = host.strip_prefix("*.").map_or((host, 1), |name| (name, 2));
    let labels: Vec<&str> = name.strip_suffix('.').unwrap_or(name).split('.').collect();
    let fits = |label: &&str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    if labels.len() < least || !labels.iter().all(fits) || name.len() > 254 {
        return wrong();
    }
    // What ends in a number is an address in its usual form, or a riddle.
    let last = labels.last().unwrap().to_ascii_lowercase();
    let hex = last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if hex || last.bytes().all(|byte| byte.is_ascii_digit()) {
        let address = labels.join(".").parse::<std::net::Ipv4Addr>().ok();
        return match address.filter(|_| least == 1) {
            Some(address) if !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast() => Ok(()),
            _ => wrong(),
        };
    }
    Ok(())
}
