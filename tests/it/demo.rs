//! `counterfoil demo` as people run it.

use counterfoil_tests::program::Folder;

#[test]
fn the_demo_holds_every_claim_and_shows_no_token_whole() {
    let folder = Folder::new();
    let ran = folder.run(&["demo"]);
    ran.gave(0, &["44 of 44 claims held", "params_changed", "wrong_owner", "wrong_tool", "(a replay)"]);
    // Of files, of offers, of documents.
    ran.gave(0, &["an hour of work"]);
    ran.gave(0, &["from $4.50 to $6.20 (+37.8%)", "12 active flows, 4523 lifetime clicks, $1247 lifetime revenue"]);
    ran.gave(0, &["out/report.pdf\" exists already", "add_image = 3", "raised, never lowered"]);
    let text = format!("{ran:?}");
    assert!(!text.contains("NOT SO") && !text.contains('\u{1b}'), "{text}");
    let whole = |part: &str| part.chars().take_while(char::is_ascii_alphanumeric).count() >= 24;
    assert!(!text.split("cfm_").skip(1).any(whole), "{text}");
}
