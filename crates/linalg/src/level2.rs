//! Matrices with vectors on one device: y = α op(A) x + β y, and A = A + α x yᵀ.
//!
//! The kernels are in `cl/level2.cl`, their twins in [`host::level2`](crate::host::level2).
//!
//! The contract is that of [`gemm`](fn@super::gemm). With β = 0, y is only written. With α = 0, A
//! and x are not read. Any extent may be 0. Without terms to add, y = β y.
//!
//! Vectors are buffers, parts of buffers, or elements at equal distances ([`VecRef`]).

use super::completion::Completion;
use super::error::{BlasError, BlasResult, operand_name};
use super::level1::WIDEST_LOAD;
use super::matrix::{MatMut, MatRef, Order};
use super::op::Op;
use super::vector::{VecMut, VecRef};
use lattice_compute::scalar::{Element, Factor, Scalar};
use lattice_compute::{Argument, Device, DeviceKind, Kernel, KernelFamily, KernelKey, Range, Result};
use std::marker::PhantomData;
use std::sync::Arc;

const LEVEL2: KernelFamily = KernelFamily::new(
    "level2",
    &[include_str!("../cl/elements.cl"), include_str!("../cl/packs.cl"), include_str!("../cl/level2.cl")],
);

/// Work-items of a group in the kernels with little work.
const SIMPLE_GROUP: usize = 64;

/// The way in which operations are cut into work-groups on one device.
///
/// The fields are the definitions of `cl/level2.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    lanes: usize,
    /// `true` if every column of a matrix begins where a load of `lanes` may.
    aligned: bool,
    local_rows: usize,
    local_slices: usize,
    item_packs: usize,
    /// Columns that an item of a sum along rows has under way.
    ahead: usize,
    /// Sums that an item adds at a time when the sums of a group of rows become one.
    tree: usize,
    /// `true` if the last group that is done adds the parts of sums along rows.
    ///
    /// Otherwise another launch adds the parts.
    last_adds: bool,
    /// Two numbers of groups for sums along rows.
    ///
    /// The first is the fewest that keep the device busy. The second is the most that sums are cut
    /// into parts for.
    row_groups: [usize; 2],
    columns: usize,
    /// Groups that keep the device busy with sums along columns.
    column_groups: usize,
    /// Terms below which a sum is not worth cutting, along rows and along columns.
    least_part: [usize; 2],
    /// Work-items of a group of an update of rank one.
    update_size: usize,
}

impl Shape {
    fn of<T: Element>(device: &Device, aligned: bool) -> Self {
        let (info, real) = (device.info(), size_of::<T::Real>());
        let units = info.compute_units;
        if info.kind == DeviceKind::Cpu {
            Self {
                lanes: if real == 4 { 16 } else { 8 },
                aligned: false,
                local_rows: 1,
                local_slices: 1,
                item_packs: 8,
                ahead: 1,
                tree: 2,
                last_adds: false,
                row_groups: [2 * units, 4 * units],
                columns: 4,
                column_groups: 4 * units,
                least_part: [256; 2],
                update_size: 1,
            }
        } else {
            // A warp reads neighbouring rows, and many warps share the columns. Each item has eight
            // loads under way. A group has at most 256 work-items: NVIDIA's driver promises no more
            // for a kernel, whatever its attribute says. On an H200, four or two groups run side by
            // side on a unit. Parts are worth it up to that many groups: 1.4 groups a unit take 1.2
            // times as long as 2.8. One more group is not worth it: the last ones then run alone.
            let (local_rows, item_packs, ahead, tree, most) =
                if T::IS_COMPLEX { (16, 2, 4, 4, 2 * units) } else { (32, 1, 8, 8, 4 * units) };
            let local_slices = (info.max_work_group_size.min(256) / local_rows).max(1);
            Self {
                lanes: if aligned { WIDEST_LOAD / real } else { T::REALS },
                aligned,
                local_rows,
                local_slices,
                item_packs,
                ahead,
                tree,
                last_adds: device.supports_inline_ptx(),
                row_groups: [units + units / 3, most],
                columns: 4,
                column_groups: 4 * units,
                least_part: [ahead * local_slices, 128],
                update_size: info.max_work_group_size.min(32),
            }
        }
    }

