//! Propagators: solutions of the Dirac equation in SciDAC (LIME) files.
//!
//! A file follows the USQCD propagator format. The first message has these records:
//! * `scidac-private-file-xml`, with the extents;
//! * `scidac-file-xml` (`usqcdPropFile`).
//!
//! Each solution has a message with these records:
//! * `scidac-private-record-xml`;
//! * `scidac-record-xml` (`usqcdPropInfo`), with spin and colour of the source;
//! * `scidac-binary-data`;
//! * `scidac-checksum`.
//!
//! Spinors are big-endian, in the DeGrand-Rossi basis. Sites are lexicographic with x fastest. Spin
//! runs slower than colour. No sources are stored: the type in `usqcdPropFile` is
//! `DiracFermion_Sink`.

use super::checksum::{Checksum, Method};
use super::error::{Error, ErrorKind};
use super::input::{Input, printable};
use super::lime::{self, Position};
use super::lime_file::{ILDG_DATA, LimeFile, SCIDAC_DATA, precision_of};
use super::metadata::{self, Content, PropagatorInfo, ScidacRecord};
use super::numbers::{ByteOrder, Stored};
use super::output::Output;
use super::payload::Payload;
use super::read_options::{ReadOptions, extents};
use crate::geometry::{Dims, NDIM};
use crate::host;
use crate::host::Spinor;
use crate::scalar::Precision;
use rayon::prelude::*;
use std::path::Path;

/// A writer of the solutions of a propagator, one after the other.
///
/// The file has a temporary name until [`PropagatorWriter::finish`]. A writer that is dropped
/// leaves nothing behind.
pub struct PropagatorWriter {
    output: Output,
    dims: Dims,
    precision: Precision,
}

impl PropagatorWriter {
    /// Begins a file for a lattice. `info` is free text for its header.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        dims: Dims,
        precision: Precision,
        info: &str,
    ) -> Result<Self, Error> {
        let mut output = Output::create(path.as_ref())?;
        let file = metadata::scidac_file(dims);
        lime::write_text(&mut output, "scidac-private-file-xml", Position::First, &file)?;
        lime::write_text(&mut output, "scidac-file-xml", Position::Last, &metadata::propagator_file(info))?;
        Ok(Self { output, dims, precision })
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
        let output = &mut self.output;
        let record = metadata::scidac_record(Content::Spinor, self.precision);
        lime::write_text(output, "scidac-private-record-xml", Position::First, &record)?;
        let info = metadata::propagator_info(spin, colour);
        lime::write_text(output, "scidac-record-xml", Position::Middle, &info)?;
        let payload = Payload {
            sites: wanted,
            site_bytes: Content::Spinor.site_bytes(self.precision),
            method: Some(Method::SciDac),
            progress: None,
        };
        lime::write_header(output, SCIDAC_DATA, Position::Middle, payload.bytes())?;
        let sums = match self.precision {
            Precision::Single => payload.write(output, |site, bytes| encode::<f32>(&field[site], bytes)),
            Precision::Double => payload.write(output, |site, bytes| encode::<f64>(&field[site], bytes)),
        }?;
        lime::write_padding(output, payload.bytes())?;
        lime::write_text(output, "scidac-checksum", Position::Last, &metadata::scidac_checksum(sums))
    }

    /// Brings the file to disk and renames it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn finish(self) -> Result<(), Error> {
        self.output.finish()
    }
}

/// The solutions in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Propagator {
    /// The extents of the lattice.
    pub dims: Dims,
    /// The solutions, in the order of the file.
    pub records: Vec<PropagatorRecord>,
}

/// One solution of the Dirac equation.
#[derive(Clone, Debug, PartialEq)]
pub struct PropagatorRecord {
    /// The spin of its source, 0 to 3.
    pub spin: usize,
    /// The colour of its source, 0 to 2.
    pub colour: usize,
    /// The precision in which the solution is stored.
    pub precision: Precision,
    /// The checksum of the solution's record, if the record has one.
    pub checksum: Option<Checksum>,
    /// One spinor for each site, in lexicographic order.
    pub field: Vec<Spinor<f64>>,
}

