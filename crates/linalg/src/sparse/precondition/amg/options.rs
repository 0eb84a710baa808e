//! Options of multigrid.

use derive_setters::Setters;

/// How often a cycle visits coarser levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycle {
    /// Each level once.
    #[default]
    V,
    /// Two steps of GCR on each coarser level, each with a cycle from there on.
    ///
    /// Source: Y. Notay and P. S. Vassilevski, Numer. Linear Algebra Appl. 15 (2008) 473. The cycle is
    /// no fixed operator: only CG in its flexible form and GCR bear it. The second step is left out
    /// if the first one makes the residual four times smaller.
    K,
}

lattice_files::words! { Cycle, "cycle": V = "v"; K = "k" }

/// Options of [`Amg`](super::Amg).
#[derive(Clone, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct AmgOptions<T> {
    /// Unknowns of a point, which share an aggregate. Default 1.
    pub block: usize,
    /// Vectors that the matrix makes small.
    ///
    /// Each row has the same number of values, row after row. Default `None`: a constant for each
    /// unknown of a point.
    pub near_null_space: Option<Vec<T>>,
    /// Strength θ of a connection that counts on the finest level.
    ///
    /// Points i and j are connected if |aᵢⱼ|² ≥ θ² |aᵢᵢ aⱼⱼ|. It is halved from level to level. Default
    /// `None`: 0.08, and 0 with several unknowns of a point.
    pub strength: Option<f64>,
    /// Degree of the Chebyshev polynomial of the smoother. Default 3.
    ///
    /// The smoother runs before and after each correction.
    pub degree: usize,
    /// The largest eigenvalue over the smallest one that is smoothed.
    ///
    /// Default 20.
    pub ratio: f64,
    /// Rows of a level that is solved directly. Default 500.
    pub coarse_rows: usize,
    /// Rows up to which levels are made on the host. Default 2000.
    ///
    /// Devices that are processors make none.
    pub host_rows: usize,
    /// The cycle. Default V.
    pub cycle: Cycle,
}

impl<T> Default for AmgOptions<T> {
    fn default() -> Self {
        Self {
            block: 1,
            near_null_space: None,
            strength: None,
            degree: 3,
            ratio: 20.0,
            coarse_rows: 500,
            host_rows: 2000,
            cycle: Cycle::V,
        }
    }
}
