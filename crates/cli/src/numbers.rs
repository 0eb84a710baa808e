//! Numbers of options.

use lattice_files::number::real;

/// Reads a finite number, also as Fortran writes it.
pub fn finite(text: &str) -> Option<f64> {
    real(text.trim().as_bytes()).filter(|number| number.is_finite())
}