/// A summary of a propagator file, without its fields.
#[derive(Debug)]
pub struct PropagatorSummary {
    /// The extents of the lattice.
    pub dims: Dims,
    /// The solutions that could be read, in the order of the file.
    pub solutions: Vec<SolutionSummary>,
    /// The facts in the file, by name: its description, and κ or mass.
    ///
    /// κ and mass are listed if the file has elements for them.
    pub facts: Vec<(String, String)>,
    /// Remarks for the user, though the file could be read.
    pub warnings: Vec<String>,
    /// The reason why reading ended before the end.
    pub problem: Option<Error>,
}

/// One solution, without its field.
#[derive(Clone, Debug, PartialEq)]
pub struct SolutionSummary {
    /// The spin of its source, 0 to 3.
    pub spin: usize,
    /// The colour of its source, 0 to 2.
    pub colour: usize,
    /// The precision in which the solution is stored.
    pub precision: Precision,
    /// The checksum of the solution's record, if the record has one.
    pub checksum: Option<Checksum>,
    /// Σ |x|² over the sites of each time slice.
    pub norm2_by_t: Vec<f64>,
}

impl SolutionSummary {
    fn of(record: &PropagatorRecord, dims: Dims) -> Self {
        let slice = dims.volume() / dims[NDIM - 1];
        let norm2 = |spinors: &[Spinor<f64>]| {
            spinors.iter().flat_map(|spinor| spinor.0.iter().flatten()).map(|z| z.norm_sqr()).sum::<f64>()
        };
        Self {
            spin: record.spin,
            colour: record.colour,
            precision: record.precision,
            checksum: record.checksum.clone(),
            norm2_by_t: record.field.par_chunks(slice).map(norm2).collect(),
        }
    }
}

/// Reads and verifies all solutions in a propagator file.
///
/// Records that hold sources are passed over. Spin and colour of a source are used if the record of
/// its solution does not tell them.
///
/// # Errors
/// Fails like [`read_propagator_with`].
pub fn read_propagator(path: impl AsRef<Path>) -> Result<Propagator, Error> {
    read_propagator_with(path, &ReadOptions::default())
}

/// Reads all solutions in a propagator file, with options.
///
/// Options that concern links have no effect.
///
/// A record holds one solution (`DiracFermion`) or all twelve (`DiracPropagator`). In the latter,
/// source spin and colour run faster than those of the sink.
///
/// # Errors
/// * The file is damaged.
/// * The file is no propagator of Dirac spinors.
/// * A checksum is not that of its data.
/// * Numbers are not finite.
pub fn read_propagator_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Propagator, Error> {
    let mut input = Input::open(path.as_ref())?;
    let file = LimeFile::scan(&mut input)?;
    let mut records = Vec::new();
    let dims = for_each_solution(&mut input, &file, options, &mut |_, record| records.push(record))?;
    Ok(Propagator { dims, records })
}

/// Tells whether a LIME file has spinors and no links.
pub(super) fn is_propagator(input: &mut Input, file: &LimeFile) -> Result<bool, Error> {
    let mut found = false;
    if file.records.iter().any(|record| record.kind == ILDG_DATA) {
        return Ok(false);
    }
    for data in file.scidac_data() {
        match file.scidac_record(input, data)?.and_then(|record| record.content) {
            Some(Content::Spinor | Content::Propagator) => found = true,
            Some(Content::Gauge) => return Ok(false),
            None => {}
        }
    }
    Ok(found)
}

/// Reads and verifies all solutions, one record in memory at a time.
pub(super) fn summarise(
    input: &mut Input,
    file: &LimeFile,
    options: &ReadOptions,
) -> Result<PropagatorSummary, Error> {
    let dims = file.propagator_dims(input, options)?;
    let mut solutions = Vec::new();
    let mut add = |dims, record: PropagatorRecord| solutions.push(SolutionSummary::of(&record, dims));
    let problem = for_each_solution(input, file, options, &mut add).err();
    let facts = file.propagator_facts(input);
    let warnings = Vec::from_iter(file.warning(input));
    Ok(PropagatorSummary { dims, solutions, facts, warnings, problem })
}

impl LimeFile {
    fn propagator_dims(&self, input: &mut Input, options: &ReadOptions) -> Result<Dims, Error> {
        let stored = self.scidac_dims(input);
        extents(input, stored, options.dims)
    }

