//! The contract through the official Python SDK: the program over stdio, with and without `initialize`.

use counterfoil_tests::clients::python;
use counterfoil_tests::component;

#[test]
fn the_python_sdk_drives_the_contract_on_files() {
    python("contract.py", &["files"], &component("files"), 42);
}

#[test]
fn the_python_sdk_drives_the_contract_on_offers() {
    python("contract.py", &["offers"], &component("offers"), 39);
}

#[test]
fn the_python_sdk_drives_the_contract_on_pdf() {
    python("contract.py", &["pdf"], &component("pdf"), 39);
}
