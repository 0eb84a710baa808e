//! The errors of reading and writing files.

use super::formats::Format;
use super::propagators::PropagatorFormat;
use super::signs::LinkSign;
use crate::geometry::{Dims, DimsError};
use crate::scalar::Precision;
use lattice_files::number::shown;
use lattice_files::text;
use std::io;
use std::path::{Path, PathBuf};

/// An error of reading or writing a file, or of checking its content.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", text::path(path))]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// The kind of error.
    pub kind: ErrorKind,
}

impl Error {
    pub(super) fn new(path: &Path, kind: ErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    /// Tells whether the content of the file disagrees with the checks that it carries.
    ///
    /// `true` if the file was read, but its checksum, plaquette or link trace is not that of its
    /// data. `false` if the file could not be read or written, or is not valid.
    pub fn is_mismatch(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::ChecksumMismatch { .. }
                | ErrorKind::HeaderMismatch { .. }
                | ErrorKind::DamagedCheckpoint { .. }
        )
    }
}

/// The kind of error. Bytes are counted from 0, lines from 1.
#[derive(Debug, thiserror::Error)]
pub enum ErrorKind {
    /// The operating system refused.
    #[error("cannot {action}: {source}")]
    System {
        /// The action that failed, for example `open the file`.
        action: &'static str,
        /// The answer of the system.
        source: io::Error,
    },
    /// No file can be created in the folder.
    #[error(
        "cannot create a file in {}: {source}; name a folder that exists and can be written to",
        text::path(folder)
    )]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// A file is to be written where a directory, a device or a pipe is.
    #[error("is {found}, not a regular file; name a file")]
    NotAFile {
        /// The thing that was found.
        found: &'static str,
    },
    /// Another process of the job sees another file.
    #[error(
        "rank {rank} sees another file under this name than rank 0, of another length or with other data; name a file \
         that all ranks share, or copy it to all machines"
    )]
    OtherFile {
        /// The number of the process.
        rank: usize,
    },
    /// Another process of the job refuses its copy of the file.
    #[error("rank {rank} refuses its copy: {reason}")]
    OtherCopy {
        /// The number of the process.
        rank: usize,
        /// The error of that process.
        reason: String,
    },
    /// The file has no bytes at all.
    #[error("the file is empty; copy it again from where it came")]
    Empty,
    /// The file has none of the known formats.
    #[error(
        "not a gauge configuration of a known format: the file begins with {found}. {}. Name a file in one of \
         these formats",
        Format::beginnings()
    )]
    UnknownFormat {
        /// The first bytes, as text where they are text.
        found: String,
    },
    /// The file has solutions of the Dirac equation, and links are wanted.
    #[error("is a propagator ({format}), not a gauge configuration; name a file with links")]
    IsPropagator {
        /// The format of the propagator.
        format: PropagatorFormat,
    },
    /// The file has links, and solutions of the Dirac equation are wanted.
    #[error("is a gauge configuration, not a propagator; name a file with solutions of the Dirac equation")]
    IsConfiguration,
    /// The file has none of the known formats of propagators.
    #[error(
        "not a propagator of a known format: the file begins with {found}. SciDAC files begin with the bytes 45 67 89 ab of \
         LIME, HDF5 files with the bytes 89 HDF, NPY files with the bytes 93 NUMPY. Name a file in one of these formats"
    )]
    UnknownPropagatorFormat {
        /// The first bytes, as text where they are text.
        found: String,
    },
    /// The file has another format than the caller named.
    #[error("is a file of the format {found}, not {named}; leave the name out, or give {found}")]
    NotOfFormat {
        /// The format that was named.
        named: Format,
        /// The format of the file.
        found: Format,
    },
    /// The file has a format that is known but not read.
    #[error("is {what}, which is not read; {remedy}")]
    OtherFormat {
        /// The format.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// The file has more records than a file of its kind has.
    #[error("has more than {most} LIME records; it is damaged, or not a file of fields")]
    TooManyRecords {
        /// The largest number that is read.
        most: usize,
    },
    /// The path is `-`, but a file is written.
    #[error(
        "`-` stands for standard output, and a file is written under a temporary name first; name a file, or write \
         `./-` for one that is called so"
    )]
    StandardOutput,
    /// The file ends too early.
    #[error(
        "truncated: {wanted} bytes should follow at byte {byte} ({what}), the file has {found} left; copy it again \
         from where it came"
    )]
    Truncated {
        /// The part of the file that is missing.
        what: String,
        /// The byte where the part begins.
        byte: u64,
        /// The bytes that the part takes.
        wanted: u64,
        /// The bytes that are left.
        found: u64,
    },
    /// A LIME record does not begin where it should.
    #[error(
        "no LIME record at byte {byte}: found {found:08x} in place of the magic number 456789ab; the file is damaged \
         from there on, or the length of the record before is wrong"
    )]
    NotALimeRecord {
        /// The byte where the record should begin.
        byte: u64,
        /// The four bytes found.
        found: u32,
    },
    /// No record holds the wanted data.
    #[error("holds no {wanted}; its records are: {}", list(records))]
    NoSuchRecord {
        /// The data that were looked for.
        wanted: &'static str,
        /// The types of the records in the file.
        records: Vec<String>,
    },
    /// A record of metadata cannot be understood.
    #[error("the record {record} at byte {byte} cannot be used: {problem}")]
    BadRecord {
        /// The type of the record.
        record: String,
        /// The byte where the record's payload begins.
        byte: u64,
        /// The problem.
        problem: String,
    },
    /// The file does not tell the extents of its lattice.
    ///
    /// [`ReadOptions::dims`](super::ReadOptions::dims) gives them.
    #[error("does not say its extents: {reason}; give them as x, y, z, t, for example `--dims 8x8x8x16`")]
    MissingExtents {
        /// The reason why the extents are not known.
        reason: String,
    },
    /// The extents in the file are not those of a lattice.
    #[error(
        "the extents at {position} are invalid: {source}; give the right ones, for example `--dims 8x8x8x16`"
    )]
    BadExtents {
        /// The position of the extents, or the beginning of the record that has them.
        position: Position,
        /// The reason why the extents are refused.
        source: DimsError,
    },
    /// The extents in the file are not those that the caller gave.
    #[error("is a lattice of {stored} by its own header, but {given} was given; leave the extents out")]
    OtherExtents {
        /// The extents in the file.
        stored: Dims,
        /// The extents from the caller.
        given: Dims,
    },
    /// The size of the payload is not that of the lattice.
    #[error(
        "the data at byte {byte} are {found} bytes, but {content} of a lattice of {dims} {}; check the extents, or copy \
         the file again",
        sizes(*single, *double, *declared)
    )]
    PayloadSize {
        /// The byte where the payload begins.
        byte: u64,
        /// The length of the payload in bytes.
        found: u64,
        /// The content that the payload should have.
        content: &'static str,
        /// The extents.
        dims: Dims,
        /// The bytes that the content takes in single precision.
        single: u64,
        /// The bytes that the content takes in double precision.
        double: u64,
        /// The precision that the file declares, if it declares one.
        declared: Option<Precision>,
    },
    /// A part of an HDF5 file cannot be used.
    #[error("the HDF5 structure at byte {byte} cannot be used: {problem}")]
    BadHdf5 {
        /// The byte where the structure begins.
        byte: u64,
        /// The problem, and what to do if something can be done.
        problem: String,
    },
    /// A file holds arrays, but none with the wanted data.
    #[error("holds no {wanted}; its arrays are: {}", list(arrays))]
    NoSuchArray {
        /// The data that were looked for.
        wanted: &'static str,
        /// The arrays in the file, with their shapes.
        arrays: Vec<String>,
    },
    /// An array of NumPy cannot be used.
    #[error(transparent)]
    Array(lattice_files::npy::ArrayError),
    /// The file is no result of a job.
    #[error(
        "is no result of a job: {problem}; name a file that `cr-solve run` wrote, or its output of --json"
    )]
    BadResults {
        /// The problem.
        problem: String,
    },
    /// A file has another number of solutions than it says.
    #[error(
        "says that it has {stated} solutions, but has {solutions}; it is damaged or not whole, copy it again"
    )]
    OtherSolutionCount {
        /// The solutions in the file.
        solutions: usize,
        /// The solutions that the file should have.
        stated: usize,
    },
    /// Spinors do not say which sources they are for, and their number does not tell either.
    #[error(
        "has {count} Dirac spinors that do not say spin and colour of their sources; only {} in the order of a propagator \
         need not say them",
        12
    )]
    UntoldSources {
        /// The spinors.
        count: usize,
    },
    /// The file of a whole propagator lacks columns.
    #[error(
        "{columns} of 12 columns were given for a format that holds all twelve; choose scidac, or solve for all"
    )]
    MissingColumns {
        /// The columns that were given.
        columns: usize,
    },
    /// A line of a text header cannot be understood.
    #[error("line {line} of the header cannot be used: `{text}`: {problem}")]
    BadLine {
        /// The line, counted from 1.
        line: usize,
        /// The text of the line.
        text: String,
        /// The problem.
        problem: String,
    },
    /// A text header lacks a keyword.
    #[error("the header (lines 1 to {lines}) has no {keyword}; it is truncated or of another kind")]
    MissingKeyword {
        /// The keyword.
        keyword: String,
        /// The lines that were searched.
        lines: usize,
    },
    /// The file is valid, but of a kind that is not supported.
    #[error("{what} is not supported; {remedy}")]
    Unsupported {
        /// The unsupported content.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// There is not enough memory.
    #[error("needs {bytes} bytes of memory, which this machine does not have")]
    OutOfMemory {
        /// The bytes wanted.
        bytes: u64,
    },
    /// The checksum in the file is not that of its data.
    #[error(
        "checksum mismatch ({kind}): stored {stored}, computed {computed}; the data are damaged, copy the file \
         again (`--ignore-checksum` reads it nevertheless)"
    )]
    ChecksumMismatch {
        /// `scidac`, `nersc` or `milc`.
        kind: &'static str,
        /// The sums in the file.
        stored: String,
        /// The sums of the data.
        computed: String,
    },
    /// The sum in a checkpoint is not that of its data.
    #[error(
        "the checkpoint is damaged (BLAKE3 stored {stored}, computed {computed}); copy it again, or start anew without it"
    )]
    DamagedCheckpoint {
        /// The sum in the file.
        stored: String,
        /// The sum of the data.
        computed: String,
    },
    /// An observable in the header is not that of the links.
    #[error(
        "{quantity} mismatch: the header says {stored}, the links give {computed} (tolerance {tolerance:.1e}); the \
         file is damaged or of another convention (`--ignore-checksum` reads it nevertheless)", stored = shown(.stored), computed = shown(.computed))]
    HeaderMismatch {
        /// `plaquette` or `link trace`.
        quantity: &'static str,
        /// The value in the header.
        stored: f64,
        /// The value of the links.
        computed: f64,
        /// The largest difference allowed.
        tolerance: f64,
    },
    /// A link has an infinity or a NaN.
    #[error(
        "the link at {} in direction {direction} is not finite; the data are damaged, copy the file again",
        tuple(coordinates)
    )]
    NotFinite {
        /// The site, x, y, z, t.
        coordinates: [usize; 4],
        /// The direction: x, y, z or t.
        direction: char,
    },
    /// A spinor of a propagator has an infinity or a NaN.
    #[error(
        "the solution for spin {spin}, colour {colour} is not finite at {}; the data are damaged, copy the file or solve again",
        tuple(coordinates)
    )]
    SpinorNotFinite {
        /// The spin of the source.
        spin: usize,
        /// The colour of the source.
        colour: usize,
        /// The first such site, x, y, z, t.
        coordinates: [usize; 4],
    },
    /// A link is not in SU(3).
    #[error(
        "links are far from SU(3): the worst is at {} in direction {direction}, off by {deviation:.3e} (at most \
         {limit:.0e} is accepted); the file is damaged, of another byte order or convention, or rescaled \
         (`--ignore-unitarity` takes it nevertheless)",
        tuple(coordinates)
    )]
    NotSpecialUnitary {
        /// The site of the worst link, x, y, z, t.
        coordinates: [usize; 4],
        /// The direction: x, y, z or t.
        direction: char,
        /// The larger of the largest |entry| of U U† − 1 and |det U − 1|.
        deviation: f64,
        /// The largest deviation accepted.
        limit: f64,
    },
    /// A boundary condition has left its sign in the links.
    ///
    /// [`ReadOptions::signs_in_links`](super::ReadOptions::signs_in_links) takes such a file.
    #[error(
        "{} have determinant -1: a boundary sign is in the links, as MILC and QUDA write them for antiperiodic fermions; \
         `--signs-in-links remove` takes it out (the solver's --boundary then counts alone), `--signs-in-links keep` \
         leaves it in (solve with --boundary periodic then)",
        super::signs::listed(signs)
    )]
    SignsInLinks {
        /// The directions and slices.
        signs: Vec<LinkSign>,
    },
    /// Links are unitary, but some have determinant −1 in an unknown pattern.
    ///
    /// The pattern is not that of a boundary condition.
    #[error(
        "{count} of the {links} links have determinant -1, in a pattern that no boundary condition makes: staggered phases \
         or other signs are in the links; write the file without them (`--ignore-unitarity` takes it nevertheless)"
    )]
    OtherSigns {
        /// Links with determinant −1.
        count: usize,
        /// All links.
        links: usize,
    },
    /// A format cannot hold what the caller asked for.
    #[error("the {format} format has no {what}; {remedy}")]
    NotInFormat {
        /// The format.
        format: Format,
        /// The feature that the format lacks.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// A field of another lattice was passed.
    #[error("a field of {found} sites was to be written to a file of {wanted} sites")]
    FieldSize {
        /// The sites of the file.
        wanted: usize,
        /// The sites of the field.
        found: usize,
    },
    /// Nothing but the extents of the file was wanted.
    #[error("has a lattice of {0}; nothing else was wanted of it")]
    ExtentsAlone(Dims),
    /// A solution for a source that does not exist was passed.
    #[error("there is no source of spin {spin} and colour {colour}: spins are 0 to 3, colours 0 to 2")]
    NoSuchSource {
        /// The spin.
        spin: usize,
        /// The colour.
        colour: usize,
    },
}

/// A position in a file: a byte or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// A byte, counted from 0.
    Byte(u64),
    /// A line, counted from 1.
    Line(usize),
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Position::Byte(byte) => write!(f, "byte {byte}"),
            Position::Line(line) => write!(f, "line {line}"),
        }
    }
}

fn list(records: &[String]) -> String {
    const SHOWN: usize = 12;
    if records.is_empty() {
        return "none".into();
    }
    let mut text = records.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if records.len() > SHOWN {
        text.push_str(&format!(" and {} more", records.len() - SHOWN));
    }
    text
}

fn tuple([x, y, z, t]: &[usize; 4]) -> String {
    format!("(x, y, z, t) = ({x}, {y}, {z}, {t})")
}

fn sizes(single: u64, double: u64, declared: Option<Precision>) -> String {
    match declared {
        Some(Precision::Single) => format!("take {single} in single precision, which the file declares"),
        Some(Precision::Double) => format!("take {double} in double precision, which the file declares"),
        None => format!("take {single} in single or {double} in double precision"),
    }
}
