//! One form for every product.

use crate::blas::error::{BlasError, BlasResult, operand_name};
use crate::blas::matrix::{MatMut, MatRef, Op, Order};
use crate::device::{Argument, BufferView, BufferViewMut, Parameter, Result};
use crate::scalar::Element;
use num_complex::Complex;

/// A factor as a kernel reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor<'a, T> {
    /// From the first element on.
    pub elements: BufferView<'a, T>,
    pub leading_dimension: usize,
    pub stride: usize,
    /// Neighbouring elements run along the second index of op(X).
    pub transposed: bool,
    pub conjugate: bool,
}

/// C = α op(A) op(B) + β C with C column-major: a row-major C is computed as Cᵀ = α op(B)ᵀ op(A)ᵀ + β Cᵀ.
#[derive(Debug)]
pub(super) struct Problem<'a, 'c, T> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub count: usize,
    pub alpha: T,
    pub beta: T,
    pub a: Factor<'a, T>,
    pub b: Factor<'a, T>,
    pub c: MatMut<'c, T>,
}

impl<'a, T: Element> Factor<'a, T> {
    fn new(op: Op, x: MatRef<'a, T>) -> Result<Self> {
        let layout = x.layout();
        Ok(Self {
            elements: x.elements().slice(layout.offset..)?,
            leading_dimension: layout.leading_dimension,
            stride: x.stride(),
            transposed: (op != Op::N) != (layout.order == Order::RowMajor),
            conjugate: op == Op::C && T::IS_COMPLEX,
        })
    }

    /// op(X)ᵀ
    fn transpose(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }
}

impl<'a, 'c, T: Element> Problem<'a, 'c, T> {
    /// Checks that the operands fit together.
    pub fn new(
        operation: &'static str,
        [op_a, op_b]: [Op; 2],
        alpha: Complex<f64>,
        a: MatRef<'a, T>,
        b: MatRef<'a, T>,
        beta: Complex<f64>,
        c: MatMut<'c, T>,
    ) -> BlasResult<Self> {
        let (m, n) = (c.rows(), c.columns());
        let (a_rows, k) = op_a.shape(a.rows(), a.columns());
        let (b_rows, b_columns) = op_b.shape(b.rows(), b.columns());
        let [a_name, b_name] = [operand_name("A", op_a), operand_name("B", op_b)];
        for (operand, extent, wanted, found, reason) in [
            (a_name.clone(), "rows", m, a_rows, "as C has"),
            (b_name.clone(), "columns", n, b_columns, "as C has"),
            (b_name, "rows", k, b_rows, "as A, so transposed, has columns"),
        ] {
            if wanted != found {
                return Err(BlasError::Shape { operation, operand, extent, wanted, found, reason });
            }
        }
        for (operand, found) in [("A", a.count()), ("B", b.count())] {
            if found != c.count() {
                return Err(BlasError::BatchCount { operation, operand, wanted: c.count(), found });
            }
        }
        for (operand, device) in [("A", a.device()), ("B", b.device())] {
            if device != c.device() {
                return Err(BlasError::OtherDevice {
                    operation,
                    operand,
                    wanted: c.device().label().to_owned(),
                    found: device.label().to_owned(),
                });
            }
        }
        let (alpha, beta) = (T::from_complex(alpha), T::from_complex(beta));
        let (a, b) = (Factor::new(op_a, a)?, Factor::new(op_b, b)?);
        let count = c.count();
        Ok(match c.layout().order {
            Order::ColumnMajor => Self { m, n, k, count, alpha, beta, a, b, c },
            Order::RowMajor => {
                let (a, b) = (b.transpose(), a.transpose());
                Self { m: n, n: m, k, count, alpha, beta, a, b, c: c.transposed() }
            }
        })
    }

    /// The elements of C, with its leading dimension and stride.
    pub fn c_arguments(&mut self) -> Result<[Argument<'_>; 3]> {
        let (layout, stride) = (*self.c.layout(), self.c.stride());
        let all = self.c.elements_mut();
        let (_, from_first): (BufferViewMut<'_, T>, _) = all.split_at(layout.offset)?;
        Ok([
            from_first.into(),
            Argument::value(layout.leading_dimension as u64),
            Argument::value(stride as u64),
        ])
    }

    /// The arguments of `GEMM_PARAMETERS` in `cl/gemm.cl`.
    pub fn arguments(&mut self) -> Result<Vec<Argument<'_>>> {
        let mut list: Vec<Argument<'_>> =
            [self.m, self.n, self.k].map(|n| Argument::value(n as u64)).to_vec();
        list.push(Argument::value(self.alpha));
        for factor in [self.a, self.b] {
            list.extend(factor.arguments());
            list.push(Argument::value(u32::from(factor.conjugate)));
        }
        list.push(Argument::value(self.beta));
        list.extend(self.c_arguments()?);
        Ok(list)
    }
}

impl<'a, T: Element> Factor<'a, T> {
    /// Elements, leading dimension and stride.
    pub fn arguments(&self) -> [Argument<'a>; 3] {
        [
            self.elements.into(),
            Argument::value(self.leading_dimension as u64),
            Argument::value(self.stride as u64),
        ]
    }
}

/// The parameters of [`Factor::arguments`] for A.
pub(super) fn a_parameters<T: Element>() -> [Parameter; 3] {
    [
        Parameter::input_view::<T>("a"),
        Parameter::value::<u64>("a_leading"),
        Parameter::value::<u64>("a_stride"),
    ]
}

/// The parameters of [`Factor::arguments`] for B.
pub(super) fn b_parameters<T: Element>() -> [Parameter; 3] {
    [
        Parameter::input_view::<T>("b"),
        Parameter::value::<u64>("b_leading"),
        Parameter::value::<u64>("b_stride"),
    ]
}

/// The parameters of [`Problem::c_arguments`].
pub(super) fn c_parameters<T: Element>() -> [Parameter; 3] {
    [
        Parameter::output_view::<T>("c"),
        Parameter::value::<u64>("c_leading"),
        Parameter::value::<u64>("c_stride"),
    ]
}

/// `GEMM_PARAMETERS` in `cl/gemm.cl`.
pub(super) fn parameters<T: Element>() -> Vec<Parameter> {
    let mut list = ["m", "n", "k"].map(Parameter::value::<u64>).to_vec();
    list.push(Parameter::value::<T>("alpha"));
    list.extend(a_parameters::<T>());
    list.push(Parameter::value::<u32>("a_conjugate"));
    list.extend(b_parameters::<T>());
    list.push(Parameter::value::<u32>("b_conjugate"));
    list.push(Parameter::value::<T>("beta"));
    list.extend(c_parameters::<T>());
    list
}
