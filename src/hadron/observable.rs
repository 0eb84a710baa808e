//! The observables that are made of the columns of a propagator.

use crate::host::Spinor;
use std::fmt;
use std::str::FromStr;

/// An observable that is measured on a quark propagator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Observable {
    /// The charged pion: C = Σ |S|² over the twelve columns.
    ///
    /// The formula follows from tr[γ5 S γ5 S†γ5 γ5] with γ5-hermiticity.
    #[default]
    Pion,
}

/// Returns Σ over spins and colours of |S|².
fn pion(site: &Spinor<f64>) -> f64 {
    site.norm2()
}

impl Observable {
    /// All observables.
    pub const ALL: &[Self] = &[Self::Pion];

    /// Returns the name, and the function of a site.
    ///
    /// The function gives the contribution of a site of one column to the correlator.
    fn row(self) -> (&'static str, fn(&Spinor<f64>) -> f64) {
        match self {
            Self::Pion => ("pion", pion),
        }
    }

    /// Returns the name that job files and results use.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns the contribution of a site of one column to the correlator.
    pub(super) fn of_site(self) -> fn(&Spinor<f64>) -> f64 {
        self.row().1
    }
}

impl FromStr for Observable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|observable| observable.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|observable| observable.name()).collect();
            format!("`{text}` is no observable; choose {}", names.join(", "))
        })
    }
}

impl fmt::Display for Observable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for &observable in Observable::ALL {
            assert_eq!(observable.to_string().parse(), Ok(observable));
        }
        assert!("kaon".parse::<Observable>().unwrap_err().contains("pion"));
    }
}
