//! What is asked on the way of a call takes as long with a million rows as with a few.

use super::*;
use rusqlite::StatementStatus;

#[test]
fn nothing_walks_over_the_whole_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    SqliteStore::open(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    for (tail, index) in [
        ("WHERE key = x'00'", "sqlite_autoindex_confirmation_1"),
        ("WHERE approval_id = 'x'", "sqlite_autoindex_confirmation_2"),
        ("WHERE binding = x'00' AND state = 1", "one_in_flight"),
        ("WHERE binding = x'00' AND state >= 2 ORDER BY changed DESC, key DESC", "ended"),
        ("WHERE state = 0 AND (issued, approval_id) > (1, 'x') ORDER BY issued, approval_id", "by_state"),
        ("WHERE state <> 1 AND purge_after <= 1", "purgeable"),
        ("INDEXED BY pending WHERE state = 0 AND until > 1", "pending"),
        ("WHERE state = 0 AND owner = 'x' AND until > 1", "pending_of"),
    ] {
        let sql = format!("EXPLAIN QUERY PLAN SELECT version FROM confirmation {tail}");
        let mut statement = connection.prepare(&sql).unwrap();
        let plan: Vec<String> =
            statement.query_map([], |row| row.get("detail")).unwrap().collect::<Result<_, _>>().unwrap();
        let (found, sorts) = (plan.join("; "), plan.len() > 1);
        let name = found.split("INDEX ").nth(1).and_then(|rest| rest.split(' ').next());
        assert_eq!(name, Some(index), "{tail}: {found}");
        assert!(found.starts_with("SEARCH") && !sorts, "{tail}: {found}");
    }
}

#[test]
fn accounts_are_found_without_walking_over_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    SqliteStore::open(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    for (sql, by) in [
        (accounts::COUNTED, "SEARCH account USING PRIMARY KEY"),
        (
            "SELECT id FROM account INDEXED BY account_due WHERE purge_after <= ?1 LIMIT ?2",
            "SEARCH account USING COVERING INDEX account_due",
        ),
    ] {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan: String = statement.query_row(params![1, 1], |row| row.get("detail")).unwrap();
        assert!(plan.starts_with(by), "{plan}");
    }
}

/// What a million pending rows would cost: the same steps as a few. The statement comes out of the connection's cache as
/// the store left it there, with its count.
#[test]
fn room_for_all_is_seen_without_walking_over_what_is_pending() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder);
    SqliteStore::open(&path).unwrap();
    let mut connection = schema::connect(&path).unwrap();
    let room = Room { now: 1, per_owner: 1, in_all: 30_000 };
    let mut steps = |rows: u32| {
        let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
            INSERT INTO confirmation SELECT randomblob(32), 1, 0, 'name:a', hex(randomblob(12)), randomblob(32), 1, 1,
            120000 + n % 60000, 2, x'' FROM n";
        connection.execute(sql, [rows]).unwrap();
        let transaction = connection.transaction().unwrap();
        assert!(all_have_room(&transaction, room).unwrap());
        let walk = transaction.prepare_cached(WALK).unwrap();
        assert_eq!(walk.get_status(StatementStatus::VmStep), 0, "it walked");
        transaction.prepare_cached(TALLY).unwrap().reset_status(StatementStatus::VmStep)
    };
    let (few, many) = (steps(10), steps(20_000));
    assert!(few > 0);
    assert_eq!(few, many);

    // Full by the tally: then it is walked, and what has expired in the present minute does not count.
    let transaction = connection.transaction().unwrap();
    let all = Room { in_all: 20_010, ..room };
    assert!(!all_have_room(&transaction, all).unwrap());
    assert!(all_have_room(&transaction, Room { now: 120_001, ..all }).unwrap());
}
