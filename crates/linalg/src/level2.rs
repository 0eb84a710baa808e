//! Matrices with vectors on one device: y = α op(A) x + β y, and A = A + α x yᵀ.
//!
//! The kernels are in `cl/level2.cl`, their twins in [`host::level2`](crate::host::level2).
//!
//! The contract is that of [`gemm`](fn@super::gemm). With β = 0, y is only written. With α = 0, A
//! and x are not read. Any extent may be 0. Without terms to add, y = β y.
//!
//! Vectors are buffers, parts of buffers, or elements at equal distances ([`VecRef`]).

use super::block::Operand;
use super::completion::Completion;
use super::error::{BlasError, BlasResult, operand_name};
use super::level1::WIDEST_LOAD;
use super::matrix::{MatMut, MatRef, Order};
use super::op::Op;
use super::vector::{Line, VecMut, VecRef};
use lattice_compute::scalar::{AnyFactor, Element, ElementType, Scalar};
use lattice_compute::{
    Argument, AttachmentKey, Device, DeviceKind, Kernel, KernelFamily, KernelKey, Range, Result,
};
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
    fn of(device: &Device, element: ElementType, aligned: bool) -> Self {
        let (info, real) = (device.info(), element.precision.bytes());
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
                if element.complex { (16, 2, 4, 4, 2 * units) } else { (32, 1, 8, 8, 4 * units) };
            let local_slices = (info.max_work_group_size.min(256) / local_rows).max(1);
            Self {
                lanes: if aligned { WIDEST_LOAD / real } else { element.reals() },
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

    fn pack(&self, element: ElementType) -> usize {
        self.lanes / element.reals()
    }

    fn local(&self) -> usize {
        self.local_rows * self.local_slices
    }

    /// Tells whether sums along rows may take packs of rows in unaligned columns.
    ///
    /// They may if the columns of a work-item begin equally far behind a multiple of a pack.
    fn may_shift(&self, element: ElementType) -> bool {
        self.aligned && self.local_slices.is_multiple_of(self.pack(element))
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

/// The kernels for elements of one type on one device.
struct Kernels {
    shape: Shape,
    gemv_rows: Kernel,
    gemv_columns: Kernel,
    sum_of_parts: Kernel,
    scale: Kernel,
    gather: Kernel,
    rank_one: Kernel,
}

impl Kernels {
    /// Returns the kernels for operands aligned to the widest loads, or for any.
    ///
    /// They are built on first use and kept by the device.
    fn of(device: &Device, element: ElementType, aligned: bool) -> Result<Arc<Self>> {
        let aligned = aligned || device.info().kind == DeviceKind::Cpu;
        let key = AttachmentKey::from(element).with_variant(usize::from(aligned));
        device.attached_as(key, |device| Self::with(device, element, Shape::of(device, element, aligned)))
    }

    fn with(device: &Device, element: ElementType, shape: Shape) -> Result<Self> {
        let key = KernelKey::of(LEVEL2, element)
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
        })
    }
}

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
    let scalars = [alpha.factor().into(), beta.factor().keeping().into()];
    start(op, scalars, a.into(), x.into().into(), y.into().into())
}

/// Starts y = α op(A) x + β y for operands that are not checked yet.
pub(super) fn start(
    op: Op,
    scalars: [AnyFactor; 2],
    a: Operand<'_>,
    x: Line<'_>,
    y: Line<'_>,
) -> BlasResult<Completion> {
    start_with(Kernels::of, op, scalars, a, x, y)
}

