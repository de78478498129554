//! What a condition is asked about: the arguments, the owner, the tool, and how much time there is.

use super::made::Made;
use super::{PATIENCE, TICK, operators};
use crate::canonical::{self, Json};
use crate::schema;
use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString};
use cel::common::value::Val;
use cel::{Context, Env, ExecutionError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

/// The standard functions, made once.
static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// One call, as conditions see it.
pub(crate) struct Facts<'a> {
    owner: &'a str,
    tool: &'a str,
    arguments: Option<Json<'a>>,
    /// Whether each number of the arguments is exactly what conditions see.
    exact: bool,
    late: Arc<AtomicBool>,
    made: Made,
}

/// Whether every number is one that an integer of 64 bits or a double holds.
fn held(json: &Json<'_>) -> bool {
    match json {
        Json::Number(text) => text.parse::<i64>().is_ok() || schema::is_faithful(text),
        Json::List(items) => items.iter().all(held),
        Json::Object(entries) => entries.iter().all(|(_, value)| held(value)),
        Json::Null | Json::Bool(_) | Json::Text(_) => true,
    }
}

impl<'a> Facts<'a> {
    /// The facts of a call with canonical arguments.
    pub(crate) fn new(owner: &'a str, tool: &'a str, arguments: &'a str) -> Self {
        let arguments = canonical::read(arguments);
        let exact = arguments.as_ref().is_some_and(held);
        Self { owner, tool, arguments, exact, late: Arc::default(), made: Made::default() }
    }

    /// Whether the arguments are what conditions see of them.
    pub(super) fn exact(&self) -> bool {
        self.exact
    }

    /// Whether a loop was stopped since the time was up.
    pub(super) fn late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    /// What the condition that is asked has made.
    pub(super) fn made(&self) -> &Made {
        &self.made
    }

    /// What conditions are evaluated in. Their time starts now.
    pub(crate) fn context<'s>(&'s self) -> Context<'s, 's> {
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        let arguments = self.arguments.as_ref().map_or_else(|| Box::new(CelNull) as Box<dyn Val>, value);
        context.add_variable_as_val("args", arguments);
        context.add_variable_as_val("owner", Box::new(CelString::from(self.owner)));
        context.add_variable_as_val("tool", Box::new(CelString::from(self.tool)));
        let (started, late) = (Instant::now(), Arc::clone(&self.late));
        let tick = move || -> Result<bool, ExecutionError> {
            if late.load(Ordering::Relaxed) || started.elapsed() > PATIENCE {
                late.store(true, Ordering::Relaxed);
                return Err(ExecutionError::function_error(TICK, "too late"));
            }
            Ok(true)
        };
        // The name is nobody else's.
        let _ = context.add_function(TICK, tick);
        operators::declare(&mut context, &self.made);
        context
    }
}

/// A value as CEL has it. Numbers are those that [`held`] has looked at.
fn value<'v>(json: &'v Json<'_>) -> Box<dyn Val + 'v> {
    match json {
        Json::Null => Box::new(CelNull),
        Json::Bool(truth) => Box::new(CelBool::from(*truth)),
        Json::Number(text) => match text.parse::<i64>() {
            Ok(number) => Box::new(CelInt::from(number)),
            Err(_) => Box::new(CelDouble::from(text.parse().unwrap_or(f64::NAN))),
        },
        Json::Text(text) => Box::new(CelString::from(text.as_ref())),
        Json::List(items) => Box::new(CelList::from(items.iter().map(value).collect::<Vec<_>>())),
        Json::Object(entries) => {
            let entry = |(key, held): &'v (_, _)| (CelMapKey::from(AsRef::<str>::as_ref(key)), value(held));
            Box::new(CelMap::from(entries.iter().map(entry).collect::<HashMap<_, _>>()))
        }
    }
}