    fn pack<T: Element>(&self) -> usize {
        self.lanes / T::REALS
    }

    fn local(&self) -> usize {
        self.local_rows * self.local_slices
    }

    /// Tells whether sums along rows may take packs of rows in unaligned columns.
    ///
    /// They may if the columns of a work-item begin equally far behind a multiple of a pack.
    fn may_shift<T: Element>(&self) -> bool {
        self.aligned && self.local_slices.is_multiple_of(self.pack::<T>())
    }

    /// Returns into how many parts to cut sums over `terms` terms along rows.
    ///
    /// `groups` work-groups would make the uncut sums.
    fn parts_of_rows(&self, groups: usize, terms: usize) -> usize {
        let [fewest, most] = self.row_groups;
        (most / groups).max(fewest.div_ceil(groups)).min(terms.div_ceil(self.least_part[0])).max(1)
    }

    /// Returns into how many parts to cut sums over `terms` terms along columns.
    ///
    /// `groups` work-groups would make the uncut sums.
    fn parts_of_columns(&self, groups: usize, terms: usize) -> usize {
        let busy = self.column_groups;
        // One group more than half of the busy device's groups is better off uncut.
        let wanted = if 2 * groups > busy { 1 } else { busy.div_ceil(groups) };
        wanted.min(terms.div_ceil(self.least_part[1])).max(1)
    }
}

/// The kernels for elements of type `T` on one device.
struct Kernels<T> {
    shape: Shape,
    gemv_rows: Kernel,
    gemv_columns: Kernel,
    sum_of_parts: Kernel,
    scale: Kernel,
    gather: Kernel,
    rank_one: Kernel,
    element: PhantomData<T>,
}

impl<T: Element> Kernels<T> {
    /// Returns the kernels for operands aligned to the widest loads, or for any.
    ///
    /// They are built on first use and kept by the device.
    fn of(device: &Device, aligned: bool) -> Result<Arc<Self>> {
        if device.info().kind == DeviceKind::Cpu || aligned {
            return device.attached(|device| Self::new(device, true));
        }
        let any = device.attached(|device| Self::new(device, false).map(Arc::new).map(OfAnyOperands))?;
        Ok(any.0.clone())
    }

    fn new(device: &Device, aligned: bool) -> Result<Self> {
        Self::with(device, Shape::of::<T>(device, aligned))
    }

    fn with(device: &Device, shape: Shape) -> Result<Self> {
        let key = KernelKey::of_element::<T>(LEVEL2)
            .lanes(shape.lanes)
            .define("ALIGNED", usize::from(shape.aligned))
            .define("LOCAL_ROWS", shape.local_rows)
            .define("LOCAL_SLICES", shape.local_slices)
            .define("ITEM_PACKS", shape.item_packs)
            .define("AHEAD", shape.ahead)
            .define("TREE", shape.tree)
            .define("LAST_ADDS", usize::from(shape.last_adds))
            .define("COLUMNS", shape.columns)
            .define("UPDATE_SIZE", shape.update_size);
        let program = device.program(&key)?;
        Ok(Self {
            shape,
            gemv_rows: program.kernel("gemv_rows")?,
            gemv_columns: program.kernel("gemv_columns")?,
            sum_of_parts: program.kernel("sum_of_parts")?,
            scale: program.kernel("scale")?,
            gather: program.kernel("gather")?,
            rank_one: program.kernel("rank_one")?,
            element: PhantomData,
        })
    }
}

/// The kernels for operands that begin anywhere.
struct OfAnyOperands<T>(Arc<Kernels<T>>);

/// Starts y = α op(A) x + β y.
///
/// # Errors
/// [`BlasError::Shape`], [`BlasError::SingleMatrix`], [`BlasError::OtherDevice`]: nothing is
/// started then. [`BlasError::Device`] if a driver does not take the kernels, memory is short or
/// the device fails.
pub fn gemv<'a, 'b, T: Element>(
    op: Op,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    x: impl Into<VecRef<'a, T>>,
    beta: impl Scalar<T>,
    y: impl Into<VecMut<'b, T>>,
) -> BlasResult<Completion> {
    gemv_with(Kernels::of, op, [alpha.factor(), beta.factor().keeping()], a, x.into(), y.into())
}

