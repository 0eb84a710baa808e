//! Pair forces from formulas and tables, through images or buffers, and the motion they make.
//!
//! Å, kcal/mol, g/mol, fs, or reduced units ([`Units`]). Boxes are rectangular and repeat in all
//! directions. Particles have no charges and no bonds.
//!
//! [`Forces`] is where to begin, or [`Motion`]: a [`System`], a [`Potential`] and [`Options`] make them. The kernels
//! are in `cl/`, and `host.rs` is their twin. Sums have a fixed order: the same bits on every run
//! on one device.
//!
//! | file | what is there |
//! |---|---|
//! | `formula`, `table`, `spline` | potentials in closed form, and as samples |
//! | `potential` | the potential of each pair of types, and its shift at the cutoff |
//! | `host`, `device` | forces, twice |
//! | `motion`, `state` | velocity Verlet, and what it needs to go on |
//! | `velocities` | velocities of a temperature |
//! | `files` | extended XYZ, Amber's prmtop and inpcrd, LAMMPS's tables |

mod device;
mod elements;
mod error;
mod evaluation;
mod files;
mod forces;
mod formula;
mod host;
mod motion;
mod options;
mod potential;
mod spline;
mod state;
mod system;
mod table;
mod units;
mod velocities;

pub use error::{MdError, MdResult};
pub use evaluation::{Evaluation, Lists, Sums};
pub use files::{
    AmberFiles, Conventions, Curve, FileError, FileProblem, TableFile, read_amber, read_xyz, read_xyz_by,
    xyz_frame,
};
pub use forces::{Forces, tune_pairs};
pub use formula::{Coefficients, Formula, Mixing};
pub use motion::{Frame, Motion};
pub use options::{BelowRange, Fetch, List, Options, PairTuning, Precision};
pub use potential::{Potential, Shift};
pub use state::MotionState;
pub use system::System;
pub use table::{Grid, Interpolation, Mode, Spacing, Table};
pub use units::Units;

/// The examples of the book's page, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/md.md")]
struct PageExamples;

// One program tests the crate from within and from outside.
#[cfg(test)]
extern crate self as lattice_md;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod from_outside;
