//! Propagators in HDF5 and NPY files: all twelve solutions, site by site.
//!
//! An array has the shape [t][z][y][x][sink spin][source spin][sink colour][source colour].
//!
//! | format | where |
//! |---|---|
//! | lalibe | any dataset of [t][z][y][x] whose elements are arrays of arrays, with `record_xml` |
//! | PyQUDA | the dataset `0` of the group `LatticeSpinColorMatrix`, with `sum29` and `sum31` |
//! | NPY | the array of the file |

use super::columns::{self, Layout};
use super::format::PropagatorFormat;
use super::record::{COLUMNS, PropagatorRecord, records, verify};
use crate::geometry::Dims;
use crate::io::checksum::{Method, Sums};
use crate::io::error::{Error, ErrorKind, Position};
use crate::io::hdf5::{self, Attribute, Element, File, Writer};
use crate::io::input::Input;
use crate::io::metadata;
use crate::io::npy::{self, Array};
use crate::io::output::Output;
use crate::io::payload::{Fill, Payload, contiguous};
use crate::io::pyquda::{self, StoredSums};
use crate::io::read_options::{ReadOptions, extents};
use lattice_files::text::{printable, tuple};

/// PyQUDA's group.
const PYQUDA: &str = "LatticeSpinColorMatrix";

/// The dataset of a propagator that is written as lalibe does.
const LALIBE: &str = "propagator";

/// Most bytes of text in an attribute that is written.
const LONGEST_NOTE: usize = 60_000;

/// An array with a propagator.
pub(in crate::io) struct Packed {
    pub(super) format: PropagatorFormat,
    /// The extents x, y, z, t of the array.
    stored: [usize; 4],
    layout: Layout,
    fill: Box<Fill<'static>>,
    sums: Option<StoredSums>,
    pub(super) facts: Vec<(String, String)>,
    pub(super) warnings: Vec<String>,
}

/// Returns the extents of an array with the shape of a propagator.
fn extents_of(shape: &[u64]) -> Option<[usize; 4]> {
    match shape {
        &[t, z, y, x, 4, 4, 3, 3] => {
            Some([x, y, z, t].map(|extent| usize::try_from(extent).unwrap_or(usize::MAX)))
        }
        _ => None,
    }
}

impl Packed {
    /// Looks at an HDF5 or NPY file; `None` if it is neither, or has no propagator.
    pub(super) fn recognise(input: &mut Input) -> Result<Option<Self>, Error> {
        if hdf5::find(input)? {
            Self::in_hdf5(input)
        } else if begins_like_npy(input)? {
            Self::in_npy(input)
        } else {
            Ok(None)
        }
    }

    /// Lists the arrays of an HDF5 or NPY file for a message; `None` if it is neither.
    pub(super) fn arrays(input: &mut Input) -> Result<Option<Vec<String>>, Error> {
        if hdf5::find(input)? {
            Ok(Some(File::read(input)?.described(input)))
        } else if begins_like_npy(input)? {
            Ok(Some(vec![tuple(&Array::read(input)?.shape)]))
        } else {
            Ok(None)
        }
    }

    fn in_hdf5(input: &mut Input) -> Result<Option<Self>, Error> {
        let file = File::read(input)?;
        let mut datasets = file.datasets(input).into_iter().filter_map(|found| {
            let stored = extents_of(&found.dataset.shape()).filter(|_| found.dataset.numbers().is_complex)?;
            Some((stored, found))
        });
        let Some((stored, found)) = datasets.next() else { return Ok(None) };
        drop(datasets);
        let mut warnings = Vec::from_iter(file.warning_of_others(input, &[found.path]));
        let mut facts = vec![("dataset".to_owned(), printable(found.path))];
        if let Some(text) = found.object.text(input, "record_xml")? {
            let description = metadata::described(&text);
            let parameters = metadata::parameters(&text);
            match parameters.is_empty() {
                true => facts.push(("description".to_owned(), printable(&description))),
                false => facts.extend(parameters.into_iter().map(|(name, value)| (name, printable(&value)))),
            }
        }
        let sums = pyquda::stored_sums(input, found.object)?;
        let group =
            found.path.strip_prefix('/').and_then(|path| path.split_once('/')).map(|(group, _)| group);
        let format = match group {
            Some(PYQUDA) => PropagatorFormat::PyQudaHdf5,
            _ => PropagatorFormat::LalibeHdf5,
        };
        if let (Some(object), Ok(dims)) = (file.get(&format!("/{PYQUDA}")), Dims::new(stored)) {
            warnings.extend(pyquda::other_extents(input, object, dims)?);
        }
        let numbers = found.dataset.numbers();
        let layout = Layout { precision: numbers.precision, order: numbers.order };
        let mut dataset = found.dataset;
        let fill = move |input: &mut Input, at: u64, buffer: &mut [u8]| dataset.fill(input, at, buffer);
        Ok(Some(Self { format, stored, layout, fill: Box::new(fill), sums, facts, warnings }))
    }

