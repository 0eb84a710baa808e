//! The choice between multigrid and other methods.

use crate::multigrid::ExpectedWork;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// The expectations by which an automatic choice went on by multigrid, or did not.
///
/// Work is in applications of the Schur complement in single precision, by the memory that it moves.
/// Numbers of iterations and counted memory decide, never times. So equal jobs choose alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MultigridChoice {
    /// Solves that are left: for this mass, and for later ones that are not heavier.
    pub solves_left: usize,
    /// Work of the solve before, by the methods that solved it.
    pub krylov_solve: f64,
    /// Work that a solve by multigrid is expected to take.
    pub multigrid_solve: f64,
    /// Work of what has to be set up: vectors, and coarse operators for each mass.
    pub multigrid_set_up: f64,
    /// `true` if multigrid solves.
    pub multigrid: bool,
}

/// The state of the levels of a multigrid method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetUp {
    /// Nothing.
    Missing,
    /// The vectors, for another operator.
    ForAnother,
    /// All of it, here or in a file.
    Ready,
}

/// Largest ratio of the work by multigrid to the work without it.
///
/// The rest is a margin for wrong expectations.
const WORTH_IT: f64 = 0.8;

impl MultigridChoice {
    /// Weighs methods, after a solve that moved `krylov_bytes`.
    ///
    /// `masses_after` masses come later and have solves among those that are left.
    pub(super) fn new(
        expected: &ExpectedWork,
        krylov_bytes: u64,
        solves_left: usize,
        masses_after: usize,
        set_up: SetUp,
    ) -> Self {
        let first = match set_up {
            SetUp::Missing => expected.set_up,
            SetUp::ForAnother => expected.coarse_operators,
            SetUp::Ready => 0.0,
        };
        let set_up = first + masses_after as f64 * expected.coarse_operators;
        let krylov_solve = krylov_bytes as f64 / expected.bytes.max(1) as f64;
        let left = solves_left as f64;
        Self {
            solves_left,
            krylov_solve,
            multigrid_solve: expected.solve,
            multigrid_set_up: set_up,
            multigrid: set_up + left * expected.solve < WORTH_IT * left * krylov_solve,
        }
    }
}

impl fmt::Display for MultigridChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { solves_left, krylov_solve, multigrid_solve, multigrid_set_up, multigrid } = self;
        let solves = if *solves_left == 1 { "solve" } else { "solves" };
        write!(
            f,
            "{solves_left} {solves} left: {krylov_solve:.0} hops each so far, by multigrid {multigrid_solve:.0} hops each"
        )?;
        if *multigrid_set_up > 0.0 {
            write!(f, " and {multigrid_set_up:.0} for a set-up")?;
        }
        write!(f, "; going on {} multigrid", if *multigrid { "by" } else { "without" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_quarks_and_many_sources_are_for_multigrid() {
        let expected = ExpectedWork { solve: 500.0, set_up: 5000.0, coarse_operators: 1500.0, bytes: 100 };
        let choose = |krylov: u64, left, masses, set_up| {
            MultigridChoice::new(&expected, 100 * krylov, left, masses, set_up).multigrid
        };
        // A solve of 1500 hops saves 1000: five of them pay for a set-up, with some room for error more.
        assert!(!choose(1500, 6, 0, SetUp::Missing));
        assert!(choose(1500, 11, 0, SetUp::Missing));
        assert!(choose(1500, 3, 0, SetUp::ForAnother));
        assert!(!choose(1500, 2, 0, SetUp::ForAnother));
        assert!(choose(1500, 1, 0, SetUp::Ready));
        // Heavy quarks never are.
        assert!(!choose(500, 1000, 0, SetUp::Ready));
        assert!(!choose(600, 1000, 0, SetUp::Ready));
        // Other masses bring solves, and want coarse operators.
        assert!(choose(1500, 11 + 12, 1, SetUp::Missing));
        assert!(!choose(1500, 11 + 1, 3, SetUp::Missing));
        // None is left.
        assert!(!choose(1500, 0, 0, SetUp::Ready));
    }

    #[test]
    fn the_expectation_is_told() {
        let expected = ExpectedWork { solve: 500.4, set_up: 5000.0, coarse_operators: 1500.0, bytes: 100 };
        let told = MultigridChoice::new(&expected, 150_000, 11, 0, SetUp::Missing).to_string();
        let words = "11 solves left: 1500 hops each so far, by multigrid 500 hops each and 5000 for a set-up; going on by multigrid";
        assert_eq!(told, words);
        let told = MultigridChoice::new(&expected, 1000, 1, 0, SetUp::Ready).to_string();
        assert!(told.ends_with("500 hops each; going on without multigrid"), "{told}");
    }
}