    fn propagator_facts(&self, input: &mut Input) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        let mut texts = |kind: &str| {
            let record = self.records.iter().find(|record| record.kind == kind)?;
            lime::text(input, record).ok()
        };
        let (file, first) = (texts("scidac-file-xml"), texts("scidac-record-xml"));
        if let Some(date) = texts("scidac-private-record-xml")
            .and_then(|text| metadata::parse_scidac_record(&text).ok()?.date)
        {
            facts.push(("date".to_owned(), printable(&date)));
        }
        let description = file.as_deref().map(metadata::described).unwrap_or_default();
        if !description.is_empty() {
            facts.push(("description".to_owned(), printable(&description)));
        }
        for text in [file, first].iter().flatten() {
            facts.extend(
                metadata::parameters(text).into_iter().map(|(name, value)| (name, printable(&value))),
            );
        }
        facts
    }
}

/// Hands on every solution in turn, and returns the extents.
fn for_each_solution(
    input: &mut Input,
    file: &LimeFile,
    options: &ReadOptions,
    take: &mut dyn FnMut(Dims, PropagatorRecord),
) -> Result<Dims, Error> {
    let dims = file.propagator_dims(input, options)?;
    let mut last_source = None;
    let mut none = true;
    for data in file.scidac_data() {
        for record in read_record(input, file, data, dims, options, &mut last_source)? {
            none = false;
            take(dims, record);
        }
    }
    if none {
        let wanted = "solution of the Dirac equation (scidac-binary-data of Dirac spinors)";
        return Err(input.error(ErrorKind::NoSuchRecord { wanted, records: file.kinds() }));
    }
    Ok(dims)
}

/// Reads the solutions of one record: none, one, or the twelve of a propagator.
fn read_record(
    input: &mut Input,
    file: &LimeFile,
    data: usize,
    dims: Dims,
    options: &ReadOptions,
    last_source: &mut Option<(usize, usize)>,
) -> Result<Vec<PropagatorRecord>, Error> {
    let Some(description) = file.scidac_record(input, data)? else {
        return Ok(Vec::new());
    };
    let content = match description.content {
        Some(Content::Propagator) => Content::Propagator,
        _ => Content::Spinor,
    };
    let sources = if content == Content::Propagator {
        (0..COLUMNS).map(|column| (column / 3, column % 3)).collect()
    } else {
        Vec::from_iter(source_of(input, file, data, &description, last_source)?)
    };
    if sources.is_empty() {
        return Ok(Vec::new());
    }

    let record = &file.records[data];
    let precision = precision_of(input, record, content, dims, description.precision)?;
    let stored = file.stored_sums(input, data)?;
    let payload = Payload {
        sites: dims.volume(),
        site_bytes: content.site_bytes(precision),
        method: stored.as_ref().map(|_| Method::SciDac),
        progress: options.progress,
    };
    let what = "the spinors";
    let columns = sources.len();
    let (values, computed) = match precision {
        Precision::Single => payload.read(input, what, record.byte, columns, decode::<f32>),
        Precision::Double => payload.read(input, what, record.byte, columns, decode::<f64>),
    }?;
    let (checksum, unreadable) = match stored {
        None => (None, None),
        Some(stored) => stored.compared(computed),
    };
    if let Some(Checksum { kind, stored, computed, ok: false }) = &checksum
        && !options.ignore_checksum
    {
        let (stored, computed) = (stored.clone(), computed.clone());
        let mismatch = ErrorKind::ChecksumMismatch { kind, stored, computed };
        return Err(input.error(unreadable.unwrap_or(mismatch)));
    }
    let finite = |spinor: &Spinor<f64>| spinor.0.iter().flatten().all(|z| z.is_finite());
    if let Some(index) = values.par_iter().position_first(|spinor| !finite(spinor)) {
        let (spin, colour) = sources[index % columns];
        let coordinates = dims.coordinates(index / columns);
        return Err(input.error(ErrorKind::SpinorNotFinite { spin, colour, coordinates }));
    }
    let field = |column: usize| match columns {
        1 => Ok(Vec::new()),
        _ => column_of(&values, column, columns)
            .ok_or_else(|| input.error(ErrorKind::OutOfMemory { bytes: payload.bytes() })),
    };
    let fields = (0..columns).map(field).collect::<Result<Vec<_>, _>>()?;
    let mut records: Vec<_> = sources
        .into_iter()
        .zip(fields)
        .map(|((spin, colour), field)| PropagatorRecord {
            spin,
            colour,
            precision,
            checksum: checksum.clone(),
            field,
        })
        .collect();
    if let [record] = records.as_mut_slice() {
        // A single column is moved, not copied.
        record.field = values;
    }
    Ok(records)
}

