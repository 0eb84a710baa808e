//! Propagators: solutions of the Dirac equation in files.
//!
//! | file | holds |
//! |---|---|
//! | `format` | the names of the formats |
//! | `scidac` | LIME files: a record for each solution, or one for all twelve |
//! | `record` | one solution, and what is verified of it |
//! | `packed` | HDF5 and NPY: all twelve solutions site by site |
//! | `columns` | the numbers of a site with all twelve solutions |
//! | `writer` | writing, one solution after the other |
//!
//! All spinors are in the DeGrand-Rossi basis. Sites are lexicographic with x fastest.

mod columns;
mod format;
mod packed;
mod record;
mod scidac;
mod writer;

pub use format::{PropagatorFormat, UnknownPropagatorFormat};
pub use record::PropagatorRecord;
pub use writer::PropagatorWriter;

use super::checksum::Checksum;
use super::error::{Error, ErrorKind};
use super::formats::{holds_configuration, other_kind};
use super::input::Input;
use super::lime_file::LimeFile;
use super::read_options::ReadOptions;
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host::Spinor;
use crate::scalar::Precision;
use packed::Packed;
use std::path::Path;

/// The solutions in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Propagator {
    /// The format of the file.
    pub format: PropagatorFormat,
    /// The extents of the lattice.
    pub dims: Dims,
    /// The solutions, in the order of the file.
    pub records: Vec<PropagatorRecord>,
    /// Remarks for the user, though the file could be read.
    pub warnings: Vec<String>,
}

/// A summary of a propagator file, without its fields.
#[derive(Debug)]
pub struct PropagatorSummary {
    /// The format of the file.
    pub format: PropagatorFormat,
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
/// The content tells the format. Options that concern links have no effect.
///
/// A record of a SciDAC file holds one solution (`DiracFermion`) or all twelve (`DiracPropagator`).
/// In the latter, and in all other formats, source spin and colour run faster than those of the
/// sink.
///
/// # Errors
/// * The file is damaged.
/// * The file is no propagator of Dirac spinors.
/// * A checksum is not that of its data.
/// * Numbers are not finite.
pub fn read_propagator_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Propagator, Error> {
    let mut input = Input::open(path.as_ref())?;
    let mut file = match File::recognise(&mut input)? {
        Some(file) => file,
        None => File::expected(&mut input)?,
    };
    let (mut records, mut warnings) = (Vec::new(), Vec::new());
    let mut take = |_, record| records.push(record);
    let dims = file.for_each_solution(&mut input, options, &mut warnings, &mut take)?;
    Ok(Propagator { format: file.format(), dims, records, warnings })
}

/// A file with solutions.
pub(super) enum File {
    SciDac(LimeFile),
    Packed(Packed),
}

impl File {
    /// Looks at a file; `None` if it has no solutions.
    ///
    /// # Errors
    /// When the structure of the file is wrong.
    pub(super) fn recognise(input: &mut Input) -> Result<Option<Self>, Error> {
        if let Some(file) = LimeFile::scan_if_lime(input)? {
            return Ok(scidac::is_propagator(input, &file)?.then_some(Self::SciDac(file)));
        }
        Ok(Packed::recognise(input)?.map(Self::Packed))
    }

    /// Takes a file that was not recognised for the format of its first bytes.
    ///
    /// The error tells what the file is, or lacks.
    fn expected(input: &mut Input) -> Result<Self, Error> {
        if holds_configuration(input) {
            return Err(input.error(ErrorKind::IsConfiguration));
        }
        if let Some(arrays) = Packed::arrays(input)? {
            let wanted = "propagator (complex numbers [t][z][y][x][4][4][3][3])";
            return Err(input.error(ErrorKind::NoSuchArray { wanted, arrays }));
        }
        if let Some(file) = LimeFile::scan_if_lime(input)? {
            return Ok(Self::SciDac(file));
        }
        let length = input.length().min(16) as usize;
        let start = input.bytes("the beginning of the file", 0, length)?;
        Err(input.error(other_kind(&start, |found| ErrorKind::UnknownPropagatorFormat { found })))
    }

    pub(super) fn format(&self) -> PropagatorFormat {
        match self {
            Self::SciDac(_) => PropagatorFormat::SciDac,
            Self::Packed(packed) => packed.format,
        }
    }

    /// Reads and verifies all solutions, one record in memory at a time.
    pub(super) fn summarise(
        mut self,
        input: &mut Input,
        options: &ReadOptions,
    ) -> Result<PropagatorSummary, Error> {
        let dims = match &self {
            Self::SciDac(file) => file.propagator_dims(input, options)?,
            Self::Packed(packed) => packed.dims(input, options)?,
        };
        let (mut solutions, mut warnings) = (Vec::new(), Vec::new());
        let mut add = |dims, record: PropagatorRecord| solutions.push(SolutionSummary::of(&record, dims));
        let problem = self.for_each_solution(input, options, &mut warnings, &mut add).err();
        let facts = match &self {
            Self::SciDac(file) => file.propagator_facts(input),
            Self::Packed(packed) => packed.facts.clone(),
        };
        Ok(PropagatorSummary { format: self.format(), dims, solutions, facts, warnings, problem })
    }

    /// Hands on every solution in turn, and returns the extents.
    fn for_each_solution(
        &mut self,
        input: &mut Input,
        options: &ReadOptions,
        warnings: &mut Vec<String>,
        take: &mut dyn FnMut(Dims, PropagatorRecord),
    ) -> Result<Dims, Error> {
        match self {
            Self::SciDac(file) => scidac::for_each_solution(input, file, options, warnings, take),
            Self::Packed(packed) => {
                warnings.append(&mut packed.warnings);
                packed.for_each_solution(input, options, take)
            }
        }
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
        let error = read_propagator(&path).unwrap_err();
        let is_short = matches!(error.kind, ErrorKind::OtherSolutionCount { solutions: 1, stated: 2 });
        assert!(is_short, "{error}");
        replace("2</solutions>", "1</solutions>");
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
