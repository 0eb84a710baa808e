//! What follows from the table of site terms.

use super::clover::{Clover, Csw};
use super::error::{SiteTermError, expect_finite};
use super::parameter::{Parameter, ParameterMatrix, SpinTerm};
use super::twisted::Mu;
use super::{SiteTerm, SiteTermKeys};
use crate::geometry::Anisotropy;
use crate::host::gamma::{SpinMatrix, gamma5_sign};
use crate::host::{SiteFactor, SiteMatrix, StencilFactors};
use crate::operator::coupling::{Coupling, Kappa};

/// Returns the parameters of all terms, each once.
pub(super) fn parameters() -> Vec<&'static dyn Parameter> {
    let mut all: Vec<&'static dyn Parameter> = Vec::new();
    for (parameter, _) in SiteTerm::ALL.iter().flat_map(|term| term.values()) {
        if all.iter().all(|known| known.key() != parameter.key()) {
            all.push(parameter);
        }
    }
    all
}

/// Returns the spin matrix of a site factor with the text of its kernels.
///
/// # Panics
/// When no site term has the matrix.
pub(crate) fn spin_term(gamma: &SpinMatrix) -> SpinTerm {
    let spin = |parameter: &dyn Parameter| match parameter.matrix() {
        ParameterMatrix::Spin(term) if term.gamma == *gamma => Some(term),
        _ => None,
    };
    parameters().into_iter().find_map(spin).expect("the spin matrix of a site term")
}

impl SiteTerm {
    /// Returns the site term that keys give, checked.
    ///
    /// With a twisted mass it is that of the flavour with +μ.
    ///
    /// # Errors
    /// When keys exclude or need each other, no operator has all of them, or a parameter is not
    /// finite.
    pub fn of_keys(keys: &SiteTermKeys) -> Result<Self, SiteTermError> {
        let (numbers, mut given) = (keys.numbers(), Vec::new());
        for parameter in parameters() {
            given.extend(parameter.given(&numbers)?.map(|value| (parameter.key(), value)));
        }
        let value =
            |key: &str| given.iter().find(|(known, _)| *known == key).map_or(0.0, |(_, value)| *value);
        match Self::first_with(given.iter().map(|(key, _)| *key)) {
            Some(term) => term.map(|parameter, _| value(parameter.key())).checked(),
            None => Err(SiteTermError::NotTogether { keys: given.into_iter().map(|(key, _)| key).collect() }),
        }
    }

    /// Returns the first term that has parameters of all these keys.
    fn first_with(keys: impl Iterator<Item = &'static str> + Clone) -> Option<Self> {
        let has = |term: &Self, key: &str| term.values().iter().any(|(parameter, _)| parameter.key() == key);
        Self::ALL.iter().copied().find(|term| keys.clone().all(|key| has(term, key)))
    }

