//! What a sparse matrix is, and how many bytes it takes in each format.

use crate::arguments::path_text;
use crate::failure::Failure;
use crate::matrix_source::Matrix;
use crate::report::{Table, scientific};
use lattice_cl::blas::host::level1::Arithmetic;
use lattice_cl::blas::sparse::market::{AnyCsr, Symmetry};
use lattice_cl::blas::sparse::{Csr, Format};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Rows of a slice that bytes are counted for: those of a GPU.
const SLICE: usize = 32;

/// The result for a sparse matrix.
#[derive(Serialize)]
pub struct MatrixInfo {
    schema_version: u32,
    kind: &'static str,
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
    numbers: &'static str,
    rows: usize,
    columns: usize,
    entries: usize,
    symmetry: SymmetryInfo,
    row_lengths: RowLengths,
    /// Largest distance of an entry from the diagonal.
    bandwidth: usize,
    zeros_on_diagonal: usize,
    /// Bytes in memory, in double precision.
    formats: Vec<FormatInfo>,
    /// The format that a device gets.
    chosen_format: String,
}

#[derive(Serialize)]
struct SymmetryInfo {
    /// What the file says, `null` for a model problem.
    declared: Option<&'static str>,
    found: &'static str,
    /// Largest |a_ij − conj(a_ji)|, `null` if the matrix is not square.
    difference: Option<f64>,
}

#[derive(Serialize)]
struct RowLengths {
    least: usize,
    mean: f64,
    most: usize,
}

#[derive(Serialize)]
struct FormatInfo {
    format: String,
    bytes: u64,
}

impl MatrixInfo {
    /// Reads a matrix and looks at it.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let source = Matrix::of(&path.display().to_string())?;
        let declared = source.declared.map(Symmetry::name);
        Ok(match &source.matrix {
            AnyCsr::Real(matrix) => Self::of_matrix(path, "real", declared, matrix),
            AnyCsr::Complex(matrix) => Self::of_matrix(path, "complex", declared, matrix),
        })
    }

    fn of_matrix<T: Arithmetic>(
        path: &Path,
        numbers: &'static str,
        declared: Option<&'static str>,
        matrix: &Csr<T>,
    ) -> Self {
        let rows = matrix.rows();
        let lengths = || (0..rows).map(|row| matrix.row_length(row));
        let asymmetry = matrix.asymmetry();
        let found = match asymmetry {
            None => "not square",
            Some(asymmetry) if asymmetry.difference > 0.0 => "general",
            Some(_) if T::IS_COMPLEX => "hermitian",
            Some(_) => "symmetric",
        };
        let distance = |row: usize| matrix.row(row).map(move |(column, _)| column.abs_diff(row)).max();
        let zeros = matrix.diagonal().iter().filter(|value| value.to_complex().norm() == 0.0).count();
        let formats = Format::candidates(matrix, SLICE);
        Self {
            schema_version: 1,
            kind: "matrix",
            file: path.to_owned(),
            numbers,
            rows,
            columns: matrix.columns(),
            entries: matrix.entries(),
            symmetry: SymmetryInfo {
                declared,
                found,
                difference: asymmetry.map(|asymmetry| asymmetry.difference),
            },
            row_lengths: RowLengths {
                least: lengths().min().unwrap_or(0),
                mean: matrix.entries() as f64 / rows.max(1) as f64,
                most: lengths().max().unwrap_or(0),
            },
            bandwidth: (0..rows).filter_map(distance).max().unwrap_or(0),
            zeros_on_diagonal: zeros,
            formats: formats
                .iter()
                .map(|(format, bytes)| FormatInfo { format: format.to_string(), bytes: *bytes })
                .collect(),
            chosen_format: Format::of_fewest_bytes(matrix, SLICE).to_string(),
        }
    }

    pub fn table(&self) -> Table {
        let mut table = Table::default();
        table.line("file", self.file.display());
        table.line("matrix", format_args!("{} × {}, {}", self.rows, self.columns, self.numbers));
        table.line("entries", self.entries);
        let RowLengths { least, mean, most } = &self.row_lengths;
        table.line("entries of a row", format_args!("{least} to {most}, {mean:.2} on average"));
        let SymmetryInfo { declared, found, difference } = &self.symmetry;
        let declared = declared.map_or(String::new(), |declared| format!(", declared {declared}"));
        let difference = match difference {
            Some(difference) if *difference > 0.0 => {
                format!(", entries differ by up to {}", scientific(*difference, 2))
            }
            _ => String::new(),
        };
        table.line("symmetry", format_args!("{found}{declared}{difference}"));
        table.line("bandwidth", self.bandwidth);
        table.line("zeros on diagonal", self.zeros_on_diagonal);
        for FormatInfo { format, bytes } in &self.formats {
            let chosen = if *format == self.chosen_format { ", chosen" } else { "" };
            table.line("bytes", format_args!("{format}: {bytes}{chosen}"));
        }
        table
    }

    pub fn line(&self) -> String {
        let Self { file, rows, columns, entries, .. } = self;
        format!("{}: {} matrix, {rows} × {columns}, {entries} entries", file.display(), self.symmetry.found)
    }

    pub fn doubts(&self) -> Vec<String> {
        if self.rows != self.columns || self.zeros_on_diagonal == 0 {
            return Vec::new();
        }
        let zeros = self.zeros_on_diagonal;
        vec![format!("{zeros} entries of the diagonal are zero, so jacobi cannot be had")]
    }
}
