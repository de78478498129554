//! Every single thing that can be done to a file and leaves a trace.

use super::*;
use crate::audit::line::{hash, no_hash};

/// A file that is whole and covered to its last byte, and what is in it.
async fn written(desk: &Desk) -> (PathBuf, Vec<u8>) {
    everything(&desk.open()).await;
    desk.is_whole();
    let file = desk.files().remove(0);
    let bytes = fs::read(&file).unwrap();
    (file, bytes)
}

/// The first place has no checkpoint of a file.
fn none(desk: &Desk) -> Fault {
    Fault::NoCheckpoint { place: desk.places().remove(0) }
}

fn put(file: &Path, bytes: &[u8]) {
    fs::write(file, bytes).unwrap();
}

#[track_caller]
fn found_out(desk: &Desk, what: &str) -> Vec<Fault> {
    let faults: Vec<Fault> = desk.verify().faults.into_iter().map(|finding| finding.what).collect();
    assert!(!faults.is_empty(), "{what} is not found out");
    faults
}

#[tokio::test]
async fn any_changed_byte_is_found_out() {
    let desk = Desk::new();
    let (file, bytes) = written(&desk).await;
    for at in 0..bytes.len() {
        // Another digit or letter, another kind of character, an end of line: in turn.
        let changed = [bytes[at] ^ 1, bytes[at] ^ 0x80, if bytes[at] == b'\n' { b' ' } else { b'\n' }][at % 3];
        let mut other = bytes.clone();
        other[at] = changed;
        put(&file, &other);
        found_out(&desk, &format!("byte {at} as {changed}"));
    }
    put(&file, &bytes);
    desk.is_whole();
}

#[tokio::test]
async fn a_file_that_is_cut_anywhere_is_found_out() {
    let desk = Desk::new();
    let (file, bytes) = written(&desk).await;
    // Each end of a line, and every third place between.
    for length in
        (0..bytes.len()).filter(|at| at % 3 == 0 || bytes[*at] == b'\n' || bytes[at.saturating_sub(1)] == b'\n')
    {
        put(&file, &bytes[..length]);
        let faults = found_out(&desk, &format!("a cut at {length}"));
        assert!(faults.iter().all(|fault| matches!(fault, Fault::Cut { .. })), "{faults:?}");
    }
}

#[tokio::test]
async fn lines_that_are_removed_doubled_exchanged_or_inserted_are_found_out() {
    let desk = Desk::new();
    let (file, bytes) = written(&desk).await;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let put_lines = |lines: &[&[u8]]| put(&file, &lines.concat());
    for at in 0..lines.len() {
        let mut other = lines.clone();
        other.remove(at);
        put_lines(&other);
        found_out(&desk, &format!("line {at} removed"));
        let mut other = lines.clone();
        other.insert(at, lines[at]);
        put_lines(&other);
        found_out(&desk, &format!("line {at} doubled"));
        for with in 0..at {
            let mut other = lines.clone();
            other.swap(at, with);
            put_lines(&other);
            found_out(&desk, &format!("lines {at} and {with} exchanged"));
        }
        let mut other = lines.clone();
        let forged = format!(
            "{{\"seq\":{},\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"ended\",\"prev\":\"{}\"}}\n",
            at + 1,
            at.checked_sub(1).map_or_else(no_hash, |before| hash(lines[before].trim_ascii_end()))
        );
        other.insert(at, forged.as_bytes());
        put_lines(&other);
        found_out(&desk, &format!("a row before line {at}"));
    }
}

#[tokio::test]
async fn a_chain_that_was_made_anew_is_found_out_by_the_checkpoint_alone() {
    let desk = Desk::new();
    let (file, bytes) = written(&desk).await;
    let text = String::from_utf8(bytes).unwrap();
    let (mut anew, mut head) = (String::new(), no_hash());
    for line in text.lines() {
        let mut row: Value = serde_json::from_str(&line.replace("os:alice", "os:mallory")).unwrap();
        row["prev"] = head.into();
        let line = row.to_string();
        head = hash(line.as_bytes());
        anew.push_str(&line);
        anew.push('\n');
    }
    put(&file, anew.as_bytes());
    let last = text.lines().count() as u64;
    assert_eq!(found_out(&desk, "a chain made anew"), [Fault::Replaced { known: last }]);
    // Whoever can write the checkpoints as well is not found out: the documentation says so.
    let name = file.file_name().unwrap().to_str().unwrap();
    let forged =
        Head::new(name, last, &hash(anew.lines().last().unwrap().as_bytes()), "2026-01-01T00:00:00.000Z".into());
    put(&desk.checkpoint(&file), forged.line().as_bytes());
    desk.is_whole();
}

