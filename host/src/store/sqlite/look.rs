//! Looks at a store's file without changing it and without keeping anybody waiting: one reader, which writers do not wait
//! for, and only for as long as the caller has patience.

use super::schema;
use crate::Error;
use rusqlite::{Connection, ErrorCode, OpenFlags, params};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What was found in the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Nothing has been put into the file yet, not even tables.
    pub(crate) blank: bool,
    /// What SQLite says is damaged.
    pub(crate) damage: Vec<String>,
    /// The check for damage was not finished in time.
    pub(crate) unfinished: bool,
    /// The rows could not even be counted in time: of what follows nothing is known.
    pub(crate) uncounted: bool,
    /// Runs that started, were not recorded, and whose deadline has passed.
    pub(crate) lost: u64,
    /// Runs that started and may still be running.
    pub(crate) running: u64,
    /// Unspent and unexpired.
    pub(crate) pending: u64,
    /// The owner with the most of them, and how many.
    pub(crate) most: Option<(String, u64)>,
    /// When the newest row was issued, in milliseconds since 1970.
    pub(crate) newest: u64,
}

/// Looks at a store's file at the time `now`.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store): it cannot be read, or is no store of this version.
pub(crate) fn look(path: &Path, now: u64, patience: Duration) -> Result<Look, Error> {
    let read = || -> rusqlite::Result<Result<Look, Error>> {
        // A reader that may not write would leave SQLite's own files behind.
        let flags =
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(patience)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        match schema::known(&*connection.unchecked_transaction()?, path)? {
            Ok(0) => return Ok(Ok(Look { blank: true, ..Look::default() })),
            Ok(_) => {}
            Err(e) => return Ok(Err(e)),
        }
        Ok(Ok(examine(&connection, now, patience)?))
    };
    read().map_err(|e| schema::failed(path, &e))?
}

/// Counts, then looks for damage, both within `patience`.
fn examine(connection: &Connection, now: u64, patience: Duration) -> rusqlite::Result<Look> {
    let mut look = Look::default();
    bounded(connection, patience, |connection| match counts(connection, now, &mut look) {
        Ok(()) => damage(connection, &mut look),
        Err(e) if interrupted(&e) => {
            look = Look { uncounted: true, unfinished: true, ..Look::default() };
            Ok(())
        }
        Err(e) => Err(e),
    })?;
    Ok(look)
}

fn interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

fn counts(connection: &Connection, now: u64, look: &mut Look) -> rusqlite::Result<()> {
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let number = |sql: &str| -> rusqlite::Result<u64> {
        let count = connection.query_row(sql, params![now], |row| row.get::<_, i64>(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    };
    look.lost = number("SELECT count(*) FROM confirmation WHERE state = 1 AND until <= ?1")?;
    look.running = number("SELECT count(*) FROM confirmation WHERE state = 1 AND until > ?1")?;
    look.pending = number("SELECT count(*) FROM confirmation WHERE state = 0 AND until > ?1")?;
    // By state, there is an index whose end has it.
    let newest = "SELECT coalesce(max((SELECT max(issued) FROM confirmation WHERE state = column1)), 0)
        FROM (VALUES (0), (1), (2), (3), (4)) WHERE ?1 IS NOT NULL";
    look.newest = number(newest)?;
    let most = "SELECT owner, count(*) FROM confirmation WHERE state = 0 AND until > ?1
        GROUP BY owner ORDER BY 2 DESC LIMIT 1";
    let mut rows = connection.prepare(most)?;
    let mut rows = rows.query(params![now])?;
    if let Some(row) = rows.next()? {
        look.most = Some((row.get(0)?, u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0)));
    }
    Ok(())
}

fn damage(connection: &Connection, look: &mut Look) -> rusqlite::Result<()> {
    let mut check = connection.prepare("PRAGMA integrity_check(5)")?;
    let mut rows = check.query([])?;
    loop {
        match rows.next() {
            Ok(Some(row)) => match row.get::<_, String>(0)?.as_str() {
                "ok" => {}
                what => look.damage.push(what.to_owned()),
            },
            Ok(None) => return Ok(()),
            Err(e) if interrupted(&e) => {
                look.unfinished = true;
                return Ok(());
            }
            Err(e) => return Err(e),
        }
    }
}

/// How often what goes on after its time is interrupted again.
const AGAIN: Duration = Duration::from_millis(10);

/// Interrupts what takes longer, and whatever is begun after that: an interruption between two statements is none.
fn bounded(
    connection: &Connection,
    patience: Duration,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let interrupt = connection.get_interrupt_handle();
    let (done, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut next = patience;
            while wait.recv_timeout(next) == Err(RecvTimeoutError::Timeout) {
                interrupt.interrupt();
                next = AGAIN;
            }
        });
        let result = work(connection);
        drop(done);
        result
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_takes_too_long_is_interrupted() {
        let connection = Connection::open_in_memory().unwrap();
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
        let ended =
            bounded(&connection, Duration::from_millis(20), |connection| connection.query_row(endless, [], |_| Ok(())));
        assert_eq!(ended.unwrap_err().sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
        bounded(&connection, Duration::from_secs(60), |connection| connection.query_row("SELECT 1", [], |_| Ok(())))
            .unwrap();
        // And so is what comes after it.
        let ended = bounded(&connection, Duration::from_millis(20), |connection| {
            let _ = connection.query_row(endless, [], |_| Ok(()));
            connection.query_row(endless, [], |_| Ok(()))
        });
        assert_eq!(ended.unwrap_err().sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
    }

    #[test]
    fn a_store_with_more_rows_than_can_be_counted_is_left_uncounted() {
        let connection = Connection::open_in_memory().unwrap();
        let rows = |last: &str| {
            let view = format!(
                "DROP VIEW IF EXISTS confirmation;
                CREATE VIEW confirmation AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n {last})
                SELECT 0 AS state, x AS until, x AS issued, 'os:x' AS owner FROM n"
            );
            connection.execute_batch(&view).unwrap();
        };
        rows("");
        let found = examine(&connection, 1, Duration::from_millis(20)).unwrap();
        assert_eq!(found, Look { uncounted: true, unfinished: true, ..Look::default() });
        rows("LIMIT 5");
        let found = examine(&connection, 1, Duration::from_secs(60)).unwrap();
        let most = Some(("os:x".to_owned(), 4));
        assert_eq!(found, Look { pending: 4, newest: 5, most, ..Look::default() });
    }
}
