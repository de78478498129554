//! Reads `vectors/canonical.json` and compares what a reader of arguments answers with it, byte for byte. Knows no reader.

use counterfoil_gate_core::canonical::{ArgumentsError, Limits, Request};
use serde::Deserialize;

/// How many there are: a case that falls out of the file is noticed.
pub const CASES: usize = 238;

/// What the file calls itself.
const FORMAT: &str = "counterfoil-canonical-vectors/1";

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    cases: Vec<Case>,
}

/// One case, as `vectors/README.md` describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// A sentence, unique in the file.
    pub name: String,
    arguments: Text,
    /// The key that is taken out.
    #[serde(default = "confirm_token")]
    pub confirm_parameter: String,
    #[serde(default)]
    limits: SomeLimits,
    expect: Expect,
}

fn confirm_token() -> String {
    "confirm_token".into()
}

/// A text, or the parts it is put together from.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Whole(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Part {
    Once(String),
    Often { repeat: String, times: usize },
}

impl Text {
    fn whole(&self) -> String {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Parts(parts) => parts.iter().map(Part::whole).collect(),
        }
    }
}

impl Part {
    fn whole(&self) -> String {
        match self {
            Self::Once(text) => text.clone(),
            Self::Often { repeat, times } => repeat.repeat(*times),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SomeLimits {
    max_bytes: Option<u32>,
    max_depth: Option<u32>,
    max_number: Option<u32>,
    max_exponent: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Expect {
    Read { canonical: Text, token: Option<String> },
    Refused { error: Refusal, text: String },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Refusal {
    MalformedToken,
    InvalidArguments,
}

impl Case {
    /// The text as it was sent.
    pub fn arguments(&self) -> String {
        self.arguments.whole()
    }

    /// The limits, all of them.
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        let SomeLimits { max_bytes, max_depth, max_number, max_exponent } = self.limits;
        Limits {
            max_bytes: max_bytes.unwrap_or(default.max_bytes),
            max_depth: max_depth.unwrap_or(default.max_depth),
            max_number: max_number.unwrap_or(default.max_number),
            max_exponent: max_exponent.unwrap_or(default.max_exponent),
        }
    }

    /// What a reader has to answer.
    pub fn expected(&self) -> Result<Request, ArgumentsError> {
        match &self.expect {
            Expect::Read { canonical, token } => Ok(Request { token: token.clone(), arguments: canonical.whole() }),
            Expect::Refused { error: Refusal::MalformedToken, text } => {
                Err(ArgumentsError::MalformedToken(text.clone()))
            }
            Expect::Refused { error: Refusal::InvalidArguments, text } => {
                Err(ArgumentsError::InvalidArguments(text.clone()))
            }
        }
    }
}

/// The cases of the file.
pub fn cases() -> Vec<Case> {
    let path = super::vectors().join("canonical.json");
    let text = std::fs::read_to_string(path).expect("vectors/canonical.json is there");
    let file: File = serde_json::from_str(&text).expect("vectors/canonical.json is as its README says");
    assert_eq!(file.format, FORMAT);
    file.cases
}

/// Runs every case through a reader, which gets the text, the confirm parameter and the limits. What was read once is read
/// again, and has to stay. Returns the number of cases; panics with all differences.
pub fn run(mut read: impl FnMut(&str, &str, &Limits) -> Result<Request, ArgumentsError>) -> usize {
    let cases = cases();
    let mut differences = Vec::new();
    for case in &cases {
        let mut compare = |what: &str, text: &str, expected: Result<Request, ArgumentsError>| {
            let answer = read(text, &case.confirm_parameter, &case.limits());
            if answer != expected {
                differences.push(format!(
                    "{}{what}\n  expected {}\n  answered {}",
                    case.name,
                    show(&expected),
                    show(&answer)
                ));
            }
        };
        let expected = case.expected();
        let canonical = expected.as_ref().ok().map(|request| request.arguments.clone());
        compare("", &case.arguments(), expected);
        if let Some(canonical) = canonical {
            let again = Request { token: None, arguments: canonical.clone() };
            compare(" (read again)", &canonical, Ok(again));
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    cases.len()
}

/// An answer for a person: with its token, which is a made-up one, and cut where it is long.
fn show(answer: &Result<Request, ArgumentsError>) -> String {
    let whole = match answer {
        Ok(Request { token, arguments }) => format!("{arguments:?}, token {token:?}"),
        Err(error) => format!("{error:?}"),
    };
    match whole.char_indices().nth(500) {
        Some((end, _)) => format!("{}… ({} bytes)", whole.get(..end).unwrap_or_default(), whole.len()),
        None => whole,
    }
}
