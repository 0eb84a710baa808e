//! Relatives of the product, with a symmetric or Hermitian matrix.
//!
//! In [`symm`] and [`hemm`] the matrix is a factor. In [`syrk`], [`herk`], [`syr2k`] and [`her2k`]
//! it is the result. Only one [`Triangle`] of the matrix is read or written, diagonal included.
//!
//! The kernels of [`gemm`](fn@super::gemm) do nearly all of the work, with the contract of `gemm`.
//! The kernels that read and write triangles are in `cl/triangles.cl`. The twin of all is
//! [`host::gemm`](crate::host::gemm), with the missing triangle filled in.

use super::block::{Block, Operand};
use super::completion::Completion;
use super::error::{BlasError, BlasResult};
use super::gemm::{self, GemmParams, OutputRegion, Problem};
use super::level2::{check_device, check_extent, check_single};
use super::matrix::{MatMut, MatRef, Order};
use super::op::Op;
use lattice_compute::scalar::{AnyFactor, Element, ElementType, Factor, Scalar};
use lattice_compute::{Argument, Device, Event, Kernel, KernelFamily, KernelKey, Range, Result};
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

/// The diagonal of a triangular matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Diagonal {
    /// The elements of the matrix.
    Stored,
    /// All ones, whatever is stored.
    Ones,
}

impl Triangle {
    /// Returns the flag of `cl/triangles.cl`, for a matrix seen as a column-major one.
    fn is_lower(self, order: Order) -> u32 {
        u32::from((self == Triangle::Lower) == (order == Order::ColumnMajor))
    }
}

/// The kernels for elements of one type on one device.
struct Kernels {
    mirror: Kernel,
    update_diagonal: Kernel,
}

