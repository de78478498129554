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
    node("inspector.mjs", &["offers"], &component("offers"), 4);
}

#[test]
fn what_the_inspectors_command_line_can_and_cannot_say() {
    node("inspector.mjs", &["echo"], &fixture("echo"), 3);
}
