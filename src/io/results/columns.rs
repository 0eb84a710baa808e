//! Long lists of a result as datasets: the numbers of a file stand there once.
//!
//! A long list of objects with the same keys is a table: a group with a dataset for each key. A long
//! list of numbers or texts is one dataset. The document of the file has a reference in its place.

use crate::io::error::{Error, ErrorKind};
use crate::io::hdf5::{Cells, File, Writer};
use crate::io::input::Input;
use lattice_files::text::shortened;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Fewest objects of a table, and fewest numbers or texts of a list that a reference stands for.
///
/// Shorter lists take little room, and stand in the document too.
const LONG: usize = 64;

/// Most characters of a path in a message.
const LONGEST_PATH: usize = 80;

/// The key of a reference to a dataset.
const DATASET: &str = "hdf5 dataset";

/// The key of a reference to a table.
const TABLE: &str = "hdf5 table";

/// The key of the names of a table's columns, in their order.
const COLUMNS: &str = "columns";

/// Values of one shape and one kind: a list, or the column of a table.
struct Column {
    extents: Vec<u64>,
    cells: Cells,
}

impl Column {
    /// Collects values of one kind and one shape.
    ///
    /// `None` for other values. Numbers are of one kind if all are whole or none is; `null` is NaN.
    fn of<'v>(values: impl ExactSizeIterator<Item = &'v Value>) -> Option<Self> {
        let (mut extents, mut leaves) = (vec![values.len() as u64], Vec::new());
        extents.extend(common_shape(values, &mut leaves)?);
        Some(Self { extents, cells: cells(&leaves)? })
    }

    /// Returns the value of each entry of the outermost list.
    fn values(&self) -> Vec<Value> {
        let leaf = |k: usize| match &self.cells {
            // NaN, which JSON does not know, was `null`.
            Cells::Real(all) => all[k].into(),
            Cells::Integer(all) => all[k].into(),
            Cells::Flag(all) => all[k].into(),
            Cells::Text(all) => all[k].clone().into(),
        };
        let mut values: Vec<Value> = (0..self.cells.len()).map(leaf).collect();
        for &extent in self.extents[1..].iter().rev() {
            let mut rest = values.into_iter();
            let mut lists = Vec::new();
            while rest.len() > 0 {
                lists.push(rest.by_ref().take(extent as usize).collect());
            }
            values = lists;
        }
        values
    }

    fn write(&self, writer: &mut Writer<'_>, path: &[&str]) -> Result<(), Error> {
        let bytes = self.cells.bytes();
        writer.dataset(path, &self.extents, self.cells.element(), |output| output.write(&bytes))
    }
}

/// Collects the values in nested lists of equal lengths, and returns these lengths.
///
/// `None` for lists of other lengths, and for an empty list: HDF5 knows no extents of zero here.
pub(super) fn shape<'v>(value: &'v Value, leaves: &mut Vec<&'v Value>) -> Option<Vec<u64>> {
    let Value::Array(values) = value else {
        leaves.push(value);
        return Some(Vec::new());
    };
    let mut extents = vec![values.len() as u64];
    extents.extend(common_shape(values.iter(), leaves)?);
    Some(extents)
}

/// Returns the shape that all of these values have.
fn common_shape<'v>(
    values: impl Iterator<Item = &'v Value>,
    leaves: &mut Vec<&'v Value>,
) -> Option<Vec<u64>> {
    let mut common = None;
    for value in values {
        let shape = shape(value, leaves)?;
        if *common.get_or_insert_with(|| shape.clone()) != shape {
            return None;
        }
    }
    common
}

/// Returns values that all are numbers as reals; `null` is NaN.
pub(super) fn reals(leaves: &[&Value]) -> Option<Vec<f64>> {
    let real = |value: &&Value| if value.is_null() { Some(f64::NAN) } else { value.as_f64() };
    leaves.iter().map(real).collect()
}

/// Takes values of one kind.
fn cells(leaves: &[&Value]) -> Option<Cells> {
    /// Texts of very different lengths would waste room.
    fn are_alike(texts: &[String]) -> bool {
        let longest = texts.iter().map(String::len).max().unwrap_or(0);
        let together: usize = texts.iter().map(String::len).sum();
        longest * texts.len() <= 2 * together && !texts.iter().any(|text| text.contains('\0'))
    }
    let all = || leaves.iter().copied();
    match leaves.first()? {
        Value::Bool(_) => all().map(Value::as_bool).collect::<Option<_>>().map(Cells::Flag),
        Value::String(_) => {
            let texts: Option<Vec<String>> = all().map(|text| text.as_str().map(str::to_owned)).collect();
            texts.filter(|texts| are_alike(texts)).map(Cells::Text)
        }
        Value::Number(number) if number.is_i64() => {
            all().map(Value::as_i64).collect::<Option<_>>().map(Cells::Integer)
        }
        Value::Number(_) | Value::Null => {
            let is_real = |value: &&Value| value.is_null() || value.is_f64();
            // A list of `null` alone has no numbers.
            let has_numbers = leaves.iter().any(|value| !value.is_null());
            reals(leaves).filter(|_| has_numbers && leaves.iter().all(is_real)).map(Cells::Real)
        }
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// A long list of objects with the same keys, as columns by their keys.
pub(super) struct Table<'v>(Vec<(&'v str, Column)>);

