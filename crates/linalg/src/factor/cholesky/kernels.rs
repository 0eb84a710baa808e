//! The kernel that factorises a block by one work-group.

use crate::block::Block;
use crate::triangular::{DiagonalShape, TRIANGLE_SOURCES};
use lattice_compute::scalar::ElementType;
use lattice_compute::{Argument, Device, Event, Kernel, KernelFamily, KernelKey, Result};
use std::sync::Arc;

const CHOLESKY: KernelFamily = KernelFamily::new(
    "cholesky",
    &[TRIANGLE_SOURCES[0], TRIANGLE_SOURCES[1], TRIANGLE_SOURCES[2], include_str!("../../../cl/cholesky.cl")],
);

/// The kernels for elements of one type.
pub(super) struct Kernels {
    shape: DiagonalShape,
    block: Kernel,
}

impl Kernels {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::with(device, element, DiagonalShape::of(device, element)))
    }

    fn with(device: &Device, element: ElementType, shape: DiagonalShape) -> Result<Self> {
        let program = device.program(&shape.define(KernelKey::of(CHOLESKY, element)))?;
        Ok(Self { shape, block: program.kernel("cholesky_block")? })
    }

    /// Starts L of a block of A, and the inverse of L.
    ///
    /// The blocks have at most `edge` rows. `first` is the number of its first row in the whole
    /// matrix.
    pub fn block(
        &self,
        a: Block<'_>,
        l: Block<'_>,
        first: usize,
        inverse: Argument<'_>,
        info: Argument<'_>,
    ) -> Result<Event> {
        let counts = [a.rows, first].map(|count| Argument::value(count as u32));
        let arguments = [&counts[..], &a.arguments(), &l.arguments(), &[inverse, info]].concat();
        self.block.launch(self.shape.groups(1), &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use crate::matrix::MatrixLayout;
    use lattice_compute::{Buffer, CacheMode, DeviceOptions, discover};
    use num_complex::Complex;

    type C64 = Complex<f64>;

    #[test]
    fn a_block_is_factorised_and_inverted_however_work_items_share_it() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            let kernels =
                Kernels::with(&device, ElementType::of::<C64>(), DiagonalShape { edge: 32, slices: 4 })
                    .unwrap();
            for n in [1, 7, 32] {
                let element = |i: usize, j: usize| match i.cmp(&j) {
                    std::cmp::Ordering::Less => C64::from(f64::NAN),
                    std::cmp::Ordering::Equal => C64::new(2.0, f64::NAN),
                    std::cmp::Ordering::Greater => C64::new((i as f64).sin(), (j as f64).cos()) / n as f64,
                };
                let a: Vec<C64> = (0..n * n).map(|k| element(k % n, k / n)).collect();
                let stored = Buffer::from_slice(&device, &a).unwrap();
                let mut buffer = Buffer::from_slice(&device, &vec![C64::from(7.0); n * n]).unwrap();
                let mut inverse = Buffer::from_slice(&device, &[C64::default(); 32 * 32]).unwrap();
                let mut info = Buffer::<u32>::zeroed(&device, 1).unwrap();
                let layout = MatrixLayout::column_major(n, n);
                let blocks = [(&stored).into(), (&mut buffer).into()].map(|block| Block::at(block, &layout));
                kernels.block(blocks[0], blocks[1], 5, (&mut inverse).into(), (&mut info).into()).unwrap();
                assert_eq!(info.to_vec().unwrap(), [0]);
                let mut twin = a.clone();
                assert_eq!(host::cholesky::factorise(n, &mut twin), 0);
                let (found, inverse) = (buffer.to_vec().unwrap(), inverse.to_vec().unwrap());
                for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
                    assert!((found[i + j * n] - twin[i + j * n]).norm() < 1e-14, "({i}, {j})");
                    let sum: C64 = (j..i + 1).map(|k| twin[i + k * n] * inverse[k + j * 32]).sum();
                    assert!(
                        (sum - if i == j { 1.0 } else { 0.0 }).norm() < 1e-14,
                        "({i}, {j}) of the inverse"
                    );
                }
            }
        }
    }
}
