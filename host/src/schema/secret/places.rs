//! The places of one value, each made once: however many members and items a value has and however many parts a schema, the
//! work of a call is bounded. What is left when it is used up counts as secret.

use super::marks::{Marks, Step};
use std::collections::HashMap;
use std::rc::Rc;

/// Looks at parts of a schema, for one call: some tenths of a second at most, and far more than arguments need that were not
/// written to take long.
const WORK: usize = 1 << 21;
/// Steps to members that are remembered: above what the names of most schemas come to.
const MEMBERS: usize = 8192;

/// A place: a number of [`Places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Everything here is secret.
    Secret,
    /// These parts of the schema apply.
    Of(usize),
}

pub(super) struct Places<'m> {
    marks: &'m Marks,
    /// What applies, in order.
    parts: Vec<Rc<[usize]>>,
    numbers: HashMap<Rc<[usize]>, usize>,
    items: HashMap<(usize, usize), Place>,
    members: HashMap<usize, HashMap<String, Place>>,
    remembered: usize,
    left: usize,
}

impl<'m> Places<'m> {
    pub(super) fn new(marks: &'m Marks) -> Self {
        let (parts, numbers, items, members) = Default::default();
        Self { marks, parts, numbers, items, members, remembered: 0, left: WORK }
    }

    /// Whether a name tells nothing, since the schema has it, too.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.marks.names(name)
    }

    /// Of the whole value.
    pub(super) fn top(&mut self) -> Place {
        let top = self.marks.top(&mut self.left);
        self.place(top)
    }

    /// Of the member of this name.
    pub(super) fn member(&mut self, of: Place, name: &str) -> Place {
        let Place::Of(number) = of else { return Place::Secret };
        if let Some(known) = self.members.get(&number).and_then(|members| members.get(name)) {
            return *known;
        }
        let place = self.step(number, &Step::Member(name));
        if self.remembered < MEMBERS {
            self.remembered += 1;
            self.members.entry(number).or_default().insert(name.to_owned(), place);
        }
        place
    }

    /// Of the item of this number.
    pub(super) fn item(&mut self, of: Place, item: usize) -> Place {
        let Place::Of(number) = of else { return Place::Secret };
        // Behind the last position that the schema has a word for all are alike.
        let item = item.min(self.marks.positions());
        if let Some(known) = self.items.get(&(number, item)) {
            return *known;
        }
        let place = self.step(number, &Step::Item(item));
        self.items.insert((number, item), place);
        place
    }

    fn step(&mut self, number: usize, step: &Step<'_>) -> Place {
        let Some(parts) = self.parts.get(number).map(Rc::clone) else { return Place::Secret };
        let parts = self.marks.step(&parts, step, &mut self.left);
        self.place(parts)
    }

    /// `None`: the work is used up.
    fn place(&mut self, parts: Option<Vec<usize>>) -> Place {
        let Some(parts) = parts else { return Place::Secret };
        if self.marks.is_secret(&parts) {
            return Place::Secret;
        }
        let next = self.parts.len();
        let number = *self.numbers.entry(parts.into()).or_insert_with_key(|parts| {
            self.parts.push(Rc::clone(parts));
            next
        });
        Place::Of(number)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::super::Schema;
    use super::*;
    use std::fmt::Write as _;

    /// A schema whose items are of so many branches, which all lead to one secret.
    fn wide(branches: usize) -> Schema {
        let mut all = String::new();
        for n in 0..branches {
            let comma = if n == 0 { "" } else { "," };
            write!(all, r##"{comma}{{"$ref":"#/$defs/a"}}"##).unwrap();
        }
        let text = format!(
            r##"{{"type":"object","properties":{{"list":{{"items":{{"anyOf":[{all}]}}}}}},"$defs":{{"a":{{"properties":{{"p":{{"writeOnly":true}}}}}}}}}}"##
        );
        Schema::compile(&text).unwrap()
    }

    #[test]
    fn an_item_costs_the_schema_once_however_many_there_are() {
        let schema = wide(1000);
        let mut places = Places::new(schema.secrets.as_ref().unwrap());
        let top = places.top();
        let list = places.member(top, "list");
        let first = places.item(list, 0);
        let left = places.left;
        for item in 1..131_072 {
            assert_eq!(places.item(list, item), first);
        }
        assert_eq!(places.left, left);
        // Nor do members of the same name.
        assert_eq!(places.member(first, "p"), Place::Secret);
        let inner = places.member(first, "q");
        let left = places.left;
        for _ in 0..131_072 {
            assert_eq!(places.member(first, "q"), inner);
        }
        assert_eq!(places.left, left);
    }

    #[test]
    fn names_that_are_all_different_are_secret_once_the_work_is_used_up() {
        let schema = wide(1000);
        let mut places = Places::new(schema.secrets.as_ref().unwrap());
        let top = places.top();
        let list = places.member(top, "list");
        let item = places.item(list, 0);
        assert!(matches!(places.member(item, "n"), Place::Of(_)));
        let secret = (0..131_072).find(|n| places.member(item, &format!("n{n}")) == Place::Secret).unwrap();
        assert!(secret > 500, "{secret}");
        assert_eq!(places.left, 0);
        assert_eq!(places.member(item, "another"), Place::Secret);
        // What is known stays known.
        assert!(matches!(places.member(item, "n"), Place::Of(_)));
        assert!(places.remembered <= MEMBERS);
    }
}
