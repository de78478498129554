//! MCP over two byte streams, for clients of both generations: those that begin with `initialize`, and those of
//! 2026-07-28 that say what they are in every request. Translation only: [`Host::call`](crate::Host::call) decides.
//!
//! rmcp keeps the protocol; the transport beneath it is ours, because rmcp's reader would let a key stand twice in the
//! arguments, round their numbers, and leave some broken lines unanswered.

pub(crate) mod envelope;
mod gone;
pub(crate) mod lines;
mod output;
mod progress;
mod replace;
mod server;
mod stdio;
#[cfg(test)]
mod tests;
mod unanswered;

use crate::{Error, ErrorKind, Host, Owner};
pub use gone::hung_up;
pub use replace::Replaceable;

use server::{Hosted, Server};
use std::pin::pin;
use std::time::Duration;
use stdio::Stdio;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Whether a log line may be written, for a filter on the subscriber (`filter_fn(mcp::may_log)`): below `warn` rmcp
/// prints whole messages, and with them tokens; its warnings repeat what the client was answered. It stands in code, so
/// that no setting of the user's can lift it.
pub fn may_log(metadata: &tracing::Metadata<'_>) -> bool {
    let rmcp = metadata.target() == "rmcp" || metadata.target().starts_with("rmcp::");
    !rmcp || *metadata.level() <= tracing::Level::ERROR
}

/// What a client is told before there is a host, or decides how its messages are read.
#[derive(Clone, Debug)]
pub struct Announced {
    /// The argument that will carry the token.
    pub confirm_parameter: String,
    /// The most bytes of arguments that the gate will take.
    pub max_arguments: u32,
}

impl Announced {
    /// What is true of a host.
    pub fn of(host: &Host) -> Self {
        Self {
            confirm_parameter: host.confirm_parameter().to_owned(),
            max_arguments: host.gate().settings().max_arguments,
        }
    }
}

/// Serves `host` to one client, in the name of `owner`, until the client closes `input`.
///
/// What has been read is answered first, and what runs for the client comes to its end or its deadline, also when the
/// client no longer listens: that is noticed when an answer is written to it. Where this future is dropped, as when [`hung_up`]
/// returns, what was not confirmed is stopped, and what waits does not begin. Nothing but messages of the protocol is written to
/// `output`.
///
/// # Errors
/// [`ErrorKind::Plugin`] for a listed schema that is no JSON object; [`ErrorKind::Io`] when the service broke down.
pub async fn serve<R, W>(host: Host, owner: Owner, input: R, output: W) -> Result<(), Error>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let replaceable = Replaceable::new(Announced::of(&host));
    connect(&replaceable, |_| async { Ok(host) }, owner, input, output).await
}

/// As [`serve`], for a host that is still being loaded: what needs none (`initialize`, `server/discover`, `ping`,
/// notifications, lines that are no message) is answered meanwhile, and everything else once it is there.
///
/// Where loading fails, what waits for it is answered with an error that names no reason, and no tool is ever listed.
/// Where the client closes `input` and waits for no answer, loading is given up and this returns at once.
///
/// # Errors
/// Those of loading; and [`ErrorKind::Plugin`] for a listed schema that is no JSON object, [`ErrorKind::Config`] for a host
/// that is not as it was announced, [`ErrorKind::Io`] when the service broke down.
pub async fn serve_while_loading<R, W, E>(
    announced: Announced,
    loading: impl Future<Output = Result<Host, E>>,
    owner: Owner,
    input: R,
    output: W,
) -> Result<(), E>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
    E: From<Error>,
{
    serve_replaceable(&Replaceable::new(announced), loading, owner, input, output).await
}

/// As [`serve_while_loading`], for a host that may be replaced while the client is served: [`Replaceable::replace`]. The client
/// is told when the list of tools is another one, as its version of the protocol has it: one that began with `initialize` by
/// a notification, one of 2026-07-28 through the subscriptions that it asked for.
///
/// # Errors
/// Those of [`serve_while_loading`].
pub async fn serve_replaceable<R, W, E>(
    replaceable: &Replaceable,
    loading: impl Future<Output = Result<Host, E>>,
    owner: Owner,
    input: R,
    output: W,
) -> Result<(), E>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
    E: From<Error>,
{
    // Loading can take every core, and the greeting takes a millisecond of one: it goes first.
    let behind_the_greeting = async |heard: CancellationToken| {
        let _ = tokio::time::timeout(GREETING, heard.cancelled()).await;
        loading.await
    };
    connect(replaceable, behind_the_greeting, owner, input, output).await
}

/// How long loading waits for a client's first words. Clients send them at once; one that takes its time finds the tools
/// loaded meanwhile.
const GREETING: Duration = Duration::from_millis(10);

/// `load` gets a token that is cancelled when the client has been answered once, asks for what needs the host, or has
/// closed its side.
async fn connect<R, W, E>(
    replaceable: &Replaceable,
    load: impl AsyncFnOnce(CancellationToken) -> Result<Host, E>,
    owner: Owner,
    input: R,
    output: W,
) -> Result<(), E>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
    E: From<Error>,
{
    let [gone, heard, ended] = [(); 3].map(|()| CancellationToken::new());
    let announced = replaceable.announced();
    let hosted = Hosted { state: replaceable.state(), wanted: heard.clone() };
    let changes = replaceable.changes();
    let server = Server::new(&announced.confirm_parameter, owner, hosted, changes, ended.clone(), gone.clone());
    // Without rmcp's own handshake: `initialize` is a request like others, so that a client may leave it out.
    let longest = lines::longest(announced.max_arguments);
    let nobody = gone.clone();
    let stdio = Stdio::new(input, output, longest, ended.clone(), gone, heard.clone());
    // Whatever ends the service ends what waits for changes.
    let _over = ended.drop_guard();
    // So does what nobody waits for any more: a call that is not a confirmed run stops, or never begins.
    let _alone = nobody.drop_guard();
    let service = rmcp::service::serve_directly(server, stdio, None);
    let stop = service.cancellation_token();
    let mut served = pin!(service.waiting());
    let loading = async {
        let host = load(heard).await?;
        Ok::<_, E>(replaceable.begin(host)?)
    };
    let ended = tokio::select! {
        biased;
        loaded = loading => match loaded {
            Ok(()) => {
                let ended = served.await;
                replaceable.drain().await;
                ended
            }
            Err(error) => {
                replaceable.fail();
                // Returns when what waited has been answered, or the client did not read it for 2 s.
                stop.cancel();
                let _ = served.await;
                return Err(error);
            }
        },
        ended = &mut served => ended,
    };
    let broke = |error| Error::new(ErrorKind::Io, "the MCP service broke down").with_source(error);
    Ok(ended.map(drop).map_err(broke)?)
}

/// Standard input and output, without a hand-over to another thread where both are pipes.
pub fn stdio() -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
    rmcp::transport::stdio_pipes()
}
