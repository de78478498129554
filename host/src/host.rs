//! The use cases: list, call. [`Host::call`] is the one path by which a tool runs, whichever transport it came through.
//!
//! It asks the gate everything that is a rule (what the arguments are, which level a call has, whether a token may be
//! spent) and does what the answer says. A backend's `execute` demands a permit, which only a consume or a Tier-1
//! decision makes (the module `permit` says how that is held). A call with a token is prepared, consumed, run and
//! recorded in a task that the host keeps: once its token is spent whoever asked may go away, the run ends by its own end
//! or its deadline and its outcome is recorded.

mod advice;
mod answer;
mod audits;
mod budgets;
mod builder;
mod effect;
mod fits;
mod hidden;
mod in_force;
mod listing;
mod named;
mod revision;
#[cfg(feature = "rules")]
mod ruled;
mod run;
mod succession;
#[cfg(test)]
pub(crate) mod tests;
mod tool;
mod trail;
#[cfg(feature = "program")]
pub(crate) mod trial;
mod upkeep;

pub use builder::{CONFIRM_PARAMETER, HostBuilder};
pub use listing::Listing;

use crate::Owner;
use crate::gate::{Call, Gate, Plan, Readiness, Token};
use crate::permit::{self, Clearing};
use crate::plugin::Plugin;
use crate::plugin::turns::Line;
use crate::text;
use crate::tool::Progress;
use answer::Answers;
use audits::Audits;
use fits::Unfit;
use hidden::Hidden;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio_util::task::TaskTracker;
use tool::Tool;
use trail::{Answer, Trail};

/// A call as a transport hands it over.
pub struct Incoming {
    /// The authenticated principal that calls.
    pub owner: Owner,
    /// The name that the tool is listed under.
    pub tool: String,
    /// The arguments as they were sent: raw JSON text, the confirm parameter among them. Nothing may have parsed and
    /// printed them again. Where the protocol had none: `{}`.
    pub arguments: String,
    /// Who wants to hear how far the call is.
    pub progress: Option<Arc<dyn Progress>>,
}

/// The four shapes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nothing ran: here is what would, and the token.
    ConfirmationRequired,
    /// It ran.
    Ok,
    /// This call ran nothing and spent nothing.
    Rejected,
    /// It started and failed.
    Failed,
}

impl Status {
    /// As the payload says it: `confirmation_required`, `ok`, `rejected`, `failed`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConfirmationRequired => "confirmation_required",
            Self::Ok => "ok",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
        }
    }

    /// Whether a protocol should mark it as an error.
    pub const fn is_error(self) -> bool {
        matches!(self, Self::Rejected | Self::Failed)
    }
}

/// The answer to a call.
///
/// No `Debug`: the payload of a confirmation carries a token.
#[derive(Clone, PartialEq, Eq)]
pub struct Reply {
    /// Which shape the payload has.
    pub status: Status,
    /// One JSON object without white space: deliver these bytes. Of a replay they are the stored ones.
    pub payload: String,
    /// Whether this is the stored outcome of an earlier call; to be said beside the payload, never inside it.
    pub replayed: bool,
    /// False: a confirmed call ran and its outcome, this payload, could not be stored. Say so beside the payload: a
    /// later call with the same token cannot replay it.
    pub kept: bool,
    /// False: a call ran, and how it ended could not be written to the audit, which has only that it began. Say so beside
    /// the payload.
    pub audited: bool,
    /// The run that this is about, where there was one.
    pub operation_id: Option<String>,
}

/// A set of tools behind one gate. Cloning is cheap; clones are one host.
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

/// What the tasks of a host share.
struct Inner {
    gate: Gate,
    audits: Audits,
    confirm_parameter: String,
    model_version: String,
    tools: HashMap<String, Arc<Tool>>,
    listings: Vec<Listing>,
    plugins: Vec<Plugin>,
    runs: TaskTracker,
    /// Calls that somebody waits for, of the hosts before this one too.
    calls: TaskTracker,
    place: succession::Place,
    /// What still runs of plug-ins that hosts before this one had and this one has not, by name: one of them may come back.
    absent: BTreeMap<String, Line>,
}

impl Inner {
    /// What still runs, by the names of plug-ins, for a host that takes this one's place.
    fn lines(&self) -> BTreeMap<String, Line> {
        let mut lines = self.absent.clone();
        lines.extend(self.plugins.iter().map(|plugin| (plugin.name().to_owned(), plugin.line())));
        lines.retain(|_, line| line.is_live());
        lines
    }
}

