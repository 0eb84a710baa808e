//! OpenCL linear algebra and lattice-QCD solvers.
//!
//! They run on any device, on several devices, and without one.
//!
//! ```
//! use lattice_cl::compute::{Selector, Team};
//! use lattice_cl::solve::{CrParams, cr};
//! use lattice_cl::operator::{Kappa, Dirac};
//! use lattice_cl::geometry::{Boundary, Dims};
//! use lattice_cl::host::random;
//! use lattice_cl::geometry::Lattice;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let team = Team::select(Selector::Auto)?; // the best OpenCL device, else the host
//! let config = random::weak(Dims::new([4, 4, 4, 8])?, 0.2, 1); // or io::read_gauge("conf.lime")?
//! let lattice = Lattice::new(&team, config.dims())?;
//! let links = lattice.gauge::<f64>(&config, Boundary::antiperiodic_t())?;
//! let wilson = Dirac::wilson(&links, Kappa(0.11))?;
//! let source = lattice.point_source::<f64>([0, 0, 0, 0], 0, 0)?; // site, spin, colour
//! let (x, info) = cr(&wilson, &source, &CrParams::default().with_tol(1e-10))?;
//! assert!(info.residual.true_residual <= 1e-10);
//! println!("{} iterations; x(0) = {:?}", info.iterations, x.to_host()?[0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`compute`] | OpenCL behind safe types: which devices there are, teams of them, buffers, programs, kernels |
//! | [`linalg`] | vector operations on device buffers, products of matrices |
//! | [`geometry`] | extents, boundary conditions, the lattice on the devices of a team |
//! | [`field`] | gauge and spinor fields on a lattice |
//! | [`gauge`] | operations on links: heat bath, smearing, gradient flow, energy, charge, Wilson loops |
//! | [`operator`] | Dirac operators and their Schur complements |
//! | [`solve`] | solving with Dirac operators, by the methods of [`lattice_solvers`] |
//! | [`multigrid`] | an adaptive multigrid method: levels of an operator, and solving with them |
//! | [`modes`] | the lowest modes of an operator, and deflation by them |
//! | [`hadron`] | sources, propagators, correlators |
//! | [`job`] | jobs as structures: lists of masses, sources, observables |
//! | [`io`] | files of gauge configurations and propagators: read, verify, write |
//! | [`host`] | plain lattice data, and the readable twin of every kernel |
//! | [`tuning`] | the fastest variant of a kernel on a device: found by trying, kept in a file |
//! | [`scalar`] | the number types |
//!
//! # Conventions
//!
//! * Directions are x, y, z, t. Extents are given in this order, each even and at least 2. Sites
//!   are numbered with x fastest.
//! * γ matrices are in the DeGrand-Rossi basis ([`host::gamma`]), with γ5 = diag(1, 1, −1, −1).
//!   Devices keep spinors in another basis, which nobody sees.
//! * κ normalisation: M = 1 − κ H. Mass normalisation: M = (4 + m) − ½ H, with m = 1/(2κ) − 4. H is the hopping term
//!   of [`operator::Dirac`].
//! * The boundary's phases are applied to links on the devices. Checksums and plaquettes belong to
//!   the file's links.
//! * Tolerances are ‖b − M x‖ / ‖b‖. The reported residual was recomputed from this definition in
//!   double.
//! * Reductions accumulate in double, in a fixed order.

pub mod field;
pub mod gauge;
pub mod geometry;
pub mod hadron;
pub mod host;
pub mod io;
pub mod job;
pub mod modes;
pub mod multigrid;
pub mod operator;
pub mod solve;

#[doc(inline)]
pub use lattice_compute as compute;
#[doc(hidden)]
pub use lattice_compute::sync;
#[doc(inline)]
pub use lattice_compute::{philox, scalar, tuning};
#[doc(inline)]
pub use lattice_linalg as linalg;
#[doc(inline)]
pub use lattice_solvers as solvers;

pub use geometry::Dims;
pub use host::GaugeConfiguration;
pub use scalar::{Element, Half, Precision, Real, Storage, StoragePrecision};

/// The examples of the README, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// The examples of the book's page, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/several-nodes.md")]
struct SeveralNodesExamples;

/// The examples of the book's page, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/sparse.md")]
struct SparseExamples;
