//! What can be found in the files of a folder: faults, which are signs of damage or tampering, and remarks, which are none.
//! Each kind is listed so often and then counted.

use super::ways::Astray;
use std::path::PathBuf;

/// How many findings of each kind are listed; the rest is counted.
const MOST: usize = 1_000;

/// What is there that must not be, or is not there that must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file cannot be read.
    Unreadable(String),
    /// Others may write it, file or folder, and may have.
    OpenToOthers,
    /// A line is no row.
    BadRow(&'static str),
    /// The first row does not open this file.
    NotOpened(&'static str),
    /// The first row is of a file of another name.
    OtherFile,
    /// The number does not follow on that of the line before.
    Sequence {
        /// What should have been there.
        expected: u64,
        /// What is.
        found: u64,
    },
    /// The hash is not that of the line before.
    Chain,
    /// The file goes on from another that ends differently.
    Previous,
    /// The checkpoint knows of later rows.
    Cut {
        /// The last row that the checkpoint knows of.
        known: u64,
        /// The last that is there.
        last: u64,
    },
    /// The row that the checkpoint knows of is not there, or is another one.
    Replaced {
        /// Its number.
        known: u64,
    },
    /// A checkpoint of a file that was ended knows less than it did then.
    PutBack {
        /// The place that it is in.
        place: PathBuf,
        /// The last row that it knows of.
        known: u64,
        /// The last of the file.
        last: u64,
    },
    /// The checkpoint knows of a file that is not there.
    Missing {
        /// The last row that the checkpoint knows of.
        known: u64,
    },
    /// Something is behind the row that ends the file.
    Behind,
    /// There is no checkpoint for the file.
    NoCheckpoint {
        /// The place that should have one.
        place: PathBuf,
    },
    /// A further place, which is named instead of a file, has no checkpoint at all.
    EmptyPlace,
    /// A path, which is named instead of a file, leads to the folder, and led to another one.
    Astray(Astray),
    /// A note of where the folder was, which is named instead of a file, cannot be used.
    BadNote,
    /// The checkpoint cannot be read.
    BadCheckpoint(&'static str),
}

/// What is worth telling and no sign of tampering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The last line has no end.
    Torn,
    /// The file is empty.
    Empty,
    /// A run, or a settling, that began and of which no end is recorded.
    NoEnd {
        /// The tool.
        tool: String,
        /// The confirmation, where there was one.
        approval_id: Option<String>,
    },
    /// So many rows are behind the last checkpoint.
    Uncovered(u64),
    /// It was begun, and nothing of it came to the disk.
    Begun,
    /// The file before it is not in the folder.
    PreviousElsewhere(String),
    /// Not a file of the audit: it was not looked at.
    Stranger,
    /// Others may read the file.
    Readable,
}

/// One finding and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<What> {
    /// The file's name; a folder's where it is about one.
    pub file: String,
    /// The line, where it is about one.
    pub line: Option<u64>,
    /// What was found.
    pub what: What,
}

/// A file that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its name.
    pub file: String,
    /// How many rows it has.
    pub rows: u64,
    /// The times of the first and the last.
    pub span: Option<(String, String)>,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The files, oldest first.
    pub files: Vec<Checked>,
    /// Signs of damage or tampering.
    pub faults: Vec<Finding<Fault>>,
    /// What is no such sign.
    pub remarks: Vec<Finding<Remark>>,
    /// How many findings are not listed.
    pub left_out: u64,
}

impl Findings {
    /// Whether every file is what was written, as far as the checkpoints reach.
    pub fn is_whole(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn fault(&mut self, file: &str, line: Option<u64>, what: Fault) {
        match self.faults.len() < MOST {
            true => self.faults.push(Finding { file: file.to_owned(), line, what }),
            false => self.left_out += 1,
        }
    }

    pub(super) fn remark(&mut self, file: &str, line: Option<u64>, what: Remark) {
        match self.remarks.len() < MOST {
            true => self.remarks.push(Finding { file: file.to_owned(), line, what }),
            false => self.left_out += 1,
        }
    }
}
