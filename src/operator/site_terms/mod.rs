//! Site terms: the part of a Dirac operator within a site, besides the mass.
//!
//! This file has the table of terms and their keys. A file each says the rest of a parameter.
//!
//! | file | what it has |
//! |---|---|
//! | `twisted`, `clover` | a parameter each: its matrix, kernel text, formula, words, entries of results |
//! | `parameter` | what such a file says, and what is usual |
//! | `behaviour` | what follows from the table: factors, checks, the term that keys give |
//! | `results` | a term in JSON and in tables |

#[macro_use]
mod macros;

mod behaviour;
mod clover;
mod error;
mod flavour;
mod parameter;
mod results;
mod twisted;

pub(crate) use behaviour::spin_term;
pub use clover::Clover;
pub use error::SiteTermError;
pub use flavour::Flavour;
pub use results::SiteTermResult;

use clover::Csw;
use derive_setters::Setters;
use parameter::{GivenNumbers, Parameter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use twisted::Mu;

site_terms! {
    /// A twisted mass: + 2iκμγ5 for κ, + iμγ5 for a mass.
    ///
    /// Source: R. Frezzotti, P. A. Grassi, S. Sint and P. Weisz, JHEP 08 (2001) 058.
    ///
    /// This is the flavour with τ₃ = +1. The other flavour has −μ. M† of one flavour is γ5 M γ5 of
    /// the other flavour.
    Twisted {
        /// μ, in lattice units.
        mu: Mu,
    }
    = "twisted-mass", examples: { mu: -0.4 };
    /// A clover term: + κ c_sw T for κ, + ½ c_sw T for a mass.
    ///
    /// A twisted mass may be added to the clover term.
    ///
    /// Source: B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572.
    ///
    /// T = −Σ_{μ<ν} γ_μ γ_ν F_μν, with the [field strength](crate::host::FieldStrength) of the
    /// links of [`GaugeField::with_clover`](crate::field::GaugeField::with_clover).
    Clover {
        /// The coefficient of Sheikholeslami and Wohlert; 1 at tree level.
        csw: Csw,
        /// μ, in lattice units; 0 for a clover term alone.
        mu: Mu,
    }
    = "clover" | "twisted-clover", examples: { csw: 0.5, mu: 0.0 }, { csw: 0.5, mu: 0.3 };
}

/// The keys of `[action]` that give a site term.
///
/// Each is an option of the program and a keyword of Python's `Dirac`. The doc comment is its help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct SiteTermKeys {
    /// Twisted mass: M + 2iκμγ5, or M + iμγ5 with mass.
    ///
    /// This is the flavour up, with τ₃ = +1. The flavour down has the opposite sign.
    #[cfg_attr(feature = "cli", arg(long, value_name = "MU"))]
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Flavour with a twisted mass: up (+μ), down (−μ) or both, one after the other.
    #[cfg_attr(feature = "cli", arg(long, alias = "flavor", value_name = "up|down|both", requires = "mu"))]
    #[cfg_attr(feature = "cli", arg(hide_short_help = true))]
    #[schemars(with = "Flavour")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flavour: Option<Flavour>,
    /// Clover term: M + κ c_sw T, or M + ½ c_sw T with mass.
    ///
    /// T is made of the operator's links: those of fat-links, if it is given.
    #[cfg_attr(feature = "cli", arg(long, value_name = "CSW"))]
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csw: Option<f64>,
    /// Clover coefficient of spatial planes, before division by ξ0. Replaces csw.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "C_R", requires = "clover_t", conflicts_with = "csw")
    )]
    #[cfg_attr(feature = "cli", arg(hide_short_help = true))]
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clover_r: Option<f64>,
    /// Clover coefficient of planes with time. Replaces csw.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "C_T", requires = "clover_r", conflicts_with = "csw")
    )]
    #[cfg_attr(feature = "cli", arg(hide_short_help = true))]
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clover_t: Option<f64>,
}

impl SiteTermKeys {
    /// Returns the numbers that are given, by the names of their fields.
    fn numbers(&self) -> GivenNumbers {
        let Self { mu, flavour: _, csw, clover_r, clover_t } = *self;
        GivenNumbers::of([("mu", mu), ("csw", csw), ("clover_r", clover_r), ("clover_t", clover_t)])
    }
}
