//! The forms in which kernels read positions.

use bytemuck::Pod;
use lattice_compute::scalar::Real;

/// A precision of pairs, and the form of positions that goes with it.
pub(crate) trait PairPrecision: Real {
    /// One of the four numbers of a place: three coordinates and the type.
    type Coordinate: Pod;

    /// Returns the length that a difference of coordinates is multiplied by, or the edge itself.
    fn scale(edge: f64) -> f64;
}

/// Positions in double.
impl PairPrecision for f64 {
    type Coordinate = f64;

    fn scale(edge: f64) -> f64 {
        edge
    }
}

/// Fractions of the box in units of 2⁻³².
impl PairPrecision for f32 {
    type Coordinate = u32;

    fn scale(edge: f64) -> f64 {
        edge / 4294967296.0
    }
}
