//! The units of energies, lengths, masses and times.

/// A system of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Å, kcal/mol, g/mol, fs.
    #[default]
    Real,
    /// Reduced units: ε, σ, m and their time σ √(m/ε).
    Reduced,
}

impl Units {
    /// Returns the acceleration that a unit of force gives to a unit of mass.
    ///
    /// 1 kcal/mol/Å per g/mol is 4.184e-4 Å/fs².
    pub fn acceleration(self) -> f64 {
        match self {
            Units::Real => 4.184e-4,
            Units::Reduced => 1.0,
        }
    }

    /// Returns Boltzmann's constant, in kcal/mol/K with LAMMPS's digits.
    pub fn boltzmann(self) -> f64 {
        match self {
            Units::Real => 0.0019872067,
            Units::Reduced => 1.0,
        }
    }

    /// Returns the atmospheres in a unit of pressure; `None` in reduced units.
    pub fn atmospheres(self) -> Option<f64> {
        match self {
            Units::Real => Some(68568.423),
            Units::Reduced => None,
        }
    }

    /// Returns the units of time in a nanosecond; `None` in reduced units.
    pub fn nanosecond(self) -> Option<f64> {
        match self {
            Units::Real => Some(1e6),
            Units::Reduced => None,
        }
    }
}
