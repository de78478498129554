//! Goes through arguments beside the marks of their schema. Copies what is no secret byte for byte: no number is read.

use super::marks::Marks;
use super::places::{Place, Places};
use super::scan::Scan;
use super::{MASK, Masked, Taken};

/// Deepest value that is looked into: the schema check refuses deeper ones.
const DEPTH: usize = 128;

/// An object without its secrets; `None`: it has none.
pub(super) fn masked(marks: &Marks, text: &str) -> Option<Masked> {
    let mut places = Places::new(marks);
    // What is left is an object still: where all of it is secret, each member is taken out by itself.
    let top = places.top();
    let within = Within::Place(top);
    let (masked, taken) = Default::default();
    let mut walk =
        Walk { places, scan: Scan::new(text), copied: 0, masked, taken, whole: top == Place::Secret, told: false };
    walk.scan.space();
    if walk.scan.next() != Some(b'{') || walk.value(within, 0).is_none() || !walk.scan.is_over() {
        // Nobody can tell where the secrets are in what is no object.
        return Some(Masked { arguments: format!("\"{MASK}\""), taken: Taken::new([text.to_owned()]) });
    }
    if walk.told {
        // Other names in their place would not be in order.
        return Some(Masked { arguments: format!("{{\"{MASK}\":\"{MASK}\"}}"), taken: Taken::new(walk.taken) });
    }
    (walk.copied > 0).then(|| {
        walk.masked.push_str(text.get(walk.copied..).unwrap_or_default());
        Masked { arguments: walk.masked, taken: Taken::new(walk.taken) }
    })
}

/// What is known of the members or items of a value.
#[derive(Clone, Copy)]
enum Within {
    /// The schema has a word for each; where the place is secret, each is one by itself.
    Place(Place),
    /// Each is part of one.
    Taken,
}

struct Walk<'a> {
    places: Places<'a>,
    scan: Scan<'a>,
    /// Up to where the text is in `masked` already.
    copied: usize,
    masked: String,
    taken: Vec<String>,
    /// All of it is secret.
    whole: bool,
    /// A name at the top is, too.
    told: bool,
}

impl Walk<'_> {
    /// Passes over one value. Here and below `None` says that the text is no JSON.
    fn value(&mut self, within: Within, depth: usize) -> Option<()> {
        match self.scan.next()? {
            _ if depth > DEPTH => None,
            b'{' => self.each(b'}', |walk, _| {
                let name = walk.scan.string()?;
                walk.name(within, depth, &name);
                walk.scan.space();
                walk.scan.take(b':')?;
                walk.scan.space();
                walk.inner(within, depth, |places, place| places.member(place, &name))
            }),
            b'[' => {
                self.each(b']', |walk, number| walk.inner(within, depth, |places, place| places.item(place, number)))
            }
            b'"' => {
                let string = self.scan.string()?;
                self.keep(within, string);
                Some(())
            }
            _ => {
                let word = self.scan.word()?;
                if !["true", "false", "null"].contains(&word) {
                    self.keep(within, word.to_owned());
                }
                Some(())
            }
        }
    }

    /// The names of what is secret are part of it, but for those that the schema has.
    fn name(&mut self, within: Within, depth: usize, name: &str) {
        let top = depth == 0 && self.whole;
        if (top || matches!(within, Within::Taken)) && !self.places.is_known(name) {
            self.told |= top;
            self.taken.push(name.to_owned());
        }
    }

    fn keep(&mut self, within: Within, value: String) {
        if matches!(within, Within::Taken) {
            self.taken.push(value);
        }
    }

    /// Passes over a member or an item, and takes it out if it is a secret.
    fn inner(
        &mut self,
        within: Within,
        depth: usize,
        step: impl FnOnce(&mut Places<'_>, Place) -> Place,
    ) -> Option<()> {
        let Within::Place(place) = within else { return self.value(Within::Taken, depth + 1) };
        let place = step(&mut self.places, place);
        if place != Place::Secret {
            return self.value(Within::Place(place), depth + 1);
        }
        let start = self.scan.at;
        self.value(Within::Taken, depth + 1)?;
        self.masked.push_str(self.scan.text.get(self.copied..start)?);
        self.masked.push('"');
        self.masked.push_str(MASK);
        self.masked.push('"');
        self.copied = self.scan.at;
        Some(())
    }

    /// Passes over an object or an array.
    fn each(&mut self, end: u8, mut one: impl FnMut(&mut Self, usize) -> Option<()>) -> Option<()> {
        self.scan.at += 1;
        self.scan.space();
        if self.scan.take(end).is_some() {
            return Some(());
        }
        for number in 0.. {
            self.scan.space();
            one(self, number)?;
            self.scan.space();
            if self.scan.take(b',').is_none() {
                break;
            }
        }
        self.scan.take(end)
    }
}
