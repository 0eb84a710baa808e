//! Runs of a Markov chain, which a file has one or several of.

use super::choice::Measurements;
use super::gaps::GapsChoice;

/// The measurements of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesRun {
    /// The file, and the name of the run in it.
    pub name: String,
    pub measurements: Measurements,
    /// What missing configuration numbers mean.
    pub gaps: GapsChoice,
    /// The value of each column, where it is not the mean of the measurements.
    pub values: Option<Vec<f64>>,
}
