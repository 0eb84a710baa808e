//! The interpolation of images between their numbers, found by trying.

use crate::error::Result;
use crate::kernel::{Argument, KernelFamily, KernelKey, Range};
use crate::memory::{Buffer, Image2d};
use crate::open::Device;
use crate::scalar::Precision;
use std::convert::Infallible;

const PROBE: KernelFamily = KernelFamily::new("linear-images", &[include_str!("../../cl/linear_images.cl")]);

/// Number of places between two numbers that the probe reads.
const FRACTIONS: usize = 1000;

/// Largest error of a filter that interpolates at all.
///
/// A filter with 8 bits of fraction has 2⁻⁹.
const FAULTY: f64 = 1.0 / 64.0;

/// The linear filter of a device's images, as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearImages {
    /// The largest error between two neighbouring numbers, relative to their difference.
    ///
    /// Filters in `float` have 1e-7. NVIDIA's have 8 bits of fraction, so 2e-3.
    pub filter_error: f64,
    /// The largest width of an image.
    pub max_width: usize,
    /// The largest height of an image.
    pub max_height: usize,
}

/// The result of the probe, kept with a device.
struct Probed(Option<LinearImages>);

impl Device {
    /// Returns what the linear filter of images does; `None` if there is none that works.
    ///
    /// A small program is built and run once to find out. Each device is asked anew, because filters
    /// differ.
    pub fn linear_images(&self) -> Option<LinearImages> {
        let probed = self.attached(|device| {
            let found = probe(device).unwrap_or_else(|error| {
                tracing::debug!("device {} has no images to interpolate: {error}", device.label());
                None
            });
            Ok::<_, Infallible>(Probed(found))
        });
        match probed {
            Ok(probed) => probed.0,
            Err(impossible) => match impossible {},
        }
    }

    /// Returns `true` if kernels may read images with a linear filter.
    pub fn supports_linear_images(&self) -> bool {
        self.linear_images().is_some()
    }
}

/// Reads the second of three rows at many places, at both edges too.
fn probe(device: &Device) -> Result<Option<LinearImages>> {
    let [max_width, max_height] = Image2d::largest(device);
    if max_width < 4 || max_height < 3 {
        return Ok(None);
    }
    let row = [3.0_f32, 1.0, 2.0, -1.0];
    let numbers = [[9.0; 4], row, [-9.0; 4]].concat();
    let image = Image2d::from_rows(device, 4, 3, &numbers)?;
    let places: Vec<f32> = (0..=4 * FRACTIONS).map(|i| i as f32 / FRACTIONS as f32 - 0.5).collect();
    let program = device.program(&KernelKey::new(PROBE, Precision::Single))?;
    let kernel = program.kernel("probe_linear")?;
    let given = Buffer::from_slice(device, &places)?;
    let mut found = Buffer::<f32>::zeroed(device, places.len())?;
    let count = Argument::value(places.len() as u32);
    kernel.launch(
        Range::covering(places.len(), 1),
        &[(&image).into(), (&given).into(), (&mut found).into(), count],
    )?;
    let errors = places.iter().zip(found.to_vec()?).map(|(&place, found)| {
        let place = f64::from(place).clamp(0.0, 3.0);
        let left = (place as usize).min(2);
        let [a, b] = [row[left], row[left + 1]].map(f64::from);
        (f64::from(found) - (a + (place - left as f64) * (b - a))).abs() / (b - a).abs()
    });
    // A NaN is no interpolation, and must not get lost in the maximum.
    let filter_error =
        errors.fold(0.0, |most: f64, error| if error.is_nan() { f64::INFINITY } else { most.max(error) });
    Ok((filter_error < FAULTY).then_some(LinearImages { filter_error, max_width, max_height }))
}
