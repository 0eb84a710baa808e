//! Results of jobs in files: JSON, or HDF5 with the same content.
//!
//! An HDF5 file has the result as text in the dataset `document`, and beside it a tree that other
//! programs read. Objects are groups, and so are lists of them, with numbers as names. A long list of
//! objects with the same keys is one group, with a dataset for each key (`columns`). Lists of numbers
//! are datasets, nested ones with several extents, and `null` among numbers is NaN. Single values are
//! attributes of their group. The document refers to the datasets of long lists.

mod columns;

use super::error::{Error, ErrorKind};
use super::hdf5::{self, Attribute, Element, File, Writer};
use super::input::Input;
use super::output::Output;
use crate::scalar::Precision;
use columns::{Table, file_name, reals, resolve, shape, write_long};
use serde_json::{Map, Value};
use std::path::Path;

/// The dataset with the result as text.
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
    let mut writer = Writer::begin(&mut output)?;
    let text = match result {
        Value::Object(entries) => {
            let put = |(name, value): (&String, &Value)| {
                Ok((name.clone(), put(&mut writer, &mut Vec::new(), name, value)?))
            };
            Value::Object(entries.iter().map(put).collect::<Result<Map<_, _>, Error>>()?).to_string()
        }
        other => other.to_string(),
    };
    // No text is as long as 4 GiB, because JSON takes many times as much in memory.
    let element = Element::Text(text.len() as u32);
    writer.dataset(&[DOCUMENT], &[], element, |output| output.write(text.as_bytes()))?;
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
    if !hdf5::find(&mut input)? {
        let text = input.bytes("a result", 0, length as usize)?;
        return parsed(&input, &String::from_utf8_lossy(&text));
    }
    let file = File::read(&mut input)?;
    let Some(object) = file.get(&format!("/{DOCUMENT}")) else {
        let arrays = file.described(&mut input);
        let wanted = "result of a job (a dataset /document)";
        return Err(input.error(ErrorKind::NoSuchArray { wanted, arrays }));
    };
    let text = hdf5::text(&mut input, object)?;
    let mut result = parsed(&input, &text)?;
    resolve(&mut input, &file, &mut result)?;
    Ok(result)
}

fn parsed(input: &Input, text: &str) -> Result<Value, Error> {
    serde_json::from_str(text)
        .map_err(|error| input.error(ErrorKind::BadResults { problem: format!("it is no JSON: {error}") }))
}

