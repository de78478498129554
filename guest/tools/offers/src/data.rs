//! The data file: read whole, believed once every known member of every record is what its kind asks for, and written
//! whole: beside the old file, to the disk, and then in its place in one step.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::json::{Json, Members};
use crate::kinds::{self, Kind};
use crate::shown::hex;
use crate::text::digest;
use crate::what::MAX_ID;
use crate::{failed_before, left_over, refused};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Write};

/// The directory that the operator grants.
pub const DIRECTORY: &str = "/data";
const NAME: &str = "offers.json";
/// How the file is called in what agents and operators read.
const PATH: &str = "/data/offers.json";

/// Largest data file: each call reads it whole.
const MAX_BYTES: usize = 4 << 20;

/// The version of the layout that this code knows.
const FORMAT: u64 = 1;

/// The next id of each collection: what keeps the id of something deleted from being given again.
const NEXT_IDS: &str = "next_ids";

pub struct Data {
    directory: String,
    root: Json,
    /// SHA-256 of the file as read.
    seen: [u8; 32],
}

impl Data {
    pub fn load(directory: &str) -> Result<Self, ToolError> {
        let path = format!("{directory}/{NAME}");
        let found = fs::symlink_metadata(&path).map_err(unreadable)?;
        if !found.is_file() {
            return Err(refused(format!("{PATH} is not an ordinary file: the operator puts one there")));
        }
        if found.len() > MAX_BYTES as u64 {
            return Err(too_large(found.len() as usize));
        }
        let bytes = fs::read(&path).map_err(unreadable)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| damaged(&error.to_string()))?;
        let root = Json::parse(text).map_err(|error| damaged(&error))?;
        let data = Self { directory: directory.to_owned(), root, seen: Sha256::digest(&bytes).into() };
        data.check().map_err(|what| damaged(&what))?;
        Ok(data)
    }

    fn check(&self) -> Result<(), String> {
        if self.root.get("format").and_then(Json::as_whole) != Some(FORMAT) {
            return Err(format!("its member \"format\" is not {FORMAT}"));
        }
        let sign = |text: &str| (1..=4).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if !self.root.get("currency").is_none_or(|currency| currency.as_text().is_some_and(sign)) {
            return Err("its member \"currency\" is not a text of one to four characters".to_owned());
        }
        let numbered =
            |next: &Json| matches!(next, Json::Object(next) if next.iter().all(|(_, id)| id.as_whole().is_some()));
        if !self.root.get(NEXT_IDS).is_none_or(numbered) {
            return Err(format!("its member \"{NEXT_IDS}\" is not an object of whole numbers"));
        }
        kinds::ALL.into_iter().try_for_each(|kind| self.check_collection(kind))
    }

    fn check_collection(&self, kind: &Kind) -> Result<(), String> {
        let records = match self.root.get(kind.collection) {
            None => return Ok(()),
            Some(Json::List(records)) => records,
            Some(_) => return Err(format!("its member \"{}\" is not a list", kind.collection)),
        };
        let mut ids = Vec::with_capacity(records.len());
        for (at, record) in records.iter().enumerate() {
            let id = id(record).filter(|id| (1..=MAX_ID).contains(id));
            let id = id.ok_or_else(|| format!("in \"{}\", entry {at} has no id", kind.collection))?;
            kinds::check(kind.fields, record).map_err(|what| format!("{} #{id}: {what}", kind.one))?;
            ids.push(id);
        }
        ids.sort_unstable();
        match ids.windows(2).find_map(|pair| (pair.first() == pair.last()).then(|| pair.first().copied())).flatten() {
            Some(id) => Err(format!("there are two {}s #{id}", kind.one)),
            None => Ok(()),
        }
    }

    /// What stands before amounts.
    pub fn currency(&self) -> &str {
        self.root.get("currency").and_then(Json::as_text).unwrap_or("$")
    }

    pub fn records(&self, kind: &Kind) -> &[Json] {
        self.root.get(kind.collection).map_or(&[], Json::items)
    }

    pub fn find(&self, kind: &Kind, wanted: u64) -> Option<&Json> {
        self.records(kind).iter().find(|record| id(record) == Some(wanted))
    }

    pub fn find_mut(&mut self, kind: &Kind, wanted: u64) -> Option<&mut Json> {
        match self.root.get_mut(kind.collection) {
            Some(Json::List(records)) => records.iter_mut().find(|record| id(record) == Some(wanted)),
            _ => None,
        }
    }

    /// Adds a record under an id that none has had, and returns it with that id.
    pub fn add(&mut self, kind: &Kind, members: Members) -> Result<Json, ToolError> {
        let id = self.next(kind);
        if id > MAX_ID {
            return Err(refused(format!("there is no id left for another {}", kind.one)));
        }
        self.reserve(kind, id + 1);
        let mut record = Json::object([("id", Json::whole(id))]);
        members.into_iter().for_each(|(name, value)| record.set(&name, value));
        self.root.change(kind.collection, Json::List(Vec::new()), |list| list.push(record.clone()));
        Ok(record)
    }

    /// Removes a record; its id stays taken.
    pub fn remove(&mut self, kind: &Kind, gone: u64) {
        let next = self.next(kind);
        self.reserve(kind, next);
        if let Some(Json::List(records)) = self.root.get_mut(kind.collection) {
            records.retain(|record| id(record) != Some(gone));
        }
    }

    fn next(&self, kind: &Kind) -> u64 {
        let counter = self.root.get(NEXT_IDS).and_then(|next| next.get(kind.collection)).and_then(Json::as_whole);
        let greatest = self.records(kind).iter().filter_map(id).max().unwrap_or(0);
        counter.unwrap_or(1).max(greatest + 1)
    }

    fn reserve(&mut self, kind: &Kind, next: u64) {
        self.root.change(NEXT_IDS, Json::Object(Vec::new()), |ids| ids.set(kind.collection, Json::whole(next)));
    }

    /// Puts the data in the place of what was read, unless that is no longer what is there. What is left is the moment
    /// between that look and the step that follows it.
    pub fn save(&self, operation: &str) -> Result<(), ToolError> {
        let text = self.root.pretty();
        if text.len() > MAX_BYTES {
            return Err(too_large(text.len()));
        }
        let (directory, mark) = (&self.directory, hex(&digest([operation])));
        let (path, beside) =
            (format!("{directory}/{NAME}"), format!("{directory}/.offers-{}.tmp", mark.get(..16).unwrap_or_default()));
        let file = File::create_new(&beside).map_err(unwritable)?;
        fill(file, &text).map_err(|error| take_back(&beside, unwritable(error)))?;
        let now = fs::read(&path).map(|bytes| Sha256::digest(bytes).into());
        if now.ok() != Some(self.seen) {
            let text = format!("something else changed {PATH} at the same time, and nothing was written: try again");
            return Err(take_back(&beside, refused(text)));
        }
        fs::rename(&beside, &path).map_err(|error| take_back(&beside, unwritable(error)))?;
        // The new name too. Not every file system can: then the file is whole, if perhaps the old one, after a power cut.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

pub fn id(record: &Json) -> Option<u64> {
    record.get("id").and_then(Json::as_whole)
}

fn fill(mut file: File, text: &str) -> std::io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn take_back(beside: &str, error: ToolError) -> ToolError {
    match fs::remove_file(beside) {
        Ok(()) => error,
        Err(_) => left_over(format!("{PATH} is as it was, and {beside} is left beside it: the operator deletes it")),
    }
}

fn unreadable(error: Error) -> ToolError {
    match error.kind() {
        ErrorKind::NotFound => refused(format!(
            "there is no {PATH}: the operator grants this plug-in a directory as {DIRECTORY} with a file offers.json in it"
        )),
        ErrorKind::PermissionDenied => {
            refused(format!("{PATH} may not be read: the operator looks at its permissions"))
        }
        _ => failed_before(format!("{PATH} cannot be read: {error}")),
    }
}

fn unwritable(error: Error) -> ToolError {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            refused(format!("{DIRECTORY} may not be written to: the operator grants it with access = \"read-write\""))
        }
        _ => failed_before(format!("{PATH} is as it was; it cannot be written: {error}")),
    }
}

