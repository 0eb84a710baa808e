//! Options of a solve.

use crate::sparse::format::Format;
use crate::sparse::precondition::{AmgOptions, Substitution};
use derive_setters::Setters;
use lattice_solvers::{Accepts, Look, Stopping};
use std::fmt;
use std::str::FromStr;

/// The method that solves A x = b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Conjugate Gradient, for positive definite matrices.
    Cg,
    /// MINRES, for Hermitian matrices, with a positive definite preconditioner or none.
    ///
    /// `jacobi` takes the sizes of the diagonal.
    Minres,
    /// Conjugate Residual, for Hermitian matrices, without a preconditioner.
    Cr,
    /// BiCGStab.
    Bicgstab,
    /// Generalised Conjugate Residual with restarts, which has the residuals of GMRES.
    Gcr,
    /// Conjugate Gradient on the normal equations, without a preconditioner.
    Cgne,
}

lattice_files::words! {
    Method, "method":
    Cg = "cg"; Minres = "minres"; Cr = "cr"; Bicgstab = "bicgstab"; Gcr = "gcr"; Cgne = "cgne"
}

impl Method {
    /// Returns the row with this word in the table of `lattice-solvers`.
    pub(super) fn krylov(self) -> lattice_solvers::Method {
        let row = lattice_solvers::Method::ALL.iter().find(|row| row.name() == self.name());
        *row.expect("every word is one of the table")
    }

    /// Tells whether the matrix must be Hermitian.
    pub fn needs_hermitian(self) -> bool {
        self.krylov().needs().hermitian()
    }

    /// Tells whether the method takes a preconditioner.
    pub fn takes_preconditioner(self) -> bool {
        self.krylov().accepts() != Accepts::None
    }

    /// Tells whether the preconditioner must be Hermitian.
    pub fn needs_hermitian_preconditioner(self) -> bool {
        self.krylov().accepts().only_hermitian()
    }

    /// Tells whether the preconditioner may change from one iteration to the next.
    pub fn bears_changes(self) -> bool {
        self.krylov().accepts().changing()
    }
}

/// A kind of preconditioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// None.
    None,
    /// The inverse of the diagonal.
    Jacobi,
    /// Inverses of blocks of so many rows.
    ///
    /// `None` takes the blocks that the matrix consists of.
    BlockJacobi(Option<usize>),
    /// Incomplete LU factorisation without fill.
    Ilu0(Substitution),
    /// Incomplete Cholesky factorisation without fill.
    Ic0(Substitution),
    /// Algebraic multigrid.
    Amg,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Jacobi => f.write_str("jacobi"),
            Self::BlockJacobi(None) => f.write_str("block-jacobi"),
            Self::BlockJacobi(Some(size)) => write!(f, "block-jacobi:{size}"),
            Self::Ilu0(Substitution::Levels) => f.write_str("ilu0"),
            Self::Ilu0(Substitution::Sweeps(count)) => write!(f, "ilu0:{count}"),
            Self::Ic0(Substitution::Levels) => f.write_str("ic0"),
            Self::Ic0(Substitution::Sweeps(count)) => write!(f, "ic0:{count}"),
            Self::Amg => f.write_str("amg"),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MOST: usize = 64;
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name, Some(number.parse().unwrap_or(0))),
            None => (text, None),
        };
        let substitution = || number.map_or(Substitution::Levels, Substitution::Sweeps);
        match (name, number) {
            ("none", None) => Ok(Self::None),
            ("jacobi", None) => Ok(Self::Jacobi),
            ("amg", None) => Ok(Self::Amg),
            ("block-jacobi" | "ilu0" | "ic0", Some(number)) if !(1..=MOST).contains(&number) => {
                Err(format!("`{text}`: a number from 1 to {MOST} must follow `{name}:`"))
            }
            ("block-jacobi", _) => Ok(Self::BlockJacobi(number)),
            ("ilu0", _) => Ok(Self::Ilu0(substitution())),
            ("ic0", _) => Ok(Self::Ic0(substitution())),
            _ => Err(format!(
                "`{text}` is no preconditioner; choose auto, none, jacobi, block-jacobi[:SIZE], ilu0[:SWEEPS], ic0[:SWEEPS] or amg"
            )),
        }
    }
}

/// Options of [`solve`](super::solve()).
#[derive(Clone, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct SolveOptions<T> {
    /// The method; `None` lets the matrix decide.
    pub method: Option<Method>,
    /// The preconditioner; `None` lets matrix and method decide.
    pub preconditioner: Option<Kind>,
    /// The preconditioner is that of the permuted and scaled matrix. Default `false`.
    ///
    /// Large entries come to its diagonal: [`Matched`](crate::sparse::precondition::Matched). For the
    /// methods BiCGStab and GCR.
    pub matching: bool,
    /// The form of the matrix in memory; `None` for that of the fewest bytes.
    pub format: Option<Format>,
    /// Values of the matrix are rounded to single precision in the iteration. Default `false`.
    ///
    /// Vectors and sums stay in double. The solution is refined with the whole values.
    pub single_values: bool,
    /// When to stop.
    pub stopping: Stopping,
    /// Directions that [`Method::Gcr`] keeps. Default 30.
    pub restart: usize,
    /// Options of multigrid.
    ///
    /// With one unknown of a point and no near-null vectors, the unknowns of a point are found from
    /// the matrix.
    pub amg: AmgOptions<T>,
}

impl<T> Default for SolveOptions<T> {
    fn default() -> Self {
        Self {
            method: None,
            preconditioner: None,
            matching: false,
            format: None,
            single_values: false,
            stopping: Stopping::default(),
            restart: 30,
            amg: AmgOptions::default(),
        }
    }
}

/// A function that watches a solve.
///
/// Every look at the residual calls it with the method. `false` ends the solve.
pub type Watch<'a> = &'a mut (dyn FnMut(Method, &Look) -> bool + 'a);
