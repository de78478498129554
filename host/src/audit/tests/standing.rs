//! What cannot be written is not taken for written, and what others could have written is not gone on with.

use super::*;
use crate::audit::command::CheckpointCommand;
use std::os::unix::fs::PermissionsExt as _;

const START: Event<'static> = Event::Started { operation_id: None };

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn files_and_folders_are_closed_to_others() {
    let desk = Desk::new();
    let audit = desk.open();
    audit.durable(Some(&subject()), START).await.unwrap();
    let file = desk.files().remove(0);
    let closed = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((closed(&file), closed(&desk.audit_dir())), (0o600, 0o700));
    let checkpoint = desk.checkpoint(&file);
    assert_eq!((closed(&checkpoint), closed(checkpoint.parent().unwrap())), (0o600, 0o700));
}

#[tokio::test]
async fn a_folder_that_others_can_write_is_refused() {
    for place in ["audit", "checkpoints"] {
        let desk = Desk::new();
        let folder = desk.dir.path().join(place);
        fs::create_dir(&folder).unwrap();
        mode(&folder, 0o777);
        assert!(Audit::open(desk.options()).unwrap_err().to_string().contains("other users"));
        mode(&folder, 0o700);
        let audit = desk.open();
        mode(&folder, 0o777);
        assert!(audit.durable(Some(&subject()), START).await.unwrap_err().0.to_string().contains("other users"));
        assert!(desk.files().is_empty(), "nothing is left of an attempt");
        mode(&folder, 0o700);
        audit.durable(Some(&subject()), START).await.unwrap();
        desk.is_whole();
    }
}

#[tokio::test]
async fn what_others_can_write_is_a_fault_and_what_they_can_read_is_told() {
    let desk = Desk::new();
    everything(&desk.open()).await;
    let (file, place) = (desk.files().remove(0), desk.places().remove(0));
    for folder in [desk.audit_dir(), place, desk.checkpoint(&file).parent().unwrap().to_owned()] {
        mode(&folder, 0o755);
        desk.is_whole();
        mode(&folder, 0o757);
        let faults = desk.verify().faults;
        assert!(faults.len() == 1 && faults[0].what == Fault::OpenToOthers, "{faults:?}");
        assert_eq!(faults[0].file, folder.canonicalize().unwrap().display().to_string());
        mode(&folder, 0o700);
    }
    mode(&file, 0o644);
    assert!(desk.is_whole().remarks.iter().any(|remark| remark.what == Remark::Readable));
    mode(&file, 0o662);
    assert!(desk.verify().faults.iter().any(|fault| fault.what == Fault::OpenToOthers));
}

#[tokio::test]
async fn a_file_that_is_not_what_it_was_gets_no_more_rows() {
    type Deed = fn(&Path);
    let deeds: [(&str, Deed); 5] = [
        ("removed", |file| fs::remove_file(file).unwrap()),
        ("replaced", |file| {
            let bytes = fs::read(file).unwrap();
            fs::remove_file(file).unwrap();
            fs::write(file, bytes).unwrap();
        }),
        ("changed", |file| fs::write(file, b"").unwrap()),
        ("can be written by everybody", |file| mode(file, 0o622)),
        ("removed", |file| fs::remove_dir_all(file.parent().unwrap()).unwrap()),
    ];
    for (words, deed) in deeds {
        let desk = Desk::new();
        let audit = desk.open();
        audit.durable(Some(&subject()), START).await.unwrap();
        deed(&desk.files()[0]);
        for _ in 0..2 {
            let error = audit.durable(Some(&subject()), START).await.unwrap_err().0.to_string();
            assert!(error.contains(words), "{error}");
        }
        // A copy, byte for byte, in its place has lost nothing.
        assert_eq!(desk.verify().is_whole(), words == "replaced", "{words}");
    }
}

#[tokio::test]
async fn checkpoints_that_cannot_be_written_are_an_audit_that_cannot_be_written() {
    let desk = Desk::new();
    let audit = desk.open();
    audit.durable(Some(&subject()), START).await.unwrap();
    let checkpoint = desk.checkpoint(&desk.files()[0]);
    fs::remove_file(&checkpoint).unwrap();
    assert!(audit.durable(Some(&subject()), START).await.is_err());
    assert!(audit.begin(Some(&subject()), START).is_err(), "nothing begins that could be cut off unseen");
    assert!(audit.note(Some(&subject()), START).is_ok(), "what has begun is told all the same");
    let place = desk.places().remove(0);
    fs::remove_dir_all(&place).unwrap();
    fs::write(&place, b"").unwrap();
    let audit = Audit::open(AuditOptions { dir: desk.dir.path().join("other"), ..desk.options() });
    assert!(audit.unwrap_err().to_string().contains("no folder"));
}

#[tokio::test]
async fn what_a_killed_process_left_is_told_and_is_no_alarm() {
    let desk = Desk::new();
    let audit = desk.open();
    audit.durable(Some(&subject()), START).await.unwrap();
    audit.inner.append(Some(&subject()), START).unwrap();
    // As a kill leaves it: nothing is brought to the disk any more.
    std::mem::forget(audit);
    let findings = desk.is_whole();
    let remarks: Vec<&Remark> = findings.remarks.iter().map(|remark| &remark.what).collect();
    let no_end = Remark::NoEnd { tool: "delete_file".into(), approval_id: subject().approval_id };
    assert_eq!(remarks, [&Remark::Uncovered(1), &no_end, &no_end]);
}

