//! Fused updates: several vector operations in one pass over memory.
//!
//! Each update is written as a formula.
//!
//! ```
//! use lattice_solvers::{update::FusedUpdate, vec::VecSpace};
//!
//! // One factor, one vector that is only read, two that are written, one sum.
//! const STEP: FusedUpdate<1, 1, 2, 1> = FusedUpdate::new("step", "x = x + a p; p = q - a p; (p, p)");
//!
//! let space = VecSpace::<f64>::new(2);
//! let (mut x, mut p, q) = (vec![1.0, 2.0], vec![1.0, 1.0], vec![5.0, 6.0]);
//! let [norm2] = STEP.apply(&space, [&2.0.into()], [&q], [&mut x, &mut p])?;
//! assert_eq!((x, p, norm2.re), (vec![3.0, 4.0], vec![3.0, 4.0], 25.0));
//! # Ok::<(), std::convert::Infallible>(())
//! ```

mod formula;
mod fused;
mod kernel;
mod list;
mod parser;

pub use formula::{Assignment, Formula, Operand, Term};
pub use fused::FusedUpdate;
pub use kernel::{KernelParameter, KernelWords, kernel_parameters};
pub use list::*;
pub use parser::FormulaError;
