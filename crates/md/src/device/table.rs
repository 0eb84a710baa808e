//! A table in the memory of a device.

use crate::error::{MdError, MdResult};
use crate::options::Fetch;
use crate::potential::Potential;
use lattice_compute::scalar::Real;
use lattice_compute::{Argument, Buffer, Device, DeviceKind, Image2d, Parameter};

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
    /// Brings the table of a potential to a device.
    pub fn new(device: &Device, potential: &Potential, fetch: Fetch) -> MdResult<Self> {
        let Potential::Table { table, .. } = potential else { return Ok(Self::None) };
        let (samples, rows) = (table.grid().samples, table.types() * table.types());
        if reads_images(device, fetch, samples, rows)? {
            let image = |numbers: &[f64]| {
                let numbers: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
                Image2d::from_rows(device, samples, rows, &numbers)
            };
            return Ok(Self::Images([image(table.energies())?, image(table.slopes())?], samples as u32));
        }
        let buffer = |numbers: &[f64]| {
            let numbers: Vec<T> = numbers.iter().map(|&number| T::from_f64(number)).collect();
            Buffer::from_slice(device, &numbers)
        };
        Ok(Self::Buffers([buffer(table.energies())?, buffer(table.slopes())?], samples as u32))
    }

    /// Returns how the table is read; `None` if there is no table.
    pub fn fetch(&self) -> Option<Fetch> {
        match self {
            Self::None => None,
            Self::Buffers(..) => Some(Fetch::Buffer),
            Self::Images(..) => Some(Fetch::Image),
        }
    }

    /// Declares `PAIR_PARAMETERS`.
    pub fn parameters(&self) -> Vec<Parameter> {
        let names = ["energies", "slopes"];
        let table = match self {
            Self::None => return Vec::new(),
            Self::Buffers(..) => names.map(Parameter::input::<T>),
            Self::Images(..) => names.map(Parameter::image),
        };
        table.into_iter().chain([Parameter::value::<u32>("samples")]).collect()
    }

    /// Returns the arguments for [`Samples::parameters`].
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

/// Tells whether a device reads this table from images.
fn reads_images(device: &Device, fetch: Fetch, width: usize, height: usize) -> MdResult<bool> {
    if fetch == Fetch::Buffer {
        return Ok(false);
    }
    let images =
        device.linear_images().filter(|images| width <= images.max_width && height <= images.max_height);
    match (fetch, images) {
        (Fetch::Image, None) => Err(MdError::NoImages(device.label().to_owned())),
        (Fetch::Image, Some(_)) => Ok(true),
        // Processors filter in software, which takes longer than two loads.
        (_, Some(images)) => {
            Ok(device.info().kind == DeviceKind::Gpu && images.filter_error <= Fetch::LARGEST_ERROR)
        }
        (_, None) => Ok(false),
    }
}
