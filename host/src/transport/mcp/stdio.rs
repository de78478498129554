//! The transport between rmcp and two byte streams. Every line that wants an answer gets one; the arguments of a call
//! pass by rmcp's reader untouched.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonObject,
    JsonRpcMessage, RequestId, RequestMetaObject, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use std::convert::Infallible;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::envelope::{self, Flaw, INVALID_PARAMS, INVALID_REQUEST, Line, ToolCall};
use super::lines::{Input, Lines};
use super::output::{self, Output};
use super::unanswered::{Turn, Unanswered};

/// The text of `arguments` as the client sent it, `null` where there are none. Stands in a request's extensions; the
/// arguments that rmcp sees are empty.
#[derive(Clone)]
pub(super) struct RawArguments(pub(super) String);

/// Methods that are answered. A request for one of them that rmcp cannot read has the wrong `params`.
const SERVED: [&str; 5] = ["initialize", "ping", "server/discover", "subscriptions/listen", "tools/list"];

/// Lines in, lines out.
pub(super) struct Stdio<R, W> {
    lines: Lines<R>,
    output: Output<W>,
    unanswered: Unanswered,
    /// The turn for the next message, once it is there.
    turn: Option<Turn>,
    /// The client has closed its side.
    ended: CancellationToken,
    /// The client has closed both sides: nobody is left to answer.
    gone: CancellationToken,
    /// The client has been answered once, or has closed its side.
    heard: CancellationToken,
}

impl<R, W> Stdio<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    pub(super) fn new(
        input: R,
        output: W,
        longest: usize,
        ended: CancellationToken,
        gone: CancellationToken,
        heard: CancellationToken,
    ) -> Self {
        let output = Output::new(output, ended.clone());
        let (lines, unanswered) = (Lines::new(input, longest), Unanswered::new());
        Self { lines, output, unanswered, turn: None, ended, gone, heard }
    }

    /// Answers a message that never reaches rmcp.
    fn refuse(&self, flaw: &Flaw, turn: Turn) {
        let (output, line) = (self.output.clone(), output::flaw(flaw));
        tokio::spawn(async move {
            output.line(line).await;
            drop(turn);
        });
    }

    /// Waits for the answers to what has been read, or for the news that nobody reads them.
    async fn finish(&mut self) {
        self.ended.cancel();
        self.heard.cancel();
        tokio::select! {
            biased;
            () = self.output.broken().cancelled() => self.gone.cancel(),
            () = self.unanswered.all() => {}
        }
    }
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = Infallible;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let (output, unanswered, heard) = (self.output.clone(), self.unanswered.clone(), self.heard.clone());
        async move {
            // Comes back when the line is written, whatever became of it.
            let _turn = output::answers(&item).and_then(|id| unanswered.answering(id));
            match output::message(&item) {
                Ok(line) => output.line(line).await,
                Err(error) => {
                    tracing::error!(%error, "an answer could not be written as JSON");
                    let id = output::answers(&item).cloned();
                    output.line(output::flaw(&Flaw::new(id, -32603, "the answer could not be written"))).await;
                }
            }
            heard.cancel();
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Both waits may be dropped and begun again: what they have got stays in `self`.
            if self.turn.is_none() {
                self.turn = self.unanswered.turn().await;
            }
            let longest = self.lines.longest();
            let read = match self.lines.next().await {
                Input::Line(line) => {
                    // Some programs begin with a byte order mark; RFC 8259 lets a reader pass over it.
                    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
                    envelope::read(line).and_then(|read| message(read, line))
                }
                Input::TooLong(beginning) => {
                    let id = std::str::from_utf8(beginning).ok().and_then(envelope::id_of);
                    let message = format!("the line is longer than {longest} bytes: send less at once");
                    Err(Flaw::new(id, INVALID_REQUEST, message))
                }
                Input::End => {
                    self.turn = None;
                    self.finish().await;
                    return None;
                }
            };
            match read {
                Ok(None) => {}
                Ok(Some(JsonRpcMessage::Request(request))) => {
                    let turn = self.turn.take()?;
                    match self.unanswered.open(&request.id, turn) {
                        Ok(()) => return Some(JsonRpcMessage::Request(request)),
                        // Not under that id: its answer is still to come, and this would look like it.
                        Err(turn) => {
                            let message = format!("the id {} is taken: use a new one", shown(&request.id));
                            self.refuse(&Flaw::new(None, INVALID_REQUEST, message), turn);
                        }
                    }
                }
                Ok(Some(message)) => {
                    if let JsonRpcMessage::Notification(notification) = &message
                        && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.unanswered.cancelled(id);
                    }
                    return Some(message);
                }
                Err(flaw) => {
                    let turn = self.turn.take()?;
                    self.refuse(&flaw, turn);
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The message for rmcp, if the line holds one that it has to see.
fn message(read: Line<'_>, line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Flaw> {
    match read {
        Line::Blank | Line::Response => Ok(None),
        Line::Call { id, call } => {
            let request = tool_call(call, &id)?;
            Ok(Some(JsonRpcMessage::request(request, id)))
        }
        Line::Request { id, method } => match serde_json::from_slice(line) {
            Ok(ClientRequest::CustomRequest(_)) if SERVED.contains(&method.as_str()) => {
                let message = format!("\"params\" do not fit the method {method}: see the protocol's schema");
                Err(Flaw::new(Some(id), INVALID_PARAMS, message))
            }
            Ok(request) => Ok(Some(JsonRpcMessage::request(request, id))),
            Err(_) => {
                let message = "\"params\" cannot be read: nested too deeply, or a number or text out of range";
                Err(Flaw::new(Some(id), INVALID_PARAMS, message))
            }
        },
        Line::Notification => Ok(match serde_json::from_slice(line) {
            Ok(notification) => Some(JsonRpcMessage::notification(notification)),
            Err(_) => {
                tracing::debug!("a notification that cannot be read is ignored");
                None
            }
        }),
    }
}

fn tool_call(call: ToolCall<'_>, id: &RequestId) -> Result<ClientRequest, Flaw> {
    let params = CallToolRequestParams::new(call.name).with_arguments(JsonObject::new());
    let mut request = CallToolRequest::new(params);
    request.extensions.insert(RawArguments(call.arguments.to_owned()));
    if let Some(meta) = call.meta {
        let Ok(meta) = serde_json::from_str::<JsonObject>(meta) else {
            return Err(Flaw::new(Some(id.clone()), INVALID_PARAMS, "\"_meta\" cannot be read: send an object"));
        };
        request.extensions.insert(RequestMetaObject::from(meta));
    }
    Ok(ClientRequest::CallToolRequest(request))
}

fn shown(id: &RequestId) -> String {
    match id {
        RequestId::Number(number) => number.to_string(),
        RequestId::String(text) => format!("\"{}\"", text.escape_debug()),
    }
}
