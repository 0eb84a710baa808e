//! Vectors in parts.

use crate::error::BlasResult;
use crate::sparse::vector::Vector;
use lattice_compute::scalar::Element;

/// A vector with a part at each place of a team.
#[derive(Debug)]
pub struct TeamVector<T> {
    pub(super) parts: Vec<Vector<T>>,
}

impl<T: Element> TeamVector<T> {
    /// Returns the parts, in the order of places.
    pub fn parts(&self) -> &[Vector<T>] {
        &self.parts
    }

    /// Copies the elements to the host. Waits for the devices.
    ///
    /// # Errors
    /// If a device fails.
    pub fn to_vec(&self) -> BlasResult<Vec<T>> {
        let parts = self.parts.iter().map(Vector::to_vec).collect::<BlasResult<Vec<_>>>()?;
        Ok(parts.concat())
    }
}
