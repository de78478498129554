//! What the two designs that Counterfoil joins show for a single machine. Their tools are called in the stories that every
//! client tells, or said to be absent with the reason; their payloads come out of the program key by key; their sentences and
//! lines stand in a test; what is another thing here has its row on the mapping page.

use super::page;
use counterfoil_tests::component;
use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Tools that run at once there.
const TIER_1: &str = "pause_campaign resume_campaign create_campaign create_landing create_email_list update_email_list \
    add_email_sequence_step enroll_email_subscriber bind_landing_to_email_list add_image";

/// Tools that are confirmed there.
const TIER_2: &str = "delete_campaign delete_email_list delete_collection delete_product delete_cloaking_workflow \
    delete_email_conversion_trigger update_offer_payout update_campaign_cost update_source_campaign_budget \
    update_source_campaign_bid pause_source_campaign resume_source_campaign refund_order cancel_order \
    create_email_smtp_server bulk_update_product_prices cross_platform_scale_plan output_pdf";

/// Tools that no plug-in has.
const ABSENT: &str = "generate_ai_landing refund_native_order cancel_native_order delete_offer delete_landing";

/// Functions, settings and words: code on the page.
const CODE: &str = "issueToken consumeToken recordCompletion previewResponse doneResponse rejectionResponse okText \
    pendingConfirmations completedConfirmations validation.completed confirm_token tokenId toolName params paramsHash \
    preview summary details toolDeleteFoo delete_foo foo_id foo_name related_things_count ConfirmationGate allowed \
    challenge token confirm_<nonce> _confirmation_token initialize risk_level_overrides add_image enabled_tools \
    output_pdf unknown_or_used wrong_owner wrong_tool params_changed expired safe caution review approval_required";

/// Words and sentences on the page.
const PAGE: [&str; 20] = [
    "the janitor, each minute",
    "in-flight",
    "scopes, MCP tokens",
    "Approve",
    "Decline",
    "cfm_a1b2c3d4e5f6g7h8i9j0k1l2",
    "Review the preview above. If correct, call \"update_offer_payout\" again with the SAME arguments plus \"confirm_token\": ",
    "Token expires in 5 minutes and is single-use.",
    "Arguments changed between the preview and the confirm call. Re-call without confirm_token to get a new preview.",
    "okText({ status: 'rejected', error: 'Foo not found' })",
    "Will delete foo #",
    "related things.",
    "stored encrypted",
    "a token store with garbage collection",
    "300 seconds",
    "the version of the risk model",
    "audit from `caution` upwards",
    "REST and gRPC",
    "API keys",
    "`safe` 0, `caution` 1, `review` 2, `approval_required` 3",
];

/// Sentences and lines that a test has word for word.
const TESTED: [&str; 9] = [
    "\"Will delete campaign #42 'Black Friday FR' — 12 active flows, 4523 lifetime clicks, $1247 lifetime revenue\"",
    "\"Will update payout of offer #12 'Sweepstakes FR Gold' from $4.50 to $6.20 (+37.8%).\"",
    "\"Offer payout updated successfully\"",
    r#"{ "tool": "update_offer_payout", "arguments": { "offer_id": 999, "new_payout": 6.20 }, "error": "999" }"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1.0.0"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"output_pdf","arguments":{"document_id":"<id>","file_path":"/var/lib/nextpdf/tmp/out.pdf"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"output_pdf","arguments":{"document_id":"<id>","file_path":"/var/lib/nextpdf/tmp/out.pdf","_confirmation_token":"confirm_<nonce>"}}}"#,
    "add_image = 3",
];

/// Why a second call was rejected there: each is a reason in a vector.
const REASONS: &str = "unknown_or_used wrong_owner wrong_tool params_changed expired";

/// The texts of the tests, but for this list.
fn tests() -> Vec<String> {
    let mut texts = Vec::new();
    for folder in ["it", "stories", "vectors", "python"] {
        collect(&page::root().join("tests").join(folder), &mut texts);
    }
    texts
}

