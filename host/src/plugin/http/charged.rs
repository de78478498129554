//! Handing a request over, counted before anything is made of it: one that is malformed costs a call as much as one that is
//! sent, and is told to the log in the same line.

use super::Denied;
use crate::plugin::instance::State;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2::bindings::LinkOptions;
use wasmtime_wasi_http::p2::bindings::http::outgoing_handler::Host as _;
use wasmtime_wasi_http::p2::bindings::http::types::{self, ErrorCode, RequestOptions};
use wasmtime_wasi_http::p2::types::{HostFutureIncomingResponse, HostOutgoingRequest};
use wasmtime_wasi_http::{WasiHttp, WasiHttpView};

/// Requests, made and not handed over.
type Made = (Resource<HostOutgoingRequest>, Option<Resource<RequestOptions>>);
/// What becomes of one.
type Answer = Result<Resource<HostFutureIncomingResponse>, ErrorCode>;

/// Links `wasi:http` with this in front of it.
pub(in crate::plugin) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, WasiHttp>(linker, &LinkOptions::default().into(), State::http)?;
    let mut handler = linker.instance("wasi:http/outgoing-handler@0.2.12")?;
    handler
        .func_wrap("handle", |mut store: StoreContextMut<'_, State>, made: Made| Ok((handle(store.data_mut(), made)?,)))
}

/// Both are the host's from here on, and nothing of them stays: what the library leaves of the options is taken out of the
/// call's handles, whatever becomes of the request.
fn handle(state: &mut State, (request, options): Made) -> wasmtime::Result<Answer> {
    let left = options.as_ref().map(|options| Resource::<RequestOptions>::new_own(options.rep()));
    let answer = answer(state, (request, options));
    if let Some(left) = left {
        state.http().table.delete(left)?;
    }
    answer
}

fn answer(state: &mut State, (request, options): Made) -> wasmtime::Result<Answer> {
    if !state.traffic().charge() {
        state.http().table.delete(request)?;
        return Ok(Err(ErrorCode::ConnectionLimitReached));
    }
    match state.http().handle(request, options) {
        Ok(coming) => Ok(Ok(coming)),
        Err(error) => {
            state.traffic().deny(Denied::Malformed);
            error.downcast().map(Err)
        }
    }
}
