//! Relatives of the product, with a symmetric or Hermitian matrix.
//!
//! In [`symm`] and [`hemm`] the matrix is a factor, in [`syrk`] and [`herk`] the result. Only one
//! [`Triangle`] of the matrix is read or written, diagonal included.
//!
//! The kernels of [`gemm`](fn@super::gemm) do nearly all of the work, with the contract of `gemm`.
//! The kernels that read and write triangles are in `cl/triangles.cl`. The twin of all is
//! [`host::gemm`](crate::host::gemm), with the missing triangle filled in.

use super::completion::Completion;
use super::error::{BlasError, BlasResult};
use super::gemm::{self, GemmParams, Problem, gemm_with};
use super::level2::{check_device, check_extent, check_single};
use super::matrix::{MatMut, MatRef, Order};
use super::op::Op;
use lattice_compute::scalar::{Element, Factor, Scalar};
use lattice_compute::{Argument, Device, Kernel, KernelFamily, KernelKey, Parameter, Range, Result};
use std::marker::PhantomData;
use std::sync::Arc;

const TRIANGLES: KernelFamily =
    KernelFamily::new("triangles", &[include_str!("../cl/elements.cl"), include_str!("../cl/triangles.cl")]);

/// Rows and columns of the blocks along the diagonal.
///
/// Each block is computed as a whole, although only a triangle is wanted.
const DIAGONAL_BLOCK: usize = 256;

/// Edge of the work-groups.
const TILE: usize = 16;

/// The part of a square matrix that is read or written.
///
/// The diagonal belongs to both parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Triangle {
    /// Row number at least column number.
    Lower,
    /// Row number at most column number.
    Upper,
}

/// The side of a product on which a factor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The factor A in A B.
    Left,
    /// The factor A in B A.
    Right,
}

impl Triangle {
    /// Returns the flag of `cl/triangles.cl`, for a matrix seen as a column-major one.
    fn is_lower(self, order: Order) -> u32 {
        u32::from((self == Triangle::Lower) == (order == Order::ColumnMajor))
    }
}

/// The kernels for elements of type `T` on one device.
struct Kernels<T> {
    mirror: Kernel,
    update_diagonal: Kernel,
    element: PhantomData<T>,
}

impl<T: Element> Kernels<T> {
    fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(Self::new)
    }

    fn new(device: &Device) -> Result<Self> {
        let program = device.program(&KernelKey::of_element::<T>(TRIANGLES))?;
        let (number, flag, scalar) =
            (Parameter::value::<u64>, Parameter::value::<u32>, Parameter::value::<T>);
        let flags = [flag("lower"), flag("hermitian")];
        let a = [number("n"), Parameter::input_view::<T>("a"), number("a_leading")];
        let products = [number("edge"), number("first"), Parameter::input::<T>("products")];
        let c = [scalar("alpha"), scalar("beta"), Parameter::output_view::<T>("c"), number("c_leading")];
        Ok(Self {
            mirror: program
                .kernel("mirror", &[&a[..], &flags, &[Parameter::output::<T>("full")]].concat())?,
            update_diagonal: program.kernel("update_diagonal", &[&products[..], &c, &flags].concat())?,
            element: PhantomData,
        })
    }
}

/// Starts C = α A B + β C, or with [`Side::Right`] C = α B A + β C.
///
/// A is symmetric: A = Aᵀ. The product takes scratch memory for all of A.
///
/// # Errors
/// [`BlasError::NotSquare`], [`BlasError::Shape`], [`BlasError::SingleMatrix`],
/// [`BlasError::OtherDevice`]: nothing is started then. [`BlasError::Device`] if a driver does not
/// take the kernels, memory is short or the device fails.
pub fn symm<T: Element>(
    side: Side,
    triangle: Triangle,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: impl Scalar<T>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    multiply("symm", false, side, triangle, [alpha.factor(), beta.factor()], a, b, c)
}

/// Starts C = α A B + β C, or with [`Side::Right`] C = α B A + β C.
///
/// A is Hermitian: A = Aᴴ. The imaginary parts on the diagonal of A are taken to be zero. For real
/// elements `hemm` is [`symm`].
///
/// # Errors
/// The errors of [`symm`].
pub fn hemm<T: Element>(
    side: Side,
    triangle: Triangle,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: impl Scalar<T>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    multiply("hemm", T::IS_COMPLEX, side, triangle, [alpha.factor(), beta.factor()], a, b, c)
}