/// Starts y = α op(A) x + β y with the kernels that `kernels` returns.
///
/// The flag tells `kernels` whether matrices are aligned to the widest loads.
fn start_with(
    kernels: impl Fn(&Device, ElementType, bool) -> Result<Arc<Kernels>>,
    op: Op,
    [alpha, beta]: [AnyFactor; 2],
    Operand { block: a, count, device: a_device, .. }: Operand<'_>,
    x: Line<'_>,
    y: Line<'_>,
) -> BlasResult<Completion> {
    let (device, element) = (y.device, a.element);
    let (rows, terms) = op.shape(a.rows, a.columns);
    let a_name = operand_name("A", op);
    check_extent("gemv", &a_name, "rows", y.len, rows, "as y has elements")?;
    check_extent("gemv", &a_name, "columns", x.len, terms, "as x has elements")?;
    check_single("gemv", count)?;
    check_device("gemv", "A", device, a_device)?;
    check_device("gemv", "x", device, x.device)?;

    let columns_aligned = (a.leading_dimension * element.bytes()).is_multiple_of(WIDEST_LOAD)
        && a.elements.is_aligned_to(WIDEST_LOAD);
    // Rows of op(A) run across its lines.
    let across = (op == Op::N) == (a.order == Order::ColumnMajor);
    let aligned = if across {
        columns_aligned || Shape::of(device, element, true).may_shift(element)
    } else {
        columns_aligned && x.elements.is_aligned_to(WIDEST_LOAD)
    };
    let kernels = kernels(device, element, aligned)?;
    let Kernels { shape, .. } = *kernels;
    let nothing_to_add = terms == 0 || alpha.is_zero();
    if rows == 0 || nothing_to_add && beta.is_one() {
        return Ok(Completion::nothing());
    }
    let [alpha, beta] = [alpha, beta].map(Argument::from);
    let y = y.arguments();
    if nothing_to_add {
        let arguments = [Argument::value(rows as u64), beta, y[0], y[1]];
        return Ok(Completion::of(vec![
            kernels.scale.launch(Range::covering(rows, SIMPLE_GROUP), &arguments)?,
        ]));
    }
    let add_parts = |parts: usize, partials: Argument<'_>| {
        let counts = [rows, parts].map(|count| Argument::value(count as u64));
        let arguments = [&counts[..], &[partials, alpha, beta], &y].concat();
        kernels.sum_of_parts.launch(Range::covering(rows, SIMPLE_GROUP), &arguments)
    };

    let conjugate = Argument::value(u32::from(op == Op::C && element.complex));
    let (m, n) = if across { (rows, terms) } else { (terms, rows) };
    let a = [a.elements, Argument::value(a.leading_dimension as u64), conjugate];
    let head = [Argument::value(m as u64), Argument::value(n as u64), alpha];
    let mut events = Vec::with_capacity(3);
    // Packs that lie higher than a group's rows reach less far down.
    let shifted = shape.aligned && !columns_aligned;
    let group_rows = (shape.local_rows * shape.item_packs - usize::from(shifted)) * shape.pack(element);
    let (groups, parts) = if across {
        let groups = rows.div_ceil(group_rows);
        (groups, shape.parts_of_rows(groups, terms))
    } else {
        let groups = rows.div_ceil(shape.columns);
        (groups, shape.parts_of_columns(groups, terms))
    };
    let mut partials = device.scratch_of(element, if parts > 1 { parts * rows } else { 0 })?;
    let tail = [beta, y[0], y[1]];
    if across {
        let mut counters = device.counters(if shape.last_adds { groups } else { 0 })?;
        let together = [Argument::value(group_rows as u64), partials.output(), counters.argument()];
        let arguments = [&head[..], &a, &x.arguments(), &tail, &together].concat();
        let range = Range::new(
            [groups * shape.local_rows, parts * shape.local_slices],
            [shape.local_rows, shape.local_slices],
        );
        events.push(kernels.gemv_rows.launch(range, &arguments)?);
    } else {
        let range = Range::new([groups * shape.local(), parts], [shape.local(), 1]);
        let mut dense = (x.stride != 1).then(|| device.scratch_of(element, terms)).transpose()?;
        let x = match &mut dense {
            None => x.elements,
            Some(dense) => {
                let count = [Argument::value(terms as u64)];
                let arguments = [&count[..], &x.arguments(), &[dense.output()]].concat();
                events.push(kernels.gather.launch(Range::covering(terms, SIMPLE_GROUP), &arguments)?);
                dense.input()
            }
        };
        let arguments = [&head[..], &a, &[x], &tail, &[partials.output()]].concat();
        events.push(kernels.gemv_columns.launch(range, &arguments)?);
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
    rank_one("ger", alpha.factor().into(), x.into().into(), y.into().into(), false, a.into())
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
    rank_one("gerc", alpha.factor().into(), x.into().into(), y.into().into(), T::IS_COMPLEX, a.into())
}