/// Starts y = α op(A) x + β y with the kernels that `kernels` returns.
///
/// The flag tells `kernels` whether matrices are aligned to the widest loads.
fn gemv_with<T: Element>(
    kernels: impl Fn(&Device, bool) -> Result<Arc<Kernels<T>>>,
    op: Op,
    [alpha, beta]: [Factor<T>; 2],
    a: MatRef<'_, T>,
    x: VecRef<'_, T>,
    y: VecMut<'_, T>,
) -> BlasResult<Completion> {
    let device = y.device().clone();
    let (rows, terms) = op.shape(a.rows(), a.columns());
    let a_name = operand_name("A", op);
    check_extent("gemv", &a_name, "rows", y.len(), rows, "as y has elements")?;
    check_extent("gemv", &a_name, "columns", x.len(), terms, "as x has elements")?;
    check_single("gemv", a.count())?;
    check_device("gemv", "A", &device, a.device())?;
    check_device("gemv", "x", &device, x.device())?;

    let layout = a.layout();
    // An empty matrix may begin anywhere.
    let elements = a.elements().slice(layout.offset.min(a.elements().len())..)?;
    let columns_aligned = (layout.leading_dimension * size_of::<T>()).is_multiple_of(WIDEST_LOAD)
        && Argument::from(elements).is_aligned_to(WIDEST_LOAD);
    // Rows of op(A) run across its lines.
    let across = (op == Op::N) == (layout.order == Order::ColumnMajor);
    let aligned = if across {
        columns_aligned || Shape::of::<T>(&device, true).may_shift::<T>()
    } else {
        columns_aligned && x.argument()?.is_aligned_to(WIDEST_LOAD)
    };
    let kernels = kernels(&device, aligned)?;
    let Kernels { shape, .. } = *kernels;
    let nothing_to_add = terms == 0 || alpha.is_zero();
    if rows == 0 || nothing_to_add && beta.is_one() {
        return Ok(Completion::nothing());
    }
    let (alpha, beta) = (alpha.for_kernel(), beta.for_kernel());
    let y_stride = Argument::value(y.layout().stride as u64);
    let y = y.into_argument()?;
    if nothing_to_add {
        let arguments = [Argument::value(rows as u64), Argument::value(beta), y, y_stride];
        return Ok(Completion::of(vec![
            kernels.scale.launch(Range::covering(rows, SIMPLE_GROUP), &arguments)?,
        ]));
    }
    let add_parts = |parts: usize, partials: Argument<'_>| {
        let range = Range::covering(rows, SIMPLE_GROUP);
        kernels.sum_of_parts.launch(
            range,
            &[
                Argument::value(rows as u64),
                Argument::value(parts as u64),
                partials,
                Argument::value(alpha),
                Argument::value(beta),
                y,
                y_stride,
            ],
        )
    };

    let conjugate = Argument::value(u32::from(op == Op::C && T::IS_COMPLEX));
    let (m, n) = if across { (rows, terms) } else { (terms, rows) };
    let a = [elements.into(), Argument::value(layout.leading_dimension as u64), conjugate];
    let head = [Argument::value(m as u64), Argument::value(n as u64), Argument::value(alpha)];
    let mut events = Vec::with_capacity(3);
    // Packs that lie higher than a group's rows reach less far down.
    let shifted = shape.aligned && !columns_aligned;
    let group_rows = (shape.local_rows * shape.item_packs - usize::from(shifted)) * shape.pack::<T>();
    let (groups, parts) = if across {
        let groups = rows.div_ceil(group_rows);
        (groups, shape.parts_of_rows(groups, terms))
    } else {
        let groups = rows.div_ceil(shape.columns);
        (groups, shape.parts_of_columns(groups, terms))
    };
    let mut partials = device.scratch::<T>(if parts > 1 { parts * rows } else { 0 })?;
    let tail = [Argument::value(beta), y, y_stride];
    if across {
        let x = [x.argument()?, Argument::value(x.layout().stride as u64)];
        let mut counters = device.counters(if shape.last_adds { groups } else { 0 })?;
        let together = [Argument::value(group_rows as u64), partials.output(), counters.argument()];
        let arguments = [&head[..], &a, &x, &tail, &together].concat();
        let range = Range::new(
            [groups * shape.local_rows, parts * shape.local_slices],
            [shape.local_rows, shape.local_slices],
        );
        events.push(kernels.gemv_rows.launch(range, &arguments)?);
    } else {
        let range = Range::new([groups * shape.local(), parts], [shape.local(), 1]);
        if x.layout().stride == 1 {
            let arguments = [&head[..], &a, &[x.argument()?], &tail, &[partials.output()]].concat();
            events.push(kernels.gemv_columns.launch(range, &arguments)?);
        } else {
            let mut dense = lattice_compute::Buffer::<T>::zeroed(&device, terms)?;
            let x = [x.argument()?, Argument::value(x.layout().stride as u64)];
            let arguments = [&[Argument::value(terms as u64)][..], &x, &[(&mut dense).into()]].concat();
            events.push(kernels.gather.launch(Range::covering(terms, SIMPLE_GROUP), &arguments)?);
            let arguments = [&head[..], &a, &[dense.view().into()], &tail, &[partials.output()]].concat();
            events.push(kernels.gemv_columns.launch(range, &arguments)?);
        }
    }
    if parts > 1 && !(across && shape.last_adds) {
        events.push(add_parts(parts, partials.input())?);
    }
    Ok(Completion::of(events))
}

