//! Which variant of a kernel a device runs, as far as its options say; [`tuning`](crate::tuning) does the rest.

use crate::select::DeviceKind;
use std::fmt;
use std::sync::Arc;

/// Which variant of a kernel is used where none is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TuningMode {
    /// The one that the library ships.
    Shipped,
    /// The one that an earlier search found fastest and kept; without one, the shipped one.
    #[default]
    Cached,
    /// As [`Cached`](Self::Cached), and on a GPU a search on first use. On a processor compiling the variants takes longer
    /// than most of them bring.
    SearchOnGpus,
    /// As [`Cached`](Self::Cached), and a search on first use.
    Search,
}

impl TuningMode {
    /// Whether a device of this kind searches on first use.
    pub fn searches(self, kind: DeviceKind) -> bool {
        match self {
            TuningMode::Shipped | TuningMode::Cached => false,
            TuningMode::SearchOnGpus => kind == DeviceKind::Gpu,
            TuningMode::Search => true,
        }
    }
}

/// How far the search for a kernel's fastest variant has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchProgress<'a> {
    /// The kernel, with its options and extents, as text.
    pub kernel: &'a str,
    /// Variants that are done.
    pub done: usize,
    /// Variants that there are.
    pub planned: usize,
    /// Whether the search has ended, which it may before all variants are done.
    pub finished: bool,
}

/// Who is told of a search under way; nobody by default. Clones tell the same.
#[derive(Clone, Default)]
pub struct SearchObserver(Option<Arc<Observe>>);

type Observe = dyn Fn(SearchProgress<'_>) + Send + Sync;

impl SearchObserver {
    /// An observer that calls `observe` before the first variant, after each, and when the search ends.
    pub fn new(observe: impl Fn(SearchProgress<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }

    /// Tells it.
    pub fn tell(&self, progress: SearchProgress<'_>) {
        if let Some(observe) = &self.0 {
            observe(progress);
        }
    }
}

impl PartialEq for SearchObserver {
    /// True for clones of one observer.
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
