//! The SQLite store: what the suite asks, and what only a file can do wrong.

#![allow(clippy::unwrap_used)]

mod walks;

use super::*;
use crate::store::suite;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use tempfile::TempDir;

fn in_folder(folder: &TempDir) -> PathBuf {
    folder.path().join("state/counterfoil.db")
}

#[track_caller]
fn refused(path: &Path, says: &str) {
    let error = SqliteStore::open(path).err().unwrap();
    assert_eq!(error.kind(), crate::ErrorKind::Store);
    assert!(error.to_string().contains(says), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_what_the_suite_asks_of_every_store() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::sync::atomic::AtomicU32::new(0);
    let make = || -> Arc<dyn Store> {
        let n = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Arc::new(SqliteStore::open(&folder.path().join(format!("{n}.db"))).unwrap())
    };
    suite::run(&make).await;
}

/// Two processes race in the integration tests.
#[tokio::test(flavor = "multi_thread")]
async fn two_handles_on_one_file_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let one = Arc::new(SqliteStore::open(&path).unwrap());
    let other = Arc::new(SqliteStore::open(&path).unwrap());
    suite::run_shared(one, other).await;
}

#[tokio::test]
async fn rows_outlive_the_handle() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let (key, entry) = suite::row(1);
    let store = SqliteStore::open(&path).unwrap();
    store.insert(key, entry.clone(), suite::ROOM).await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.load(key).await.unwrap().unwrap().entry == entry);
}

#[tokio::test]
async fn what_it_makes_is_closed_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let store = SqliteStore::open(&path).unwrap();
    let (key, entry) = suite::row(1);
    store.insert(key, entry, suite::ROOM).await.unwrap();
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[test]
fn what_others_can_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    SqliteStore::open(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o606)).unwrap();
    refused(&path, "can be written by other users");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
    refused(&path, "can be written by other users");
}

#[test]
fn a_refusal_leaves_nothing_beside_the_file_and_can_be_mended_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let files = || fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap().file_name());
    SqliteStore::open(&path).unwrap();
    assert_eq!(files().count(), 1);
    for mode in [0o602, 0o666, 0o664] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        refused(&path, "can be written by other users");
        assert_eq!(files().collect::<Vec<_>>(), [path.file_name().unwrap()], "{mode:o}");
        fs::set_permissions(&path, Permissions::from_mode(mode & !0o022)).unwrap();
        let _store = SqliteStore::open(&path).unwrap();
        for file in files() {
            let found = fs::metadata(path.with_file_name(&file)).unwrap();
            assert_eq!(found.mode() & 0o777, 0o600, "{file:?}");
        }
    }
}

#[test]
fn a_symbolic_link_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    SqliteStore::open(&path).unwrap();
    let link = folder.path().join("link.db");
    symlink(&path, &link).unwrap();
    assert!(SqliteStore::open(&link).is_err());
}

#[test]
fn a_newer_or_foreign_file_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    SqliteStore::open(&path).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    refused(&path, "has version 7 and this program knows 3");

    let foreign = folder.path().join("state/foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    fs::set_permissions(&foreign, Permissions::from_mode(0o600)).unwrap();
    refused(&foreign, "another program's database");

    let nonsense = folder.path().join("state/nonsense.db");
    fs::write(&nonsense, "not a database at all, whatever it is called, and longer than a header").unwrap();
    fs::set_permissions(&nonsense, Permissions::from_mode(0o600)).unwrap();
    refused(&nonsense, "cannot be opened");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_makes_the_store_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let store = SqliteStore::open(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("DROP TABLE confirmation").unwrap();
    let (key, entry) = suite::row(1);
    assert!(store.load(key).await.is_err());
    assert!(store.insert(key, entry.clone(), suite::ROOM).await.is_err());
    assert!(store.replace(key, 1, entry).await.is_err());
}

/// Two clients start their servers at once, and the store is not there yet: whoever makes it, all of them have it.
#[test]
fn a_new_file_is_opened_by_as_many_as_come_at_once() {
    for _ in 0..100 {
        let folder = tempfile::tempdir().unwrap();
        let path = in_folder(&folder);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o700)).unwrap();
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            let open = || {
                start.wait();
                SqliteStore::open(&path).map(|_| ())
            };
            let all: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            for one in all {
                let opened = one.join().unwrap();
                assert!(opened.is_ok(), "{}", opened.unwrap_err());
            }
        });
    }
}

