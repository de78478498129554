//! Requests that a plug-in is granted, as they are written.

use super::{accepted, files, refused};
use counterfoil::plugin::{HttpGrant, Scheme};

fn entry(rest: &str) -> String {
    files(&format!("[[plugins.files.http]]\nhost = \"api.example.com\"\n{rest}"))
}

#[track_caller]
fn granted(rest: &str) -> HttpGrant {
    accepted(&entry(rest)).plugins[0].options.http[0].clone()
}

#[test]
fn what_is_not_written_is_the_narrowest() {
    assert!(accepted(&files("")).plugins[0].options.http.is_empty());
    let usual = granted("");
    assert_eq!(usual, HttpGrant::new("api.example.com"));
    assert_eq!((usual.scheme, usual.port, usual.preview), (Scheme::Https, None, false));
    assert_eq!(usual.methods, ["GET", "HEAD"]);
}

#[test]
fn each_key_means_what_it_says() {
    let usual = HttpGrant::new("api.example.com");
    assert_eq!(granted("scheme = \"http\""), HttpGrant { scheme: Scheme::Http, ..usual.clone() });
    assert_eq!(granted("port = 8443"), HttpGrant { port: Some(8443), ..usual.clone() });
    assert_eq!(granted("methods = [\"POST\"]"), HttpGrant { methods: vec!["POST".into()], ..usual.clone() });
    assert_eq!(granted("preview = true"), HttpGrant { preview: true, ..usual });
    let two = accepted(&format!("{}{}", entry(""), "[[plugins.files.http]]\nhost = \"*.example.org\"\n"));
    assert_eq!(two.plugins[0].options.http.len(), 2);
    let limits =
        accepted(&files("limits = { http_body = \"1 MiB\", http_requests = 3 }")).plugins[0].options.limits.clone();
    assert_eq!((limits.http_body, limits.http_requests), (1 << 20, 3));
}

#[test]
fn each_mistake_is_named_where_it_stands() {
    for (host, words) in [
        ("*", "name the hosts"),
        ("*.com", "two parts"),
        ("https://a.example.com", "without a scheme"),
        ("a.example.com:443", "a key of its own"),
        ("user@a.example.com", "no host"),
        ("127.1", "no host"),
        ("0.0.0.0", "no machine"),
        ("exämple.com", "ASCII form"),
        ("", "no host"),
    ] {
        refused(&files(&format!("[[plugins.files.http]]\nhost = \"{host}\"\n")), 4, &[words]);
    }
    for (line, words) in [
        ("port = 0", "0 is no port"),
        ("port = 65536", "65536"),
        ("port = \"*\"", "where a whole number belongs"),
        ("scheme = \"ftp\"", "ftp"),
        ("scheme = \"*\"", "*"),
        ("methods = []", "no methods"),
        ("methods = [\"*\"]", "no method"),
        ("methods = [\"get\"]", "in capitals"),
        ("methods = [\"CONNECT\"]", "tunnel"),
        ("preview = true\nmethods = [\"POST\"]", "GET and HEAD only"),
        ("redirects = true", "redirects"),
        ("verify = false", "verify"),
        ("[[plugins.files.http]]\nhost = \"api.example.com\"", "twice"),
    ] {
        refused(&entry(line), 4 + line.lines().count(), &[words]);
    }
    refused(&files("[[plugins.files.http]]\nport = 80\n"), 3, &["host"]);
    refused(&files("limits = { http_requests = 0 }"), 3, &["0"]);
}