    fn in_npy(input: &mut Input) -> Result<Option<Self>, Error> {
        let array = Array::read(input)?;
        let shape: Vec<u64> = array.shape.iter().map(|&extent| extent as u64).collect();
        let Some(stored) = extents_of(&shape) else { return Ok(None) };
        let layout = Layout { precision: array.precision, order: array.order };
        let bytes = stored
            .iter()
            .try_fold(layout.site_bytes() as u64, |bytes, &extent| bytes.checked_mul(extent as u64));
        input.expect("the spinors", array.byte, bytes.unwrap_or(u64::MAX))?;
        Ok(Some(Self {
            format: PropagatorFormat::Npy,
            stored,
            layout,
            fill: Box::new(contiguous(array.byte)),
            sums: None,
            facts: vec![("byte order".to_owned(), array.order.to_string())],
            warnings: Vec::from_iter(input.rest_after(array.byte + bytes.unwrap_or_default())),
        }))
    }

    pub(super) fn dims(&self, input: &Input, options: &ReadOptions) -> Result<Dims, Error> {
        let stored = Dims::new(self.stored)
            .map_err(|source| input.error(ErrorKind::BadExtents { position: Position::Byte(0), source }));
        let dims = extents(input, stored, options.dims)?;
        // Extents that are given count only for files that tell none.
        match dims.extents() == self.stored {
            true => Ok(dims),
            false => Err(input.error(ErrorKind::NoSuchArray {
                wanted: "propagator of the extents that were given",
                arrays: vec![tuple(&self.stored)],
            })),
        }
    }

    /// Hands on the twelve solutions in turn, and returns the extents.
    pub(super) fn for_each_solution(
        &mut self,
        input: &mut Input,
        options: &ReadOptions,
        take: &mut dyn FnMut(Dims, PropagatorRecord),
    ) -> Result<Dims, Error> {
        let dims = self.dims(input, options)?;
        let payload = Payload {
            sites: dims.volume(),
            site_bytes: self.layout.site_bytes(),
            method: self.sums.as_ref().map(|_| Method::PyQuda),
            progress: options.progress,
        };
        let (fields, computed) = self.layout.read(input, &payload, &mut *self.fill, COLUMNS)?;
        let checksum = self.sums.as_ref().map(|stored| stored.compared(computed));
        let records = records(columns::sources(), fields, self.layout.precision, checksum.as_ref());
        verify(input, dims, &records, options)?;
        records.into_iter().for_each(|record| take(dims, record));
        Ok(dims)
    }
}

fn begins_like_npy(input: &mut Input) -> Result<bool, Error> {
    let length = input.length().min(npy::MAGIC.len() as u64) as usize;
    Ok(input.bytes("the beginning of the file", 0, length)? == npy::MAGIC)
}

/// Writes a propagator in a format that holds all columns.
///
/// `numbers` writes the numbers with their sums.
pub(super) fn write(
    output: &mut Output,
    format: PropagatorFormat,
    dims: Dims,
    layout: Layout,
    info: &str,
    numbers: impl FnOnce(&mut Output) -> Result<Sums, Error>,
) -> Result<(), Error> {
    let [x, y, z, t] = dims.extents();
    let space = [t, z, y, x].map(|extent| extent as u64);
    let complex = Element::Complex(layout.precision);
    match format {
        PropagatorFormat::Npy => {
            Array::write_header(output, &[t, z, y, x, 4, 4, 3, 3], layout.precision)?;
            numbers(output).map(drop)
        }
        PropagatorFormat::PyQudaHdf5 => {
            let mut writer = Writer::begin(output)?;
            pyquda::describe(&mut writer, &[PYQUDA], dims, Some(4));
            let path = [PYQUDA, "0"];
            let sums = writer.dataset(&path, &[&space[..], &[4, 4, 3, 3]].concat(), complex, numbers)?;
            for (name, sum) in pyquda::SUMS.into_iter().zip(sums) {
                writer.attribute(&path, name, Attribute::Text(format!("{sum:08x}")));
            }
            writer.finish()
        }
        PropagatorFormat::LalibeHdf5 | PropagatorFormat::SciDac => {
            let mut writer = Writer::begin(output)?;
            let colours = Element::Array(vec![3, 3], Box::new(complex));
            let element = Element::Array(vec![4, 4], Box::new(colours));
            writer.dataset(&[LALIBE], &space, element, numbers)?;
            let note = |element: &str, text: &str| {
                let mut end = text.len().min(LONGEST_NOTE);
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                Attribute::FixedText(metadata::note(element, &text[..end]))
            };
            writer.attribute(&[LALIBE], "file_xml", note("propagator", ""));
            writer.attribute(&[LALIBE], "record_xml", note("info", info));
            writer.finish()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::read_propagator;
    use crate::scalar::Precision;

    /// A file with datasets beside the propagator, as a damaged one or one of several fields.
    #[test]
    fn datasets_that_are_not_read_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h5");
        let mut output = Output::create(&path).unwrap();
        let mut writer = Writer::begin(&mut output).unwrap();
        let complex = || Element::Complex(Precision::Single);
        let zeros = |bytes: usize| move |output: &mut Output| output.write(&vec![0; bytes]);
        writer.dataset(&["a", "0"], &[2, 2, 2, 2, 4, 4, 3, 3], complex(), zeros(16 * 144 * 8)).unwrap();
        writer.dataset(&["a", "1"], &[2, 2, 2, 2, 4, 4, 3, 1], complex(), zeros(16 * 48 * 8)).unwrap();
        writer.finish().unwrap();
        output.finish().unwrap();
        let warnings = read_propagator(&path).unwrap().warnings;
        assert_eq!(warnings, ["only /a/0 is read, not /a/1 (2, 2, 2, 2, 4, 4, 3, 1)"]);
    }
}
