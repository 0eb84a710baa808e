//! Statistics of measurements: means with errors, functions of them, fits, masses and scales.
//!
//! | file | holds |
//! |---|---|
//! | `measurements` | arrays of measurements as series |
//! | `observable` | a mean with its error, and arithmetic |
//! | `gamma` | its error with autocorrelation |
//! | `arrays` | arrays of observables |
//! | `means` | means of measurements, warnings about them |
//! | `derived` | functions in Python |
//! | `models` | models and weights of fits |
//! | `fits` | fits, their averages over ranges |
//! | `spectra` | effective masses, correlator matrices, ratios |
//! | `scales` | scales of the gradient flow |

pub mod arrays;
pub mod derived;
pub mod fits;
pub mod gamma;
pub mod means;
mod measurements;
mod models;
pub mod observable;
pub mod scales;
pub mod spectra;

use lattice_statistics::{FLOW_TARGET, WINDOW_PARAMETER};
use pyo3::prelude::*;

/// Adds the classes and functions to the extension module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("WINDOW_PARAMETER", WINDOW_PARAMETER)?;
    module.add("FLOW_TARGET", FLOW_TARGET)?;
    module.add_class::<observable::Observable>()?;
    module.add_function(wrap_pyfunction!(gamma::gamma_method, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::values, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::errors, module)?)?;
    module.add_function(wrap_pyfunction!(means::observables, module)?)?;
    module.add_function(wrap_pyfunction!(means::jackknife, module)?)?;
    module.add_function(wrap_pyfunction!(means::bootstrap, module)?)?;
    module.add_function(wrap_pyfunction!(means::check, module)?)?;
    module.add_function(wrap_pyfunction!(derived::derived, module)?)?;
    module.add_function(wrap_pyfunction!(fits::fit, module)?)?;
    module.add_function(wrap_pyfunction!(fits::fit_average, module)?)?;
    module.add_function(wrap_pyfunction!(fits::summation, module)?)?;
    module.add_function(wrap_pyfunction!(spectra::effective_masses, module)?)?;
    module.add_function(wrap_pyfunction!(spectra::folded, module)?)?;
    module.add_function(wrap_pyfunction!(spectra::gevp, module)?)?;
    module.add_function(wrap_pyfunction!(spectra::ratio, module)?)?;
    module.add_function(wrap_pyfunction!(scales::t0, module)?)?;
    module.add_function(wrap_pyfunction!(scales::w0, module)?)?;
    Ok(())
}
