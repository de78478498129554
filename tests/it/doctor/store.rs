//! The store's file, and what in it waits for somebody.

use super::super::cli::{lose, preview};
use super::{mode, ready, row, says};
use counterfoil::gate::{Assurance, Call, Gate, GateOptions, Plan, Settings, TestClock};
use counterfoil::store::SqliteStore;
use counterfoil_tests::program::Folder;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Writes over a part of the store's file.
fn patch(folder: &Folder, at: u64, bytes: &[u8]) {
    let mut file = std::fs::File::options().write(true).open(folder.path("work/state.db")).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_store_that_a_start_would_refuse_is_wrong() {
    let folder = ready();
    mode(folder.path("work/state.db"), 0o606);
    row(&says(&folder, 1, &["chmod go-w"]), &["wrong", "store", "can be written by other users"]);
    mode(folder.path("work/state.db"), 0o644);
    row(&says(&folder, 0, &["chmod 600"]), &["warning", "store", "can be read by others"]);
    mode(folder.path("work/state.db"), 0o600);
    std::fs::create_dir(folder.path("work/state.db-wal")).unwrap();
    mode(folder.path("work/state.db-wal"), 0o777);
    row(&says(&folder, 1, &[]), &["wrong", "store", "stands beside"]);
    std::fs::remove_dir(folder.path("work/state.db-wal")).unwrap();
    std::fs::rename(folder.path("work/state.db"), folder.path("work/real.db")).unwrap();
    std::os::unix::fs::symlink("real.db", folder.path("work/state.db")).unwrap();
    row(&says(&folder, 1, &[]), &["wrong", "store", "no file of its own"]);
}

#[test]
fn a_store_of_a_newer_version_or_another_program_is_wrong() {
    const USER_VERSION: u64 = 60;
    const APPLICATION_ID: u64 = 68;
    let folder = ready();
    patch(&folder, USER_VERSION, &99_u32.to_be_bytes());
    row(&says(&folder, 1, &[]), &["wrong", "store", "version 99"]);
    patch(&folder, APPLICATION_ID, &7_u32.to_be_bytes());
    row(&says(&folder, 1, &[]), &["wrong", "store", "another program's database"]);
    folder.write("work/state.db", "this is no database, and long enough to be taken for one: ".repeat(20).as_str());
    row(&says(&folder, 1, &[]), &["wrong", "store", "not a database"]);
    folder.write("work/state.db", "");
    row(&says(&folder, 0, &["was not started"]), &["ok", "store", "is empty"]);
    assert_eq!(std::fs::metadata(folder.path("work/state.db")).unwrap().len(), 0);
}

#[test]
fn a_damaged_store_is_wrong() {
    let folder = ready();
    preview(&folder);
    row(&says(&folder, 0, &[]), &["ok", "store", "is whole"]);
    // The rows of a page stand at its end. Of the index on pending ones only the check for damage sees that a row is off.
    const PAGE: u64 = 4096;
    patch(&folder, 9 * PAGE - 2, &[0x55; 2]);
    let ran = says(&folder, 1, &["keep a copy"]);
    row(&ran, &["wrong", "store", "state.db is damaged: ", "index"]);
    assert!(!ran.out.contains("is whole"), "{}", ran.out);
    for page in 2..=10 {
        patch(&folder, (page - 1) * PAGE, &[0xff; 64]);
    }
    row(&says(&folder, 1, &["keep a copy"]), &["wrong", "store", "malformed"]);
}

#[test]
fn a_lost_run_is_wrong_until_it_is_settled() {
    let folder = ready();
    let token = preview(&folder);
    let id = lose(&folder, &token, Duration::from_secs(3600));
    row(&says(&folder, 0, &[]), &["ok", "store", "no run is lost; 1 may still be running"]);
    folder.run(&["resolve", &id, "--happened"]).gave(2, &["deadline"]);

    let folder = ready();
    let token = preview(&folder);
    let id = lose(&folder, &token, Duration::from_millis(1));
    // The deadline that is written down is later than the run's own.
    let ran = says(&folder, 1, &["counterfoil resolve"]);
    row(&ran, &["wrong", "store", "runs whose end nobody knows: 1"]);
    folder.run(&["resolve", &id, "--did-not"]).gave(0, &[]);
    row(&says(&folder, 0, &[]), &["ok", "store", "no run is lost"]);
}

#[test]
fn a_store_that_is_full_is_pointed_out() {
    let folder = ready();
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    folder.write("work/counterfoil.toml", &format!("[gate]\npending_per_owner = 2\n{config}"));
    preview(&folder);
    row(&says(&folder, 0, &[]), &["ok", "store", "1 of 10000"]);
    folder.write("work/workspace/b.txt", "precious");
    folder.run(&["call", "delete_file", r#"{"path": "b.txt"}"#]).gave(3, &[]);
    row(&says(&folder, 0, &["pending_per_owner"]), &["warning", "store", "os:", "2 of 2"]);
}

#[test]
fn what_was_issued_in_the_future_is_pointed_out() {
    let folder = ready();
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let options = GateOptions {
        store: Arc::new(SqliteStore::open(&folder.path("work/state.db")).unwrap()),
        clock: Arc::new(TestClock::new(now + 3_600_000)),
        settings: Settings::default(),
        cache: None,
    };
    let text = str::to_owned;
    let call = Call { owner: text("os:x"), tool: text("t"), revision: text("r"), arguments: text("{}") };
    let plan = Plan {
        summary: text("Will."),
        preview: text("{}"),
        warnings: Vec::new(),
        precondition: None,
        masked_arguments: None,
        needs: Assurance::TokenOnly,
        approvers: 0,
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        Gate::new(options).unwrap().issue(&call, &plan).await.unwrap();
    });
    row(&says(&folder, 0, &["set the clock"]), &["warning", "store", "issued in the future"]);
}

#[test]
fn a_store_in_memory_or_not_made_yet_is_as_it_should_be() {
    let folder = ready();
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    folder.write("work/counterfoil.toml", &config.replace("sqlite:state.db", "memory:"));
    row(&says(&folder, 0, &[]), &["ok", "store", "kept in memory"]);
    // A store of that name would be made by a start, and is not made by looking.
    folder.write("work/counterfoil.toml", &config.replace("state.db", "other.db"));
    let ran = says(&folder, 0, &["other.db is not there yet"]);
    row(&ran, &["warning", "server", "was not started", "other.db"]);
    assert!(!folder.path("work/other.db").exists());
}
