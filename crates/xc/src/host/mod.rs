//! The readable twin of all kernels, in double: it is also what the host computes.

mod evaluate;
pub(crate) mod functions;

pub(crate) use evaluate::{Sums, at_point, evaluate, gradient};
