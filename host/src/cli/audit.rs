//! `audit`: hold what was written to its chain and its checkpoints, or look through it. Nothing here writes.

mod show;
mod words;

use super::print::{self, bold, inset, line};
use super::{Usage, exit, log, open};
use crate::audit::{Checked, Findings, Remark, verify};
use crate::config::AuditConfig;
use crate::text::escape;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Say whether every file is what was written, as far as its checkpoints reach
    #[command(after_help = "\
Changes nothing, and finds out:
  a row that was changed, removed, exchanged or inserted
  the end of a file that was cut, or a row behind it
  a file that is gone, or was put in another's place
  a checkpoint that is gone, or was put back to what it said earlier
  a path of the audit that leads to another folder than it did

What is no sign of tampering is told, too, and changes no exit code.

Exit codes: 0 everything is what was written, 1 something is not, 2 the configuration is wrong.")]
    Verify {
        /// Look into this folder: one that the audit was written to before. Its checkpoints go by its path, so that a copy
        /// has none
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
        /// Print JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Show rows, the latest last
    Show(show::Args),
    /// Say that you moved the folder of the audit, so that its checkpoints go along
    #[command(after_help = "\
Checkpoints go by where the path of the folder leads.
Where it leads to another one than it did, neither serve nor call starts until you say that this was you.

Checkpoints of files that are still in the earlier folder stay.
Ends with what `counterfoil audit verify` says.

Examples:
  Its path is the same, and leads elsewhere:
    mv /var/log/counterfoil /data/audit
    ln -s /data/audit /var/log/counterfoil
    counterfoil audit moved
  Its path is another one, and the configuration has it:
    mv audit /data/audit
    counterfoil audit moved --from audit

Exit codes: 0 everything is what was written, 1 something is not, 2 nothing was moved, or the configuration is wrong.")]
    Moved {
        /// Where it was, where its path is another one now
        #[arg(long, value_name = "FOLDER")]
        from: Option<PathBuf>,
    },
}

pub(super) async fn run(verb: Verb, config: Option<&Path>) -> anyhow::Result<u8> {
    log::start();
    let config = open::load(config)?;
    let file = std::path::absolute(config.places.file())?.display().to_string();
    let Some(mut audit) = config.audit else { return Err(Usage("this configuration has no audit".into()).into()) };
    // Files can be large, and reading them takes no part in anything else.
    tokio::task::spawn_blocking(move || {
        if let Verb::Verify { dir: Some(dir), .. } | Verb::Show(show::Args { dir: Some(dir), .. }) = &verb {
            if !dir.is_dir() {
                return Err(Usage(format!("{} is no folder: give one that an audit was written to", shown(dir))).into());
            }
            audit.dir.clone_from(dir);
        }
        match verb {
            Verb::Verify { json, .. } => check(&audit, json),
            Verb::Show(args) => show::run(&args, &audit, &file),
            Verb::Moved { from } => moved(&audit, from.as_deref()),
        }
    })
    .await?
}

fn moved(audit: &AuditConfig, from: Option<&Path>) -> anyhow::Result<u8> {
    let moved = crate::audit::moved(&audit.dir, from, &audit.checkpoints)?;
    let was: Vec<String> = moved.from.iter().map(|was| shown(was)).collect();
    let was = was.join(" and ");
    if moved.from.is_empty() {
        let dir = shown(&audit.dir);
        let what = format!("the path {dir} leads where it led: say where the folder was with --from, if you moved it");
        return Err(Usage(what).into());
    }
    if moved.along == 0 && moved.stay == 0 && from.is_some() {
        return Err(Usage(format!("no checkpoint is known of a file in {was}: --from is where the folder was")).into());
    }
    let along = number(moved.along as u64, "file");
    line(&format!("the checkpoints of {along} go with the folder from {was} to {}", shown(&audit.dir)))?;
    if moved.stay > 0 {
        line(&format!("those of {} stay: they are still there", number(moved.stay as u64, "file")))?;
    }
    check(audit, false)
}

fn check(audit: &AuditConfig, json_only: bool) -> anyhow::Result<u8> {
    let findings = verify(&audit.dir, &audit.checkpoints)?;
    let code = if findings.is_whole() { exit::OK } else { exit::OTHER };
    if json_only {
        print::json(&serde_json::to_string_pretty(&as_json(&findings))?)?;
        return Ok(code);
    }
    let dir = shown(&audit.dir);
    let (files, rows) = (findings.files.len(), findings.files.iter().map(|file| file.rows).sum::<u64>());
    for finding in &findings.remarks {
        let words = words::remark(&finding.what);
        line(&format!("{}: {}: {}", place(&finding.file, finding.line), words.kind, words.text))?;
        line(&inset(&words.advice))?;
    }
    for finding in &findings.faults {
        let words = words::fault(&finding.what);
        line(&format!("{}: {}: {}", bold(&place(&finding.file, finding.line)), words.kind, words.text))?;
        line(&inset(&words.advice))?;
    }
    if findings.left_out > 0 {
        line(&format!("and {} findings more of the same kinds", findings.left_out))?;
    }
    let remarks = match findings.remarks.len() {
        0 => String::new(),
        1 => "; what is told above is no sign that somebody touched it".to_owned(),
        several => format!("; the {several} things told above are no sign that somebody touched it"),
    };
    let (files, rows) = (number(files as u64, "file"), number(rows, "row"));
    let begun = findings.remarks.iter().any(|finding| finding.what == Remark::Begun);
    line(&match (findings.files.is_empty(), findings.is_whole()) {
        (true, true) if begun => format!("{dir} has no file, and nothing is known to have been recorded there"),
        (true, true) => format!("{dir} has no file, and no checkpoint knows of one: nothing was recorded there yet"),
        (false, true) => {
            format!("{} {files} with {rows} in {dir}, as far as the checkpoints reach{remarks}", bold("whole:"))
        }
        (_, false) => format!(
            "{} {} in {files} with {rows} in {dir}: keep a copy of it and of the checkpoints before anything else",
            bold("NOT WHOLE:"),
            number(findings.faults.len() as u64, "fault")
        ),
    })?;
    Ok(code)
}

fn shown(path: &Path) -> String {
    escape(&path.display().to_string()).into_owned()
}

/// So many of something.
fn number(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn place(file: &str, line: Option<u64>) -> String {
    let file = escape(file);
    line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}"))
}

fn as_json(findings: &Findings) -> Value {
    let finding = |file: &str, line: Option<u64>, words: words::Words| json!({ "file": file, "line": line, "kind": words.kind, "text": words.text, "advice": words.advice });
    let file = |checked: &Checked| {
        let (first, last) = checked.span.clone().unzip();
        json!({ "file": checked.file, "rows": checked.rows, "first": first, "last": last })
    };
    json!({
        "whole": findings.is_whole(),
        "files": findings.files.iter().map(file).collect::<Vec<_>>(),
        "faults": findings.faults.iter().map(|f| finding(&f.file, f.line, words::fault(&f.what))).collect::<Vec<_>>(),
        "remarks":
            findings.remarks.iter().map(|r| finding(&r.file, r.line, words::remark(&r.what))).collect::<Vec<_>>(),
        "left_out": findings.left_out,
    })
}
