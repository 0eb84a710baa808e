//! Matrices with vectors on one device: y = α op(A) x + β y, and A = A + α x yᵀ. The kernels are in `cl/level2.cl`, their twins in
//! [`host::level2`](crate::host::level2).
//!
//! The contract is that of [`gemm`](fn@super::gemm): with β = 0, y is only written; with α = 0, A and x are not read;
//! any extent may be 0. Vectors are buffers, parts of buffers, or elements at equal distances ([`VecRef`]).

use super::completion::Completion;
use super::error::{BlasError, BlasResult, operand_name};
use super::level1::WIDEST_LOAD;
use super::matrix::{MatMut, MatRef, Op, Order};
use super::vector::{VecMut, VecRef};
use crate::device::{
    Argument, Device, DeviceInfo, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter, Range, Result,
};
use crate::scalar::Element;
use num_complex::Complex;
use std::marker::PhantomData;
use std::sync::Arc;

const LEVEL2: KernelFamily =
    KernelFamily::new("level2", &[include_str!("../../cl/packs.cl"), include_str!("../../cl/level2.cl")]);

/// Work-items of a group in the kernels that do little.
const SIMPLE_GROUP: usize = 64;

/// How the operations are cut into work-groups on one device: the definitions of `cl/level2.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    lanes: usize,
    /// Whether every column of a matrix begins where a load of so many lanes may.
    aligned: bool,
    local_rows: usize,
    local_slices: usize,
    item_packs: usize,
    columns: usize,
    /// Groups that keep the device busy with sums along rows, and along columns.
    groups: [usize; 2],
    /// Terms below which a sum is not worth cutting.
    least_part: usize,
}

impl Shape {
    fn of<T: Element>(info: &DeviceInfo, aligned: bool) -> Self {
        let real = size_of::<T::Real>();
        if info.kind == DeviceKind::Cpu {
            Self {
                lanes: if real == 4 { 16 } else { 8 },
                aligned: false,
                local_rows: 1,
                local_slices: 1,
                item_packs: 8,
                columns: 4,
                groups: [4 * info.compute_units; 2],
                least_part: 256,
            }
        } else {
            // A warp reads neighbouring rows, and many of them share the columns.
            // Not more than 256 work-items: NVIDIA's driver promises no more for a kernel, whatever its attribute says.
            let local_slices = (info.max_work_group_size / 32).clamp(1, 8);
            Self {
                lanes: if aligned { WIDEST_LOAD / real } else { T::REALS },
                aligned,
                local_rows: 32,
                local_slices,
                item_packs: 1,
                columns: 4,
                // Narrow loads need more of them under way.
                groups: [if aligned { 4 } else { 16 }, 4].map(|groups| groups * info.compute_units),
                least_part: 16 * local_slices,
            }
        }
    }

    fn pack<T: Element>(&self) -> usize {
        self.lanes / T::REALS
    }

    fn local(&self) -> usize {
        self.local_rows * self.local_slices
    }

    /// Into how many parts to cut sums over `terms` terms, of which `groups` work-groups make one each, along rows or columns.
    fn parts(&self, groups: usize, terms: usize, along_rows: bool) -> usize {
        let busy = self.groups[usize::from(!along_rows)];
        // One group more than half of what keeps the device busy is better off uncut.
        let wanted = if 2 * groups > busy { 1 } else { busy.div_ceil(groups) };
        wanted.min(terms.div_ceil(self.least_part)).max(1)
    }
}

/// The kernels for elements of type `T` on one device.
struct Kernels<T> {
    shape: Shape,
    gemv_rows: Kernel,
    gemv_columns: Kernel,
    sum_of_parts: Kernel,
    gather: Kernel,
    rank_one: Kernel,
    element: PhantomData<T>,
}

impl<T: Element> Kernels<T> {
    /// Those for operands that are aligned to the widest loads, or for any. Built on first use, kept by the device.
    fn of(device: &Device, aligned: bool) -> Result<Arc<Self>> {
        if device.info().kind == DeviceKind::Cpu || aligned {
            return device.attached(|device| Self::new(device, true));
        }
        let any = device.attached(|device| Self::new(device, false).map(Arc::new).map(OfAnyOperands))?;
        Ok(any.0.clone())
    }

