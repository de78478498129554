//! The integration tests: one binary, one module a subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod audit;
mod canonical_vectors;
mod cli;
mod config;
mod crash;
mod demo;
mod docs;
mod doctor;
mod examples;
mod files_plugin;
mod gate_component;
mod gone;
mod hostile;
mod init;
mod install;
mod lock;
mod lost;
mod manifest;
mod model;
mod mutations;
mod node;
mod offers_plugin;
mod pdf_plugin;
mod plugin;
mod policy;
mod python;
mod reload;
mod shown;
mod startup;
mod store_processes;
mod variables;
mod vectors;
mod web;
mod wit;
