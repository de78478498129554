//! What a condition is asked about: the arguments, the owner, the tool, and how much time there is.

use super::{PATIENCE, TICK};
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
    numbers: Numbers,
    late: Arc<AtomicBool>,
}

/// What there is among the numbers of the arguments.
#[derive(Default)]
struct Numbers {
    /// One that neither an integer of 64 bits nor a double holds.
    unfaithful: bool,
    /// An integer that a double would round.
    wide: bool,
    /// One that is held as a double.
    double: bool,
}

impl Numbers {
    fn look(&mut self, json: &Json<'_>) {
        match json {
            Json::Number(text) => match text.parse::<i64>() {
                #[expect(
                    clippy::cast_precision_loss,
                    clippy::cast_possible_truncation,
                    reason = "that is the question"
                )]
                Ok(number) => self.wide |= (number as f64) as i128 != i128::from(number),
                Err(_) if schema::is_faithful(text) => self.double = true,
                Err(_) => self.unfaithful = true,
            },
            Json::List(items) => items.iter().for_each(|item| self.look(item)),
            Json::Object(entries) => entries.iter().for_each(|(_, value)| self.look(value)),
            Json::Null | Json::Bool(_) | Json::Text(_) => {}
        }
    }
}

impl<'a> Facts<'a> {
    /// The facts of a call with canonical arguments.
    pub(crate) fn new(owner: &'a str, tool: &'a str, arguments: &'a str) -> Self {
        let arguments = canonical::read(arguments);
        let mut numbers = Numbers::default();
        arguments.iter().for_each(|json| numbers.look(json));
        Self { owner, tool, arguments, numbers, late: Arc::default() }
    }

    /// Whether every comparison of numbers will be exact, in a condition that has a double of its own or not.
    pub(super) fn exact_for(&self, doubles: bool) -> bool {
        let Numbers { unfaithful, wide, double } = self.numbers;
        self.arguments.is_some() && !unfaithful && !(wide && (double || doubles))
    }

    /// Whether a loop was stopped since the time was up.
    pub(super) fn late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
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
        context
    }
}

/// A value as CEL has it. Numbers are those that [`Numbers`] has looked at.
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
