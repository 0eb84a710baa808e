//! The parameters of site terms: what a term's file says of its number.

use super::error::SiteTermError;
use super::flavour::Flavour;
use crate::host::gamma::SpinMatrix;

/// A parameter of site terms, and everything that follows from it.
///
/// A term's file implements it once. The defaults are those of a number with a key of its own.
pub(super) trait Parameter: Sync {
    /// Returns the key of job files, which is the option and the key of results too.
    fn key(&self) -> &'static str;

    /// Returns the parameter as formulas and messages write it.
    fn symbol(&self) -> &'static str {
        self.key()
    }

    /// Says what the parameter is.
    fn meaning(&self) -> &'static str;

    /// Says what it adds to M, in both normalisations, for the help of the program.
    fn formula(&self) -> &'static str;

    /// Returns what the parameter multiplies.
    fn matrix(&self) -> ParameterMatrix;

    /// Returns the value that keys give it.
    ///
    /// # Errors
    /// If keys exclude or need each other, or give what is no number.
    fn given(&self, keys: &GivenNumbers) -> Result<Option<f64>, SiteTermError> {
        Ok(keys.number(self.key()))
    }

    /// Returns the given value for the words that name an operator, behind its symbol.
    fn words(&self, keys: &GivenNumbers) -> String {
        let given = self.given(keys).ok().flatten();
        given.map_or_else(String::new, |value| format!(", {} {value:?}", self.symbol()))
    }

    /// Returns its entries in results.
    fn entries(&self, keys: &GivenNumbers) -> Vec<ResultEntry> {
        let value = self.given(keys).ok().flatten().unwrap_or(0.0);
        vec![ResultEntry { key: self.key(), meaning: self.meaning(), value: Some(value), optional: false }]
    }

    /// Returns its line in tables of results: a name and a value.
    fn line(&self, keys: &GivenNumbers, _: Option<Flavour>) -> Option<(&'static str, String)> {
        let value = self.given(keys).ok().flatten().filter(|value| *value != 0.0)?;
        Some((self.symbol(), format!("{value:?}")))
    }
}

/// The numbers that keys of site terms give.
pub(super) struct GivenNumbers(Vec<(&'static str, f64)>);

impl GivenNumbers {
    /// Keeps the numbers that are given.
    pub fn of(all: impl IntoIterator<Item = (&'static str, Option<f64>)>) -> Self {
        Self(all.into_iter().filter_map(|(key, number)| Some((key, number?))).collect())
    }

    /// Returns the number of a key.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, number)| *number)
    }
}

/// What the value of a parameter multiplies in M.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParameterMatrix {
    /// A spin matrix Γ, the same at all sites: 2κ value Γ, or value Γ for a mass.
    Spin(SpinTerm),
    /// The matrix T of the clover term: κ value T, or ½ value T for a mass.
    Clover,
}

/// A spin matrix with the text of its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpinTerm {
    /// The matrix Γ of the host, with Γ² = ±1 and Γ† = ±Γ.
    pub gamma: SpinMatrix,
    /// The name of the text among the parts of a program.
    pub name: &'static str,
    /// The text, `cl/stencil/site_….cl`.
    pub text: &'static str,
}

/// A key of results and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultEntry {
    /// The key.
    pub key: &'static str,
    /// What it is, for the schema.
    pub meaning: &'static str,
    /// The value; `None` if it is not one number.
    pub value: Option<f64>,
    /// `true` if there may be no value.
    pub optional: bool,
}