fn rank_one(
    operation: &'static str,
    alpha: AnyFactor,
    x: Line<'_>,
    y: Line<'_>,
    conjugate: bool,
    Operand { block: a, count, device, .. }: Operand<'_>,
) -> BlasResult<Completion> {
    check_extent(operation, "x", "elements", a.rows, x.len, "as A has rows")?;
    check_extent(operation, "y", "elements", a.columns, y.len, "as A has columns")?;
    check_single(operation, count)?;
    check_device(operation, "x", device, x.device)?;
    check_device(operation, "y", device, y.device)?;
    let kernels = Kernels::of(device, a.element, false)?;
    if a.rows == 0 || a.columns == 0 || alpha.is_zero() {
        return Ok(Completion::nothing());
    }
    let (x, y) = (factor(x, false), factor(y, conjugate));
    // A row-major A is worked on as Aᵀ = Aᵀ + α y xᵀ.
    let (m, n, x, y) = match a.order {
        Order::ColumnMajor => (a.rows, a.columns, x, y),
        Order::RowMajor => (a.columns, a.rows, y, x),
    };
    let head = [Argument::value(m as u64), Argument::value(n as u64), alpha.into()];
    let matrix = [a.elements, Argument::value(a.leading_dimension as u64)];
    let arguments = [&head[..], &x, &y, &matrix].concat();
    let Shape { update_size, columns, .. } = kernels.shape;
    let items = m.div_ceil(kernels.shape.pack(a.element)).next_multiple_of(update_size);
    let range = Range::new([items, n.div_ceil(columns)], [update_size, 1]);
    Ok(Completion::of(vec![kernels.rank_one.launch(range, &arguments)?]))
}

/// Returns the elements of a vector, their distance, and the flag of conjugation.
fn factor(vector: Line<'_>, conjugate: bool) -> [Argument<'_>; 3] {
    let [elements, stride] = vector.arguments();
    [elements, stride, Argument::value(u32::from(conjugate))]
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
                let shape = Shape {
                    last_adds,
                    row_groups: [1, 64],
                    ..Shape::of(&device, ElementType::of::<f64>(), true)
                };
                Arc::new(Kernels::with(&device, ElementType::of::<f64>(), shape).unwrap())
            });
            // Three blocks of rows, and columns that begin at no multiple of a pack.
            let (m, n) = (130, 701);
            let numbers = |count: usize, step: f64| -> Vec<f64> {
                (0..count).map(|i| (step * i as f64).sin()).collect()
            };
            let a = Buffer::from_slice(&device, &numbers(131 * n, 0.7)).unwrap();
            let x = Buffer::from_slice(&device, &numbers(n, 1.3)).unwrap();
            let layout = MatrixLayout::column_major(m, n).leading_dimension(131);
            let product = |kernels: &Arc<Kernels>| {
                let mut y = Buffer::from_slice(&device, &vec![1.0; m]).unwrap();
                let a = MatRef::new(&a, layout).unwrap();
                let scalars = [0.5, -2.0].map(|value| Scalar::<f64>::factor(value).into());
                let (x, to) = (VecRef::from(&x).into(), VecMut::from(&mut y).into());
                start_with(|_, _, _| Ok(kernels.clone()), Op::N, scalars, a.into(), x, to).unwrap();
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
