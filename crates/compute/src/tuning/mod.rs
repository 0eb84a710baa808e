//! The fastest kernel variants of a device, found by trying and kept in a file.
//!
//! A family of kernels tells by [`Tunable`] what may be varied and how a variant is timed.
//! [`choose`] then returns the variant to use, by the [`TuningMode`] that the device was opened
//! with. The chosen variant is the shipped one, one that an earlier search kept, or one that a
//! search finds now. [`renew`] always searches, even if a variant was kept.
//!
//! ```text
//! choose(tunable) ─→ memory of the device ─→ TuningFile ─→ search ─→ both
//!                                                   └──────→ shipped
//! ```
//!
//! *Architecture invariant:* a variant changes the speed of a kernel, never its result beyond
//! rounding.

pub mod date;
mod file;
mod key;
mod search;
mod store;
mod timing;
mod variant;

pub use file::{Entry, Identity, TuningFile, TuningFileError};
pub use key::{Key, sites_class};
pub use search::{Step, TuningResult, search};
pub use timing::{longer_batch, time_of_launch};
pub use variant::{Variant, text_of};

use crate::{Device, SearchProgress, TuningMode};
use search::Watch;
use std::error::Error;
use std::time::{Duration, Instant};
use store::{Store, StoredVariant};

/// Time that the search for one kernel's fastest variant may take.
///
/// The time includes compilation and launches.
pub const BUDGET: Duration = Duration::from_secs(10);

/// Time for all searches together that a user may have to wait for.
///
/// The time holds in programs whose user did not ask for a search.
pub const TIME_ON_FIRST_USE: Duration = Duration::from_millis(1500);

/// Least factor of a gain at which a variant replaces the shipped one.
///
/// A smaller gain is noise.
const LEAST_GAIN: f64 = 1.01;

/// Least factor of a gain in searches on first use.
///
/// The other kernels of the family, with other signs and endings, must be compiled for a new
/// variant.
const LEAST_GAIN_ON_FIRST_USE: f64 = 1.05;

/// Least budget of a search. A search with less is not begun.
const LEAST_BUDGET: Duration = Duration::from_millis(100);

/// A kernel that has variants.
pub trait Tunable {
    /// The type of a variant: everything that may be varied.
    type Variant: Variant;
    /// The type of the data that the launches need: fields, matrices.
    type Data;
    /// The type of the reason why a variant cannot be timed.
    type Error: Error;

    /// Returns the device that the kernel runs on.
    fn device(&self) -> &Device;

    /// Returns the key that the fastest variant depends on, beside the device.
    fn key(&self) -> Key;

    /// Returns the variant that is used untuned.
    fn shipped(&self) -> Self::Variant;

    /// Returns the variants to try; see [`Step`].
    fn steps(&self) -> Vec<Step<'_, Self::Variant>>;

    /// Returns the reason why the device cannot run a variant, if it cannot.
    ///
    /// People may edit the file that variants are kept in.
    fn complaint(&self, _variant: &Self::Variant) -> Option<String> {
        None
    }

    /// Prepares the data that the launches need.
    ///
    /// # Errors
    /// If there is no room for the data, or the device fails.
    fn data(&self) -> Result<Self::Data, Self::Error>;

    /// Builds a variant and times one launch of it.
    ///
    /// [`time_of_launch`] is made for this.
    ///
    /// # Errors
    /// If the variant does not build or run.
    fn time(&self, variant: &Self::Variant, data: &mut Self::Data) -> Result<Duration, Self::Error>;
}

/// Returns the variant to use, and never fails.
///
/// The choice takes time only if the device's [`TuningMode`] allows a search. All searches together
/// take no more than the device's [`search_time`](crate::DeviceOptions::search_time).
///
/// A kept variant that cannot be used is replaced by the shipped one. A warning names file and
/// entry. The entry stays.
pub fn choose<T: Tunable>(tunable: &T) -> T::Variant {
    let device = tunable.device();
    let mode = device.options().tuning;
    if mode == TuningMode::Shipped {
        return tunable.shipped();
    }
    let (store, key) = (Store::of(device), tunable.key());
    match store.find(&key, |variant| tunable.complaint(variant)) {
        StoredVariant::Variant(variant) => return variant,
        StoredVariant::Unusable => return passed_over(&store, &key, tunable.shipped()),
        StoredVariant::Nothing => {}
    }
    if !mode.searches(device.info().kind) {
        return tunable.shipped();
    }
    let searched = store.search(|spent| {
        budget(device.options().search_time, spent)
            .map(|budget| run(tunable, &key, budget, LEAST_GAIN_ON_FIRST_USE))
    });
    match searched {
        None => {
            tracing::info!("{}: {key} is not tuned: the time for searches is used up", device.label());
            let shipped = tunable.shipped();
            // The shipped variant is kept, so that later runs do not wait for a search either.
            kept(&store, &key, shipped, None)
        }
        Some(Ok(found)) => kept(&store, &key, found.variant.clone(), Some(&found)),
        Some(Err(error)) => {
            tracing::info!("{}: {key} is not tuned: {error}", device.label());
            let shipped = tunable.shipped();
            store.remember(&key, &shipped);
            shipped
        }
    }
}

