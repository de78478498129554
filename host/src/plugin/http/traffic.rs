//! The requests of one call: each is held against the grants when it is handed over, and sent only then. What is more than
//! a look is noted before it can be under way, and the note is taken back only where it is certain that nothing was sent.

use super::body::{Allowance, Begun, Counted};
use super::denials::{Denials, Denied};
use super::network::{LookUps, Network, Stream};
use super::{Reach, Target, Web, Why, is_reading};
use crate::plugin::options::Limits;
use crate::plugin::piece::PIECE;
use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::time::timeout;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpHooks,
};

/// Bytes of one set of headers that a plug-in makes, in memory.
pub(crate) const FIELDS: usize = 64 << 10;
/// Bytes of an answer's headers, and how many of them.
const ANSWER_HEAD: usize = 64 << 10;
const ANSWER_HEADERS: usize = 128;
/// Headers by which some servers take one method for another.
const OVERRIDES: [HeaderName; 3] = [
    HeaderName::from_static("x-http-method"),
    HeaderName::from_static("x-http-method-override"),
    HeaderName::from_static("x-method-override"),
];

/// The ends of a request, as wasi:http wants them.
type Sent = Result<(Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>), Error>;

/// What a call has of HTTP.
pub(crate) struct Traffic {
    /// What the call may send now.
    pub(crate) reach: Reach,
    web: Arc<Web>,
    /// Requests that are left.
    requests: u32,
    /// Bytes that the bodies may have together.
    bodies: u64,
    /// Of the requests that were handed over: hardly any call has one.
    account: Option<Box<Account>>,
}

/// What is kept of the requests of a call. Each that is under way shares it.
struct Account {
    left: Allowance,
    /// Requests that change something and were sent, or may have been.
    changing: Arc<AtomicU32>,
    /// What was not let through.
    denials: Denials,
}

impl Traffic {
    pub(crate) fn new(web: &Arc<Web>, limits: &Limits) -> Self {
        Self {
            reach: Reach::Nothing,
            web: Arc::clone(web),
            requests: limits.http_requests,
            bodies: limits.http_body,
            account: None,
        }
    }

    fn account(&mut self) -> &Account {
        let bodies = self.bodies;
        self.account.get_or_insert_with(|| {
            let (left, changing) = (Allowance::new(bodies), Arc::default());
            Box::new(Account { left, changing, denials: Denials::default() })
        })
    }

    /// Takes note of what is not let through.
    pub(crate) fn deny(&mut self, denied: Denied) {
        self.account().denials.add(denied);
    }

    /// What was not let through.
    pub(crate) fn denials(&self) -> Option<&Denials> {
        self.account.as_ref().map(|account| &account.denials)
    }

    /// Whether a request that changes something was sent, or may have been.
    pub(crate) fn has_changed(&self) -> bool {
        self.account.as_ref().is_some_and(|account| account.changing.load(Ordering::SeqCst) > 0)
    }

    /// Counts a request that is handed over, whatever becomes of it; whether there was one left.
    pub(crate) fn charge(&mut self) -> bool {
        if let Some(left) = self.requests.checked_sub(1) {
            self.requests = left;
            return true;
        }
        self.deny(Denied::TooMany);
        false
    }

    /// Decides. What is let through has its note and its place.
    fn admit(&mut self, request: &Request<WasiBody>) -> Result<Admitted, Error> {
        let (uri, method) = (request.uri(), request.method());
        let scheme = uri.scheme_str().unwrap_or_default();
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        let Some(target) = Target::of(scheme, authority) else {
            self.deny(Denied::Nowhere { method: method.clone() });
            return Err(Error::HttpRequestDenied);
        };
        let looks = is_reading(method.as_str());
        let carries = request.headers().get(CONTENT_LENGTH).is_some_and(|length| length != "0");
        // A body makes a change of what would be a look.
        let bodies = !looks || self.reach == Reach::Granted && self.web.can_change_at(&target);
        let allowed = match self.web.allows(self.reach, &target, method.as_str()) {
            Ok(()) if carries && !bodies => Err(Why::Body),
            allowed => allowed,
        };
        let authority = authority.to_owned();
        if let Err(why) = allowed {
            self.deny(Denied::To { method: method.clone(), target, authority, why });
            return Err(Error::HttpRequestDenied);
        }
        let changes = !looks || !request.body().is_end_stream();
        let note = Note::new(changes.then(|| &self.account().changing));
        Ok(Admitted { target, authority, note, bodies })
    }
}

