//! Numbers of JSON objects: JSON Lines, results one after the other, and a history in one result.

use super::choice::{Choice, ColumnChoice, Measurements};
use super::order::expect_later;
use super::problem::{FilePosition, SeriesProblem};
use lattice_files::text::quoted;
use serde_json::{Deserializer, Value};
use std::io::Read;

/// Reads objects that follow each other, or a list of objects or numbers.
///
/// # Errors
/// The text is no JSON.
pub fn objects(input: impl Read) -> Result<Vec<Value>, SeriesProblem> {
    let objects = Deserializer::from_reader(input).into_iter::<Value>();
    let mut objects = objects.collect::<Result<Vec<_>, _>>().map_err(SeriesProblem::Json)?;
    match objects.as_mut_slice() {
        [Value::Array(list)] => Ok(std::mem::take(list)),
        _ => Ok(objects),
    }
}

/// Takes the numbers of a column from objects.
///
/// Each object has one number of the column. An object that stands alone may have a list of all of
/// them.
///
/// # Errors
/// The position, and what is wrong there.
pub fn measurements(
    objects: &[Value],
    choice: &Choice,
) -> Result<Measurements, (FilePosition, SeriesProblem)> {
    if objects.is_empty() {
        return Err((FilePosition::Whole, SeriesProblem::Empty));
    }
    let Some(column) = &choice.column else {
        if objects.iter().all(Value::is_number) && choice.numbers.is_none() {
            let values = objects.iter().map(real).collect::<Result<_, _>>();
            let values = values.map_err(|problem| (FilePosition::Whole, problem))?;
            return Ok(Measurements { names: vec!["1".to_owned()], columns: vec![values], numbers: None });
        }
        let names = objects.first().map(names_in).unwrap_or_default();
        return Err((FilePosition::Whole, SeriesProblem::NeedsColumn { names }));
    };
    let values = numbers_of(objects, column, real)?;
    if values.is_empty() {
        return Err((FilePosition::Whole, SeriesProblem::Empty));
    }
    let numbers = choice.numbers.as_ref().map(|numbers| numbers_of(objects, numbers, index)).transpose()?;
    if let (Some(numbers), Some(choice)) = (&numbers, &choice.numbers) {
        let (expected, found) = (values.len(), numbers.len());
        if expected != found {
            let choice = choice.clone();
            return Err((FilePosition::Whole, SeriesProblem::Lengths { choice, expected, found }));
        }
        for (at, pair) in numbers.windows(2).enumerate() {
            let position = if objects.len() > 1 { FilePosition::Object(at + 2) } else { FilePosition::Whole };
            expect_later(Some(pair[0]), pair[1]).map_err(|problem| (position, problem))?;
        }
    }
    Ok(Measurements { names: vec![column.to_string()], columns: vec![values], numbers })
}

/// Returns the numbers at one place of all objects.
fn numbers_of<T>(
    objects: &[Value],
    column: &ColumnChoice,
    convert: fn(&Value) -> Result<T, SeriesProblem>,
) -> Result<Vec<T>, (FilePosition, SeriesProblem)> {
    if let [object] = objects {
        let found = value_of(object, column).map_err(|problem| (FilePosition::Whole, problem))?;
        let list = found.as_array().map_or(std::slice::from_ref(found), Vec::as_slice);
        return list
            .iter()
            .map(convert)
            .collect::<Result<_, _>>()
            .map_err(|problem| (FilePosition::Whole, problem));
    }
    let one = |(at, object): (usize, &Value)| {
        value_of(object, column).and_then(convert).map_err(|problem| (FilePosition::Object(at + 1), problem))
    };
    objects.iter().enumerate().map(one).collect()
}

/// Returns the value that keys with dots between them lead to.
///
/// A list counts from 0: `rows.3.energy`.
fn value_of<'a>(object: &'a Value, column: &ColumnChoice) -> Result<&'a Value, SeriesProblem> {
    let text = column.to_string();
    let step = |value: &'a Value, key: &str| match value {
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    };
    let found = object.get(&text).or_else(|| text.split('.').try_fold(object, step));
    found.ok_or_else(|| SeriesProblem::NoColumn { choice: column.clone(), names: names_in(object) })
}

fn real(value: &Value) -> Result<f64, SeriesProblem> {
    match value {
        Value::Number(number) => {
            let real = number.as_f64().filter(|real| real.is_finite());
            real.ok_or_else(|| SeriesProblem::NotFinite(number.to_string()))
        }
        // Results have null for what is not finite.
        Value::Null => Err(SeriesProblem::NotFinite("null".to_owned())),
        other => Err(SeriesProblem::NotANumber(quoted(&other.to_string()))),
    }
}

