//! Products by conversion to single precision.

use super::format::{HalfFormat, HalfResult};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::gemm::gemm;
use crate::matrix::{MatMut, MatRef, MatrixLayout, Order};
use crate::op::Op;
use lattice_compute::scalar::Precision;
use lattice_compute::{
    Argument, AttachmentKey, Buffer, Device, Kernel, KernelFamily, KernelKey, Range, Result,
};
use std::sync::Arc;

const CONVERT: KernelFamily = KernelFamily::new(
    "gemm_half_convert",
    &[include_str!("../../../cl/half.cl"), include_str!("../../../cl/gemm_half_convert.cl")],
);

/// Edge of the work-groups.
const TILE: usize = 16;

/// The kernels for factors and results of given formats.
struct Kernels {
    widen: Kernel,
    add_result: Kernel,
}

impl Kernels {
    fn of<H: HalfFormat, C: HalfResult>(device: &Device) -> Result<Arc<Self>> {
        let variant = 2 * C::KIND as usize + usize::from(H::IS_BFLOAT);
        device.attached_as(AttachmentKey::default().with_variant(variant), |device| {
            let key = KernelKey::new(CONVERT, Precision::Single)
                .define("BFLOAT", u8::from(H::IS_BFLOAT))
                .define("RESULT", C::KIND);
            let program = device.program(&key)?;
            Ok(Self { widen: program.kernel("widen")?, add_result: program.kernel("add_result")? })
        })
    }

    /// Starts the conversion of a factor.
    fn widened<H: HalfFormat>(
        &self,
        x: MatRef<'_, H>,
        completion: &mut Completion,
    ) -> BlasResult<Buffer<f32>> {
        let (layout, count) = (x.layout(), x.count());
        let mut wide = Buffer::uninitialised(x.device(), layout.rows * layout.columns * count)?;
        if !wide.is_empty() {
            let mut arguments = extents(layout).to_vec();
            arguments.push(x.elements().slice(layout.offset..)?.into());
            arguments.extend(steps(layout, x.stride()));
            arguments.push((&mut wide).into());
            completion.append(Completion::of(vec![self.widen.launch(plane(layout, count), &arguments)?]));
        }
        Ok(wide)
    }
}

/// Starts C = α op(A) op(B) + β C.
pub(super) fn multiply<H: HalfFormat, C: HalfResult>(
    ops: [Op; 2],
    alpha: f32,
    a: MatRef<'_, H>,
    b: MatRef<'_, H>,
    beta: f32,
    c: MatMut<'_, C>,
) -> BlasResult<Completion> {
    let device = c.device().clone();
    let kernels = Kernels::of::<H, C>(&device)?;
    let mut completion = Completion::nothing();
    let dense = |x: &MatRef<'_, H>| MatrixLayout::column_major(x.rows(), x.columns());
    let (a_layout, b_layout, count) = (dense(&a), dense(&b), c.count());
    let (wide_a, wide_b) = (kernels.widened(a, &mut completion)?, kernels.widened(b, &mut completion)?);
    let factor =
        |wide, layout: MatrixLayout| MatRef::batch(wide, layout, count, layout.rows * layout.columns);
    let (a, b) = (factor(&wide_a, a_layout)?, factor(&wide_b, b_layout)?);
    let c = match C::as_single(c) {
        Ok(c) => {
            completion.append(gemm(ops[0], ops[1], alpha, a, b, beta, c)?);
            return Ok(completion);
        }
        Err(c) => c,
    };
    let (layout, stride) = (*c.layout(), c.stride());
    let sums_layout = MatrixLayout::column_major(layout.rows, layout.columns);
    let mut sums = Buffer::<f32>::uninitialised(&device, layout.rows * layout.columns * count)?;
    let to = MatMut::batch(&mut sums, sums_layout, count, layout.rows * layout.columns)?;
    completion.append(gemm(ops[0], ops[1], alpha, a, b, 0.0, to)?);
    let mut arguments = extents(&layout).to_vec();
    arguments.extend([(&sums).into(), Argument::value(beta)]);
    let (_, from_first) = c.into_elements().split_at(layout.offset)?;
    arguments.push(from_first.into());
    arguments.extend(steps(&layout, stride));
    completion.append(Completion::of(vec![kernels.add_result.launch(plane(&layout, count), &arguments)?]));
    Ok(completion)
}

fn extents(layout: &MatrixLayout) -> [Argument<'static>; 2] {
    [layout.rows, layout.columns].map(|extent| Argument::value(extent as u64))
}

/// Returns the distances to the next row, column and matrix.
fn steps(layout: &MatrixLayout, stride: usize) -> [Argument<'static>; 3] {
    let (down, across) = match layout.order {
        Order::ColumnMajor => (1, layout.leading_dimension),
        Order::RowMajor => (layout.leading_dimension, 1),
    };
    [down, across, stride].map(|step| Argument::value(step as u64))
}

fn plane(layout: &MatrixLayout, count: usize) -> Range {
    let [rows, columns] = [layout.rows, layout.columns].map(|extent| extent.next_multiple_of(TILE));
    Range::new([rows, columns, count], [TILE, TILE, 1])
}
