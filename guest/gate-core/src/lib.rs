//! The rules of the two-step contract as functions of values. Reads no clock, stores nothing, has no randomness.

#![no_std]

extern crate alloc;

pub mod canonical;
