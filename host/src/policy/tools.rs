//! Which tools a rule or a budget is about.

use std::collections::BTreeSet;
use std::fmt;

/// Tools by the names that they are listed under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Every tool that there is.
    All,
    /// These.
    Named(BTreeSet<String>),
}

impl Tools {
    /// Whether this tool is one of them.
    pub fn has(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(tool),
        }
    }

    /// Those that are named, in order; none where all are meant.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::All => None,
            Self::Named(names) => Some(names),
        };
        names.into_iter().flatten().map(String::as_str)
    }
}

/// `"*"`: every tool.
impl From<&str> for Tools {
    fn from(name: &str) -> Self {
        if name == "*" { Self::All } else { Self::Named(BTreeSet::from([name.to_owned()])) }
    }
}

impl From<Vec<String>> for Tools {
    fn from(names: Vec<String>) -> Self {
        if names.iter().any(|name| name == "*") { Self::All } else { Self::Named(names.into_iter().collect()) }
    }
}

impl<const N: usize> From<[&str; N]> for Tools {
    fn from(names: [&str; N]) -> Self {
        names.map(str::to_owned).to_vec().into()
    }
}

impl fmt::Display for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Named(names) => f.write_str(&names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
        }
    }
}
