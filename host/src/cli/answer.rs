//! An answer as a person reads it. Nothing of it is left out, and nothing in it is taken for the program's own words.

use super::print::{bold, inset, loud};
use crate::{Status, text};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt::Write as _;

/// The payload of an answer for the terminal; `again` is the command that confirms, up to the token, and `whole` says how to
/// see long values whole, where they are not.
pub(super) fn for_people(status: Status, payload: &str, again: &str, whole: Option<&str>) -> anyhow::Result<String> {
    let Members(members) = serde_json::from_str(payload)?;
    let text_of = |name: &str| {
        members
            .iter()
            .find(|(key, _)| key == name)
            .and_then(|(_, value)| serde_json::from_str::<String>(value.get()).ok())
            .unwrap_or_default()
    };
    let raw_of = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| value.get());
    let word = |name: &str| text::value(&text_of(name), whole).into_owned();
    let mut shown = String::new();
    match status {
        Status::ConfirmationRequired => {
            writeln!(
                shown,
                "{}: {} ({}). Nothing has been changed.\n",
                loud("confirmation required"),
                bold(&word("tool")),
                word("level")
            )?;
            writeln!(shown, "  {}\n", word("summary"))?;
            for warning in raw_of("warnings").map(serde_json::from_str::<Vec<String>>).transpose()?.unwrap_or_default()
            {
                writeln!(shown, "  {} {}\n", loud("warning:"), text::value(&warning, whole))?;
            }
            for recent in raw_of("recent").map(serde_json::from_str::<Vec<Recent>>).transpose()?.unwrap_or_default() {
                writeln!(shown, "  {} {}\n", loud("warning:"), recent.sentence())?;
            }
            writeln!(shown, "{}\n", inset(&text::indent_values(raw_of("preview").unwrap_or("{}"), whole)))?;
            writeln!(
                shown,
                "To do exactly this, once, until {}:\n\n  {again} {}",
                word("expires_at"),
                word("confirm_token")
            )?;
        }
        Status::Ok => {
            writeln!(shown, "{}", word("message"))?;
            shown.push_str(&others(&members, &["status", "tool", "message", "assurance"], whole));
        }
        Status::Rejected => {
            let detail = word("detail");
            let reason = if detail.is_empty() { word("reason") } else { format!("{}, {detail}", word("reason")) };
            writeln!(shown, "{} ({reason}): {}", loud("rejected"), word("error"))?;
            match text_of("reason").as_str() {
                // There the error says what is known of the token.
                "unavailable" => {}
                _ if !detail.is_empty() => {
                    writeln!(
                        shown,
                        "This call ran nothing. The token was spent before, by the run that it confirmed."
                    )?;
                }
                _ => writeln!(shown, "This call ran nothing and spent nothing.")?,
            }
        }
        Status::Failed => {
            writeln!(shown, "{} ({}): {}", loud("failed"), word("reason"), word("error"))?;
            let effect = match text_of("effect").as_str() {
                "none" => "nothing was changed".to_owned(),
                "partial" => "something was changed, not everything: look before you try again".to_owned(),
                _ => "whether anything was changed is not known: look before you try again".to_owned(),
            };
            writeln!(shown, "Effect: {effect}.")?;
        }
    }
    Ok(shown)
}

/// An identical call of the last minutes.
#[derive(serde::Deserialize)]
struct Recent {
    state: String,
    at: String,
    seconds_ago: u64,
}

impl Recent {
    fn sentence(&self) -> String {
        let at = text::escape(&self.at);
        let ago = match self.seconds_ago {
            seconds @ 0..120 => format!("{seconds} s ago, at {at}"),
            seconds => format!("{} min ago, at {at}", seconds / 60),
        };
        match self.state.as_str() {
            "completed" => format!("an identical call ran {ago}: make sure that this is not the same wish twice"),
            "in_flight" => format!("an identical call was started {ago}, and is still running: wait for its outcome"),
            other => format!("an identical call was made {ago} ({})", text::escape(other)),
        }
    }
}

/// The members that have no sentence of their own, as JSON.
fn others(members: &[(String, &RawValue)], known: &[&str], whole: Option<&str>) -> String {
    let rest: Vec<String> = members
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .map(|(key, value)| format!("{}:{}", serde_json::to_string(key).unwrap_or_default(), value.get()))
        .collect();
    if rest.is_empty() {
        String::new()
    } else {
        format!("{}\n", text::indent_values(&format!("{{{}}}", rest.join(",")), whole))
    }
}

/// The members of an object in their order, their values unread: a parser would round numbers.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_shows_everything_and_lets_nothing_through() {
        let payload = "{\"status\":\"confirmation_required\",\"tool\":\"t\",\"summary\":\"Delete \\u001b[2Ja\",\"preview\":{\"id\":9007199254740993,\"b\":\"\u{202e}\"},\"confirm_token\":\"cfm_x\",\"level\":\"approval_required\",\"warnings\":[\"w\\r\\u001b\"],\"expires_at\":\"2026-01-01T00:00:00Z\"}";
        let shown =
            for_people(Status::ConfirmationRequired, payload, "counterfoil call t '{}' --confirm", None).unwrap();
        let plain = anstream::adapter::strip_str(&shown).to_string();
        for part in
            [r"Delete \e[2Ja", "9007199254740993", r"\u{202e}", r"w\r\e", "counterfoil call t '{}' --confirm cfm_x"]
        {
            assert!(plain.contains(part), "{part} in {plain}");
        }
        assert!(!plain.contains('\u{1b}') && !plain.contains('\u{202e}'));
    }

    #[test]
    fn a_rejection_says_no_more_than_is_known_of_runs_and_token() {
        let shown = |reason: &str, detail: &str| {
            let payload = format!(r#"{{"status":"rejected","tool":"t","error":"why","reason":"{reason}"{detail}}}"#);
            let shown = for_people(Status::Rejected, &payload, "", None).unwrap();
            anstream::adapter::strip_str(&shown).to_string()
        };
        for detail in ["in_flight", "outcome_unknown", "already_ran", "settled_happened", "settled_did_not"] {
            assert_eq!(
                shown("unknown_or_used", &format!(r#","detail":"{detail}""#)),
                format!(
                    "rejected (unknown_or_used, {detail}): why\nThis call ran nothing. The token was spent before, by the run that it confirmed.\n"
                )
            );
        }
        assert_eq!(shown("unavailable", ""), "rejected (unavailable): why\n");
        for reason in ["unknown_or_used", "expired", "unresolved"] {
            let expected = format!("rejected ({reason}): why\nThis call ran nothing and spent nothing.\n");
            assert_eq!(shown(reason, ""), expected);
        }
    }

    #[test]
    fn identical_calls_are_told_in_sentences() {
        let payload = r#"{"status":"confirmation_required","tool":"t","summary":"s","preview":{},"confirm_token":"x","level":"l","expires_at":"e","warnings":[],"recent":[{"state":"completed","at":"2026-05-18T14:30:01Z","seconds_ago":40},{"state":"in_flight","at":"2026-05-18T14:20:01Z","seconds_ago":640}]}"#;
        let shown = for_people(Status::ConfirmationRequired, payload, "c", None).unwrap();
        let plain = anstream::adapter::strip_str(&shown).to_string();
        assert!(
            plain.contains("warning: an identical call ran 40 s ago, at 2026-05-18T14:30:01Z: make sure"),
            "{plain}"
        );
        assert!(plain.contains("an identical call was started 10 min ago") && !plain.contains('['), "{plain}");
    }
}
