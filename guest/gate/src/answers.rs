//! The exports that ask neither store nor clock: the wire shapes and the levels, handed to `gate-core` as they come.

use crate::Component;
use crate::bindings::exports::counterfoil::gate::{gate, levels, responses};
use crate::convert::{self, assurance, level, level_out, plan, rejection, rejection_in, settings};
use alloc::string::String;
use counterfoil_gate_core as rules;
use rules::answer::Rejection;
use rules::prose::say;

impl responses::Guest for Component {
    fn confirmation_required(
        tool: String,
        shown: gate::Plan,
        challenge: gate::Challenge,
        at: gate::Level,
        confirm_parameter: String,
    ) -> String {
        let challenge = convert::challenge_in(challenge);
        let limits = settings().output();
        rules::responses::confirmation_required(&tool, &plan(shown), &challenge, level(at), &confirm_parameter, &limits)
    }

    fn ok(tool: String, message: String, details: String, proof: Option<gate::Assurance>) -> Result<String, String> {
        rules::responses::ok(&tool, &message, &details, proof.map(assurance), &settings().output())
    }

    fn rejected(tool: String, reason: gate::Rejection) -> String {
        rules::responses::rejected(&tool, &rejection_in(reason))
    }

    fn failed(
        tool: String,
        failure: gate::Failure,
        error: String,
        effect: gate::Effect,
        proof: Option<gate::Assurance>,
    ) -> String {
        rules::responses::failed(
            &tool,
            convert::failure(failure),
            &error,
            convert::effect(effect),
            proof.map(assurance),
        )
    }

    fn refuse(reason: gate::Reason, what: String) -> gate::Rejection {
        rejection(Rejection::because(convert::reason_in(reason), &what))
    }

    fn compact(text: String) -> Result<String, String> {
        rules::canonical::compact(&text, &settings().output()).map(|compact| compact.text)
    }

    fn output_schema(details: Option<String>) -> Result<String, String> {
        rules::responses::output_schema(details.as_deref(), &settings().output())
    }
}

impl levels::Guest for Component {
    fn model_version() -> String {
        say(rules::level::MODEL_VERSION)
    }

    fn ceiling(declared: gate::Level, operator: Option<gate::Level>) -> Result<gate::Level, String> {
        rules::level::ceiling(level(declared), operator.map(level)).map(level_out)
    }

    fn resolve(
        declared: gate::Level,
        critical: bool,
        operator: Option<gate::Level>,
        planned: Option<gate::Level>,
    ) -> Result<gate::Level, String> {
        rules::level::resolve(level(declared), critical, operator.map(level), planned.map(level)).map(level_out)
    }

    fn parse(text: String) -> Result<gate::Level, String> {
        rules::level::Level::parse(&text).map(level_out)
    }

    fn name(at: gate::Level) -> String {
        say(level(at).name())
    }
}
