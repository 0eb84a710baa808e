//! What atoms have in the memory of a device.

use lattice_compute::{Buffer, Device, Result};

/// Atoms in the order of their cells, or in that of the system.
pub(super) struct Atoms {
    /// The number of each atom in the system.
    pub order: Buffer<u32>,
    /// Three coordinates of each, not moved into the box.
    pub positions: Buffer<f64>,
    /// Three components of each.
    pub velocities: Buffer<f64>,
    /// Three components of each.
    pub forces: Buffer<f64>,
}

impl Atoms {
    /// Makes room for so many atoms.
    pub fn new(device: &Device, count: usize) -> Result<Self> {
        let vectors = || Buffer::zeroed(device, 3 * count);
        Ok(Self {
            order: Buffer::zeroed(device, count)?,
            positions: vectors()?,
            velocities: vectors()?,
            forces: vectors()?,
        })
    }

    /// Copies everything from other atoms.
    pub fn copy_from(&mut self, other: &Self) -> Result<()> {
        self.order.copy_from(&other.order)?;
        self.positions.copy_from(&other.positions)?;
        self.velocities.copy_from(&other.velocities)?;
        self.forces.copy_from(&other.forces)
    }

    /// Puts vectors that the host has in the order of the system into the order of the atoms.
    pub fn sorted(&self, vectors: &[[f64; 3]]) -> Result<Vec<f64>> {
        Ok(self.order.to_vec()?.iter().flat_map(|&atom| vectors[atom as usize]).collect())
    }

    /// Reads vectors, and puts them in the order of the system.
    pub fn read(&self, vectors: &Buffer<f64>) -> Result<Vec<[f64; 3]>> {
        let (order, found) = (self.order.to_vec()?, vectors.to_vec()?);
        let mut vectors = vec![[0.0; 3]; order.len()];
        for (&atom, vector) in order.iter().zip(found.chunks_exact(3)) {
            vectors[atom as usize].copy_from_slice(vector);
        }
        Ok(vectors)
    }
}
