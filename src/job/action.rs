//! `[action]`: the operator.

use super::invalid::Invalid;
use super::one_or_more::OneOrMore;
use crate::geometry::{Boundary, Theta};
use crate::operator::{Coupling, Kappa, Mass, SiteTerm};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The Dirac operator: the quark mass, or a list of them, and what else it has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Action {
    /// The hopping parameter, M = 1 − κ H, or a list: the job is done for one after the other.
    #[schemars(with = "OneOrMore<f64>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<OneOrMore<f64>>,
    /// The bare mass instead, M = (4 + m) − H/2, or a list.
    #[schemars(with = "OneOrMore<f64>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<OneOrMore<f64>>,
    /// Twisted mass: M + 2iκμγ5, or M + iμγ5 with mass.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Clover term: M + κ c_sw T, or M + ½ c_sw T with mass; T of the field strength of the same links.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csw: Option<f64>,
    /// The fermions' boundary condition: antiperiodic (in t), periodic, or a sign for each of x,y,z,t.
    #[schemars(with = "String")]
    #[serde(serialize_with = "write_boundary", deserialize_with = "read_boundary")]
    pub boundary: Boundary,
    /// Angles of a twisted boundary condition for x,y,z,t in units of π, besides boundary: 0.2,0.4,0,0.
    #[schemars(with = "String")]
    #[serde(with = "super::text::option", skip_serializing_if = "Option::is_none")]
    pub theta: Option<Theta>,
}

impl Action {
    /// The Wilson operator with this hopping parameter.
    pub fn kappa(kappa: f64) -> Self {
        Self { kappa: Some(OneOrMore::One(kappa)), ..Self::default() }
    }

    /// The quark masses, checked.
    ///
    /// # Errors
    /// When there is none, both forms are given, or one defines no operator.
    pub fn couplings(&self) -> Result<Vec<Coupling>, Invalid> {
        let couplings: Vec<Coupling> = match (&self.kappa, &self.mass) {
            (Some(_), Some(_)) => return Err(Invalid::BothMasses),
            (Some(all), None) => all.as_slice().iter().map(|&kappa| Kappa(kappa).into()).collect(),
            (None, Some(all)) => all.as_slice().iter().map(|&mass| Mass(mass).into()).collect(),
            (None, None) => Vec::new(),
        };
        if couplings.is_empty() {
            return Err(Invalid::NoMass);
        }
        if let Some(&twice) = first_repeated(&couplings) {
            return Err(Invalid::MassTwice(coupling_label(twice)));
        }
        couplings.into_iter().map(|coupling| Ok(coupling.checked()?)).collect()
    }

    /// What the operator does within a site, checked.
    ///
    /// # Errors
    /// When a parameter is not finite.
    pub fn site_term(&self) -> Result<SiteTerm, Invalid> {
        let site_term = match (self.csw, self.mu) {
            (Some(csw), mu) => SiteTerm::Clover { csw, mu: mu.unwrap_or(0.0) },
            (None, Some(mu)) => SiteTerm::Twisted { mu },
            (None, None) => SiteTerm::Scalar,
        };
        Ok(site_term.checked()?)
    }

    /// What the quarks do at the boundary: signs and angles.
    pub fn boundary(&self) -> Boundary {
        self.boundary.twisted(self.theta.unwrap_or_default())
    }

    /// The operator in words, for files that hold its solutions.
    pub fn operator_words(&self) -> String {
        match (self.csw, self.mu) {
            (None, None) => "Wilson operator".to_owned(),
            (None, Some(mu)) => format!("twisted-mass operator, mu {mu:?}"),
            (Some(csw), None) => format!("clover operator, c_sw {csw:?}"),
            (Some(csw), Some(mu)) => format!("twisted-clover operator, c_sw {csw:?}, mu {mu:?}"),
        }
    }

    /// Which normalisation of M the solutions have: `kappa` or `mass`.
    pub fn normalisation(&self) -> &'static str {
        if self.kappa.is_some() { "kappa" } else { "mass" }
    }
}

/// The first that was there before.
pub(super) fn first_repeated<T: PartialEq>(all: &[T]) -> Option<&T> {
    all.iter().enumerate().find(|(k, one)| all[..*k].contains(one)).map(|(_, one)| one)
}

/// A quark mass as it was given: `kappa 0.13`.
pub(super) fn coupling_label(coupling: Coupling) -> String {
    match coupling {
        Coupling::Kappa(Kappa(kappa)) => format!("kappa {kappa:?}"),
        Coupling::Mass(Mass(mass)) => format!("mass {mass:?}"),
    }
}

fn write_boundary<S: Serializer>(boundary: &Boundary, serializer: S) -> Result<S::Ok, S::Error> {
    let named = [("antiperiodic", Boundary::antiperiodic_t()), ("periodic", Boundary::periodic())];
    match named.iter().find(|(_, of_name)| of_name == boundary) {
        Some((name, _)) => serializer.serialize_str(name),
        None => serializer.collect_str(boundary),
    }
}

fn read_boundary<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Boundary, D::Error> {
    super::text::deserialize(deserializer)
}
