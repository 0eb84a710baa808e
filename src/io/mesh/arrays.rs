//! Arrays of any shape, with names or alone.

use super::archive::{self, Archive};
use super::array::{self, Array};
use super::{MeshError, MeshProblem, beginning, open};
use crate::io::npy;
use crate::io::output::Output;
use crate::scalar::Precision;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// An array of numbers, the last index fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberArray {
    /// The extents; none for a single number.
    pub shape: Vec<usize>,
    /// The numbers; integers are exact up to 2⁵³.
    pub values: Vec<f64>,
}

/// An `.npz` file of NumPy: arrays with names.
#[derive(Debug)]
pub struct ArrayFile {
    path: PathBuf,
    archive: Archive<BufReader<File>>,
}

impl From<Array> for NumberArray {
    fn from(array: Array) -> Self {
        Self { shape: array.shape, values: array.values }
    }
}

impl NumberArray {
    /// Reads an `.npy` file with real numbers or integers.
    ///
    /// # Errors
    /// When the file cannot be read, or has something else.
    pub fn read_npy(path: impl AsRef<Path>) -> Result<Self, MeshError> {
        let path = path.as_ref();
        let (mut file, length) = open(path)?;
        let mut read = || {
            let first = beginning(&mut file)
                .map_err(|source| MeshProblem::System { action: "read the file", source })?;
            if !first.starts_with(npy::MAGIC) {
                let problem = "it does not begin as an .npy file".to_owned();
                return Err(MeshProblem::ArrayHeader { problem });
            }
            Array::read_numbers(&mut file, length)
        };
        read().map(Self::from).map_err(|problem| MeshError::new(path, problem))
    }

    /// Writes the numbers as `.npy` in double.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<(), crate::io::Error> {
        let mut output = Output::create(path.as_ref())?;
        output.write(&array::header(&self.shape, Precision::Double))?;
        for values in self.values.chunks(1 << 16) {
            output.write(&array::bytes(values, Precision::Double))?;
        }
        output.finish()
    }
}

impl ArrayFile {
    /// Opens an `.npz` file.
    ///
    /// # Errors
    /// When the file cannot be read, or is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MeshError> {
        let path = path.as_ref();
        let (mut file, length) = open(path)?;
        let opened = || {
            let first = beginning(&mut file)
                .map_err(|source| MeshProblem::System { action: "read the file", source })?;
            if !first.starts_with(archive::MAGIC) {
                return Err(MeshProblem::Archive { problem: "it is no ZIP archive".to_owned() });
            }
            Archive::open(file, length)
        };
        let archive = opened().map_err(|problem| MeshError::new(path, problem))?;
        Ok(Self { path: path.to_owned(), archive })
    }

    /// Returns the names of the arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.archive.names()
    }

    /// Tells whether there is an array of the name.
    pub fn has(&self, name: &str) -> bool {
        self.archive.has(name)
    }

    /// Reads the array of the name. Arrays of objects are refused.
    ///
    /// # Errors
    /// When there is no such array, or it has something else than numbers.
    pub fn array(&mut self, name: &str) -> Result<NumberArray, MeshError> {
        let array = self.archive.numbers(name).map_err(|problem| MeshError::new(&self.path, problem))?;
        Ok(array.into())
    }

    /// Reads real numbers or integers of any shape.
    pub(super) fn numbers(&mut self, name: &str) -> Result<Vec<f64>, MeshProblem> {
        Ok(self.archive.numbers(name)?.values)
    }

    /// Reads real or complex numbers or integers.
    pub(super) fn elements(&mut self, name: &str) -> Result<Array, MeshProblem> {
        self.archive.elements(name)
    }

    /// Reads a short text.
    pub(super) fn text(&mut self, name: &str) -> Result<String, MeshProblem> {
        self.archive.text(name)
    }
}
