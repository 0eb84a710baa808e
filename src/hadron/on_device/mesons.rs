//! Correlators of mesons on a device.

use super::slices::project;
use super::{COMPONENTS, GROUP, HADRON, PIECE};
use crate::device::{Argument, Device, DeviceError, KernelKey, Parameter, Range, Team};
use crate::geometry::NDIM;
use crate::hadron::meson::{NUMBERS, of_slices};
use crate::hadron::momenta::Momenta;
use crate::hadron::{MesonCorrelator, QuarkPropagator, mesons};

/// Work-items of a site: pairs of spins of the sink.
const PAIRS: usize = (COMPONENTS / 3) * (COMPONENTS / 3);

/// Returns correlators like [`mesons`], by the first device of a team or the host.
///
/// # Errors
/// When the device fails.
///
/// # Panics
/// If the propagators are of different lattices.
pub fn mesons_on(
    team: &Team,
    quark: &QuarkPropagator,
    antiquark: &QuarkPropagator,
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Result<Vec<MesonCorrelator>, DeviceError> {
    match team.devices().first() {
        Some(device) => mesons_in_pieces(device, [quark, antiquark], origin, momenta, PIECE),
        None => Ok(mesons(quark, antiquark, origin, momenta)),
    }
}

/// Puts at most `piece` sites on the device at once.
fn mesons_in_pieces(
    device: &Device,
    quarks: [&QuarkPropagator; 2],
    origin: [usize; NDIM],
    momenta: &Momenta,
    piece: usize,
) -> Result<Vec<MesonCorrelator>, DeviceError> {
    let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel(
        "products_of_colours",
        &[
            Parameter::input::<f64>("s1"),
            Parameter::input::<f64>("s2"),
            Parameter::output::<f64>("to"),
            Parameter::value::<u32>("sites"),
        ],
    )?;
    let slices = project(device, quarks, (origin, momenta), NUMBERS, piece, |[s1, s2], sites, to| {
        let arguments = [s1.into(), s2.into(), to.into(), Argument::value(sites as u32)];
        kernel.start(Range::covering(PAIRS * sites, GROUP), &arguments)
    })?;
    Ok(of_slices(&slices, momenta, quarks[0].dims()[NDIM - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceOptions, discover};
    use crate::geometry::Dims;
    use crate::hadron::{Column, momenta_up_to};
    use crate::host::random::spinor_field;

    #[test]
    fn slices_that_go_in_pieces_are_the_same() {
        let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
        let dims = Dims::new([4, 2, 4, 2]).unwrap();
        let mut quark = QuarkPropagator::new(dims).unwrap();
        for (k, column) in Column::all().enumerate() {
            quark.set_column(column, &spinor_field(dims, k as u64));
        }
        let momenta = Momenta::each(momenta_up_to(1, dims).unwrap());
        let of_pieces =
            |piece| mesons_in_pieces(&device, [&quark; 2], [1, 0, 2, 1], &momenta, piece).unwrap();
        let (whole, parts) = (of_pieces(PIECE), of_pieces(10));
        for (whole, parts) in whole.iter().zip(&parts) {
            for (a, b) in whole.values.iter().flatten().zip(parts.values.iter().flatten()) {
                assert!((a - b).abs() < 1e-11, "{whole:?} {parts:?}");
            }
        }
    }
}
