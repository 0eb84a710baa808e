//! Products of the caller's matrices where they lie, with operands on their way while the devices
//! multiply.

use crate::calls::compared;
use crate::devices::{done, team};
use crate::operands::{elements_of, lines};
use lattice_linalg::host::level1::Arithmetic;
use lattice_linalg::split::{self, HostMut, HostRef, SplitParams};
use lattice_linalg::{MatrixLayout, Op};
use std::slice;

/// Products of fewer multiplications are computed on whole copies, without threads.
const LEAST: f64 = 1e9;

/// Returns the number of elements from the first to the last one of a matrix.
fn span(layout: &MatrixLayout) -> usize {
    let (lines, length) = lines(layout);
    if lines == 0 || length == 0 { 0 } else { (lines - 1) * layout.leading_dimension + length }
}

/// Computes C = α op(A) op(B), if that is the better way.
///
/// Whole copies are the better way for small products, for C that enters, and for results that are
/// compared. The outer `None` asks for them, the inner one for the next library.
///
/// # Safety
/// The pointers refer to matrices of these layouts, and C may be written.
pub unsafe fn gemm<T: Arithmetic>(
    ops: [Op; 2],
    alpha: T,
    (a_layout, a): (MatrixLayout, *const T),
    (b_layout, b): (MatrixLayout, *const T),
    beta: T,
    (c_layout, c): (MatrixLayout, *mut T),
) -> Option<Option<()>> {
    let terms = ops[0].shape(a_layout.rows, a_layout.columns).1;
    let products = c_layout.rows as f64 * c_layout.columns as f64 * terms as f64;
    if beta != T::default() || products < LEAST || compared().is_some() {
        return None;
    }
    let [a_span, b_span, c_span] = [&a_layout, &b_layout, &c_layout].map(span);
    // C must not be one of its factors, nor a part of it.
    let apart =
        |from: *const T, len: usize| from.wrapping_add(len) <= c || c.wrapping_add(c_span) <= from.cast_mut();
    if !apart(a, a_span) || !apart(b, b_span) {
        return None;
    }
    // SAFETY: the caller guarantees these elements. C lies apart from A and B.
    let (a, b, c) =
        unsafe { (elements_of(a, a_span), elements_of(b, b_span), slice::from_raw_parts_mut(c, c_span)) };
    let team = team()?;
    let (a, b, c) = (
        done(HostRef::new(a, a_layout))?,
        done(HostRef::new(b, b_layout))?,
        done(HostMut::new(c, c_layout))?,
    );
    let report = split::gemm(team, &SplitParams::default(), ops[0], ops[1], alpha, a, b, T::default(), c);
    Some(done(report).map(drop))
}
