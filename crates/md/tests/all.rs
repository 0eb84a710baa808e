//! Tests of pair forces from outside, a module for each subject.

mod support;

mod pair_forces;
mod pair_motion;
mod pair_range;
mod pair_reference;
