//! Where documents live between calls: `ID.json` in the granted directory, and beside it `ID.DIGEST.png` or `.jpeg` for each
//! image. What is read is checked like what a caller sends: others may write there.
//!
//! That directory is `/documents` where one is granted under this name, else the only granted one, whatever its name.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::document::{Document, Format, Image, digest};
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_IMAGE_BYTES};
use crate::paths::{Place, Roots};
use crate::pdf::Files;
use crate::snapshot::{Children, Found, children, look};
use crate::text::{grouped, quote};
use crate::{invalid, io, keep, refused};
use std::fs::File;
use std::io::Read;

/// What an id begins with, its letters after that, and how many: 80 random bits.
const PREFIX: &str = "doc_";
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const LENGTH: usize = 16;

/// The same as a regular expression, for the schemas.
pub const PATTERN: &str = "^doc_[a-z2-7]{16}$";

/// Files in the directory that are looked through.
const MAX_FILES: usize = 10_000;

pub struct Shelf(Place);

/// A document as read.
#[derive(Debug)]
pub struct Loaded {
    pub document: Document,
    /// Of the bytes of its file.
    pub digest: String,
    pub place: Place,
    pub found: Found,
}

impl Shelf {
    pub fn granted(roots: &Roots) -> Result<Self, ToolError> {
        match roots.several() {
            None => roots.resolve(".").map(Self),
            Some(names) if names.iter().any(|name| name.trim_matches('/') == "documents") => {
                roots.resolve("/documents").map(Self)
            }
            Some(_) => Err(refused(
                "several directories are granted and none as /documents; the operator says in the configuration which one holds the documents",
            )),
        }
    }

    fn document(&self, id: &str) -> Result<Place, ToolError> {
        let letters = id.strip_prefix(PREFIX).unwrap_or_default();
        match letters.len() == LENGTH && letters.bytes().all(|letter| LETTERS.contains(&letter)) {
            true => Ok(self.0.child(&format!("{id}.json"))),
            false => Err(invalid(format!("{} is no document id; create_document returns one", quote(id)))),
        }
    }

    fn image(&self, id: &str, image: &Image) -> Place {
        let mark = image.sha256.get(..32).unwrap_or_default();
        self.0.child(&format!("{id}.{mark}.{}", image.format.name()))
    }

    pub fn load(&self, id: &str) -> Result<Loaded, ToolError> {
        let place = self.document(id)?;
        let found = look(&place)?;
        match found {
            Found::File { .. } => {}
            Found::Absent => {
                return Err(refused(format!(
                    "there is no document {}; list_documents shows those there are",
                    quote(id)
                )));
            }
            other => return Err(refused(format!("{} is a {}, not a document", place.quoted(), other.noun()))),
        }
        let content = read(&place, MAX_DOCUMENT_BYTES)?;
        let document: Document = serde_json::from_slice(&content)
            .map_err(|error| refused(format!("{} is no document of this plug-in: {error}", place.quoted())))?;
        if document.id != id {
            return Err(refused(format!("{} holds another document, {}", place.quoted(), quote(&document.id))));
        }
        document.check()?;
        Ok(Loaded { digest: digest(&content), document, place, found })
    }

    /// Writes a new document.
    pub fn create(&self, document: &Document, operation: &str) -> Result<(), ToolError> {
        keep::create(&self.document(&document.id)?, &bytes(document)?, operation)
    }

    /// Writes a document anew where its file is still what was read.
    pub fn update(&self, loaded: &Loaded, operation: &str) -> Result<(), ToolError> {
        keep::replace(&loaded.place, &loaded.found, &bytes(&loaded.document)?, operation)
    }

    /// Keeps an image of a document; one that is there already stays.
    pub fn add(&self, id: &str, image: &Image, content: &[u8], operation: &str) -> Result<(), ToolError> {
        let place = self.image(id, image);
        match look(&place)? {
            Found::Absent => keep::create(&place, content, operation),
            Found::File { .. } if digest(&read(&place, MAX_IMAGE_BYTES as u64)?) == image.sha256 => Ok(()),
            other => Err(refused(format!("{} is another {}; move it away", place.quoted(), other.noun()))),
        }
    }

