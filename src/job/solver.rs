//! The methods that a job can name.

use crate::io::text::words;
use crate::operator::System;
use crate::solve::SolveMethod;
use lattice_files::words::sentence;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The methods that a job can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// BiCGStab, or CG if BiCGStab gives up or costs more.
    #[default]
    Auto,
    /// A method that solves for one source.
    One(SolveMethod),
    /// Block conjugate gradient for all twelve columns of a propagator at once.
    BlockCg,
    /// GCR, preconditioned by a multigrid cycle with one set-up for all sources.
    Multigrid,
}

impl Solver {
    /// Returns all methods.
    pub fn all() -> impl Iterator<Item = Self> {
        let named = SolveMethod::ALL.iter().copied().map(Self::One);
        [Self::Auto].into_iter().chain(named).chain([Self::BlockCg, Self::Multigrid])
    }

    /// Returns the method's name in jobs and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::One(method) => method.name(),
            Self::BlockCg => "block-cg",
            Self::Multigrid => "multigrid",
        }
    }

    /// Returns a summary of the method in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Auto => {
                "BiCGStab, and CG where it gives up or costs more; even-odd and in mixed precision unless told otherwise"
            }
            Self::One(method) => method.summary(),
            Self::BlockCg => "Block Conjugate Gradient on M†M: all twelve sources of spectrum at once",
            Self::Multigrid => {
                "GCR on M, preconditioned by adaptive multigrid: for light quarks and several sources"
            }
        }
    }

    /// Returns the only system that the method iterates; `None` if there are several.
    pub fn only_system(self) -> Option<System> {
        match self {
            Self::Auto => None,
            Self::One(method) => method.only_system(),
            Self::BlockCg => Some(System::Normal),
            Self::Multigrid => Some(System::Direct),
        }
    }
}

impl FromStr for Solver {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all().find(|solver| solver.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("`{text}` is no method; choose {}", sentence(&names, "or"))
        })
    }
}

impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Solver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl JsonSchema for Solver {
    fn schema_name() -> Cow<'static, str> {
        "Solver".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        words(Self::all())
    }
}
