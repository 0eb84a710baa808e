//! Eigenvectors of Dirac operators, and deflation by them.
//!
//! [`DiracModes`] are the lowest modes of M†M or of γ5M, found by thick-restart Lanczos
//! ([`lattice_solvers::thick_restart_lanczos`]). With even-odd preconditioning M stands for the
//! Schur complement. The modes make a first guess for solves of M x = b, from which the slow part
//! of the solution is right from the beginning.
//!
//! Source: A. Stathopoulos and K. Orginos, SIAM J. Sci. Comput. 32 (2010) 439.
//!
//! | file | content |
//! |---|---|
//! | `params` | parameters of a search |
//! | `error` | the reasons why there are no modes |
//! | `field` | the fields that modes are |
//! | `columns` | an operator on several fields at once |
//! | `search` | the search |
//! | `deflation` | first guesses, and solves from them |
//! | `file` | modes in a file |

mod columns;
mod deflation;
mod error;
mod field;
mod file;
mod params;
mod search;

pub use error::ModesError;
pub use file::ModesFileError;
pub use params::ModesParams;
pub use search::DiracModes;
