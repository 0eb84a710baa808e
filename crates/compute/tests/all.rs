//! Tests of the library from outside.

mod foreign;
mod schedule;