impl WasiHttpHooks for Traffic {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        static FORBIDDEN: LazyLock<ForbiddenHeaderFilter> = LazyLock::new(|| Arc::new(is_forbidden));
        Arc::clone(&FORBIDDEN)
    }

    // A body that is not sent yet is held: two pieces of it.
    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        PIECE
    }

    // Every other scheme is denied like every other host.
    fn is_supported_scheme(&mut self, _: &http::uri::Scheme) -> bool {
        true
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        match self.admit(&request) {
            Err(error) => Box::new(async { Err(error) }),
            Ok(admitted) => {
                let (network, lookups) = (Arc::clone(&self.web.network), self.web.lookups.clone());
                let account = self.account();
                let (left, denials) = (account.left.clone(), account.denials.clone());
                let options = options.unwrap_or_default();
                Box::new(
                    async move { Sending { admitted, network, lookups, left, options, denials }.go(request).await },
                )
            }
        }
    }
}

/// Whether a plug-in may not set this header, in any spelling that a server takes for it: many know a header only as a variable,
/// in which whatever is neither letter nor digit has become the same sign.
fn is_forbidden(name: &HeaderName) -> bool {
    let usual = |byte: u8| if byte.is_ascii_alphanumeric() { byte } else { b'-' };
    let usual: Vec<u8> = name.as_str().bytes().map(usual).collect();
    let is_one = |name: &HeaderName| DEFAULT_FORBIDDEN_HEADERS.contains(name) || OVERRIDES.contains(name);
    // What has no usual spelling is nothing that a server could know.
    is_one(name) || HeaderName::from_bytes(&usual).map_or(true, |usual| is_one(&usual))
}

/// What is let through.
struct Admitted {
    target: Target,
    /// As the plug-in spelt it.
    authority: String,
    note: Note,
    /// With a body, too.
    bodies: bool,
}

/// The note that a call may have changed something by a request.
struct Note(Option<Arc<AtomicU32>>);

impl Note {
    fn new(changing: Option<&Arc<AtomicU32>>) -> Self {
        if let Some(changing) = changing {
            changing.fetch_add(1, Ordering::SeqCst);
        }
        Self(changing.cloned())
    }

