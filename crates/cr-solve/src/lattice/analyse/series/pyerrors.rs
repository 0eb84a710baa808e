//! Observables that pyerrors has written as JSON.

use super::choice::{Choice, ColumnChoice, Measurements};
use super::order::expect_later;
use super::problem::SeriesProblem;
use lattice_files::number::shown;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Document {
    obsdata: Vec<Entry>,
}

/// An observable, or several of the same replica.
#[derive(Deserialize)]
struct Entry {
    value: Vec<f64>,
    #[serde(default)]
    data: Vec<Ensemble>,
    /// Constants with a covariance.
    #[serde(default)]
    cdata: Vec<Value>,
}

#[derive(Deserialize)]
struct Ensemble {
    replica: Vec<Replica>,
}

#[derive(Deserialize)]
struct Replica {
    name: String,
    /// Configuration number, and the measurement less the value, for each observable.
    deltas: Vec<Vec<f64>>,
}

/// The observables of a file, on several replica.
#[derive(Debug, PartialEq)]
pub struct PyerrorsFile {
    /// The value of each observable.
    ///
    /// That of a function of means is not the mean of the measurements.
    pub values: Vec<f64>,
    /// Name and measurements of each replica.
    pub replica: Vec<(String, Measurements)>,
}

/// Tells whether a JSON object is of pyerrors.
pub fn is_of_pyerrors(object: &Value) -> bool {
    object.get("obsdata").is_some()
}

/// Reads observables of one ensemble.
///
/// The format is that of `pyerrors.input.json`, version 1.1.
///
/// # Errors
/// The file has several entries, several ensembles, or constants with a covariance.
pub fn read(object: &Value, choice: &Choice) -> Result<PyerrorsFile, SeriesProblem> {
    let Document { obsdata } = Document::deserialize(object).map_err(SeriesProblem::Json)?;
    let simple = |what, found| Err(SeriesProblem::Pyerrors { what, found });
    let [Entry { value, data, cdata }] = obsdata.as_slice() else {
        return simple("one entry of obsdata", obsdata.len());
    };
    let [Ensemble { replica }] = data.as_slice() else { return simple("one ensemble", data.len()) };
    if !cdata.is_empty() {
        return simple("no constants with a covariance", cdata.len());
    }
    let names: Vec<String> = (1..=value.len()).map(|number| number.to_string()).collect();
    let places: Vec<usize> = match &choice.column {
        None => (0..value.len()).collect(),
        Some(ColumnChoice::Number(number)) if *number <= value.len() => vec![number - 1],
        Some(choice) => return Err(SeriesProblem::NoColumn { choice: choice.clone(), names }),
    };
    let named = |one: &Replica| measurements(one, value, &places).map(|numbers| (one.name.clone(), numbers));
    let replica: Vec<_> = replica.iter().map(named).collect::<Result<_, _>>()?;
    Ok(PyerrorsFile { values: places.iter().map(|&place| value[place]).collect(), replica })
}

fn measurements(replica: &Replica, values: &[f64], places: &[usize]) -> Result<Measurements, SeriesProblem> {
    let mut numbers: Vec<u64> = Vec::new();
    let mut columns = vec![Vec::new(); places.len()];
    for row in &replica.deltas {
        let (expected, found) = (values.len() + 1, row.len());
        if expected != found {
            return Err(SeriesProblem::Columns { expected, found });
        }
        let number = row[0] as u64;
        if number as f64 != row[0] {
            return Err(SeriesProblem::NotAnIndex(shown(&row[0])));
        }
        expect_later(numbers.last().copied(), number)?;
        numbers.push(number);
        for (&place, column) in places.iter().zip(&mut columns) {
            column.push(values[place] + row[place + 1]);
        }
    }
    if numbers.is_empty() {
        return Err(SeriesProblem::Empty);
    }
    let names = places.iter().map(|place| (place + 1).to_string()).collect();
    Ok(Measurements { names, columns, numbers: Some(numbers) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(deltas: Value) -> Value {
        json!({ "version": "1.1", "obsdata": [{ "type": "List", "layout": "2", "value": [1.0, 4.0],
            "data": [{ "id": "A", "replica": [{ "name": "A|r1", "deltas": deltas }] }] }] })
    }

    #[test]
    fn measurements_are_value_and_deviation() {
        let choice = Choice { column: Some(ColumnChoice::Number(2)), numbers: None };
        let read = read(&file(json!([[2, 0.5, 1], [6, -0.5, -1.5]])), &choice).unwrap();
        let (columns, numbers) = (vec![vec![5.0, 2.5]], Some(vec![2, 6]));
        let measured = Measurements { names: vec!["2".to_owned()], columns, numbers };
        let expected = PyerrorsFile { values: vec![4.0], replica: vec![("A|r1".to_owned(), measured)] };
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_not_simple_is_told() {
        let two = json!({ "obsdata": [{ "value": [1] }, { "value": [1] }] });
        let none = json!({ "obsdata": [{ "value": [1] }] });
        let constants = json!({ "obsdata": [{ "value": [1], "data": [{ "replica": [] }], "cdata": [{}] }] });
        for (object, wanted) in [
            (two, "2, where one entry of obsdata is wanted"),
            (none, "0, where one ensemble is wanted"),
            (constants, "1, where no constants with a covariance"),
            (file(json!([[1, 0.5]])), "2 columns follow lines of 3"),
            (file(json!([[1.5, 0.5, 1]])), "`1.5` is no configuration number"),
            (file(json!([[2, 0.5, 1], [2, 1, 1]])), "is there twice"),
            (json!({ "obsdata": 1 }), "no JSON"),
        ] {
            let problem = read(&object, &Choice::default()).unwrap_err().to_string();
            assert!(problem.contains(wanted), "{problem}");
        }
    }
}