/// Number of columns of a propagator: spins and colours of the source.
const COLUMNS: usize = 12;

/// Copies one of several columns that alternate; `None` if memory is short.
fn column_of(values: &[Spinor<f64>], column: usize, columns: usize) -> Option<Vec<Spinor<f64>>> {
    let mut field = Vec::new();
    host::reserve(&mut field, values.len() / columns).ok()?;
    field.extend(values.iter().skip(column).step_by(columns));
    Some(field)
}

/// Returns spin and colour of the source of a solution.
///
/// The result is `None` if the record is something else.
fn source_of(
    input: &mut Input,
    file: &LimeFile,
    data: usize,
    description: &ScidacRecord,
    last_source: &mut Option<(usize, usize)>,
) -> Result<Option<(usize, usize)>, Error> {
    let Some(info) = file.describing("scidac-record-xml", data) else {
        return Ok(None);
    };
    let bad = |input: &Input, problem| lime::bad_record(input, info, problem);
    let text = lime::text(input, info)?;
    let told = metadata::parse_propagator_info(&text).map_err(|problem| bad(input, problem));
    if description.content != Some(Content::Spinor) {
        if let Ok(PropagatorInfo::Source(spin, colour)) = told {
            *last_source = Some((spin, colour));
        }
        return Ok(None);
    }
    match told? {
        PropagatorInfo::Solution(spin, colour) => Ok(Some((spin, colour))),
        PropagatorInfo::SolutionOfLastSource => last_source.map(Some).ok_or_else(|| {
            bad(input, "it has no elements <spin> and <color>, nor has a source before it".to_owned())
        }),
        PropagatorInfo::Source(spin, colour) => {
            *last_source = Some((spin, colour));
            Ok(None)
        }
        PropagatorInfo::Other => Ok(None),
    }
}

/// Decodes the spinors of a site: one, or one for each source.
fn decode<T: Stored>(bytes: &[u8], spinors: &mut [Spinor<f64>]) {
    let columns = spinors.len();
    for (column, spinor) in spinors.iter_mut().enumerate() {
        *spinor = Spinor::from_fn(|spin, colour| {
            let index = match columns {
                1 => 3 * spin + colour,
                _ => 9 * (4 * spin + column / 3) + 3 * colour + column % 3,
            };
            let value = T::get_complex(ByteOrder::Big, bytes, index);
            num_complex::Complex::new(value.re.to_f64(), value.im.to_f64())
        });
    }
}

