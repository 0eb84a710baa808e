//! Arrays in NumPy's format, as they are written.

use crate::scalar::Precision;
use lattice_files::npy::{self, Array};

/// Returns the bytes in front of real numbers.
pub(super) fn header(shape: &[usize], precision: Precision) -> Vec<u8> {
    npy::header(&format!("<f{}", precision.bytes()), shape)
}

/// Encodes values.
pub(super) fn bytes(values: &[f64], precision: Precision) -> Vec<u8> {
    match precision {
        Precision::Single => values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
        Precision::Double => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// Returns the precision of an array's numbers. Integers count as double.
pub(super) fn precision(array: &Array) -> Precision {
    if array.is_single { Precision::Single } else { Precision::Double }
}
