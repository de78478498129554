//! The store in an SQLite file, which any number of processes of one user may open at once. Every change is one
//! transaction, on disk before it is told; the file is the user's own and closed to others.

mod accounts;
mod columns;
#[cfg(feature = "program")]
mod look;
mod place;
mod schema;

#[cfg(feature = "program")]
pub(crate) use look::look;

use super::{
    Account, Binding, Charge, Charging, Cursor, Entry, Found, Index, Insertion, Key, Replacement, Room, Spent, State,
    Store, Stored, Unavailable,
};
use crate::Error;
use async_trait::async_trait;
use columns::Time;
use place::{identity, place, there};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, ffi, params};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Readers that are kept open while idle.
const READERS: usize = 4;

/// Confirmations in a file.
///
/// Clones share the file. SQLite blocks, so each function runs on a blocking thread; dropping its future does not undo it.
#[derive(Clone)]
pub struct SqliteStore(Arc<File>);

struct File {
    path: PathBuf,
    /// Device and inode of the file that was opened.
    identity: (u64, u64),
    /// One writer of this process at a time: SQLite would make the others poll.
    writer: Mutex<Connection>,
    /// Readers wait for nobody.
    readers: Mutex<Vec<Connection>>,
    /// Rows were due when it was last asked: what has been dropped of them since is still in the log.
    swept: AtomicBool,
}

impl SqliteStore {
    /// Opens the file, or makes it with mode 0600 in a folder that only this user can write (0700 where it is made).
    ///
    /// # Errors
    /// [`ErrorKind::Store`](crate::ErrorKind::Store): the file or its folder belongs to another user or can be written by
    /// others; it is no store, or a newer version's; it cannot be read or written.
    pub fn open(path: &Path) -> Result<Self, Error> {
        // SQLite makes its own files beside it with the file's mode, even to read it.
        there(path).map_err(|e| schema::failed(path, &e))?;
        schema::is_ours(path)?;
        let path = place(path).map_err(|e| schema::failed(path, &e))?;
        let writer = schema::open(&path)?;
        let identity = identity(&path).map_err(|e| schema::failed(&path, &e))?;
        Ok(Self(Arc::new(File {
            path,
            identity,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            swept: AtomicBool::default(),
        })))
    }

    /// Runs a change in a transaction of its own.
    async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Unavailable> {
        self.blocking(move |file| {
            // A panic leaves no transaction open: it is rolled back when it is dropped.
            let mut writer = file.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = change(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })
        .await
    }

    /// Looks at one state of the file.
    async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Unavailable> {
        self.blocking(move |file| {
            let idle = file.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut reader = match idle {
                Some(reader) => reader,
                None => schema::connect(&file.path)?,
            };
            let value = look(&reader.transaction()?)?;
            let mut readers = file.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.len() < READERS {
                readers.push(reader);
            }
            Ok(value)
        })
        .await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&File) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let file = Arc::clone(&self.0);
        let there = move || match identity(&file.path) {
            Ok(identity) if identity == file.identity => {
                work(&file).map_err(|e| Unavailable(format!("the store's file cannot be used: {e}")))
            }
            // What is written to a file without a name is lost with this process.
            Ok(_) => Err(Unavailable("the store's file was replaced: start this program again".into())),
            Err(e) => Err(Unavailable(format!("the store's file is gone ({e}): start this program again"))),
        };
        match tokio::task::spawn_blocking(there).await {
            Ok(result) => result,
            Err(e) => Err(Unavailable(format!("the store's work was ended: {e}"))),
        }
    }
}

