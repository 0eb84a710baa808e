//! The break-even: whether a call takes less time on the device than in the next library.
//!
//! A call of many operations opens the device, or several calls that have as many together. Then
//! three rates are measured, once for each type of elements: uploads, products on the device, and
//! products of the next library. They tell how long a call would take on either side. Every large
//! call corrects this: its time is kept for its routine and size.

use crate::calls::{Symbol, decide};
use crate::devices;
use crate::rates::{Rates, rates};
use crate::settings;
use crate::work::{Experience, Work};
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
    if !devices::is_ours() {
        return false;
    }
    let Some(rates) = rates::<T>(symbol.name()) else { return false };
    work.seconds = work.bytes / rates.upload + work.operations / rates.device;
    is_quicker(work, rates, &symbol.experience)
}

/// Tells whether the device is quicker, by what was seen of calls of this size, or else by the rates.
fn is_quicker(work: &Work, rates: Rates, experience: &Experience) -> bool {
    let on_device = work.seconds * experience.slowdown_of_device(work).unwrap_or(1.0);
    match experience.rate_of_next(work).or(rates.next) {
        Some(rate) => on_device < work.operations / rate,
        None => work.operations >= OPENING,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn rates_decide_until_calls_of_this_size_were_seen() {
        let rates = Rates { upload: 1e10, device: 1e13, next: Some(1e11) };
        let work = |operations: f64, bytes: f64| {
            let seconds = bytes / rates.upload + operations / rates.device;
            Work { operations, bytes, seconds, ..Work::default() }
        };
        let experience = Experience::new();
        let (much, little) = (work(1e9, 1e7), work(1e9, 2e8));
        assert!(is_quicker(&much, rates, &experience));
        assert!(!is_quicker(&little, rates, &experience), "copies alone take longer");

        // The device took a hundred times as long as it should have, not only at first.
        let slow = Duration::from_secs_f64(100.0 * much.seconds);
        experience.of_device(&much, slow);
        assert!(is_quicker(&much, rates, &experience), "the first call does not count");
        experience.of_device(&much, slow);
        assert!(!is_quicker(&much, rates, &experience));
        assert!(is_quicker(&work(4e9, 4e7), rates, &experience), "another size is not known yet");
        // But the next library turns out to be slower still.
        experience.of_next(&much, Duration::from_secs(1));
        assert!(is_quicker(&much, rates, &experience));
        // The best time counts.
        experience.of_next(&much, Duration::from_millis(10));
        experience.of_next(&much, Duration::from_secs(2));
        assert!(!is_quicker(&much, rates, &experience));
        experience.of_device(&much, Duration::from_secs_f64(2.0 * much.seconds));
        assert!(is_quicker(&much, rates, &experience));
    }

    #[test]
    fn without_a_product_in_the_next_library_operations_decide() {
        let rates = Rates { upload: 1e10, device: 1e13, next: None };
        let experience = Experience::new();
        for (operations, expected) in [(OPENING / 2.0, false), (OPENING, true)] {
            let work = Work { operations, seconds: 1.0, ..Work::default() };
            assert_eq!(is_quicker(&work, rates, &experience), expected);
        }
    }
}
