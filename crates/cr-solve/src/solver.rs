//! The methods of `--solver`.

use clap::builder::PossibleValue;
use lattice_cl::operator::System;
use lattice_cl::solve::SolveMethod;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::LazyLock;

/// The methods: the library's, and those that are more than one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// BiCGStab, and CG where it gives up or costs more.
    Auto,
    /// One that solves for one source.
    One(SolveMethod),
    /// Block Conjugate Gradient, for all twelve sources of spectrum at once.
    BlockCg,
}

impl Solver {
    /// Its name, as options and results have it.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::One(method) => method.name(),
            Solver::BlockCg => "block-cg",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Solver::Auto => {
                "BiCGStab, and CG where it gives up or costs more; even-odd and in mixed precision unless told otherwise"
            }
            Solver::One(method) => method.summary(),
            Solver::BlockCg => "Block Conjugate Gradient on M†M: all twelve sources of spectrum at once",
        }
    }

    /// The system that it iterates, if it can do no other.
    pub fn only_system(self) -> Option<System> {
        match self {
            Solver::Auto => None,
            Solver::One(method) => method.only_system(),
            Solver::BlockCg => Some(System::Normal),
        }
    }
}

impl clap::ValueEnum for Solver {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Solver>> = LazyLock::new(|| {
            let named = SolveMethod::ALL.iter().copied().map(Solver::One);
            [Solver::Auto].into_iter().chain(named).chain([Solver::BlockCg]).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.summary()))
    }
}

impl Serialize for Solver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
