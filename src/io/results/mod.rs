//! Results of jobs in files: JSON, or HDF5 with the same content.
//!
//! An HDF5 file has the whole result as text in the dataset `document`, and beside it a tree that
//! other programs read. Objects are groups, and so are lists of them, with numbers as names. Lists of
//! numbers are datasets, nested ones with several extents, and `null` among numbers is NaN. Single
//! values are attributes of their group.

use super::error::{Error, ErrorKind};
use super::hdf5::{self, Attribute, Element, File, Writer};
use super::input::Input;
use super::output::Output;
use crate::scalar::Precision;
use serde_json::Value;
use std::path::Path;

/// The dataset with the whole result.
const DOCUMENT: &str = "document";

/// Most bytes of a file of results.
const LARGEST: u64 = 1 << 30;

/// Tells whether results under this name are written as HDF5.
///
/// Such a name ends in `.h5` or `.hdf5`.
pub fn is_hdf5_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ["h5", "hdf5"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Writes a result, as HDF5 if its name says so, else as JSON.
///
/// # Errors
/// When the file cannot be written.
pub fn write_results(path: impl AsRef<Path>, result: &Value) -> Result<(), Error> {
    let path = path.as_ref();
    let mut output = Output::create(path)?;
    if !is_hdf5_name(path) {
        output.write(format!("{result:#}\n").as_bytes())?;
        return output.finish();
    }
    let text = result.to_string();
    let mut writer = Writer::begin(&mut output)?;
    // No text is as long as 4 GiB, because JSON takes many times as much in memory.
    let element = Element::Text(text.len() as u32);
    writer.dataset(&[DOCUMENT], &[], element, |output| output.write(text.as_bytes()))?;
    if let Value::Object(entries) = result {
        for (name, value) in entries {
            put(&mut writer, &mut Vec::new(), name, value)?;
        }
    }
    writer.finish()?;
    output.finish()
}

/// Reads a result that [`write_results`] wrote, or the program printed as JSON.
///
/// # Errors
/// * The file cannot be read.
/// * The file is neither JSON nor HDF5 with such a document.
pub fn read_results(path: impl AsRef<Path>) -> Result<Value, Error> {
    let mut input = Input::open(path.as_ref())?;
    let length = input.length();
    if length > LARGEST {
        let problem = format!("it has {length} bytes, and results at most {LARGEST}");
        return Err(input.error(ErrorKind::BadResults { problem }));
    }
    let start = input.bytes("a result", 0, length.min(hdf5::MAGIC.len() as u64) as usize)?;
    let text = if start == hdf5::MAGIC {
        let file = File::read(&mut input)?;
        match file.get(&format!("/{DOCUMENT}")) {
            Some(object) => hdf5::text(&mut input, object)?,
            None => {
                let arrays = file.described(&mut input);
                return Err(input.error(ErrorKind::NoSuchArray {
                    wanted: "result of a job (a dataset /document)",
                    arrays,
                }));
            }
        }
    } else {
        String::from_utf8_lossy(&input.bytes("a result", 0, length as usize)?).into_owned()
    };
    serde_json::from_str(&text)
        .map_err(|error| input.error(ErrorKind::BadResults { problem: format!("it is no JSON: {error}") }))
}

/// Puts a value into the group at `path`.
fn put<'v>(
    writer: &mut Writer<'_>,
    path: &mut Vec<String>,
    name: &'v str,
    value: &'v Value,
) -> Result<(), Error> {
    // A stroke would begin another group.
    let name = name.replace('/', "|");
    let group: Vec<&str> = path.iter().map(String::as_str).collect();
    let attribute = match value {
        Value::Null => return Ok(()),
        Value::Bool(flag) => Attribute::Flag(*flag),
        Value::String(text) => Attribute::Text(text.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Attribute::Integer(whole),
            None => Attribute::Real(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::Array(_) | Value::Object(_) => {
            if let Some((extents, numbers)) = numbers(value) {
                let path: Vec<&str> = group.iter().copied().chain([name.as_str()]).collect();
                let element = Element::Real(Precision::Double);
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                return writer.dataset(&path, &extents, element, |output| output.write(&bytes));
            }
            path.push(name);
            let own: Vec<&str> = path.iter().map(String::as_str).collect();
            writer.group(&own);
            match value {
                Value::Object(entries) => {
                    for (name, value) in entries {
                        put(writer, path, name, value)?;
                    }
                }
                Value::Array(values) => {
                    for (number, value) in values.iter().enumerate() {
                        put(writer, path, &number.to_string(), value)?;
                    }
                }
                _ => {}
            }
            path.pop();
            return Ok(());
        }
    };
    writer.attribute(&group, &name, attribute);
    Ok(())
}

/// Returns the extents and the numbers of nested lists of equal lengths.
///
/// `None` for other values, and for an empty list: HDF5 knows no extents of zero here.
fn numbers(value: &Value) -> Option<(Vec<u64>, Vec<f64>)> {
    let Value::Array(values) = value else { return None };
    let (mut inner, mut all) = (None, Vec::new());
    for value in values {
        let extents = match value {
            Value::Number(number) => {
                all.push(number.as_f64()?);
                Vec::new()
            }
            Value::Null => {
                all.push(f64::NAN);
                Vec::new()
            }
            other => {
                let (extents, numbers) = numbers(other)?;
                all.extend(numbers);
                extents
            }
        };
        if *inner.get_or_insert_with(|| extents.clone()) != extents {
            return None;
        }
    }
    let mut extents = vec![values.len() as u64];
    extents.extend(inner?);
    Some((extents, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result() -> Value {
        let solves: Vec<Value> =
            (0..50).map(|k| json!({ "label": format!("spin {k}"), "residual": 1e-12 })).collect();
        json!({
            "command": "spectrum", "converged": true, "kappa": 0.125, "iterations": -7, "nothing": null,
            "C/T": [1.5, null, 3], "correlator": [[[1.0, 0.5], [2.0, 0.25]]], "ragged": [[1], [2, 3]], "empty": [],
            "provenance": { "host": "ätna", "devices": ["a", "b"], "deep": { "deeper": {} } }, "solves": solves,
        })
    }

    #[test]
    fn results_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["r.h5", "r.HDF5", "r.json", "r"] {
            let path = folder.path().join(name);
            write_results(&path, &result()).unwrap();
            assert_eq!(read_results(&path).unwrap(), result(), "{name}");
        }
    }

    #[test]
    fn the_tree_has_the_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.h5");
        write_results(&path, &result()).unwrap();
        let mut input = Input::open(&path).unwrap();
        let file = File::read(&mut input).unwrap();
        let mut dataset = hdf5::Dataset::of(&mut input, file.get("/correlator").unwrap()).unwrap();
        assert_eq!(dataset.shape(), [1, 2, 2]);
        let mut bytes = [0; 32];
        dataset.fill(&mut input, 0, &mut bytes).unwrap();
        let numbers: Vec<f64> =
            bytes.chunks(8).map(|word| f64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(numbers, [1.0, 0.5, 2.0, 0.25]);
        assert_eq!(file.get("/solves/49").unwrap().text(&mut input, "label").unwrap().unwrap(), "spin 49");
        assert_eq!(file.get("/provenance").unwrap().text(&mut input, "host").unwrap().unwrap(), "ätna");
        assert!(file.get("/C|T").is_some() && file.get("/ragged/1").is_some());
    }

    /// The parser of JSON must not round: results are compared bit by bit.
    #[test]
    fn numbers_keep_every_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let numbers: Vec<f64> = (1..2000).map(|k| (0.1 * f64::from(k)).sin() * 1e-7).collect();
        write_results(&path, &json!({ "numbers": numbers })).unwrap();
        let read = read_results(&path).unwrap();
        let read = read["numbers"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap());
        assert!(read.map(f64::to_bits).eq(numbers.iter().map(|number| number.to_bits())));
    }

    #[test]
    fn what_is_no_result_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        std::fs::write(&path, "{ \"a\": ").unwrap();
        assert!(read_results(&path).unwrap_err().to_string().contains("no JSON"));
    }
}
