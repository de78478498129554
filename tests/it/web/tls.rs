//! With TLS: a server is trusted where this machine trusts who signed its certificate, and nothing is sent to another.

use super::server::Server;
use counterfoil_tests::program::{Folder, Ran};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// An authority's certificate, and a server of `localhost` that it vouches for.
fn authority() -> (String, TlsAcceptor) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let own = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".into()]).unwrap().signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
    (own, TlsAcceptor::from(Arc::new(config)))
}

/// What the program's `fetch_safe` reports of a look at this server, where it trusts this authority.
async fn fetched(trusted: &str, host: &'static str, port: u16) -> Value {
    let trusted = trusted.to_owned();
    let ran = tokio::task::spawn_blocking(move || {
        let folder = Folder::new();
        std::fs::copy(counterfoil_tests::fixture("fetch"), folder.path("work/fetch.wasm")).unwrap();
        let grant = |host: &str| format!("[[plugins.fetch.http]]\nhost = \"{host}\"\nport = {port}\npreview = true\n");
        let config = format!("[plugins.fetch]\nsource = \"fetch.wasm\"\n{}{}", grant("localhost"), grant("127.0.0.1"));
        folder.write("work/counterfoil.toml", &config);
        folder.write("trusted.pem", &trusted);
        let arguments = json!({ "scheme": "https", "authority": format!("{host}:{port}") }).to_string();
        let mut command = folder.command(&["call", "fetch_safe", &arguments, "--json"]);
        command.env("SSL_CERT_FILE", folder.path("trusted.pem"));
        Ran::of(&command.output().unwrap())
    });
    let ran = ran.await.unwrap();
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_trusted_where_its_authority_is() {
    let (trusted, tls) = authority();
    let server = Server::start(Some(tls)).await;
    let answer = fetched(&trusted, "localhost", server.port).await;
    assert_eq!((&answer["answer"], &answer["body"]), (&json!(200), &json!("hello")), "{answer}");
    assert_eq!(server.seen()[0].host, format!("localhost:{}", server.port));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_authority_or_another_name_is_not_trusted_and_sent_nothing() {
    let ((other, _), (trusted, tls)) = (authority(), authority());
    let server = Server::start(Some(tls)).await;
    for answer in [fetched(&other, "localhost", server.port).await, fetched(&trusted, "127.0.0.1", server.port).await] {
        assert_eq!(answer["failure"], "ErrorCode::TlsCertificateError", "{answer}");
    }
    assert!(server.seen().is_empty());
}
