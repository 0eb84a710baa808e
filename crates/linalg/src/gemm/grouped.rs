//! Many products of different shapes in one launch.
//!
//! A list of products is prepared once and done as often as wanted. Each work-group computes a
//! tile of one product. Tiles are handed out in order of their cost, the longest first, so that no
//! long one begins when all others are done. The kernels are in `cl/gemm_grouped.cl`, the twin is
//! [`host::gemm`](crate::host::gemm::gemm()).

use super::grouped_launch::Launch;
use super::grouped_tile;
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::op::Op;
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{BufferView, BufferViewMut, Device};
use std::marker::PhantomData;

pub use super::grouped_launch::{MatrixLocation, Product};

/// A list of products of real matrices that is done in one launch.
///
/// ```
/// use lattice_linalg::Op;
/// use lattice_linalg::gemm::{Grouped, MatrixLocation, Product};
/// use lattice_compute::{Buffer, Selector, Team};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let team = Team::select(Selector::Auto)?;
/// let Some(device) = team.devices().first() else { return Ok(()) };
/// let at = |first, leading| MatrixLocation { first, leading };
/// let products = [
///     Product { m: 1, n: 1, k: 2, a: at(0, 1), b: at(0, 2), c: at(0, 1) }, // (1 2) (1 2)ᵀ
///     Product { m: 2, n: 1, k: 1, a: at(2, 2), b: at(3, 1), c: at(1, 2) }, // (3 4)ᵀ (4)
/// ];
/// let x = Buffer::from_slice(device, &[1.0, 2.0, 3.0, 4.0])?;
/// let mut c = Buffer::zeroed(device, 3)?;
/// Grouped::<f64>::new(device, Op::N, &products)?.multiply(x.view(), x.view(), c.view_mut())?;
/// assert_eq!(c.to_vec()?, [5.0, 12.0, 16.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Grouped<T> {
    launch: Launch,
    /// The furthest matrix in A, B and C: its product, and the element behind its last one.
    ends: [(Product, usize); 3],
    flops: u64,
    element: PhantomData<T>,
}

impl<T: Real + Element> Grouped<T> {
    /// Prepares products C = op(A) B on a device. The op is [`Op::N`] or [`Op::T`], for all products.
    ///
    /// # Errors
    /// [`BlasError::LeadingDimension`]; [`BlasError::WrongOp`]; a failure of the device.
    pub fn new(device: &Device, op: Op, products: &[Product]) -> BlasResult<Self> {
        if op == Op::C {
            return Err(BlasError::WrongOp { operation: "grouped gemm", found: op, wanted: "N or T" });
        }
        let transposed = op == Op::T;
        let mut ends = [(Product::EMPTY, 0); 3];
        for product in products {
            let operands = product.operands(transposed);
            for (end, (place, [rows, columns])) in ends.iter_mut().zip(operands) {
                let last = place.end(rows, columns)?;
                if last > end.1 {
                    *end = (*product, last);
                }
            }
        }
        let tile = grouped_tile::choose(device, T::PRECISION, op);
        Ok(Self {
            launch: Launch::new(device, T::PRECISION, op, products, &tile)?,
            ends,
            flops: products.iter().map(|product| 2 * (product.m * product.n * product.k) as u64).sum(),
            element: PhantomData,
        })
    }

    /// Returns the floating-point operations of all products.
    pub fn flops(&self) -> u64 {
        self.flops
    }

    /// Starts all products. Places count from the first element of each view.
    ///
    /// # Errors
    /// [`BlasError::BufferTooShort`], [`BlasError::OtherDevice`]: nothing is started then.
    /// [`BlasError::Device`] if the device fails.
    pub fn multiply(
        &self,
        a: BufferView<'_, T>,
        b: BufferView<'_, T>,
        c: BufferViewMut<'_, T>,
    ) -> BlasResult<Completion> {
        for (operand, device) in [("A", a.device()), ("B", b.device()), ("C", c.device())] {
            if device != self.launch.device() {
                return Err(BlasError::OtherDevice {
                    operation: "grouped gemm",
                    operand,
                    wanted: self.launch.device().label().to_owned(),
                    found: device.label().to_owned(),
                });
            }
        }
        for ((operand, found), (product, wanted)) in
            [(0, a.len()), (1, b.len()), (2, c.len())].into_iter().zip(self.ends)
        {
            if wanted > found {
                let MatrixLocation { first, leading } = [product.a, product.b, product.c][operand];
                let [rows, columns] =
                    [[product.m, product.k], [product.k, product.n], [product.m, product.n]][operand];
                return Err(BlasError::BufferTooShort {
                    rows,
                    columns,
                    leading_dimension: leading,
                    offset: first,
                    wanted,
                    found,
                });
            }
        }
        Ok(match self.launch.run([a.into(), b.into(), c.into()])? {
            Some(event) => Completion::of(vec![event]),
            None => Completion::nothing(),
        })
    }
}
