//! What a plug-in really has: of what it asks for, what the operator grants. Neither alone gives anything, and of two rights
//! the weaker counts.

use super::env::Secret;
use super::fixed::Fixed;
use super::grants::Granted;
use super::http::{HttpGrant, Pattern, Web, is_reading};
use super::manifest::{ANY, Declared};
use super::options::Access;
use crate::digest::Digest;
use crate::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What calls of a plug-in may use.
#[derive(Default)]
pub(super) struct Given {
    pub(super) dirs: Vec<Granted>,
    pub(super) web: Arc<Web>,
    pub(super) env: Vec<(String, Secret)>,
    pub(super) fixed: Fixed,
}

impl Given {
    /// Adds all of it to what says which plug-in with which powers would run.
    pub(super) fn digest(&self, digest: &mut Digest) {
        for Granted { grant, .. } in &self.dirs {
            digest.field("dir").field(grant.host.as_os_str().as_encoded_bytes());
            digest.field(&grant.guest).field(grant.access.name());
        }
        for allowed in self.web.granted() {
            digest.field("http").field(allowed.to_string());
        }
        for asked in self.web.declared() {
            digest.field("http asked").field(asked.to_string());
        }
        for (name, value) in &self.env {
            digest.field("env").field(name).field(value.digest());
        }
        self.fixed.digest(digest);
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dirs: Vec<_> = self.dirs.iter().map(|granted| &granted.grant).collect();
        f.debug_struct("Given")
            .field("dirs", &dirs)
            .field("http", &self.web.granted())
            .field("env", &self.env)
            .field("fixed", &self.fixed)
            .finish()
    }
}

/// One power that a plug-in asks for or is granted, for people: what it comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What kind of power.
    pub kind: GrantKind,
    /// Which: a guest path, requests, the name of a variable.
    pub what: String,
    /// What the plug-in may do with it; `None` for nothing.
    pub may: Option<String>,
    /// Why that is less than what is granted or asked for, and what to do about it.
    pub why: Option<String>,
}

/// The kinds of powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantKind {
    /// A directory.
    Directory,
    /// Requests to other machines.
    Http,
    /// An environment variable.
    Variable,
    /// A clock that stands.
    Clock,
    /// Randomness that is none.
    Randomness,
}

impl GrantKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Http => "http",
            Self::Variable => "variable",
            Self::Clock => "clock",
            Self::Randomness => "randomness",
        }
    }
}

/// What comes of what is asked for and what is granted.
pub(super) struct Resolution<'a> {
    /// `None`: the component says nothing, and nobody says anything for it.
    declared: Option<&'a Declared>,
    pub(super) given: Given,
    pub(super) told: Vec<Grant>,
}

impl<'a> Resolution<'a> {
    pub(super) fn new(declared: Option<&'a Declared>) -> Self {
        Self { declared, given: Given::default(), told: Vec::new() }
    }

    fn tell(&mut self, kind: GrantKind, what: &str, may: Option<&str>, why: Option<String>) {
        self.told.push(Grant { kind, what: what.to_owned(), may: may.map(str::to_owned), why });
    }

    /// Why something that is granted is not given.
    fn not_declared(&self, key: &str) -> String {
        match self.declared {
            Some(_) => format!("the plug-in does not ask for it: take it out of `{key}`, or ask its author"),
            None => "the plug-in says nothing of what it needs: say it for it under `declares`".to_owned(),
        }
    }

    /// The directories: those that are asked for under their guest paths.
    pub(super) fn dirs(&mut self, granted: Vec<Granted>) {
        let asked = self.declared.map(|declared| declared.dirs.clone()).unwrap_or_default();
        for dir in asked {
            let any = dir.path == ANY;
            if !granted.iter().any(|granted| any || granted.grant.guest == dir.path) {
                let what = if any { "any directory" } else { &dir.path };
                self.tell(GrantKind::Directory, what, None, Some(not_granted(dir.access.name())));
            }
        }
        for mut dir in granted {
            let guest = dir.grant.guest.clone();
            let Some(asked) = self.declared.and_then(|declared| declared.dir(&guest)) else {
                let why = self.not_declared("dirs");
                self.tell(GrantKind::Directory, &guest, None, Some(why));
                continue;
            };
            let may = asked.min(dir.grant.access);
            let why = match (asked, dir.grant.access) {
                (Access::ReadOnly, Access::ReadWrite) => Some("the plug-in asks for no more".to_owned()),
                (Access::ReadWrite, Access::ReadOnly) => Some("it asks for read-write; no more is granted".to_owned()),
                _ => None,
            };
            dir.grant.access = may;
            self.tell(GrantKind::Directory, &guest, Some(may.name()), why);
            self.given.dirs.push(dir);
        }
    }
}

