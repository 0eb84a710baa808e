//! The first lines of a file: kind and size of its content.

use super::error::Wrong;
use super::line::{Lines, has_content, shown};
use crate::sparse::coo::Mirror;
use crate::sparse::extents::expect_supported;
use lattice_files::words::listed;

/// The format of a file's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Row, column and value of each entry.
    Coordinate,
    /// All values, column after column.
    Array,
}

lattice_files::words! { Layout, "layout": Coordinate = "coordinate"; Array = "array" }

/// The numbers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Real numbers.
    Real,
    /// Integers, kept as real numbers.
    Integer,
    /// Integers that are not negative, kept as real numbers.
    Unsigned,
    /// Pairs of real and imaginary part.
    Complex,
    /// No numbers: every entry is 1.
    Pattern,
}

lattice_files::words! {
    Field, "field":
    Real = "real" | "double"; Integer = "integer"; Unsigned = "unsigned-integer"; Complex = "complex"; Pattern = "pattern"
}

/// The entries that a file leaves out because others say them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// None.
    General,
    /// A = Aᵀ.
    Symmetric,
    /// A = −Aᵀ.
    SkewSymmetric,
    /// A is its own conjugate transpose.
    Hermitian,
}

lattice_files::words! {
    Symmetry, "symmetry":
    General = "general"; Symmetric = "symmetric"; SkewSymmetric = "skew-symmetric"; Hermitian = "hermitian"
}

impl Symmetry {
    pub(crate) fn mirror(self) -> Mirror {
        match self {
            Self::General => Mirror::None,
            Self::Symmetric => Mirror::Symmetric,
            Self::SkewSymmetric => Mirror::Skew,
            Self::Hermitian => Mirror::Hermitian,
        }
    }
}

/// The content of a file's first lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The format of the numbers.
    pub layout: Layout,
    /// The kind of the numbers.
    pub field: Field,
    /// The symmetry, which tells the entries that are left out.
    pub symmetry: Symmetry,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Number of entries in the file.
    pub stored: usize,
}

const BANNER: &str = "%%MatrixMarket";

/// Most rows and columns: their numbers have 32 bits, and one is kept free.
const MOST: u64 = u32::MAX as u64 - 1;

/// Bytes of a line with anything in it.
const LEAST_BYTES: u64 = 2;

impl Header {
    /// Reads banner, comments and sizes; `lines` goes on behind them.
    pub(super) fn read(lines: &mut Lines<'_>) -> Result<Self, Wrong> {
        let Some((_, banner)) = lines.next() else {
            return Err(Wrong::Whole("empty file; a Matrix Market file begins with %%MatrixMarket".into()));
        };
        let (layout, field, symmetry) = Self::banner(banner)?;
        let sizes = lines.find(|(_, line)| has_content(line));
        let wanted = match layout {
            Layout::Coordinate => "the numbers of rows, columns and entries",
            Layout::Array => "the numbers of rows and columns",
        };
        let Some((number, line)) = sizes else {
            return Err(Wrong::Whole(format!(
                "{wanted} expected behind the first line, the end of the file found"
            )));
        };
        let texts: Vec<&[u8]> = words(line).collect();
        let parsed: Option<Vec<u64>> =
            texts.iter().map(|text| std::str::from_utf8(text).ok()?.parse::<u64>().ok()).collect();
        let found = || format!("`{}`", shown(line));
        let (rows, columns, entries) = match (layout, parsed.as_deref()) {
            (Layout::Coordinate, Some(&[rows, columns, entries])) => (rows, columns, Some(entries)),
            (Layout::Array, Some(&[rows, columns])) => (rows, columns, None),
            _ => return Err(Wrong::line(number, wanted, found())),
        };
        if symmetry != Symmetry::General && rows != columns {
            let found = format!("{} but {rows} x {columns}", symmetry.name());
            return Err(Wrong::line(number, "as many rows as columns", found));
        }
        // Before anything is made of the sizes: each entry takes a line in the rest of the file.
        let left = lines.left() as u64 + 1;
        let stored = match entries {
            Some(entries) => Some(entries),
            None => Self::stored_in_array(symmetry, rows, columns),
        };
        let Some(stored) = stored.filter(|stored| *stored <= left / LEAST_BYTES) else {
            let many = entries.map_or_else(|| format!("{rows} x {columns}"), |entries| entries.to_string());
            let problem = format!(
                "announced entries do not fit into the file: {many} in line {number}, {} bytes behind it; the file is cut off or its sizes are wrong",
                left - 1
            );
            return Err(Wrong::Whole(problem));
        };
        if rows > MOST || columns > MOST {
            let wanted = format!("at most {MOST} rows and columns");
            return Err(Wrong::line(number, wanted, format!("{rows} rows and {columns} columns")));
        }
        let (rows, columns, stored) = (rows as usize, columns as usize, stored as usize);
        if layout == Layout::Coordinate {
            expect_supported(rows, columns, stored).map_err(|error| Wrong::Whole(error.to_string()))?;
        }
        Ok(Self { layout, field, symmetry, rows, columns, stored })
    }

    fn banner(line: &[u8]) -> Result<(Layout, Field, Symmetry), Wrong> {
        let text = String::from_utf8_lossy(line);
        let found: Vec<String> = text.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        let wrong = |wanted: &str, what: &str, found: &str| {
            Err(Wrong::line(1, wanted, format!("{what} `{}`", shown(found.as_bytes()))))
        };
        if found.first().is_none_or(|word| *word != BANNER.to_ascii_lowercase()) {
            return wrong("%%MatrixMarket", "no %%MatrixMarket banner:", text.trim());
        }
        let word = |k: usize| found.get(k).map_or("", String::as_str);
        if word(1) != "matrix" {
            return wrong("matrix", "object", word(1));
        }
        let Ok(layout) = word(2).parse() else {
            return wrong(&listed::<Layout>(), "format", word(2));
        };
        let Ok(field) = word(3).parse() else {
            return wrong(&listed::<Field>(), "field", word(3));
        };
        let Ok(symmetry) = word(4).parse() else {
            return wrong(&listed::<Symmetry>(), "symmetry", word(4));
        };
        if field == Field::Pattern && layout == Layout::Array {
            return wrong("numbers in the format array", "field", "pattern");
        }
        if symmetry == Symmetry::Hermitian && field != Field::Complex {
            return wrong("complex numbers for a hermitian matrix", "field", word(3));
        }
        if symmetry == Symmetry::SkewSymmetric && field == Field::Pattern {
            return wrong("numbers for a skew-symmetric matrix", "field", "pattern");
        }
        Ok((layout, field, symmetry))
    }

    /// Returns how many numbers an array lists; `None` if more than fit into a number.
    fn stored_in_array(symmetry: Symmetry, rows: u64, columns: u64) -> Option<u64> {
        match symmetry {
            Symmetry::General => rows.checked_mul(columns),
            Symmetry::Symmetric | Symmetry::Hermitian => Some(rows.checked_mul(rows.checked_add(1)?)? / 2),
            Symmetry::SkewSymmetric => Some(rows.checked_mul(rows.saturating_sub(1))? / 2),
        }
    }
}

pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}
