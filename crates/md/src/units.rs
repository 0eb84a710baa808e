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

lattice_files::words! {
    Units, "system of units":
    Real = "real", "Å, kcal/mol, g/mol, fs";
    Reduced = "lj", "Reduced units of ε, σ and m"
}

/// The charge of an electron, in C: an electronvolt in J.
pub(crate) const ELECTRONVOLT: f64 = 1.602176634e-19;

/// A unified atomic mass unit in kg.
const ATOMIC_MASS: f64 = 1.66053906660e-27;

/// Particles in a mole.
const AVOGADRO: f64 = 6.02214076e23;

/// Returns the kcal/mol in a joule for each particle.
pub(crate) fn kilocalories(joule: f64) -> f64 {
    joule * AVOGADRO / 4184.0
}

/// Returns the Å/fs of ASE's momentum of 1 √(eV u) at a mass of 1 g/mol.
///
/// ASE has eV, Å and u, so that its time is Å √(u/eV), 10.18 fs.
pub(crate) fn ase_velocity() -> f64 {
    // 1 m/s is 1e-5 Å/fs.
    (ELECTRONVOLT / ATOMIC_MASS).sqrt() * 1e-5
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_other_programs_are_those_of_their_manuals() {
        // LAMMPS has 23.060549 kcal/mol in an electronvolt, and ASE 0.0982269 Å/fs in its unit of velocity.
        assert!((kilocalories(ELECTRONVOLT) - 23.060549).abs() < 3e-6);
        assert!((1.0 / ase_velocity() - 10.180505).abs() < 1e-5);
        // Kinetic energies of both units are equal: u (Å/fs)² in kcal/mol, and eV.
        let energy = ase_velocity().powi(2) / Units::Real.acceleration();
        assert!((energy / kilocalories(ELECTRONVOLT) - 1.0).abs() < 1e-9, "{energy}");
    }
}
