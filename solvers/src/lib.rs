//! Krylov solvers.