#[tokio::test]
async fn a_file_that_is_gone_renamed_added_or_put_in_anothers_place_is_found_out() {
    let desk = Desk::new();
    let (one, bytes) = written(&desk).await;
    desk.clock.advance(1_000);
    everything(&desk.open()).await;
    let two = desk.files().remove(1);
    desk.is_whole();

    fs::remove_file(&one).unwrap();
    assert!(matches!(found_out(&desk, "a removed file")[..], [Fault::Missing { .. }]));
    fs::copy(&two, &one).unwrap();
    assert!(found_out(&desk, "another file in its place").contains(&Fault::OtherFile));
    put(&one, &bytes);

    let added = desk.audit_dir().join("20260101T000000000Z-ffffffffffff-0001.jsonl");
    fs::rename(&one, &added).unwrap();
    let faults = found_out(&desk, "a renamed file");
    assert!(faults.contains(&Fault::OtherFile) && faults.contains(&none(&desk)), "{faults:?}");
    fs::copy(&added, &one).unwrap();
    found_out(&desk, "an added file");
    fs::remove_file(&added).unwrap();
    desk.is_whole();

    fs::remove_file(desk.checkpoint(&one)).unwrap();
    assert_eq!(found_out(&desk, "a removed checkpoint"), [none(&desk)]);
    put(&desk.checkpoint(&one), b"{}");
    assert!(matches!(found_out(&desk, "a damaged checkpoint")[..], [Fault::BadCheckpoint(_)]));
    fs::copy(desk.checkpoint(&two), desk.checkpoint(&one)).unwrap();
    assert!(matches!(found_out(&desk, "another file's checkpoint")[..], [Fault::BadCheckpoint(_)]));
}

#[tokio::test]
async fn one_fault_is_one_finding_and_names_its_line() {
    let desk = Desk::new();
    let (file, bytes) = written(&desk).await;
    let text = String::from_utf8(bytes).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    lines[4] = lines[4].replace("os:alice", "os:mallo");
    put(&file, lines.concat().as_bytes());
    let findings = desk.verify();
    assert_eq!(findings.faults.len(), 1, "{findings:?}");
    assert_eq!((findings.faults[0].line, &findings.faults[0].what), (Some(6), &Fault::Chain));
}

#[tokio::test]
async fn hostile_files_are_read_in_bounded_memory_and_without_a_panic() {
    let desk = Desk::new();
    let (file, bytes) = written(&desk).await;
    let long = [b"{\"seq\":".as_slice(), &vec![b'1'; 4 << 20], b"\n"].concat();
    for hostile in [long.as_slice(), &vec![b'\n'; 100_000], &vec![0xff; 200_000], &[b'['; 50_000]] {
        put(&file, &[hostile, &bytes].concat());
        found_out(&desk, "rubbish before");
        put(&file, &[&bytes, hostile].concat());
        let findings = desk.verify();
        assert!(findings.faults.len() <= 1_000);
        let found = search(&desk.audit_dir(), &Filter { last: 5, ..Filter::default() }, |_| Ok(())).unwrap();
        assert_eq!(found.more + 5, every_event().len() as u64 + 3);
    }
    let other = desk.audit_dir().join("20250101T000000000Z-0123456789ab-0001.jsonl");
    std::os::unix::fs::symlink("/dev/zero", &other).unwrap();
    put(&file, &bytes);
    assert!(matches!(found_out(&desk, "a link")[..], [Fault::NoCheckpoint { .. }, Fault::Unreadable(_)]));
    fs::remove_file(&other).unwrap();
    fs::create_dir(&other).unwrap();
    found_out(&desk, "a folder");
}

