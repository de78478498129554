//! The way to a host: looked up once, checked, and connected to at the address that was checked. Nothing of a request has
//! been sent while an error can come from here.

use super::{HostName, Scheme, Target, address};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use wasmtime_wasi_http::Error;

/// Look-ups of one plug-in at once. Each keeps a thread that nothing can stop, whoever has given up waiting for it: a plug-in
/// whose names are slow waits for its own, and nobody else does.
const LOOKUPS: usize = 4;
/// Addresses of one host that are tried.
const ADDRESSES: usize = 4;
/// How long connecting may take where the plug-in says nothing; the call's own deadline ends it before that or not.
const CONNECT: Duration = Duration::from_secs(20);

/// How a name is looked up.
type LookUp = fn(&str) -> std::io::Result<Vec<IpAddr>>;
/// Whether an address is this machine's own.
type Own = fn(IpAddr) -> bool;

/// What all plug-ins share on their way out.
#[derive(Debug)]
pub(crate) struct Network {
    look_up: LookUp,
    own: Own,
    tls: OnceCell<Arc<ClientConfig>>,
}

/// The turns of one plug-in to look a name up.
#[derive(Clone, Debug)]
pub(crate) struct LookUps(Arc<Semaphore>);

impl Default for LookUps {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LOOKUPS)))
    }
}

/// A connection, with TLS or without.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Default for Network {
    fn default() -> Self {
        Self::looking_up_with(system)
    }
}

impl Network {
    pub(super) fn looking_up_with(look_up: LookUp) -> Self {
        Self { look_up, own: address::is_own, tls: OnceCell::new() }
    }

    /// A connection to this place, within so much time.
    pub(super) async fn connect(
        &self,
        target: &Target,
        lookups: &LookUps,
        limit: Option<Duration>,
    ) -> Result<Box<dyn Stream>, Error> {
        let limit = limit.unwrap_or(CONNECT);
        let connecting = async {
            let addresses = self.addresses(&target.host, lookups).await?;
            let stream = open(&addresses, target.port, limit).await?;
            match target.scheme {
                Scheme::Http => Ok(Box::new(stream) as Box<dyn Stream>),
                Scheme::Https => self.secure(stream, &target.host).await,
            }
        };
        timeout(limit, connecting).await.map_err(|_| Error::ConnectionTimeout)?
    }

    /// Every address of a host, where a plug-in may go to all of them.
    async fn addresses(&self, host: &HostName, lookups: &LookUps) -> Result<Vec<IpAddr>, Error> {
        if let Some(known) = address::known(host) {
            return Ok(known);
        }
        let (name, look_up, own) = (host.to_string(), self.look_up, self.own);
        let turn = Arc::clone(&lookups.0).acquire_owned().await.map_err(|_| Error::DnsTimeout)?;
        let found = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let found = look_up(&name)?;
            let outside = found.iter().all(|address| address::may_be_named(*address) && !own(*address));
            std::io::Result::Ok((found, outside))
        });
        let not_found = || Error::DnsError { rcode: None, info_code: None };
        let (found, outside) = found.await.map_err(|_| not_found())?.map_err(|_| not_found())?;
        if found.is_empty() {
            return Err(not_found());
        }
        if outside { Ok(found) } else { Err(Error::DestinationIpProhibited) }
    }

    async fn secure(&self, stream: TcpStream, host: &HostName) -> Result<Box<dyn Stream>, Error> {
        let name = match host {
            HostName::Name(name) => ServerName::try_from(name.clone()).map_err(|_| Error::HttpRequestUriInvalid)?,
            HostName::Address(address) => ServerName::from(*address),
        };
        let config = self.tls.get_or_try_init(trusted).await?;
        let stream =
            TlsConnector::from(Arc::clone(config)).connect(name, stream).await.map_err(|error| untrusted(&error))?;
        Ok(Box::new(stream))
    }
}

/// As this machine looks names up.
fn system(name: &str) -> std::io::Result<Vec<IpAddr>> {
    Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

/// The first of the addresses that answers; each has its part of the time, so that a silent one does not use up all.
async fn open(addresses: &[IpAddr], port: u16, limit: Duration) -> Result<TcpStream, Error> {
    let tried = addresses.len().clamp(1, ADDRESSES);
    let each = limit / tried as u32;
    let mut last = Error::DestinationUnavailable;
    for address in addresses.iter().take(tried) {
        match timeout(each, TcpStream::connect(SocketAddr::new(*address, port))).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => last = Error::ConnectionRefused,
            Ok(Err(_)) => last = Error::DestinationUnavailable,
            Err(_) => last = Error::ConnectionTimeout,
        }
    }
    Err(last)
}

