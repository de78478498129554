//! Which places of a value a schema marks as secret: `writeOnly`, or the format `password`. Where a schema leaves it open
//! which of its parts apply to a place, all of them do: in doubt a place is secret.

use super::super::shape::{LISTS, MAPS, SAME, referred};
use jsonschema::Validator;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};

/// The parts of a schema by which secrets can be reached, and how they lead to each other.
pub(in crate::schema) struct Marks {
    nodes: Vec<Node>,
}

/// The parts that apply to one place of a value.
pub(super) type Place = BTreeSet<usize>;

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
        let mut marks = Self { nodes };
        let reaching = marks.reaching();
        marks.prune(&reaching);
        reaching.contains(&TOP).then_some(marks)
    }

    /// The place of the whole value.
    pub(super) fn top(&self) -> Place {
        self.place([TOP])
    }

    /// Whether everything at a place is secret.
    pub(super) fn is_secret(&self, place: &Place) -> bool {
        self.at(place).any(|node| node.secret)
    }

    /// Where the member of this name is.
    pub(super) fn member(&self, place: &Place, name: &str) -> Place {
        let mut parts = Vec::new();
        for node in self.at(place) {
            let property = node.properties.get(name);
            parts.extend(property.copied().flatten());
            let mut known = property.is_some();
            for (pattern, part) in &node.patterns {
                if pattern.as_ref().is_none_or(|pattern| pattern.is_valid(&Value::from(name))) {
                    known = true;
                    parts.extend(*part);
                }
            }
            if !known {
                parts.extend(node.additional);
            }
            parts.extend(&node.members);
        }
        self.place(parts)
    }

    /// Where the item of this number is.
    pub(super) fn item(&self, place: &Place, number: usize) -> Place {
        let mut parts = Vec::new();
        for node in self.at(place) {
            parts.extend(node.positions.get(number).copied().flatten());
            parts.extend(&node.items);
        }
        self.place(parts)
    }

    fn at<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = &'a Node> {
        place.iter().filter_map(|part| self.nodes.get(*part))
    }

    /// These parts and all that apply with them.
    fn place(&self, parts: impl IntoIterator<Item = usize>) -> Place {
        let mut place = Place::new();
        let mut next: Vec<usize> = parts.into_iter().collect();
        while let Some(part) = next.pop() {
            if place.insert(part) {
                next.extend(self.nodes.get(part).into_iter().flat_map(|node| &node.same));
            }
        }
        place
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

impl Node {
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