fn collect(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, texts);
        } else if !path.ends_with("docs/mapping.rs") {
            texts.extend(fs::read_to_string(&path));
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

/// What a story lists with its levels, and what it calls in these of its parts.
fn story(plugin: &str) -> Value {
    let path = page::root().join(format!("tests/stories/{plugin}.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn called(story: &Value, part: &str) -> BTreeSet<String> {
    let calls = story[part].as_array().unwrap_or_else(|| panic!("the story has no {part}"));
    calls.iter().map(|call| call["tool"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn docs_tools_of_the_two_designs_are_called_at_their_tier_by_every_client() {
    for plugin in super::SHIPPED {
        let story = story(plugin);
        let (confirmed, mut all) = (called(&story, "dangerous"), called(&story, "reads"));
        all.extend(called(&story, "writes"));
        all.extend(confirmed.clone());
        let tools = story["tools"].as_object().unwrap();
        assert_eq!(all, tools.keys().cloned().collect(), "{plugin}: the story calls each tool that it lists");
        for (tool, level) in tools {
            let dangerous = level == "approval_required" || !story["raised"][tool].is_null();
            assert!(!dangerous || confirmed.contains(tool), "{plugin}: {tool} is confirmed in the story");
        }
    }
    let stories: Vec<Value> = super::SHIPPED.map(story).to_vec();
    let declared = |tool: &str| stories.iter().find_map(|story| story["tools"][tool].as_str());
    for tool in TIER_1.split_whitespace() {
        assert_eq!(declared(tool), Some("caution"), "{tool}");
    }
    for tool in TIER_2.split_whitespace() {
        assert_eq!(declared(tool), Some("approval_required"), "{tool}");
    }
    for tool in ABSENT.split_whitespace() {
        assert_eq!(declared(tool), None, "{tool}");
    }
}

#[test]
fn docs_map_each_tool_that_no_plug_in_has_and_none_that_one_has() {
    let page = page::read("mapping.md");
    let absent = page.split("## What is not here").nth(1).unwrap();
    // What each row is about, not why.
    let absent: String = absent.lines().filter_map(|row| row.split(" | ").next()).collect::<Vec<_>>().join("\n");
    let tools = page::read("tools.md");
    let all = [TIER_1, TIER_2, ABSENT].into_iter().flat_map(str::split_whitespace);
    for tool in all {
        let listed = tools.contains(&format!("### `{tool}`"));
        assert_eq!(has_word(&absent, tool), !listed, "{tool}: listed by a plug-in: {listed}");
    }
}

#[test]
fn docs_map_each_word_of_the_two_designs_that_is_another_here() {
    let page = page::read("mapping.md");
    let code: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let uncoded: Vec<&str> =
        CODE.split_whitespace().filter(|word| !code.iter().any(|span| has_word(span, word))).collect();
    let unsaid: Vec<&str> = PAGE.into_iter().filter(|words| !page.contains(words)).collect();
    assert!(uncoded.is_empty() && unsaid.is_empty(), "not on docs/mapping.md: {uncoded:?} {unsaid:?}");
}

#[test]
fn docs_sentences_lines_and_reasons_of_the_two_designs_are_in_a_test() {
    let tests = tests();
    let reasons = REASONS.split_whitespace().map(|reason| format!("\"reason\": \"{reason}\""));
    let sought = TESTED.into_iter().map(str::to_owned).chain(reasons);
    let absent: Vec<String> = sought.filter(|words| !tests.iter().any(|text| text.contains(words))).collect();
    assert!(absent.is_empty(), "in no test: {absent:#?}");
}

/// One session: the payloads of these calls of one tool.
fn payloads(folder: &Folder, tool: &str, calls: &[&str]) -> Vec<Value> {
    let lines: String = calls
        .iter()
        .map(|given| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{given}}}}}"#
            )
        })
        .map(|line| line + "\n")
        .collect();
    let ran = folder.run_with_input(&["serve"], &lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = |line| serde_json::from_str::<Value>(line).unwrap()["result"]["structuredContent"].clone();
    ran.out.lines().map(told).collect()
}

/// Holds a payload to the one that is shown: each key, with its value unless it is one of these.
#[track_caller]
fn holds(payload: &Value, shown: &Value, free: &[&str]) {
    for (key, value) in shown.as_object().unwrap() {
        let said = payload.get(key).unwrap_or_else(|| panic!("no {key:?} in {payload}"));
        if value.is_object() {
            holds(said, value, free);
        } else if !free.contains(&key.as_str()) {
            assert_eq!(said, value, "{key}: {payload}");
        }
    }
}

#[test]
fn docs_payloads_of_the_two_step_contract_come_out_key_by_key() {
    let folder = Folder::new();
    let config = format!(
        "[store]\nurl = \"sqlite:state.db\"\n[plugins.offers]\nsource = {}\n\
         dirs = [{{ host = \"./data\", guest = \"/data\", access = \"read-write\" }}]\n",
        json!(component("offers"))
    );
    folder.write("work/counterfoil.toml", &config);
    fs::create_dir(folder.path("work/data")).unwrap();
    folder.lock();
    let sample = page::root().join("guest/tools/offers/sample/offers.json");
    fs::copy(sample, folder.path("work/data/offers.json")).unwrap();

    let tool = "update_offer_payout";
    let asked = &payloads(&folder, tool, &[r#"{"offer_id": 12, "new_payout": 6.20}"#])[0];
    let shown = json!({
        "status": "confirmation_required",
        "tool": "update_offer_payout",
        "summary": "Will update payout of offer #12 'Sweepstakes FR Gold' from $4.50 to $6.20 (+37.8%).",
        "preview": {
            "offer_id": 12,
            "offer_name": "Sweepstakes FR Gold",
            "current_payout": "4.50",
            "new_payout": "6.20",
            "delta_pct": 37.8,
            "active_campaigns_using_this_offer": 4
        },
        "confirm_token": "cfm_a1b2c3d4e5f6g7h8i9j0k1l2",
        "confirm_instructions": "in other words"
    });
    holds(asked, &shown, &["confirm_token", "confirm_instructions"]);
    let (token, instructions) =
        (asked["confirm_token"].as_str().unwrap(), asked["confirm_instructions"].as_str().unwrap());
    assert_eq!(token.len(), "cfm_a1b2c3d4e5f6g7h8i9j0k1l2".len());
    for words in [tool, token, "same arguments", "\"confirm_token\"", "5 minutes", "once"] {
        assert!(instructions.contains(words), "{words}: {instructions}");
    }

    // A token with that example's letters, another argument, and then the call as it was shown.
    let strange = r#"{"offer_id": 12, "new_payout": 6.20, "confirm_token": "cfm_a1b2c3d4e5f6g7h8i9j0k1l2"}"#;
    assert_eq!(payloads(&folder, tool, &[strange])[0]["reason"], "malformed_token");
    let changed = format!(r#"{{"offer_id": 43, "new_payout": 6.20, "confirm_token": "{token}"}}"#);
    let rejected = &payloads(&folder, tool, &[&changed])[0];
    let shown = json!({"status": "rejected", "tool": tool, "error": "in other words", "reason": "params_changed"});
    holds(rejected, &shown, &["error"]);

    let confirmed = format!(r#"{{"offer_id": 12, "new_payout": 6.20, "confirm_token": "{token}"}}"#);
    let done = &payloads(&folder, tool, &[&confirmed])[0];
    let at = "2026-05-18T14:33:21.812Z";
    let shown = json!({
        "status": "ok",
        "tool": "update_offer_payout",
        "message": "Offer payout updated successfully",
        "offer": { "id": 12, "name": "Sweepstakes FR Gold", "payout": "6.20", "updated_at": at }
    });
    holds(done, &shown, &["updated_at"]);
    let form = |time: &str| time.replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(form(done["offer"]["updated_at"].as_str().unwrap()), form(at));
    assert_eq!(&payloads(&folder, tool, &[&confirmed])[0], done, "replayed by another process");
}
