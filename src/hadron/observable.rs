//! The observables that are made of the columns of a propagator.

use crate::host::Spinor;

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

lattice_files::words! { Observable, "observable": Pion = "pion" }

impl Observable {
    /// Returns the contribution of a site of one column to the correlator.
    pub(super) fn of_site(self) -> fn(&Spinor<f64>) -> f64 {
        match self {
            Self::Pion => pion,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for observable in Observable::ALL {
            assert_eq!(observable.to_string().parse(), Ok(observable));
        }
        assert!("kaon".parse::<Observable>().unwrap_err().contains("pion"));
    }
}
