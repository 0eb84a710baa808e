//! `[action]`: the operator.

use super::fat_links::FatLinks;
use super::invalid::Invalid;
use super::method::{Method, Parameters};
use super::one_or_more::OneOrMore;
use crate::compute::Team;
use crate::gauge::{SmearError, smear};
use crate::geometry::{Anisotropy, Boundary, Theta};
use crate::hadron::Source;
use crate::host::GaugeConfiguration;
use crate::operator::{Clover, Coupling, Flavour, Kappa, Mass, SiteTerm, SiteTermKeys};
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The Dirac operator: one or several quark masses, and the other parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(group(clap::ArgGroup::new("coupling").required(true))))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Action {
    /// The hopping parameter: M = 1 − κ H.
    ///
    /// Job files may give a list.
    #[cfg_attr(feature = "cli", arg(long, value_name = "K", group = "coupling"))]
    #[cfg_attr(feature = "cli", arg(value_parser = one_number))]
    #[schemars(with = "OneOrMore<f64>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<OneOrMore<f64>>,
    /// The bare mass instead of κ: M = (4 + m) − H/2.
    ///
    /// Job files may give a list. Solutions are 2κ times those with κ = 1/(8 + 2m).
    #[cfg_attr(feature = "cli", arg(long, value_name = "M", group = "coupling"))]
    #[cfg_attr(feature = "cli", arg(value_parser = one_number))]
    #[schemars(with = "OneOrMore<f64>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<OneOrMore<f64>>,
    /// The keys of the site term, in this table.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub site_term: SiteTermKeys,
    /// Bare anisotropy ξ0. Spatial hops get the weight ν/ξ0.
    ///
    /// The term 4 + m of M becomes 1 + 3ν/ξ0 + m, with m = 1/(2κ) − 4. The clover term of planes in
    /// space is divided by ξ0.
    #[cfg_attr(feature = "cli", arg(long, value_name = "XI0", hide_short_help = true))]
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anisotropy: Option<f64>,
    /// Bare velocity ν, for an anisotropic lattice. Default: 1.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NU", hide_short_help = true))]
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nu: Option<f64>,
    /// Smear the links of the operator: ape:ALPHA,N, stout:RHO,N or hyp:A1,A2,A3,N.
    ///
    /// All directions, unless some follow: stout:0.1,3,xyz. Default: the links of the file. Sources
    /// are smeared with the links of the file.
    #[cfg_attr(feature = "cli", arg(long, value_name = "KIND:...", hide_short_help = true))]
    #[schemars(with = "String")]
    #[serde(with = "crate::io::text::option", skip_serializing_if = "Option::is_none")]
    pub fat_links: Option<FatLinks>,
    /// Boundary condition: antiperiodic (in t), periodic, or four signs for x,y,z,t.
    #[cfg_attr(feature = "cli", arg(long, default_value = "antiperiodic", hide_short_help = true))]
    #[schemars(with = "String")]
    #[serde(serialize_with = "write_boundary", deserialize_with = "read_boundary")]
    pub boundary: Boundary,
    /// Angles of a twisted boundary in x,y,z,t, in units of π: 0.2,0.4,0,0.
    ///
    /// The phase e^{iπθ} multiplies the sign of the boundary, on the links that leave the last slice.
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z,T", hide_short_help = true))]
    #[schemars(with = "String")]
    #[serde(with = "crate::io::text::option", skip_serializing_if = "Option::is_none")]
    pub theta: Option<Theta>,
}

/// Reads the number of an option.
#[cfg(feature = "cli")]
fn one_number(text: &str) -> Result<OneOrMore<f64>, String> {
    let number = lattice_files::number::real(text.as_bytes()).filter(|number| number.is_finite());
    number.map(OneOrMore::One).ok_or_else(|| "a finite number is wanted".to_owned())
}

impl Action {
    /// Returns the Wilson operator with this hopping parameter.
    pub fn kappa(kappa: f64) -> Self {
        Self { kappa: Some(OneOrMore::One(kappa)), ..Self::default() }
    }