/// By a mistake in the configuration, or by somebody else's.
#[test]
fn what_is_no_store_is_left_with_its_mode_its_bytes_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("notes.db");
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    let page = folder.path().join("index.html");
    fs::write(
        &page,
        "<p>not a database, and longer than the header of one; that is a hundred bytes, so here are some more</p>",
    )
    .unwrap();
    let modes = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    for path in [&database, &page] {
        fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
        let before = fs::read(path).unwrap();
        assert!(SqliteStore::open(path).is_err());
        assert_eq!((modes(path), fs::read(path).unwrap() == before), (0o644, true), "{path:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Each question is answered from an index: none walks over the table, however many rows it has.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_taken_away_or_replaced_is_used_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.load([1; 32]).await.unwrap().is_none());
    let aside = folder.path().join("aside.db");
    fs::rename(&path, &aside).unwrap();
    assert!(store.load([1; 32]).await.err().unwrap().0.contains("is gone"));
    fs::write(&path, b"").unwrap();
    assert!(store.remove([1; 32], 1).await.unwrap_err().0.contains("was replaced"));
    fs::rename(&aside, &path).unwrap();
    assert_eq!(store.remove([1; 32], 1).await, Ok(false));
}

/// Rows by the minute in which they expire, as the tally has them and as they are.
fn tallies(path: &Path) -> [Vec<(i64, i64)>; 2] {
    let connection = Connection::open(path).unwrap();
    [
        "SELECT minute, pending FROM tally ORDER BY 1",
        "SELECT until / 60000, count(*) FROM confirmation WHERE state = 0 GROUP BY 1 ORDER BY 1",
    ]
    .map(|sql| {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap()
    })
}

#[tokio::test]
async fn the_tally_is_what_a_count_would_find() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let store = SqliteStore::open(&path).unwrap();
    let rows: Vec<(Key, Entry)> = (1..=6)
        .map(|n| {
            let (key, mut entry) = suite::row(n);
            entry.index.until = 40_000 * u64::from(n);
            (key, entry)
        })
        .collect();
    for (key, entry) in &rows {
        assert_eq!(store.insert(*key, entry.clone(), suite::ROOM).await, Ok(Insertion::Inserted));
    }
    let [tally, count] = tallies(&path);
    assert_eq!((tally.len(), &tally), (5, &count));

    let states = [State::Pending, State::InFlight, State::Completed, State::Pending];
    for (version, state) in (1..).zip(states) {
        let (key, entry) = rows.first().unwrap();
        let index = Index { state, until: 100_000 * version, ..entry.index.clone() };
        let entry = Entry { index, body: Vec::new() };
        assert_eq!(store.replace(*key, version, entry).await, Ok(Replacement::Replaced));
        let [tally, count] = tallies(&path);
        assert_eq!(tally, count, "{state:?}");
    }
    for (version, (key, _)) in [5, 1, 1, 1, 1, 1].into_iter().zip(&rows) {
        assert_eq!(store.remove(*key, version).await, Ok(true));
    }
    assert_eq!(tallies(&path), [vec![], vec![]]);
}

#[tokio::test]
async fn a_file_of_version_1_is_brought_up_with_its_rows_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let store = SqliteStore::open(&path).unwrap();
    let (key, entry) = suite::row(1);
    store.insert(key, entry.clone(), suite::ROOM).await.unwrap();
    drop(store);
    let old =
        "DROP TABLE tally; DROP TRIGGER tally_insert; DROP TRIGGER tally_update_new; DROP TRIGGER tally_update_old;
        DROP TRIGGER tally_delete; DROP TABLE account; PRAGMA user_version = 1;";
    Connection::open(&path).unwrap().execute_batch(old).unwrap();

    let store = SqliteStore::open(&path).unwrap();
    assert!(store.load(key).await.unwrap().unwrap().entry == entry);
    let [tally, count] = tallies(&path);
    assert_eq!((tally.len(), &tally), (1, &count));
    let full = Room { now: 0, in_all: 1, ..suite::ROOM };
    let (key, entry) = suite::row(2);
    assert_eq!(store.insert(key, entry, full).await, Ok(Insertion::AllFull));
}

