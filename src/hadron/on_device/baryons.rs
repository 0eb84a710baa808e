//! Correlators of baryons on a device.
//!
//! A diquark takes some 7000 complex products for each site and operator, which bounds them.

use super::slices::project;
use super::{GROUP, HADRON, PIECE};
use crate::device::{Argument, Buffer, DeviceError, KernelKey, Parameter, Range, Team};
use crate::geometry::NDIM;
use crate::hadron::baryon::{Term, of_slices};
use crate::hadron::momenta::Momenta;
use crate::hadron::{BaryonCorrelator, BaryonForm, NamedOperator, QuarkPropagator, baryons};

/// Returns correlators like [`baryons`], by the first device of a team or the host.
///
/// # Errors
/// When the device fails.
///
/// # Panics
/// If the propagators are of different lattices.
pub fn baryons_on(
    team: &Team,
    name: &str,
    form: BaryonForm,
    operators: &[NamedOperator],
    quarks: [&QuarkPropagator; 2],
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Result<Vec<BaryonCorrelator>, DeviceError> {
    let Some(device) = team.devices().first() else {
        return Ok(baryons(name, form, operators, quarks, origin, momenta));
    };
    let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel(
        "baryon_term",
        &[
            Parameter::input::<f64>("closing"),
            Parameter::input::<f64>("one"),
            Parameter::input::<f64>("other"),
            Parameter::input::<f64>("matrices"),
            Parameter::output::<f64>("to"),
            Parameter::value::<u32>("sites"),
            Parameter::value::<u32>("operators"),
            Parameter::value::<f64>("of_tt"),
            Parameter::value::<f64>("of_xt"),
            Parameter::value::<u32>("adds"),
        ],
    )?;
    let count = operators.len();
    let matrices = Buffer::from_slice(device, &numbers_of(operators))?;
    let slices = project(device, quarks, (origin, momenta), count, PIECE, |of, sites, to| {
        for (number, Term { closing, diquark: [one, other], of_tt, of_xt }) in form.terms().iter().enumerate()
        {
            let arguments = [
                of[*closing].into(),
                of[*one].into(),
                of[*other].into(),
                Argument::from(&matrices),
                Argument::from(&mut *to),
                Argument::value(sites as u32),
                Argument::value(count as u32),
                Argument::value(*of_tt),
                Argument::value(*of_xt),
                Argument::value(u32::from(number > 0)),
            ];
            kernel.start(Range::covering(count * sites, GROUP), &arguments)?;
        }
        Ok(())
    })?;
    Ok(of_slices(name, operators, &slices, momenta))
}

/// The matrices of operators: `[operator][T or Γ][row][column][re, im]`.
fn numbers_of(operators: &[NamedOperator]) -> Vec<f64> {
    let matrices = operators.iter().flat_map(|operator| [operator.t, operator.matrix]);
    matrices.flat_map(|matrix| matrix.0.into_iter().flatten()).flat_map(|z| [z.re, z.im]).collect()
}
