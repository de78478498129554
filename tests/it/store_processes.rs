//! One SQLite file and two processes: each row is started by one of them, whatever the other does.

use counterfoil::store::{Entry, Index, Insertion, Key, Replacement, Room, SqliteStore, State, Store};
use std::path::Path;
use std::process::{Command, Stdio};

/// Names the file to a process that was started to take part.
const FILE: &str = "COUNTERFOIL_TEST_STORE";
const ROWS: u8 = 40;

fn row(n: u8, state: State) -> (Key, Entry) {
    let index = Index {
        state,
        owner: "name:ci".into(),
        approval_id: format!("apr_{n}"),
        binding: [n; 32],
        issued: 1,
        changed: 1,
        until: 1_000,
        purge_after: 2_000,
    };
    ([n; 32], Entry { index, body: std::process::id().to_le_bytes().to_vec() })
}

/// Starts every row that it can, and says which.
async fn start_rows(store: &SqliteStore) -> Vec<u8> {
    let mut started = Vec::new();
    for n in 0..ROWS {
        let (key, entry) = row(n, State::InFlight);
        match store.replace(key, 1, entry).await.expect("the store answers") {
            Replacement::Replaced => started.push(n),
            Replacement::Stale => {}
            Replacement::Held => panic!("row {n} is held by another of its binding"),
        }
    }
    started
}

/// The other side of the race: nothing to do unless [`FILE`] says where.
#[tokio::test]
async fn takes_part_in_a_race_where_it_is_asked_to() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let store = SqliteStore::open(Path::new(&path)).expect("the store opens");
    println!("started:{:?}", start_rows(&store).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_start_each_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path).expect("the store opens");
    for n in 0..ROWS {
        let (key, entry) = row(n, State::Pending);
        let room = Room { now: 1, per_owner: 1_000, in_all: 1_000 };
        assert_eq!(store.insert(key, entry, room).await, Ok(Insertion::Inserted));
    }
    let others: Vec<_> = (0..2)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "store_processes::takes_part_in_a_race_where_it_is_asked_to", "--nocapture"])
                .env(FILE, &path)
                .stdout(Stdio::piped())
                .spawn()
                .expect("this test starts again")
        })
        .collect();
    let mut started = start_rows(&store).await;
    for other in others {
        let output = other.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        let list = text.split_once("started:[").and_then(|(_, rest)| rest.split_once(']')).expect("it took part").0;
        started.extend(list.split(", ").filter(|n| !n.is_empty()).map(|n| n.parse::<u8>().unwrap()));
    }
    started.sort_unstable();
    assert_eq!(started, (0..ROWS).collect::<Vec<_>>(), "each row by one process");
    assert_eq!(store.list_by_state(State::InFlight, None, 1_000).await.unwrap().len(), usize::from(ROWS));
}
