//! Correlators of mesons on devices.

use super::slices::{Piece, project};
use super::{COMPONENTS, GROUP, HADRON, PIECE};
use crate::compute::{Argument, Buffer, Device, DeviceError, KernelKey, Range, Team};
use crate::geometry::NDIM;
use crate::hadron::current::AXIAL_NAME;
use crate::hadron::meson::{NUMBERS, of_slices, phases_of_meson, projected};
use crate::hadron::momenta::{Momenta, Slices};
use crate::hadron::{CurrentCorrelator, MesonCorrelator, QuarkPropagator, local_axial};

/// Work-items of a site: pairs of spins of the sink.
const PAIRS: usize = (COMPONENTS / 3) * (COMPONENTS / 3);

/// Returns correlators like [`mesons`](crate::hadron::mesons), by the devices of a team or the host.
///
/// # Errors
/// When a device fails.
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
    let phases = phases_of_meson([quark, antiquark], origin);
    let slices = projected_on(team, [quark, antiquark], origin, momenta)?;
    Ok(of_slices(&slices.times(&phases), momenta))
}

/// Returns products of colours like [`projected`], by the devices of a team or the host.
pub(in crate::hadron) fn projected_on(
    team: &Team,
    quarks: [&QuarkPropagator; 2],
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Result<Slices, DeviceError> {
    match team.devices() {
        [] => Ok(projected(quarks, origin, momenta)),
        devices => projected_in_pieces(devices, quarks, origin, momenta, PIECE),
    }
}

/// Returns the current like [`local_axial`], by the devices of a team or the host.
///
/// It is a meson with π at the source and Γ(7) at the sink, with the opposite sign.
///
/// # Errors
/// When a device fails.
///
/// # Panics
/// If the propagators are of different lattices.
pub fn local_axial_on(
    team: &Team,
    quark: &QuarkPropagator,
    antiquark: &QuarkPropagator,
    origin: [usize; NDIM],
) -> Result<CurrentCorrelator, DeviceError> {
    if team.devices().is_empty() {
        return Ok(local_axial(quark, antiquark, origin));
    }
    let all = mesons_on(team, quark, antiquark, origin, &Momenta::each([[0; 3]]))?;
    let of_axial = all.iter().filter(|meson| (meson.source, meson.sink) == (15, 7));
    let values = of_axial.flat_map(|meson| &meson.values).map(|[re, _]| -re).collect();
    Ok(CurrentCorrelator { name: AXIAL_NAME.to_owned(), values })
}

/// Puts at most `piece` sites on a device at once.
fn projected_in_pieces(
    devices: &[Device],
    quarks: [&QuarkPropagator; 2],
    origin: [usize; NDIM],
    momenta: &Momenta,
    piece: usize,
) -> Result<Slices, DeviceError> {
    project(devices, &quarks, (origin, momenta), NUMBERS, piece, |device| {
        let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel("products_of_colours")?;
        Ok(move |piece: Piece, of: &[&Buffer<f64>], to: &mut Buffer<f64>| {
            let arguments = [of[0].into(), of[1].into(), to.into(), Argument::value(piece.sites as u32)];
            kernel.start(Range::covering(PAIRS * piece.sites, GROUP), &arguments)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{DeviceOptions, discover};
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
        let of_pieces = |piece| {
            let device = std::slice::from_ref(&device);
            let slices = projected_in_pieces(device, [&quark; 2], [1, 0, 2, 1], &momenta, piece);
            of_slices(&slices.unwrap(), &momenta)
        };
        let (whole, parts) = (of_pieces(PIECE), of_pieces(10));
        for (whole, parts) in whole.iter().zip(&parts) {
            for (a, b) in whole.values.iter().flatten().zip(parts.values.iter().flatten()) {
                assert!((a - b).abs() < 1e-11, "{whole:?} {parts:?}");
            }
        }
    }
}
