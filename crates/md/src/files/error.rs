//! Errors of files.

use crate::error::MdError;
use lattice_files::number::shown;
use std::path::{Path, PathBuf};

/// A file that was not read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {problem}", path.display(), line.map_or(String::new(), |line| format!(", line {line}")))]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; `None` if the problem is that of the whole file.
    pub line: Option<usize>,
    /// The reason.
    pub problem: Box<FileProblem>,
}

impl FileError {
    pub(super) fn new(path: &Path, line: impl Into<Option<usize>>, problem: FileProblem) -> Self {
        Self { path: path.to_owned(), line: line.into(), problem: problem.into() }
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The operating system refused.
    #[error("cannot read it: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The file is no text.
    #[error("this is no text; name a text file")]
    NotText,
    /// The file ends too early.
    #[error("the file ends where {0} should be")]
    Ends(&'static str),
    /// A word is no number.
    #[error("`{text}` is no {wanted}")]
    NotANumber {
        /// The beginning of the word.
        text: String,
        /// What should be there.
        wanted: &'static str,
    },
    /// A number is infinite or none.
    #[error("`{0}` is not finite")]
    NotFinite(String),
    /// The number of lines is not the number of atoms.
    #[error(
        "{wanted} atoms are promised, but {found} lines follow; give one frame with a line for each atom"
    )]
    Atoms {
        /// The number on the first line.
        wanted: usize,
        /// Lines behind the second one.
        found: usize,
    },
    /// An extended XYZ file does not tell its box.
    #[error("the key `Lattice` is missing; write Lattice=\"ax 0 0 0 by 0 0 0 cz\" with the edges of the box")]
    NoLattice,
    /// A box is not rectangular.
    #[error("the box is not rectangular; only boxes with right angles along x, y and z can be computed")]
    Skew,
    /// A box does not repeat in all directions.
    #[error("`pbc` is `{0}`; only boxes that repeat in all directions can be computed")]
    NotPeriodic(String),
    /// The columns of an extended XYZ file are not told.
    #[error("`Properties={0}` tells no species and positions; write Properties=species:S:1:pos:R:3")]
    Properties(String),
    /// A line has too few columns.
    #[error("{found} columns are found, {wanted} are promised")]
    Columns {
        /// Columns by the header.
        wanted: usize,
        /// Columns of the line.
        found: usize,
    },
    /// A section is missing.
    #[error("there is no section `{name}`; there are: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    NoSection {
        /// The section.
        name: String,
        /// The sections that there are.
        known: Vec<String>,
    },
    /// A format of columns is not known.
    #[error("`{0}` is no format of columns like %FORMAT(5E16.8)")]
    Format(String),
    /// A section has too few values.
    #[error("section `{name}` has {found} values, {wanted} are needed; the file is cut off, or damaged")]
    Truncated {
        /// The section.
        name: &'static str,
        /// Values that the other sections ask for.
        wanted: usize,
        /// Values in the section.
        found: usize,
    },
    /// A number that points into a list points beside it.
    #[error("entry {entry} of section `{name}` is {value}, which is none of 1 to {most}")]
    Index {
        /// The section.
        name: &'static str,
        /// The entry, from 1.
        entry: usize,
        /// Its value.
        value: i64,
        /// The largest value.
        most: usize,
    },
    /// Atoms have charges.
    #[error("{0} atoms have charges, which are not computed; take --lj-only to ignore them")]
    Charges(usize),
    /// Atoms are bound to each other.
    #[error("{0} bonded terms and exclusions are not computed; take --lj-only to ignore them")]
    Bonded(usize),
    /// A pair of types has another formula.
    #[error("types {0} and {1} interact by a 10-12 potential, which is not computed")]
    TenTwelve(usize, usize),
    /// The force field is of another kind.
    #[error(
        "section `{0}` belongs to a force field that is not computed; only plain Lennard-Jones terms are"
    )]
    ForceField(String),
    /// The coordinates come without a box.
    #[error("there is no line with the box behind the coordinates; only periodic systems can be computed")]
    NoBox,
    /// The lines of coordinates do not fit the number of atoms.
    #[error(
        "{found} lines of coordinates are found; {wanted} are needed, and as many if there are velocities, and one for the box"
    )]
    Coordinates {
        /// Lines of six numbers for all atoms.
        wanted: usize,
        /// Lines that are not empty.
        found: usize,
    },
    /// Two files are of different systems.
    #[error("{found} atoms are in this file, {wanted} in the prmtop file")]
    OtherSystem {
        /// Atoms in the prmtop file.
        wanted: usize,
        /// Atoms here.
        found: usize,
    },
    /// The line behind the keyword of a table is no header.
    #[error("`{0}` is no header of a table like `N 1000 R 2.5 9.0`")]
    TableHeader(String),
    /// A table has too few rows.
    #[error("section `{name}` has {found} rows, N {wanted} are promised")]
    Rows {
        /// The section.
        name: String,
        /// Rows by its header.
        wanted: usize,
        /// Rows that there are.
        found: usize,
    },
    /// Distances do not rise.
    #[error(
        "r = {number} is not greater than the one before; rows must have rising r",
        number = shown(.0)
    )]
    NotRising(f64),
    /// A table with bits as an index does not have a power of two of rows.
    #[error("BITMAP with N {0}: the number of rows must be a power of two")]
    Bitmap(usize),
    /// The atoms do not make a system.
    #[error(transparent)]
    System(MdError),
}
