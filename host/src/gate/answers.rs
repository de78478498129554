//! The wire shapes and the risk model, from the component. None of these asks the store.

use super::bindings::gate as wit;
use super::{Assurance, Challenge, Effect, Failure, Gate, GateError, Level, Plan, Reason, Rejection};

/// What the component refused: its text says what is wrong with what was given.
fn misuse<T>(result: Result<T, String>) -> Result<T, GateError> {
    result.map_err(GateError::Misuse)
}

/// The wire shapes. Each returns one JSON object without white space. Errors: [`GateError::Misuse`] where it says so, and
/// [`GateError::Fault`].
impl Gate {
    /// `confirmation_required`.
    ///
    /// # Errors
    /// Fault only.
    pub async fn confirmation_required(
        &self,
        tool: &str,
        plan: &Plan,
        challenge: &Challenge,
        level: Level,
        confirm_parameter: &str,
    ) -> Result<String, GateError> {
        let challenge = wit::Challenge::from(challenge);
        self.instances.aside(|i, s| {
            i.counterfoil_gate_responses().call_confirmation_required(
                s,
                tool,
                &plan.into(),
                &challenge,
                level,
                confirm_parameter,
            )
        })
    }

    /// `ok`.
    ///
    /// # Errors
    /// Misuse: what is wrong with `details`, which must be a JSON object within the limits.
    pub async fn ok(
        &self,
        tool: &str,
        message: &str,
        details: &str,
        assurance: Option<Assurance>,
    ) -> Result<String, GateError> {
        let details = details.to_owned();
        misuse(
            self.instances
                .aside(|i, s| i.counterfoil_gate_responses().call_ok(s, tool, message, &details, assurance))?,
        )
    }

    /// `rejected`.
    ///
    /// # Errors
    /// Fault only.
    pub async fn rejected(&self, tool: &str, rejection: &Rejection) -> Result<String, GateError> {
        self.instances.aside(|i, s| i.counterfoil_gate_responses().call_rejected(s, tool, rejection))
    }

    /// `failed`.
    ///
    /// # Errors
    /// Fault only.
    pub async fn failed(
        &self,
        tool: &str,
        failure: Failure,
        error: &str,
        effect: Effect,
        assurance: Option<Assurance>,
    ) -> Result<String, GateError> {
        self.instances
            .aside(|i, s| i.counterfoil_gate_responses().call_failed(s, tool, failure, error, effect, assurance))
    }

    /// The refusal for a reason that the host found, with its standing advice; `what` says what was wrong.
    ///
    /// # Errors
    /// Fault only.
    pub async fn refuse(&self, reason: Reason, what: &str) -> Result<Rejection, GateError> {
        self.instances.aside(|i, s| i.counterfoil_gate_responses().call_refuse(s, reason, what))
    }

    /// Checks a JSON text strictly and returns it without white space; keys keep their order, numbers their spelling.
    ///
    /// # Errors
    /// Misuse: what is wrong with it, and where.
    pub async fn compact(&self, text: &str) -> Result<String, GateError> {
        let text = text.to_owned();
        misuse(self.instances.aside(|i, s| i.counterfoil_gate_responses().call_compact(s, &text))?)
    }

    /// The output schema that a host lists for a tool whose own is `details`.
    ///
    /// # Errors
    /// Misuse: `details` is no JSON object.
    pub async fn output_schema(&self, details: Option<&str>) -> Result<String, GateError> {
        let details = details.map(str::to_owned);
        misuse(self.instances.aside(|i, s| i.counterfoil_gate_responses().call_output_schema(s, details.as_ref()))?)
    }
}

/// The risk model: raise only.
impl Gate {
    /// Changes when the meaning of a level or a reason changes.
    ///
    /// # Errors
    /// Fault only.
    pub async fn model_version(&self) -> Result<String, GateError> {
        self.instances.aside(|i, s| i.counterfoil_gate_levels().call_model_version(s))
    }

    /// The most that a call of a tool can need.
    ///
    /// # Errors
    /// Misuse: the operator's level would lower the declared one.
    pub async fn ceiling(&self, declared: Level, operator: Option<Level>) -> Result<Level, GateError> {
        misuse(self.instances.aside(|i, s| i.counterfoil_gate_levels().call_ceiling(s, declared, operator))?)
    }

    /// The level of one call, `planned` being what its plan states.
    ///
    /// # Errors
    /// Misuse: the plan states more than the tool declares, or the operator would lower it.
    pub async fn resolve_level(
        &self,
        declared: Level,
        critical: bool,
        operator: Option<Level>,
        planned: Option<Level>,
    ) -> Result<Level, GateError> {
        misuse(
            self.instances
                .aside(|i, s| i.counterfoil_gate_levels().call_resolve(s, declared, critical, operator, planned))?,
        )
    }

    /// Reads a level by name (`approval_required`) or number (`3`).
    ///
    /// # Errors
    /// Misuse: the names that there are.
    pub async fn parse_level(&self, text: &str) -> Result<Level, GateError> {
        misuse(self.instances.aside(|i, s| i.counterfoil_gate_levels().call_parse(s, text))?)
    }

    /// `safe`, `caution`, `review` or `approval_required`.
    ///
    /// # Errors
    /// Fault only.
    pub async fn level_name(&self, level: Level) -> Result<String, GateError> {
        self.instances.aside(|i, s| i.counterfoil_gate_levels().call_name(s, level))
    }
}
