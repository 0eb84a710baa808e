//! Sequential sources: quarks that go on from a hadron's sink, for three-point functions.
//!
//! A hadron's contraction at its sink is linear in one of its quarks: C = Σ_x e^{ip·(x−x₀)} tr\[G(x)
//! S(x)\], with x on the time slice of the sink. G follows from the other quarks. The source of the
//! sequential propagator is e^{−ip·(x−x₀)} γ5 G†(x) γ5, and its operator is that of the quark's other
//! flavour. The solution Σ then is an antiquark that comes from the sink: γ5 Σ†(y) γ5 = Σ_x
//! e^{ip·(x−x₀)} G(x) S(x, y).

use super::baryon::{BaryonForm, BaryonOperator, NamedOperator};
use super::momenta::{Momenta, Momentum, Phases};
use super::propagator::Column;
use super::quark::{QuarkPropagator, SitePropagator, phase_of_hadron};
use super::spin::gamma;
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host::Spinor;
use num_complex::Complex64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::array::from_fn;
use std::fmt;
use std::str::FromStr;

/// The hadron at the sink of a three-point function.
#[derive(Clone, Debug, PartialEq)]
pub enum SinkHadron {
    /// A meson with Γ of this number at the sink; any Γ at the source. Text `pion` or `meson_N`.
    Meson(usize),
    /// A baryon with this operator. Text `nucleon_Cg5+`: form, ending and parity of results.
    Baryon {
        /// The contraction.
        form: BaryonForm,
        /// T and Γ.
        operator: Box<NamedOperator>,
    },
}

/// A hadron's sink, and the quark that a current couples to between source and sink.
///
/// Text `HADRON,T`, then `,p=NX/NY/NZ` and `,quark=K`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequential {
    /// The hadron.
    pub hadron: SinkHadron,
    /// The time slices from the source to the sink.
    pub distance: usize,
    /// n of the momentum p = 2πn/L at the sink.
    pub momentum: Momentum,
    /// The number of the quark among those of the hadron, from 0.
    pub quark: usize,
}

/// The source of a sequential propagator, which lies on one time slice.
#[derive(Clone, Debug)]
pub struct SinkField {
    dims: Dims,
    slice: usize,
    /// The sites of the slice, in lexicographic order.
    sites: Vec<SitePropagator>,
}

/// The operator at the source of a three-point function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SourceOperator {
    /// The number of Γ at the source of a meson.
    Meson(usize),
    /// The operator of a baryon with its parity: `nucleon_Cg5+`.
    Baryon(String),
}

impl SinkHadron {
    /// Returns how many quarks the hadron has: quark and antiquark, or those of the contraction.
    pub fn quarks(&self) -> usize {
        match self {
            Self::Meson(_) => 2,
            Self::Baryon { form, .. } => form.quarks(),
        }
    }

    /// Returns how many matrices at the source are free: Γ(0) to Γ(15) of mesons, Γ(0) of baryons.
    pub fn sources(&self) -> usize {
        match self {
            Self::Meson(_) => 16,
            Self::Baryon { .. } => 1,
        }
    }

    /// Returns the operator at the source with the matrix of this number there.
    pub(super) fn source(&self, number: usize) -> SourceOperator {
        match self {
            Self::Meson(_) => SourceOperator::Meson(number),
            Self::Baryon { .. } => SourceOperator::Baryon(self.to_string()),
        }
    }

    /// Returns the phase of the hadron at a distance from its source.
    fn phase(&self, quarks: &[&QuarkPropagator], origin: [usize; NDIM], distance: usize) -> Complex64 {
        match self {
            Self::Meson(_) => phase_of_hadron(&quarks[..1], Some(quarks[1]), origin[NDIM - 1], distance),
            Self::Baryon { form, .. } => form.phase(quarks, origin, distance),
        }
    }

    /// Returns γ5 G† γ5 at a site.
    fn antiquark(&self, quarks: &[&SitePropagator], quark: usize) -> SitePropagator {
        let sign = |component: usize| if component < 6 { 1.0 } else { -1.0 };
        match self {
            // G = γ5 S₂† γ5 Γ.
            Self::Meson(n) => {
                let s = quarks[1];
                let mut product = [[Complex64::default(); 12]; 12];
                for (from, (to, phase)) in gamma(*n).into_iter().enumerate() {
                    // Γ† has the conjugate of an entry in the other place.
                    for (colour, column) in (0..36).map(|k| (k / 12, k % 12)) {
                        let (row, behind) = (3 * to + colour, 3 * from + colour);
                        let entry = phase.times(s[behind][column].conj()).conj();
                        product[row][column] = entry * (sign(row) * sign(behind));
                    }
                }
                product
            }
            Self::Baryon { form, operator } => {
                let operator = BaryonOperator { form: *form, projector: operator.t, matrix: operator.matrix };
                let g = operator.derivative(quarks, quark);
                from_fn(|row| from_fn(|column| g[column][row].conj() * (sign(row) * sign(column))))
            }
        }
    }
}

impl Sequential {
    /// Returns the time slice of the sink, for a source at this site.
    pub fn slice(&self, dims: Dims, origin: [usize; NDIM]) -> usize {
        (origin[NDIM - 1] + self.distance) % dims[NDIM - 1]
    }

