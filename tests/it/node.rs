//! The contract through the official clients for Node: both generations of the TypeScript SDK, and the Inspector's command
//! line.

use counterfoil_tests::clients::node;
use counterfoil_tests::{component, fixture};

#[test]
fn the_typescript_client_drives_the_contract_on_files() {
    node("contract.mjs", &["client", "files"], &component("files"), 33);
}

#[test]
fn the_older_typescript_sdk_drives_the_contract_on_files() {
    node("contract.mjs", &["sdk", "files"], &component("files"), 23);
}

#[test]
fn the_typescript_client_drives_the_contract_on_offers() {
    node("contract.mjs", &["client", "offers"], &component("offers"), 39);
}

#[test]
fn the_older_typescript_sdk_drives_the_contract_on_offers() {
    node("contract.mjs", &["sdk", "offers"], &component("offers"), 27);
}

#[test]
fn the_typescript_client_drives_the_contract_on_pdf() {
    node("contract.mjs", &["client", "pdf"], &component("pdf"), 39);
}

#[test]
fn the_older_typescript_sdk_drives_the_contract_on_pdf() {
    node("contract.mjs", &["sdk", "pdf"], &component("pdf"), 27);
}

#[test]
fn what_the_typescript_client_leaves_running_comes_to_its_end() {
    node("contract.mjs", &["client", "slow"], &fixture("slow"), 13);
}

#[test]
fn what_the_older_typescript_sdk_leaves_running_comes_to_its_end() {
    node("contract.mjs", &["sdk", "slow"], &fixture("slow"), 9);
}

#[test]
fn the_inspectors_command_line_drives_the_contract_on_files() {
    node("inspector.mjs", &["files"], &component("files"), 6);
}

#[test]
fn the_inspectors_command_line_drives_the_contract_on_offers() {
    node("inspector.mjs", &["offers"], &component("offers"), 8);
}

#[test]
fn the_inspectors_command_line_drives_the_contract_on_pdf() {
    node("inspector.mjs", &["pdf"], &component("pdf"), 4);
}

#[test]
fn what_the_inspectors_command_line_can_and_cannot_say() {
    node("inspector.mjs", &["echo"], &fixture("echo"), 3);
}

#[test]
fn progress_reaches_both_generations_of_the_typescript_sdk() {
    node("contract.mjs", &["client", "progress"], &fixture("progress"), 3);
    node("contract.mjs", &["sdk", "progress"], &fixture("progress"), 2);
}