    fn new(device: &Device, aligned: bool) -> Result<Self> {
        let shape = Shape::of::<T>(device.info(), aligned);
        let key = KernelKey::of_element::<T>(LEVEL2)
            .lanes(shape.lanes)
            .define("ALIGNED", usize::from(shape.aligned))
            .define("LOCAL_ROWS", shape.local_rows)
            .define("LOCAL_SLICES", shape.local_slices)
            .define("ITEM_PACKS", shape.item_packs)
            .define("COLUMNS", shape.columns);
        let program = device.program(&key)?;
        let (input, output) = (Parameter::input_view::<T>, Parameter::output_view::<T>);
        let (scalar, number, flag) =
            (Parameter::value::<T>, Parameter::value::<u64>, Parameter::value::<u32>);
        let partials = Parameter::output::<T>("partials");
        let matrix =
            [number("m"), number("n"), scalar("alpha"), input("a"), number("a_leading"), flag("conjugate")];
        let result = [scalar("beta"), output("y"), number("y_stride"), partials];
        let x = [input("x"), number("x_stride")];
        Ok(Self {
            shape,
            gemv_rows: program.kernel("gemv_rows", &[&matrix[..], &x, &result].concat())?,
            gemv_columns: program.kernel("gemv_columns", &[&matrix[..], &x[..1], &result].concat())?,
            sum_of_parts: program.kernel(
                "sum_of_parts",
                &[
                    number("count"),
                    number("parts"),
                    Parameter::input::<T>("partials"),
                    scalar("alpha"),
                    scalar("beta"),
                    output("y"),
                    number("y_stride"),
                ],
            )?,
            gather: program.kernel(
                "gather",
                &[number("count"), input("x"), number("x_stride"), Parameter::output::<T>("to")],
            )?,
            rank_one: program.kernel(
                "rank_one",
                &[
                    number("m"),
                    number("n"),
                    scalar("alpha"),
                    input("x"),
                    number("x_stride"),
                    flag("x_conjugate"),
                    input("y"),
                    number("y_stride"),
                    flag("y_conjugate"),
                    output("a"),
                    number("a_leading"),
                ],
            )?,
            element: PhantomData,
        })
    }
}

/// The kernels for operands that begin anywhere.
struct OfAnyOperands<T>(Arc<Kernels<T>>);

/// Starts y = α op(A) x + β y.
///
/// # Errors
/// [`BlasError::Shape`], [`BlasError::SingleMatrix`], [`BlasError::OtherDevice`]: nothing is started then.
/// [`BlasError::Device`] if a driver does not take the kernels, memory is short or the device fails.
pub fn gemv<'a, 'b, T: Element>(
    op: Op,
    alpha: impl Into<Complex<f64>>,
    a: MatRef<'_, T>,
    x: impl Into<VecRef<'a, T>>,
    beta: impl Into<Complex<f64>>,
    y: impl Into<VecMut<'b, T>>,
) -> BlasResult<Completion> {
    let (x, y) = (x.into(), y.into());
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
    let aligned = (layout.leading_dimension * size_of::<T>()).is_multiple_of(WIDEST_LOAD)
        && [x.argument()?, elements.into()].iter().all(|argument| argument.is_aligned_to(WIDEST_LOAD));
    let kernels = Kernels::<T>::of(&device, aligned)?;
    let Kernels { shape, .. } = *kernels;
    let (alpha, beta) = (T::from_complex(alpha.into()), T::from_complex(beta.into()));
    let y_stride = Argument::value(y.layout().stride as u64);
    let y = y.into_argument()?;
    if rows == 0 {
        return Ok(Completion::nothing());
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
    if terms == 0 || alpha == T::default() {
        let nothing = device.scratch::<T>(0)?;
        return Ok(Completion::of(vec![add_parts(0, nothing.input())?]));
    }

    // Rows of op(A) run across its lines.
    let across = (op == Op::N) == (layout.order == Order::ColumnMajor);
    let conjugate = Argument::value(u32::from(op == Op::C && T::IS_COMPLEX));
    let (m, n) = if across { (rows, terms) } else { (terms, rows) };
    let a = [elements.into(), Argument::value(layout.leading_dimension as u64), conjugate];
    let head = [Argument::value(m as u64), Argument::value(n as u64), Argument::value(alpha)];
    let mut events = Vec::with_capacity(3);
    let groups = if across {
        rows.div_ceil(shape.local_rows * shape.item_packs * shape.pack::<T>())
    } else {
        rows.div_ceil(shape.columns)
    };
    let parts = shape.parts(groups, terms, across);
    let mut partials = device.scratch::<T>(if parts > 1 { parts * rows } else { 0 })?;
    let tail = [Argument::value(beta), y, y_stride];
    if across {
        let x = [x.argument()?, Argument::value(x.layout().stride as u64)];
        let arguments = [&head[..], &a, &x, &tail, &[partials.output()]].concat();
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
            let mut dense = crate::device::Buffer::<T>::zeroed(&device, terms)?;
            let x = [x.argument()?, Argument::value(x.layout().stride as u64)];
            let arguments = [&[Argument::value(terms as u64)][..], &x, &[(&mut dense).into()]].concat();
            events.push(kernels.gather.launch(Range::covering(terms, SIMPLE_GROUP), &arguments)?);
            let arguments = [&head[..], &a, &[dense.view().into()], &tail, &[partials.output()]].concat();
            events.push(kernels.gemv_columns.launch(range, &arguments)?);
        }
    }
    if parts > 1 {
        events.push(add_parts(parts, partials.input())?);
    }
    Ok(Completion::of(events))
}