fn too_large(bytes: usize) -> ToolError {
    refused(format!(
        "{PATH} has or would have {bytes} bytes, and the most is {MAX_BYTES}: the operator takes old records out"
    ))
}

/// The words of a problem with the data itself.
pub fn damaged(what: &str) -> ToolError {
    refused(format!(
        "{PATH} is damaged and nothing is done with it: {what}; the operator repairs it or puts a copy back"
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kinds::OFFERS;

    const TEXT: &str = r#"{"format":1,"offers":[{"id":1,"name":"A","status":"active","payout":"1.00"}]}"#;

    /// A directory with the data, and the data.
    fn data(text: &str) -> (tempfile::TempDir, Data) {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(NAME), text).unwrap();
        let data = Data::load(directory.path().to_str().unwrap()).unwrap();
        (directory, data)
    }

    fn names(directory: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn what_another_wrote_in_the_meantime_is_not_overwritten() {
        let (directory, mut data) = data(TEXT);
        data.find_mut(&OFFERS, 1).unwrap().set("payout", Json::text("2.00"));
        let other = TEXT.replace("1.00", "3.00");
        fs::write(directory.path().join(NAME), &other).unwrap();
        assert!(matches!(data.save("op"), Err(ToolError::Refused(text)) if text.contains("try again")));
        assert_eq!(fs::read_to_string(directory.path().join(NAME)).unwrap(), other);
        fs::remove_file(directory.path().join(NAME)).unwrap();
        assert!(data.save("op").is_err());
        assert!(names(&directory).is_empty());
    }

    #[test]
    fn it_is_written_whole_and_read_again() {
        let (directory, mut data) = data(TEXT);
        data.find_mut(&OFFERS, 1).unwrap().set("payout", Json::text("2.00"));
        data.save("op").unwrap();
        assert_eq!(names(&directory), [NAME]);
        let again = Data::load(directory.path().to_str().unwrap()).unwrap();
        assert_eq!(again.find(&OFFERS, 1).unwrap().get("payout"), Some(&Json::text("2.00")));
        // What was read is no longer what is there.
        assert!(data.save("op").is_err());
    }

    #[test]
    fn ids_go_up_and_are_never_given_twice() {
        let (_directory, mut data) = data(TEXT);
        let add = |data: &mut Data| id(&data.add(&OFFERS, Vec::new()).unwrap()).unwrap();
        assert_eq!(add(&mut data), 2);
        data.remove(&OFFERS, 2);
        assert_eq!(add(&mut data), 3);
        data.root.change(NEXT_IDS, Json::Null, |ids| ids.set(OFFERS.collection, Json::whole(MAX_ID + 1)));
        assert!(matches!(data.add(&OFFERS, Vec::new()), Err(ToolError::Refused(_))));
    }
}
