//! The lines of a file, one at a time and never more of one than a row can have, whatever is in the file.

use super::file;
use super::line::MAX_LINE;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A line and where it begins.
pub(super) struct Line {
    /// 1 for the first.
    pub(super) number: u64,
    pub(super) offset: u64,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// Without its end.
    Whole(Vec<u8>),
    /// The last one, whose end is missing.
    Torn,
    /// Longer than any row: it was passed over.
    Long,
}

/// A file that is read line by line.
pub(super) struct Lines {
    reader: BufReader<File>,
    number: u64,
    offset: u64,
}

impl Lines {
    /// Opens a file; nothing else is opened, and no link is followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
        }
        Ok(Self { reader: BufReader::new(file), number: 0, offset: 0 })
    }

    /// The next line. None: there is no more.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        let limit = MAX_LINE as u64 + 1;
        let mut read = (&mut self.reader).take(limit).read_until(b'\n', &mut bytes)? as u64;
        if read == 0 {
            return Ok(None);
        }
        let content = if bytes.pop_if(|last| *last == b'\n').is_some() {
            Content::Whole(bytes)
        } else if read < limit {
            Content::Torn
        } else {
            read += self.skip()?;
            Content::Long
        };
        self.number += 1;
        let line = Line { number: self.number, offset: self.offset, content };
        self.offset += read;
        Ok(Some(line))
    }

    /// Passes over the rest of a line; how many bytes that was.
    fn skip(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(skipped);
            }
            let end = buffer.iter().position(|b| *b == b'\n');
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.reader.consume(used);
            skipped += used as u64;
            if end.is_some() {
                return Ok(skipped);
            }
        }
    }
}

/// The audit files of a folder, in order of process and part, and the names of whatever else is in it.
pub(super) fn names(dir: &Path) -> io::Result<(Vec<String>, Vec<String>)> {
    let (mut files, mut others) = (Vec::new(), Vec::new());
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((files, others)),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if file::is_name(&name) { files.push(name) } else { others.push(name) }
    }
    files.sort_by(|one, other| file::order(one).cmp(&file::order(other)));
    others.sort();
    Ok((files, others))
}
