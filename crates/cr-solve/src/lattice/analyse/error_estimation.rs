//! The method for errors that a user asks for.

use lattice_cli::choices::word;
use lattice_cli::failure::Failure;
use lattice_cli::report::rounded;
use lattice_statistics::{Resampling, WINDOW_PARAMETER};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::fmt;
use std::num::NonZeroUsize;

/// How errors are estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorMethod {
    #[default]
    Jackknife,
    Bootstrap,
    Gamma,
}

lattice_files::words! {
    ErrorMethod, "method for errors":
    Jackknife = "jackknife", "Each bin of configurations is left out once";
    Bootstrap = "bootstrap", "Bins are drawn with replacement, 1000 times";
    Gamma = "gamma", "The Γ method, which sums the autocorrelation"
}

/// Options for errors of what several results have.
#[derive(Debug, clap::Args)]
pub struct ErrorOptions {
    /// Errors by jackknife (the default), bootstrap or gamma, with files in the order of the run
    #[arg(long, value_name = "METHOD", value_parser = word::<ErrorMethod>(), conflicts_with = "series")]
    errors: Option<ErrorMethod>,
    /// Configurations in a bin of jackknife and bootstrap [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "series")]
    bin: Option<NonZeroUsize>,
}

/// Draws of the bootstrap.
const BOOTSTRAP_SAMPLES: usize = 1000;

/// The seed of the bootstrap, so that errors are the same in each run.
const BOOTSTRAP_SEED: u64 = 1;

/// How errors are estimated, with the parameters of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorEstimation {
    pub method: ErrorMethod,
    /// Configurations in a bin.
    pub bin: usize,
    pub window_parameter: f64,
}

/// A result has the parameter of its method alone.
impl Serialize for ErrorEstimation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_struct("ErrorEstimation", 2)?;
        entries.serialize_field("errors", &self.method)?;
        match self.method {
            ErrorMethod::Gamma => entries.serialize_field("window_parameter", &self.window_parameter)?,
            _ => entries.serialize_field("bin", &self.bin)?,
        }
        entries.end()
    }
}

impl fmt::Display for ErrorEstimation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { method: ErrorMethod::Gamma, window_parameter, .. } => {
                write!(f, "Γ method with S = {}", rounded(*window_parameter, 6))
            }
            Self { method, bin: 1, .. } => write!(f, "{method}"),
            Self { method, bin, .. } => write!(f, "{method}, bins of {bin}"),
        }
    }
}

impl ErrorEstimation {
    /// Returns what the options ask for.
    ///
    /// # Errors
    /// An option is of another method.
    pub fn new(options: &ErrorOptions, window_parameter: Option<f64>) -> Result<Self, Failure> {
        let method = options.errors.unwrap_or_default();
        let (given, other) = match method {
            ErrorMethod::Gamma => (options.bin.is_some(), "--bin is for jackknife and bootstrap"),
            _ => (window_parameter.is_some(), "--window-parameter is for the Γ method"),
        };
        if given {
            return Err(Failure::usage(format!("{other}, and errors are those of {method}"))
                .hint("leave the option out, or choose --errors"));
        }
        let bin = options.bin.map_or(1, NonZeroUsize::get);
        Ok(Self { method, bin, window_parameter: window_parameter.unwrap_or(WINDOW_PARAMETER) })
    }

    /// Returns how measurements are drawn again; `None` for the Γ method.
    pub fn resampling(self) -> Option<Resampling> {
        let Self { method, bin, .. } = self;
        match method {
            ErrorMethod::Jackknife => Some(Resampling::Jackknife { bin }),
            ErrorMethod::Bootstrap => {
                Some(Resampling::Bootstrap { bin, samples: BOOTSTRAP_SAMPLES, seed: BOOTSTRAP_SEED })
            }
            ErrorMethod::Gamma => None,
        }
    }
}
