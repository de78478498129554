//! The file: what is in it and how a connection to it is set up. A file that is not ours, or newer than this program, is
//! left as it is.

use crate::{Error, ErrorKind};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::{Duration, Instant};

/// "cfoi": tells the file apart from other programs' SQLite files.
const APPLICATION: i32 = 0x6366_6f69;
/// Goes up with each change of `TABLES`; older files are brought up to it step by step.
const VERSION: i32 = 3;
/// How long a connection waits for another process's transaction: these take milliseconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long after a failure that SQLite does not wait for.
const AGAIN: Duration = Duration::from_millis(2);
/// More than there are statements.
const STATEMENTS: usize = 32;

/// States: 0 pending, 1 in flight, 2 completed, 3 declined, 4 settled. Each index serves one function and holds only the
/// rows that it asks about. The body comes last: what does not read it does not load it.
const TABLES: &str = "
    CREATE TABLE confirmation (
        key BLOB NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        state INTEGER NOT NULL,
        owner TEXT NOT NULL,
        approval_id TEXT NOT NULL UNIQUE,
        binding BLOB NOT NULL,
        issued INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        until INTEGER NOT NULL,
        purge_after INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX one_in_flight ON confirmation (binding) WHERE state = 1;
    CREATE INDEX ended ON confirmation (binding, changed, key) WHERE state >= 2;
    CREATE INDEX by_state ON confirmation (state, issued, approval_id);
    CREATE INDEX purgeable ON confirmation (purge_after) WHERE state <> 1;
    CREATE INDEX pending ON confirmation (until) WHERE state = 0;
    CREATE INDEX pending_of ON confirmation (owner, until) WHERE state = 0;
";

/// Since version 2: how many rows are pending by the minute in which they expire, so that the room for all is seen without
/// walking over a million of them. The file keeps the count itself, whoever writes.
const TALLY: &str = "
    CREATE TABLE tally (minute INTEGER NOT NULL PRIMARY KEY, pending INTEGER NOT NULL) STRICT;
    INSERT INTO tally SELECT until / 60000, count(*) FROM confirmation WHERE state = 0 GROUP BY 1;
    CREATE TRIGGER tally_insert AFTER INSERT ON confirmation WHEN new.state = 0 BEGIN
        INSERT INTO tally VALUES (new.until / 60000, 1) ON CONFLICT DO UPDATE SET pending = pending + 1;
    END;
    CREATE TRIGGER tally_update_new AFTER UPDATE ON confirmation WHEN new.state = 0 BEGIN
        INSERT INTO tally VALUES (new.until / 60000, 1) ON CONFLICT DO UPDATE SET pending = pending + 1;
    END;
    CREATE TRIGGER tally_update_old AFTER UPDATE ON confirmation WHEN old.state = 0 BEGIN
        UPDATE tally SET pending = pending - 1 WHERE minute = old.until / 60000;
        DELETE FROM tally WHERE minute = old.until / 60000 AND pending = 0;
    END;
    CREATE TRIGGER tally_delete AFTER DELETE ON confirmation WHEN old.state = 0 BEGIN
        UPDATE tally SET pending = pending - 1 WHERE minute = old.until / 60000;
        DELETE FROM tally WHERE minute = old.until / 60000 AND pending = 0;
    END;
";

/// Since version 3: what budgets count.
const ACCOUNTS: &str = "
    CREATE TABLE account (
        id BLOB NOT NULL,
        slot INTEGER NOT NULL,
        amount INTEGER NOT NULL CHECK (amount >= 0),
        purge_after INTEGER NOT NULL,
        PRIMARY KEY (id, slot)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX account_due ON account (purge_after);
";

/// An error about the file at a path.
pub(super) fn failed(path: &Path, error: &dyn std::error::Error) -> Error {
    Error::new(ErrorKind::Store, format!("the store {} cannot be opened: {error}", path.display()))
}

/// Refuses a file that is something else, before anything of it is changed: its mode, its journal, its first page.
pub(super) fn is_ours(path: &Path) -> Result<(), Error> {
    if !std::fs::metadata(path).is_ok_and(|found| found.len() > 0) {
        return Ok(());
    }
    let look = |access| -> rusqlite::Result<Result<i32, Error>> {
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        // All of it at one moment: another process may be making the file.
        known(&*connection.unchecked_transaction()?, path)
    };
    let looked = match patiently(|| look(OpenFlags::SQLITE_OPEN_READ_ONLY)) {
        // A process died within a transaction, as one that was making the file: nobody can read it before that is rolled back,
        // which whoever opens it next may do, and which writes nothing else.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
            patiently(|| look(OpenFlags::SQLITE_OPEN_READ_WRITE))
        }
        looked => looked,
    };
    looked.map_err(|e| failed(path, &e))?.map(|_| ())
}

/// Does something again while another process has the file. SQLite waits by itself, but not where two that wait could be
/// waiting for each other, as when both make a new file's journal: there it fails at once.
fn patiently<T>(work: impl Fn() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        match work() {
            Err(error) if is_busy(&error) && Instant::now() < end => std::thread::sleep(AGAIN),
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// A connection to a file that is a store of this version afterwards.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    let mut connection = connect(path).map_err(|e| failed(path, &e))?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|e| failed(path, &e))?;
    let version = known(&transaction, path).map_err(|e| failed(path, &e))??;
    let raise = || {
        if version < 1 {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
        }
        if version < 2 {
            transaction.execute_batch(TALLY)?;
        }
        if version < 3 {
            transaction.execute_batch(ACCOUNTS)?;
        }
        if version < VERSION { transaction.pragma_update(None, "user_version", VERSION) } else { Ok(()) }
    };
    raise().map_err(|e| failed(path, &e))?;
    transaction.commit().map_err(|e| failed(path, &e))?;
    Ok(connection)
}

/// The version of the store in a file, this one or an older one; 0: nothing is in it yet. To be asked in a transaction.
pub(super) fn known(connection: &Connection, path: &Path) -> rusqlite::Result<Result<i32, Error>> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(match (pragma("application_id")?, pragma("user_version")?, tables) {
        (0, 0, 0) => Ok(0),
        (APPLICATION, version @ 1..=VERSION, _) => Ok(version),
        (APPLICATION, version, _) if version > VERSION => {
            let what = format!(
                "the store {} has version {version} and this program knows {VERSION}: use the newer program that wrote it",
                path.display()
            );
            Err(Error::new(ErrorKind::Store, what))
        }
        _ => {
            let what = format!("{} is another program's database: give the store a path of its own", path.display());
            Err(Error::new(ErrorKind::Store, what))
        }
    })
}

/// A connection as every thread and process sets it up.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Readers and a writer do not wait for each other, and a commit is on the disk when it returns.
    patiently(|| connection.pragma_update(None, "journal_mode", "WAL"))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // What a sweep drops may hold secrets: it is overwritten, not only forgotten.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}
