//! Links as text, one real number a line.
//!
//! Bridge++ and Gaugefields.jl write such files.
//!
//! The order is t (slowest), z, y, x, direction (x, y, z, t), row, column, real before imaginary
//! part. There is no header. The caller gives the extents. The only check is that links are in
//! SU(3).

use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::registry::Format;
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host;
use crate::host::{GaugeConfiguration, Links, Matrix3};
use crate::io::error::{Error, ErrorKind};
use crate::io::gauge_file::GaugeFile;
use crate::io::input::Input;
use crate::io::output::Output;
use crate::io::read_options::{ReadOptions, unchecked_extents};
use crate::io::write_options::WriteOptions;
use lattice_files::number::real;
use lattice_files::text::quoted;
use num_complex::Complex;

/// Number of reals in a link.
const REALS: usize = 18;

/// Bytes read at a time.
const CHUNK: u64 = 4 << 20;

/// Most bytes of a line.
const LONGEST_LINE: usize = 100;

pub(super) struct BridgeText;

impl GaugeFormat for BridgeText {
    fn about(&self) -> About {
        About {
            name: "bridge-text",
            title: "Bridge++ text",
            beginning: "a number on its first line",
            reads: "with `--dims`",
            endings: &["bridge-text", "txt"],
            provenance: &[],
            takes_over: &[],
        }
    }

    /// Tells whether the first line is a number alone.
    fn recognise(&self, start: &[u8], _length: u64) -> bool {
        let first = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
        first.len() < start.len() && number(first).is_some()
    }

    /// Reads the links of a lattice of the given extents.
    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        let Some(dims) = options.dims else {
            let reason = "it is text with one number a line, without a header".to_owned();
            return Err(input.error(ErrorKind::MissingExtents { reason }));
        };
        let wanted = NDIM * dims.volume() * REALS;
        // A digit and the end of its line.
        input.expect("the links as text, at least two bytes a number", 0, 2 * wanted as u64 - 1)?;
        options.tell_extents(input, dims)?;
        let links = links(input, dims, options)?;
        let configuration = GaugeConfiguration::new(dims, Links::Double(links));
        Ok(UncheckedGaugeFile::from(GaugeFile {
            warnings: vec![unchecked_extents(dims)],
            ..GaugeFile::new(configuration, Format::BridgeText)
        }))
    }
}

impl WrittenFormat for BridgeText {
    fn cannot_hold(&self) -> &'static [Feature] {
        &[
            Feature::SinglePrecision,
            Feature::BigEndian,
            Feature::LittleEndian,
            Feature::TwoRows,
            Feature::LogicalFileName,
        ]
    }

    /// Writes each number with 17 digits, which are enough for the same 64 bits.
    fn write(
        &self,
        output: &mut Output,
        configuration: &GaugeConfiguration,
        options: &WriteOptions,
    ) -> Result<(), Error> {
        let sites = configuration.dims().volume();
        let lines = |site: usize| {
            let mut text = String::new();
            for entry in (0..NDIM).flat_map(|mu| configuration.link(site, mu).0.into_iter().flatten()) {
                text.push_str(&format!("{:.16e}\n{:.16e}\n", entry.re, entry.im));
            }
            text
        };
        for first in (0..sites).step_by(SITES_AT_A_TIME) {
            let end = sites.min(first + SITES_AT_A_TIME);
            let text: Vec<String> = (first..end).into_par_iter().map(lines).collect();
            text.iter().try_for_each(|text| output.write(text.as_bytes()))?;
            if let Some(progress) = options.progress {
                progress(end as u64, sites as u64);
            }
        }
        Ok(())
    }
}

/// Sites whose text is in memory at a time.
const SITES_AT_A_TIME: usize = 4096;

fn number(line: &[u8]) -> Option<f64> {
    let line = line.trim_ascii();
    let is_decimal = line.iter().all(|byte| byte.is_ascii_digit() || b"+-.eEdD".contains(byte));
    if !is_decimal || line.len() > LONGEST_LINE {
        return None;
    }
    real(line)
}

/// Reads all numbers of the file into the links of a lattice.
///
/// The file must have as many numbers as the lattice takes.
fn links(input: &mut Input, dims: Dims, options: &ReadOptions) -> Result<Vec<Matrix3<f64>>, Error> {
    let wanted = NDIM * dims.volume() * REALS;
    let bytes = (wanted * size_of::<f64>()) as u64;
    let mut links = Vec::new();
    host::reserve(&mut links, NDIM * dims.volume())
        .map_err(|_| input.error(ErrorKind::OutOfMemory { bytes }))?;
    // The numbers of the next link that have been read so far.
    let mut pending = Vec::with_capacity(REALS);
    let (mut start, mut lines) = (0, 0);
    while start < input.length() {
        let count = CHUNK.min(input.length() - start);
        let chunk = input.bytes("numbers", start, count as usize)?;
        let is_last = start + count == input.length();
        // The chunk is cut after its last whole line. The rest belongs to the next chunk.
        let end = match chunk.iter().rposition(|&byte| byte == b'\n') {
            _ if is_last => chunk.len(),
            Some(last) => last + 1,
            None => return Err(bad_line(input, lines, &chunk[..LONGEST_LINE])),
        };
        let text: Vec<&[u8]> = chunk[..end].split_inclusive(|&byte| byte == b'\n').collect();
        let parsed: Vec<Option<f64>> = text.par_iter().map(|line| number(line)).collect();
        for (line, value) in text.iter().zip(parsed) {
            lines += 1;
            let is_whole = links.len() == NDIM * dims.volume();
            match value {
                Some(value) if !is_whole => {
                    pending.push(value);
                    if pending.len() == REALS {
                        links.push(link_of(&pending));
                        pending.clear();
                    }
                }
                None if line.trim_ascii().is_empty() && is_whole => {}
                Some(_) => return Err(other_count(input, wanted, lines, "more")),
                None => return Err(bad_line(input, lines - 1, line)),
            }
        }
        start += end as u64;
        if let Some(progress) = options.progress {
            progress(start, input.length());
        }
    }
    match links.len() == NDIM * dims.volume() {
        true => Ok(links),
        false => Err(other_count(input, wanted, lines, "no more")),
    }
}

fn link_of(reals: &[f64]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| Complex::new(reals[2 * (3 * i + j)], reals[2 * (3 * i + j) + 1]))
}

fn bad_line(input: &Input, before: usize, line: &[u8]) -> Error {
    let text = quoted(String::from_utf8_lossy(line).trim());
    input.error(ErrorKind::BadLine { line: before + 1, text, problem: "it is not a number".to_owned() })
}

fn other_count(input: &Input, wanted: usize, lines: usize, how: &str) -> Error {
    let reason = format!("these extents take {wanted} numbers, and the text has {how} up to line {lines}");
    input.error(ErrorKind::MissingExtents { reason })
}
