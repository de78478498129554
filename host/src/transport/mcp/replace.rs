//! The host behind a server, and how another one takes its place. A call ends on the host that it began on; every later one
//! sees the new host, whole. Whoever lists the tools is told when their list is another one.

use super::Announced;
use super::server::{Failed, Ready};
use crate::{Error, ErrorKind, Host};
use std::sync::Arc;
use tokio::sync::watch;

/// The host behind one or more servers, which may still be loaded and may be replaced. Clones are one.
#[derive(Clone)]
pub struct Replaceable {
    announced: Announced,
    state: watch::Sender<State>,
    /// How often the list has changed.
    changes: watch::Sender<u64>,
}

/// `None` while the first host is loaded.
pub(super) type State = Option<Result<Arc<Ready>, Failed>>;

impl Replaceable {
    /// No host yet; each that comes has to be as announced.
    pub fn new(announced: Announced) -> Self {
        Self { announced, state: watch::Sender::new(None), changes: watch::Sender::new(0) }
    }

    /// Puts a host in the place of the one that is served, and says whether the list of tools is another one; then the clients
    /// are told. Make it with [`HostBuilder::succeeds`](crate::HostBuilder::succeeds), so that what the earlier one started is
    /// waited for at the end. What is in force from then on is in the host's audit before it is.
    ///
    /// # Errors
    /// Nothing was replaced, and nothing was told. [`ErrorKind::Plugin`] for a listed schema that is no JSON object, [`ErrorKind::Config`] for a host
    /// that is not as it was announced.
    pub async fn replace(&self, host: Host) -> Result<bool, Error> {
        as_announced(&self.announced, &host)?;
        let ready = Ready::new(host)?;
        ready.host.exchanged_in().await;
        let mut changed = true;
        self.state.send_modify(|state| {
            if let Some(Ok(before)) = state {
                changed = before.tools != ready.tools;
            }
            *state = Some(Ok(Arc::new(ready)));
        });
        if changed {
            self.changes.send_modify(|count| *count += 1);
        }
        Ok(changed)
    }

    /// The first host. Nobody has listed anything yet.
    pub(super) fn begin(&self, host: Host) -> Result<(), Error> {
        as_announced(&self.announced, &host)?;
        self.state.send_replace(Some(Ok(Arc::new(Ready::new(host)?))));
        Ok(())
    }

    /// There will be no host.
    pub(super) fn fail(&self) {
        self.state.send_replace(Some(Err(Failed)));
    }

    /// Waits until every run that was started is over and recorded.
    pub async fn drain(&self) {
        if let Some(host) = self.host() {
            host.drain().await;
        }
    }

    /// The same, and ends the audit in order: for whoever serves nothing more.
    pub async fn close(&self) {
        if let Some(host) = self.host() {
            host.close().await;
        }
    }

    fn host(&self) -> Option<Host> {
        match &*self.state.borrow() {
            Some(Ok(ready)) => Some(ready.host.clone()),
            _ => None,
        }
    }

    pub(super) fn announced(&self) -> &Announced {
        &self.announced
    }

    pub(super) fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// Whether the client was told the truth.
fn as_announced(announced: &Announced, host: &Host) -> Result<(), Error> {
    let Announced { confirm_parameter, max_arguments } = Announced::of(host);
    if confirm_parameter == announced.confirm_parameter && max_arguments == announced.max_arguments {
        return Ok(());
    }
    let what = "the host's confirm parameter or limit of arguments is not the one that was announced: announce its own";
    Err(Error::new(ErrorKind::Config, what))
}
