//! NPY: the links of an array of NumPy, as PyQUDA writes them.
//!
//! The array has the shape [direction][t][z][y][x][row][column].

use super::by_direction::{self, ByDirection};
use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::registry::Format;
use crate::geometry::{Dims, NDIM};
use crate::host::GaugeConfiguration;
use crate::io::error::{Error, ErrorKind, Position};
use crate::io::gauge_file::GaugeFile;
use crate::io::input::Input;
use crate::io::npy::{self, Array};
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::payload::{Fill, contiguous};
use crate::io::read_options::{ReadOptions, extents};
use crate::io::write_options::WriteOptions;
use lattice_files::text::tuple;

pub(super) struct Npy;

impl GaugeFormat for Npy {
    fn about(&self) -> About {
        About {
            name: "npy",
            title: "NPY",
            beginning: "the bytes 93 NUMPY",
            reads: "an array [μ][t][z][y][x][3][3] of complex numbers, 32 and 64 bits",
            endings: &["npy"],
            provenance: &[],
            takes_over: &[],
        }
    }

    fn recognise(&self, start: &[u8], _length: u64) -> bool {
        start.starts_with(npy::MAGIC)
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        let array = Array::read(input)?;
        let &[NDIM, t, z, y, x, 3, 3] = &array.shape[..] else {
            return Err(input.error(ErrorKind::NoSuchArray {
                wanted: "array of links, of the shape [4][t][z][y][x][3][3]",
                arrays: vec![tuple(&array.shape)],
            }));
        };
        let stored = Dims::new([x, y, z, t])
            .map_err(|source| input.error(ErrorKind::BadExtents { position: Position::Byte(10), source }));
        let dims = extents(input, stored, options.dims)?;
        let layout = ByDirection { dims, precision: array.precision, order: array.order, method: None };
        let bytes = layout.payload().bytes();
        input.expect("the links", array.byte, NDIM as u64 * bytes)?;
        let fill = |mu: usize| Box::new(contiguous(array.byte + mu as u64 * bytes)) as Box<Fill<'_>>;
        let (links, _) = layout.read(input, options, &mut std::array::from_fn(fill))?;
        Ok(UncheckedGaugeFile::from(GaugeFile {
            facts: vec![("byte order".into(), array.order.to_string())],
            warnings: Vec::from_iter(input.rest_after(array.byte + NDIM as u64 * bytes)),
            ..GaugeFile::new(GaugeConfiguration::new(dims, links), Format::Npy)
        }))
    }
}

impl WrittenFormat for Npy {
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
        let [x, y, z, t] = dims.extents();
        let precision = options.precision.unwrap_or(configuration.precision());
        Array::write_header(output, &[NDIM, t, z, y, x, 3, 3], precision)?;
        let layout = ByDirection { dims, precision, order: ByteOrder::Little, method: None };
        for mu in 0..NDIM {
            layout.write(output, configuration, mu)?;
            if let Some(progress) = options.progress {
                progress(mu as u64 + 1, NDIM as u64);
            }
        }
        Ok(())
    }
}
