//! Arrays of measurements as series.

use crate::failure::{Raised, invalid, named};
use crate::numbers::of_kinds;
use crate::work;
use lattice_statistics::{Gaps, Replica, Series, StatisticsError, StatisticsResult, Trajectories, Warning};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// The words for what missing configuration numbers mean.
const GAPS: [(&str, Gaps); 3] =
    [("refuse", Gaps::Refuse), ("account", Gaps::Account), ("ignore", Gaps::Ignore)];

/// Series of several numbers, in the order of an array of this shape.
pub struct Measurements {
    pub series: Vec<Series>,
    pub shape: Vec<usize>,
}

impl Measurements {
    /// Reads measurements of one Markov chain, or a list of them for replica.
    ///
    /// The first axis counts configurations.
    ///
    /// # Errors
    /// `InvalidInput` if axes or lengths do not go together, a measurement is not finite, or there
    /// is only one.
    pub fn read(
        samples: &Bound<'_, PyAny>,
        replica: Option<Vec<String>>,
        numbers: Option<&Bound<'_, PyAny>>,
        gaps: &str,
    ) -> PyResult<Self> {
        let py = samples.py();
        let gaps = named(py, "meaning of gaps", gaps, &GAPS)?;
        let arrays: Vec<PyReadonlyArrayDyn<'_, f64>> = chains(samples)?
            .iter()
            .map(|chain| of_kinds(chain, "fiu", "measurements are real"))
            .collect::<PyResult<_>>()?;
        let count = arrays.len();
        let expect_count = |what, found| match found == count {
            true => Ok(()),
            false => Err(StatisticsError::Length { what, expected: count, found }.raised(py)),
        };
        let names = replica.unwrap_or_else(|| (1..=count).map(|number| number.to_string()).collect());
        expect_count("names of replica", names.len())?;
        let numbers = numbers.map(configuration_numbers).transpose()?;
        if let Some(numbers) = &numbers {
            expect_count("lists of configuration numbers", numbers.len())?;
        }
        let Some(shape) = arrays.first().map(|array| array.shape()[1..].to_vec()) else {
            return Err(StatisticsError::NoMeasurements { what: "the list".to_owned() }.raised(py));
        };
        for (array, name) in arrays.iter().zip(&names) {
            if array.shape()[1..] != shape {
                let message = format!(
                    "replica {name} has the shape {:?}; its first axis counts configurations, and the others are \
                     {shape:?} for each replica",
                    array.shape()
                );
                return Err(invalid(py, message));
            }
        }
        if arrays.iter().all(|array| array.shape()[0] == 1) {
            return Err(invalid(py, Warning::SingleMeasurement));
        }
        let rows = arrays.iter().map(|array| array.as_slice()).collect::<Result<Vec<_>, _>>()?;
        let width: usize = shape.iter().product();
        let of_column = |column: usize| -> StatisticsResult<Series> {
            let chain = |index: usize| {
                let values: Vec<f64> = rows[index].iter().skip(column).step_by(width).copied().collect();
                match &numbers {
                    None => Replica::new(&names[index], values),
                    Some(numbers) => {
                        let trajectories = Trajectories::new(numbers[index].as_slice())?;
                        Replica::on(&names[index], trajectories, values, gaps)
                    }
                }
            };
            Series::new((0..count).map(chain).collect::<StatisticsResult<_>>()?)
        };
        let read = work::aside(py, || {
            let numbered = |column| of_column(column).map_err(|error| (column, error));
            (0..width).map(numbered).collect::<Result<Vec<_>, _>>()
        })?;
        match read {
            Ok(series) => Ok(Self { series, shape }),
            Err((_, error)) if shape.is_empty() => Err(error.raised(py)),
            Err((column, error)) => Err(invalid(py, format!("observable {column} of {width}: {error}"))),
        }
    }
}

/// Returns the entries of a list of sequences, or the object alone.
fn chains<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let is_list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    if !is_list || (object.len()? > 0 && object.get_item(0)?.len().is_err()) {
        return Ok(vec![object.clone()]);
    }
    object.try_iter()?.collect()
}

/// Reads the configuration numbers of each replica.
fn configuration_numbers(numbers: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u64>>> {
    let py = numbers.py();
    let of_chain = |chain: &Bound<'_, PyAny>| {
        let array = of_kinds::<i64>(chain, "iu", "configuration numbers are integers")?;
        let checked = |&number: &i64| {
            u64::try_from(number)
                .map_err(|_| invalid(py, format!("configuration {number} is negative; count from 0 on")))
        };
        array.as_slice()?.iter().map(checked).collect()
    };
    chains(numbers)?.iter().map(of_chain).collect()
}
