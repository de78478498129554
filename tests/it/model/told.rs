//! Whether an answer says what the model says.

use super::rules::{MAX_OUTCOME, Verdict};
use counterfoil_gate_core::digest::{hex, sha256};
use serde_json::{Value, json};

/// An answer that runs nothing.
pub(super) fn tells(answer: &Value, verdict: &Verdict) {
    let rejected = |reason: &str, detail: Option<&str>, wait: Option<u64>| {
        let told = &answer["reject"];
        let told = (&told["reason"], &told["detail"], &told["retry_after"]);
        assert_eq!(told, (&json!(reason), &json!(detail), &json!(wait)), "{answer} for {verdict:?}");
    };
    match verdict {
        Verdict::Runnable => panic!("it may run and {answer} came"),
        Verdict::Unresolved(wait) => rejected("unresolved", None, *wait),
        Verdict::Reject(reason, detail, wait) => rejected(reason, *detail, *wait),
        Verdict::Replay { operation, at, status, payload } => {
            let replay = &answer["replay"];
            assert_eq!(replay["operation_id"], json!(operation), "{answer}");
            assert_eq!(replay["completed_at"], json!(at), "{answer}");
            assert_eq!(replay["outcome"]["status"], json!(status), "{answer}");
            let came = replay["outcome"]["payload"].as_str().unwrap();
            if payload.len() < MAX_OUTCOME {
                assert_eq!(came, payload, "a replay is what was recorded, byte for byte");
            } else {
                assert!(came.contains(&hex(&sha256(payload.as_bytes()))), "{came}");
            }
        }
    }
}
