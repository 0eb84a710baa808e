//! The break-even: whether a call takes less time on the device than in the next library.
//!
//! A call of many operations opens the device, or several calls that have as many together. Then
//! three rates are measured, once for each type of elements: uploads, products on the device, and
//! products of the next library. They tell how long a call would take on either side. Every large
//! call corrects this: its time is kept for its routine and size.

use crate::calls::{Symbol, decide};
use crate::devices;
use crate::rates::rates;
use crate::settings;
use crate::work::Work;
use lattice_compute::scalar::Element;
use std::sync::atomic::{AtomicU64, Ordering};

/// Operations that open the device: those of a product of 1000 rows and columns.
const OPENING: f64 = 2e9;

/// Operations of large calls until the device was opened.
static BEFORE: AtomicU64 = AtomicU64::new(0);

/// Tells whether a call is to be computed on the device, and sets how long it should take.
fn is_worth<T: Element>(symbol: &Symbol, work: &mut Work) -> bool {
    if let Some(least) = settings::least() {
        return work.operations >= least;
    }
    if !work.is_large() || !devices::is_possible() {
        return false;
    }
    if BEFORE.load(Ordering::Relaxed) < OPENING as u64 {
        let before = BEFORE.fetch_add(work.operations as u64, Ordering::Relaxed);
        if before as f64 + work.operations < OPENING {
            return false;
        }
    }
    let Some(rates) = rates::<T>(symbol.name()) else { return false };
    work.seconds = work.bytes / rates.upload + work.operations / rates.device;
    let experience = &symbol.experience;
    let on_device = work.seconds * experience.slowdown_of_device(work).unwrap_or(1.0);
    match (experience.rate_of_next(work), rates.next) {
        (Some(rate), _) | (None, Some(rate)) => on_device < work.operations / rate,
        (None, None) => work.operations >= OPENING,
    }
}

/// Passes a call on if it is quicker in the next library.
///
/// The call has so many products of elements, and moves so many elements to the device and back.
pub fn worth<T: Element>(products: f64, elements: f64) -> Option<()> {
    // A complex product has four real ones.
    let operations = products * if T::IS_COMPLEX { 8.0 } else { 2.0 };
    let bytes = elements * size_of::<T>() as f64;
    let work = Work { operations, bytes, length: products.cbrt().max(1.0), ..Work::default() };
    decide(work, |symbol, work| is_worth::<T>(symbol, work))
}

/// Passes a call of level 1 or 2 on, unless all calls are to be computed.
///
/// Such a call takes less time than its operands take to the device.
pub fn worth_moving(products: f64) -> Option<()> {
    let work = Work { operations: 2.0 * products, length: products.max(1.0), ..Work::default() };
    decide(work, |_, _| settings::least() == Some(0.0))
}