    /// Returns the quark masses, checked.
    ///
    /// # Errors
    /// If there is no mass, `kappa` and `mass` are both given, a mass is given twice, or a mass
    /// defines no operator.
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
        let anisotropy = self.anisotropy()?;
        couplings.into_iter().map(|coupling| Ok(coupling.checked_on(anisotropy)?)).collect()
    }

    /// Returns the operators, checked: one for each mass and flavour, flavours fastest.
    ///
    /// # Errors
    /// All errors of [`couplings`](Self::couplings) and [`site_term`](Self::site_term), and an
    /// error for a flavour without a twisted mass.
    pub fn quarks(&self) -> Result<Vec<Quark>, Invalid> {
        let (couplings, up) = (self.couplings()?, self.site_term()?);
        let flavours: Vec<Option<Flavour>> = match (self.site_term.mu, self.site_term.flavour) {
            (None, Some(_)) => return Err(Invalid::FlavourWithoutMu),
            (None, None) => vec![None],
            (Some(_), flavour) => flavour.unwrap_or_default().each().iter().copied().map(Some).collect(),
        };
        let [several_masses, several_flavours] = [couplings.len() > 1, flavours.len() > 1];
        let quark = |coupling: Coupling, flavour: Option<Flavour>| {
            let mass = several_masses.then(|| coupling_label(coupling));
            let name = flavour.filter(|_| several_flavours).map(|flavour| flavour.name().to_owned());
            Quark {
                coupling,
                site_term: if flavour == Some(Flavour::Down) { up.other_flavour() } else { up },
                flavour,
                label: mass.into_iter().chain(name).map(|part| part + ", ").collect(),
                name: None,
                action: self.clone(),
                sources: Vec::new(),
                method: Method::default(),
                own_tolerance: false,
            }
        };
        let of_mass = |&coupling: &Coupling| flavours.iter().map(move |&flavour| (coupling, flavour));
        Ok(couplings.iter().flat_map(of_mass).map(|(coupling, flavour)| quark(coupling, flavour)).collect())
    }

    /// Returns the operator's site term, checked.
    ///
    /// With a twisted mass the result is the site term of the flavour with +μ.
    ///
    /// # Errors
    /// All errors of [`SiteTerm::of_keys`].
    pub fn site_term(&self) -> Result<SiteTerm, Invalid> {
        Ok(SiteTerm::of_keys(&self.site_term)?)
    }

    /// Returns the anisotropy of the lattice, checked.
    ///
    /// # Errors
    /// If ξ0 or ν is not positive and finite.
    pub fn anisotropy(&self) -> Result<Anisotropy, Invalid> {
        Ok(Anisotropy::new(self.anisotropy.unwrap_or(1.0), self.nu.unwrap_or(1.0))?)
    }

    /// Returns the clover term, checked; `None` without one.
    ///
    /// # Errors
    /// All errors of [`SiteTermKeys::clover`] and [`anisotropy`](Self::anisotropy).
    pub fn clover(&self) -> Result<Option<Clover>, Invalid> {
        Ok(self.site_term.clover(self.anisotropy()?.xi0())?)
    }

    /// Checks the smearing of the operator's links.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub(super) fn check_fat_links(&self) -> Result<(), Invalid> {
        self.fat_links.map_or(Ok(()), |FatLinks(params)| params.check()).map_err(Invalid::FatLinks)
    }

    /// Returns the links of the operator.
    ///
    /// They are the links of a configuration, smeared if the action says so.
    ///
    /// # Errors
    /// If links cannot be smeared.
    pub(super) fn links(
        &self,
        configuration: &Arc<GaugeConfiguration>,
    ) -> Result<Arc<GaugeConfiguration>, SmearError> {
        match self.fat_links {
            None => Ok(Arc::clone(configuration)),
            Some(FatLinks(params)) => smear(configuration, &params).map(Arc::new),
        }
    }

    /// Returns the signs and angles of the quarks at the boundary.
    pub fn boundary(&self) -> Boundary {
        self.boundary.twisted(self.theta.unwrap_or_default())
    }

    /// Returns the operator in words, for files that hold its solutions.
    pub fn operator_words(&self) -> String {
        let numbers = [("anisotropy", self.anisotropy), ("nu", self.nu)];
        let numbers = numbers
            .map(|(name, number)| number.map_or_else(String::new, |number| format!(", {name} {number:?}")));
        let fat_links = self.fat_links.map_or_else(String::new, |kind| format!(", fat links {kind}"));
        self.site_term.operator_words() + &numbers.concat() + &fat_links
    }

    /// Returns the equation of a propagator in words, for files that hold its solutions.
    pub fn equation_words(&self, coupling: Coupling, flavour: Option<Flavour>, source: &Source) -> String {
        let flavour = flavour.filter(|_| self.site_term.flavour.is_some());
        let flavour = flavour.map_or_else(String::new, |flavour| format!(", flavour {flavour}"));
        format!(
            "M x = b, {}{flavour}, kappa {:?}, {} form, boundary {}, source {source}",
            self.operator_words(),
            coupling.kappa(),
            self.normalisation(),
            self.boundary()
        )
    }

    /// Returns the normalisation of M for the solutions: `kappa` or `mass`.
    pub fn normalisation(&self) -> &'static str {
        if self.kappa.is_some() { "kappa" } else { "mass" }
    }
}

