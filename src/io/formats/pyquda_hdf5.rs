//! HDF5 as PyQUDA writes it: the group `LatticeColorMatrix`.
//!
//! The datasets `0` to `3` are the directions, [t][z][y][x][row][column] of complex numbers. The
//! group has the extents as text, x first. Each dataset has the texts `sum29` and `sum31`.

use super::by_direction::{self, ByDirection};
use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::registry::Format;
use crate::geometry::{Dims, NDIM};
use crate::host::GaugeConfiguration;
use crate::io::checksum::{Checksum, Method};
use crate::io::error::{Error, ErrorKind, Position};
use crate::io::gauge_file::GaugeFile;
use crate::io::hdf5::{self, Attribute, Dataset, Element, File, Writer};
use crate::io::input::Input;
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::payload::Fill;
use crate::io::pyquda;
use crate::io::read_options::{ReadOptions, extents};
use crate::io::write_options::WriteOptions;

const GROUP: &str = "LatticeColorMatrix";

pub(super) struct PyQudaHdf5;

impl GaugeFormat for PyQudaHdf5 {
    fn about(&self) -> About {
        About {
            name: "pyquda-hdf5",
            title: "PyQUDA HDF5",
            beginning: "the bytes 89 HDF or a user block before them",
            reads: "the group LatticeColorMatrix, 32 and 64 bits, its sums",
            endings: &["pyquda-hdf5", "h5", "hdf5"],
            provenance: &[],
            takes_over: &[],
        }
    }

    fn recognise(&self, start: &[u8], _length: u64) -> bool {
        hdf5::begins(start)
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        let file = File::read(input)?;
        let mut datasets = Vec::new();
        let mut objects = Vec::new();
        let paths: [String; NDIM] = std::array::from_fn(|mu| format!("/{GROUP}/{mu}"));
        for path in &paths {
            let Some(object) = file.get(path) else {
                let wanted = "gauge field (the datasets /LatticeColorMatrix/0 to 3 of PyQUDA)";
                let arrays = file.described(input);
                return Err(input.error(ErrorKind::NoSuchArray { wanted, arrays }));
            };
            datasets.push(Dataset::of(input, object)?);
            objects.push(object);
        }
        let shape = datasets[0].shape();
        let numbers = datasets[0].numbers().clone();
        let wanted = "links [t][z][y][x][3][3] of complex numbers, alike in four datasets";
        let alike = datasets.iter().all(|dataset| dataset.shape() == shape && *dataset.numbers() == numbers);
        let (&[t, z, y, x, 3, 3], true, true) = (&shape[..], alike, numbers.is_complex) else {
            let arrays = file.described(input);
            return Err(input.error(ErrorKind::NoSuchArray { wanted, arrays }));
        };
        let stored = Dims::new([x, y, z, t].map(|extent| usize::try_from(extent).unwrap_or(usize::MAX)))
            .map_err(|source| input.error(ErrorKind::BadExtents { position: Position::Byte(0), source }));
        let dims = extents(input, stored, options.dims)?;
        let mut warnings =
            Vec::from_iter(file.warning_of_others(input, &paths.each_ref().map(String::as_str)));
        if let Some(group) = file.get(&format!("/{GROUP}")) {
            warnings.extend(pyquda::other_extents(input, group, dims)?);
        }
        let mut stored_sums = Vec::new();
        for object in &objects {
            stored_sums.push(pyquda::stored_sums(input, object)?);
        }
        let layout = ByDirection {
            dims,
            precision: numbers.precision,
            order: numbers.order,
            method: stored_sums.iter().any(Option::is_some).then_some(Method::PyQuda),
        };
        let mut fills: [Box<Fill<'_>>; NDIM] = datasets
            .into_iter()
            .map(|mut dataset| {
                Box::new(move |input: &mut Input, at: u64, buffer: &mut [u8]| dataset.fill(input, at, buffer))
                    as Box<Fill<'_>>
            })
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| input.error(ErrorKind::Empty))?;
        let (links, computed) = layout.read(input, options, &mut fills)?;
        let compared = stored_sums
            .into_iter()
            .zip(computed)
            .map(|(stored, computed)| stored.map(|stored| stored.compared(computed)));
        let checksums: Vec<Checksum> = compared.flatten().collect();
        Ok(UncheckedGaugeFile::from(GaugeFile {
            checksum: Checksum::of_parts(&checksums),
            warnings,
            ..GaugeFile::new(GaugeConfiguration::new(dims, links), Format::PyQudaHdf5)
        }))
    }
}

impl WrittenFormat for PyQudaHdf5 {
    fn cannot_hold(&self) -> &'static [Feature] {
        by_direction::CANNOT_HOLD
    }

    fn write(
        &self,
        output: &mut Output,
        configuration: &GaugeConfiguration,
        options: &WriteOptions,
    ) -> Result<(), Error> {
        let dims = configuration.dims();
        let [x, y, z, t] = dims.extents().map(|extent| extent as u64);
        let precision = options.precision.unwrap_or(configuration.precision());
        let layout = ByDirection { dims, precision, order: ByteOrder::Little, method: Some(Method::PyQuda) };
        let mut writer = Writer::begin(output)?;
        pyquda::describe(&mut writer, &[GROUP], dims, None);
        for mu in 0..NDIM {
            let path = [GROUP, &mu.to_string()];
            let element = Element::Complex(precision);
            let sums = writer.dataset(&path, &[t, z, y, x, 3, 3], element, |output| {
                layout.write(output, configuration, mu)
            })?;
            for (name, sum) in pyquda::SUMS.into_iter().zip(sums) {
                writer.attribute(&path, name, Attribute::Text(format!("{sum:08x}")));
            }
            if let Some(progress) = options.progress {
                progress(mu as u64 + 1, NDIM as u64);
            }
        }
        writer.finish()
    }
}
