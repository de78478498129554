//! What a call was not allowed to send: counted, and said once when it is over. Of a request only its method and the place that
//! it was for are told, never what else the plug-in wrote there.

use super::{Target, Why};
use crate::plugin::stdio::{Speaker, Volume};
use crate::plugin::veil::Veil;
use http::Method;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Longest method that is told whole, in bytes: far above every registered one.
const METHOD: usize = 32;

/// A request that was denied.
#[derive(Debug)]
pub(crate) enum Denied {
    /// For its place, its method or its body. The plug-in's own spelling of the host beside the place.
    To { method: Method, target: Target, authority: String, why: Why },
    /// That is for no plain host, or nothing of HTTP.
    Nowhere { method: Method },
    /// For what it lacks, or what cannot be in one.
    Malformed,
    /// One more than a call may send, whatever it is.
    TooMany,
}

/// Those of one call. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denials(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    times: u64,
    first: Option<Denied>,
}

impl Denials {
    pub(super) fn add(&self, denied: Denied) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.times += 1;
        kept.first.get_or_insert(denied);
    }

    /// In words; `None`: there were none.
    pub(super) fn told(&self, veil: &Veil) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let denied = kept.first.as_ref()?;
        let shown = |method: &Method| veil.shown(method.as_str(), METHOD);
        let more = kept.times - 1;
        let more = if more == 0 { String::new() } else { format!(", and {more} more") };
        Some(match denied {
            Denied::To { method, target, authority, why } => {
                let place = target.place();
                // A host is compared in lower case: a secret in it shows only in the plug-in's own spelling.
                let place = match veil.text(authority) == *authority && veil.text(&place) == place {
                    true => place,
                    false => "to a host that has a secret in its name".to_owned(),
                };
                format!("denied: {} {place}{more}: {}", shown(method), why.words())
            }
            Denied::Nowhere { method } => {
                format!("denied: {} to what is no plain host of http or https{more}", shown(method))
            }
            Denied::Malformed => format!("denied: a request that is malformed{more}"),
            Denied::TooMany => {
                format!("denied: a request{more}: the call has sent as many as `http_requests` allows")
            }
        })
    }

    /// Hands them to the log.
    pub(in crate::plugin) fn log(&self, volume: &Volume, veil: &Veil, speaker: Speaker<'_>) {
        if let Some(told) = self.told(veil) {
            volume.say(Instant::now(), told.len() as u64, speaker, || told);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::plugin::Secret;

    #[track_caller]
    fn check(requests: &[(&str, &str, &str)], expected: &str) {
        let variables = [("KEY".to_owned(), Secret::new("Hunter2"))];
        let denials = Denials::default();
        for (method, scheme, authority) in requests {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            denials.add(match Target::of(scheme, authority) {
                Some(target) => Denied::To { method, target, authority: (*authority).to_owned(), why: Why::Method },
                None => Denied::Nowhere { method },
            });
        }
        assert_eq!(denials.told(&Veil::of(&variables)).as_deref(), Some(expected), "{requests:?}");
    }

    #[test]
    fn of_a_denied_request_only_its_method_and_its_place_are_told() {
        let plain = ("GET", "https", "a.example:8443");
        let why = Why::Method.words();
        check(&[plain], &format!("denied: GET https://a.example:8443: {why}"));
        let three = format!("denied: GET https://a.example:8443, and 2 more: {why}");
        check(&[plain, ("POST", "http", "b.example"), plain], &three);
        let nowhere = "denied: GET to what is no plain host of http or https";
        for (scheme, authority) in
            [("https", "user:Hunter2@a.example"), ("https", "user@a.example"), ("Hunter2", "a.example"), ("https", "")]
        {
            check(&[("GET", scheme, authority)], nowhere);
        }
        let hidden = format!("denied: GET to a host that has a secret in its name: {why}");
        check(&[("GET", "https", "x-Hunter2.a.example")], &hidden);
        check(&[("XHunter2", "https", "a.example")], &format!("denied: X[KEY] https://a.example: {why}"));
        let long = "M".repeat(40);
        check(&[(&long, "https", "a.example")], &format!("denied: {}… https://a.example: {why}", "M".repeat(29)));
        assert_eq!(Denials::default().told(&Veil::default()), None);
        let denials = Denials::default();
        denials.add(Denied::Malformed);
        denials.add(Denied::TooMany);
        let told = denials.told(&Veil::default());
        assert_eq!(told.as_deref(), Some("denied: a request that is malformed, and 1 more"));
    }
}
