//! What a sparse matrix is, and how many bytes it takes in each format.

use lattice_cl::linalg::host::level1::Arithmetic;
use lattice_cl::linalg::sparse::market::{AnyCsr, Symmetry};
use lattice_cl::linalg::sparse::{Csr, Format, Matrix, Processor, Vector};
use lattice_cli::failure::Failure;
use lattice_cli::matrix_source::Matrix as Source;
use lattice_cli::report::{Table, path_text, scientific};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Part of the largest row sum below which a difference from the transpose is rounding.
const ROUNDING: f64 = 1e-14;

/// Products of a format that are timed at least, and seconds after which no more are.
const PRODUCTS: usize = 5;
const SECONDS: f64 = 0.05;

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
    /// Where products are timed: a device, or `host`.
    device: String,
    /// Bytes in memory and the time of a product, in double precision.
    formats: Vec<FormatInfo>,
    /// The format that the device gets.
    chosen_format: String,
    /// The format whose products are the fastest there.
    fastest_format: String,
    /// The reason in words.
    reason: String,
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
    /// Seconds of a product, the least of several.
    seconds: f64,
}

impl MatrixInfo {
    /// Reads a matrix, looks at it, and times products at a place.
    pub fn of(path: &Path, place: &Processor) -> Result<Self, Failure> {
        let Source { matrix, declared, .. } = Source::of(&path.display().to_string())?;
        let declared = declared.map(Symmetry::name);
        match matrix {
            AnyCsr::Real(matrix) => Self::of_matrix(path, "real", declared, Arc::new(matrix), place),
            AnyCsr::Complex(matrix) => Self::of_matrix(path, "complex", declared, Arc::new(matrix), place),
        }
    }

    fn of_matrix<T: Arithmetic>(
        path: &Path,
        numbers: &'static str,
        declared: Option<&'static str>,
        matrix: Arc<Csr<T>>,
        place: &Processor,
    ) -> Result<Self, Failure> {
        let rows = matrix.rows();
        let lengths = || (0..rows).map(|row| matrix.row_length(row));
        let asymmetry = matrix.asymmetry();
        let rounding = ROUNDING * matrix.norm_infinity();
        let found = match asymmetry {
            None => "not square",
            Some(asymmetry) if asymmetry.difference > rounding => "general",
            Some(_) if T::IS_COMPLEX => "hermitian",
            Some(_) => "symmetric",
        };
        let distance = |row: usize| matrix.row(row).map(move |(column, _)| column.abs_diff(row)).max();
        let zeros = matrix.diagonal().iter().filter(|value| value.to_complex().norm() == 0.0).count();
        let height = Matrix::<T>::slice_height(place);
        let chosen = Matrix::<T>::chosen_format(place, &matrix, 1);
        let mut formats = Vec::new();
        for (format, bytes) in Format::candidates(&matrix, height) {
            let seconds = seconds_of_product(&matrix, place, format)?;
            formats.push(FormatInfo { format: format.to_string(), bytes, seconds });
        }
        let fastest = formats.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let fastest_format = fastest.map_or_else(String::new, |fastest| fastest.format.clone());
        let reason = fastest.map_or_else(String::new, |fastest| reason(&matrix, fastest, &formats));
        Ok(Self {
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
            device: place.label(),
            formats,
            chosen_format: chosen.to_string(),
            fastest_format,
            reason,
        })
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
        table.line("products on", &self.device);
        for FormatInfo { format, bytes, seconds } in &self.formats {
            let chosen = if *format == self.chosen_format { ", chosen by its bytes" } else { "" };
            let fastest = if *format == self.fastest_format { ", fastest here" } else { "" };
            let rate = *bytes as f64 / seconds / 1e9;
            let [time, rate] = [scientific(*seconds, 2), format!("{rate:.1}")];
            table.line(
                "product",
                format_args!("{format}, {bytes} bytes in {time} s, {rate} GB/s{chosen}{fastest}"),
            );
        }
        table.line("why", &self.reason);
        if self.fastest_format != self.chosen_format {
            table.line("to keep it", format_args!("cr-solve tune sparse {}", self.file.display()));
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
        vec![format!("{zeros} entries of the diagonal are zero, so jacobi and ilu0 need --matching")]
    }
}

/// Says why a format is the fastest: by its form, its bytes and its rate.
fn reason<T: Arithmetic>(matrix: &Csr<T>, fastest: &FormatInfo, formats: &[FormatInfo]) -> String {
    let of_matrix = fastest.format.parse::<Format>().map(|format| format.reason(matrix)).unwrap_or_default();
    let rate = |of: &FormatInfo| of.bytes as f64 / of.seconds / 1e9;
    let least = formats.iter().min_by_key(|format| format.bytes).unwrap_or(fastest);
    let share = |of: &FormatInfo, than: &FormatInfo| 100.0 * of.bytes as f64 / than.bytes.max(1) as f64;
    let bytes = match formats.iter().find(|format| format.format == "csr") {
        _ if least.format != fastest.format => format!(
            "it reads {:.0} % of the bytes of {}, at {:.1} instead of {:.1} GB/s",
            share(fastest, least),
            least.format,
            rate(fastest),
            rate(least)
        ),
        Some(csr) if csr.format != fastest.format => format!(
            "it reads {:.0} % of the bytes of csr, the fewest of all, at {:.1} GB/s",
            share(fastest, csr),
            rate(fastest)
        ),
        _ => format!("it reads the fewest bytes, at {:.1} GB/s", rate(fastest)),
    };
    format!("{}: {of_matrix}; {bytes}", fastest.format)
}

/// Returns the seconds of a product in a format, the least of several.
fn seconds_of_product<T: Arithmetic>(
    matrix: &Arc<Csr<T>>,
    place: &Processor,
    format: Format,
) -> Result<f64, Failure> {
    let stored = Matrix::with_format(place, Arc::clone(matrix), format)?;
    let x = Vector::from_slice(place, &vec![T::from_complex(1.0.into()); matrix.columns()])?;
    let mut y = Vector::zero(place, matrix.rows())?;
    let mut product = || -> Result<f64, Failure> {
        let began = Instant::now();
        stored.multiply(&x, &mut y)?;
        place.finish()?;
        Ok(began.elapsed().as_secs_f64())
    };
    // The first one compiles.
    product()?;
    let (began, mut seconds) = (Instant::now(), Vec::new());
    while seconds.len() < PRODUCTS || began.elapsed().as_secs_f64() < SECONDS {
        seconds.push(product()?);
    }
    Ok(seconds.into_iter().fold(f64::INFINITY, f64::min))
}
