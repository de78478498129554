//! What was written is found whole, and whatever is done to it is found out.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod damage;
mod places;
mod rollback;
mod standing;
mod ways;

use super::event::{Ending, Event, Subject};
use super::in_force::{Cause, InForce, Override};
use super::*;
use crate::Level;
use crate::gate::{Assurance, Detail, Failure, OutcomeStatus, Reason, TestClock};
use crate::tool::Effect;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

const TOOK: Duration = Duration::from_micros(12_345);

/// A folder of a test's own, and an audit that writes into it.
struct Desk {
    dir: tempfile::TempDir,
    clock: Arc<TestClock>,
}

impl Desk {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), clock: Arc::default() }
    }

    fn audit_dir(&self) -> PathBuf {
        self.dir.path().join("audit")
    }

    fn places(&self) -> Vec<PathBuf> {
        vec![self.dir.path().join("checkpoints")]
    }

    fn options(&self) -> AuditOptions {
        let options = AuditOptions::new(self.audit_dir(), self.dir.path().join("checkpoints"));
        AuditOptions { clock: self.clock.clone(), ..options }
    }

    fn open(&self) -> Audit {
        Audit::open(self.options()).unwrap()
    }

    fn verify(&self) -> Findings {
        verify(&self.audit_dir(), &self.places()).unwrap()
    }

    /// The files, oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let (names, _) = lines::names(&self.audit_dir()).unwrap();
        names.iter().map(|name| self.audit_dir().join(name)).collect()
    }

    /// Where the checkpoint of a file is.
    fn checkpoint(&self, file: &Path) -> PathBuf {
        let folder = checkpoint::folder(&self.places()[0], &self.audit_dir().canonicalize().unwrap());
        folder.join(checkpoint::name_for(file.file_name().unwrap().to_str().unwrap()))
    }

    fn rows(&self) -> Vec<Value> {
        let text: String = self.files().iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[track_caller]
    fn is_whole(&self) -> Findings {
        let findings = self.verify();
        assert_eq!(findings.faults, [], "{findings:?}");
        findings
    }
}

fn subject() -> Subject {
    Subject {
        owner: "os:alice".into(),
        tool: "delete_file".into(),
        level: Some(Level::ApprovalRequired),
        revision: Some("r".repeat(64)),
        arguments: Some("a".repeat(64)),
        approval_id: Some("apr_abcdefghijklmnopqrstuvwx".into()),
        assurance: Some(Assurance::TokenOnly),
        policy: vec!["rule 1 of the operator makes this call approval_required: money".into()],
    }
}

/// One of each event.
fn every_event() -> Vec<Event<'static>> {
    let operation_id = "op_abcdefghijklmnopqrstuvwx";
    vec![
        Event::ChallengeIssued { took: TOOK },
        Event::Refused { reason: Reason::UnknownOrUsed, detail: Some(Detail::AlreadyRan), started: None, took: TOOK },
        Event::Started { operation_id: Some(operation_id) },
        Event::Ended { started: 3, operation_id, ending: Ending::Ok, kept: Some(true), took: TOOK },
        Event::Ended {
            started: 3,
            operation_id,
            ending: Ending::Failed(Failure::Deadline, Effect::Unknown),
            kept: None,
            took: TOOK,
        },
        Event::Cancelled {
            started: 3,
            operation_id: Some(operation_id),
            effect: Effect::Unknown,
            stopped: true,
            took: TOOK,
        },
        Event::Replayed { operation_id, status: OutcomeStatus::Failed, started: None, took: TOOK },
        Event::SettlementReplaced { started: 3, operation_id, happened: false, by: "os:alice" },
        Event::Settling { happened: true, by: "os:alice" },
        Event::Resolved { started: 9, happened: true, by: "os:alice", took: TOOK },
        Event::NotResolved { started: 9, by: "os:alice", took: TOOK },
        Event::CheckpointCommand { works: false },
    ]
}

fn rules() -> InForce {
    let raised = Override { tool: "write_file".into(), declared: "caution", level: "approval_required" };
    InForce {
        cause: Cause::Start,
        model: "1".into(),
        tools: 3,
        revision: "f".repeat(64),
        overrides: vec![raised],
        unlocked: vec!["other_file".into()],
        rules: vec!["a rule".into()],
    }
}

/// Writes one of everything and waits for it.
async fn everything(audit: &Audit) {
    audit.in_force(&rules());
    for event in every_event() {
        audit.note(Some(&subject()), event).unwrap();
    }
    audit.flush().await.unwrap();
}

