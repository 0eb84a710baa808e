//! The mean of a series and its error by the Γ method.

use super::run::SeriesRun;
use lattice_cli::failure::{Failure, Status};
use lattice_statistics::{Observable, Quantity, Replica, Series, Trajectories, Warning, check, gamma_method};
use serde::Serialize;

/// The mean of a series, and its error by the Γ method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesEstimate {
    /// The name of the column in its file.
    pub column: String,
    /// Measurements of all replica.
    pub measurements: usize,
    pub mean: f64,
    pub error: f64,
    pub error_of_error: f64,
    /// Integrated autocorrelation time in units of `spacing`.
    pub tau_int: f64,
    pub tau_int_error: f64,
    /// The last lag that is summed, in units of `spacing`.
    pub window: usize,
    /// Configuration numbers from one measurement to the next.
    pub spacing: u64,
    /// Reasons to doubt the error.
    pub warnings: Vec<String>,
}

/// The fewest measurements of one replica that have a window.
const LEAST_FOR_A_WINDOW: usize = 4;

/// A series, and the name of its column.
#[derive(Debug)]
pub struct NamedSeries {
    pub column: String,
    pub series: Series,
    /// The value, where it is not the mean of the measurements.
    pub value: Option<f64>,
}

/// Puts the columns of all runs together: every series has a replica of each run.
///
/// # Errors
/// Numbers of configurations have gaps, and gaps are refused.
pub fn series_of(runs: Vec<SeriesRun>) -> Result<Vec<NamedSeries>, Failure> {
    let names = runs.first().map(|first| first.measurements.names.clone()).unwrap_or_default();
    let values = runs.first().and_then(|first| first.values.clone());
    let mut replica: Vec<Vec<Replica>> = names.iter().map(|_| Vec::new()).collect();
    for SeriesRun { name, measurements, gaps, .. } in runs {
        let count = measurements.count();
        let trajectories = match measurements.numbers {
            Some(numbers) => Trajectories::new(numbers)?,
            None => Trajectories::consecutive(count),
        };
        for (column, replica) in measurements.columns.into_iter().zip(&mut replica) {
            replica.push(Replica::on(&name, trajectories.clone(), column, gaps.into())?);
        }
    }
    let one = |(place, (column, replica))| {
        let value = values.as_ref().map(|values: &Vec<f64>| values[place]);
        Ok(NamedSeries { column, series: Series::new(replica)?, value })
    };
    names.into_iter().zip(replica).enumerate().map(one).collect()
}

/// Returns the mean and the error of a series.
///
/// # Errors
/// The series has no error: it is constant, or too short.
pub fn estimate(named: &NamedSeries, window_parameter: f64, what: &str) -> Result<SeriesEstimate, Failure> {
    let NamedSeries { column, series, value } = named;
    let refused =
        |message: String, hint: &str| Err(Failure::new(Status::File, anyhow::Error::msg(message)).hint(hint));
    let observable = Observable::from_series(series);
    let found = gamma_method(&observable, window_parameter)?;
    let longest = series.replica().iter().map(|chain| chain.values().len()).max().unwrap_or(0);
    let Some(found) = found else {
        let hint = "measure more configurations; results of one configuration each are joined by `cat`";
        return refused(format!("{what} has one measurement, which has no error"), hint);
    };
    if observable.is_constant() {
        let value = lattice_files::number::shown(&series.mean());
        let message = format!("{what} is constant: all measurements are {value}, which have no error");
        return refused(message, "a number that is measured anew fluctuates; check the column and the file");
    }
    if found.error == 0.0 {
        let message = format!("the error of {what} is below the smallest number of double precision");
        return refused(message, "write the measurements in a smaller unit");
    }
    if window_parameter > 0.0 && longest < LEAST_FOR_A_WINDOW {
        let message = format!("{what} has {longest} measurements, too few for an autocorrelation time");
        return refused(message, "measure more, or give --window-parameter 0 if they are independent");
    }
    let warnings = check(series, window_parameter)?.iter().map(Warning::to_string).collect();
    Ok(SeriesEstimate {
        column: column.clone(),
        measurements: series.measurements(),
        mean: value.unwrap_or_else(|| observable.value()),
        error: found.error,
        error_of_error: found.error_of_error,
        tau_int: found.tau_int,
        tau_int_error: found.tau_int_error,
        window: found.window,
        spacing: found.spacing,
        warnings,
    })
}