/// The revision of a tool that is not there: what was previewed cannot run, what was recorded is still replayed.
const ABSENT: &str = "absent";

impl Host {
    /// Starts a host around a gate.
    pub fn builder(gate: Gate) -> HostBuilder {
        HostBuilder::new(gate)
    }

    /// The plug-ins, in the order in which they were given to the builder.
    pub fn plugins(&self) -> &[Plugin] {
        &self.inner.plugins
    }

    /// The tools: those of plug-ins, in the order in which they were given to the builder, then the native ones.
    pub fn tools(&self) -> &[Listing] {
        &self.inner.listings
    }

    /// The gate, for people's commands (`resolve`, `approvals`): nothing of it may be listed to agents.
    pub fn gate(&self) -> &Gate {
        &self.inner.gate
    }

    /// The argument that carries the token.
    pub fn confirm_parameter(&self) -> &str {
        &self.inner.confirm_parameter
    }

    /// The version of the risk model in force.
    pub fn model_version(&self) -> &str {
        &self.inner.model_version
    }

    /// The arguments of a call with a fixed text for every value that the tool's schema marks as secret (`writeOnly`, or
    /// the format `password`); `None` where there is none, or no such tool. Long arguments and a wide schema can take it
    /// seconds.
    pub fn masked(&self, tool: &str, arguments: &str) -> Option<String> {
        self.inner.tools.get(tool)?.schema.masked(arguments)
    }

    /// Decides a call and runs it if it may run.
    ///
    /// Dropping the future cancels a preview or a call that needs no confirmation at once. A call that carries a token
    /// is cancelled until the token is being spent, and then nothing is spent; from there on it goes on without its caller,
    /// who learns the outcome by asking again with the same token.
    pub async fn call(&self, incoming: Incoming) -> Reply {
        let Incoming { owner, tool: name, arguments, progress } = incoming;
        let inner = &self.inner;
        let _goes_on = self.takes_in();
        inner.is_called();
        let answers = Answers { gate: &inner.gate, tool: &name };
        let tool = inner.tools.get(&name).map(Arc::clone);
        let mut trail = Trail::of(inner, &owner, &name, tool.as_deref());
        let answer = match inner.gate.read(&arguments, &inner.confirm_parameter).await {
            Err(error) => answers.gate_error(error).await,
            Ok(request) => {
                let found = match tool {
                    Some(tool) => Some((tool.hidden(owner.as_str(), &request.arguments).await, tool)),
                    None => None,
                };
                let hidden = found.as_ref().and_then(|(hidden, _)| hidden.as_ref().ok());
                trail.reads(hidden, &request.arguments, request.token.is_some());
                let call = Call {
                    owner: owner.as_str().to_owned(),
                    revision: found.as_ref().map_or_else(|| ABSENT.to_owned(), |(_, tool)| tool.revision.clone()),
                    tool: name.clone(),
                    arguments: request.arguments,
                };
                match (request.token, found) {
                    (Some(token), found) => {
                        trail.carries(&inner.gate, &token).await;
                        self.confirmed(&answers, &mut trail, found, call, token, progress).await
                    }
                    (None, Some((Ok(hidden), tool))) => {
                        self.unconfirmed(&answers, &mut trail, &tool, &hidden, call, progress).await
                    }
                    (None, Some((Err(unfit), _))) => answers.refuse(unfit.reason, &unfit.what).await,
                    (None, None) => answers.unknown_tool().await,
                }
            }
        };
        trail.tell(&answers, answer).await
    }

    /// A call with a token: decided without spending it, then handed to a task of the host's own.
    async fn confirmed(
        &self,
        answers: &Answers<'_>,
        trail: &mut Trail,
        found: Option<(Result<Hidden, Unfit>, Arc<Tool>)>,
        call: Call,
        token: Token,
        progress: Option<Arc<dyn Progress>>,
    ) -> Answer {
        match self.inner.gate.check(&token, &call).await {
            Err(error) => return answers.gate_error(error).await,
            Ok(Readiness::Replay(replayed)) => return answers.replayed(replayed),
            Ok(Readiness::Reject(rejection)) => return answers.rejected(rejection).await,
            Ok(Readiness::Ready) => {}
        }
        let (hidden, tool) = match found {
            Some((Ok(hidden), tool)) => (hidden, tool),
            Some((Err(unfit), _)) => return answers.refuse(unfit.reason, &unfit.what).await,
            None => return answers.unknown_tool().await,
        };
        if let Err(unfit) = tool.fits(&call.owner, &call.arguments).await {
            return answers.refuse(unfit.reason, &unfit.what).await;
        }
        match tool.judge(answers, &call).await {
            Ok(raised) => trail.follows(&raised.reasons),
            Err(denied) => return denied,
        }
        let bill = match tool.budgets.bill(&call.owner, &call.arguments) {
            Ok(bill) => bill,
            Err(broke) => return broke.reply(answers).await,
        };
        // What cannot be paid begins nothing: whoever asks again and again costs the audit no wait for the disk.
        if let Err(broke) = bill.look(&self.inner.gate).await {
            return run::unpaid(answers, &call, &token, broke).await;
        }
        run::start(&self.inner, trail, run::Confirmed { tool, hidden, call, token, bill, progress }).await
    }

