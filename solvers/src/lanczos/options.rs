//! Options of a search for modes.

use derive_setters::Setters;

/// The end of the spectrum at which modes are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SpectrumEnd {
    /// The lowest eigenvalues.
    #[default]
    Lowest,
    /// The largest eigenvalues, by sign and not by modulus.
    Largest,
}

/// Options of [`thick_restart_lanczos`](super::thick_restart_lanczos).
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct LanczosOptions {
    /// The number of modes.
    pub count: usize,
    /// The end of the spectrum. Default [`SpectrumEnd::Lowest`].
    pub end: SpectrumEnd,
    /// Wanted ‖A v − λ v‖ over the largest known |λ|. Default 1e-10.
    pub tolerance: f64,
    /// Most vectors of the Krylov space. Default 2 `count` + 24.
    ///
    /// Modes that are found do not count.
    pub subspace: usize,
    /// Vectors that a Krylov space starts from. Default 1.
    ///
    /// A space finds as many modes of one eigenvalue at once. Others of the same eigenvalue are
    /// found later, from new random vectors. With [`Columns`](super::Columns) the operator is
    /// applied to as many vectors at once.
    pub block: usize,
    /// Highest degree of the Chebyshev polynomial; 0 iterates A itself. Default 0.
    ///
    /// The degree is used as the next multiple of four, and is lower while modes are so far apart
    /// that they need no more. The polynomial needs no bounds: a first Krylov space gives the end of
    /// the spectrum, and one end of the unwanted part. The other end follows the Ritz values.
    pub degree: usize,
    /// Most applications of A. Default 1 000 000.
    pub max_applications: usize,
}

impl LanczosOptions {
    /// Returns the defaults for this number of modes.
    pub fn new(count: usize) -> Self {
        Self {
            count,
            end: SpectrumEnd::default(),
            tolerance: 1e-10,
            subspace: 2 * count + 24,
            block: 1,
            degree: 0,
            max_applications: 1_000_000,
        }
    }

    /// Returns a parameter that makes no sense, with its value and the allowed ones.
    pub(super) fn wrong(&self) -> Option<(&'static str, f64, &'static str)> {
        let least = self.count + 2 * self.block + 2;
        if self.count == 0 {
            return Some(("count", 0.0, "1 or more"));
        }
        if self.block == 0 {
            return Some(("block", 0.0, "1 or more"));
        }
        if self.subspace < least {
            return Some(("subspace", self.subspace as f64, "count + 2 block + 2 or more"));
        }
        let tolerance = self.tolerance > 0.0 && self.tolerance < 1.0;
        (!tolerance).then_some(("tolerance", self.tolerance, "more than 0 and less than 1"))
    }
}

impl SpectrumEnd {
    /// Tells whether one eigenvalue is nearer to the wanted end than another.
    pub(super) fn is_better(self, value: f64, than: f64) -> bool {
        match self {
            Self::Lowest => value < than,
            Self::Largest => value > than,
        }
    }

    /// Returns the value moved towards the wanted end.
    pub(super) fn moved(self, value: f64, by: f64) -> f64 {
        match self {
            Self::Lowest => value - by,
            Self::Largest => value + by,
        }
    }
}
