//! MCP over two byte streams, for clients of both generations: those that begin with `initialize`, and those of
//! 2026-07-28 that say what they are in every request. Translation only: [`Host::call`](crate::Host::call) decides.
//!
//! rmcp keeps the protocol; the transport beneath it is ours, because rmcp's reader would let a key stand twice in the
//! arguments, round their numbers, and leave some broken lines unanswered.

mod envelope;
mod lines;
mod output;
mod progress;
mod server;
mod stdio;
#[cfg(test)]
mod tests;
mod unanswered;

use crate::{Error, ErrorKind, Host, Owner};
use server::Server;
use stdio::Stdio;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Whether a log line may be written, for a filter on the subscriber (`filter_fn(mcp::may_log)`): below `warn` rmcp
/// prints whole messages, and with them tokens. It stands in code, so that no setting of the user's can lift it.
pub fn may_log(metadata: &tracing::Metadata<'_>) -> bool {
    let rmcp = metadata.target() == "rmcp" || metadata.target().starts_with("rmcp::");
    !rmcp || *metadata.level() <= tracing::Level::WARN
}

/// Serves `host` to one client, in the name of `owner`, until the client closes `input`.
///
/// What has been read is answered first, and what runs for the client comes to its end or its deadline, also when the
/// client no longer listens. Nothing but messages of the protocol is written to `output`.
///
/// # Errors
/// [`ErrorKind::Plugin`] for a listed schema that is no JSON object; [`ErrorKind::Io`] when the service broke down.
pub async fn serve<R, W>(host: Host, owner: Owner, input: R, output: W) -> Result<(), Error>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let gone = CancellationToken::new();
    let server = Server::new(host.clone(), owner, gone.clone())?;
    // Without rmcp's own handshake: `initialize` is a request like others, so that a client may leave it out.
    let longest = lines::longest(host.gate().settings().max_arguments);
    let service = rmcp::service::serve_directly(server, Stdio::new(input, output, longest, gone), None);
    let served = service.waiting().await;
    host.drain().await;
    served.map(drop).map_err(|error| Error::new(ErrorKind::Io, "the MCP service broke down").with_source(error))
}

/// Standard input and output, without a hand-over to another thread where both are pipes.
pub fn stdio() -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
    rmcp::transport::stdio_pipes()
}