    /// Returns the source of the sequential propagator.
    ///
    /// `quarks` are those of the hadron, with their sinks smeared if the hadron's is. The field then
    /// has to be smeared as well. A hadron beyond the boundary in t has the phase that its correlator has.
    ///
    /// # Panics
    /// If there are fewer quarks than [`SinkHadron::quarks`], if they are of different lattices, or
    /// if the quark of the current is none of them.
    pub fn field(&self, quarks: &[&QuarkPropagator], origin: [usize; NDIM]) -> SinkField {
        let dims = quarks[0].dims();
        assert!(quarks.iter().all(|quark| quark.dims() == dims), "propagators of one lattice");
        assert!(self.quark < self.hadron.quarks(), "a quark of the hadron");
        let of_hadron = self.hadron.phase(quarks, origin, self.distance);
        let momenta = Momenta::each([self.momentum]);
        let phases = Phases::new(dims, origin, &momenta);
        let (slice, in_slice) = (self.slice(dims, origin), dims.volume() / dims[NDIM - 1]);
        let of_site = |site: usize| {
            let of: Vec<&SitePropagator> = quarks.iter().map(|quark| &quark.sites()[site]).collect();
            let phase = (phases.at_site(0, site) * of_hadron).conj();
            self.hadron.antiquark(&of, self.quark).map(|row| row.map(|z| phase * z))
        };
        let sites = (slice * in_slice..(slice + 1) * in_slice).into_par_iter().map(of_site).collect();
        SinkField { dims, slice, sites }
    }
}

impl SinkField {
    /// Returns the spinors of a column on all sites, in lexicographic order.
    pub fn spinors(&self, column: Column) -> Vec<Spinor<f64>> {
        let number = 3 * column.spin + column.colour;
        let mut all = vec![Spinor::default(); self.dims.volume()];
        let of_slice = &mut all[self.slice * self.sites.len()..][..self.sites.len()];
        for (psi, site) in of_slice.iter_mut().zip(&self.sites) {
            *psi = Spinor::from_fn(|spin, colour| site[3 * spin + colour][number]);
        }
        all
    }
}

impl FromStr for SinkHadron {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "pion" {
            return Ok(Self::Meson(15));
        }
        if let Some(number) = text.strip_prefix("meson_") {
            let number = number.parse().ok().filter(|&number| number < 16);
            return number.map(Self::Meson).ok_or_else(|| format!("`{text}`: matrices are 0 to 15"));
        }
        for form in BaryonForm::ALL {
            let Some(ending) = text.strip_prefix(form.name()).and_then(|text| text.strip_prefix('_')) else {
                continue;
            };
            let operators = form.operators();
            let name = |operator: &NamedOperator| format!("{}{}", operator.name, operator.projector);
            if let Some(operator) = operators.iter().find(|&operator| name(operator) == ending) {
                return Ok(Self::Baryon { form, operator: Box::new(operator.clone()) });
            }
            let names: Vec<String> = operators.iter().map(name).collect();
            return Err(format!("`{text}` is no baryon; after {}_ choose {}", form.name(), names.join(", ")));
        }
        let forms = BaryonForm::ALL.map(|form| format!("{}_…", form.name())).join(", ");
        Err(format!("`{text}` is no hadron; choose pion, meson_0 to meson_15, {forms}"))
    }
}

impl fmt::Display for SinkHadron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Meson(15) => f.write_str("pion"),
            Self::Meson(n) => write!(f, "meson_{n}"),
            Self::Baryon { form, operator } => {
                write!(f, "{}_{}{}", form.name(), operator.name, operator.projector)
            }
        }
    }
}

impl FromStr for Sequential {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}`: write HADRON,T, then ,p=NX/NY/NZ and ,quark=K if wanted");
        let mut words = text.split(',').map(str::trim);
        let hadron: SinkHadron = words.next().unwrap_or_default().parse()?;
        let distance = words.next().and_then(|word| word.parse().ok()).ok_or_else(wrong)?;
        let mut sink = Self { hadron, distance, momentum: [0; 3], quark: 0 };
        for word in words {
            match word.split_once('=').ok_or_else(wrong)? {
                ("p", momentum) => {
                    let numbers: Result<Vec<i32>, _> = momentum.split('/').map(str::parse).collect();
                    sink.momentum =
                        numbers.ok().and_then(|numbers| numbers.try_into().ok()).ok_or_else(wrong)?;
                }
                ("quark", number) => {
                    // The antiquark of a meson is the quark of the meson with both exchanged.
                    let most = match sink.hadron {
                        SinkHadron::Meson(_) => 1,
                        SinkHadron::Baryon { form, .. } => form.quarks(),
                    };
                    let number: usize = number.parse().map_err(|_| wrong())?;
                    if !(1..=most).contains(&number) {
                        return Err(format!("`{text}`: quark of {} goes from 1 to {most}", sink.hadron));
                    }
                    sink.quark = number - 1;
                }
                _ => return Err(wrong()),
            }
        }
        Ok(sink)
    }
}

impl fmt::Display for Sequential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.hadron, self.distance)?;
        if self.momentum != [0; 3] {
            let [x, y, z] = self.momentum;
            write!(f, ",p={x}/{y}/{z}")?;
        }
        if self.quark == 0 { Ok(()) } else { write!(f, ",quark={}", self.quark + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sinks_are_read_as_they_are_written() {
        for text in [
            "pion,4",
            "meson_7,3,p=1/0/-1",
            "nucleon_Cg5+,5,quark=2",
            "lambda_naive_Cg5NR_up-,2,p=0/1/0,quark=3",
            "delta_CgmNR_upup+,1",
        ] {
            assert_eq!(text.parse::<Sequential>().unwrap().to_string(), text);
        }
        for (text, wanted) in [
            ("kaon,4", "meson_15"),
            ("meson_16,4", "0 to 15"),
            ("nucleon_Cg6+,4", "Cg5+"),
            ("pion", "HADRON,T"),
            ("pion,4,p=1/0", "HADRON,T"),
            ("pion,4,quark=2", "from 1 to 1"),
            ("nucleon_Cg5-,4,quark=0", "from 1 to 2"),
            ("pion,4,t=2", "HADRON,T"),
        ] {
            let error = text.parse::<Sequential>().unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