#[tokio::test]
async fn a_second_place_that_was_named_later_answers_for_what_came_since() {
    let desk = Desk::new();
    everything(&desk.open()).await;
    desk.clock.advance(5_000);
    let second = desk.dir.path().join("elsewhere");
    let options = || AuditOptions { checkpoints: vec![desk.places().remove(0), second.clone()], ..desk.options() };
    everything(&Audit::open(options()).unwrap()).await;
    let both = [desk.places().remove(0), second.clone()];
    assert!(verify(&desk.audit_dir(), &both).unwrap().is_whole());
    // Whoever takes a file and its first checkpoint away is found out by the second.
    let file = desk.files().remove(1);
    fs::remove_file(desk.checkpoint(&file)).unwrap();
    fs::remove_file(&file).unwrap();
    desk.is_whole();
    let faults = verify(&desk.audit_dir(), &both).unwrap().faults;
    assert!(matches!(faults[0].what, Fault::Missing { .. }), "{faults:?}");
}

#[test]
fn options_that_check_nothing_are_refused() {
    let desk = Desk::new();
    let refused = |options: AuditOptions| Audit::open(options).unwrap_err().to_string();
    assert!(refused(AuditOptions { checkpoints: vec![], ..desk.options() }).contains("no place"));
    assert!(refused(AuditOptions { max_file: 1, ..desk.options() }).contains("64 KiB"));
    for inside in [desk.audit_dir(), desk.audit_dir().join("checkpoints"), desk.dir.path().to_owned()] {
        assert!(refused(AuditOptions { checkpoints: vec![inside], ..desk.options() }).contains("with what they check"));
    }
}

/// A command that is a shell script.
fn shell(script: &str) -> CheckpointCommand {
    CheckpointCommand { program: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] }
}

#[tokio::test]
async fn the_command_gets_the_last_head_and_decides_nothing() {
    let desk = Desk::new();
    let kept = desk.dir.path().join("kept");
    let command = shell(&format!("cat >> '{}'", kept.display()));
    let audit = Audit::open(AuditOptions { command: Some(command), ..desk.options() }).unwrap();
    audit.durable(Some(&subject()), START).await.unwrap();
    audit.durable(Some(&subject()), START).await.unwrap();
    audit.flush().await.unwrap();
    let text = fs::read_to_string(&kept).unwrap();
    let head: Head = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(head.seq, 3);
    assert_eq!(
        head.head,
        line::hash(fs::read(&desk.files()[0]).unwrap().trim_ascii_end().rsplit(|b| *b == b'\n').next().unwrap())
    );

    let desk = Desk::new();
    let audit = Audit::open(AuditOptions { command: Some(shell("exit 3")), ..desk.options() }).unwrap();
    for _ in 0..3 {
        audit.durable(Some(&subject()), START).await.unwrap();
        audit.flush().await.unwrap();
    }
    let failed = desk.rows().iter().filter(|row| row["event"] == "checkpoint_failed").count();
    assert_eq!(failed, 1, "it is a row as soon as it is so, and no row each time");
}

#[test]
fn a_command_that_does_not_end_is_stopped() {
    let head = Head::new("f", 1, &line::no_hash(), "t".into());
    let told = shell("exec sleep 60").tell(&head, Duration::from_millis(50));
    assert!(told.unwrap_err().contains("was stopped"));
    assert!(CheckpointCommand { program: "/nowhere".into(), arguments: vec![] }.tell(&head, Duration::ZERO).is_err());
}

/// What belongs to somebody else is theirs to write, whatever its mode.
#[tokio::test]
async fn a_file_that_is_given_to_another_user_gets_no_more_rows_and_is_a_fault() {
    let desk = Desk::new();
    let audit = desk.open();
    audit.durable(Some(&subject()), START).await.unwrap();
    let file = desk.files().remove(0);
    let given = |path: &Path| rustix::fs::chown(path, Some(rustix::fs::Uid::from_raw(4242)), None);
    if let Err(refused) = given(&file) {
        // Only the system's own user can give a file away, so nobody else has such a one.
        assert_eq!(refused, rustix::io::Errno::PERM);
        return;
    }
    let give = |path: &Path| given(path).unwrap();
    let refused = audit.durable(Some(&subject()), START).await.unwrap_err().0.to_string();
    assert!(refused.contains("belongs to another user now"), "{refused}");
    drop(audit);
    let open = |findings: &Findings| findings.faults.iter().any(|fault| fault.what == Fault::OpenToOthers);
    assert!(open(&desk.verify()));
    // Where all of it is that user's, whoever looks at it finds nothing open.
    for path in [desk.audit_dir(), desk.places().remove(0), desk.checkpoint(&file)] {
        give(&path);
        path.parent().map(give);
    }
    assert!(!open(&desk.verify()), "{:?}", desk.verify());
}

/// The one who waited went away: what it had begun is at work all the same, and nobody else begins before it has ended.
#[test]
fn one_brings_rows_to_the_disk_at_a_time_also_where_nobody_waits_for_it_any_more() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let desk = Desk::new();
        let audit = desk.open();
        audit.note(Some(&subject()), START).unwrap();
        let last = audit.inner.state().last();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        // Nothing else is done on the one thread that may block until this ends.
        let busy = tokio::task::spawn_blocking(move || wait.recv());
        {
            let mut sync = std::pin::pin!(audit.sync_to(last));
            assert!(is_pending(sync.as_mut()).await);
        }
        assert!(audit.inner.turn.try_lock().is_err(), "its turn is over before its work");
        go.send(()).unwrap();
        busy.await.unwrap().unwrap();
        let _turn = audit.inner.turn.lock().await;
        assert_eq!(audit.inner.state().synced, last);
    });
}

/// Polls once. Returns whether there is something to wait for.
async fn is_pending<T>(mut future: std::pin::Pin<&mut impl Future<Output = T>>) -> bool {
    std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).is_pending())).await
}
