//! Arrays of any shape, with names or alone.

use super::array;
use super::{MeshError, MeshProblem, beginning, open};
use crate::io::output::Output;
use crate::scalar::Precision;
use lattice_files::npy::Array;
use lattice_files::npz::{self, Archive, ArchiveError};
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
        let array = Array::read(&mut file, length).and_then(Array::real);
        array.map(Self::from).map_err(|error| MeshError::new(path, error.into()))
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
            if !beginning(&mut file)?.starts_with(npz::MAGIC) {
                let problem = "it is no ZIP archive".to_owned();
                return Err(MeshProblem::Archive(ArchiveError::Damaged { problem }));
            }
            Ok(Archive::open(file, length)?)
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

    /// Returns the names of all arrays but those of a list, printable.
    ///
    /// One that nobody reads may be a name that is misspelt.
    pub fn others(&self, known: &[&str]) -> Vec<String> {
        self.archive.others(known)
    }

    /// Reads the array of the name. Arrays of objects are refused.
    ///
    /// # Errors
    /// When there is no such array, or it has something else than real numbers and integers.
    pub fn array(&mut self, name: &str) -> Result<NumberArray, MeshError> {
        let array = self.archive.real(name);
        array.map(NumberArray::from).map_err(|error| MeshError::new(&self.path, error.into()))
    }

    /// Returns the arrays.
    pub(super) fn archive(&mut self) -> &mut Archive<BufReader<File>> {
        &mut self.archive
    }
}
