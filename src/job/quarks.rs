//! `[[quark]]`: several quarks of one job.

use super::action::Action;
use super::invalid::Invalid;
use super::one_or_more::OneOrMore;
use super::solver::Solver;
use crate::io::text;
use crate::operator::{Flavour, SiteTermKeys};
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[quark]]`: one of several quarks.
///
/// Keys that are left out are those of `[action]` and `[solver]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct QuarkEntry {
    /// Name of the quark, in results and in `[[hadron]]`.
    pub label: String,
    /// The hopping parameter.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// The bare mass instead.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Clover coefficient.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csw: Option<f64>,
    /// Twisted mass.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Flavour with a twisted mass: up (+μ) or down (−μ).
    #[schemars(with = "Flavour")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flavour: Option<Flavour>,
    /// Labels of the sources to solve for. Default: all.
    #[schemars(with = "OneOrMore<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<OneOrMore<String>>,
    /// The method.
    #[schemars(with = "Solver")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub solver: Option<Solver>,
    /// Wanted ‖b − M x‖ / ‖b‖. Not for the method multigrid, whose levels all quarks share.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tol: Option<f64>,
}

impl QuarkEntry {
    /// Returns the action of this quark alone.
    pub fn action(&self, common: &Action) -> Action {
        Action {
            kappa: self.kappa.map(OneOrMore::One),
            mass: self.mass.map(OneOrMore::One),
            site_term: SiteTermKeys {
                csw: self.csw.or(common.site_term.csw),
                mu: self.mu.or(common.site_term.mu),
                flavour: self.flavour,
                ..common.site_term
            },
            ..common.clone()
        }
    }
}

/// Returns the numbers of some names among all of a kind, or of all if none are given.
///
/// # Errors
/// If a name is not there.
pub(super) fn numbers_of(
    wanted: Option<&OneOrMore<String>>,
    all: &[String],
    key: &str,
    what: &'static str,
) -> Result<Vec<usize>, Invalid> {
    let Some(wanted) = wanted else { return Ok((0..all.len()).collect()) };
    let number = |name: &String| {
        all.iter().position(|other| other == name).ok_or_else(|| Invalid::NoSuch {
            key: key.to_owned(),
            name: name.as_str().into(),
            what,
            names: all.join(", ").into(),
        })
    };
    wanted.as_slice().iter().map(number).collect()
}
