//! Exchange-correlation functionals: energies per volume and their derivatives at a point.
//!
//! A [`Functional`] is an exchange and a correlation, each a [`FunctionalComponent`]. Formulas stand
//! here and in `cl/xc_functional.cl`, whose twin this is.

mod correlation;
mod exchange;
mod jet;

use exchange::OfSpin;

/// Below this density a point contributes nothing.
pub const LEAST_DENSITY: f64 = 1e-12;

/// Below this density one spin of a point contributes no exchange.
const LEAST_OF_SPIN: f64 = 1e-20;

/// A functional by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Functional {
    /// Slater's exchange, and the fifth correlation of Vosko, Wilk and Nusair (1980).
    Svwn5,
    /// Slater's exchange, and the correlation of Perdew and Wang (1992) with its published numbers.
    Spw92,
    /// Perdew, Burke and Ernzerhof (1996).
    Pbe,
}

/// An exchange or a correlation alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionalComponent {
    /// Slater's exchange.
    LdaX,
    /// The exchange of Perdew, Burke and Ernzerhof.
    PbeX,
    /// VWN5.
    Vwn5,
    /// PW92 with its published numbers.
    Pw92,
    /// PW92 with more digits.
    Pw92Mod,
    /// The correlation of Perdew, Burke and Ernzerhof.
    PbeC,
}

/// What a functional makes of the densities at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtPoint {
    /// The energy per volume, ρε.
    pub energy: f64,
    /// Its derivatives by ρ↑ and ρ↓.
    pub by_rho: [f64; 2],
    /// Its derivatives by σ↑↑, σ↑↓ and σ↓↓.
    pub by_sigma: [f64; 3],
}

lattice_files::words! { Functional, "functional": Svwn5 = "svwn5"; Spw92 = "spw92"; Pbe = "pbe" }

impl Functional {
    /// Returns exchange and correlation: a row for each functional.
    pub fn components(self) -> [FunctionalComponent; 2] {
        match self {
            Self::Svwn5 => [FunctionalComponent::LdaX, FunctionalComponent::Vwn5],
            Self::Spw92 => [FunctionalComponent::LdaX, FunctionalComponent::Pw92],
            Self::Pbe => [FunctionalComponent::PbeX, FunctionalComponent::PbeC],
        }
    }

    /// Returns `true` if the energy depends on the gradient of the density.
    pub fn needs_gradient(self) -> bool {
        self.components().into_iter().any(FunctionalComponent::needs_gradient)
    }

    /// Returns the planes of functions that an evaluation takes: values, and first derivatives if needed.
    pub(crate) fn planes(self) -> usize {
        if self.needs_gradient() { 4 } else { 1 }
    }

    /// Evaluates the functional at a point, by ρ↑, ρ↓ and σ↑↑, σ↑↓, σ↓↓.
    pub fn at(self, rho: [f64; 2], sigma: [f64; 3]) -> AtPoint {
        let [a, b] = self.components().map(|component| component.at(rho, sigma));
        AtPoint {
            energy: a.energy + b.energy,
            by_rho: std::array::from_fn(|k| a.by_rho[k] + b.by_rho[k]),
            by_sigma: std::array::from_fn(|k| a.by_sigma[k] + b.by_sigma[k]),
        }
    }
}

/// The formula of a component.
enum Formula {
    /// Of one spin's ρ and σ.
    Exchange(fn(f64, f64) -> OfSpin),
    /// Of both spins' densities, each at least this: a spin that is missing has a potential too, as in libxc.
    Correlation(f64, fn(&correlation::Point) -> jet::Jet),
}

impl FunctionalComponent {
    /// Returns the name in `cl/xc_functional.cl`, whether the gradient is needed, and the formula: a row for each component.
    fn row(self) -> (&'static str, bool, Formula) {
        use Formula::{Correlation, Exchange};
        match self {
            Self::LdaX => ("lda_x", false, Exchange(exchange::slater)),
            Self::PbeX => ("pbe_x", true, Exchange(exchange::pbe)),
            Self::Vwn5 => ("vwn5", false, Correlation(1e-15, correlation::vwn5)),
            Self::Pw92 => ("pw92", false, Correlation(1e-15, correlation::pw92)),
            Self::Pw92Mod => ("pw92_mod", false, Correlation(1e-15, correlation::pw92_mod)),
            Self::PbeC => ("pbe_c", true, Correlation(1e-12, correlation::pbe)),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns `true` if the energy depends on the gradient of the density.
    pub fn needs_gradient(self) -> bool {
        self.row().1
    }

    /// Returns the least density of a spin in a correlation.
    pub(crate) fn least_spin(self) -> f64 {
        match self.row().2 {
            Formula::Exchange(_) => 0.0,
            Formula::Correlation(least, _) => least,
        }
    }

    /// Evaluates the component at a point, by ρ↑, ρ↓ and σ↑↑, σ↑↓, σ↓↓.
    ///
    /// All is zero below [`LEAST_DENSITY`].
    pub fn at(self, [up, down]: [f64; 2], sigma: [f64; 3]) -> AtPoint {
        let rho = [up.max(0.0), down.max(0.0)];
        if rho[0] + rho[1] < LEAST_DENSITY {
            return AtPoint::default();
        }
        match self.row().2 {
            Formula::Exchange(formula) => {
                let of = |rho: f64, sigma: f64| {
                    if rho < LEAST_OF_SPIN { OfSpin::default() } else { formula(rho, sigma) }
                };
                let (up, down) = (of(rho[0], sigma[0]), of(rho[1], sigma[2]));
                AtPoint {
                    energy: up.energy + down.energy,
                    by_rho: [up.by_rho, down.by_rho],
                    by_sigma: [up.by_sigma, 0.0, down.by_sigma],
                }
            }
            Formula::Correlation(least, formula) => {
                let total = (sigma[0] + 2.0 * sigma[1] + sigma[2]).max(0.0);
                let energy = formula(&correlation::Point::new(rho.map(|rho| rho.max(least)), total));
                let [by_up, by_down, by_sigma] = energy.by;
                AtPoint {
                    energy: energy.value,
                    by_rho: [by_up, by_down],
                    by_sigma: [by_sigma, 2.0 * by_sigma, by_sigma],
                }
            }
        }
    }
}
