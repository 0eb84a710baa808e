//! Hadrons by the names that a table of masses has.

use super::measurement::{HadronSet, Hadrons};
use super::meson::physical_sign;
use super::momenta::Momentum;
use num_complex::Complex64;

/// The correlators whose mean is a named hadron.
#[derive(Clone, Copy, Debug)]
enum Channel {
    /// Mesons with the same matrix at source and sink, with the sign of ⟨O(x) Ō(0)⟩.
    Mesons(&'static [usize]),
    /// Baryons of a set, by their names and their projector.
    Baryons(HadronSet, &'static [&'static str], &'static str),
}

/// A hadron with a name: `pion`, `rho`, `nucleon` and others.
///
/// Names that end in `-` have the other parity.
#[derive(Clone, Copy, Debug)]
pub struct NamedHadron {
    name: &'static str,
    channel: Channel,
}

const fn mesons(name: &'static str, matrices: &'static [usize]) -> NamedHadron {
    NamedHadron { name, channel: Channel::Mesons(matrices) }
}

const fn nucleon(name: &'static str, projector: &'static str) -> NamedHadron {
    NamedHadron { name, channel: Channel::Baryons(HadronSet::Octet, &["nucleon_Cg5"], projector) }
}

const fn delta(name: &'static str, projector: &'static str) -> NamedHadron {
    let directions = &["delta_Cgx", "delta_Cgy", "delta_Cgz"];
    NamedHadron { name, channel: Channel::Baryons(HadronSet::Decuplet, directions, projector) }
}

/// All named hadrons, the most common first in their kind.
pub const NAMED_HADRONS: &[NamedHadron] = &[
    mesons("pion", &[15]),
    mesons("pion_4", &[7]),
    mesons("rho", &[1, 2, 4]),
    mesons("rho_4", &[9, 10, 12]),
    mesons("a0", &[0]),
    mesons("a1", &[11, 13, 14]),
    mesons("b1", &[3, 5, 6]),
    nucleon("nucleon", "+"),
    nucleon("proton", "+"),
    nucleon("nucleon-", "-"),
    delta("delta", "+"),
    delta("delta-", "-"),
];

impl NamedHadron {
    /// Returns the hadron of a name.
    pub fn find(name: &str) -> Option<Self> {
        NAMED_HADRONS.iter().find(|hadron| hadron.name == name).copied()
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the set that a measurement needs for it.
    pub fn set(self) -> HadronSet {
        match self.channel {
            Channel::Mesons(_) => HadronSet::Mesons,
            Channel::Baryons(set, ..) => set,
        }
    }

    /// Returns the correlator C(0), C(1), … of a momentum, without values if it was not measured.
    pub fn correlator(self, hadrons: &Hadrons, momentum: Momentum) -> Vec<Complex64> {
        let mut members: Vec<(f64, &[[f64; 2]])> = Vec::new();
        match self.channel {
            Channel::Mesons(matrices) => {
                let is_one = |source, sink| source == sink && matrices.contains(&source);
                let mesons =
                    hadrons.mesons.iter().filter(|m| m.momentum == momentum && is_one(m.source, m.sink));
                members.extend(mesons.map(|m| (physical_sign(m.source), &m.values[..])));
            }
            Channel::Baryons(_, names, projector) => {
                let baryons = hadrons.baryons.iter().filter(|baryon| {
                    baryon.momentum == momentum
                        && baryon.projector == projector
                        && names.contains(&baryon.name.as_str())
                });
                members.extend(baryons.map(|baryon| (1.0, &baryon.values[..])));
            }
        }
        let count = members.len() as f64;
        let distances = members.iter().map(|(_, values)| values.len()).min().unwrap_or(0);
        let number = |[re, im]: [f64; 2]| Complex64::new(re, im);
        let mean =
            |t: usize| members.iter().map(|(sign, values)| number(values[t]) * *sign).sum::<Complex64>();
        (0..distances).map(|t| mean(t) / count).collect()
    }
}