/// Puts a value into the group at `path`, and returns what the document has in its place.
fn put(writer: &mut Writer<'_>, path: &mut Vec<String>, name: &str, value: &Value) -> Result<Value, Error> {
    let name = file_name(name);
    let group: Vec<&str> = path.iter().map(String::as_str).collect();
    let attribute = match value {
        Value::Null => return Ok(Value::Null),
        Value::Bool(flag) => Attribute::Flag(*flag),
        Value::String(text) => Attribute::Text(text.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Attribute::Integer(whole),
            None => Attribute::Real(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::Array(values) => {
            let own: Vec<&str> = group.iter().copied().chain([name.as_str()]).collect();
            if let Some(table) = Table::of(values) {
                return table.write(writer, &own);
            }
            let mut leaves = Vec::new();
            if let Some(extents) = shape(value, &mut leaves) {
                if let Some(reference) = write_long(writer, &own, &extents, &leaves)? {
                    return Ok(reference);
                }
                if let Some(numbers) = reals(&leaves) {
                    let element = Element::Real(Precision::Double);
                    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                    writer.dataset(&own, &extents, element, |output| output.write(&bytes))?;
                    return Ok(value.clone());
                }
            }
            writer.group(&own);
            path.push(name);
            let numbered = values.iter().enumerate();
            let put = |(number, value): (usize, &Value)| put(writer, path, &number.to_string(), value);
            let kept = numbered.map(put).collect::<Result<_, _>>()?;
            path.pop();
            return Ok(Value::Array(kept));
        }
        Value::Object(entries) => {
            let own: Vec<&str> = group.iter().copied().chain([name.as_str()]).collect();
            writer.group(&own);
            path.push(name);
            let put = |(name, value): (&String, &Value)| Ok((name.clone(), put(writer, path, name, value)?));
            let kept = entries.iter().map(put).collect::<Result<Map<_, _>, Error>>()?;
            path.pop();
            return Ok(Value::Object(kept));
        }
    };
    writer.attribute(&group, &name, attribute);
    Ok(value.clone())
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

    /// Bytes of the file of a result, which is read as it was written.
    #[track_caller]
    fn size_in_hdf5(result: &Value) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.h5");
        write_results(&path, result).unwrap();
        assert!(read_results(&path).unwrap() == *result, "the result is another one");
        std::fs::metadata(&path).unwrap().len() as usize
    }

    fn count_of_numbers(value: &Value) -> usize {
        match value {
            Value::Array(values) => values.iter().map(count_of_numbers).sum(),
            Value::Object(entries) => entries.values().map(count_of_numbers).sum(),
            value => usize::from(value.is_f64()),
        }
    }

    #[test]
    fn a_file_is_hardly_larger_than_its_numbers() {
        let values = |seed: usize, extent: usize| -> Vec<[f64; 2]> {
            (0..extent).map(|t| [1, 2].map(|k| ((seed + 7 * t + k) as f64 * 0.7).sin() * 1e-3)).collect()
        };
        let mesons = |momenta: usize, extent: usize| -> Value {
            (0..256 * momenta)
                .map(|k| {
                    let (source, sink, momentum) = (k / 16 % 16, k % 16, [k / 256, 0, 1]);
                    json!({ "source": source, "sink": sink, "momentum": momentum, "values": values(k, extent) })
                })
                .collect()
        };
        let baryons = |momenta: usize, extent: usize| -> Value {
            let names = ["nucleon_Cg5", "nucleon_Cg5NR_down", "delta_Cgx"];
            let baryon = |k: usize| {
                let [name, projector] = [names[k % 3], ["+", "-"][k % 2]];
                json!({ "name": name, "projector": projector, "momentum": [k, 0, -1], "values": values(k, extent) })
            };
            (0..12 * momenta).map(baryon).collect()
        };
        for (momenta, extent) in [(1, 4), (1, 64), (7, 8), (19, 8), (33, 4), (7, 96)] {
            let one = json!({ "label": "point", "mesons": mesons(momenta, extent), "baryons": baryons(momenta, extent) });
            for count in [1, 3] {
                let results = vec![one.clone(); count];
                let result = json!({ "converged": true, "results": results, "mixed": [one.clone()] });
                let (size, numbers) = (size_in_hdf5(&result), 8 * count_of_numbers(&result));
                assert!(size <= 2 * numbers + 100_000, "{momenta}, {extent}, {count}: {size} for {numbers}");
            }
        }
        let steps = |count: usize| -> Value {
            (0..count)
                .map(|k| json!({ "t": 0.01 * k as f64, "E": 0.3 / (1.0 + k as f64), "is_last": false }))
                .collect()
        };
        let long: Vec<f64> = (0..100_000).map(|k| f64::from(k).cos()).collect();
        for result in [
            json!({ "steps": steps(20_000) }),
            json!({ "history": long, "nothing": vec![Value::Null; 500] }),
            json!({ "matrix": long.chunks(250).collect::<Vec<_>>() }),
        ] {
            let (size, numbers) = (size_in_hdf5(&result), 8 * count_of_numbers(&result));
            assert!(size <= 2 * numbers + 100_000, "{size} for {numbers}");
        }
    }

    /// What looks like a table and is none, and tables with every kind of column.
    #[test]
    fn long_lists_are_read_as_written() {
        let rows = |row: &dyn Fn(usize) -> Value| -> Value { (0..200).map(row).collect() };
        let nan = |k: usize| if k.is_multiple_of(3) { Value::Null } else { json!(0.5 * k as f64) };
        for list in [
            rows(
                &|k| json!({ "a": k, "b": -128 * k as i64, "c": i64::MIN + k as i64, "d": k % 2 == 0, "e/f": format!("t{k}") }),
            ),
            rows(
                &|k| json!({ "x": nan(k), "y": [[nan(k + 1), 1.5], [2.0, -0.0]], "z": [format!("a{k}"), "b"] }),
            ),
            // Other keys, kinds, or shapes.
            rows(&|k| if k == 77 { json!({ "b": 1 }) } else { json!({ "a": k }) }),
            rows(&|k| if k == 77 { json!({ "a": 1.0 }) } else { json!({ "a": k }) }),
            rows(&|k| if k == 77 { json!({ "a": u64::MAX }) } else { json!({ "a": k }) }),
            rows(&|k| json!({ "a": vec![0.5; k % 3] })),
            rows(&|k| json!({ "a": { "b": k }, "c": "\0" })),
            rows(&|k| json!({ "a": if k == 3 { "long".repeat(100) } else { String::new() } })),
            rows(&|_| json!({})),
            rows(&|_| Value::Null),
            rows(&|k| json!(format!("ä{k}"))),
            rows(&|k| json!(k)),
            rows(&|k| json!(k % 2 == 0)),
            rows(&|k| json!([k as f64, 0.25])),
            rows(&|k| if k % 2 == 0 { json!(k) } else { json!(0.25) }),
        ] {
            size_in_hdf5(&json!({ "a list": list.clone(), "deep": [{ "er": list }] }));
        }
    }

    #[test]
    fn references_that_lead_nowhere_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.h5");
        for document in [
            json!({ "a": { "hdf5 dataset": "/none" } }),
            json!({ "a": { "hdf5 dataset": "/one" } }),
            json!({ "a": { "hdf5 dataset": "/list" }, "b": { "hdf5 dataset": "/list" } }),
            json!({ "a": { "hdf5 table": "", "columns": ["list", "longer"] } }),
        ] {
            let mut output = Output::create(&path).unwrap();
            let mut writer = Writer::begin(&mut output).unwrap();
            let text = document.to_string();
            let mut add = |name, extents: &[u64], element, bytes: &[u8]| {
                writer.dataset(&[name], extents, element, |output| output.write(bytes)).unwrap();
            };
            add(DOCUMENT, &[], Element::Text(text.len() as u32), text.as_bytes());
            add("one", &[], Element::Integer(8), &[0; 8]);
            add("list", &[2], Element::Integer(1), &[1, 2]);
            add("longer", &[3], Element::Integer(1), &[1, 2, 3]);
            writer.finish().unwrap();
            output.finish().unwrap();
            let error = read_results(&path).unwrap_err().to_string();
            assert!(error.contains("its document refers to the dataset /"), "{document}: {error}");
        }
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
