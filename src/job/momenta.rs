//! Momenta of a job's correlators.

use super::invalid::Invalid;
use crate::geometry::Dims;
use crate::hadron::{Momenta, MomentaError, momenta_up_to};

/// Largest n² that a job may ask for.
const LARGEST_SQUARE: u64 = 1 << 20;

/// Checks n² of the largest momentum, before the lattice is known.
///
/// # Errors
/// If it is too large.
pub(super) fn check_momenta(squared: Option<u64>) -> Result<(), Invalid> {
    match squared {
        Some(square) if square > LARGEST_SQUARE => Err(Invalid::Momenta { square, most: LARGEST_SQUARE }),
        _ => Ok(()),
    }
}

/// Returns the momenta up to n² on a lattice.
///
/// # Errors
/// If the lattice does not have them all.
pub(super) fn momenta(squared: Option<u64>, averages: bool, dims: Dims) -> Result<Momenta, MomentaError> {
    let squared = u32::try_from(squared.unwrap_or(0)).unwrap_or(u32::MAX);
    let momenta = Momenta::each(momenta_up_to(squared, dims)?);
    Ok(if averages { momenta.averaged(dims) } else { momenta })
}
