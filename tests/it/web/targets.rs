//! Where a request may go: every key of a grant shut and open, every spelling of a host, and redirects, which nothing follows.

use super::server::Server;
use super::{Served, plain, request, serve};
use crate::plugin::bench::call;
use counterfoil::plugin::{HttpGrant, Scheme};
use counterfoil::{Host, Status};
use serde_json::{Value, json};

const DENIED: &str = "ErrorCode::HttpRequestDenied";

async fn fetched(host: &Host, tool: &str, arguments: &str) -> Value {
    let (status, payload) = call(host, tool, arguments).await;
    match status {
        Status::Ok => payload,
        Status::ConfirmationRequired => payload["preview"].clone(),
        _ => panic!("{payload}"),
    }
}

#[track_caller]
fn check(answer: &Value, open: bool, what: &str) {
    match open {
        true => assert_eq!(answer["answer"], 200, "{what}: {answer}"),
        false => assert_eq!(answer["failure"], DENIED, "{what}: {answer}"),
    }
}

#[tokio::test]
async fn each_key_of_a_grant_is_shut_and_opened_by_itself() {
    let (server, other) = (Server::start(None).await, Server::start(None).await);
    let (usual, here) = (plain(server.port), server.authority());
    for (what, grants, method, authority, open) in [
        ("nothing is granted", vec![], "GET", &here, false),
        ("a grant", vec![usual.clone()], "GET", &here, true),
        ("HEAD is in the usual methods", vec![usual.clone()], "HEAD", &here, true),
        ("POST is not", vec![usual.clone()], "POST", &here, false),
        ("a method", vec![HttpGrant { methods: vec!["POST".into()], ..usual.clone() }], "POST", &here, true),
        ("no other method", vec![HttpGrant { methods: vec!["POST".into()], ..usual.clone() }], "GET", &here, false),
        ("no other port", vec![usual.clone()], "GET", &other.authority(), false),
        ("no other scheme", vec![HttpGrant { scheme: Scheme::Https, ..usual.clone() }], "GET", &here, false),
        ("no other host", vec![HttpGrant { host: "localhost".into(), ..usual.clone() }], "GET", &here, false),
        ("one of two", vec![plain(other.port), usual.clone()], "GET", &here, true),
    ] {
        let host = serve("fetch", Served { http: grants, ..Served::default() }).await;
        check(&fetched(&host, "fetch", &request(method, authority, "/")).await, open, what);
    }
    assert_eq!((server.methods(), other.seen().len()), (["GET", "HEAD", "POST", "GET"].map(str::to_owned).to_vec(), 0));
}

#[tokio::test]
async fn previews_and_safe_calls_send_only_what_is_granted_for_previews() {
    let server = Server::start(None).await;
    for preview in [false, true] {
        let grant = HttpGrant { preview, methods: vec!["GET".into(), "POST".into()], ..plain(server.port) };
        let host = serve("fetch", Served { http: vec![grant], ..Served::default() }).await;
        for tool in ["fetch_safe", "fetch_confirmed"] {
            let get = fetched(&host, tool, &request("GET", &server.authority(), "/")).await;
            check(&get, preview, tool);
            // Not in the list of methods, or never in a preview.
            for method in ["HEAD", "POST"] {
                check(&fetched(&host, tool, &request(method, &server.authority(), "/")).await, false, method);
            }
        }
        check(&fetched(&host, "fetch", &request("POST", &server.authority(), "/")).await, true, "a run");
    }
    assert_eq!(server.methods(), ["POST", "GET", "GET", "POST"]);
}

#[tokio::test]
async fn no_other_spelling_of_a_host_passes_for_the_granted_one() {
    let server = Server::start(None).await;
    let port = server.port;
    let odd = [
        "127.1",
        "0x7f.0.0.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",
        "0",
        "[::]",
        "127.0.0.1.example.com",
        "127.0.0.1%00",
        "user@127.0.0.1",
        "user:word@localhost",
        "127.0.0.1:80@localhost",
        "127.0.0.2",
        "[::1%25lo]",
    ];
    for (granted, same, other) in [
        (
            "127.0.0.1",
            vec!["127.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]"],
            vec!["localhost", "LOCALHOST."],
        ),
        (
            "localhost",
            vec!["localhost", "LOCALHOST", "localhost.", "LocalHost."],
            vec!["127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"],
        ),
        ("api.example.com", vec![], vec!["localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"]),
    ] {
        let grant = HttpGrant { host: granted.into(), ..plain(port) };
        let host = serve("fetch", Served { http: vec![grant], ..Served::default() }).await;
        for (spelled, open) in
            same.iter().map(|host| (host, true)).chain(other.iter().chain(&odd).map(|host| (host, false)))
        {
            let answer = fetched(&host, "fetch", &request("GET", &format!("{spelled}:{port}"), "/")).await;
            match answer["failure"].as_str() {
                // What cannot even be an authority is refused before it comes to a host.
                Some("ErrorCode::HttpRequestUriInvalid") if !open => {}
                _ => check(&answer, open, &format!("{spelled} for {granted}")),
            }
        }
    }
    // Whatever was written, the server is told one name.
    let hosts = server.seen().into_iter().map(|seen| seen.host);
    assert_eq!(
        hosts.collect::<Vec<_>>(),
        ["127.0.0.1", "localhost"].map(|host| vec![format!("{host}:{port}"); 4]).concat()
    );
}