/// TLS with the certificates that this machine trusts, and with nothing that could be told not to check.
async fn trusted() -> Result<Arc<ClientConfig>, Error> {
    let read = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await;
    let read = read.map_err(|_| Error::ConfigurationError)?;
    for error in &read.errors {
        tracing::warn!(%error, "a certificate that this machine trusts cannot be read");
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(read.certs);
    if roots.is_empty() {
        tracing::error!("this machine trusts no certificate: install its certificates, or set SSL_CERT_FILE");
        return Err(Error::ConfigurationError);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|_| Error::ConfigurationError)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn untrusted(error: &std::io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(rustls::Error::InvalidCertificate(_)) => Error::TlsCertificateError,
        Some(rustls::Error::AlertReceived(alert)) => {
            Error::TlsAlertReceived { alert_id: Some(u8::from(*alert)), alert_message: None }
        }
        _ => Error::TlsProtocolError,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    async fn found(look_up: LookUp, host: &str) -> Result<Vec<IpAddr>, Error> {
        // Nobody's, and this machine's own for as long as the test is run.
        let own = |address| address == IpAddr::from([198, 51, 100, 7]);
        Network { own, ..Network::looking_up_with(look_up) }
            .addresses(&HostName::alone(host).unwrap(), &LookUps::default())
            .await
    }

    #[tokio::test]
    async fn a_name_that_leads_into_the_machine_leads_nowhere() {
        let inside: [LookUp; 6] = [
            |_| Ok(vec![[127, 0, 0, 1].into()]),
            // One of several is enough: which one is connected to must not be a matter of luck.
            |_| Ok(vec![[192, 0, 2, 7].into(), [127, 0, 0, 1].into()]),
            |_| Ok(vec![[169, 254, 169, 254].into()]),
            |_| Ok(vec!["fe80::1".parse().unwrap()]),
            // What an interface of the machine's own has.
            |_| Ok(vec![[198, 51, 100, 7].into()]),
            |_| Ok(vec![[192, 0, 2, 7].into(), [198, 51, 100, 7].into()]),
        ];
        for look_up in inside {
            assert!(matches!(found(look_up, "api.example.com").await, Err(Error::DestinationIpProhibited)));
        }
        assert_eq!(
            found(|_| Ok(vec![[192, 0, 2, 7].into()]), "api.example.com").await.unwrap(),
            [IpAddr::from([192, 0, 2, 7])]
        );
        assert!(matches!(found(|_| Ok(Vec::new()), "api.example.com").await, Err(Error::DnsError { .. })));
        assert!(matches!(
            found(|_| Err(std::io::ErrorKind::NotFound.into()), "a.example").await,
            Err(Error::DnsError { .. })
        ));
    }

    #[tokio::test]
    async fn an_address_and_this_machine_are_never_looked_up() {
        let nobody: LookUp = |name| panic!("{name} was looked up");
        assert_eq!(found(nobody, "127.0.0.1").await.unwrap(), [IpAddr::from([127, 0, 0, 1])]);
        assert_eq!(found(nobody, "localhost").await.unwrap().len(), 2);
        // The operator wrote it.
        assert_eq!(found(nobody, "198.51.100.7").await.unwrap(), [IpAddr::from([198, 51, 100, 7])]);
    }

    #[tokio::test]
    async fn names_that_take_for_ever_keep_only_the_plug_in_that_asks_for_them() {
        use std::sync::{Condvar, Mutex};
        /// How many are looked up, and whether they may end.
        static SLOW: (Mutex<(usize, bool)>, Condvar) = (Mutex::new((0, false)), Condvar::new());
        let look_up: LookUp = |name| {
            if name == "slow.example" {
                let mut slow = SLOW.0.lock().unwrap();
                slow.0 += 1;
                SLOW.1.notify_all();
                drop(SLOW.1.wait_while(slow, |(_, ends)| !*ends).unwrap());
            }
            Ok(vec![[192, 0, 2, 7].into()])
        };
        let network = Arc::new(Network::looking_up_with(look_up));
        let [one, other] = [(); 2].map(|()| LookUps::default());
        let ask = |name: &'static str, lookups: &LookUps| {
            let (network, lookups) = (Arc::clone(&network), lookups.clone());
            tokio::spawn(async move { network.addresses(&HostName::alone(name).unwrap(), &lookups).await })
        };
        let asked: Vec<_> = (0..20).map(|_| ask("slow.example", &one)).collect();
        let busy = || drop(SLOW.1.wait_while(SLOW.0.lock().unwrap(), |(count, _)| *count < LOOKUPS).unwrap());
        tokio::task::spawn_blocking(busy).await.unwrap();
        // Who gives up waiting gives nothing back.
        asked.iter().for_each(tokio::task::JoinHandle::abort);
        assert!(ask("fast.example", &other).await.unwrap().is_ok());
        let waits = ask("fast.example", &one);
        assert!(ask("fast.example", &other).await.unwrap().is_ok());
        assert!(!waits.is_finished());
        SLOW.0.lock().unwrap().1 = true;
        SLOW.1.notify_all();
        assert!(waits.await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_name_is_looked_up_once_and_what_was_checked_is_what_is_connected_to() {
        use std::sync::atomic::{AtomicU32, Ordering};
        static ASKED: AtomicU32 = AtomicU32::new(0);
        // Checked when it is asked for the first time, and inside the machine when it is asked again.
        let turns: LookUp = |_| match ASKED.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(vec![[192, 0, 2, 7].into()]),
            _ => Ok(vec![[127, 0, 0, 1].into()]),
        };
        let target = Target { scheme: Scheme::Http, host: HostName::alone("a.example").unwrap(), port: 9 };
        let answer = Network::looking_up_with(turns)
            .connect(&target, &LookUps::default(), Some(Duration::from_millis(20)))
            .await;
        assert!(answer.is_err());
        assert_eq!(ASKED.load(Ordering::SeqCst), 1);
    }
}
