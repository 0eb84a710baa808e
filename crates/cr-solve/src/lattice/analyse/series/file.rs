//! Files of measurements, whatever their form.

use super::choice::Choice;
use super::gaps::GapsChoice;
use super::problem::{FilePosition, SeriesFileError, SeriesProblem};
use super::pyerrors::PyerrorsFile;
use super::run::SeriesRun;
use super::{columns, json, pyerrors};
use lattice_cl::io::{is_hdf5_name, read_results};
use lattice_files::text::MARK;
use lattice_files::{input, text};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Most bytes of JSON: 1 GiB. Its values take more memory than its text.
const LARGEST_JSON: u64 = 1 << 30;

/// The beginning of a file of gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// The beginning of a file of HDF5.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Reads the runs of a file: a result as HDF5, JSON if it begins with a brace or a bracket, else columns.
///
/// `gaps` holds for files that do not say themselves what missing configurations mean.
///
/// # Errors
/// The file cannot be read, or is not of its form.
pub fn read(path: &Path, choice: &Choice, gaps: GapsChoice) -> Result<Vec<SeriesRun>, SeriesFileError> {
    let failed = |position, problem| SeriesFileError::new(path, position, problem);
    let of_file = |problem| failed(FilePosition::Whole, problem);
    let system = |error: std::io::Error| of_file(error.into());
    let file = input::open(path).map_err(system)?;
    let bytes = file.metadata().map_err(system)?.len();
    let mut reader = BufReader::new(file);
    let name = text::path(path);
    let one_run = |measurements| vec![SeriesRun { name: name.clone(), measurements, gaps, values: None }];
    if reader.fill_buf().map_err(system)?.starts_with(GZIP) {
        return Err(of_file(SeriesProblem::Compressed));
    }
    let of_json = |objects: &[Value]| {
        let measurements = json::measurements(objects, choice).map(one_run);
        measurements.map_err(|(position, problem)| failed(position, problem))
    };
    if reader.fill_buf().map_err(system)?.starts_with(HDF5) || is_hdf5_name(path) {
        let result = read_results(path).map_err(|error| of_file(SeriesProblem::Result(error.kind.into())))?;
        return of_json(&[result]);
    }
    if !is_json(&mut reader).map_err(system)? {
        let read = columns::read(reader, choice).map_err(|(line, problem)| {
            failed(if line == 0 { FilePosition::Whole } else { FilePosition::Line(line) }, problem)
        });
        return read.map(one_run);
    }
    if bytes > LARGEST_JSON {
        return Err(of_file(SeriesProblem::LargeJson { bytes, most: LARGEST_JSON }));
    }
    match json::objects(reader).map_err(of_file)?.as_slice() {
        [object] if pyerrors::is_of_pyerrors(object) => {
            if choice.numbers.is_some() {
                return Err(of_file(SeriesProblem::OwnNumbers));
            }
            let PyerrorsFile { values, replica } = pyerrors::read(object, choice).map_err(of_file)?;
            let run = |(run, measurements): (String, _)| SeriesRun {
                name: format!("{name}, {}", text::printable(&run)),
                measurements,
                // Lags are distances of configuration numbers there.
                gaps: GapsChoice::Account,
                values: Some(values.clone()),
            };
            Ok(replica.into_iter().map(run).collect())
        }
        objects => of_json(objects),
    }
}

/// Tells whether a file begins with a brace or a bracket. A byte-order mark before JSON is passed over.
fn is_json(reader: &mut BufReader<File>) -> std::io::Result<bool> {
    let beginning = reader.fill_buf()?;
    let mark = if beginning.starts_with(MARK) { MARK.len() } else { 0 };
    let first = beginning[mark..].trim_ascii_start().first();
    let is_json = first.is_some_and(|first| matches!(first, b'{' | b'['));
    if is_json {
        reader.consume(mark);
    }
    Ok(is_json)
}