impl<'v> Table<'v> {
    /// `None` for a list that is no table.
    pub(super) fn of(values: &'v [Value]) -> Option<Self> {
        let rows: Vec<&Map<String, Value>> = values.iter().map(Value::as_object).collect::<Option<_>>()?;
        let first = rows.first().filter(|first| rows.len() >= LONG && !first.is_empty())?;
        if rows.iter().any(|row| row.len() != first.len()) {
            return None;
        }
        let column = |key: &'v String| {
            let cells: Vec<&Value> = rows.iter().map(|row| row.get(key)).collect::<Option<_>>()?;
            Some((key.as_str(), Column::of(cells.into_iter())?))
        };
        first.keys().map(column).collect::<Option<_>>().map(Self)
    }

    /// Writes the table as the group at `path`, and returns the reference to it.
    pub(super) fn write(&self, writer: &mut Writer<'_>, path: &[&str]) -> Result<Value, Error> {
        for (key, column) in &self.0 {
            let name = file_name(key);
            column.write(writer, &[path, &[name.as_str()]].concat())?;
        }
        let keys: Vec<&str> = self.0.iter().map(|(key, _)| *key).collect();
        Ok(json!({ TABLE: joined(path), COLUMNS: keys }))
    }
}

/// Writes a list as the dataset at `path` if it is long, and returns the reference to it.
pub(super) fn write_long(
    writer: &mut Writer<'_>,
    path: &[&str],
    extents: &[u64],
    leaves: &[&Value],
) -> Result<Option<Value>, Error> {
    // Whole numbers are short in the document, and reals in the tree.
    let cells = cells(leaves).filter(|cells| cells.len() >= LONG && !matches!(cells, Cells::Integer(_)));
    let Some(cells) = cells else { return Ok(None) };
    Column { extents: extents.to_vec(), cells }.write(writer, path)?;
    Ok(Some(json!({ DATASET: joined(path) })))
}

/// Puts datasets and tables in the places of their references.
///
/// # Errors
/// When a reference leads nowhere, or to a dataset that another one leads to.
pub(super) fn resolve(input: &mut Input, file: &File, value: &mut Value) -> Result<(), Error> {
    Resolver { input, file, seen: HashSet::new() }.resolve(value)
}

struct Resolver<'a> {
    input: &'a mut Input,
    file: &'a File,
    /// The datasets that were read: each has one reference.
    seen: HashSet<String>,
}

impl Resolver<'_> {
    fn resolve(&mut self, value: &mut Value) -> Result<(), Error> {
        let list = match value {
            Value::Array(values) => return values.iter_mut().try_for_each(|value| self.resolve(value)),
            Value::Object(entries) => match referred(entries) {
                Some(Reference::Dataset(path)) => self.column(path)?.values(),
                Some(Reference::Table(path, keys)) => self.rows(path, &keys)?,
                None => return entries.values_mut().try_for_each(|value| self.resolve(value)),
            },
            _ => return Ok(()),
        };
        *value = Value::Array(list);
        Ok(())
    }

    fn column(&mut self, path: &str) -> Result<Column, Error> {
        let found = self.file.get(path).filter(|_| self.seen.insert(path.to_owned()));
        let object = found.ok_or_else(|| self.no_column(path))?;
        let (extents, cells) = Cells::read(self.input, object)?;
        if extents.is_empty() { Err(self.no_column(path)) } else { Ok(Column { extents, cells }) }
    }

    /// Reads the objects of a table.
    fn rows(&mut self, path: &str, keys: &[&str]) -> Result<Vec<Value>, Error> {
        let mut rows: Option<Vec<Map<String, Value>>> = None;
        for key in keys {
            let path = format!("{path}/{}", file_name(key));
            let values = self.column(&path)?.values();
            let rows = rows.get_or_insert_with(|| vec![Map::new(); values.len()]);
            if values.len() != rows.len() {
                return Err(self.no_column(&path));
            }
            for (row, value) in rows.iter_mut().zip(values) {
                row.insert((*key).to_owned(), value);
            }
        }
        Ok(rows.unwrap_or_default().into_iter().map(Value::Object).collect())
    }

    fn no_column(&self, path: &str) -> Error {
        let path = shortened(path, LONGEST_PATH);
        let problem =
            format!("its document refers to the dataset {path}, which is no list of its own that fits");
        self.input.error(ErrorKind::BadResults { problem })
    }
}

enum Reference<'v> {
    Dataset(&'v str),
    Table(&'v str, Vec<&'v str>),
}

fn referred(entries: &Map<String, Value>) -> Option<Reference<'_>> {
    let text = |key| entries.get(key).and_then(Value::as_str);
    match entries.len() {
        1 => text(DATASET).map(Reference::Dataset),
        2 => {
            let keys = entries.get(COLUMNS)?.as_array()?.iter().map(Value::as_str);
            Some(Reference::Table(text(TABLE)?, keys.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// Returns the name of a key in the file, where a stroke would begin another group.
pub(super) fn file_name(key: &str) -> String {
    key.replace('/', "|")
}

fn joined(path: &[&str]) -> String {
    path.iter().flat_map(|name| ["/", name]).collect()
}
