//! What the two designs that Counterfoil joins show for a single machine: every tool, function, key and sentence of theirs is in a
//! test, in a vector, in a plug-in that ships, or on the mapping page with the reason.

use super::page;
use std::fs;
use std::path::Path;

/// The tools that they name.
const TOOLS: &str = "pause_campaign resume_campaign create_campaign create_landing create_email_list update_email_list \
    add_email_sequence_step enroll_email_subscriber bind_landing_to_email_list generate_ai_landing delete_campaign \
    delete_email_list delete_collection delete_product delete_cloaking_workflow delete_email_conversion_trigger \
    update_offer_payout update_campaign_cost update_source_campaign_budget update_source_campaign_bid \
    pause_source_campaign resume_source_campaign refund_order cancel_order refund_native_order cancel_native_order \
    create_email_smtp_server bulk_update_product_prices cross_platform_scale_plan delete_offer delete_landing delete_foo \
    output_pdf add_image";

/// The functions, settings and words.
const WORDS: &str = "issueToken consumeToken recordCompletion previewResponse doneResponse rejectionResponse okText \
    pendingConfirmations completedConfirmations janitor validation.completed tokenId toolName params toolDeleteFoo \
    ConfirmationGate allowed challenge _confirmation_token confirm_<nonce> risk_level_overrides enabled_tools gRPC REST \
    unknown_or_used wrong_owner wrong_tool params_changed expired in_flight safe caution review approval_required";

/// The keys of their payloads and arguments.
const KEYS: &str = "status tool summary preview offer_id offer_name current_payout new_payout delta_pct \
    active_campaigns_using_this_offer confirm_token confirm_instructions message offer id name payout updated_at error \
    reason foo_id foo_name related_things_count document_id file_path protocolVersion clientInfo";

/// Their sentences and values.
const SENTENCES: [&str; 20] = [
    "Will delete campaign #42 'Black Friday FR'",
    "12 active flows",
    "4523 lifetime clicks",
    "$1247 lifetime revenue",
    "Will update payout of offer #12 'Sweepstakes FR Gold' from $4.50 to $6.20 (+37.8%).",
    "Sweepstakes FR Gold",
    "4.50",
    "6.20",
    "37.8",
    "cfm_a1b2c3d4e5f6g7h8i9j0k1l2",
    "Review the preview above. If correct, call",
    "Token expires in 5 minutes and is single-use.",
    "Offer payout updated successfully",
    "2026-05-18T14:33:21.812Z",
    "Arguments changed between the preview and the confirm call. Re-call without confirm_token to get a new preview.",
    "Foo not found",
    "related things",
    "notifications/initialized",
    "2025-06-18",
    "/var/lib/nextpdf/tmp/out.pdf",
];

/// Where they may be: the page, the vectors, the tests but for this list, and the plug-ins.
fn held() -> Vec<(String, String)> {
    let mut held = vec![("docs/mapping.md".to_owned(), page::read("mapping.md"))];
    for folder in ["tests/it", "tests/vectors", "tests/python", "guest/tools"] {
        collect(&page::root().join(folder), &mut held);
    }
    held
}

fn collect(folder: &Path, held: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(page::root()).unwrap().display().to_string();
        if path.is_dir() {
            if !["target", "node_modules"].iter().any(|skipped| path.ends_with(skipped)) {
                collect(&path, held);
            }
        } else if name != "tests/it/docs/mapping.rs"
            && let Ok(text) = fs::read_to_string(&path)
        {
            held.push((name, text));
        }
    }
}

/// Whether a text has this word and not only a longer one that contains it.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, behind) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        !before.is_some_and(part) && !behind.is_some_and(part)
    })
}

#[test]
fn docs_or_tests_have_all_that_the_two_designs_show() {
    let held = held();
    let mut absent = Vec::new();
    let words = [TOOLS, WORDS, KEYS].into_iter().flat_map(str::split_whitespace);
    absent.extend(words.filter(|word| !held.iter().any(|(_, text)| has_word(text, word))));
    absent.extend(SENTENCES.into_iter().filter(|sentence| !held.iter().any(|(_, text)| text.contains(sentence))));
    assert!(absent.is_empty(), "neither in a test nor in docs/mapping.md: {absent:?}");
    assert!(!held.iter().any(|(_, text)| has_word(text, "consumeTokens")));
}

#[test]
fn docs_map_each_tool_that_no_plug_in_has_and_none_that_one_has() {
    let page = page::read("mapping.md");
    let absent = page.split("## What is not here").nth(1).unwrap();
    // What each row is about, not why.
    let absent: String = absent.lines().filter_map(|row| row.split(" | ").next()).collect::<Vec<_>>().join("\n");
    let tools = page::read("tools.md");
    for tool in TOOLS.split_whitespace().filter(|tool| *tool != "delete_foo") {
        let listed = tools.contains(&format!("### `{tool}`"));
        assert!(
            listed != has_word(&absent, tool),
            "{tool}: listed by a plug-in: {listed}; said to be absent: {}",
            !listed
        );
    }
}
