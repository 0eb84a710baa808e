//! All correlators of hadrons that are made of one or two quarks.

use super::baryon::{BaryonCorrelator, BaryonForm};
use super::current::CurrentCorrelator;
use super::meson::MesonCorrelator;
use super::momenta::Momenta;
use super::on_device::{baryons_on, conserved_vector_on, local_axial_on, mesons_on};
use super::quark::QuarkPropagator;
use super::three_point::ThreePointCorrelator;
use crate::compute::{DeviceError, Team};
use crate::geometry::NDIM;
use crate::host::LinkField;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A set of hadrons that is measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HadronSet {
    /// All pairs of sixteen matrices at source and sink.
    Mesons,
    /// Nucleon; with two quarks Σ, Ξ and Λ.
    Octet,
    /// Δ, which is Ω of a strange quark; with two quarks Σ* and Ξ*.
    Decuplet,
    /// Conserved vector current and local axial current.
    Currents,
}

lattice_files::words! {
    HadronSet, "set of hadrons":
    Mesons = "mesons"; Octet = "octet"; Decuplet = "decuplet"; Currents = "currents"
}

/// Sets of hadrons, as text `mesons,octet`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HadronSets(pub Vec<HadronSet>);

impl FromStr for HadronSets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sets: Result<_, String> = text.split(',').map(|word| word.trim().parse()).collect();
        sets.map(Self).map_err(|error| format!("{error}, or several with commas between them"))
    }
}

impl fmt::Display for HadronSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|set| set.name()).collect();
        f.write_str(&names.join(","))
    }
}

/// The correlators of hadrons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hadrons {
    /// Mesons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mesons: Vec<MesonCorrelator>,
    /// Baryons of octet and decuplet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baryons: Vec<BaryonCorrelator>,
    /// Currents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub currents: Vec<CurrentCorrelator>,
    /// Three-point functions of a sequential source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub three_points: Vec<ThreePointCorrelator>,
}

/// The observables of a measurement, and its origin.
///
/// Hadrons beyond the boundary in t have the phases of their quarks: baryons of antiperiodic quarks
/// a minus sign, as in Chroma.
#[derive(Clone, Debug)]
pub struct HadronMeasurement {
    /// The team whose devices contract hadrons, a time slice each; without devices the host does.
    pub team: Team,
    /// The sets.
    pub sets: Vec<HadronSet>,
    /// The momenta.
    pub momenta: Momenta,
    /// The site of the source.
    pub origin: [usize; NDIM],
}

impl HadronMeasurement {
    fn has(&self, set: HadronSet) -> bool {
        self.sets.contains(&set)
    }

    /// Tells whether links are wanted, for the conserved current.
    pub fn wants_links(&self) -> bool {
        self.has(HadronSet::Currents)
    }

    fn baryons(
        &self,
        name: &str,
        form: BaryonForm,
        quarks: &[&QuarkPropagator],
    ) -> Result<Vec<BaryonCorrelator>, DeviceError> {
        baryons_on(&self.team, name, form, &form.operators(), quarks, self.origin, &self.momenta)
    }

    /// Measures the hadrons of one quark.
    ///
    /// The conserved current needs links with the phases of the boundary.
    ///
    /// # Errors
    /// When a device fails.
    ///
    /// # Panics
    /// If links and propagator are of different lattices.
    pub fn of_one(
        &self,
        quark: &QuarkPropagator,
        links: Option<&LinkField<f64>>,
    ) -> Result<Hadrons, DeviceError> {
        let mut hadrons = Hadrons::default();
        if self.has(HadronSet::Mesons) {
            hadrons.mesons = mesons_on(&self.team, quark, quark, self.origin, &self.momenta)?;
        }
        if self.has(HadronSet::Octet) {
            hadrons.baryons = self.baryons("nucleon", BaryonForm::Octet, &[quark, quark])?;
        }
        if self.has(HadronSet::Decuplet) {
            hadrons.baryons.extend(self.baryons("delta", BaryonForm::Decuplet, &[quark, quark])?);
        }
        if self.has(HadronSet::Currents) {
            if let Some(links) = links {
                hadrons.currents = conserved_vector_on(&self.team, quark, links, self.origin)?;
            }
            hadrons.currents.push(local_axial_on(&self.team, quark, quark, self.origin)?);
        }
        Ok(hadrons)
    }

    /// Measures the mesons of a quark and an antiquark of another flavour.
    ///
    /// # Errors
    /// When a device fails.
    ///
    /// # Panics
    /// If the propagators are of different lattices.
    pub fn mesons_of_two(
        &self,
        quark: &QuarkPropagator,
        antiquark: &QuarkPropagator,
    ) -> Result<Hadrons, DeviceError> {
        let mut hadrons = Hadrons::default();
        if self.has(HadronSet::Mesons) {
            hadrons.mesons = mesons_on(&self.team, quark, antiquark, self.origin, &self.momenta)?;
        }
        if self.has(HadronSet::Currents) {
            hadrons.currents = vec![local_axial_on(&self.team, quark, antiquark, self.origin)?];
        }
        Ok(hadrons)
    }

    /// Measures the hadrons of a heavier and a lighter quark.
    ///
    /// In mesons the heavier one is the quark, the lighter one the antiquark. Σ has one heavier
    /// quark, Ξ two.
    ///
    /// # Errors
    /// When a device fails.
    ///
    /// # Panics
    /// If the propagators are of different lattices.
    pub fn of_two(
        &self,
        heavier: &QuarkPropagator,
        lighter: &QuarkPropagator,
    ) -> Result<Hadrons, DeviceError> {
        let mut hadrons = self.mesons_of_two(heavier, lighter)?;
        let (one_heavy, two_heavy) = ([heavier, lighter], [lighter, heavier]);
        let of_octet = [
            ("sigma", BaryonForm::Octet, one_heavy),
            ("xi", BaryonForm::Octet, two_heavy),
            ("lambda_octet", BaryonForm::LambdaOctet, one_heavy),
        ];
        let of_decuplet =
            [("sigma_star", BaryonForm::Decuplet, one_heavy), ("xi_star", BaryonForm::Decuplet, two_heavy)];
        for (set, rows) in [(HadronSet::Octet, &of_octet[..]), (HadronSet::Decuplet, &of_decuplet)] {
            for &(name, form, quarks) in rows.iter().filter(|_| self.has(set)) {
                hadrons.baryons.extend(self.baryons(name, form, &quarks)?);
            }
        }
        Ok(hadrons)
    }

    /// Measures Λ with three different quarks, the last one strange.
    ///
    /// There are that of the octet, and the naive operator (q₁ Γ q₂) q₃.
    ///
    /// # Errors
    /// When a device fails.
    ///
    /// # Panics
    /// If the propagators are of different lattices.
    pub fn of_three(&self, quarks: [&QuarkPropagator; 3]) -> Result<Hadrons, DeviceError> {
        let mut hadrons = Hadrons::default();
        if self.has(HadronSet::Octet) {
            for form in [BaryonForm::Lambda, BaryonForm::LambdaNaive] {
                hadrons.baryons.extend(self.baryons(form.name(), form, &quarks)?);
            }
        }
        Ok(hadrons)
    }
}