/// Requests: what both a grant and a declaration let through.
impl Resolution<'_> {
    pub(super) fn http(&mut self, grants: &[HttpGrant]) -> Result<(), Error> {
        let asked = self.declared.map(|declared| declared.http.clone()).unwrap_or_default();
        let config = |what: String| Error::new(ErrorKind::Config, format!("what is declared for it: {what}"));
        let asked: Vec<Pattern> =
            asked.iter().map(|asked| asked.pattern().map_err(config)).collect::<Result<_, _>>()?;
        let web = Web::new(grants, asked)?;
        for allowed in web.granted() {
            let granted = &allowed.pattern;
            let both: Vec<Pattern> = web.declared().iter().filter_map(|asked| granted.both(asked)).collect();
            if both.is_empty() {
                // Where only the methods differ, it is one place, and told once.
                let asked: Vec<String> =
                    web.declared().iter().filter(|asked| granted.meets(asked)).map(Pattern::asked).collect();
                let why = match asked.is_empty() {
                    true => self.not_declared("http"),
                    false => {
                        format!("the plug-in asks for {} there, and {} is granted", asked.join(","), granted.asked())
                    }
                };
                self.tell(GrantKind::Http, &granted.place(), None, Some(why));
            }
            // Where one is all of the grant, what the others let through is part of it.
            let whole = both.iter().find(|both| *both == granted).cloned().map(|whole| vec![whole]);
            for both in whole.unwrap_or(both) {
                let why = (both != *granted).then(|| format!("the plug-in asks for no more; {granted} is granted"));
                let may = format!("{}{}", both.asked(), in_previews(allowed.preview, &both));
                self.tell(GrantKind::Http, &both.place(), Some(&may), why);
            }
        }
        for asked in web.declared() {
            if !web.granted().iter().any(|allowed| allowed.pattern.meets(asked)) {
                let what = if *asked == Pattern::any() { "any request".to_owned() } else { asked.place() };
                self.tell(GrantKind::Http, &what, None, Some(not_granted(&asked.asked())));
            }
        }
        self.given.web = Arc::new(web);
        Ok(())
    }
}

/// Variables, by name.
impl Resolution<'_> {
    pub(super) fn env(&mut self, granted: &BTreeMap<String, Secret>) {
        for (name, value) in granted {
            if self.declared.is_some_and(|declared| declared.env(name)) {
                self.tell(GrantKind::Variable, name, Some("read it"), None);
                self.given.env.push((name.clone(), value.clone()));
            } else {
                let why = self.not_declared("env");
                self.tell(GrantKind::Variable, name, None, Some(why));
            }
        }
        let asked = self.declared.map(|declared| declared.env.clone()).unwrap_or_default();
        for name in asked {
            if !granted.contains_key(&name) && (name != ANY || granted.is_empty()) {
                let what = if name == ANY { "any variable" } else { &name };
                self.tell(GrantKind::Variable, what, None, Some(not_granted("to read it")));
            }
        }
    }
}

/// What is fixed: nobody asks for it, and it takes a power away.
impl Resolution<'_> {
    pub(super) fn fixed(&mut self, fixed: &Fixed) {
        if let Some(clock) = fixed.clock {
            let stands = format!("stands at {}", humantime::format_rfc3339(clock));
            self.tell(GrantKind::Clock, &stands, Some("read it"), None);
        }
        if let Some(seed) = fixed.random {
            self.tell(GrantKind::Randomness, &format!("from {seed}, the same in every call"), Some("read it"), None);
        }
        self.given.fixed = fixed.clone();
    }
}

/// What of these requests previews and safe calls may send, where that is anything.
fn in_previews(granted: bool, both: &Pattern) -> String {
    let looks: Vec<&str> = both.methods().filter(|method| granted && is_reading(method)).collect();
    if looks.is_empty() {
        return String::new();
    }
    format!(" ({} without a body in previews and safe calls, too)", looks.join(" and "))
}

fn not_granted(may: &str) -> String {
    format!("the plug-in asks for it ({may}); it is not granted")
}
