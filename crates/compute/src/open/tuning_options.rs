//! The options that choose a device's kernel variants.
//!
//! [`tuning`](crate::tuning) does the rest.

use crate::select::DeviceKind;
use std::fmt;
use std::sync::Arc;

/// The choice of a kernel's variant if none is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TuningMode {
    /// The variant that the library ships.
    Shipped,
    /// The fastest variant of an earlier search, or else the shipped variant.
    ///
    /// The earlier search has kept its result.
    #[default]
    Cached,
    /// Chooses like [`Cached`](Self::Cached), and searches on first use on a GPU.
    ///
    /// On a processor compiling the variants takes longer than most of them gain.
    SearchOnGpus,
    /// Chooses like [`Cached`](Self::Cached), and searches on first use.
    Search,
}

impl TuningMode {
    /// Returns `true` if a device of this kind searches on first use.
    pub fn searches(self, kind: DeviceKind) -> bool {
        match self {
            TuningMode::Shipped | TuningMode::Cached => false,
            TuningMode::SearchOnGpus => kind == DeviceKind::Gpu,
            TuningMode::Search => true,
        }
    }
}

/// The progress of the search for a kernel's fastest variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchProgress<'a> {
    /// The kernel, with its options and extents, as text.
    pub kernel: &'a str,
    /// Number of variants that are done.
    pub done: usize,
    /// Number of variants that there are.
    pub planned: usize,
    /// `true` if the search has ended, perhaps before all variants are done.
    pub finished: bool,
}

/// The observer of a search in progress; nobody by default.
///
/// Clones tell the same observer.
#[derive(Clone, Default)]
pub struct SearchObserver(Option<Arc<Observe>>);

type Observe = dyn Fn(SearchProgress<'_>) + Send + Sync;

impl SearchObserver {
    /// Makes an observer that calls `observe`.
    ///
    /// The calls come before the first variant, after each variant, and when the search ends.
    pub fn new(observe: impl Fn(SearchProgress<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }

    /// Tells the observer.
    pub fn tell(&self, progress: SearchProgress<'_>) {
        if let Some(observe) = &self.0 {
            observe(progress);
        }
    }
}

impl PartialEq for SearchObserver {
    /// Returns `true` for clones of one observer.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }
}

impl Eq for SearchObserver {}

impl fmt::Debug for SearchObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "SearchObserver(_)" } else { "SearchObserver(none)" })
    }
}
