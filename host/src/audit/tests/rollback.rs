//! A checkpoint that is put back to what it said earlier is found out once its file is ended, and nothing that a process leaves
//! behind which dies on the way looks like that.

use super::file::{Current, End};
use super::*;

/// Nothing is behind the checkpoints.
const NONE: [u64; 0] = [];
const START: Event<'static> = Event::Started { operation_id: None };

/// As a kill leaves it: nothing is brought to the disk any more.
fn kill(audit: Audit) {
    std::mem::forget(audit);
}

fn put_back(findings: &Findings) -> Vec<(&str, &Path, u64, u64)> {
    let only = |fault: &'_ Finding<Fault>| matches!(fault.what, Fault::PutBack { .. });
    assert!(findings.faults.iter().all(only), "{findings:?}");
    let told = findings.faults.iter().filter_map(|fault| match &fault.what {
        Fault::PutBack { place, known, last } => Some((fault.file.as_str(), place.as_path(), *known, *last)),
        _ => None,
    });
    told.collect()
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_str().unwrap().to_owned()
}

fn uncovered(findings: &Findings) -> Vec<u64> {
    let rows = |remark: &Finding<Remark>| match remark.what {
        Remark::Uncovered(rows) => Some(rows),
        _ => None,
    };
    findings.remarks.iter().filter_map(rows).collect()
}

/// Writes until there are so many files, and waits for nothing.
fn fill(audit: &Audit, desk: &Desk, files: usize) {
    while desk.files().len() < files {
        audit.note(Some(&subject()), Event::ChallengeIssued { took: TOOK }).unwrap();
    }
}

fn small(desk: &Desk) -> AuditOptions {
    AuditOptions { max_file: LEAST_FILE, ..desk.options() }
}

#[tokio::test]
async fn an_older_checkpoint_of_a_file_that_is_over_is_a_fault_in_each_place() {
    let desk = Desk::new();
    let places = [desk.places().remove(0), desk.dir.path().join("further")];
    let audit = Audit::open(AuditOptions { checkpoints: places.to_vec(), ..desk.options() }).unwrap();
    let mut earlier = Vec::new();
    for _ in 0..3 {
        audit.durable(Some(&subject()), START).await.unwrap();
        let path = desk.checkpoint(&desk.files()[0]);
        earlier.push((audit.inner.state().last(), fs::read(path).unwrap()));
    }
    audit.note(Some(&subject()), START).unwrap();
    audit.close().await.unwrap();
    let file = desk.files().remove(0);
    let last = fs::read_to_string(&file).unwrap().lines().count() as u64;
    let verified = || verify(&desk.audit_dir(), &places).unwrap();
    assert!(verified().is_whole());
    for place in &places {
        let folder = checkpoint::folder(place, &desk.audit_dir().canonicalize().unwrap());
        let checkpoint = folder.join(checkpoint::name_for(&name(&file)));
        let whole = fs::read(&checkpoint).unwrap();
        for (seq, bytes) in &earlier {
            fs::write(&checkpoint, bytes).unwrap();
            let findings = verified();
            assert_eq!(put_back(&findings), [(name(&file).as_str(), place.as_path(), *seq, last)]);
            assert_eq!(uncovered(&findings), NONE, "one fault is one finding");
        }
        fs::write(&checkpoint, whole).unwrap();
    }
    assert!(verified().is_whole());
}

#[tokio::test]
async fn an_older_checkpoint_of_a_full_file_is_a_fault_as_soon_as_the_next_one_counts() {
    let desk = Desk::new();
    let audit = Audit::open(small(&desk)).unwrap();
    audit.durable(Some(&subject()), START).await.unwrap();
    let checkpoint = desk.checkpoint(&desk.files()[0]);
    let earlier = fs::read(&checkpoint).unwrap();
    fill(&audit, &desk, 2);
    let first = name(&desk.files()[0]);
    let waiting = desk.is_whole();
    assert!(uncovered(&waiting).len() == 2, "neither is covered yet: {waiting:?}");
    audit.flush().await.unwrap();
    assert_eq!(uncovered(&desk.is_whole()), NONE);
    fs::write(&checkpoint, &earlier).unwrap();
    let findings = desk.verify();
    assert!(matches!(put_back(&findings)[..], [(file, _, 2, last)] if file == first && last > 2), "{findings:?}");
    assert_eq!(uncovered(&findings), NONE);
    // All but its last row as well: it was covered to that before the next one counted.
    let text = fs::read_to_string(&desk.files()[0]).unwrap();
    let but_one = text.lines().nth_back(1).unwrap();
    let seq = text.lines().count() as u64 - 1;
    let nearly = checkpoint::Head::new(&first, seq, &line::hash(but_one.as_bytes()), "2026-01-01T00:00:00.000Z".into());
    fs::write(&checkpoint, nearly.line()).unwrap();
    assert_eq!(put_back(&desk.verify()).len(), 1);
}

