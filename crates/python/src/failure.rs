//! Errors of the library as Python's exceptions.
//!
//! The classes are in `lattice_cl/errors.py`. The text is that of the library, with its causes.

use lattice_cl::compute::DeviceError;
use lattice_cl::gauge::SmearError;
use lattice_cl::geometry::{DimsError, LatticeError};
use lattice_cl::hadron::{MomentaError, SourceError, SpinorSmearingError};
use lattice_cl::host::NoRoom;
use lattice_cl::io;
use lattice_cl::job::{Invalid, JobError};
use lattice_cl::linalg::BlasError;
use lattice_cl::linalg::sparse::NoProblem;
use lattice_cl::linalg::sparse::market::MarketError;
use lattice_cl::linalg::sparse::solve::SolveError;
use lattice_cl::multigrid::SetupFileError;
use lattice_cl::operator::DiracError;
use lattice_cl::solve::InvertError;
use lattice_files::words::sentence;
use lattice_poisson::PoissonError;
use lattice_statistics::StatisticsError;
use pyo3::prelude::*;
use std::error::Error;
use std::fmt::Display;

const INVALID: &str = "InvalidInput";
const FILE: &str = "FileError";
const DEVICE: &str = "DeviceError";
const SINGULAR: &str = "SingularMatrix";

/// An error that Python knows by a class of its own.
pub trait Raised: Error + Sized {
    /// Returns the name of the class.
    fn class(&self) -> &'static str;

    /// Makes the exception.
    fn raised(self, py: Python<'_>) -> PyErr {
        raised(py, self.class(), with_causes(&self))
    }
}

/// Makes an exception of a class of `lattice_cl.errors`.
pub fn raised(py: Python<'_>, class: &str, message: String) -> PyErr {
    let made = py.import("lattice_cl.errors").and_then(|module| module.getattr(class)?.call1((message,)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Makes the exception for a value that makes no sense.
pub fn invalid(py: Python<'_>, problem: impl Display) -> PyErr {
    raised(py, INVALID, problem.to_string())
}

/// Reads a value from text.
///
/// # Errors
/// `InvalidInput` with the words of the type.
pub fn parsed<T: std::str::FromStr<Err: Display>>(py: Python<'_>, text: &str) -> PyResult<T> {
    text.parse().map_err(|problem: T::Err| invalid(py, problem))
}

/// Returns the value of a word in a table.
///
/// # Errors
/// `InvalidInput` with all words.
pub fn named<V: Copy>(py: Python<'_>, what: &str, word: &str, values: &[(&str, V)]) -> PyResult<V> {
    let value = values.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
    value.ok_or_else(|| {
        let known: Vec<&str> = values.iter().map(|(known, _)| *known).collect();
        invalid(py, format!("`{word}` is no {what}; choose {}", sentence(&known, "or")))
    })
}

/// Returns the text of an error with those of its causes.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let words = next.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = next.source();
    }
    text
}

/// Classes that are the same for every variant.
macro_rules! classes {
    ($($error:ty => $class:expr,)*) => {
        $(impl Raised for $error {
            fn class(&self) -> &'static str {
                $class
            }
        })*
    };
}

classes! {
    DeviceError => DEVICE,
    DimsError => INVALID,
    Invalid => INVALID,
    MomentaError => INVALID,
    NoProblem => INVALID,
    NoRoom => DEVICE,
    SetupFileError => FILE,
    SpinorSmearingError => INVALID,
    StatisticsError => INVALID,
    io::Error => FILE,
    io::MeshError => FILE,
}

impl Raised for LatticeError {
    fn class(&self) -> &'static str {
        match self {
            Self::Device(_) => DEVICE,
            _ => INVALID,
        }
    }
}

impl Raised for DiracError {
    fn class(&self) -> &'static str {
        match self {
            Self::Lattice(error) => error.class(),
            _ => INVALID,
        }
    }
}

impl Raised for InvertError {
    fn class(&self) -> &'static str {
        match self {
            Self::Lattice(error) => error.class(),
            _ => INVALID,
        }
    }
}

impl Raised for SmearError {
    fn class(&self) -> &'static str {
        match self {
            Self::Device(_) | Self::OutOfMemory(_) => DEVICE,
            _ => INVALID,
        }
    }
}

impl Raised for SourceError {
    fn class(&self) -> &'static str {
        match self {
            Self::File(_) => FILE,
            Self::Lattice(error) => error.class(),
            _ => INVALID,
        }
    }
}

impl Raised for BlasError {
    fn class(&self) -> &'static str {
        match self {
            Self::Device(_) | Self::Unfinished { .. } => DEVICE,
            Self::Singular { .. } | Self::NotPositiveDefinite { .. } => SINGULAR,
            _ => INVALID,
        }
    }
}

impl Raised for PoissonError {
    fn class(&self) -> &'static str {
        match self {
            Self::Device(_) | Self::Fft(_) | Self::Memory { .. } | Self::Room(_) => DEVICE,
            _ => INVALID,
        }
    }
}

impl Raised for MarketError {
    fn class(&self) -> &'static str {
        match self {
            Self::NoRoom { .. } => DEVICE,
            _ => FILE,
        }
    }
}

impl Raised for SolveError {
    fn class(&self) -> &'static str {
        match self {
            Self::Empty { .. } | Self::OddSkew { .. } => SINGULAR,
            Self::Operation(error) => error.class(),
            _ => INVALID,
        }
    }
}

impl Raised for JobError {
    fn class(&self) -> &'static str {
        match self {
            Self::Invalid(_) | Self::Momenta(_) | Self::Multigrid(_) => INVALID,
            Self::Configuration(_) | Self::SetupFile(_) | Self::ModesFile(_) => FILE,
            Self::Source(error) => error.class(),
            Self::Lattice(error) => error.class(),
            Self::Operator(error) => error.class(),
            Self::Solve(error) => error.class(),
            Self::Smearing(error) => error.class(),
            Self::OutOfMemory(_) => DEVICE,
            Self::Callback(_)
            | Self::SetUpInterrupted { .. }
            | Self::SearchInterrupted { .. }
            | Self::Modes(_) => "LatticeError",
        }
    }
}