#[tokio::test]
async fn half_a_line_after_the_last_checkpoint_is_a_power_cut_and_no_alarm() {
    let desk = Desk::new();
    let audit = desk.open();
    everything(&audit).await;
    let file = desk.files().remove(0);
    let bytes = fs::read(&file).unwrap();
    put(&file, &[&bytes, b"{\"seq\":15,\"ti".as_slice()].concat());
    let findings = desk.is_whole();
    assert!(findings.remarks.iter().any(|remark| remark.what == Remark::Torn), "{findings:?}");
}

/// A second place for checkpoints, and everything written with both.
async fn written_with_two_places(desk: &Desk) -> (PathBuf, Vec<PathBuf>) {
    let mut places = desk.places();
    places.push(desk.dir.path().join("further"));
    let audit = Audit::open(AuditOptions { checkpoints: places.clone(), ..desk.options() }).unwrap();
    everything(&audit).await;
    assert_eq!(verify(&desk.audit_dir(), &places).unwrap().faults, []);
    (desk.files().remove(0), places)
}

#[tokio::test]
async fn every_place_is_asked_about_a_file_that_is_gone() {
    let desk = Desk::new();
    let (file, places) = written_with_two_places(&desk).await;
    let rows = fs::read_to_string(&file).unwrap().lines().count() as u64;
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    fs::remove_file(&file).unwrap();
    // As if it had never come to the disk, says the place that whoever took the file away can write.
    let forged = Head::new(&name, 0, &no_hash(), "2026-01-01T00:00:00.000Z".into());
    put(&desk.checkpoint(&file), forged.line().as_bytes());
    let faults = |places: &[PathBuf]| -> Vec<Fault> {
        verify(&desk.audit_dir(), places).unwrap().faults.into_iter().map(|finding| finding.what).collect()
    };
    assert_eq!(faults(&places), [Fault::Missing { known: rows }]);
    put(&desk.checkpoint(&file), b"{}");
    assert!(matches!(faults(&places)[..], [Fault::BadCheckpoint(_), Fault::Missing { known }] if known == rows));
    fs::remove_file(desk.checkpoint(&file)).unwrap();
    assert_eq!(faults(&places), [Fault::Missing { known: rows }]);
    // The other way round as well.
    let turned: Vec<PathBuf> = places.iter().rev().cloned().collect();
    put(&desk.checkpoint(&file), forged.line().as_bytes());
    assert_eq!(faults(&turned), [Fault::Missing { known: rows }]);
}

#[tokio::test]
async fn a_further_place_that_is_empty_or_not_mounted_is_found_out() {
    let desk = Desk::new();
    let (_, places) = written_with_two_places(&desk).await;
    desk.clock.advance(1_000);
    everything(&Audit::open(AuditOptions { checkpoints: places.clone(), ..desk.options() }).unwrap()).await;
    let further = places[1].clone();
    let expected = [Finding { file: further.display().to_string(), line: None, what: Fault::EmptyPlace }];
    for leave_the_folder in [true, false] {
        fs::remove_dir_all(&further).unwrap();
        if leave_the_folder {
            fs::create_dir(&further).unwrap();
        }
        assert_eq!(verify(&desk.audit_dir(), &places).unwrap().faults, expected);
    }
    // That it has something again does not bring back what it had.
    desk.clock.advance(1_000);
    everything(&Audit::open(AuditOptions { checkpoints: places.clone(), ..desk.options() }).unwrap()).await;
    let faults = verify(&desk.audit_dir(), &places).unwrap().faults;
    let lost = |fault: &Finding<Fault>| fault.what == Fault::NoCheckpoint { place: further.clone() };
    assert!(faults.len() == 2 && faults.iter().all(lost), "{faults:?}");
    // Where it is lost for good, another one is named, which has to know nothing of what was there before.
    let places = [places[0].clone(), desk.dir.path().join("new")];
    desk.clock.advance(1_000);
    everything(&Audit::open(AuditOptions { checkpoints: places.to_vec(), ..desk.options() }).unwrap()).await;
    assert_eq!(verify(&desk.audit_dir(), &places).unwrap().faults, []);
}

