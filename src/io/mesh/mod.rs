//! Functions on meshes in files: Gaussian's `.cube`, and NumPy's `.npy` and `.npz`.
//!
//! [`ArrayFile`] has arrays of any shape.
//! [`MeshFile::read`] tells the formats apart by their content. Nothing is allocated on the word of a
//! header: sizes are compared with those of the file first, or memory grows with what is read.

mod array;
mod arrays;
mod cube;
mod error;
mod matrix;
mod sparse;

pub use arrays::{ArrayFile, NumberArray};
pub use cube::{Atom, CubeHeader};
pub use error::{MeshError, MeshProblem};
pub use matrix::{DenseMatrix, MatrixElements, MatrixError};
pub use sparse::read_sparse;

use super::output::{Output, write_file};
use crate::scalar::Precision;
use lattice_files::input;
use lattice_files::npy::{self, Array};
use lattice_files::npz::{self, Archive};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// The array of an `.npz` file that is the function.
const FUNCTION: &str = "rho";

/// The array of an `.npz` file that is the cell.
const CELL: &str = "cell";

/// The values of a function on a mesh, as a file has them.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// Extents n₁, n₂, n₃.
    pub shape: [usize; 3],
    /// The values, the third index fastest.
    pub values: Vec<f64>,
    /// The precision of the file's numbers; double for text.
    pub precision: Precision,
    /// The vectors of the cell in bohr, if the file has them.
    pub cell: Option<[[f64; 3]; 3]>,
    /// What a cube file says beside.
    pub cube: Option<CubeHeader>,
    /// The other arrays of an `.npz` file, which are not read.
    pub others: Vec<String>,
}

/// Opens a file, and returns its length too.
fn open(path: &Path) -> Result<(BufReader<File>, u64), MeshError> {
    let system = |source| MeshError::new(path, MeshProblem::System { action: "open the file", source });
    let file = input::open(path).map_err(system)?;
    let length = file.metadata().map_err(system)?.len();
    Ok((BufReader::new(file), length))
}

/// Returns the first bytes of a file, and goes back to its beginning.
fn beginning(file: &mut BufReader<File>) -> Result<Vec<u8>, MeshProblem> {
    let system = |source| MeshProblem::System { action: "read the file", source };
    let mut first = Vec::new();
    file.by_ref().take(6).read_to_end(&mut first).map_err(system)?;
    file.rewind().map_err(system)?;
    Ok(first)
}

impl MeshFile {
    /// Reads a file of any of the formats.
    ///
    /// An `.npz` file has the function as the array `rho`, and perhaps the cell as `cell`.
    ///
    /// # Errors
    /// When the file cannot be read, or is none of the formats; when it has too few or too many
    /// values, or some that are not finite.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MeshError> {
        let path = path.as_ref();
        let (mut file, length) = open(path)?;
        let first = beginning(&mut file).map_err(|problem| MeshError::new(path, problem))?;
        let read = if first.starts_with(npy::MAGIC) {
            let array = Array::read(&mut file, length).and_then(Array::real);
            array.map_err(MeshProblem::from).and_then(|array| Self::of_array(array, None, Vec::new()))
        } else if first.starts_with(npz::MAGIC) {
            Self::of_archive(file, length)
        } else if first.is_empty() {
            Err(MeshProblem::Empty)
        } else {
            cube::read(file, length).map(|(header, shape, values)| Self {
                shape,
                values,
                precision: Precision::Double,
                cell: Some(header.cell(shape)),
                cube: Some(header),
                others: Vec::new(),
            })
        };
        let read = read.map_err(|problem| MeshError::new(path, problem))?;
        match read.values.iter().position(|value| !value.is_finite()) {
            Some(index) => {
                let problem = MeshProblem::NotFinite { index, value: read.values[index] };
                Err(MeshError::new(path, problem))
            }
            None => Ok(read),
        }
    }

    /// Reads another array of the same mesh from an `.npz` file.
    ///
    /// # Errors
    /// When the file is no `.npz` file, has no such array, or one of another shape.
    pub fn read_beside(path: impl AsRef<Path>, name: &str, shape: [usize; 3]) -> Result<Vec<f64>, MeshError> {
        let path = path.as_ref();
        let (mut file, length) = open(path)?;
        let read = || {
            if !beginning(&mut file)?.starts_with(npz::MAGIC) {
                return Err(MeshProblem::NoArrays { name: name.to_owned() });
            }
            let array = Archive::open(file, length)?.real(name)?;
            if array.shape != shape {
                return Err(MeshProblem::OtherShape {
                    name: name.to_owned(),
                    wanted: shape.to_vec(),
                    found: array.shape,
                });
            }
            Ok(array.values)
        };
        read().map_err(|problem| MeshError::new(path, problem))
    }

    fn of_array(array: Array, cell: Option<[[f64; 3]; 3]>, others: Vec<String>) -> Result<Self, MeshProblem> {
        let precision = array::precision(&array);
        let shape: [usize; 3] =
            array.shape.try_into().map_err(|shape| MeshProblem::NotThreeDimensional { shape })?;
        Ok(Self { shape, values: array.values, precision, cell, cube: None, others })
    }

    fn of_archive(file: BufReader<File>, length: u64) -> Result<Self, MeshProblem> {
        let mut archive = Archive::open(file, length)?;
        let cell = match archive.has(CELL) {
            true => Some(archive.real(CELL)?),
            false => None,
        };
        let cell = cell.map(|cell| match cell.values[..] {
            [a, b, c, d, e, f, g, h, i] => Ok([[a, b, c], [d, e, f], [g, h, i]]),
            _ => Err(MeshProblem::OtherShape {
                name: CELL.to_owned(),
                wanted: vec![3, 3],
                found: cell.shape.clone(),
            }),
        });
        let (cell, others) = (cell.transpose()?, archive.others(&[FUNCTION, CELL]));
        Self::of_array(archive.real(FUNCTION)?, cell, others)
    }

    /// Writes a function as `.cube` with 13 significant digits.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_cube(
        path: impl AsRef<Path>,
        header: &CubeHeader,
        shape: [usize; 3],
        values: &[f64],
    ) -> Result<(), super::Error> {
        write_file(path, cube::text(header, shape, values).as_bytes())
    }

    /// Writes values as `.npy`, little-endian, with every bit that the precision has.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_npy(
        path: impl AsRef<Path>,
        shape: [usize; 3],
        values: &[f64],
        precision: Precision,
    ) -> Result<(), super::Error> {
        let mut output = Output::create(path.as_ref())?;
        output.write(&array::header(&shape, precision))?;
        for values in values.chunks(1 << 16) {
            output.write(&array::bytes(values, precision))?;
        }
        output.finish()
    }
}
