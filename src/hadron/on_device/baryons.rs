//! Correlators of baryons on devices.
//!
//! A diquark takes some 7000 complex products for each site and operator, which bounds them.

use super::slices::{Piece, project};
use super::{GROUP, HADRON, PIECE};
use crate::compute::{Argument, Buffer, DeviceError, KernelKey, Range, Team};
use crate::geometry::NDIM;
use crate::hadron::baryon::{Term, of_slices};
use crate::hadron::momenta::Momenta;
use crate::hadron::{BaryonCorrelator, BaryonForm, NamedOperator, QuarkPropagator, baryons};

/// Returns correlators like [`baryons`], by the devices of a team or the host.
///
/// # Errors
/// When a device fails.
///
/// # Panics
/// If there are fewer than [`BaryonForm::quarks`], or the propagators are of different lattices.
pub fn baryons_on(
    team: &Team,
    name: &str,
    form: BaryonForm,
    operators: &[NamedOperator],
    quarks: &[&QuarkPropagator],
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Result<Vec<BaryonCorrelator>, DeviceError> {
    assert!(quarks.len() >= form.quarks(), "quarks of a baryon");
    let devices = team.devices();
    if devices.is_empty() {
        return Ok(baryons(name, form, operators, quarks, origin, momenta));
    }
    let count = operators.len();
    let slices = project(devices, quarks, (origin, momenta), count, PIECE, |device| {
        let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel("baryon_term")?;
        let matrices = Buffer::from_slice(device, &numbers_of(operators))?;
        Ok(move |piece: Piece, of: &[&Buffer<f64>], to: &mut Buffer<f64>| {
            let terms = form.terms().iter().enumerate();
            terms.into_iter().try_for_each(
                |(number, Term { closing, diquark: [one, other], of_tt, of_xt })| {
                    let arguments = [
                        of[*closing].into(),
                        of[*one].into(),
                        of[*other].into(),
                        Argument::from(&matrices),
                        Argument::from(&mut *to),
                        Argument::value(piece.sites as u32),
                        Argument::value(count as u32),
                        Argument::value(*of_tt),
                        Argument::value(*of_xt),
                        Argument::value(u32::from(number > 0)),
                    ];
                    kernel.start(Range::covering(count * piece.sites, GROUP), &arguments)
                },
            )
        })
    })?;
    Ok(of_slices(name, operators, &slices.times(&form.phases(quarks, origin)), momenta))
}

/// The matrices of operators: `[operator][T or Γ][row][column][re, im]`.
fn numbers_of(operators: &[NamedOperator]) -> Vec<f64> {
    let matrices = operators.iter().flat_map(|operator| [operator.t, operator.matrix]);
    matrices.flat_map(|matrix| matrix.0.into_iter().flatten()).flat_map(|z| [z.re, z.im]).collect()
}