/// Starts A = A + α x yᵀ: the BLAS calls it `ger` for real elements and `geru` for complex ones.
///
/// # Errors
/// As [`gemv`].
#[doc(alias = "geru")]
pub fn ger<'a, 'b, T: Element>(
    alpha: impl Into<Complex<f64>>,
    x: impl Into<VecRef<'a, T>>,
    y: impl Into<VecRef<'b, T>>,
    a: MatMut<'_, T>,
) -> BlasResult<Completion> {
    rank_one("ger", alpha.into(), x.into(), y.into(), false, a)
}

/// Starts A = A + α x yᴴ.
///
/// # Errors
/// As [`gemv`].
pub fn gerc<'a, 'b, T: Element>(
    alpha: impl Into<Complex<f64>>,
    x: impl Into<VecRef<'a, T>>,
    y: impl Into<VecRef<'b, T>>,
    a: MatMut<'_, T>,
) -> BlasResult<Completion> {
    rank_one("gerc", alpha.into(), x.into(), y.into(), T::IS_COMPLEX, a)
}

fn rank_one<T: Element>(
    operation: &'static str,
    alpha: Complex<f64>,
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
    let alpha = T::from_complex(alpha);
    let layout = *a.layout();
    if layout.is_empty() || alpha == T::default() {
        return Ok(Completion::nothing());
    }
    let (x, y) = (factor(x, false)?, factor(y, conjugate)?);
    // A row-major A is worked on as Aᵀ = Aᵀ + α y xᵀ.
    let (m, n, x, y) = match layout.order {
        Order::ColumnMajor => (layout.rows, layout.columns, x, y),
        Order::RowMajor => (layout.columns, layout.rows, y, x),
    };
    let (_, elements) = a.into_elements().split_at(layout.offset)?;
    let head = [Argument::value(m as u64), Argument::value(n as u64), Argument::value(alpha)];
    let a = [elements.into(), Argument::value(layout.leading_dimension as u64)];
    let arguments = [&head[..], &x, &y, &a].concat();
    let Shape { local_rows, columns, .. } = kernels.shape;
    let items = m.div_ceil(kernels.shape.pack::<T>()).next_multiple_of(local_rows);
    let range = Range::new([items, n.div_ceil(columns)], [local_rows, 1]);
    Ok(Completion::of(vec![kernels.rank_one.launch(range, &arguments)?]))
}

/// The elements of a vector, their distance, and whether they are conjugated.
fn factor<T: Element>(vector: VecRef<'_, T>, conjugate: bool) -> Result<[Argument<'_>; 3]> {
    let stride = Argument::value(vector.layout().stride as u64);
    Ok([vector.argument()?, stride, Argument::value(u32::from(conjugate))])
}

/// An extent of an operand is what others ask for.
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

/// The operation works on one matrix, not on a batch.
pub(super) fn check_single(operation: &'static str, found: usize) -> BlasResult<()> {
    if found == 1 { Ok(()) } else { Err(BlasError::SingleMatrix { operation, found }) }
}

/// An operand is where the result is.
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
