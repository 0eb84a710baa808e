//! The common representation of all products.

use super::output_region::OutputRegion;
use crate::block::Block;
use crate::error::{BlasError, BlasResult, operand_name};
use crate::matrix::{MatMut, MatRef, Order};
use crate::op::Op;
use lattice_compute::scalar::{Element, Factor as Scale};
use lattice_compute::{Argument, Result};

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
pub(crate) struct Problem<'a, T> {
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
    pub alpha: Scale<T>,
    pub beta: Scale<T>,
    pub a: Factor<'a>,
    pub b: Factor<'a>,
    pub c: Target<'a>,
}

impl<'a> Factor<'a> {
    fn new<T: Element>(op: Op, x: MatRef<'a, T>) -> Result<Self> {
        let layout = x.layout();
        Ok(Self {
            elements: x.elements().slice(layout.offset..)?.into(),
            leading_dimension: layout.leading_dimension,
            stride: x.stride(),
            transposed: (op != Op::N) != (layout.order == Order::RowMajor),
            conjugate: op == Op::C && T::IS_COMPLEX,
        })
    }

    /// Makes a factor of a block, conjugated or not.
    fn of_block((block, conjugate): (Block<'a>, bool)) -> Self {
        Self {
            elements: block.elements,
            leading_dimension: block.leading_dimension,
            stride: 0,
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
    fn new<T: Element>(c: MatMut<'a, T>) -> Result<Self> {
        let (layout, stride) = (*c.layout(), c.stride());
        let (_, from_first) = c.into_elements().split_at(layout.offset)?;
        Ok(Self { elements: from_first.into(), leading_dimension: layout.leading_dimension, stride })
    }

    /// Returns elements, leading dimension and stride.
    pub fn arguments(&self) -> [Argument<'a>; 3] {
        let Self { elements, leading_dimension, stride } = *self;
        [elements, Argument::value(leading_dimension as u64), Argument::value(stride as u64)]
    }
}

impl<'a, T: Element> Problem<'a, T> {
    /// Makes a product and checks that the operands fit together.
    pub fn new(
        operation: &'static str,
        ops: [Op; 2],
        alpha: Scale<T>,
        a: MatRef<'a, T>,
        b: MatRef<'a, T>,
        beta: Scale<T>,
        c: MatMut<'a, T>,
    ) -> BlasResult<Self> {
        Self::named(operation, ["A", "B"], ops, alpha, a, b, beta, c)
    }

    /// Makes a product like [`Problem::new`], with names for the factors in errors.
    #[allow(clippy::too_many_arguments)]
    pub fn named(
        operation: &'static str,
        names: [&'static str; 2],
        [op_a, op_b]: [Op; 2],
        alpha: Scale<T>,
        a: MatRef<'a, T>,
        b: MatRef<'a, T>,
        beta: Scale<T>,
        c: MatMut<'a, T>,
    ) -> BlasResult<Self> {
        let (m, n) = (c.rows(), c.columns());
        let (a_rows, k) = op_a.shape(a.rows(), a.columns());
        let (b_rows, b_columns) = op_b.shape(b.rows(), b.columns());
        let [a_name, b_name] = [operand_name(names[0], op_a), operand_name(names[1], op_b)];
        for (operand, extent, wanted, found, reason) in [
            (a_name.clone(), "rows", m, a_rows, "as C has"),
            (b_name.clone(), "columns", n, b_columns, "as C has"),
            (
                b_name,
                "rows",
                k,
                b_rows,
                if names[0] == "A" { "as A, so transposed, has columns" } else { "as B has columns" },
            ),
        ] {
            if wanted != found {
                return Err(BlasError::Shape { operation, operand, extent, wanted, found, reason });
            }
        }
        for (operand, found) in [(names[0], a.count()), (names[1], b.count())] {
            if found != c.count() {
                return Err(BlasError::BatchCount { operation, operand, wanted: c.count(), found });
            }
        }
        for (operand, device) in [(names[0], a.device()), (names[1], b.device())] {
            if device != c.device() {
                return Err(BlasError::OtherDevice {
                    operation,
                    operand,
                    wanted: c.device().label().to_owned(),
                    found: device.label().to_owned(),
                });
            }
        }
        let (a, b) = (Factor::new(op_a, a)?, Factor::new(op_b, b)?);
        let (count, order) = (c.count(), c.layout().order);
        let (c, region) = (Target::new(c)?, OutputRegion::All);
        Ok(match order {
            Order::ColumnMajor => Self { m, n, k, count, missing: 0, region, alpha, beta, a, b, c },
            Order::RowMajor => {
                let (a, b) = (b.transpose(), a.transpose());
                Self { m: n, n: m, k, count, missing: 0, region, alpha, beta, a, b, c }
            }
        })
    }

    /// Makes C = α A B + β C of blocks that fit together.
    ///
    /// Each factor is conjugated or not. C must have no element in common with A or B.
    pub fn of_blocks(alpha: Scale<T>, factors: [(Block<'a>, bool); 2], beta: Scale<T>, c: Block<'a>) -> Self {
        let [(left, _), (right, _)] = factors;
        debug_assert_eq!([left.rows, left.columns, right.columns], [c.rows, right.rows, c.columns]);
        let [a, b] = factors.map(Factor::of_block);
        let target = Target { elements: c.elements, leading_dimension: c.leading_dimension, stride: 0 };
        let (m, n, k, c_order) = (c.rows, c.columns, left.columns, c.order);
        let (m, n, a, b) = match c_order {
            Order::ColumnMajor => (m, n, a, b),
            Order::RowMajor => (n, m, b.transpose(), a.transpose()),
        };
        Self { m, n, k, count: 1, missing: 0, region: OutputRegion::All, alpha, beta, a, b, c: target }
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
        list.push(Argument::value(self.alpha.for_kernel()));
        for factor in [self.a, self.b] {
            list.extend(factor.arguments());
            list.push(Argument::value(u32::from(factor.conjugate)));
        }
        list.push(Argument::value(self.beta.for_kernel()));
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