impl File {
    /// Moves the log into the file and leaves nothing in it. While somebody else reads or writes it stays: the next sweep
    /// comes in a minute.
    fn empty_log(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let emptied = writer
            .busy_timeout(Duration::ZERO)
            .and_then(|()| writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0)));
        let restored = writer.busy_timeout(schema::PATIENCE);
        match emptied.and_then(|busy| restored.map(|()| busy)) {
            Ok(false) => {}
            Ok(true) => self.swept.store(true, Ordering::Relaxed),
            Err(error) => tracing::warn!(%error, "the store's log could not be emptied and will be tried again"),
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn insert(&self, key: Key, entry: Entry, room: Room) -> Result<Insertion, Unavailable> {
        super::only_pending(&entry)?;
        self.write(move |t| insert(t, &key, &entry, room)).await
    }

    async fn load(&self, key: Key) -> Result<Option<Stored>, Unavailable> {
        self.read(move |t| {
            let sql =
                "SELECT key, version, state, owner, approval_id, binding, issued, changed, until, purge_after, body
                FROM confirmation WHERE key = ?1";
            t.prepare_cached(sql)?.query_row([key], stored).optional()
        })
        .await
    }

    async fn load_by_approval_id(&self, approval_id: &str) -> Result<Option<Stored>, Unavailable> {
        let approval_id = approval_id.to_owned();
        self.read(move |t| {
            let sql =
                "SELECT key, version, state, owner, approval_id, binding, issued, changed, until, purge_after, body
                FROM confirmation WHERE approval_id = ?1";
            t.prepare_cached(sql)?.query_row([approval_id], stored).optional()
        })
        .await
    }

    async fn replace(&self, key: Key, version: u64, entry: Entry) -> Result<Replacement, Unavailable> {
        self.write(move |t| replace(t, &key, version, &entry)).await
    }

    async fn find(&self, binding: Binding, limit: u32) -> Result<Vec<Found>, Unavailable> {
        self.read(move |t| {
            let in_flight =
                "SELECT key, version, state, owner, approval_id, binding, issued, changed, until, purge_after
                FROM confirmation WHERE binding = ?1 AND state = 1 LIMIT ?2";
            let mut rows: Vec<Found> =
                t.prepare_cached(in_flight)?.query_map(params![binding, limit], found)?.collect::<Result<_, _>>()?;
            let left = limit.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
            let ended = "SELECT key, version, state, owner, approval_id, binding, issued, changed, until, purge_after
                FROM confirmation WHERE binding = ?1 AND state >= 2 ORDER BY changed DESC, key DESC LIMIT ?2";
            for row in t.prepare_cached(ended)?.query_map(params![binding, left], found)? {
                rows.push(row?);
            }
            Ok(rows)
        })
        .await
    }

    async fn list_by_state(&self, state: State, after: Option<Cursor>, limit: u32) -> Result<Vec<Stored>, Unavailable> {
        self.read(move |t| {
            // No approval id is empty, so an empty one at time 0 is before every row.
            let (issued, id) = after.map_or((Time(0), String::new()), |c| (Time(c.issued), c.approval_id));
            let sql =
                "SELECT key, version, state, owner, approval_id, binding, issued, changed, until, purge_after, body
                FROM confirmation WHERE state = ?1 AND (issued, approval_id) > (?2, ?3)
                ORDER BY issued, approval_id LIMIT ?4";
            t.prepare_cached(sql)?.query_map(params![state, issued, id, limit], stored)?.collect()
        })
        .await
    }

    async fn due(&self, now: u64, limit: u32) -> Result<Vec<Found>, Unavailable> {
        let due: Vec<Found> = self
            .read(move |t| {
                let sql = "SELECT key, version, state, owner, approval_id, binding, issued, changed, until, purge_after
                FROM confirmation WHERE state <> 1 AND purge_after <= ?1 LIMIT ?2";
                t.prepare_cached(sql)?.query_map(params![Time(now), limit], found)?.collect()
            })
            .await?;
        if self.0.swept.swap(!due.is_empty(), Ordering::Relaxed) {
            self.blocking(|file| {
                file.empty_log();
                Ok(())
            })
            .await?;
        }
        Ok(due)
    }

    async fn remove(&self, key: Key, version: u64) -> Result<bool, Unavailable> {
        self.write(move |t| {
            let sql = "DELETE FROM confirmation WHERE key = ?1 AND version = ?2";
            Ok(t.prepare_cached(sql)?.execute(params![key, Time(version)])? > 0)
        })
        .await
    }

    async fn charge(&self, charges: &[Charge]) -> Result<Charging, Unavailable> {
        super::accounts::once_each(charges)?;
        let charges = charges.to_vec();
        self.write(move |t| accounts::charge(t, &charges)).await
    }

    async fn refund(&self, charges: &[Charge]) -> Result<(), Unavailable> {
        let charges = charges.to_vec();
        self.write(move |t| accounts::refund(t, &charges)).await
    }

    async fn spent(&self, account: Account, since: u64) -> Result<Vec<Spent>, Unavailable> {
        self.read(move |t| accounts::spent(t, &account, since)).await
    }

    async fn sweep_accounts(&self, now: u64, limit: u32) -> Result<u32, Unavailable> {
        self.write(move |t| accounts::sweep(t, now, limit)).await
    }
}

