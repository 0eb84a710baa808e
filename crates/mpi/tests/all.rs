//! Tests of ranks from outside.

#[path = "../../../tests/common/launchers.rs"]
mod launchers;

mod ranks;
