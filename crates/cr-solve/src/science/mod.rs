//! Commands for potentials, particles and exchange-correlation energies.

pub mod md;
pub mod poisson;
pub mod xc;
