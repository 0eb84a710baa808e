//! A table in the memory of a device.

use crate::error::MdResult;
use crate::options::Fetch;
use crate::potential::Potential;
use lattice_compute::scalar::Real;
use lattice_compute::{Argument, Buffer, Device, Image2d};

/// The arguments of `PAIR_PARAMETERS`.
pub(super) enum Samples<T> {
    /// A formula has none.
    None,
    /// Energies and slopes in buffers, and samples of a row.
    Buffers([Buffer<T>; 2], u32),
    /// Energies and slopes in images, and samples of a row.
    Images([Image2d; 2], u32),
}

impl<T: Real> Samples<T> {
    /// Brings the table of a potential to a device, as images or buffers.
    pub fn new(device: &Device, potential: &Potential, images: bool) -> MdResult<Self> {
        let Potential::Table { table, .. } = potential else { return Ok(Self::None) };
        let (samples, rows) = (table.grid().samples as u32, table.types() * table.types());
        let [energies, slopes] = table.numbers();
        if images {
            let image = |numbers: &[f64]| {
                let numbers: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
                Image2d::from_rows(device, numbers.len() / rows, rows, &numbers)
            };
            return Ok(Self::Images([image(&energies)?, image(&slopes)?], samples));
        }
        let buffer = |numbers: &[f64]| {
            let numbers: Vec<T> = numbers.iter().map(|&number| T::from_f64(number)).collect();
            Buffer::from_slice(device, &numbers)
        };
        Ok(Self::Buffers([buffer(&energies)?, buffer(&slopes)?], samples))
    }

    /// Returns how the table is read; `None` if there is no table.
    pub fn fetch(&self) -> Option<Fetch> {
        match self {
            Self::None => None,
            Self::Buffers(..) => Some(Fetch::Buffer),
            Self::Images(..) => Some(Fetch::Image),
        }
    }

    /// Returns the arguments for `PAIR_PARAMETERS`.
    pub fn arguments(&self) -> Vec<Argument<'_>> {
        match self {
            Self::None => Vec::new(),
            Self::Buffers([energies, slopes], samples) => {
                vec![energies.into(), slopes.into(), Argument::value(*samples)]
            }
            Self::Images([energies, slopes], samples) => {
                vec![energies.into(), slopes.into(), Argument::value(*samples)]
            }
        }
    }
}
