//! Correlators of the conserved vector current on devices.

use super::slices::{Piece, project};
use super::{GROUP, HADRON, by_component};
use crate::compute::{Argument, Buffer, DeviceError, KernelKey, Range, Team};
use crate::geometry::NDIM;
use crate::hadron::current::conserved_name;
use crate::hadron::momenta::Momenta;
use crate::hadron::{CurrentCorrelator, QuarkPropagator, conserved_vector, gamma};
use crate::host::LinkField;
use num_complex::Complex64;

/// Currents: one for each direction of space.
const CURRENTS: usize = 3;

/// Returns correlators like [`conserved_vector`], by the devices of a team or the host.
///
/// Two whole time slices are on a device at once: 5568 bytes for each of its sites.
///
/// # Errors
/// When a device fails.
///
/// # Panics
/// If links and propagator are of different lattices.
pub fn conserved_vector_on(
    team: &Team,
    quark: &QuarkPropagator,
    links: &LinkField<f64>,
    origin: [usize; NDIM],
) -> Result<Vec<CurrentCorrelator>, DeviceError> {
    let devices = team.devices();
    if devices.is_empty() {
        return Ok(conserved_vector(quark, links, origin));
    }
    let dims = quark.dims();
    assert_eq!(dims, links.dims(), "links and propagator of one lattice");
    let extents = dims.extents().map(|extent| extent as u32);
    let momenta = Momenta::each([[0; 3]]);
    let slices = project(devices, &[quark], (origin, &momenta), CURRENTS, usize::MAX, |device| {
        let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel("conserved_vector")?;
        let gammas = Buffer::from_slice(device, &gammas())?;
        let device = device.clone();
        Ok(move |Piece { distance, sites, .. }: Piece, of: &[&Buffer<f64>], to: &mut Buffer<f64>| {
            let begin = (origin[NDIM - 1] + distance) % dims[NDIM - 1] * sites;
            let number = |number: usize, site: usize| -> Complex64 {
                let (k, entry) = (number / 9, number % 9);
                links.link(begin + site, k).0[entry / 3][entry % 3]
            };
            let links = Buffer::from_slice(&device, &by_component(9 * CURRENTS, sites, number))?;
            let arguments = [
                of[0].into(),
                Argument::from(&links),
                Argument::from(&gammas),
                to.into(),
                Argument::value(extents),
            ];
            kernel.start(Range::covering(CURRENTS * sites, GROUP), &arguments)
        })
    })?;
    let values = |k| slices.number(0, k).into_iter().map(|z| z.re).collect();
    Ok((0..CURRENTS).map(|k| CurrentCorrelator { name: conserved_name(k), values: values(k) }).collect())
}

/// The matrices of x, y and z as `[k][row][column, re, im]`.
///
/// Each row has its only column and the entry.
fn gammas() -> Vec<f64> {
    let rows = (0..CURRENTS).flat_map(|k| gamma(1 << k));
    rows.flat_map(|(column, phase)| {
        let entry: Complex64 = phase.times(1.0.into());
        [column as f64, entry.re, entry.im]
    })
    .collect()
}