    /// Nothing was sent, for certain. Dropping it says nothing: it stays noted.
    fn take_back(&mut self) {
        if let Some(changing) = self.0.take() {
            changing.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// One request that may be sent.
struct Sending {
    admitted: Admitted,
    network: Arc<Network>,
    lookups: LookUps,
    left: Allowance,
    options: RequestOptions,
    denials: Denials,
}

impl Sending {
    async fn go(mut self, request: Request<WasiBody>) -> Sent {
        let ready = match self.ready(request).await {
            Ok(ready) => ready,
            Err(error) => {
                self.admitted.note.take_back();
                return Err(error);
            }
        };
        let (request, stream) = ready;
        let mut connection = http1::Builder::new();
        connection.max_buf_size(ANSWER_HEAD).max_headers(ANSWER_HEADERS);
        let (mut sender, connection) = connection.handshake(TokioIo::new(stream)).await.map_err(failed)?;
        let mut connection = Box::pin(connection);
        let first = self.options.first_byte_timeout.unwrap_or(Duration::MAX);
        let answering = async {
            let mut answer = std::pin::pin!(sender.send_request(request));
            tokio::select! {
                answer = &mut answer => answer.map(|answer| (answer, true)),
                ended = &mut connection => {
                    ended?;
                    answer.await.map(|answer| (answer, false))
                }
            }
        };
        let answer = timeout(first, answering).await.map_err(|_| Error::ConnectionReadTimeout)?;
        let (answer, goes_on) = answer.map_err(failed)?;
        let between = self.options.between_bytes_timeout;
        let answer = answer.map(|body: Incoming| Counted::received(body, self.left, failed, between).boxed_unsync());
        let rest = async move {
            if goes_on {
                // What goes wrong from here on shows in the body.
                let _ = connection.await;
            }
            Ok(())
        };
        Ok((answer, Box::new(rest)))
    }

    /// The request as it goes out, and the way for it. Nothing has been sent when this fails.
    async fn ready(&mut self, request: Request<WasiBody>) -> Result<(Request<WasiBody>, Box<dyn Stream>), Error> {
        let (mut head, body) = request.into_parts();
        let looks = is_reading(head.method.as_str());
        let body = if looks { self.looked_at(&head.method, body).await? } else { Some(body) };
        if looks && body.is_some() && !head.headers.contains_key(CONTENT_LENGTH) {
            // Nobody expects a body here, hyper included: without this it would not send it.
            head.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        let authority = self.admitted.target.authority();
        head.headers.insert(HOST, HeaderValue::try_from(authority).map_err(|_| Error::HttpRequestUriInvalid)?);
        let path = head.uri.path_and_query().cloned().unwrap_or_else(|| http::uri::PathAndQuery::from_static("/"));
        head.uri = Uri::from(path);
        let stream = self.network.connect(&self.admitted.target, &self.lookups, self.options.connect_timeout).await;
        if matches!(stream, Err(Error::DestinationIpProhibited)) {
            self.denied(&head.method, Why::Inside);
        }
        let stream = stream?;
        let body = match body {
            Some(body) => Counted::sent(body, self.left.clone(), std::convert::identity).boxed_unsync(),
            None => Empty::new().map_err(|never| match never {}).boxed_unsync(),
        };
        Ok((Request::from_parts(head, body), stream))
    }

    fn denied(&self, method: &Method, why: Why) {
        let (method, target) = (method.clone(), self.admitted.target.clone());
        self.denials.add(Denied::To { method, target, authority: self.admitted.authority.clone(), why });
    }

    /// The body of a request that only looks: hardly ever anything, and then it may be more than a look. Libraries open
    /// one for every request, so it shows only when it begins or ends.
    async fn looked_at(&mut self, method: &Method, body: WasiBody) -> Result<Option<WasiBody>, Error> {
        match Begun::of(body).await? {
            None => {
                self.admitted.note.take_back();
                Ok(None)
            }
            Some(body) if self.admitted.bodies => Ok(Some(body.boxed_unsync())),
            Some(_) => {
                self.denied(method, Why::Body);
                Err(Error::HttpRequestDenied)
            }
        }
    }
}

/// What went wrong on the way, as the plug-in is told.
fn failed(error: hyper::Error) -> Error {
    let own = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    match own {
        Some(Error::HttpRequestBodySize(size)) => Error::HttpRequestBodySize(*size),
        _ if error.is_timeout() => Error::HttpResponseTimeout,
        _ if error.is_parse_too_large() => Error::HttpResponseHeaderSectionSize(None),
        _ if error.is_incomplete_message() || error.is_closed() => Error::HttpResponseIncomplete,
        _ => Error::HttpProtocolError,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::{HttpGrant, Pattern};
    use super::*;
    use crate::plugin::veil::Veil;

    #[tokio::test]
    async fn a_name_that_leads_into_the_machine_is_denied_for_that_reason() {
        let network = Arc::new(Network::looking_up_with(|_| Ok(vec![[127, 0, 0, 1].into()])));
        let web = Web::new(&[HttpGrant::new("a.example")], vec![Pattern::any()]).unwrap().through(&network);
        let mut traffic = Traffic::new(&web, &Limits::default());
        traffic.reach = Reach::Granted;
        let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
        let request = Request::get("https://a.example/?key=hunter2").body(body).unwrap();
        let sent = Box::into_pin(traffic.send_request(request, None, Box::new(async { Ok(()) }))).await;
        assert!(matches!(sent, Err(Error::DestinationIpProhibited)));
        let told = traffic.denials().unwrap().told(&Veil::default()).unwrap();
        assert_eq!(told, format!("denied: GET https://a.example: {}", Why::Inside.words()));
    }
}
