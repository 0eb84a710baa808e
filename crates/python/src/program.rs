//! The program `cr-solve` as a part of the package.

use super::work;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program with these arguments, and returns its exit status.
///
/// The first argument is the program's name.
#[pyfunction]
pub fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    work::aside(py, || cr_solve::run(arguments) as u8)
}
