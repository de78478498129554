//! Which places of a value a schema marks as secret: `writeOnly`, or the format `password`. Where a schema leaves it open
//! which of its parts apply to a place, all of them do: in doubt a place is secret.

use super::super::shape::{LISTS, MAPS, SAME, referred};
use jsonschema::Validator;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The parts of a schema by which secrets can be reached, and how they lead to each other.
pub(in crate::schema) struct Marks {
    nodes: Vec<Node>,
    /// Every name that the schema has under `properties`, wherever: whoever is shown the schema knows it.
    names: HashSet<String>,
    /// The most positions that any part has a word for.
    positions: usize,
}

/// How one gets from a place to one below it.
pub(super) enum Step<'a> {
    /// To the member of this name.
    Member(&'a str),
    /// To the item of this number.
    Item(usize),
}

/// Longest name that patterns are tried on, in bytes: of a longer one it is left open.
const NAME: usize = 256;

/// One object of the schema.
#[derive(Default)]
struct Node {
    secret: bool,
    /// Parts that apply to the same place.
    same: Vec<usize>,
    /// If a secret is anywhere in these the whole place is one: they speak of names, or of what a string contains.
    whole: Vec<usize>,
    /// `None`: no secret there, and `additionalProperties` does not apply.
    properties: HashMap<String, Option<usize>>,
    /// `None` in the first place: too heavy to be tried here, so it is left open.
    patterns: Vec<(Option<Validator>, Option<usize>)>,
    additional: Option<usize>,
    /// Members, whatever their name.
    members: Vec<usize>,
    /// Items by their position.
    positions: Vec<Option<usize>>,
    /// Items, wherever they are.
    items: Vec<usize>,
}

impl Marks {
    /// Of a schema that compiled. `None`: it marks nothing.
    pub(super) fn of(schema: &Value, pattern: impl Fn(&str) -> Option<Validator>) -> Option<Self> {
        let mut survey = Survey { root: schema, index: HashMap::new(), found: Vec::new() };
        survey.part(schema)?;
        let mut nodes = Vec::new();
        while let Some(entries) = survey.found.get(nodes.len()).copied() {
            let node = survey.node(entries, &pattern);
            nodes.push(node);
        }
        let positions = nodes.iter().map(|node| node.positions.len()).max().unwrap_or(0);
        let names = nodes.iter().flat_map(|node| node.properties.keys().cloned()).collect();
        let mut marks = Self { nodes, names, positions };
        let reaching = marks.reaching();
        marks.prune(&reaching);
        reaching.contains(&TOP).then_some(marks)
    }

    /// What applies to the whole value. Here and below `left` is what may still be looked at, and `None` says that nothing is.
    pub(super) fn top(&self, left: &mut usize) -> Option<Vec<usize>> {
        self.all(vec![TOP], left)
    }

    /// Whether one of these parts says that all of the place is secret.
    pub(super) fn is_secret(&self, parts: &[usize]) -> bool {
        self.at(parts).any(|node| node.secret)
    }

    /// Whether the schema itself has this name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// From which item on all are alike.
    pub(super) fn positions(&self) -> usize {
        self.positions
    }

    /// What applies one step below a place where these parts apply.
    pub(super) fn step(&self, parts: &[usize], step: &Step<'_>, left: &mut usize) -> Option<Vec<usize>> {
        let mut below = Vec::new();
        for node in self.at(parts) {
            match step {
                Step::Member(name) => node.member(name, &mut below, left)?,
                Step::Item(number) => {
                    spend(left, 1 + node.items.len())?;
                    below.extend(node.positions.get(*number).copied().flatten());
                    below.extend(&node.items);
                }
            }
        }
        self.all(below, left)
    }

    fn at<'a>(&'a self, parts: &'a [usize]) -> impl Iterator<Item = &'a Node> {
        parts.iter().filter_map(|part| self.nodes.get(*part))
    }

    /// These parts and all that apply with them, in order.
    fn all(&self, mut next: Vec<usize>, left: &mut usize) -> Option<Vec<usize>> {
        let mut all = BTreeSet::new();
        while let Some(part) = next.pop() {
            spend(left, 1)?;
            if all.insert(part) {
                next.extend(self.nodes.get(part).into_iter().flat_map(|node| &node.same));
            }
        }
        Some(all.into_iter().collect())
    }

    /// The parts from which a secret can be reached.
    fn reaching(&self) -> BTreeSet<usize> {
        let mut above: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut next = Vec::new();
        for (part, node) in self.nodes.iter().enumerate() {
            node.below().for_each(|below| above.entry(below).or_default().push(part));
            if node.secret {
                next.push(part);
            }
        }
        let mut reaching = BTreeSet::new();
        while let Some(part) = next.pop() {
            if reaching.insert(part) {
                next.extend(above.get(&part).into_iter().flatten());
            }
        }
        reaching
    }

