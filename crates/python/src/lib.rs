//! The extension module `lattice_cl._native`: the library's types for Python.
//!
//! | file | holds |
//! |---|---|
//! | `work` | long work: on a thread of its own, so that Python stays responsive |
//! | `failure` | errors of the library as Python's exceptions |
//! | `numbers` | numpy arrays to host fields and back |
//! | `devices` | devices and teams |
//! | `array` | arrays on a device |
//! | `product` | products of matrices over a team |
//! | `factors` | factorisations of matrices on a device |
//! | `sparse` | sparse matrices and their systems |
//! | `poisson` | potentials of densities |
//! | `gauge` | gauge configurations |
//! | `dirac` | Dirac operators, propagators of them |
//! | `building` | a propagator that is put together beside the solves |
//! | `collector` | the callbacks of a job that is run for Python |
//! | `propagator` | quark propagators |
//! | `report` | how solves went |
//! | `hadrons` | correlators |
//! | `analysis` | statistics of measurements |
//! | `interop` | axes of other programs, DLPack |
//! | `opencl` | contexts and memory of other packages |
//! | `job` | whole jobs |
//! | `program` | the program `cr-solve` |
//!
//! Code that needs no speed is written in Python, in the folder `python`.

// Errors become exceptions once for each call, so that their size does not matter.
#![allow(clippy::result_large_err)]

mod analysis;
mod array;
mod building;
mod collector;
mod devices;
mod dirac;
mod factors;
mod failure;
mod gauge;
mod hadrons;
mod interop;
mod job;
mod numbers;
mod opencl;
mod poisson;
mod product;
mod program;
mod propagator;
mod report;
mod sparse;
mod work;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<devices::Device>()?;
    module.add_class::<devices::Team>()?;
    module.add_class::<array::Array>()?;
    module.add_class::<factors::Lu>()?;
    module.add_class::<factors::Cholesky>()?;
    module.add_class::<sparse::SparseMatrix>()?;
    module.add_class::<poisson::PoissonPlan>()?;
    module.add_class::<gauge::Gauge>()?;
    module.add_class::<dirac::Dirac>()?;
    module.add_class::<propagator::Propagator>()?;
    module.add_class::<hadrons::Correlators>()?;
    module.add_class::<job::JobOutcome>()?;
    module.add_function(wrap_pyfunction!(devices::devices, module)?)?;
    module.add_function(wrap_pyfunction!(array::nrm2, module)?)?;
    module.add_function(wrap_pyfunction!(array::dot, module)?)?;
    module.add_function(wrap_pyfunction!(array::vdot, module)?)?;
    module.add_function(wrap_pyfunction!(opencl::team_in_context, module)?)?;
    module.add_function(wrap_pyfunction!(opencl::array_of_memory, module)?)?;
    module.add_function(wrap_pyfunction!(product::gemm, module)?)?;
    module.add_function(wrap_pyfunction!(factors::lu, module)?)?;
    module.add_function(wrap_pyfunction!(factors::cholesky, module)?)?;
    module.add_function(wrap_pyfunction!(poisson::read_cube, module)?)?;
    module.add_function(wrap_pyfunction!(gauge::read_gauge, module)?)?;
    module.add_function(wrap_pyfunction!(propagator::read_propagator, module)?)?;
    module.add_function(wrap_pyfunction!(propagator::smear_sink, module)?)?;
    module.add_function(wrap_pyfunction!(hadrons::hadrons, module)?)?;
    analysis::add_to(module)?;
    module.add_function(wrap_pyfunction!(job::run_job, module)?)?;
    module.add_function(wrap_pyfunction!(program::run_program, module)?)?;
    module.add_function(wrap_pyfunction!(work::wait_for_work, module)?)?;
    Ok(())
}
