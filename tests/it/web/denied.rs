//! A request that is denied, as whoever runs the program learns of it: why, in the log, and with nothing else that the plug-in
//! wrote into it.

use super::server::Server;
use counterfoil_tests::program::{Folder, Ran};
use serde_json::{Value, json};

/// The program with the fixture `fetch`, told what to log.
fn place(port: u16) -> Folder {
    let folder = Folder::new();
    std::fs::copy(counterfoil_tests::fixture("fetch"), folder.path("work/fetch.wasm")).unwrap();
    let grant = |host: &str, keys: &str| {
        format!("[[plugins.fetch.http]]\nhost = \"{host}\"\nscheme = \"http\"\nport = {port}\n{keys}\n")
    };
    let config = format!(
        "[store]\nurl = \"sqlite:state.db\"\n[plugins.fetch]\nsource = \"fetch.wasm\"\nlimits = {{ http_requests = 2 }}\n{}{}",
        grant("127.0.0.1", "preview = true"),
        grant("localhost", "methods = [\"GET\", \"POST\"]"),
    );
    folder.write("work/counterfoil.toml", &config);
    folder.lock();
    folder
}

fn call(folder: &Folder, tool: &str, arguments: &Value) -> Ran {
    let mut command = folder.command(&["call", tool, &arguments.to_string(), "--json"]);
    Ran::of(&command.env("COUNTERFOIL_LOG", "info").output().unwrap())
}

#[tokio::test]
async fn the_log_says_why_a_request_was_denied_and_the_call_that_it_was() {
    let server = Server::start(None).await;
    let asked = tokio::task::spawn_blocking({
        let server = server.clone();
        move || {
            let folder = place(server.port);
            let here = server.authority();
            let named = format!("localhost:{}", server.port);
            for (tool, method, authority, why) in [
                ("fetch", "GET", "a.example", "not granted: no `http` entry"),
                ("fetch", "GET", "127.0.0.1:1", "not granted: no `http` entry"),
                ("fetch", "POST", here.as_str(), "the method is not granted"),
                ("fetch_safe", "POST", named.as_str(), "GET and HEAD only"),
                ("fetch_safe", "GET", named.as_str(), "no `preview = true`"),
            ] {
                let request = json!({ "method": method, "authority": authority, "path": "/?key=hunter2" });
                let ran = call(&folder, tool, &request);
                let line = ran.err.lines().find(|line| line.contains("denied: ")).unwrap_or_else(|| panic!("{ran:?}"));
                let told = format!("denied: {method} http://{authority}: ");
                assert!(line.contains(&told) && line.contains(why), "{line}");
                assert!(!ran.err.contains("hunter2"), "{ran:?}");
                // The plug-in learns that it is denied, and is not told why.
                assert_eq!(ran.json()["failure"], "ErrorCode::HttpRequestDenied", "{ran:?}");
            }
            // In a preview as in a safe call, and more than one in one line.
            let request = json!({ "method": "POST", "authority": named, "times": 2 });
            let ran = call(&folder, "fetch_confirmed", &request);
            assert_eq!(ran.code, 3, "{ran:?}");
            assert!(ran.err.contains(&format!("denied: POST http://{named}, and 1 more: previews and safe calls")));
            // Too many of them.
            let ran = call(&folder, "fetch", &json!({ "method": "GET", "authority": here, "times": 3 }));
            assert!(
                ran.err.contains("denied: a request: the call has sent as many as `http_requests` allows"),
                "{ran:?}"
            );
            // What is let through leaves no such line.
            let ran = call(&folder, "fetch_safe", &json!({ "authority": here }));
            assert!(ran.json()["answer"] == 200 && !ran.err.contains("denied"), "{ran:?}");
        }
    });
    asked.await.unwrap();
    assert_eq!(server.methods(), ["GET", "GET", "GET"]);
}
