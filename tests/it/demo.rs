//! `counterfoil demo` as people run it.

use counterfoil_tests::program::Folder;

#[test]
fn the_demo_holds_every_claim_and_shows_no_token_whole() {
    let folder = Folder::new();
    let ran = folder.run(&["demo"]);
    ran.gave(0, &["14 of 14 claims held", "params_changed", "wrong_owner", "(a replay)", "an hour of work"]);
    let text = format!("{ran:?}");
    assert!(!text.contains("NOT SO") && !text.contains('\u{1b}'), "{text}");
    let whole = |part: &str| part.chars().take_while(char::is_ascii_alphanumeric).count() >= 24;
    assert!(!text.split("cfm_").skip(1).any(whole), "{text}");
}
