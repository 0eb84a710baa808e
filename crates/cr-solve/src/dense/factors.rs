//! The factors of a dense matrix that solve a system.

use lattice_cl::blas::factor::Wide;
use lattice_cl::blas::split::factor::Divisible;
use std::str::FromStr;

/// The factors that solve a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    Cholesky,
    Lu,
    Qr,
}

impl Factors {
    pub fn name(self) -> &'static str {
        match self {
            Self::Cholesky => "cholesky",
            Self::Lu => "lu",
            Self::Qr => "qr",
        }
    }
}

impl FromStr for Factors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Cholesky, Self::Lu, Self::Qr]
            .into_iter()
            .find(|factors| factors.name() == text)
            .ok_or_else(|| format!("`{text}` names no factors; choose cholesky, lu or qr"))
    }
}

/// Elements of double precision that all factorisations take.
pub trait Number: Wide + Divisible {}

impl<T: Wide + Divisible> Number for T {}
