//! Tests of the methods from outside, a module for each.

mod dense;

mod bicgstab_l;
mod block_conjugate_gradient;
mod cgne;
mod gcr;
mod lanczos;
mod methods;
mod minimal_residual;
mod minres;
mod multi_shift;
mod multigrid;
mod preconditioned_cg;
mod preconditioned_minres;
mod replaced;
mod sources;
mod states;
mod table;
mod vectors;