#[tokio::test]
async fn every_event_makes_a_row_that_verifies_and_every_field_is_explained() {
    let desk = Desk::new();
    everything(&desk.open()).await;
    let findings = desk.is_whole();
    let rows = desk.rows();
    // The opening and what is in force come first.
    assert_eq!(findings.files[0].rows as usize, every_event().len() + 3);
    assert_eq!(rows.last().unwrap()["event"], "closed");
    assert_eq!(rows[0]["event"], "opened");
    assert_eq!(rows[0]["file"], desk.files()[0].file_name().unwrap().to_str().unwrap());
    assert_eq!(rows[1]["overrides"][0]["tool"], "write_file");
    assert_eq!(rows[2]["time"], "2026-01-01T00:00:00.000Z");
    assert_eq!(rows[2]["duration_ms"], 12.345);
    let order: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).chain([PREV.0]).collect();
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row["seq"], at as u64 + 1);
        let unknown: Vec<&String> =
            row.as_object().unwrap().keys().filter(|key| !order.contains(&key.as_str())).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
    // In the line they stand in the order in which they are explained.
    let text = fs::read_to_string(&desk.files()[0]).unwrap();
    for line in text.lines().filter(|line| !line.contains("\"overrides\"")) {
        let places: Vec<usize> = order.iter().filter_map(|name| line.find(&format!("\"{name}\":"))).collect();
        assert!(places.is_sorted(), "{line}");
    }
}

#[tokio::test]
async fn a_process_that_tells_nothing_leaves_no_file() {
    let desk = Desk::new();
    let audit = desk.open();
    audit.in_force(&rules());
    audit.flush().await.unwrap();
    drop(audit);
    assert!(!desk.audit_dir().exists());
    assert_eq!(desk.is_whole(), Findings::default());
}

#[tokio::test]
async fn a_full_file_is_ended_and_the_next_goes_on_from_it() {
    let desk = Desk::new();
    let audit = Audit::open(AuditOptions { max_file: LEAST_FILE, ..desk.options() }).unwrap();
    audit.in_force(&rules());
    let started = audit.durable(Some(&subject()), Event::Started { operation_id: None }).await.unwrap();
    while desk.files().len() < 3 {
        audit.note(Some(&subject()), Event::ChallengeIssued { took: TOOK }).unwrap();
    }
    let ended = Event::Ended { started, operation_id: "op", ending: Ending::Ok, kept: None, took: TOOK };
    audit.note(Some(&subject()), ended).unwrap();
    audit.flush().await.unwrap();
    let findings = desk.is_whole();
    assert_eq!(findings.remarks, [], "the run's end is in another file than its start");
    let rows = desk.rows();
    assert!(rows.iter().enumerate().all(|(at, row)| row["seq"] == at as u64 + 1), "the numbers go on");
    assert_eq!(rows.iter().filter(|row| row["event"] == "in_force" && row["cause"] == "rotation").count(), 2);
    // A file in the middle that is gone is seen, whether its checkpoint is there or not.
    let middle = desk.files()[1].clone();
    fs::remove_file(&middle).unwrap();
    assert!(desk.verify().faults.iter().any(|fault| matches!(fault.what, Fault::Missing { .. })));
    fs::remove_file(desk.checkpoint(&middle)).unwrap();
    let findings = desk.verify();
    assert!(
        findings.remarks.iter().any(|remark| matches!(remark.what, Remark::PreviousElsewhere(_))),
        "with both gone it looks as if somebody had put old files away: {findings:?}"
    );
}

#[tokio::test]
async fn rules_that_fill_more_than_a_row_take_several() {
    let desk = Desk::new();
    let audit = desk.open();
    let rules = InForce { rules: vec!["\u{1}".repeat(4_000); 20], ..rules() };
    audit.in_force(&rules);
    audit.note(None, Event::CheckpointCommand { works: true }).unwrap();
    let long = InForce { cause: Cause::Reload, rules: vec!["é".repeat(100_000)], ..self::rules() };
    audit.in_force(&long);
    audit.flush().await.unwrap();
    desk.is_whole();
    let rows = desk.rows();
    let parts: Vec<&Value> = rows.iter().filter(|row| row["cause"] == "start").collect();
    assert!(parts.len() > 3 && parts.iter().all(|row| row["parts"] == parts.len() as u64));
    let all: usize = parts.iter().map(|row| row["rules"].as_array().unwrap().len()).sum();
    assert_eq!(all, 20);
    let reload = rows.iter().find(|row| row["cause"] == "reload").unwrap();
    assert!(reload["rules"][0].as_str().unwrap().contains("200000 bytes, sha256 "));
}