    /// The images of a document, each as it was when it was added.
    pub fn images(&self, document: &Document) -> Result<Files, ToolError> {
        let mut files = Files::new();
        for image in document.images() {
            if files.contains_key(&image.sha256) {
                continue;
            }
            let place = self.image(&document.id, image);
            let content = match look(&place)? {
                Found::File { .. } => read(&place, MAX_IMAGE_BYTES as u64)?,
                _ => return Err(refused(format!("the image {} of the document is missing", place.quoted()))),
            };
            if digest(&content) != image.sha256 || content.len() as u64 != image.bytes {
                return Err(refused(format!("the image {} changed since it was added", place.quoted())));
            }
            files.insert(image.sha256.clone(), content);
        }
        Ok(files)
    }

    /// The ids of the documents, sorted, and whether these are all.
    pub fn ids(&self) -> Result<(Vec<String>, bool), ToolError> {
        let Children { names, complete, .. } = children(&self.0, MAX_FILES)?;
        let id = |name: &String| name.strip_suffix(".json").filter(|id| self.document(id).is_ok()).map(str::to_owned);
        Ok((names.iter().filter_map(id).collect(), complete))
    }

    /// The places of a document's images, those that it no longer names included.
    pub fn leftovers(&self, id: &str) -> Result<Vec<Place>, ToolError> {
        let ours = |name: &str| {
            let rest = name.strip_prefix(id).and_then(|rest| rest.strip_prefix('.')).unwrap_or_default();
            let ends = |format: Format| rest.strip_suffix(format.name()).is_some_and(|mark| mark.len() == 33);
            ends(Format::Png) || ends(Format::Jpeg)
        };
        let Children { names, complete, .. } = children(&self.0, MAX_FILES)?;
        if !complete {
            return Err(refused(format!(
                "the directory of the documents holds more than {} files, and images of the document could be missed: the \
                 operator moves some away",
                grouped(MAX_FILES as u64)
            )));
        }
        Ok(names.iter().filter(|name| ours(name)).map(|name| self.0.child(name)).collect())
    }
}

fn bytes(document: &Document) -> Result<Vec<u8>, ToolError> {
    let bytes = document.to_bytes()?;
    match bytes.len() as u64 <= MAX_DOCUMENT_BYTES {
        true => Ok(bytes),
        false => Err(refused("the document is full; begin another document")),
    }
}

/// The content of a file of at most that many bytes.
pub fn read(place: &Place, limit: u64) -> Result<Vec<u8>, ToolError> {
    let mut content = Vec::new();
    File::open(&place.full)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut content))
        .map_err(|error| io(&place.quoted(), &error))?;
    match content.len() as u64 <= limit {
        true => Ok(content),
        false => Err(refused(format!("{} is larger than {}", place.quoted(), crate::text::bytes(limit)))),
    }
}

/// An id from ten random bytes.
pub fn id(random: [u8; 10]) -> String {
    let number = random.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    let letter = |at: usize| LETTERS.get((number >> (5 * at)) as usize & 31).copied().map_or('a', char::from);
    PREFIX.chars().chain((0..LENGTH).map(letter)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn roots(names: &[&str]) -> Roots {
        Roots::new(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn documents_live_in_the_directory_of_that_name_or_in_the_only_one() {
        let id = id([0; 10]);
        let full = |names: &[&str]| Shelf::granted(&roots(names)).and_then(|shelf| shelf.document(&id)).unwrap().full;
        assert_eq!(full(&["/documents"]), format!("/documents/{id}.json"));
        assert_eq!(full(&["/out", "/documents/"]), format!("/documents/{id}.json"));
        assert_eq!(full(&["/var/lib/nextpdf/tmp"]), format!("/var/lib/nextpdf/tmp/{id}.json"));
        assert!(matches!(Shelf::granted(&roots(&["/a", "/b"])), Err(ToolError::Refused(_))));
        assert!(matches!(Shelf::granted(&roots(&[])), Err(ToolError::Refused(_))));
    }

    #[test]
    fn an_id_is_a_safe_name_of_a_file_and_nothing_else_is_an_id() {
        let shelf = Shelf::granted(&roots(&["/documents"])).unwrap();
        assert_eq!(id([0; 10]), "doc_aaaaaaaaaaaaaaaa");
        assert_eq!(id([255; 10]), "doc_7777777777777777");
        assert_ne!(id([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]), id([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
        for name in [
            "",
            "doc_",
            "<id>",
            "../doc_aaaaaaaaaaaaaaaa",
            "doc_aaaaaaaaaaaaaaa1",
            "doc_aaaaaaaaaaaaaaa/",
            "doc_AAAAAAAAAAAAAAAA",
        ] {
            assert!(matches!(shelf.document(name), Err(ToolError::InvalidArguments(_))), "{name}");
        }
    }
}