impl Kernels {
    fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| {
            let program = device.program(&KernelKey::of(TRIANGLES, element))?;
            let [mirror, update_diagonal] = ["mirror", "update_diagonal"].map(|name| program.kernel(name));
            Ok(Self { mirror: mirror?, update_diagonal: update_diagonal? })
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
    let scalars = [alpha.factor().into(), beta.factor().into()];
    multiply("symm", false, side, triangle, scalars, [a.into(), b.into()], c.into())
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
    let scalars = [alpha.factor().into(), beta.factor().into()];
    multiply("hemm", T::IS_COMPLEX, side, triangle, scalars, [a.into(), b.into()], c.into())
}

fn multiply(
    operation: &'static str,
    hermitian: bool,
    side: Side,
    triangle: Triangle,
    [alpha, beta]: [AnyFactor; 2],
    [a, b]: [Operand<'_>; 2],
    c: Operand<'_>,
) -> BlasResult<Completion> {
    check_square(operation, "A", a.block.rows, a.block.columns)?;
    for operand in [a, b, c] {
        check_single(operation, operand.count)?;
    }
    let (device, a_block, n) = (c.device, a.block, a.block.rows);
    // The factors in the order of the product, and their names in an error.
    let (factors, names) = match side {
        Side::Left => ([a, b], ["A", "B"]),
        Side::Right => ([b, a], ["B", "A"]),
    };
    let mut problem = Problem::new(operation, names, [Op::N; 2], [alpha, beta.keeping()], factors, c)?;
    if problem.m == 0 || problem.n == 0 || problem.is_empty() {
        return gemm::start(device, &GemmParams::default(), problem);
    }
    let kernels = Kernels::of(device, a_block.element)?;
    let mut full = device.scratch_of(a_block.element, n * n)?;
    let arguments = [
        Argument::value(n as u64),
        a_block.elements,
        Argument::value(a_block.leading_dimension as u64),
        Argument::value(triangle.is_lower(a_block.order)),
        Argument::value(u32::from(hermitian)),
        full.output(),
    ];
    let edge = n.next_multiple_of(TILE);
    let mut events = vec![kernels.mirror.launch(Range::new([edge, edge], [TILE, TILE]), &arguments)?];
    // All of A in its order takes the place of A. A row-major C is computed with the factors
    // exchanged.
    let first = (side == Side::Left) == (c.block.order == Order::ColumnMajor);
    let a = if first { &mut problem.a } else { &mut problem.b };
    (a.elements, a.leading_dimension) = (full.input(), n.max(1));
    events.extend(gemm::start(device, &GemmParams::default(), problem)?.into_events());
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
    let scalars = [alpha.factor().into(), beta.factor().into()];
    rank_k("syrk", false, triangle, op, scalars, a.into(), c.into())
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
    let scalars = [alpha.factor(), beta.factor()].map(|real| Factor::<T>::of_real(real).into());
    rank_k("herk", T::IS_COMPLEX, triangle, op, scalars, a.into(), c.into())
}

/// Starts C = α A Bᵀ + α B Aᵀ + β C on one triangle of C.
///
/// With [`Op::T`] it is C = α Aᵀ B + α Bᵀ A + β C. The other triangle is neither read nor written.
///
/// # Errors
/// The errors of [`syrk`].
pub fn syr2k<T: Element>(
    triangle: Triangle,
    op: Op,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: impl Scalar<T>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    if op == Op::C && T::IS_COMPLEX {
        return Err(BlasError::WrongOp { operation: "syr2k", found: op, wanted: "N or T; her2k takes C" });
    }
    let scalars = [alpha.factor().into(), beta.factor().into()];
    rank_2k("syr2k", false, triangle, op, scalars, [a.into(), b.into()], c.into())
}

/// Starts C = α A Bᴴ + α* B Aᴴ + β C on one triangle of C.
///
/// With [`Op::C`] it is C = α Aᴴ B + α* Bᴴ A + β C. The imaginary parts on the diagonal of C become
/// zero, and are not read. If there is nothing to add and β = 1, all of C stays unchanged. For real
/// elements `her2k` is [`syr2k`].
///
/// # Errors
/// The errors of [`syrk`]; [`BlasError::WrongOp`] for complex elements with [`Op::T`].
pub fn her2k<T: Element>(
    triangle: Triangle,
    op: Op,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: impl Scalar<T::Real>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    if op == Op::T && T::IS_COMPLEX {
        return Err(BlasError::WrongOp { operation: "her2k", found: op, wanted: "N or C; syr2k takes T" });
    }
    let scalars = [alpha.factor().into(), Factor::<T>::of_real(beta.factor()).into()];
    rank_2k("her2k", T::IS_COMPLEX, triangle, op, scalars, [a.into(), b.into()], c.into())
}

fn rank_k(
    operation: &'static str,
    hermitian: bool,
    triangle: Triangle,
    op: Op,
    [alpha, beta]: [AnyFactor; 2],
    a: Operand<'_>,
    c: Operand<'_>,
) -> BlasResult<Completion> {
    check_result(operation, c)?;
    check_rank_factor(operation, "A", op, a, c)?;
    // A product without terms is treated like α = 0.
    let (_, terms) = op.shape(a.block.rows, a.block.columns);
    let (alpha, beta) = (if terms == 0 { alpha.element().factor(0) } else { alpha }, beta.keeping());
    if c.block.rows == 0 || alpha.is_zero() && beta.is_one() {
        return Ok(Completion::nothing());
    }
    let update = RankUpdate { device: c.device, lower: triangle == Triangle::Lower, hermitian };
    update.start([alpha, beta], update.factors(op, a.block, a.block), c.block)
}

fn rank_2k(
    operation: &'static str,
    hermitian: bool,
    triangle: Triangle,
    op: Op,
    [alpha, beta]: [AnyFactor; 2],
    [a, b]: [Operand<'_>; 2],
    c: Operand<'_>,
) -> BlasResult<Completion> {
    check_result(operation, c)?;
    check_rank_factor(operation, "A", op, a, c)?;
    check_rank_factor(operation, "B", op, b, c)?;
    let [(_, terms), (_, other_terms)] = [a.block, b.block].map(|x| op.shape(x.rows, x.columns));
    let b_name = if op == Op::N { "B" } else { "op(B)" };
    check_extent(operation, b_name, "columns", terms, other_terms, "as A, so transposed, has columns")?;
    let (zero, one) = (alpha.element().factor(0), alpha.element().factor(1));
    let (alpha, beta) = (if terms == 0 { zero } else { alpha }, beta.keeping());
    if c.block.rows == 0 || alpha.is_zero() && beta.is_one() {
        return Ok(Completion::nothing());
    }
    let update = RankUpdate { device: c.device, lower: triangle == Triangle::Lower, hermitian };
    let mut started = update.start([alpha, beta], update.factors(op, a.block, b.block), c.block)?;
    if !alpha.is_zero() {
        let alpha = if hermitian { alpha.conjugated() } else { alpha.as_element() };
        started.append(update.start([alpha, one], update.factors(op, b.block, a.block), c.block)?);
    }
    Ok(started)
}

fn check_result(operation: &'static str, c: Operand<'_>) -> BlasResult<()> {
    check_square(operation, "C", c.block.rows, c.block.columns)?;
    check_single(operation, c.count)
}

/// Checks a factor of an update of rank k against the result.
fn check_rank_factor(
    operation: &'static str,
    name: &'static str,
    op: Op,
    factor: Operand<'_>,
    c: Operand<'_>,
) -> BlasResult<()> {
    let (rows, _) = op.shape(factor.block.rows, factor.block.columns);
    let entering = if op == Op::N { name.to_owned() } else { format!("op({name})") };
    check_extent(operation, &entering, "rows", c.block.rows, rows, "as C has")?;
    check_single(operation, factor.count)?;
    check_device(operation, name, c.device, factor.device)
}

/// An update of one triangle, C = α A Bᵀ + β C or C = α A Bᴴ + β C.
///
/// The result of all terms together must be symmetric or Hermitian.
pub(super) struct RankUpdate<'a> {
    pub device: &'a Device,
    pub lower: bool,
    pub hermitian: bool,
}

/// Equal blocks along the diagonal.
#[derive(Clone, Copy)]
struct Blocks {
    first: usize,
    edge: usize,
    count: usize,
}

/// Both factors of an update as they enter the product.
///
/// They have as many rows as C, and as many columns.
#[derive(Clone, Copy)]
struct Factors<'a> {
    left: (Block<'a>, bool),
    right: (Block<'a>, bool),
}

impl<'a> Factors<'a> {
    /// Returns these rows of the left factor, and these columns of the right one.
    fn of(&self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> [(Block<'a>, bool); 2] {
        let ((left, left_conjugate), (right, right_conjugate)) = (self.left, self.right);
        let right = right.part(0..right.rows, columns);
        [(left.rows_of(rows), left_conjugate), (right, right_conjugate)]
    }
}

/// Blocks of one shape at equal distances along a diagonal.
#[derive(Clone, Copy)]
struct Repeated {
    count: usize,
    /// Rows, and columns, from one block to the next.
    rows: usize,
    /// Elements from one block to the next.
    stride: usize,
}

impl RankUpdate<'_> {
    /// Returns op(A), and op(B) as it is transposed.
    fn factors<'a>(&self, op: Op, a: Block<'a>, b: Block<'a>) -> [(Block<'a>, bool); 2] {
        let conjugate = op == Op::C && a.element.complex;
        let entering = |x: Block<'a>| if op == Op::N { x } else { x.transposed() };
        [(entering(a), conjugate), (entering(b).transposed(), conjugate != self.hermitian)]
    }

    /// Starts C = α L R + β C on the triangle.
    ///
    /// The factors are L and R, each with `true` if it is conjugated. They may be other parts of the
    /// matrix that C is a part of.
    pub fn start(
        &self,
        scalars: [AnyFactor; 2],
        factors: [(Block<'_>, bool); 2],
        c: Block<'_>,
    ) -> BlasResult<Completion> {
        let wanted = Problem {
            region: OutputRegion::triangle(self.lower == (c.order == Order::ColumnMajor), self.hermitian),
            ..Problem::of_blocks(scalars, factors, c)
        };
        if let Some(started) = gemm::start_part(self.device, wanted)? {
            return Ok(started);
        }
        let (n, mut events) = (c.rows, Vec::new());
        let factors = Factors { left: factors[0], right: factors[1] };
        self.off_diagonal(scalars, factors, c, &mut events)?;
        let whole = n / DIAGONAL_BLOCK;
        let last = whole * DIAGONAL_BLOCK;
        for (first, edge, count) in [(0, DIAGONAL_BLOCK, whole), (last, n - last, usize::from(last < n))] {
            if count > 0 {
                self.diagonal(Blocks { first, edge, count }, scalars, factors, c, &mut events)?;
            }
        }
        Ok(Completion::of(events))
    }

    /// Starts the products beside the diagonal blocks.
    ///
    /// Two diagonal blocks side by side have one block beside them and become the next larger
    /// diagonal block. All blocks of a size are one batch. The last one may be cut off.
    fn off_diagonal(
        &self,
        scalars: [AnyFactor; 2],
        factors: Factors<'_>,
        c: Block<'_>,
        events: &mut Vec<Event>,
    ) -> BlasResult<()> {
        let (n, mut edge) = (c.rows, DIAGONAL_BLOCK);
        while edge < n {
            let whole = n / (2 * edge);
            let last = whole * 2 * edge;
            let cut = n.saturating_sub(last + edge);
            for (first, height, count) in [(0, edge, whole), (last, cut, usize::from(cut > 0))] {
                let middle = first + edge;
                let (before, behind) = (first..middle, middle..middle + height);
                let (rows, columns) = if self.lower { (behind, before) } else { (before, behind) };
                if count > 0 {
                    let part = c.part(rows.clone(), columns.clone());
                    let across = part.leading_dimension + 1;
                    let blocks = Repeated { count, rows: 2 * edge, stride: 2 * edge * across };
                    let product = self.products(scalars, factors.of(rows, columns), part, blocks)?;
                    events.extend(product.into_events());
                }
            }
            edge *= 2;
        }
        Ok(())
    }

    /// Starts the products of blocks at equal distances along the diagonal; the first one is given.
    fn products(
        &self,
        scalars: [AnyFactor; 2],
        factors: [(Block<'_>, bool); 2],
        c: Block<'_>,
        blocks: Repeated,
    ) -> BlasResult<Completion> {
        let [left, right] = factors;
        let ([down, _], [_, across]) = (left.0.steps(), right.0.steps());
        let strides = [down * blocks.rows, across * blocks.rows, blocks.stride];
        let problem = Problem::of_batch(blocks.count, strides, scalars, factors, c);
        gemm::start(self.device, &GemmParams::default(), problem)
    }

    /// Starts the products on the diagonal blocks.
    ///
    /// All blocks go into scratch memory in one batch. Then a triangle of each block goes into C.
    fn diagonal(
        &self,
        blocks: Blocks,
        [alpha, beta]: [AnyFactor; 2],
        factors: Factors<'_>,
        c: Block<'_>,
        events: &mut Vec<Event>,
    ) -> BlasResult<()> {
        let Blocks { first, edge, count } = blocks;
        let element = c.element;
        let mut products = self.device.scratch_of(element, count * edge * edge)?;
        if !alpha.is_zero() {
            let block = first..first + edge;
            let factors = factors.of(block.clone(), block.clone());
            let part = c.part(block.clone(), block);
            let part = Block { elements: products.output(), leading_dimension: edge, ..part };
            let blocks = Repeated { count, rows: edge, stride: edge * edge };
            let product =
                self.products([1, 0].map(|number| element.factor(number)), factors, part, blocks)?;
            events.extend(product.into_events());
        }
        let arguments = [
            Argument::value(edge as u64),
            Argument::value(first as u64),
            products.input(),
            alpha.into(),
            beta.into(),
            c.elements,
            Argument::value(c.leading_dimension as u64),
            Argument::value(u32::from(self.lower == (c.order == Order::ColumnMajor))),
            Argument::value(u32::from(self.hermitian)),
        ];
        let side = edge.next_multiple_of(TILE);
        let range = Range::new([side, side, count], [TILE, TILE, 1]);
        events.push(Kernels::of(self.device, element)?.update_diagonal.launch(range, &arguments)?);
        Ok(())
    }
}

/// Checks that a matrix is square.
pub(super) fn check_square(
    operation: &'static str,
    operand: &'static str,
    rows: usize,
    columns: usize,
) -> BlasResult<()> {
    if rows == columns { Ok(()) } else { Err(BlasError::NotSquare { operation, operand, rows, columns }) }
}