/// Starts A = A + α x yᵀ.
///
/// The BLAS calls it `ger` for real elements and `geru` for complex ones. With α = 0, x and y are
/// not read.
///
/// # Errors
/// The errors of [`gemv`].
#[doc(alias = "geru")]
pub fn ger<'a, 'b, T: Element>(
    alpha: impl Scalar<T>,
    x: impl Into<VecRef<'a, T>>,
    y: impl Into<VecRef<'b, T>>,
    a: MatMut<'_, T>,
) -> BlasResult<Completion> {
    rank_one("ger", alpha.factor(), x.into(), y.into(), false, a)
}

/// Starts A = A + α x yᴴ.
///
/// With α = 0, x and y are not read.
///
/// # Errors
/// The errors of [`gemv`].
pub fn gerc<'a, 'b, T: Element>(
    alpha: impl Scalar<T>,
    x: impl Into<VecRef<'a, T>>,
    y: impl Into<VecRef<'b, T>>,
    a: MatMut<'_, T>,
) -> BlasResult<Completion> {
    rank_one("gerc", alpha.factor(), x.into(), y.into(), T::IS_COMPLEX, a)
}

fn rank_one<T: Element>(
    operation: &'static str,
    alpha: Factor<T>,
    x: VecRef<'_, T>,
    y: VecRef<'_, T>,
    conjugate: bool,
    a: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let device = a.device().clone();
    check_extent(operation, "x", "elements", a.rows(), x.len(), "as A has rows")?;
    check_extent(operation, "y", "elements", a.columns(), y.len(), "as A has columns")?;
    check_single(operation, a.count())?;
    check_device(operation, "x", &device, x.device())?;
    check_device(operation, "y", &device, y.device())?;
    let kernels = Kernels::<T>::of(&device, false)?;
    let layout = *a.layout();
    if layout.is_empty() || alpha.is_zero() {
        return Ok(Completion::nothing());
    }
    let (x, y) = (factor(x, false)?, factor(y, conjugate)?);
    // A row-major A is worked on as Aᵀ = Aᵀ + α y xᵀ.
    let (m, n, x, y) = match layout.order {
        Order::ColumnMajor => (layout.rows, layout.columns, x, y),
        Order::RowMajor => (layout.columns, layout.rows, y, x),
    };
    let (_, elements) = a.into_elements().split_at(layout.offset)?;
    let head = [Argument::value(m as u64), Argument::value(n as u64), Argument::value(alpha.for_kernel())];
    let a = [elements.into(), Argument::value(layout.leading_dimension as u64)];
    let arguments = [&head[..], &x, &y, &a].concat();
    let Shape { update_size, columns, .. } = kernels.shape;
    let items = m.div_ceil(kernels.shape.pack::<T>()).next_multiple_of(update_size);
    let range = Range::new([items, n.div_ceil(columns)], [update_size, 1]);
    Ok(Completion::of(vec![kernels.rank_one.launch(range, &arguments)?]))
}

