//! Memory that links and spinors take.

use crate::memory::Need;
use lattice_cl::geometry::{Dims, NDIM};
use lattice_cl::host::{Matrix3, Spinor};

impl Need {
    /// Returns the need of random links and spinors of a lattice in double.
    ///
    /// The fields are brought to a device for `sources` columns.
    ///
    /// * On the host: the links twice while they are converted, and a field of all columns on its
    ///   way.
    /// * On the device: links, source, result and two more fields.
    pub fn of_stencil(dims: Dims, sources: usize) -> Self {
        let sites = dims.extents().map(|extent| extent as u128).iter().product::<u128>();
        let links = sites * (NDIM * size_of::<Matrix3<f64>>()) as u128;
        let spinors = sites * size_of::<Spinor<f64>>() as u128;
        let sources = sources as u128;
        Self { on_host: 2 * links + (1 + 2 * sources) * spinors, on_device: links + 4 * sources * spinors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_spinors_are_counted() {
        let dims = Dims::new([2, 4, 6, 8]).unwrap();
        let sites = 384;
        let expected =
            Need { on_host: sites * (2 * 4 * 144 + 7 * 192), on_device: sites * (4 * 144 + 12 * 192) };
        assert_eq!(Need::of_stencil(dims, 3), expected);
    }
}
