//! The formats of propagators by name.

use lattice_files::words::sentence;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A format of propagators. All are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PropagatorFormat {
    /// SciDAC (LIME): a record for each solution.
    ///
    /// Chroma's record for all twelve is read too.
    #[default]
    SciDac,
    /// HDF5 as Chroma and lalibe write it: an array of matrices in spin and colour.
    LalibeHdf5,
    /// HDF5 as PyQUDA writes it, with its sums.
    PyQudaHdf5,
    /// NPY, an array of NumPy.
    Npy,
}

impl PropagatorFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::SciDac, Self::LalibeHdf5, Self::PyQudaHdf5, Self::Npy];

    /// Returns the name in lower case, as the program takes and prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SciDac => "scidac",
            Self::LalibeHdf5 => "lalibe-hdf5",
            Self::PyQudaHdf5 => "pyquda-hdf5",
            Self::Npy => "npy",
        }
    }

    /// Returns the format that is written under a file name, if its ending tells one.
    ///
    /// HDF5 is PyQUDA's form, which has sums.
    pub fn of_file_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "lime" | "scidac" => Some(Self::SciDac),
            "lalibe-hdf5" => Some(Self::LalibeHdf5),
            "h5" | "hdf5" | "pyquda-hdf5" => Some(Self::PyQudaHdf5),
            "npy" => Some(Self::Npy),
            _ => None,
        }
    }

    /// Tells whether a file holds all twelve solutions or none.
    pub fn holds_all_columns(self) -> bool {
        self != Self::SciDac
    }
}

impl fmt::Display for PropagatorFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for PropagatorFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The name is not that of a format of propagators.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a format of propagators; choose {list}",
    list = sentence(&PropagatorFormat::ALL.map(PropagatorFormat::name), "or")
)]
pub struct UnknownPropagatorFormat(pub String);

impl FromStr for PropagatorFormat {
    type Err = UnknownPropagatorFormat;

    fn from_str(name: &str) -> Result<Self, UnknownPropagatorFormat> {
        let found = Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownPropagatorFormat(name.to_owned()))
    }
}
