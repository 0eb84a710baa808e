//! Correlators of the conserved vector current on a device.

use super::slices::project;
use super::{GROUP, HADRON, by_component};
use crate::device::{Argument, Buffer, DeviceError, KernelKey, Parameter, Range, Team};
use crate::geometry::NDIM;
use crate::hadron::current::conserved_name;
use crate::hadron::momenta::Momenta;
use crate::hadron::{CurrentCorrelator, QuarkPropagator, conserved_vector, gamma};
use crate::host::LinkField;
use num_complex::Complex64;

/// Currents: one for each direction of space.
const CURRENTS: usize = 3;

/// Returns correlators like [`conserved_vector`], computed by a team.
///
/// The first device or the host computes them. A whole time slice is on the device at once: 2784
/// bytes for each of its sites.
///
/// # Errors
/// When the device fails.
///
/// # Panics
/// If links and propagator are of different lattices.
pub fn conserved_vector_on(
    team: &Team,
    quark: &QuarkPropagator,
    links: &LinkField<f64>,
    origin: [usize; NDIM],
) -> Result<Vec<CurrentCorrelator>, DeviceError> {
    let Some(device) = team.devices().first() else {
        return Ok(conserved_vector(quark, links, origin));
    };
    let dims = quark.dims();
    assert_eq!(dims, links.dims(), "links and propagator of one lattice");
    let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel(
        "conserved_vector",
        &[
            Parameter::input::<f64>("s"),
            Parameter::input::<f64>("links"),
            Parameter::input::<f64>("gammas"),
            Parameter::output::<f64>("to"),
            Parameter::value::<[u32; NDIM]>("extents"),
        ],
    )?;
    let gammas = Buffer::from_slice(device, &gammas())?;
    let extents = dims.extents().map(|extent| extent as u32);
    let momenta = Momenta::each([[0; 3]]);
    let mut distance = 0;
    let slices =
        project(device, [quark; 2], (origin, &momenta), CURRENTS, usize::MAX, |[s, _], sites, to| {
            let begin = (origin[NDIM - 1] + distance) % dims[NDIM - 1] * sites;
            distance += 1;
            let number = |number: usize, site: usize| -> Complex64 {
                let (k, entry) = (number / 9, number % 9);
                links.link(begin + site, k).0[entry / 3][entry % 3]
            };
            let links = Buffer::from_slice(device, &by_component(9 * CURRENTS, sites, number))?;
            let arguments = [
                s.into(),
                Argument::from(&links),
                Argument::from(&gammas),
                to.into(),
                Argument::value(extents),
            ];
            kernel.start(Range::covering(CURRENTS * sites, GROUP), &arguments)
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