fn index(value: &Value) -> Result<u64, SeriesProblem> {
    value.as_u64().ok_or_else(|| SeriesProblem::NotAnIndex(quoted(&value.to_string())))
}

/// Returns the keys that lead to numbers and to lists of numbers.
fn names_in(object: &Value) -> Vec<String> {
    fn collect(value: &Value, outer: &str, names: &mut Vec<String>) {
        let is_series =
            |value: &Value| value.is_number() || value.as_array().is_some_and(|list| is_list(list));
        for (key, value) in value.as_object().into_iter().flatten() {
            let name = if outer.is_empty() { key.clone() } else { format!("{outer}.{key}") };
            if is_series(value) {
                names.push(name);
            } else {
                collect(value, &name, names);
            }
        }
    }
    fn is_list(list: &[Value]) -> bool {
        !list.is_empty() && list.iter().all(Value::is_number)
    }
    let mut names = Vec::new();
    collect(object, "", &mut names);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], choice: &Choice) -> Result<Measurements, (FilePosition, SeriesProblem)> {
        let objects = objects(text).map_err(|problem| (FilePosition::Whole, problem))?;
        measurements(&objects, choice)
    }

    fn choice(column: &str, numbers: &str) -> Choice {
        let parsed = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        Choice { column: parsed(column), numbers: parsed(numbers) }
    }

    #[test]
    fn lines_results_and_histories_are_read() {
        let lines = "{\"n\": 3, \"energy\": {\"clover\": 0.5}}\n{\"n\": 5, \"energy\": {\"clover\": 1}}\n";
        let found = read(lines.as_bytes(), &choice("energy.clover", "n")).unwrap();
        assert_eq!((found.columns, found.numbers), (vec![vec![0.5, 1.0]], Some(vec![3, 5])));
        let history = "{\"history\": [1, 2.5], \"n\": [1, 2]}";
        let found = read(history.as_bytes(), &choice("history", "n")).unwrap();
        assert_eq!((found.columns, found.numbers), (vec![vec![1.0, 2.5]], Some(vec![1, 2])));
        assert_eq!(read(b"[1, 2.5]", &Choice::default()).unwrap().columns, [[1.0, 2.5]]);
        let records = read(b"[{\"a\": 1}, {\"a\": 2}]", &choice("a", "")).unwrap();
        assert_eq!(records.columns, [[1.0, 2.0]]);
        let rows = "{\"rows\": [{\"e\": 4}]}\n{\"rows\": [{\"e\": 5}]}";
        assert_eq!(read(rows.as_bytes(), &choice("rows.0.e", "")).unwrap().columns, [[4.0, 5.0]]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_object() {
        for (text, column, numbers, place, wanted) in [
            ("{\"a\": {\"b\": 1}, \"c\": [1]}", "", "", FilePosition::Whole, "choose a.b or c"),
            ("{\"a\": 1}{\"b\": 1}", "a", "", FilePosition::Object(2), "no column a; choose b"),
            ("{\"a\": 1}{\"a\": null}", "a", "", FilePosition::Object(2), "`null` is not finite"),
            ("{\"a\": 1}{\"a\": \"x\"}", "a", "", FilePosition::Object(2), "is no number"),
            ("{\"a\": 1, \"n\": 1}{\"a\": 2, \"n\": 1}", "a", "n", FilePosition::Object(2), "is there twice"),
            ("{\"a\": [1, 2], \"n\": [1]}", "a", "n", FilePosition::Whole, "n has 1 numbers"),
            ("{\"a\": []}", "a", "", FilePosition::Whole, "no measurements"),
            ("[]", "", "", FilePosition::Whole, "no measurements"),
            ("[1, null]", "", "", FilePosition::Whole, "--column says which"),
            ("[{\"a\": 1}, {\"a\": null}]", "a", "", FilePosition::Object(2), "`null` is not finite"),
            ("{\"a\": NaN}", "a", "", FilePosition::Whole, "no JSON, which has no NaN"),
            ("{\"a\": ", "a", "", FilePosition::Whole, "no JSON"),
        ] {
            let (at, problem) = read(text.as_bytes(), &choice(column, numbers)).unwrap_err();
            assert!(at == place && problem.to_string().contains(wanted), "{text}: {at:?} {problem}");
        }
    }
}
