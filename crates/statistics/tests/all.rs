//! Tests of statistics from outside, a module for each subject.

mod common;
mod synthetic;

mod any_quantity;
mod doubtful;
mod fits;
mod gamma;
mod masses;
mod pulls;
mod reference;
mod resampling;
mod scaling;