fn insert(t: &Transaction<'_>, key: &Key, entry: &Entry, room: Room) -> rusqlite::Result<Insertion> {
    let Entry { index, body } = entry;
    let taken = "SELECT 1 FROM confirmation WHERE key = ?1 UNION ALL SELECT 1 FROM confirmation WHERE approval_id = ?2";
    if t.prepare_cached(taken)?.exists(params![key, index.approval_id])? {
        return Ok(Insertion::Exists);
    }
    if !owner_has_room(t, &index.owner, room)? {
        return Ok(Insertion::OwnerFull);
    }
    if !all_have_room(t, room)? {
        return Ok(Insertion::AllFull);
    }
    let sql = "INSERT INTO confirmation
        (key, version, state, owner, approval_id, binding, issued, changed, until, purge_after, body)
        VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    t.prepare_cached(sql)?.execute(params![
        key,
        index.state,
        index.owner,
        index.approval_id,
        index.binding,
        Time(index.issued),
        Time(index.changed),
        Time(index.until),
        Time(index.purge_after),
        body,
    ])?;
    Ok(Insertion::Inserted)
}

/// Looks for the row that would be the last to have room: walks over unexpired rows of the owner only, of which there are
/// no more than the limit lets in.
fn owner_has_room(t: &Transaction<'_>, owner: &str, room: Room) -> rusqlite::Result<bool> {
    let Some(last) = room.per_owner.checked_sub(1) else { return Ok(false) };
    let sql = "SELECT 1 FROM confirmation WHERE state = 0 AND owner = ?1 AND until > ?2 LIMIT 1 OFFSET ?3";
    Ok(!t.prepare_cached(sql)?.exists(params![owner, Time(room.now), last])?)
}

/// The unexpired row that would be the last to have room.
const WALK: &str = "SELECT 1 FROM confirmation INDEXED BY pending WHERE state = 0 AND until > ?1 LIMIT 1 OFFSET ?2";

/// Pending rows that expire in this minute or later.
const TALLY: &str = "SELECT coalesce(sum(pending), 0) FROM tally WHERE minute >= ?1 / 60000";

/// The tally counts what expires in the present minute as well, and some of that may have expired: where it says full, the
/// unexpired rows are walked over, of which there are no more than the limit lets in.
fn all_have_room(t: &Transaction<'_>, room: Room) -> rusqlite::Result<bool> {
    let Some(last) = room.in_all.checked_sub(1) else { return Ok(false) };
    let pending: i64 = t.prepare_cached(TALLY)?.query_row([Time(room.now)], |row| row.get(0))?;
    if pending <= i64::from(last) {
        return Ok(true);
    }
    Ok(!t.prepare_cached(WALK)?.exists(params![Time(room.now), last])?)
}

fn replace(t: &Transaction<'_>, key: &Key, version: u64, entry: &Entry) -> rusqlite::Result<Replacement> {
    let Entry { index, body } = entry;
    let sql = "UPDATE confirmation SET version = version + 1, state = ?3, owner = ?4, approval_id = ?5, binding = ?6,
        issued = ?7, changed = ?8, until = ?9, purge_after = ?10, body = ?11 WHERE key = ?1 AND version = ?2";
    let updated = t.prepare_cached(sql)?.execute(params![
        key,
        Time(version),
        index.state,
        index.owner,
        index.approval_id,
        index.binding,
        Time(index.issued),
        Time(index.changed),
        Time(index.until),
        Time(index.purge_after),
        body,
    ]);
    match updated {
        Ok(0) => Ok(Replacement::Stale),
        Ok(_) => Ok(Replacement::Replaced),
        // The schema holds that one row of a binding is in flight. That, or the approval id, is another row's.
        Err(rusqlite::Error::SqliteFailure(e, _)) if e.extended_code == ffi::SQLITE_CONSTRAINT_UNIQUE => {
            let held = "SELECT 1 FROM confirmation WHERE binding = ?1 AND state = 1 AND key <> ?2";
            match index.state == State::InFlight && t.prepare_cached(held)?.exists(params![index.binding, key])? {
                true => Ok(Replacement::Held),
                false => updated.map(|_| Replacement::Stale),
            }
        }
        Err(e) => Err(e),
    }
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let time = |n| row.get(n).map(|Time(millis)| millis);
    let index = Index {
        state: row.get(2)?,
        owner: row.get(3)?,
        approval_id: row.get(4)?,
        binding: row.get(5)?,
        issued: time(6)?,
        changed: time(7)?,
        until: time(8)?,
        purge_after: time(9)?,
    };
    Ok(Found { key: row.get(0)?, version: time(1)?, index })
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let Found { key, version, index } = found(row)?;
    Ok(Stored { key, version, entry: Entry { index, body: row.get(10)? } })
}

#[cfg(test)]
mod tests;
