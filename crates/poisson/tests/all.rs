//! Tests of potentials from outside.

#[path = "../../../tests/common/mod.rs"]
mod common;

mod potentials;
