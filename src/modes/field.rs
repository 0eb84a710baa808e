//! The fields that modes are: spinors on all sites, or on the even ones.

use crate::compute::DeviceError;
use crate::field::{ParityField, SpinorField};
use crate::geometry::{Lattice, LatticeError};
use crate::host::{Spinor, random};
use num_complex::Complex64;

const EVEN: usize = 0;

/// A field that can be random, and can go to the host and come back.
pub(super) trait ModeField: Sized {
    /// Makes a field of random numbers, equal on every device.
    fn random(lattice: &Lattice, number: u64) -> Result<Self, LatticeError>;

    /// Returns the numbers of the field, in lexicographic order of the sites.
    fn to_numbers(&self) -> Result<Vec<u8>, LatticeError>;

    /// Makes a field of such numbers. `None` if their count is another.
    fn of_numbers(lattice: &Lattice, bytes: &[u8]) -> Result<Option<Self>, LatticeError>;

    /// Makes a column equal to a field of one column.
    fn set_column(&mut self, column: usize, field: &Self) -> Result<(), DeviceError>;

    /// Copies a column into a field of one column.
    fn column_to(&self, column: usize, field: &mut Self) -> Result<(), DeviceError>;
}

impl ModeField for SpinorField<f64> {
    fn random(lattice: &Lattice, number: u64) -> Result<Self, LatticeError> {
        lattice.spinor_from_host(&random::spinor_field(lattice.dims(), SEED + number))
    }

    fn to_numbers(&self) -> Result<Vec<u8>, LatticeError> {
        Ok(bytes_of(&self.to_host()?))
    }

    fn of_numbers(lattice: &Lattice, bytes: &[u8]) -> Result<Option<Self>, LatticeError> {
        spinors_of(bytes, lattice.dims().volume()).map(|x| lattice.spinor_from_host(&x)).transpose()
    }

    fn set_column(&mut self, column: usize, field: &Self) -> Result<(), DeviceError> {
        self.copy_column_from(column, field)
    }

    fn column_to(&self, column: usize, field: &mut Self) -> Result<(), DeviceError> {
        self.copy_column_to(column, field)
    }
}

impl ModeField for ParityField<f64> {
    fn random(lattice: &Lattice, number: u64) -> Result<Self, LatticeError> {
        let mut even = lattice.parities(EVEN, 1)?;
        SpinorField::random(lattice, number)?.copy_parity_to(&mut even)?;
        Ok(even)
    }

    fn to_numbers(&self) -> Result<Vec<u8>, LatticeError> {
        Ok(bytes_of(&self.to_host()?))
    }

    fn of_numbers(lattice: &Lattice, bytes: &[u8]) -> Result<Option<Self>, LatticeError> {
        let spinors = spinors_of(bytes, lattice.dims().volume() / 2);
        spinors.map(|x| lattice.parity_from_host(EVEN, &x)).transpose()
    }

    fn set_column(&mut self, column: usize, field: &Self) -> Result<(), DeviceError> {
        self.copy_column_from(column, field)
    }

    fn column_to(&self, column: usize, field: &mut Self) -> Result<(), DeviceError> {
        self.copy_column_to(column, field)
    }
}

/// The seed of the first random field.
const SEED: u64 = 0x6d6f_6465_7300;

fn bytes_of(spinors: &[Spinor<f64>]) -> Vec<u8> {
    spinors.iter().flat_map(|spinor| bytemuck::bytes_of(&spinor.0)).copied().collect()
}

fn spinors_of(bytes: &[u8], count: usize) -> Option<Vec<Spinor<f64>>> {
    const BYTES: usize = size_of::<Spinor<f64>>();
    let (chunks, []) = bytes.as_chunks::<BYTES>() else { return None };
    let spinor = |chunk: &[u8; BYTES]| {
        let components: [[Complex64; 3]; 4] = bytemuck::pod_read_unaligned(chunk);
        Spinor(components)
    };
    (chunks.len() == count).then(|| chunks.iter().map(spinor).collect())
}