#[allow(clippy::too_many_arguments)]
fn multiply<T: Element>(
    operation: &'static str,
    hermitian: bool,
    side: Side,
    triangle: Triangle,
    [alpha, beta]: [Factor<T>; 2],
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    check_square(operation, "A", a.rows(), a.columns())?;
    for count in [a.count(), b.count(), c.count()] {
        check_single(operation, count)?;
    }
    let (device, n, layout, c_order) = (c.device().clone(), a.rows(), *a.layout(), c.layout().order);
    let elements = a.elements().slice(layout.offset..)?;
    // The factors in the order of the product, and their names in an error.
    let (factors, names) = match side {
        Side::Left => ([a, b], ["A", "B"]),
        Side::Right => ([b, a], ["B", "A"]),
    };
    let [first, second] = factors;
    let mut problem = Problem::named(operation, names, [Op::N; 2], alpha, first, second, beta, c)?;
    problem.beta = beta.keeping();
    if problem.m == 0 || problem.n == 0 || problem.is_empty() {
        return gemm::start(&device, &GemmParams::default(), problem);
    }
    let kernels = Kernels::<T>::of(&device)?;
    let mut full = device.scratch::<T>(n * n)?;
    let mut events = Vec::new();
    {
        let arguments = [
            Argument::value(n as u64),
            elements.into(),
            Argument::value(layout.leading_dimension as u64),
            Argument::value(triangle.is_lower(layout.order)),
            Argument::value(u32::from(hermitian)),
            full.output(),
        ];
        let edge = n.next_multiple_of(TILE);
        events.push(kernels.mirror.launch(Range::new([edge, edge], [TILE, TILE]), &arguments)?);
    }
    // All of A in its order takes the place of A. A row-major C is computed with the factors
    // exchanged.
    let a =
        if (side == Side::Left) == (c_order == Order::ColumnMajor) { &mut problem.a } else { &mut problem.b };
    (a.elements, a.leading_dimension) = (full.input(), n.max(1));
    events.extend(gemm::start(&device, &GemmParams::default(), problem)?.into_events());
    Ok(Completion::of(events))
}

/// Starts C = α A Aᵀ + β C on one triangle of C.
///
/// With [`Op::T`] it is C = α Aᵀ A + β C. The other triangle is neither read nor written.
///
/// # Errors
/// [`BlasError::NotSquare`], [`BlasError::Shape`], [`BlasError::SingleMatrix`],
/// [`BlasError::OtherDevice`], and [`BlasError::WrongOp`] for complex elements with [`Op::C`]:
/// nothing is started then. [`BlasError::Device`] if a driver does not take the kernels, memory is
/// short or the device fails.
pub fn syrk<T: Element>(
    triangle: Triangle,
    op: Op,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    beta: impl Scalar<T>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    if op == Op::C && T::IS_COMPLEX {
        return Err(BlasError::WrongOp { operation: "syrk", found: op, wanted: "N or T; herk takes C" });
    }
    rank_k("syrk", false, triangle, op, [alpha.factor(), beta.factor()], a, c)
}

/// Starts C = α A Aᴴ + β C on one triangle of C.
///
/// With [`Op::C`] it is C = α Aᴴ A + β C. The imaginary parts on the diagonal of C become zero, and
/// are not read. If there is nothing to add and β = 1, all of C stays unchanged. For real elements
/// `herk` is [`syrk`].
///
/// # Errors
/// The errors of [`syrk`]; [`BlasError::WrongOp`] for complex elements with [`Op::T`].
pub fn herk<T: Element>(
    triangle: Triangle,
    op: Op,
    alpha: impl Scalar<T::Real>,
    a: MatRef<'_, T>,
    beta: impl Scalar<T::Real>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    if op == Op::T && T::IS_COMPLEX {
        return Err(BlasError::WrongOp { operation: "herk", found: op, wanted: "N or C; syrk takes T" });
    }
    let scalars = [alpha.factor(), beta.factor()].map(Factor::of_real);
    rank_k("herk", T::IS_COMPLEX, triangle, op, scalars, a, c)
}

fn rank_k<T: Element>(
    operation: &'static str,
    hermitian: bool,
    triangle: Triangle,
    op: Op,
    [alpha, beta]: [Factor<T>; 2],
    a: MatRef<'_, T>,
    mut c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let n = c.rows();
    check_square(operation, "C", n, c.columns())?;
    let (rows, _) = op.shape(a.rows(), a.columns());
    check_extent(operation, if op == Op::N { "A" } else { "op(A)" }, "rows", n, rows, "as C has")?;
    for count in [a.count(), c.count()] {
        check_single(operation, count)?;
    }
    let device = c.device().clone();
    check_device(operation, "A", &device, a.device())?;

    // A product without terms is treated like α = 0.
    let (_, terms) = op.shape(a.rows(), a.columns());
    let (alpha, beta) = (if terms == 0 { 0.factor() } else { alpha }, beta.keeping());
    if n == 0 || alpha.is_zero() && beta.is_one() {
        return Ok(Completion::nothing());
    }
    let other = if hermitian { Op::C } else { Op::T };
    let update =
        RankUpdate { operation, triangle, op, ops: if op == Op::N { [op, other] } else { [other, Op::N] } };
    let mut events = Vec::new();
    update.off_diagonal(0..n, [alpha, beta], a, &mut c, &mut events)?;
    let whole = n / DIAGONAL_BLOCK;
    let last = whole * DIAGONAL_BLOCK;
    for (first, edge, count) in [(0, DIAGONAL_BLOCK, whole), (last, n - last, usize::from(last < n))] {
        if count > 0 {
            let blocks = Blocks { first, edge, count };
            update.diagonal(&device, hermitian, blocks, [alpha, beta], a, &mut c, &mut events)?;
        }
    }
    Ok(Completion::of(events))
}

