//! Correlators of hadrons.

use super::failure::{Raised, invalid};
use super::propagator::Propagator;
use super::work;
use lattice_cl::geometry::NDIM;
use lattice_cl::hadron::{
    self, HadronMeasurement, HadronSet, Hadrons, Momenta, Momentum, NAMED_HADRONS, NamedHadron, momenta_up_to,
};
use lattice_cl::io::{self, write_results};
use num_complex::Complex64;
use numpy::PyArray1;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Correlators of hadrons over the distance in t, by name and momentum.
#[pyclass(frozen, mapping, module = "lattice_cl")]
pub struct Correlators {
    names: Vec<NamedHadron>,
    momenta: Vec<Momentum>,
    hadrons: Hadrons,
    /// A description of the correlators.
    about: Value,
}

#[pymethods]
impl Correlators {
    /// The names of the hadrons.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.iter().map(|hadron| hadron.name().to_owned()).collect()
    }

    /// The momenta (n_x, n_y, n_z) of p = 2πn/L.
    #[getter]
    fn momenta(&self) -> Vec<(i32, i32, i32)> {
        self.momenta.iter().map(|&[x, y, z]| (x, y, z)).collect()
    }

    /// All keys: name, n_x, n_y, n_z.
    fn keys(&self) -> Vec<(String, i32, i32, i32)> {
        let of_name = |hadron: &NamedHadron| {
            let name = hadron.name().to_owned();
            self.momenta().into_iter().map(|(x, y, z)| (name.clone(), x, y, z)).collect::<Vec<_>>()
        };
        self.names.iter().flat_map(of_name).collect()
    }

    /// Returns C(0), C(1), … of a name, at rest, or of a name and a momentum.
    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let (name, momentum) = match key.extract::<String>() {
            Ok(name) => (name, [0; 3]),
            Err(_) => {
                let (name, x, y, z) = key.extract::<(String, i32, i32, i32)>()?;
                (name, [x, y, z])
            }
        };
        let hadron = self.names.iter().find(|hadron| hadron.name() == name);
        match hadron.filter(|_| self.momenta.contains(&momentum)) {
            Some(hadron) => {
                let values = hadron.correlator(&self.hadrons, momentum);
                Ok(PyArray1::from_vec(py, values).into_any().unbind())
            }
            None => Err(pyo3::exceptions::PyKeyError::new_err((name, momentum))),
        }
    }

    fn __len__(&self) -> usize {
        self.names.len() * self.momenta.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
        self.keys().into_pyobject(py)?.try_iter()
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> bool {
        match key.extract::<String>() {
            Ok(name) => self.names.iter().any(|hadron| hadron.name() == name),
            Err(_) => key.extract().is_ok_and(|key| self.keys().contains(&key)),
        }
    }

    /// Returns the correlator of two of the sixteen matrices, with Chroma's sign.
    #[pyo3(signature = (source, sink, momentum = [0; 3]))]
    fn meson(&self, py: Python<'_>, source: usize, sink: usize, momentum: Momentum) -> PyResult<Py<PyAny>> {
        let is_it = |m: &&hadron::MesonCorrelator| (m.source, m.sink, m.momentum) == (source, sink, momentum);
        let values = self.hadrons.mesons.iter().find(is_it).map(|meson| &meson.values);
        numbers(py, values, || {
            format!("meson of the matrices {source} and {sink} with momentum {momentum:?}")
        })
    }

    /// Returns the correlator of a baryon by its full name: `nucleon_Cg5NR_up`.
    #[pyo3(signature = (name, projector = "+", momentum = [0; 3]))]
    fn baryon(&self, py: Python<'_>, name: &str, projector: &str, momentum: Momentum) -> PyResult<Py<PyAny>> {
        let is_it = |b: &&hadron::BaryonCorrelator| {
            b.name == name && b.projector == projector && b.momentum == momentum
        };
        let values = self.hadrons.baryons.iter().find(is_it).map(|baryon| &baryon.values);
        numbers(py, values, || format!("baryon {name} {projector} with momentum {momentum:?}"))
    }

    /// Writes all correlators, as HDF5 if the name ends in .h5 or .hdf5, else as JSON.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let document = self.document();
        let written: Result<(), io::Error> = work::run(py, None, move |_| write_results(path, &document))?;
        written.map_err(|error| error.raised(py))
    }

    fn __repr__(&self) -> String {
        format!("Correlators({} with {} momenta)", self.names().join(", "), self.momenta.len())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let rest = self.momenta.first().copied().unwrap_or_default();
        let row = |hadron: &NamedHadron| {
            let values = hadron.correlator(&self.hadrons, rest);
            let texts: Vec<String> = values.iter().take(4).map(|z| format!("{:.6e}", z.re)).collect();
            (hadron.name().to_owned(), texts.join(", ") + ", …")
        };
        let rows: Vec<(String, String)> = self.names.iter().map(row).collect();
        let title = format!("Correlators at n = {rest:?}, {} momenta", self.momenta.len());
        py.import("lattice_cl.report")?.getattr("html_table")?.call1((title, rows))?.extract()
    }
}