fn encode<T: Stored>(spinor: &Spinor<f64>, bytes: &mut [u8]) {
    for (index, value) in spinor.0.iter().flatten().enumerate() {
        let value = num_complex::Complex::new(T::from_f64(value.re), T::from_f64(value.im));
        T::put_complex(value, ByteOrder::Big, bytes, index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    fn dims() -> Dims {
        Dims::new([2, 4, 2, 6]).unwrap()
    }

    fn field(seed: usize) -> Vec<Spinor<f64>> {
        let value = |site, spin, colour| (1 + seed + 12 * site + 3 * spin + colour) as f64;
        let complex = |k: f64| Complex::new((0.1 * k).cos(), (0.2 * k).sin());
        (0..dims().volume())
            .map(|site| Spinor::from_fn(|spin, colour| complex(value(site, spin, colour))))
            .collect()
    }

    fn written(path: &Path, precision: Precision) {
        let mut writer = PropagatorWriter::create(path, dims(), precision, "κ = 0.13 <test>").unwrap();
        for (spin, colour) in [(0, 0), (3, 2)] {
            writer.write(spin, colour, &field(100 * spin + colour)).unwrap();
        }
        writer.finish().unwrap();
    }

    #[test]
    fn solutions_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("propagator.lime");
        for precision in [Precision::Double, Precision::Single] {
            written(&path, precision);
            let propagator = read_propagator(&path).unwrap();
            assert_eq!(propagator.dims, dims());
            assert_eq!(propagator.records.len(), 2);
            for (record, (spin, colour)) in propagator.records.iter().zip([(0, 0), (3, 2)]) {
                assert_eq!((record.spin, record.colour, record.precision), (spin, colour, precision));
                let wanted: Vec<_> = field(100 * spin + colour)
                    .into_iter()
                    .map(|spinor| match precision {
                        Precision::Double => spinor,
                        Precision::Single => Spinor::from_fn(|s, c| {
                            let value = spinor.0[s][c];
                            Complex::new(f64::from(value.re as f32), f64::from(value.im as f32))
                        }),
                    })
                    .collect();
                assert_eq!(record.field, wanted);
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_a_mismatch() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("propagator.lime");
        written(&path, Precision::Double);
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1000;
        bytes[last] ^= 4;
        std::fs::write(&path, bytes).unwrap();
        let error = read_propagator(&path).unwrap_err();
        assert!(error.is_mismatch(), "{error}");
        let options = ReadOptions { ignore_checksum: true, ..Default::default() };
        assert_eq!(read_propagator_with(&path, &options).unwrap().records.len(), 2);
    }

    #[test]
    fn a_solution_that_is_not_finite_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("propagator.lime");
        for value in [f64::NAN, f64::NEG_INFINITY] {
            let mut damaged = field(0);
            damaged[37].0[2][1].im = value;
            let mut writer = PropagatorWriter::create(&path, dims(), Precision::Single, "").unwrap();
            writer.write(0, 0, &field(0)).unwrap();
            writer.write(3, 2, &damaged).unwrap();
            writer.finish().unwrap();
            let error = read_propagator(&path).unwrap_err();
            let coordinates = dims().coordinates(37);
            let expected = ErrorKind::SpinorNotFinite { spin: 3, colour: 2, coordinates };
            assert_eq!(format!("{:?}", error.kind), format!("{expected:?}"));
        }
    }

    /// The file has pairs of sources and solutions, like files of other programs.
    ///
    /// Only the source has spin and colour.
    #[test]
    fn a_solution_may_be_that_of_the_source_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("propagator.lime");
        let mut writer = PropagatorWriter::create(&path, dims(), Precision::Double, "").unwrap();
        for (spin, colour) in [(3, 2), (0, 0)] {
            writer.write(spin, colour, &field(spin)).unwrap();
        }
        writer.finish().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let mut replace = |old: &str, new: &str| {
            let place = bytes.windows(old.len()).position(|bytes| bytes == old.as_bytes()).unwrap();
            // Records keep their lengths.
            bytes[place..place + old.len()].copy_from_slice(format!("{new:0$}", old.len()).as_bytes());
            std::fs::write(&path, &bytes).unwrap();
        };
        let solution =
            |told: &str| format!("<usqcdPropInfo><version>1.0</version>{told}<info></info></usqcdPropInfo>");
        let (first, second) = ("<spin>3</spin><color>2</color>", "<spin>0</spin><color>0</color>");
        replace(&solution(second), &solution(""));
        let error = read_propagator(&path).unwrap_err();
        assert!(error.to_string().contains("nor has a source before it"), "{error}");
        replace(
            &solution(first),
            &format!("<usqcdSourceInfo><version>1.0</version>{first}</usqcdSourceInfo>"),
        );
        let records = read_propagator(&path).unwrap().records;
        let found = |record: &PropagatorRecord| (record.spin, record.colour, record.field == field(0));
        assert_eq!(records.iter().map(found).collect::<Vec<_>>(), [(3, 2, true)]);
    }

    #[test]
    fn what_does_not_belong_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("propagator.lime");
        let mut writer = PropagatorWriter::create(&path, dims(), Precision::Double, "").unwrap();
        let short = &field(0)[1..];
        assert!(matches!(
            writer.write(0, 0, short).unwrap_err().kind,
            ErrorKind::FieldSize { wanted: 96, found: 95 }
        ));
        assert!(matches!(writer.write(4, 0, &field(0)).unwrap_err().kind, ErrorKind::NoSuchSource { .. }));
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

        PropagatorWriter::create(&path, dims(), Precision::Double, "").unwrap().finish().unwrap();
        assert!(matches!(read_propagator(&path).unwrap_err().kind, ErrorKind::NoSuchRecord { .. }));
    }
}