/// Returns the elements of a vector, their distance, and the flag of conjugation.
fn factor<T: Element>(vector: VecRef<'_, T>, conjugate: bool) -> Result<[Argument<'_>; 3]> {
    let stride = Argument::value(vector.layout().stride as u64);
    Ok([vector.argument()?, stride, Argument::value(u32::from(conjugate))])
}

/// Checks that an extent of an operand is the one that the others ask for.
pub(super) fn check_extent(
    operation: &'static str,
    operand: &str,
    extent: &'static str,
    wanted: usize,
    found: usize,
    reason: &'static str,
) -> BlasResult<()> {
    if wanted == found {
        return Ok(());
    }
    Err(BlasError::Shape { operation, operand: operand.to_owned(), extent, wanted, found, reason })
}

/// Checks that an operation on one matrix is not given a batch.
pub(super) fn check_single(operation: &'static str, found: usize) -> BlasResult<()> {
    if found == 1 { Ok(()) } else { Err(BlasError::SingleMatrix { operation, found }) }
}

/// Checks that an operand is on the device of the result.
pub(super) fn check_device(
    operation: &'static str,
    operand: &'static str,
    wanted: &Device,
    found: &Device,
) -> BlasResult<()> {
    if wanted == found {
        return Ok(());
    }
    let (wanted, found) = (wanted.label().to_owned(), found.label().to_owned());
    Err(BlasError::OtherDevice { operation, operand, wanted, found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatrixLayout;
    use lattice_compute::{Buffer, CacheMode, DeviceOptions, TuningMode, discover};

    #[test]
    fn parts_added_by_the_last_group_are_those_added_by_another_launch() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
        for mut found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            // Atomics of a processor order all of its accesses, as the fence of NVIDIA's GPUs does.
            let processor = found.info.kind == DeviceKind::Cpu;
            found.info.kind = DeviceKind::Gpu;
            let device = Device::open(&found, &options).unwrap();
            let in_launch = processor || device.supports_inline_ptx();
            let [last, another] = [in_launch, false].map(|last_adds| {
                let shape = Shape { last_adds, row_groups: [1, 64], ..Shape::of::<f64>(&device, true) };
                Arc::new(Kernels::<f64>::with(&device, shape).unwrap())
            });
            // Three blocks of rows, and columns that begin at no multiple of a pack.
            let (m, n) = (130, 701);
            let numbers = |count: usize, step: f64| -> Vec<f64> {
                (0..count).map(|i| (step * i as f64).sin()).collect()
            };
            let a = Buffer::from_slice(&device, &numbers(131 * n, 0.7)).unwrap();
            let x = Buffer::from_slice(&device, &numbers(n, 1.3)).unwrap();
            let layout = MatrixLayout::column_major(m, n).leading_dimension(131);
            let product = |kernels: &Arc<Kernels<f64>>| {
                let mut y = Buffer::from_slice(&device, &vec![1.0; m]).unwrap();
                let a = MatRef::new(&a, layout).unwrap();
                let scalars = [0.5, -2.0].map(Scalar::factor);
                gemv_with(|_, _| Ok(kernels.clone()), Op::N, scalars, a, (&x).into(), (&mut y).into())
                    .unwrap();
                y.to_vec().unwrap()
            };
            let expected = product(&another);
            assert!(expected.iter().any(|&y| y != -2.0));
            // Each finds the counters as the one before has left them.
            for _ in 0..3 {
                assert_eq!(product(&last), expected, "on {}", device.label());
            }
        }
    }
}
