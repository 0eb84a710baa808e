//! Models and weights of fits, in the words of Python.

use crate::failure::{invalid, named};
use lattice_statistics::{CorrelatorModel, FitOptions, Model, Polynomial, Weighting};
use pyo3::prelude::*;

/// Models of points.
#[derive(Clone, Copy)]
pub enum PointModel {
    States(CorrelatorModel),
    Polynomial(Polynomial),
}

/// What the words of Python say of a model.
#[derive(Clone, Copy)]
enum ModelChoice {
    Exponentials,
    /// A model of an extent and a number of states.
    Periodic(fn(f64, usize) -> CorrelatorModel),
    /// A polynomial of a degree.
    Polynomial(usize),
}

/// The words for models.
const MODELS: [(&str, ModelChoice); 5] = [
    ("exp", ModelChoice::Exponentials),
    ("cosh", ModelChoice::Periodic(CorrelatorModel::cosh)),
    ("sinh", ModelChoice::Periodic(CorrelatorModel::sinh)),
    ("constant", ModelChoice::Polynomial(0)),
    ("line", ModelChoice::Polynomial(1)),
];

impl PointModel {
    /// Reads a model.
    pub fn read(py: Python<'_>, name: &str, states: Option<usize>, extent: Option<f64>) -> PyResult<Self> {
        let refused = |problem: &str| Err(invalid(py, format!("the model {name} {problem}")));
        match (named(py, "model", name, &MODELS)?, states, extent) {
            (_, Some(0), _) => refused("has 0 states; give states=1 or more"),
            (ModelChoice::Polynomial(_), Some(_), _) => refused("has no states; leave out states="),
            (ModelChoice::Periodic(_), _, None) => refused("has no extent; give extent=T of the lattice"),
            (ModelChoice::Periodic(model), _, Some(extent)) if extent > 0.0 && extent.is_finite() => {
                Ok(Self::States(model(extent, states.unwrap_or(1))))
            }
            (ModelChoice::Periodic(_), _, Some(extent)) => {
                refused(&format!("has the extent {extent}; it must be positive"))
            }
            (_, _, Some(_)) => refused("takes no extent; leave out extent=, or take cosh or sinh"),
            (ModelChoice::Exponentials, _, None) => {
                Ok(Self::States(CorrelatorModel::exponentials(states.unwrap_or(1))))
            }
            (ModelChoice::Polynomial(degree), None, None) => Ok(Self::Polynomial(Polynomial { degree })),
        }
    }

    pub fn as_model(&self) -> &dyn Model {
        match self {
            Self::States(model) => model,
            Self::Polynomial(model) => model,
        }
    }
}

/// Reads how deviations are weighed: a word, or a word and a number.
pub fn weighting(weights: &Bound<'_, PyAny>) -> PyResult<Weighting> {
    let py = weights.py();
    if let Ok((word, strength)) = weights.extract::<(String, f64)>() {
        let words = [("shrunk", Weighting::Shrunk(strength)), ("cut", Weighting::SvdCut(strength))];
        return named(py, "weighting with a number", &word, &words);
    }
    match weights.extract::<String>() {
        Ok(word) => {
            let words = [("correlated", Weighting::Correlated), ("uncorrelated", Weighting::Uncorrelated)];
            named(py, "weighting", &word, &words)
        }
        Err(_) => Err(invalid(
            py,
            format!(
                "{weights} is no weighting; choose correlated, uncorrelated, (\"shrunk\", 0.1) or (\"cut\", 0.01)"
            ),
        )),
    }
}

/// Reads options of a fit.
pub fn options(
    weights: &Bound<'_, PyAny>,
    initial: Option<Vec<f64>>,
    iterations: usize,
) -> PyResult<FitOptions> {
    let options = FitOptions::default().with_weighting(weighting(weights)?).with_iterations(iterations);
    Ok(match initial {
        Some(initial) => options.with_initial(initial),
        None => options,
    })
}