    /// A call without a token: run at once, or previewed and then run or confirmed.
    async fn unconfirmed(
        &self,
        answers: &Answers<'_>,
        trail: &mut Trail,
        tool: &Tool,
        hidden: &Hidden,
        call: Call,
        progress: Option<Arc<dyn Progress>>,
    ) -> Answer {
        if let Err(unfit) = tool.fits(&call.owner, &call.arguments).await {
            return answers.refuse(unfit.reason, &unfit.what).await;
        }
        let raised = match tool.judge(answers, &call).await {
            Ok(raised) => raised,
            Err(denied) => return denied,
        };
        trail.follows(&raised.reasons);
        let bill = match tool.budgets.bill(&call.owner, &call.arguments) {
            Ok(bill) => bill,
            Err(broke) => return broke.reply(answers).await,
        };
        let progress = hidden.progress(progress);
        let ready = run::Unconfirmed { tool, owner: &call.owner, hidden, bill, progress };
        if let Some(standing) = &tool.standing {
            if raised.floor.is_none() {
                return run::at_once(&self.inner, answers, trail, standing.clearance(call.arguments), ready).await;
            }
            match permit::clear(&self.inner.gate, tool.rules, raised.floor, &call, None, None).await {
                Ok(Clearing::AtOnce(clearance)) => {
                    return run::at_once(&self.inner, answers, trail, clearance, ready).await;
                }
                // Only this call: it is previewed like any that needs a confirmation.
                Ok(Clearing::Confirm) => {}
                Err(error) => return answers.gate_error(error).await,
            }
        }
        // No challenge for what could not run.
        if let Err(broke) = ready.bill.look(&self.inner.gate).await {
            return broke.reply(answers).await;
        }
        let secrets = hidden.secrets();
        let progress = ready.progress.clone();
        let planned = tool.backend.preview(&call.owner, &call.tool, &call.arguments, secrets, progress);
        let plan = match planned.await {
            Ok(plan) => plan,
            Err(error) => return answers.not_planned(hidden.error(error)).await,
        };
        // A plan that is no good is none, however mild it calls itself.
        let level = plan.level;
        let mut plan = match answers.plan(plan, hidden).await {
            Ok(plan) => plan,
            Err(refused) => return refused,
        };
        plan.warnings.extend(raised.reasons.into_iter().map(text::prose));
        let precondition = plan.precondition.as_deref();
        match permit::clear(&self.inner.gate, tool.rules, raised.floor, &call, level, precondition).await {
            Ok(Clearing::AtOnce(clearance)) => run::at_once(&self.inner, answers, trail, clearance, ready).await,
            Ok(Clearing::Confirm) => self.challenge(answers, &call, &plan).await,
            Err(error) => answers.bad_level(error).await,
        }
    }

    /// Issues a confirmation.
    async fn challenge(&self, answers: &Answers<'_>, call: &Call, plan: &Plan) -> Answer {
        match self.inner.gate.issue(call, plan).await {
            Ok(challenge) => answers.confirmation_required(plan, &challenge, &self.inner.confirm_parameter).await,
            Err(error) => answers.gate_error(error).await,
        }
    }

    /// From now on this host serves: what is in force is in its audit, and on the disk, when this returns. Call it before the
    /// first call where it takes another's place; else that call says it. Once is enough.
    ///
    /// What another one of those whose place it takes has taken in and not begun yet is answered `tool_changed` where this one
    /// has another revision of the tool, or none; nothing of it is spent.
    pub async fn exchanged_in(&self) {
        self.inner.comes_into_force();
        self.inner.audits.settled().await;
    }
}