#[tokio::test]
async fn no_number_that_is_written_there_makes_the_reader_stumble() {
    const LAST: u64 = u64::MAX;
    let zeros = no_hash();
    let row = |seq: u64, prev: &str, more: &str| {
        format!(
            "{{\"seq\":{seq},\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"opened\"{more},\"prev\":\"{prev}\"}}\n"
        )
    };
    let head = |line: &str| hash(line.trim_end().as_bytes());
    let first = row(LAST, &zeros, "");
    let previous = format!(",\"previous\":{{\"file\":\"x\",\"seq\":{LAST},\"head\":\"{zeros}\"}}");
    let forged = [
        first.clone(),
        // A row behind the last that there can be, and a line that is none.
        format!("{first}{}", row(0, &head(&first), "")),
        format!("{first}no row\n{}", row(LAST, &hash(b"no row"), "")),
        row(1, &zeros, &previous),
        row(LAST, &zeros, &previous),
        row(LAST, &zeros, &format!(",\"started\":{LAST},\"duration_ms\":1e308,\"left_out\":{LAST}")),
    ];
    for text in forged {
        let desk = Desk::new();
        let (file, _) = written(&desk).await;
        put(&file, text.as_bytes());
        let faults = found_out(&desk, &text);
        assert!(faults.iter().any(|fault| matches!(fault, Fault::Sequence { .. })), "{text}: {faults:?}");
        search(&desk.audit_dir(), &Filter { last: 5, ..Filter::default() }, |_| Ok(())).unwrap();
        // A checkpoint with such a number as well.
        let name = file.file_name().unwrap().to_str().unwrap();
        let forged = Head::new(name, LAST, &zeros, "2026-01-01T00:00:00.000Z".into());
        put(&desk.checkpoint(&file), forged.line().as_bytes());
        found_out(&desk, &text);
    }
}

/// A row behind the last one of a file, as whoever can write the folder would make it.
fn forge_a_row(file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    let last = text.lines().last().unwrap();
    let seq = serde_json::from_str::<Value>(last).unwrap()["seq"].as_u64().unwrap() + 1;
    let prev = hash(last.as_bytes());
    let forged = format!(
        "{{\"seq\":{seq},\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"ended\",\"outcome\":\"ok\",\"prev\":\"{prev}\"}}\n"
    );
    put(file, format!("{text}{forged}").as_bytes());
}

#[tokio::test]
async fn a_row_behind_an_ordered_end_is_found_out_and_one_behind_a_dead_process_is_uncovered() {
    let desk = Desk::new();
    let (file, bytes) = written(&desk).await;
    forge_a_row(&file);
    assert_eq!(found_out(&desk, "a row behind the end"), [Fault::Behind]);
    put(&file, &[&bytes, b"half a line".as_slice()].concat());
    assert_eq!(found_out(&desk, "half a line behind the end"), [Fault::Behind]);

    // Nothing vouches for what stands behind the last checkpoint of a process that did not end: the documentation says so.
    let desk = Desk::new();
    let audit = desk.open();
    everything(&audit).await;
    forge_a_row(&desk.files()[0]);
    let findings = desk.is_whole();
    assert!(findings.remarks.iter().any(|remark| remark.what == Remark::Uncovered(1)), "{findings:?}");
}

#[tokio::test]
async fn a_full_file_is_closed_and_nothing_can_be_put_behind_it() {
    let desk = Desk::new();
    let audit = Audit::open(AuditOptions { max_file: LEAST_FILE, ..desk.options() }).unwrap();
    while desk.files().len() < 2 {
        audit.note(Some(&subject()), Event::ChallengeIssued { took: TOOK }).unwrap();
    }
    audit.flush().await.unwrap();
    desk.is_whole();
    let first = desk.files().remove(0);
    assert!(fs::read_to_string(&first).unwrap().lines().last().unwrap().contains("\"closed\""));
    forge_a_row(&first);
    assert!(found_out(&desk, "a row behind a full file").contains(&Fault::Behind));
}
