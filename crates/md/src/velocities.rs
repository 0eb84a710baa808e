//! Velocities of a temperature.

use super::error::{MdError, MdResult};
use super::system::System;
use super::units::Units;
use lattice_compute::philox::Philox;

impl System {
    /// Gives the atoms velocities of a temperature, in K or in units of ε/k.
    ///
    /// Each component is Gaussian (Maxwell's distribution). The centre of mass is then brought to rest,
    /// and 2 K = (3 N − 3) k T is made exact. An atom's numbers depend on the seed and its place alone.
    ///
    /// # Errors
    /// [`MdError::Temperature`]; [`MdError::NoMass`].
    pub fn with_temperature(self, temperature: f64, seed: u64, units: Units) -> MdResult<Self> {
        if !(temperature >= 0.0 && temperature.is_finite()) {
            return Err(MdError::Temperature(temperature));
        }
        let masses = self.known_masses()?;
        let mut velocities: Vec<[f64; 3]> = (0..self.atoms())
            .map(|atom| {
                let mut random = Philox::new(seed, 0, atom as u64);
                let (a, b) = (random.gaussian(), random.gaussian());
                [a.re, a.im, b.re].map(|x| x / masses[atom].sqrt())
            })
            .collect();
        let total: f64 = masses.iter().sum();
        for axis in 0..3 {
            let momentum: f64 = velocities.iter().zip(&masses).map(|(v, mass)| mass * v[axis]).sum();
            velocities.iter_mut().for_each(|v| v[axis] -= momentum / total);
        }
        let twice: f64 =
            velocities.iter().zip(&masses).map(|(v, mass)| mass * v.iter().map(|v| v * v).sum::<f64>()).sum();
        let freedom = (3 * self.atoms()).saturating_sub(3) as f64;
        let wanted = freedom * units.boltzmann() * temperature * units.acceleration();
        let factor = if twice > 0.0 { (wanted / twice).sqrt() } else { 0.0 };
        velocities.iter_mut().for_each(|v| *v = v.map(|v| factor * v));
        self.with_velocities(velocities)
    }

    /// Returns all masses.
    ///
    /// # Errors
    /// [`MdError::NoMass`] with the type whose mass is unknown.
    pub(crate) fn known_masses(&self) -> MdResult<Vec<f64>> {
        let known = |(mass, &of): (&Option<f64>, &u32)| {
            mass.ok_or_else(|| MdError::NoMass(self.names()[of as usize].clone()))
        };
        self.masses().iter().zip(self.types()).map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocities_have_the_temperature_and_no_momentum() {
        let positions = (0..50).map(|i| [f64::from(i), 0.0, 0.0]).collect();
        let names = vec!["Ar".to_owned(), "Kr".to_owned()];
        let types = (0..50).map(|i| i % 2).collect();
        let system = System::new([60.0; 3], names, types, positions).unwrap();
        let warm = system.clone().with_temperature(90.0, 3, Units::Real).unwrap();
        let masses = warm.known_masses().unwrap();
        let velocities = warm.velocities().unwrap();
        let twice: f64 = velocities
            .iter()
            .zip(&masses)
            .map(|(v, mass)| mass * v.iter().map(|v| v * v).sum::<f64>() / 4.184e-4)
            .sum();
        assert!((twice / (147.0 * 0.0019872067 * 90.0) - 1.0).abs() < 1e-12);
        for axis in 0..3 {
            let momentum: f64 = velocities.iter().zip(&masses).map(|(v, mass)| mass * v[axis]).sum();
            assert!(momentum.abs() < 1e-12);
        }
        assert_ne!(system.clone().with_temperature(90.0, 4, Units::Real).unwrap(), warm);
        assert!(system.with_temperature(-1.0, 3, Units::Real).is_err());
    }
}
