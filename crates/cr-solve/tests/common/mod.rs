//! What the tests of the program share, beside what all tests do.
#![allow(dead_code)]

#[cfg(unix)]
pub mod interrupted;
pub mod schema;

#[path = "../../../../tests/common/mod.rs"]
mod library;
#[allow(unused_imports)]
pub use library::*;