#[tokio::test]
async fn other_schemes_and_a_request_without_a_host_are_refused() {
    let server = Server::start(None).await;
    let host = serve("fetch", Served { http: vec![plain(server.port)], ..Served::default() }).await;
    for scheme in ["HTTP", "ftp", "file", "ws"] {
        let arguments = json!({ "scheme": scheme, "authority": server.authority() }).to_string();
        check(&fetched(&host, "fetch", &arguments).await, false, scheme);
    }
    let answer = fetched(&host, "fetch", "{}").await;
    assert!(answer["failure"].is_string(), "{answer}");
    assert!(server.seen().is_empty());
}

/// A body makes a change of what would be a look: it is let through where a change is, and nowhere else.
#[tokio::test]
async fn a_get_with_a_body_needs_a_grant_to_change_something() {
    let server = Server::start(None).await;
    let looks = HttpGrant { preview: true, ..plain(server.port) };
    let changes = HttpGrant { methods: ["GET", "HEAD", "POST"].map(str::to_owned).to_vec(), ..looks.clone() };
    for (grant, open) in [(looks, false), (changes, true)] {
        let host = serve("fetch", Served { http: vec![grant], ..Served::default() }).await;
        for method in ["GET", "HEAD"] {
            for body in ["", "streamed"] {
                let arguments =
                    json!({ "method": method, "authority": server.authority(), "size": 1, "body": body }).to_string();
                let what = format!("{method} {body}");
                check(&fetched(&host, "fetch", &arguments).await, open, &what);
                check(&fetched(&host, "fetch_safe", &arguments).await, false, &what);
                check(&fetched(&host, "fetch_confirmed", &arguments).await, false, &what);
            }
            check(&fetched(&host, "fetch", &request(method, &server.authority(), "/")).await, true, method);
        }
    }
    let bodies: Vec<String> = server.seen().into_iter().map(|seen| seen.body).filter(|body| !body.is_empty()).collect();
    assert_eq!(bodies, ["x"; 4]);
}

#[tokio::test]
async fn no_header_makes_another_method_of_a_look() {
    let server = Server::start(None).await;
    let grant = HttpGrant { preview: true, ..plain(server.port) };
    let host = serve("fetch", Served { http: vec![grant], ..Served::default() }).await;
    let with = |header: &str| json!({ "authority": server.authority(), "header": header }).to_string();
    let usual = ["X-HTTP-Method", "X-HTTP-Method-Override", "x-method-override", "X-Http-METHOD-Override"];
    // Servers that hand headers on as variables cannot tell these from the others.
    let unusual =
        ["X_HTTP_Method", "x-http-method_override", "X.Method.Override", "x!method*override", "Transfer_Encoding"];
    for header in usual.into_iter().chain(unusual) {
        for tool in ["fetch", "fetch_safe", "fetch_confirmed"] {
            let answer = fetched(&host, tool, &with(header)).await;
            assert!(
                answer["failure"].as_str().is_some_and(|text| text.contains("header refused")),
                "{header}: {answer}"
            );
        }
    }
    assert!(server.seen().is_empty());
    check(&fetched(&host, "fetch_safe", &with("x-other")).await, true, "another header");
}

#[tokio::test]
async fn a_preview_follows_no_redirect_to_what_is_not_granted_for_previews() {
    let (server, elsewhere) = (Server::start(None).await, Server::start(None).await);
    let grants = vec![HttpGrant { preview: true, ..plain(server.port) }, plain(elsewhere.port)];
    let host = serve("fetch", Served { http: grants, ..Served::default() }).await;
    let place = format!("http://{}/there", elsewhere.authority());
    for tool in ["fetch_safe", "fetch_confirmed"] {
        let answer = fetched(&host, tool, &request("GET", &server.authority(), &format!("/307/{place}"))).await;
        assert_eq!((&answer["answer"], &answer["location"]), (&json!(307), &json!(place)), "{answer}");
        check(&fetched(&host, tool, &request("GET", &elsewhere.authority(), "/there")).await, false, tool);
    }
    assert!(elsewhere.seen().is_empty());
    check(&fetched(&host, "fetch", &request("GET", &elsewhere.authority(), "/there")).await, true, "in a run");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_its_place_is_a_request_like_any_other() {
    let (server, elsewhere) = (Server::start(None).await, Server::start(None).await);
    let host = serve("fetch", Served { http: vec![plain(server.port)], ..Served::default() }).await;
    for code in [301, 302, 307] {
        let place = format!("http://{}/there", elsewhere.authority());
        let answer = fetched(&host, "fetch", &request("GET", &server.authority(), &format!("/{code}/{place}"))).await;
        assert_eq!((&answer["answer"], &answer["location"]), (&json!(code), &json!(place)), "{answer}");
        // The plug-in goes where it was sent.
        check(&fetched(&host, "fetch", &request("GET", &elsewhere.authority(), "/there")).await, false, "the place");
    }
    assert!(elsewhere.seen().is_empty());
    let granted = serve("fetch", Served { http: vec![plain(elsewhere.port)], ..Served::default() }).await;
    check(&fetched(&granted, "fetch", &request("GET", &elsewhere.authority(), "/there")).await, true, "granted");
}
