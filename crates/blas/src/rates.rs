//! The rates of the device and of the next library, measured once for each type of elements.

use crate::devices::{device, done};
use crate::next_gemm;
use lattice_compute::scalar::{Element, Precision, Real};
use lattice_linalg::gemm::GemmParams;
use lattice_linalg::split;
use std::sync::OnceLock;

/// The rates for one type of elements.
#[derive(Clone, Copy)]
pub struct Rates {
    /// Bytes per second to the device.
    pub upload: f64,
    /// Operations per second of products on the device.
    pub device: f64,
    /// Operations per second of products of the next library, if it has them.
    pub next: Option<f64>,
}

static RATES: [OnceLock<Option<Rates>>; 4] = [const { OnceLock::new() }; 4];

/// Returns the rates that were measured, with the letters of their types.
pub fn measured() -> impl Iterator<Item = (char, Rates)> {
    "sdcz".chars().zip(&RATES).filter_map(|(letter, rates)| Some((letter, (*rates.get()?)?)))
}

/// The letter of a type in names of the BLAS, by its number.
fn number<T: Element>() -> usize {
    2 * usize::from(T::IS_COMPLEX) + usize::from(T::Real::PRECISION == Precision::Double)
}

/// Returns the rates for a type. The first call measures them, in the library behind a symbol.
pub fn rates<T: Element>(symbol: &str) -> Option<Rates> {
    *RATES[number::<T>()].get_or_init(|| {
        let device = device()?;
        let upload = done(split::upload_rate(device))?;
        let of_device = done(split::rate::<T>(device, &GemmParams::default()))?;
        Some(Rates { upload, device: of_device, next: next_gemm::rate::<T>(symbol) })
    })
}
