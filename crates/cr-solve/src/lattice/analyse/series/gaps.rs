//! What missing configuration numbers mean.

use lattice_statistics::Gaps;

/// What missing configuration numbers mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GapsChoice {
    #[default]
    Refuse,
    Account,
    Ignore,
}

lattice_files::words! {
    GapsChoice, "meaning of gaps":
    Refuse = "refuse", "A gap is an error";
    Account = "account", "Pairs with a missing member are left out of the autocorrelation";
    Ignore = "ignore", "Measurements are neighbours whatever their numbers are"
}

impl From<GapsChoice> for Gaps {
    fn from(choice: GapsChoice) -> Self {
        match choice {
            GapsChoice::Refuse => Self::Refuse,
            GapsChoice::Account => Self::Account,
            GapsChoice::Ignore => Self::Ignore,
        }
    }
}
