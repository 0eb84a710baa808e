//! Fused updates of spinor fields, on the host or on devices.

use super::kernels::ShardKernels;
use crate::compute::{Argument, DeviceError, Number};
use crate::field::carrier::Carrier;
use crate::field::communicator::Communicator;
use crate::field::spinors::Spinors;
use crate::host;
use crate::scalar::Storage;
use lattice_solvers::update::Formula;
use num_complex::Complex64;

/// Computes a formula on fields of the host, and returns its sums.
pub(super) fn on_host<T: Storage>(
    formula: &Formula,
    factors: &[&Number],
    read: &[&Spinors<T>],
    written: Vec<&mut Spinors<T>>,
) -> Result<Vec<Number>, DeviceError> {
    let factors = factors.iter().map(|factor| factor.value()).collect::<Result<Vec<_>, _>>()?;
    let read: Vec<_> = read.iter().map(|field| field.on_host()).collect();
    let written = written.into_iter().map(Spinors::on_host_mut).collect();
    let (product, norm2) = host::updates::update(formula, &factors, &read, written);
    let product = formula.product().map(|_| product);
    let norm2 = formula.norm2().map(|_| Complex64::from(norm2));
    Ok(product.into_iter().chain(norm2).map(Number::from).collect())
}

/// Computes a formula on the fields of each device.
///
/// Sums of several domains are added in the order of the domains, after all devices were started.
pub(super) fn on_devices<T: Storage>(
    communicator: &Carrier,
    shards: &[ShardKernels],
    formula: &Formula,
    factors: &[&Number],
    read: &[&Spinors<T>],
    mut written: Vec<&mut Spinors<T>>,
) -> Result<Vec<Number>, DeviceError> {
    let mut running = Vec::new();
    for (k, shard) in shards.iter().enumerate() {
        let read: Vec<Argument<'_>> = read.iter().map(|field| (&field.on_devices()[k]).into()).collect();
        let written: Vec<Argument<'_>> =
            written.iter_mut().map(|field| (&mut field.on_devices_mut()[k]).into()).collect();
        running.extend(shard.start(formula, factors, &read, &written)?);
    }
    if running.is_empty() {
        return Ok(Vec::new());
    }
    let numbers = communicator.numbers(running)?;
    // A norm alone is the first sum of its kernel.
    Ok(numbers.into_iter().take(formula.sums()).collect())
}
