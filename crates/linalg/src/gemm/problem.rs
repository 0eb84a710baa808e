//! The common representation of all products.

use super::output_region::OutputRegion;
use crate::block::{Block, Operand};
use crate::error::{BlasError, BlasResult, operand_name};
use crate::level2::{check_device, check_extent};
use crate::matrix::Order;
use crate::op::Op;
use lattice_compute::Argument;
use lattice_compute::scalar::{AnyFactor, ElementType};

/// A factor as a kernel reads it.
#[derive(Clone, Copy)]
pub(crate) struct Factor<'a> {
    /// The elements from the first one on.
    pub elements: Argument<'a>,
    pub leading_dimension: usize,
    pub stride: usize,
    /// Neighbouring elements run along the second index of op(X).
    pub transposed: bool,
    pub conjugate: bool,
}

/// The result as a kernel writes it.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The elements from the first one on.
    pub elements: Argument<'a>,
    pub leading_dimension: usize,
    pub stride: usize,
}

/// The product C = α op(A) op(B) + β C with a column-major C.
///
/// A row-major C is computed as Cᵀ = α op(B)ᵀ op(A)ᵀ + β Cᵀ.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub m: usize,
    pub n: usize,
    /// Terms of a sum.
    ///
    /// If sums are cut, the terms of a part. Then the parts are the batch.
    pub k: usize,
    pub count: usize,
    /// Terms that the last matrix of the batch lacks.
    ///
    /// The number is not 0 only if sums are cut.
    pub missing: usize,
    /// The elements of C that are wanted.
    pub region: OutputRegion,
    pub alpha: AnyFactor,
    pub beta: AnyFactor,
    pub a: Factor<'a>,
    pub b: Factor<'a>,
    pub c: Target<'a>,
}

impl<'a> Factor<'a> {
    /// Makes a factor of a block, conjugated or not.
    fn of_block((block, conjugate): (Block<'a>, bool), stride: usize) -> Self {
        Self {
            elements: block.elements,
            leading_dimension: block.leading_dimension,
            stride,
            transposed: block.order == Order::RowMajor,
            conjugate,
        }
    }

    /// Returns op(X)ᵀ.
    fn transpose(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }
}

impl<'a> Target<'a> {
    /// Returns elements, leading dimension and stride.
    pub fn arguments(&self) -> [Argument<'a>; 3] {
        let Self { elements, leading_dimension, stride } = *self;
        [elements, Argument::value(leading_dimension as u64), Argument::value(stride as u64)]
    }
}

impl<'a> Problem<'a> {
    /// Makes a product and checks that the operands fit together.
    ///
    /// `names` are those of the factors in errors.
    pub fn new(
        operation: &'static str,
        names: [&'static str; 2],
        [op_a, op_b]: [Op; 2],
        [alpha, beta]: [AnyFactor; 2],
        factors: [Operand<'a>; 2],
        c: Operand<'a>,
    ) -> BlasResult<Self> {
        let [a, b] = factors;
        let (m, n) = (c.block.rows, c.block.columns);
        let ((a_rows, k), (b_rows, b_columns)) =
            (op_a.shape(a.block.rows, a.block.columns), op_b.shape(b.block.rows, b.block.columns));
        let [a_name, b_name] = [operand_name(names[0], op_a), operand_name(names[1], op_b)];
        let same_terms =
            if names[0] == "A" { "as A, so transposed, has columns" } else { "as B has columns" };
        check_extent(operation, &a_name, "rows", m, a_rows, "as C has")?;
        check_extent(operation, &b_name, "columns", n, b_columns, "as C has")?;
        check_extent(operation, &b_name, "rows", k, b_rows, same_terms)?;
        for (operand, factor) in names.into_iter().zip(factors) {
            if factor.count != c.count {
                let (wanted, found) = (c.count, factor.count);
                return Err(BlasError::BatchCount { operation, operand, wanted, found });
            }
        }
        for (operand, factor) in names.into_iter().zip(factors) {
            check_device(operation, operand, c.device, factor.device)?;
        }
        let complex = c.block.element.complex;
        let entering = |op, Operand { block, .. }: Operand<'a>| {
            (if op == Op::N { block } else { block.transposed() }, op == Op::C && complex)
        };
        let entering = [entering(op_a, a), entering(op_b, b)];
        Ok(Self::of_batch(c.count, [a, b, c].map(|x| x.stride), [alpha, beta], entering, c.block))
    }

    /// Makes C = α A B + β C of blocks that fit together.
    ///
    /// Each factor is conjugated or not. C must have no element in common with A or B.
    pub fn of_blocks(scalars: [AnyFactor; 2], factors: [(Block<'a>, bool); 2], c: Block<'a>) -> Self {
        Self::of_batch(1, [0; 3], scalars, factors, c)
    }

    /// Makes the products of blocks at equal distances, the strides of A, B and C.
    ///
    /// The first blocks are given. They fit together as those of [`of_blocks`](Self::of_blocks).
    pub fn of_batch(
        count: usize,
        strides: [usize; 3],
        [alpha, beta]: [AnyFactor; 2],
        factors: [(Block<'a>, bool); 2],
        c: Block<'a>,
    ) -> Self {
        let [(left, _), (right, _)] = factors;
        debug_assert_eq!([left.rows, left.columns, right.columns], [c.rows, right.rows, c.columns]);
        let (a, b) = (Factor::of_block(factors[0], strides[0]), Factor::of_block(factors[1], strides[1]));
        let target =
            Target { elements: c.elements, leading_dimension: c.leading_dimension, stride: strides[2] };
        let (m, n, k, c_order) = (c.rows, c.columns, left.columns, c.order);
        let (m, n, a, b) = match c_order {
            Order::ColumnMajor => (m, n, a, b),
            Order::RowMajor => (n, m, b.transpose(), a.transpose()),
        };
        Self { m, n, k, count, missing: 0, region: OutputRegion::All, alpha, beta, a, b, c: target }
    }

    /// Returns the type of all elements.
    pub fn element(&self) -> ElementType {
        self.alpha.element()
    }

    /// `true` if there is nothing to multiply: C = β C.
    pub fn is_empty(&self) -> bool {
        self.k == 0 || self.alpha.is_zero()
    }

    /// Returns the elements of C, with its leading dimension and stride.
    pub fn c_arguments(&self) -> [Argument<'a>; 3] {
        self.c.arguments()
    }

    /// Returns the arguments of `GEMM_PARAMETERS` in `cl/gemm.cl`.
    pub fn arguments(&self) -> Vec<Argument<'a>> {
        let mut list: Vec<Argument<'a>> =
            [self.m, self.n, self.k, self.missing].map(|n| Argument::value(n as u64)).to_vec();
        list.push(self.alpha.into());
        for factor in [self.a, self.b] {
            list.extend(factor.arguments());
            list.push(Argument::value(u32::from(factor.conjugate)));
        }
        list.push(self.beta.into());
        list.extend(self.c_arguments());
        list
    }
}

impl<'a> Factor<'a> {
    /// Returns elements, leading dimension and stride.
    pub fn arguments(&self) -> [Argument<'a>; 3] {
        [self.elements, Argument::value(self.leading_dimension as u64), Argument::value(self.stride as u64)]
    }
}
