//! Poisson's equation, and the densities of cube files.

use super::devices::DevicesArgument;
use super::failure::{Raised, invalid, named};
use super::numbers::{array, contiguous};
use super::work;
use lattice_cl::io::MeshFile;
use lattice_cl::scalar::Precision;
use lattice_cl::sync::lock;
use lattice_poisson::{Boundary, Cell, Cutoff, Options, Plan, PoissonError, Tensor};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The stresses at fixed charge and at fixed density.
type Stresses = (Tensor, Tensor);

/// A potential with energy, stresses, dipole and charge, as `lattice_cl.poisson` takes it.
type PoissonSolution = (Py<PyAny>, f64, Option<Stresses>, [f64; 3], f64);

/// A prepared solution for a cell and a mesh.
#[pyclass(frozen, module = "lattice_cl.poisson")]
pub struct PoissonPlan {
    plan: Arc<Mutex<Plan>>,
    shape: [usize; 3],
}

#[pymethods]
impl PoissonPlan {
    #[new]
    #[pyo3(signature = (cell, shape, boundary, cutoff, precision, out_of_core, devices))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        cell: [[f64; 3]; 3],
        shape: [usize; 3],
        boundary: &str,
        cutoff: &str,
        precision: &str,
        out_of_core: Option<u64>,
        devices: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let boundaries = [("periodic", Boundary::Periodic), ("isolated", Boundary::Isolated)];
        let precisions = [("double", Precision::Double), ("single", Precision::Single)];
        let options = Options::default()
            .with_boundary(named(py, "boundary", boundary, &boundaries)?)
            .with_cutoff(named(py, "cutoff", cutoff, &[("none", Cutoff::None), ("sphere", Cutoff::Sphere)])?)
            .with_precision(named(py, "precision", precision, &precisions)?)
            .with_out_of_core(out_of_core);
        let wanted = DevicesArgument::of(devices)?;
        let plan = work::run(py, None, move |_| {
            let cell = Cell::new(cell)?;
            Plan::new(&wanted.open()?, cell, shape, options)
        })?
        .map_err(|error: PoissonError| error.raised(py))?;
        Ok(Self { plan: Arc::new(Mutex::new(plan)), shape })
    }

    /// Solves for one density.
    fn solve(&self, density: &Bound<'_, PyAny>) -> PyResult<PoissonSolution> {
        let py = density.py();
        let density = contiguous::<f64>(density)?;
        if density.shape() != self.shape {
            let message =
                format!("the density has the shape {:?}, its mesh {:?}", density.shape(), self.shape);
            return Err(invalid(py, message));
        }
        let (plan, values) = (Arc::clone(&self.plan), density.as_slice()?.to_vec());
        let solution =
            work::run(py, None, move |_| lock(&plan).solve(&values))?.map_err(|error| error.raised(py))?;
        let potential = array(py, solution.potential, self.shape.to_vec())?;
        let stresses = solution.stress.map(|stress| (stress.fixed_charge, stress.fixed_density));
        Ok((potential, solution.energy, stresses, solution.dipole, solution.charge))
    }
}

/// Reads the values and the cell of a cube file.
#[pyfunction]
pub fn read_cube(py: Python<'_>, path: PathBuf) -> PyResult<(Py<PyAny>, [[f64; 3]; 3])> {
    let name = path.clone();
    let file = work::run(py, None, move |_| MeshFile::read(&path))?.map_err(|error| error.raised(py))?;
    match file.cell.filter(|_| file.cube.is_some()) {
        Some(cell) => Ok((array(py, file.values, file.shape.to_vec())?, cell)),
        None => {
            let message = format!("{} is no cube file; numpy.load reads arrays of numpy", name.display());
            Err(invalid(py, message))
        }
    }
}