/// Keeps a variant, and returns the variant to use.
///
/// A variant that another process has found meanwhile, perhaps in a longer search, is preferred.
fn kept<V: Variant>(store: &Store, key: &Key, variant: V, found: Option<&TuningResult<V>>) -> V {
    match store.keep_unless_known(key, &variant, found) {
        Ok(known) => known,
        Err(error) => {
            store.warn(&error);
            variant
        }
    }
}

/// Returns the shipped variant instead of an entry that cannot be used.
///
/// The shipped variant is used from now on: one warning is enough.
fn passed_over<V: Variant>(store: &Store, key: &Key, shipped: V) -> V {
    store.remember(key, &shipped);
    shipped
}

/// Returns the variant that [`choose`] returns for this key without a search.
///
/// The variant is the kept one, or the shipped one. `complaint` comes from the family, see
/// [`Tunable::complaint`].
pub fn known<V: Variant>(
    device: &Device,
    key: &Key,
    complaint: impl Fn(&V) -> Option<String>,
    shipped: impl FnOnce() -> V,
) -> V {
    if device.options().tuning == TuningMode::Shipped {
        return shipped();
    }
    let store = Store::of(device);
    match store.find(key, complaint) {
        StoredVariant::Variant(variant) => variant,
        StoredVariant::Unusable => passed_over(&store, key, shipped()),
        StoredVariant::Nothing => shipped(),
    }
}

/// Returns the budget of a search; `None` if too little time is left.
///
/// All searches may take `together`, and others took `spent`. The budget is half of the rest, so
/// that the kernels that are used first have most of it. Too little time is less than it takes to
/// compile and time a few variants.
fn budget(together: Option<Duration>, spent: Duration) -> Option<Duration> {
    let Some(together) = together else { return Some(BUDGET) };
    let share = together.saturating_sub(spent) / 2;
    (share >= LEAST_BUDGET).then_some(share.min(BUDGET))
}

/// The reason why a search has no result, or why the result was not kept.
#[derive(Debug, thiserror::Error)]
pub enum RenewError<E: Error> {
    /// Not even the shipped variant could be timed.
    #[error(transparent)]
    Kernel(E),
    /// The file did not take the result.
    #[error(transparent)]
    File(TuningFileError),
}

/// Searches now, within `budget`, and keeps the result.
///
/// The result replaces an earlier one.
///
/// # Errors
/// If not even the shipped variant can be timed, and if the result cannot be kept in the file.
/// Without a file ([`CacheMode::Off`](crate::CacheMode::Off)) the result lives as long as the
/// device.
pub fn renew<T: Tunable>(
    tunable: &T,
    budget: Duration,
) -> Result<TuningResult<T::Variant>, RenewError<T::Error>> {
    let key = tunable.key();
    let found = run(tunable, &key, budget, LEAST_GAIN).map_err(RenewError::Kernel)?;
    Store::of(tunable.device()).keep(&key, &found).map_err(RenewError::File)?;
    Ok(found)
}

fn run<T: Tunable>(
    tunable: &T,
    key: &Key,
    budget: Duration,
    least_gain: f64,
) -> Result<TuningResult<T::Variant>, T::Error> {
    let device = tunable.device();
    let watch = Progress { start: Instant::now(), kernel: key.to_string(), device };
    // The device's current work belongs to somebody else's time. A failure of that work is somebody
    // else's too.
    let _ = device.finish();
    let mut data = tunable.data()?;
    let found = search(&tunable.shipped(), &tunable.steps(), budget, least_gain, &watch, |variant| {
        let timed = tunable.time(variant, &mut data);
        match &timed {
            Ok(time) => tracing::debug!("{key}: {} in {time:?}", text_of(variant)),
            Err(error) => tracing::debug!("{key}: {} does not run: {error}", text_of(variant)),
        }
        timed
    });
    watch.tell(0, 0, true);
    let found = found?;
    tracing::info!(
        "{}: {key} tuned in {:.1} s: {}, {:.2} times the speed of the shipped variant",
        device.label(),
        watch.elapsed().as_secs_f64(),
        text_of(&found.variant),
        found.gain()
    );
    Ok(found)
}

/// Reporter of a search's progress to the device's observer.
struct Progress<'a> {
    start: Instant,
    kernel: String,
    device: &'a Device,
}

impl Progress<'_> {
    fn tell(&self, done: usize, planned: usize, finished: bool) {
        let progress = SearchProgress { kernel: &self.kernel, done, planned, finished };
        self.device.options().observer.tell(progress);
    }
}

impl Watch for Progress<'_> {
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn tried(&self, done: usize, planned: usize) {
        self.tell(done, planned, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_share_their_time() {
        let milliseconds = Duration::from_millis;
        assert_eq!(budget(None, milliseconds(100_000)), Some(BUDGET));
        assert_eq!(budget(Some(milliseconds(60_000)), milliseconds(0)), Some(BUDGET));
        let (mut spent, mut searches) = (Duration::ZERO, 0);
        while let Some(share) = budget(Some(TIME_ON_FIRST_USE), spent) {
            (spent, searches) = (spent + share, searches + 1);
        }
        assert!(searches >= 3 && spent <= TIME_ON_FIRST_USE, "{searches} searches in {spent:?}");
        assert_eq!(budget(Some(milliseconds(1)), milliseconds(2)), None);
    }
}
