//! Passes on how far a call is: the latest word, at a bounded rate, and nothing once the call is answered.

use crate::text::escape;
use crate::tool::Progress;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Time between two notifications of one call: more often than people can read helps nobody, and a tool that reports in
/// a loop does not fill the client's pipe.
const PAUSE: Duration = Duration::from_millis(100);
/// Longest message that is passed on, in characters. A longer one says that it was cut.
const MAX_MESSAGE: usize = 500;

/// What a tool says while it runs.
#[derive(Default)]
pub(super) struct Reports {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Default)]
struct State {
    latest: Option<Report>,
    closed: bool,
}

struct Report {
    fraction: Option<f64>,
    message: String,
}

impl Progress for Reports {
    fn report(&self, fraction: Option<f64>, message: &str) {
        let fraction = fraction.filter(|fraction| fraction.is_finite()).map(|fraction| fraction.clamp(0.0, 1.0));
        self.state().latest = Some(Report { fraction, message: shown(message) });
        self.news.notify_one();
    }
}

impl Reports {
    /// The call has been answered.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.news.notify_one();
    }

    /// Passes reports on until the call is answered.
    pub(super) async fn forward(&self, peer: &Peer<RoleServer>, token: ProgressToken) {
        let mut scale = Scale::default();
        while let Some(report) = self.next().await {
            let Some((progress, total)) = scale.place(report.fraction) else { continue };
            let mut param = ProgressNotificationParam::new(token.clone(), progress);
            param.total = total;
            if !report.message.is_empty() {
                param.message = Some(report.message);
            }
            if peer.notify_progress(param).await.is_err() {
                return;
            }
            let _ = tokio::time::timeout(PAUSE, self.closed()).await;
        }
    }

    async fn next(&self) -> Option<Report> {
        loop {
            {
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                if let Some(report) = state.latest.take() {
                    return Some(report);
                }
            }
            self.news.notified().await;
        }
    }

    async fn closed(&self) {
        while !self.state().closed {
            self.news.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps what is sent increasing, as the protocol demands: fractions of 1 where the tool gives them, else a count.
#[derive(Default)]
struct Scale {
    sent: Option<f64>,
    fractions: bool,
}

impl Scale {
    fn place(&mut self, fraction: Option<f64>) -> Option<(f64, Option<f64>)> {
        let (value, total) = match fraction {
            // After counting, a fraction would fall behind what was sent.
            Some(fraction) if self.fractions || self.sent.is_none() => (fraction, Some(1.0)),
            _ if self.fractions => return None,
            _ => (self.sent.unwrap_or(0.0) + 1.0, None),
        };
        if self.sent.is_some_and(|sent| value <= sent) {
            return None;
        }
        self.sent = Some(value);
        self.fractions = total.is_some();
        Some((value, total))
    }
}

/// A tool's words on the client's screen: hidden characters made visible, a cut one marked.
fn shown(message: &str) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        None => escape(message).into_owned(),
        Some((end, _)) => format!("{}… (cut)", escape(message.get(..end).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_sent_only_increases() {
        let sent = |reports: &[Option<f64>]| {
            let mut scale = Scale::default();
            reports.iter().filter_map(|report| scale.place(*report)).collect::<Vec<_>>()
        };
        let of_one = |values: &[f64]| values.iter().map(|value| (*value, Some(1.0))).collect::<Vec<_>>();
        assert_eq!(sent(&[Some(0.0), Some(0.5), Some(0.5), Some(0.2), Some(1.0)]), of_one(&[0.0, 0.5, 1.0]));
        assert_eq!(sent(&[None, None]), [(1.0, None), (2.0, None)]);
        assert_eq!(sent(&[Some(0.5), None, Some(0.6)]), of_one(&[0.5, 0.6]));
        assert_eq!(sent(&[None, Some(0.5)]), [(1.0, None), (2.0, None)]);
    }

    #[test]
    fn a_message_cannot_repaint_the_screen_and_says_when_it_was_cut() {
        assert_eq!(shown("a\u{1b}[2J\u{202e}é"), "a\\e[2J\\u{202e}é");
        let long = shown(&"x".repeat(MAX_MESSAGE + 1));
        assert_eq!(long, format!("{}… (cut)", "x".repeat(MAX_MESSAGE)));
        assert_eq!(shown(&"x".repeat(MAX_MESSAGE)).len(), MAX_MESSAGE);
    }

    #[tokio::test]
    async fn the_latest_word_counts_and_none_after_the_end() {
        let reports = Reports::default();
        reports.report(Some(0.1), "first");
        reports.report(Some(f64::NAN), "second");
        let report = reports.next().await.unwrap();
        assert_eq!((report.fraction, report.message.as_str()), (None, "second"));
        reports.report(None, "third");
        reports.close();
        assert!(reports.next().await.is_none());
    }
}