#[tokio::test]
async fn whoever_knocks_without_end_fills_no_disk_and_the_rows_say_how_often() {
    let desk = Desk::new();
    let audit = desk.open();
    let knock = Event::Refused { reason: Reason::UnknownTool, detail: None, started: None, took: TOOK };
    let long = Subject { tool: "x".repeat(100_000), ..subject() };
    for _ in 0..10_000 {
        audit.note(Some(&long), knock).unwrap();
    }
    let run = Event::Started { operation_id: None };
    audit.note(Some(&subject()), run).unwrap();
    audit.flush().await.unwrap();
    desk.is_whole();
    let rows = desk.rows();
    assert!(rows.len() < 400, "{}", rows.len());
    let counted: u64 = rows.iter().filter_map(|row| row["left_out"].as_u64()).sum();
    let why: u64 = rows.iter().filter_map(|row| row["left_out_why"]["unknown_tool"].as_u64()).sum();
    assert_eq!(why, counted);
    assert_eq!(counted + rows.iter().filter(|row| row["event"] == "refused").count() as u64, 10_000);
    assert!(rows[1]["tool"].as_str().unwrap().ends_with("… (100000 characters)"));
    assert_eq!(rows.iter().filter(|row| row["event"] == "started").count(), 1, "what runs is never left out");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_make_one_chain() {
    let desk = Desk::new();
    let audit = desk.open();
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let audit = audit.clone();
            tokio::spawn(async move {
                audit.durable(Some(&subject()), Event::Started { operation_id: None }).await.unwrap()
            })
        })
        .collect();
    let mut numbers = BTreeSet::new();
    for task in tasks {
        numbers.insert(task.await.unwrap());
    }
    assert_eq!(numbers.len(), 64);
    let findings = desk.is_whole();
    assert!(!findings.remarks.iter().any(|remark| matches!(remark.what, Remark::Uncovered(_))), "{findings:?}");
}

#[tokio::test]
async fn rows_are_found_by_what_they_say() {
    let desk = Desk::new();
    let audit = desk.open();
    everything(&audit).await;
    desk.clock.advance(60_000);
    let other = Subject { owner: "name:ci".into(), level: Some(Level::Caution), approval_id: None, ..subject() };
    audit.note(Some(&other), Event::Started { operation_id: Some("op") }).unwrap();
    let count = |filter: Filter| {
        let mut rows = Vec::new();
        let found = search(&desk.audit_dir(), &filter, |hit| {
            rows.push(hit.row);
            Ok(())
        });
        assert_eq!(found.unwrap().unreadable, 0);
        rows.len()
    };
    let all = Filter { last: 1_000, ..Filter::default() };
    let events = every_event().len();
    assert_eq!(count(all.clone()), events + 3);
    assert_eq!(count(Filter { last: 4, ..all.clone() }), 4);
    assert_eq!(count(Filter { owner: Some("name:ci".into()), ..all.clone() }), 1);
    assert_eq!(count(Filter { owner: Some("name".into()), ..all.clone() }), 0);
    assert_eq!(count(Filter { tool: Some("delete_file".into()), ..all.clone() }), events + 1);
    assert_eq!(count(Filter { level: Some(Level::Caution), ..all.clone() }), events + 1);
    assert_eq!(count(Filter { level: Some(Level::Review), ..all.clone() }), events);
    assert_eq!(count(Filter { events: vec!["ended".into(), "opened".into()], ..all.clone() }), 3);
    assert_eq!(count(Filter { approval_id: subject().approval_id, ..all.clone() }), events);
    let minute = humantime::parse_rfc3339("2026-01-01T00:01:00Z").unwrap();
    assert_eq!(count(Filter { since: Some(minute), ..all.clone() }), 1);
    assert_eq!(count(Filter { until: Some(minute), ..all.clone() }), events + 2);
    // Of another configuration that writes to the same folder, in files of its own.
    audit.flush().await.unwrap();
    let config = Some(PathBuf::from("/elsewhere/counterfoil.toml"));
    let elsewhere = Audit::open(AuditOptions { config, ..desk.options() }).unwrap();
    elsewhere.in_force(&rules());
    elsewhere.note(Some(&other), Event::Started { operation_id: Some("op") }).unwrap();
    let reload = InForce { cause: Cause::Reload, ..rules() };
    elsewhere.in_force(&reload);
    let its = Filter { config: Some("/elsewhere/counterfoil.toml".into()), ..all.clone() };
    assert_eq!(count(its.clone()), 4);
    assert_eq!(count(Filter { calls_only: true, ..its }), 2, "a call, and a reload");
    assert_eq!(count(Filter { calls_only: true, ..all.clone() }), events + 3);
    search(&desk.audit_dir(), &all, |hit| {
        let from = hit.row.text("config").map(str::to_owned);
        assert!(from.is_none() || from == hit.config, "{hit:?}");
        Ok(())
    })
    .unwrap();
}