#[tokio::test]
async fn a_process_that_is_killed_while_a_full_file_is_not_covered_gives_no_alarm() {
    let desk = Desk::new();
    let audit = Audit::open(small(&desk)).unwrap();
    audit.durable(Some(&subject()), START).await.unwrap();
    fill(&audit, &desk, 2);
    kill(audit);
    assert_eq!(uncovered(&desk.is_whole()).len(), 2);

    // Before there is a next file: something is in its way.
    let desk = Desk::new();
    let audit = Audit::open(small(&desk)).unwrap();
    audit.durable(Some(&subject()), START).await.unwrap();
    let first = desk.files().remove(0);
    let in_the_way = desk.audit_dir().join(file::next_name(&name(&first)));
    fs::create_dir(&in_the_way).unwrap();
    while audit.note(Some(&subject()), Event::ChallengeIssued { took: TOOK }).is_ok() {}
    kill(audit);
    fs::remove_dir(&in_the_way).unwrap();
    assert!(fs::read_to_string(&first).unwrap().lines().last().unwrap().contains("\"closed\""));
    assert_eq!(uncovered(&desk.is_whole()).len(), 1);
}

#[tokio::test]
async fn a_process_that_is_killed_between_its_last_row_and_the_checkpoint_of_that_gives_no_alarm() {
    let desk = Desk::new();
    let audit = desk.open();
    everything(&audit).await;
    assert!(audit.inner.end().unwrap());
    kill(audit);
    assert!(fs::read_to_string(&desk.files()[0]).unwrap().lines().last().unwrap().contains("\"closed\""));
    assert_eq!(uncovered(&desk.is_whole()), [1]);
}

#[tokio::test]
async fn what_is_not_covered_is_not_ended() {
    let desk = Desk::new();
    let audit = desk.open();
    audit.note(Some(&subject()), START).unwrap();
    assert!(!audit.inner.end().unwrap(), "it is to be covered first");
    let checkpoint = desk.checkpoint(&desk.files()[0]);
    let kept = desk.dir.path().join("kept");
    fs::rename(&checkpoint, &kept).unwrap();
    audit.close().await.unwrap_err();
    drop(audit);
    fs::rename(&kept, &checkpoint).unwrap();
    assert!(!fs::read_to_string(&desk.files()[0]).unwrap().contains("\"closed\""));
    assert_eq!(uncovered(&desk.is_whole()), [2]);
}

/// While the rows up to one are brought to the disk, more come and the file is full.
#[tokio::test]
async fn a_file_that_is_ended_while_its_earlier_rows_come_to_the_disk_is_covered_to_its_end() {
    let desk = Desk::new();
    let audit = Audit::open(small(&desk)).unwrap();
    audit.note(Some(&subject()), START).unwrap();
    let early = audit.inner.state().current.as_ref().map(Current::written).unwrap();
    early.sync("2026-01-01T00:00:00.000Z".into()).unwrap();
    fill(&audit, &desk, 2);
    audit.inner.state().covered(&early, "2026-01-01T00:00:00.000Z".into());
    assert_eq!(audit.inner.state().closing.len(), 1, "the rows behind those are still to be covered");
    audit.flush().await.unwrap();
    assert_eq!(uncovered(&desk.is_whole()), NONE);
    // One that is over and gets a row all the same is no other case.
    audit.close().await.unwrap();
    audit.durable(Some(&subject()), START).await.unwrap();
    audit.inner.state().close(End::Full, &audit.inner.options).unwrap();
    audit.close().await.unwrap();
    assert_eq!((uncovered(&desk.is_whole()), desk.files().len()), (vec![], 3));
}

/// Every look at an audit that is being written, and rotated, and ended, finds it whole.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_looks_while_files_are_written_and_ended_finds_no_fault() {
    let desk = Desk::new();
    let audit = Audit::open(small(&desk)).unwrap();
    let write = |audit: Audit, waits: bool| async move {
        for _ in 0..150 {
            audit.note(Some(&subject()), Event::ChallengeIssued { took: TOOK }).unwrap();
            if waits {
                audit.durable(Some(&subject()), START).await.unwrap();
            }
        }
    };
    let mut writers: Vec<_> = (0..4).map(|at| tokio::spawn(write(audit.clone(), at > 0))).collect();
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        desk.is_whole();
        tokio::task::yield_now().await;
    }
    for writer in writers.drain(..) {
        writer.await.unwrap();
    }
    audit.close().await.unwrap();
    assert!(desk.files().len() > 3);
    assert_eq!(uncovered(&desk.is_whole()), NONE);
}