#[tokio::test]
async fn a_file_of_version_2_is_brought_up_and_keeps_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let store = SqliteStore::open(&path).unwrap();
    let (key, entry) = suite::row(1);
    store.insert(key, entry.clone(), suite::ROOM).await.unwrap();
    drop(store);
    Connection::open(&path).unwrap().execute_batch("DROP TABLE account; PRAGMA user_version = 2;").unwrap();

    let charge = Charge { account: [1; 32], slot: 1, amount: 2, since: 0, at_most: 3, purge_after: 9 };
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.load(key).await.unwrap().unwrap().entry == entry);
    let charges = std::slice::from_ref(&charge);
    assert_eq!(store.charge(charges).await, Ok(Charging::Charged));
    drop(store);
    // And a restart keeps what was counted.
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.charge(charges).await, Ok(Charging::Over(0)));
}

/// What a budget costs does not depend on how many accounts there are.
/// The bytes of the file and its log.
fn bytes(path: &Path) -> Vec<u8> {
    let folder = fs::read_dir(path.parent().unwrap()).unwrap();
    folder.flat_map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn what_a_sweep_drops_is_in_no_file_any_more() {
    const SECRET: &[u8] = b"correct horse battery staple";
    let has = |path: &Path| bytes(path).windows(SECRET.len()).any(|window| window == SECRET);
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    let store = SqliteStore::open(&path).unwrap();
    for n in 1..=40 {
        let (key, entry) = suite::row(n);
        store.insert(key, Entry { body: SECRET.repeat(50), ..entry }, suite::ROOM).await.unwrap();
    }
    assert!(has(&path));
    // As a sweep does: some rows lose their contents, some go.
    let due = store.due(u64::MAX, 100).await.unwrap();
    assert_eq!(due.len(), 40);
    for found in &due {
        match found.key {
            [n, ..] if n % 2 == 0 => assert_eq!(store.remove(found.key, 1).await, Ok(true)),
            _ => {
                let index = Index { purge_after: u64::MAX, ..found.index.clone() };
                let replaced = store.replace(found.key, 1, Entry { index, body: vec![1] }).await;
                assert_eq!(replaced, Ok(Replacement::Replaced));
            }
        }
    }
    assert!(has(&path));
    assert_eq!(store.due(10_000, 100).await, Ok(Vec::new()));
    assert!(!has(&path));
}

/// Copies of a database file and its journal from the middle of a transaction: what a process leaves that is killed there.
fn killed_within(path: &Path, before: &str, within: &str) {
    let away = tempfile::tempdir().unwrap();
    let (file, journal) = (away.path().join("a.db"), away.path().join("a.db-journal"));
    let connection = rusqlite::Connection::open(&file).unwrap();
    // Each page goes to the disk at once.
    connection
        .execute_batch(&format!("{before}; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; {within}"))
        .unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o700)).unwrap();
    for (from, end) in [(file, ""), (journal, "-journal")] {
        assert!(fs::metadata(&from).unwrap().len() > 0, "nothing was written yet");
        let to = PathBuf::from(format!("{}{end}", path.display()));
        fs::copy(from, &to).unwrap();
        fs::set_permissions(&to, Permissions::from_mode(0o600)).unwrap();
    }
}

/// Tables and rows that do not fit into the cache.
const MUCH: &str = "CREATE TABLE t (b BLOB); INSERT INTO t WITH RECURSIVE n (n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100) SELECT zeroblob(3000) FROM n";

#[tokio::test]
async fn a_file_whose_maker_was_killed_opens_and_another_programs_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    killed_within(&path, "SELECT 1", MUCH);
    let store = SqliteStore::open(&path).unwrap();
    let (key, entry) = suite::row(1);
    store.insert(key, entry, suite::ROOM).await.unwrap();

    let path = folder.path().join("other/other.db");
    killed_within(&path, "CREATE TABLE theirs (a)", MUCH);
    refused(&path, "another program's database");
    let theirs = rusqlite::Connection::open(&path).unwrap();
    let tables = theirs.query_row("SELECT group_concat(name) FROM sqlite_schema", [], |row| row.get::<_, String>(0));
    assert_eq!(tables.as_deref(), Ok("theirs"));
}
