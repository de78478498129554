//! What a configuration comes to, as facts that can be compared, and which of two is the weaker one.

use std::collections::BTreeMap;

/// One fact. What it is about is its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A power that is given: one more is weaker.
    Power,
    /// A limit or a length of time that something is allowed: more is weaker.
    AtMost(u128),
    /// A level: less is weaker.
    AtLeast(u128),
    /// A rule, a budget, something that holds back: one less is weaker.
    Guard,
    /// Neither: another one is something else.
    Is(String),
    /// A name that the operator chose: another one is as good.
    Label(String),
}

/// A configuration's facts by name.
pub type Facts = BTreeMap<String, Fact>;

/// The names of the facts by which `now` is weaker than `then`, or something else.
pub fn weaker(now: &Facts, then: &Facts) -> Vec<String> {
    let mut names: Vec<&String> = now.keys().chain(then.keys()).collect();
    names.sort();
    names.dedup();
    let is_weaker = |name: &&&String| match (now.get(**name), then.get(**name)) {
        (Some(Fact::Label(_)), None | Some(Fact::Label(_))) => false,
        (Some(Fact::AtMost(now)), Some(Fact::AtMost(then))) => now > then,
        (Some(Fact::AtLeast(now)), Some(Fact::AtLeast(then))) => now < then,
        (Some(now), Some(then)) => now != then,
        (Some(Fact::Power | Fact::Is(_) | Fact::AtMost(_)), None) => true,
        (None, Some(Fact::Guard | Fact::AtLeast(_))) => true,
        (Some(_), None) | (None, Some(_) | None) => false,
    };
    names.iter().filter(is_weaker).map(|name| (*name).clone()).collect()
}

#[test]
fn what_is_weaker_is_found_and_what_is_stricter_is_not() {
    let facts = |list: &[(&str, Fact)]| -> Facts { list.iter().map(|(n, f)| ((*n).to_owned(), f.clone())).collect() };
    let then = facts(&[
        ("dir", Fact::Power),
        ("time", Fact::AtMost(5)),
        ("level", Fact::AtLeast(3)),
        ("rule", Fact::Guard),
        ("name", Fact::Is("a".into())),
        ("label", Fact::Label("a".into())),
    ]);
    assert_eq!(weaker(&then, &then), Vec::<String>::new());
    let change = |name: &str, fact: Option<Fact>| {
        let mut now = then.clone();
        match fact {
            Some(fact) => now.insert(name.into(), fact),
            None => now.remove(name),
        };
        weaker(&now, &then)
    };
    for (name, fact) in [
        ("other dir", Some(Fact::Power)),
        ("time", Some(Fact::AtMost(6))),
        ("level", Some(Fact::AtLeast(2))),
        ("level", None),
        ("rule", None),
        ("name", Some(Fact::Is("b".into()))),
    ] {
        assert_eq!(change(name, fact.clone()), [name], "{fact:?}");
    }
    for (name, fact) in [
        ("dir", None),
        ("time", Some(Fact::AtMost(4))),
        ("level", Some(Fact::AtLeast(4))),
        ("other rule", Some(Fact::Guard)),
        ("label", Some(Fact::Label("b".into()))),
        ("label", None),
        ("other label", Some(Fact::Label("a".into()))),
    ] {
        assert_eq!(change(name, fact.clone()), Vec::<String>::new(), "{fact:?}");
    }
}
