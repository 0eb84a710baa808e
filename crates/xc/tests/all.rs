//! Tests of exchange-correlation from outside, a module for each subject.

mod common;

mod functionals;
mod inputs;
mod molecules;
mod xc_properties;
