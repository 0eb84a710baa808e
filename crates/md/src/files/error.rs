//! Errors of files.

use crate::error::MdError;
use lattice_files::number::shown;
use lattice_files::text::{printable, quoted};
use std::path::{Path, PathBuf};

/// A file that was not read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {problem}", printable(&path.to_string_lossy()), line.map_or(String::new(), |line| format!(", line {line}")))]
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
    /// A name cannot be shown.
    #[error("the name `{0}` has a control character; take a name of letters, digits and signs")]
    Name(String),
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
    /// A quotation or a bracket has no end.
    #[error("the value of `{0}` begins with a quote or bracket and has no end; write its other half")]
    Unclosed(String),
    /// A key is given twice.
    #[error("the key `{0}` is given twice; leave one out")]
    TwoKeys(String),
    /// A box has too few or too many numbers.
    #[error("`Lattice` has {0} numbers; write the nine of its three vectors, or its three edges")]
    Lattice(usize),
    /// A box is not rectangular.
    #[error("the box is not rectangular; only boxes with right angles along x, y and z can be computed")]
    Skew,
    /// A box does not repeat in all directions.
    #[error("`pbc` is `{0}`; only boxes that repeat in all directions can be computed")]
    NotPeriodic(String),
    /// The columns of an extended XYZ file are not told.
    #[error("`Properties={0}` tells no species and positions; write Properties=species:S:1:pos:R:3")]
    Properties(String),
    /// Atoms have numbers, but no names.
    #[error("atoms are named by the number `{0}` alone; write their symbols too, as species:S:1")]
    OnlyNumbers(String),
    /// A property looks like velocities, but is not read.
    #[error(
        "the property `{0}` is not read; give velocities in Å/fs as vel:R:3, ASE's momenta in √(eV u) as momenta:R:3, or leave the columns out"
    )]
    Motion(String),
    /// Two properties tell the same.
    #[error("the properties `{0}` and `{1}` tell the same of an atom; leave one out")]
    TwoProperties(String, String),
    /// Momenta have units that reduced ones do not know.
    #[error("the momenta are in ASE's units, √(eV u), but reduced units are asked for; give vel:R:3")]
    MomentaReduced,
    /// Momenta are of atoms whose mass is unknown.
    #[error("the momenta make no velocity of `{0}`, whose mass is not known; give its mass, or vel:R:3")]
    MomentaWithoutMass(String),
    /// A line has too few columns, or too many.
    #[error(
        "{found} columns are found, {wanted} are promised; name every column in `Properties`, or correct the line"
    )]
    Columns {
        /// Columns by the header.
        wanted: usize,
        /// Columns of the line.
        found: usize,
    },
    /// A section is missing.
    #[error("there is no section `{}`; there are: {}", quoted(name), if known.is_empty() { "none".to_owned() } else { quoted(&known.join(", ")) })]
    NoSection {
        /// The section.
        name: String,
        /// The sections that there are.
        known: Vec<String>,
    },
    /// A format of columns is not known.
    #[error("`{0}` is no format of columns like %FORMAT(5E16.8)")]
    Format(String),
    /// A section has too few values, or too many.
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
    #[error(
        "types {} and {} interact by a 10-12 potential, {a}/r^12 - {b}/r^10, which is not computed; only Lennard-Jones terms are",
        types[0], types[1], a = shown(.a), b = shown(.b)
    )]
    TenTwelve {
        /// The types, from 1.
        types: [usize; 2],
        /// The coefficient of 1/r¹².
        a: f64,
        /// The coefficient of 1/r¹⁰.
        b: f64,
    },
    /// A pair of types points to a 10-12 potential that is not there.
    #[error(
        "entry {entry} of section `NONBONDED_PARM_INDEX` is {value}, a 10-12 potential, but HBOND_ACOEF and HBOND_BCOEF have {found}"
    )]
    NoTenTwelve {
        /// The entry, from 1.
        entry: usize,
        /// Its value.
        value: i64,
        /// The 10-12 potentials that there are.
        found: usize,
    },
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
    /// A file of tables has none.
    #[error("the file has no sections; each has a keyword, a header like `N 1000 R 2.5 9.0`, and rows")]
    NoTables,
    /// A row of a table has too few columns, or too many.
    #[error("{0} columns are found; a row of a table has four: its number, r, E and F")]
    TableRow(usize),
    /// A table does not have as many rows as its header tells.
    #[error("section `{name}` has {found} rows, but its header tells N {wanted}; correct N, or the rows")]
    Rows {
        /// The section.
        name: String,
        /// Rows by its header.
        wanted: usize,
        /// Rows that there are.
        found: usize,
    },
    /// A distance is not the one that the header of its table tells.
    #[error(
        "r = {found} where the header `{header}` has {wanted}; correct the range of the header, N, or the rows",
        wanted = shown(.wanted), found = shown(.found)
    )]
    Distance {
        /// The header.
        header: String,
        /// The distance by the header.
        wanted: f64,
        /// The distance of the row.
        found: f64,
    },
    /// A table is in units that cannot be converted to those asked for.
    #[error("the file has UNITS: {found}, but the units asked for are {wanted}; {hint}")]
    Units {
        /// The word behind `UNITS:`.
        found: String,
        /// The units asked for.
        wanted: &'static str,
        /// What to do.
        hint: &'static str,
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
