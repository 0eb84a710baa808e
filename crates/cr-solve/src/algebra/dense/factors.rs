//! The factors of a dense matrix that solve a system.

use lattice_cl::linalg::factor::Wide;
use lattice_cl::linalg::split::factor::Divisible;

/// The factors that solve a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    Cholesky,
    Lu,
    Qr,
}

lattice_files::words! { Factors, "factorisation": Cholesky = "cholesky"; Lu = "lu"; Qr = "qr" }

/// Elements of double precision that all factorisations take.
pub trait Number: Wide + Divisible {}

impl<T: Wide + Divisible> Number for T {}
