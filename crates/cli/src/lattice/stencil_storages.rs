//! The lattices and storages on which kernels of the stencil are measured and tuned.

use crate::choices::is_wanted;
use crate::precisions;
use lattice_cl::geometry::Dims;
use lattice_cl::host::Reconstruction;
use lattice_compute::scalar::StoragePrecision;

/// Lattices, precisions, storages of links and numbers of columns, by options.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct StencilStorages {
    /// Extents in x, y, z, t of one device's domain; may be repeated
    #[arg(long, value_name = "EXTENTS", default_value = "16x16x16x32")]
    pub dims: Vec<Dims>,
    /// Precisions: double, single, half (or d, s, h) or all
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "all", value_parser = precisions::of_fields())]
    precision: Vec<String>,
    /// Reals stored for each link: 18, 12, 8 or all
    #[arg(long, value_name = "REALS,…", value_delimiter = ',', default_value = "all", value_parser = ["all", "18", "12", "8"])]
    links: Vec<String>,
    /// Numbers of right-hand sides that the operators are applied to at once
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u8).range(1..=64))]
    rhs: Vec<u8>,
}

impl StencilStorages {
    /// Returns the precisions.
    pub fn precisions(&self) -> impl Iterator<Item = StoragePrecision> {
        StoragePrecision::ALL.into_iter().filter(|known| is_wanted(&self.precision, known))
    }

    /// Returns the storages of links.
    pub fn reconstructions(&self) -> impl Iterator<Item = Reconstruction> {
        Reconstruction::ALL.into_iter().filter(|known| is_wanted(&self.links, known))
    }

    /// Returns the numbers of columns.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.rhs.iter().map(|&columns| columns.into())
    }

    /// Returns the largest number of columns.
    pub fn most_columns(&self) -> usize {
        self.columns().max().unwrap_or(1)
    }
}