    /// Returns the keys of all parameters.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        parameters().into_iter().map(|parameter| parameter.key())
    }

    /// Returns the keys of all parameters with what these add to M, for help.
    pub fn formulas() -> impl Iterator<Item = (&'static str, &'static str)> {
        parameters().into_iter().map(|parameter| (parameter.key(), parameter.formula()))
    }

    /// Checks that the operator exists.
    ///
    /// # Errors
    /// When a parameter is not finite.
    pub fn checked(self) -> Result<Self, SiteTermError> {
        for (parameter, value) in self.values() {
            expect_finite([parameter.key(), parameter.symbol(), parameter.meaning()], value)?;
        }
        Ok(self)
    }

    /// Returns the site term of γ5 M† γ5, which is that of the other flavour: with −μ.
    ///
    /// It is the same term if M is γ5-hermitian.
    #[must_use]
    pub fn other_flavour(self) -> Self {
        self.map(|parameter, value| match parameter.matrix() {
            ParameterMatrix::Spin(SpinTerm { gamma, .. }) => value * gamma5_sign(&gamma),
            ParameterMatrix::Clover => value,
        })
    }

    /// Returns the value of a parameter by its key, or zero if the term has none of this key.
    pub fn value(self, key: &str) -> f64 {
        let values = self.values();
        values.iter().find(|(parameter, _)| parameter.key() == key).map_or(0.0, |(_, value)| *value)
    }

    /// Returns the twisted mass μ, or zero if there is none.
    pub fn mu(self) -> f64 {
        self.value(Mu.key())
    }

    /// Returns the coefficient of the clover term, or zero if there is none.
    pub fn csw(self) -> f64 {
        self.value(Csw.key())
    }

    /// Returns the spin matrices Γ of the term with their parameters a.
    ///
    /// They add 2κ Σ a Γ to M in κ normalisation, and Σ a Γ in mass normalisation.
    pub fn spin_matrices(self) -> impl Iterator<Item = (f64, SpinMatrix)> {
        self.values().into_iter().filter_map(|(parameter, value)| match parameter.matrix() {
            ParameterMatrix::Spin(term) => Some((value, term.gamma)),
            ParameterMatrix::Clover => None,
        })
    }

    /// Returns the factors of M with this κ or mass, on an isotropic lattice.
    pub fn factors(self, coupling: impl Into<Coupling>) -> StencilFactors {
        self.factors_on(Anisotropy::default(), coupling)
    }

    /// Returns the factors of M with this κ or mass, on a lattice with this anisotropy.
    pub fn factors_on(self, anisotropy: Anisotropy, coupling: impl Into<Coupling>) -> StencilFactors {
        let (shift, coefficient) = coupling.into().coefficients(anisotropy);
        let mut factors = StencilFactors::new(shift, coefficient);
        let shift = &mut factors.shift;
        // What vanishes has no kernel of its own, and no twist is 0, not −0.
        for (parameter, value) in self.values().into_iter().filter(|(_, value)| *value != 0.0) {
            match parameter.matrix() {
                // −2 times the coefficient of the hopping term is 2κ or 1.
                ParameterMatrix::Spin(SpinTerm { gamma, .. }) => {
                    assert!(shift.twist == 0.0, "a site term with two spin matrices");
                    *shift = SiteFactor { twist: -2.0 * coefficient * value, gamma, ..*shift };
                }
                ParameterMatrix::Clover => shift.matrix = SiteMatrix::Clover { factor: -coefficient * value },
            }
        }
        factors
    }

    /// Tells whether γ5 M is Hermitian.
    pub fn is_gamma5_hermitian(self) -> bool {
        self.typical_factors().is_gamma5_hermitian()
    }

    /// Returns factors whose kernels serve all factors with this site term.
    pub(crate) fn typical_factors(self) -> StencilFactors {
        self.factors(Kappa(0.1))
    }
}

impl SiteTermKeys {
    /// Returns the clover term that is given, checked; `None` without one.
    ///
    /// Weights of planes in space are divided by ξ0.
    ///
    /// # Errors
    /// * If `csw` and `clover_r`, `clover_t` are given together.
    /// * If only one of `clover_r` and `clover_t` is given.
    /// * If a coefficient is not finite.
    pub fn clover(&self, xi0: f64) -> Result<Option<Clover>, SiteTermError> {
        Clover::of(&self.numbers(), xi0)
    }

    /// Returns the operator in words, for files that hold its solutions.
    pub fn operator_words(&self) -> String {
        let numbers = self.numbers();
        let is_given = |parameter: &dyn Parameter| matches!(parameter.given(&numbers), Ok(Some(_)));
        let given: Vec<_> = parameters().into_iter().filter(|parameter| is_given(*parameter)).collect();
        let term = SiteTerm::first_with(given.iter().map(|parameter| parameter.key())).unwrap_or_default();
        let values = term.values();
        let names = term.names();
        let name = if values.len() == given.len() { names.last() } else { names.first() };
        let words: String = values.iter().map(|(parameter, _)| parameter.words(&numbers)).collect();
        format!("{} operator{words}", name.copied().unwrap_or_default())
    }
}