    /// Lets go of what leads to no secret.
    fn prune(&mut self, reaching: &BTreeSet<usize>) {
        let leads = |part: &usize| reaching.contains(part);
        for node in &mut self.nodes {
            node.secret |= node.whole.iter().any(leads);
            for list in [&mut node.same, &mut node.members, &mut node.items] {
                list.retain(leads);
            }
            let options = node.properties.values_mut().chain(node.patterns.iter_mut().map(|(_, part)| part));
            options.chain(&mut node.positions).for_each(|part| *part = part.filter(leads));
            node.additional = node.additional.filter(leads);
        }
    }
}

/// The first part is the whole schema.
const TOP: usize = 0;

/// Takes so much of what is left; all of it where that is too little.
fn spend(left: &mut usize, work: usize) -> Option<()> {
    let rest = left.checked_sub(work);
    *left = rest.unwrap_or(0);
    rest.map(|_| ())
}

impl Node {
    fn member(&self, name: &str, below: &mut Vec<usize>, left: &mut usize) -> Option<()> {
        spend(left, 1 + self.members.len())?;
        let property = self.properties.get(name);
        below.extend(property.copied().flatten());
        let mut known = property.is_some();
        for (pattern, part) in &self.patterns {
            let matches = match pattern {
                Some(pattern) if name.len() <= NAME => {
                    spend(left, 16 + name.len())?;
                    let matches = pattern.is_valid(&Value::from(name));
                    known |= matches;
                    matches
                }
                // Both may be: what the pattern leads to, and what is for names that are not known.
                _ => true,
            };
            if matches {
                below.extend(*part);
            }
        }
        if !known {
            below.extend(self.additional);
        }
        below.extend(&self.members);
        Some(())
    }

    fn below(&self) -> impl Iterator<Item = usize> {
        let options = self.properties.values().chain(self.patterns.iter().map(|(_, part)| part));
        let options = options.chain(&self.positions).chain([&self.additional]).filter_map(|part| *part);
        options.chain([&self.same, &self.whole, &self.members, &self.items].into_iter().flatten().copied())
    }
}

struct Survey<'a> {
    root: &'a Value,
    /// By the address of the part in the tree.
    index: HashMap<*const Value, usize>,
    found: Vec<&'a Map<String, Value>>,
}

impl<'a> Survey<'a> {
    /// The number of a part; `None` where it is no object and so marks nothing.
    fn part(&mut self, schema: &'a Value) -> Option<usize> {
        let entries = schema.as_object()?;
        let number = *self.index.entry(std::ptr::from_ref(schema)).or_insert(self.found.len());
        if number == self.found.len() {
            self.found.push(entries);
        }
        Some(number)
    }

    fn parts(&mut self, schemas: impl IntoIterator<Item = &'a Value>) -> Vec<usize> {
        schemas.into_iter().filter_map(|schema| self.part(schema)).collect()
    }

    fn node(&mut self, entries: &'a Map<String, Value>, pattern: impl Fn(&str) -> Option<Validator>) -> Node {
        let of = |keys: &[&str]| keys.iter().filter_map(|key| entries.get(*key)).collect::<Vec<_>>();
        let map = |key: &str| entries.get(key).and_then(Value::as_object);
        let write_only = entries.get("writeOnly").is_some_and(|value| value != &Value::Bool(false));
        let format = entries.get("format").and_then(Value::as_str);

        let mut same = self.parts(of(&SAME));
        same.extend(self.parts(LISTS.iter().filter_map(|key| entries.get(*key)?.as_array()).flatten()));
        same.extend(self.parts(MAPS.iter().filter_map(|key| map(key)).flat_map(Map::values)));
        let target = entries.get("$ref").and_then(Value::as_str);
        same.extend(target.and_then(|target| referred(self.root, target)).and_then(|part| self.part(part)));

        let positions = ["prefixItems", "items"].iter().filter_map(|key| entries.get(*key)?.as_array()).flatten();
        Node {
            secret: write_only || format.is_some_and(|format| format.eq_ignore_ascii_case("password")),
            same,
            whole: self.parts(of(&["propertyNames", "contentSchema"])),
            properties: (map("properties").into_iter().flatten())
                .map(|(name, schema)| (name.clone(), self.part(schema)))
                .collect(),
            patterns: (map("patternProperties").into_iter().flatten())
                .map(|(name, schema)| (pattern(name), self.part(schema)))
                .collect(),
            additional: entries.get("additionalProperties").and_then(|schema| self.part(schema)),
            members: self.parts(of(&["unevaluatedProperties"])),
            positions: positions.map(|schema| self.part(schema)).collect(),
            items: self.parts(of(&["items", "additionalItems", "unevaluatedItems", "contains"])),
        }
    }
}