/// A rank-k update, the product of A with itself.
struct RankUpdate {
    operation: &'static str,
    triangle: Triangle,
    /// How A enters on the left.
    op: Op,
    ops: [Op; 2],
}

/// Equal blocks along the diagonal.
#[derive(Clone, Copy)]
struct Blocks {
    first: usize,
    edge: usize,
    count: usize,
}

impl RankUpdate {
    /// Returns these rows of op(A), as a part of A.
    fn rows<'a, T: Element>(
        &self,
        a: MatRef<'a, T>,
        rows: std::ops::Range<usize>,
    ) -> BlasResult<MatRef<'a, T>> {
        if self.op == Op::N { a.submatrix(rows, 0..a.columns()) } else { a.submatrix(0..a.rows(), rows) }
    }

    /// Starts the products beside the diagonal blocks of these rows and columns.
    ///
    /// The part beside the blocks is a rectangle, and the same part of either half.
    fn off_diagonal<T: Element>(
        &self,
        range: std::ops::Range<usize>,
        [alpha, beta]: [Factor<T>; 2],
        a: MatRef<'_, T>,
        c: &mut MatMut<'_, T>,
        events: &mut Vec<lattice_compute::Event>,
    ) -> BlasResult<()> {
        if range.len() <= DIAGONAL_BLOCK {
            return Ok(());
        }
        let middle = range.start + (range.len() / 2).next_multiple_of(DIAGONAL_BLOCK);
        let (first, second) = (range.start..middle, middle..range.end);
        let (rows, columns) = match self.triangle {
            Triangle::Lower => (second.clone(), first.clone()),
            Triangle::Upper => (first.clone(), second.clone()),
        };
        let (left, right) = (self.rows(a, rows.clone())?, self.rows(a, columns.clone())?);
        let part = c.submatrix_mut(rows, columns)?;
        let [op_a, op_b] = self.ops;
        let product = gemm_with(&GemmParams::default(), op_a, op_b, alpha, left, right, beta, part)?;
        events.extend(product.into_events());
        self.off_diagonal(first, [alpha, beta], a, c, events)?;
        self.off_diagonal(second, [alpha, beta], a, c, events)
    }

    /// Starts the products on the diagonal blocks.
    ///
    /// All blocks go into scratch memory in one batch. Then a triangle of each block goes into C.
    #[allow(clippy::too_many_arguments)]
    fn diagonal<T: Element>(
        &self,
        device: &Device,
        hermitian: bool,
        blocks: Blocks,
        [alpha, beta]: [Factor<T>; 2],
        a: MatRef<'_, T>,
        c: &mut MatMut<'_, T>,
        events: &mut Vec<lattice_compute::Event>,
    ) -> BlasResult<()> {
        let Blocks { first, edge, count } = blocks;
        let mut products = device.scratch::<T>(count * edge * edge)?;
        let block = |number: usize| first + number * edge..first + (number + 1) * edge;
        let head = self.rows(a, block(0))?;
        let stride =
            if count > 1 { self.rows(a, block(1))?.layout().offset - head.layout().offset } else { 0 };
        let part = c.submatrix_mut(block(0), block(0))?;
        let mut problem = Problem::new(self.operation, self.ops, 1.factor(), head, head, 0.factor(), part)?;
        problem.count = count;
        (problem.a.stride, problem.b.stride) = (stride, stride);
        problem.c.elements = products.output();
        (problem.c.leading_dimension, problem.c.stride) = (edge, edge * edge);
        if !alpha.is_zero() {
            events.extend(gemm::start(device, &GemmParams::default(), problem)?.into_events());
        }

        let layout = *c.layout();
        let (_, elements) = c.reborrow().into_elements().split_at(layout.offset)?;
        let arguments = [
            Argument::value(edge as u64),
            Argument::value(first as u64),
            products.input(),
            Argument::value(alpha.for_kernel()),
            Argument::value(beta.for_kernel()),
            elements.into(),
            Argument::value(layout.leading_dimension as u64),
            Argument::value(self.triangle.is_lower(layout.order)),
            Argument::value(u32::from(hermitian)),
        ];
        let side = edge.next_multiple_of(TILE);
        let range = Range::new([side, side, count], [TILE, TILE, 1]);
        events.push(Kernels::<T>::of(device)?.update_diagonal.launch(range, &arguments)?);
        Ok(())
    }
}

fn check_square(
    operation: &'static str,
    operand: &'static str,
    rows: usize,
    columns: usize,
) -> BlasResult<()> {
    if rows == columns { Ok(()) } else { Err(BlasError::NotSquare { operation, operand, rows, columns }) }
}