fn numbers(py: Python<'_>, values: Option<&Vec<[f64; 2]>>, what: impl Fn() -> String) -> PyResult<Py<PyAny>> {
    let Some(values) = values else {
        return Err(pyo3::exceptions::PyKeyError::new_err(format!("there is no {}", what())));
    };
    let values: Vec<Complex64> = values.iter().map(|&[re, im]| Complex64::new(re, im)).collect();
    Ok(PyArray1::from_vec(py, values).into_any().unbind())
}

impl Correlators {
    fn document(&self) -> Value {
        let mut named = Map::new();
        for hadron in &self.names {
            let of_momentum = |&momentum: &Momentum| {
                let values = hadron.correlator(&self.hadrons, momentum);
                json!({ "momentum": momentum, "values": values.iter().map(|z| [z.re, z.im]).collect::<Vec<_>>() })
            };
            named.insert(hadron.name().to_owned(), self.momenta.iter().map(of_momentum).collect());
        }
        json!({ "about": self.about, "hadrons": named, "results": self.hadrons })
    }
}

/// Measures hadrons of a propagator, and mesons of it and one of another quark.
#[pyfunction]
#[pyo3(signature = (propagator, names, *, upto, momenta, averaged, antiquark))]
pub fn hadrons(
    py: Python<'_>,
    propagator: &Bound<'_, Propagator>,
    names: Vec<String>,
    upto: u32,
    momenta: Option<Vec<Momentum>>,
    averaged: bool,
    antiquark: Option<&Bound<'_, Propagator>>,
) -> PyResult<Correlators> {
    let (mut named, mut sets) = (Vec::new(), Vec::new());
    for name in names {
        let Some(hadron) = NamedHadron::find(&name) else {
            let known: Vec<&str> = NAMED_HADRONS.iter().map(|hadron| hadron.name()).collect();
            return Err(invalid(py, format!("`{name}` is no hadron; choose some of {}", known.join(", "))));
        };
        if antiquark.is_some() && hadron.set() != HadronSet::Mesons {
            return Err(invalid(py, format!("`{name}` has no antiquark; leave out antiquark= for baryons")));
        }
        if !sets.contains(&hadron.set()) {
            sets.push(hadron.set());
        }
        named.push(hadron);
    }
    let quark = propagator.get();
    let dims = quark.quark.dims();
    let all = match momenta {
        Some(momenta) => {
            let largest = |n: &Momentum| n.iter().map(|n| n * n).sum::<i32>().unsigned_abs();
            momenta_up_to(momenta.iter().map(largest).max().unwrap_or(0), dims)
                .map_err(|error| error.raised(py))?;
            Momenta::each(momenta)
        }
        None => Momenta::each(momenta_up_to(upto, dims).map_err(|error| error.raised(py))?),
    };
    let momenta = if averaged { all.averaged(dims) } else { all };
    let other = antiquark.map(|antiquark| Arc::clone(&antiquark.get().quark));
    if let Some(found) = other.as_ref().map(|other| other.dims()).filter(|&found| found != dims) {
        return Err(invalid(py, format!("the quark is of a lattice of {dims}, the antiquark of {found}")));
    }
    let measurement = HadronMeasurement {
        team: quark.team.clone(),
        sets,
        momenta: momenta.clone(),
        origin: quark.origin.site,
    };
    let one = Arc::clone(&quark.quark);
    let measured = work::run(py, None, move |_| match other {
        None => measurement.of_one(&one, None),
        Some(other) => measurement.mesons_of_two(&one, &other),
    })?;
    let [x, y, z, t]: [usize; NDIM] = dims.extents();
    let about = json!({
        "lattice": [x, y, z, t],
        "origin": quark.origin.site,
        "equation": quark.origin.equation,
        "sink": quark.origin.sinks,
        "job": quark.origin.job.as_ref().and_then(|job| serde_json::from_str::<Value>(job).ok()),
    });
    let hadrons = measured.map_err(|error| error.raised(py))?;
    Ok(Correlators { names: named, momenta: momenta.names(), hadrons, about })
}
