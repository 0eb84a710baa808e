//! Smearing of spinors on one device and correlators of hadrons on several, in double.
//!
//! Data go from the host to the device and back. Propagators take 4608 bytes of two of them for each
//! site, which bounds contractions. Slices of a lattice go to the devices in turn, in pieces. A piece
//! is on its way while the one before is contracted.

mod baryons;
mod currents;
mod mesons;
mod slices;
mod smearing;

pub use baryons::baryons_on;
pub use currents::conserved_vector_on;
pub(super) use mesons::projected_on;
pub use mesons::{local_axial_on, mesons_on};
pub use smearing::{DeviceSpinor, SmearingLinks};

use crate::compute::KernelFamily;
use crate::compute::parallel::*;
use num_complex::Complex64;

const HADRON: KernelFamily = KernelFamily::new("hadron", &[include_str!("../../../cl/hadron.cl")]);

/// Work-items of a group.
const GROUP: usize = 64;

/// Components of a spinor.
const COMPONENTS: usize = 12;

/// Largest number of a slice's sites that are on the device at once.
///
/// Products of mesons take 128 MB there.
const PIECE: usize = 1 << 15;

/// Numbers as `[component][site][re, im]`.
fn by_component(
    components: usize,
    sites: usize,
    number: impl Fn(usize, usize) -> Complex64 + Sync,
) -> Vec<f64> {
    let mut all = vec![0.0; 2 * components * sites];
    all.par_chunks_mut(2 * sites).enumerate().for_each(|(component, numbers)| {
        for (site, parts) in numbers.chunks_exact_mut(2).enumerate() {
            let z = number(component, site);
            parts.copy_from_slice(&[z.re, z.im]);
        }
    });
    all
}