/// One operator of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Quark {
    /// The quark mass.
    pub coupling: Coupling,
    /// The operator's site term.
    pub site_term: SiteTerm,
    /// Up or down, with a twisted mass.
    pub flavour: Option<Flavour>,
    /// The mark of this operator among the job's operators, and a comma.
    ///
    /// For example `kappa 0.13, up, `.
    pub(super) label: String,
    /// The name that `[[quark]]` gives it.
    pub name: Option<String>,
    /// The action that it is of.
    pub action: Action,
    /// The numbers of the sources to solve for; none yet in [`Action::quarks`].
    pub(super) sources: Vec<usize>,
    /// The method that solves; the default in [`Action::quarks`].
    pub(super) method: Method,
    /// `true` if `[[quark]]` gives a tolerance.
    pub(super) own_tolerance: bool,
}

impl Quark {
    /// Returns the method with all its parameters, on this team.
    ///
    /// An automatic choice with a tolerance of its own leaves out multigrid, whose levels all quarks share.
    pub(super) fn parameters(&self, team: &Team) -> Parameters {
        match self.method.parameters(team) {
            Parameters::Auto(params, _) if self.own_tolerance => Parameters::Auto(params, None),
            parameters => parameters,
        }
    }
}

/// Returns the first element that is equal to an earlier one.
pub(super) fn first_repeated<T: PartialEq>(all: &[T]) -> Option<&T> {
    all.iter().enumerate().find(|(k, one)| all[..*k].contains(one)).map(|(_, one)| one)
}

/// Returns a quark mass as text, as κ or as m like in the job: `kappa 0.13`.
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
    crate::io::text::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_of_the_clover_term_are_finite() {
        let refused = |site_term: SiteTermKeys| {
            let action = Action { site_term, ..Action::kappa(0.12) };
            let [key, other] = [action.clover().map(drop), action.site_term().map(drop)]
                .map(|refused| refused.unwrap_err().key());
            assert_eq!(key, other);
            key
        };
        for csw in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(Some) {
            let key = refused(SiteTermKeys { csw, ..SiteTermKeys::default() });
            assert_eq!(key.as_deref(), Some("action.csw"));
            let planes = SiteTermKeys { clover_r: csw, clover_t: Some(1.0), ..SiteTermKeys::default() };
            assert_eq!(refused(planes).as_deref(), Some("action.clover-r"));
        }
    }
}
