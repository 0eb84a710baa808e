//! Writing the solutions of a propagator.

use super::columns::Layout;
use super::format::PropagatorFormat;
use super::record::COLUMNS;
use super::{packed, scidac};
use crate::compute::parallel::*;
use crate::geometry::Dims;
use crate::host::Spinor;
use crate::io::checksum::Method;
use crate::io::error::{Error, ErrorKind};
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::payload::Payload;
use crate::scalar::Precision;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Sites that are encoded at a time.
const SITES_AT_A_TIME: usize = 1 << 15;

/// A writer of the solutions of a propagator, one after the other.
///
/// The file has a temporary name until [`PropagatorWriter::finish`]. A writer that is dropped
/// leaves nothing behind.
///
/// Formats that hold all twelve solutions site by site are put together at the end. Until then the
/// solutions are in a file without a name beside the output, so that they take no memory.
pub struct PropagatorWriter {
    output: Output,
    dims: Dims,
    precision: Precision,
    info: String,
    /// The number of solutions written.
    solutions: usize,
    packing: Option<Packing>,
}

/// The solutions on their way into a format that holds all columns.
struct Packing {
    format: PropagatorFormat,
    layout: Layout,
    /// The columns one after the other.
    scratch: File,
    written: [bool; COLUMNS],
}

impl PropagatorWriter {
    /// Begins a SciDAC file for a lattice. `info` is free text for its header.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        dims: Dims,
        precision: Precision,
        info: &str,
    ) -> Result<Self, Error> {
        Self::create_as(path, PropagatorFormat::SciDac, dims, precision, info)
    }

    /// Begins a file of a format.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create_as(
        path: impl AsRef<Path>,
        format: PropagatorFormat,
        dims: Dims,
        precision: Precision,
        info: &str,
    ) -> Result<Self, Error> {
        let mut output = Output::create(path.as_ref())?;
        let packing = match format.holds_all_columns() {
            true => Some(Packing {
                format,
                layout: Layout { precision, order: ByteOrder::Little },
                scratch: output.scratch()?,
                written: [false; COLUMNS],
            }),
            false => {
                scidac::write_head(&mut output, dims, info, 0)?;
                None
            }
        };
        Ok(Self { output, dims, precision, info: info.to_owned(), solutions: 0, packing })
    }

    /// Appends the solution for a source with this spin (0 to 3) and colour (0 to 2).
    ///
    /// The field has its sites in lexicographic order.
    ///
    /// # Errors
    /// * The field is not of this lattice.
    /// * There is no such spin or colour.
    /// * The system refuses.
    pub fn write(&mut self, spin: usize, colour: usize, field: &[Spinor<f64>]) -> Result<(), Error> {
        let (wanted, found) = (self.dims.volume(), field.len());
        if wanted != found {
            return Err(self.output.error(ErrorKind::FieldSize { wanted, found }));
        }
        if spin >= 4 || colour >= 3 {
            return Err(self.output.error(ErrorKind::NoSuchSource { spin, colour }));
        }
        self.solutions += 1;
        match &mut self.packing {
            None => scidac::write_solution(&mut self.output, self.precision, (spin, colour), field),
            Some(packing) => {
                packing.keep(3 * spin + colour, field).map_err(|source| self.output.write_error(source))
            }
        }
    }

    /// Brings the file to disk and renames it.
    ///
    /// # Errors
    /// * The format holds twelve solutions, and some were not written.
    /// * The system refuses.
    pub fn finish(mut self) -> Result<(), Error> {
        match &mut self.packing {
            Some(packing) => packing.put_together(&mut self.output, self.dims, &self.info)?,
            None => {
                // The head says how many solutions there are, so that a part of a file is known for one.
                self.output.seek(0)?;
                scidac::write_head(&mut self.output, self.dims, &self.info, self.solutions)?;
            }
        }
        self.output.finish()
    }
}

impl Packing {
    /// Keeps a column.
    fn keep(&mut self, column: usize, field: &[Spinor<f64>]) -> std::io::Result<()> {
        let layout = self.layout;
        let size = layout.spinor_bytes();
        self.scratch.seek(SeekFrom::Start((column * field.len() * size) as u64))?;
        let mut bytes = vec![0; SITES_AT_A_TIME.min(field.len()) * size];
        for spinors in field.chunks(SITES_AT_A_TIME) {
            let bytes = &mut bytes[..spinors.len() * size];
            let encoded = bytes.par_chunks_exact_mut(size).zip(spinors).with_min_len(128);
            encoded.for_each(|(bytes, spinor)| layout.encode(spinor, bytes));
            self.scratch.write_all(bytes)?;
        }
        self.written[column] = true;
        Ok(())
    }

    /// Writes the file: at each site the numbers of all columns.
    fn put_together(&mut self, output: &mut Output, dims: Dims, info: &str) -> Result<(), Error> {
        let columns = self.written.iter().filter(|&&written| written).count();
        if columns < COLUMNS {
            return Err(output.error(ErrorKind::MissingColumns { columns }));
        }
        let (layout, scratch) = (self.layout, &mut self.scratch);
        let size = layout.spinor_bytes();
        let method = (self.format == PropagatorFormat::PyQudaHdf5).then_some(Method::PyQuda);
        let payload =
            Payload { sites: dims.volume(), site_bytes: layout.site_bytes(), method, progress: None };
        // The spinors of all columns on some sites, and the first of these.
        let mut spinors_from = |first: usize, sites: usize| -> std::io::Result<(usize, Vec<Vec<u8>>)> {
            let mut spinors = Vec::new();
            for column in 0..COLUMNS {
                let mut bytes = vec![0; sites * size];
                scratch.seek(SeekFrom::Start(((column * dims.volume() + first) * size) as u64))?;
                scratch.read_exact(&mut bytes)?;
                spinors.push(bytes);
            }
            Ok((first, spinors))
        };
        packed::write(output, self.format, dims, layout, info, |output| {
            payload.write_prepared(
                output,
                |output, first, sites| {
                    spinors_from(first, sites).map_err(|source| output.write_error(source))
                },
                |(first, spinors), site, bytes| {
                    for (column, spinors) in spinors.iter().enumerate() {
                        let at = (site - first) * size;
                        layout.put_column(&spinors[at..at + size], column, bytes);
                    }
                },
            )
        })
    }
}
