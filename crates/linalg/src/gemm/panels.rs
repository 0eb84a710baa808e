//! The product for processors.
//!
//! Both factors are packed into scratch memory, piece by piece.

use super::problem::{Factor, Problem};
use super::tuning::Panels;
use crate::completion::Completion;
use lattice_compute::scalar::ElementType;
use lattice_compute::{
    Argument, Device, Event, Kernel, KernelFamily, KernelKey, Range as LaunchRange, Result,
};
use std::ops::Range;

const PANELS: KernelFamily = KernelFamily::new(
    "gemm_panels",
    &[
        include_str!("../../cl/elements.cl"),
        include_str!("../../cl/gemm.cl"),
        include_str!("../../cl/gemm_panels.cl"),
    ],
);

/// Terms that one work-item packs.
const PACK_STEPS: usize = 256;

/// Most bytes of packed factors.
///
/// A product that needs more is computed in pieces.
pub(super) const MOST_PACKED: usize = 64 << 20;

/// The kernels of one variant of `cl/gemm_panels.cl`.
#[derive(Debug)]
pub(super) struct PanelKernels {
    pack_a: Kernel,
    pack_b: Kernel,
    multiply: Kernel,
}

impl PanelKernels {
    pub fn new(device: &Device, element: ElementType, variant: Panels) -> Result<Self> {
        let Panels { panel, block, lanes } = variant;
        let key = KernelKey::of(PANELS, element)
            .lanes(lanes)
            .define("PANEL_M", panel[0])
            .define("PANEL_N", panel[1])
            .define("BLOCK_M", block[0])
            .define("BLOCK_N", block[1])
            .define("BLOCK_K", block[2])
            .define("PACK_STEPS", PACK_STEPS)
            .define("CUT", 1);
        let program = device.program(&key)?;
        Ok(Self {
            pack_a: program.kernel("pack_a")?,
            pack_b: program.kernel("pack_b")?,
            multiply: program.kernel("gemm_panels")?,
        })
    }

    /// Starts a product that has terms.
    ///
    /// Packed factors take at most `most` bytes, or the bytes of one block of C. The pieces change
    /// no bit of C: each element has its terms added in the same order and in the same groups.
    pub fn multiply(
        &self,
        device: &Device,
        variant: Panels,
        most: usize,
        problem: Problem<'_>,
    ) -> Result<Completion> {
        let Problem { m, n, k, count, .. } = problem;
        let step @ [matrices, rows, columns, terms] =
            piece(variant, problem.element().bytes(), [count, m, n, k], most);
        let [a_elements, b_elements] = packed(variant, step);
        let mut a_packed = device.scratch_of(problem.element(), a_elements)?;
        let mut b_packed = device.scratch_of(problem.element(), b_elements)?;
        let mut events = Vec::new();
        for matrices in ranges(count, matrices) {
            for rows in ranges(m, rows) {
                for columns in ranges(n, columns) {
                    for terms in ranges(k, terms) {
                        let product = SubProduct {
                            matrices: matrices.clone(),
                            rows: rows.clone(),
                            columns: columns.clone(),
                            terms,
                        };
                        // Commands run in order: the packed factors of one piece give way to the
                        // factors of the next.
                        let [a, b] = product.operands(variant, &problem);
                        events.push(product.pack(&self.pack_a, &problem, a, a_packed.output())?);
                        events.push(product.pack(&self.pack_b, &problem, b, b_packed.output())?);
                        let packed = [a_packed.input(), b_packed.input()];
                        events.push(product.multiply(&self.multiply, variant, &problem, packed)?);
                    }
                }
            }
        }
        Ok(Completion::of(events))
    }
}

/// Counts elements of packed factors for matrices, rows, columns and terms.
fn packed(variant: Panels, [count, m, n, k]: [usize; 4]) -> [usize; 2] {
    let [panel_m, panel_n] = variant.panel;
    let elements =
        |extent: usize, width| extent.next_multiple_of(width).saturating_mul(k).saturating_mul(count);
    [elements(m, panel_m), elements(n, panel_n)]
}

/// Returns the size of pieces: matrices, rows, columns, terms.
///
/// Sums are cut first, because all of C stays in every piece, for all processors. The cuts are
/// where the kernel stores sums anyway.
fn piece(variant: Panels, element: usize, extents: [usize; 4], most: usize) -> [usize; 4] {
    let [block_m, block_n, block_k] = variant.block;
    let bytes = |extents| {
        let [a, b] = packed(variant, extents);
        a.saturating_add(b).saturating_mul(element)
    };
    let whole = |extent: usize, block: usize| (extent / block).max(1) * block;
    let mut piece @ [count, m, n, k] = extents;
    if bytes(piece) > most {
        piece[3] = whole(most / bytes([count, m, n, 1]), block_k).min(k);
    }
    if bytes(piece) > most {
        piece[0] = (most / bytes([1, m, n, piece[3]])).clamp(1, count);
    }
    while bytes(piece) > most {
        let (longer, block) = if piece[1] > piece[2] { (1, block_m) } else { (2, block_n) };
        if piece[longer] <= block {
            break;
        }
        piece[longer] = whole(piece[longer] / 2, block);
    }
    piece
}

/// Cuts 0..extent into pieces of `step`.
fn ranges(extent: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..extent).step_by(step.max(1)).map(move |start| start..extent.min(start.saturating_add(step)))
}

/// A part of a product.
struct SubProduct {
    matrices: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
    terms: Range<usize>,
}

/// A part of a factor.
struct Operand<'a> {
    factor: Factor<'a>,
    /// Rows of op(A), columns of op(B).
    lines: Range<usize>,
    /// Lines of a panel.
    panel: usize,
    /// Elements from a line to the next, and from a term to the next.
    steps: [usize; 2],
}

impl SubProduct {
    /// Returns the parts of A and of B that are packed.
    fn operands<'a>(&self, variant: Panels, problem: &Problem<'a>) -> [Operand<'a>; 2] {
        let Problem { a, b, .. } = *problem;
        let [panel_m, panel_n] = variant.panel;
        let steps = |leading, neighbours| if neighbours { [1, leading] } else { [leading, 1] };
        [
            Operand {
                factor: a,
                lines: self.rows.clone(),
                panel: panel_m,
                steps: steps(a.leading_dimension, !a.transposed),
            },
            Operand {
                factor: b,
                lines: self.columns.clone(),
                panel: panel_n,
                steps: steps(b.leading_dimension, b.transposed),
            },
        ]
    }

    /// Starts packing an operand.
    fn pack(
        &self,
        kernel: &Kernel,
        problem: &Problem<'_>,
        Operand { factor, lines, panel, steps }: Operand<'_>,
        packed: Argument<'_>,
    ) -> Result<Event> {
        let skipped =
            self.matrices.start * factor.stride + lines.start * steps[0] + self.terms.start * steps[1];
        let last = self.matrices.end == problem.count;
        let missing = if last { (self.terms.end + problem.missing).saturating_sub(problem.k) } else { 0 };
        let [elements, leading, stride] = factor.arguments();
        let arguments = [
            Argument::value(lines.len() as u64),
            Argument::value(self.terms.len() as u64),
            Argument::value(missing.min(self.terms.len()) as u64),
            elements,
            leading,
            stride,
            Argument::value(skipped as u64),
            Argument::value(u32::from(factor.transposed)),
            Argument::value(u32::from(factor.conjugate)),
            packed,
        ];
        let range = [self.terms.len().div_ceil(PACK_STEPS), lines.len().div_ceil(panel), self.matrices.len()];
        kernel.launch(LaunchRange::new(range, [1, 1, 1]), &arguments)
    }

    /// Starts the product of the packed parts.
    ///
    /// Later terms are added to the elements of C that the first terms have made.
    fn multiply(
        &self,
        kernel: &Kernel,
        variant: Panels,
        problem: &Problem<'_>,
        [a_packed, b_packed]: [Argument<'_>; 2],
    ) -> Result<Event> {
        let beta = if self.terms.start == 0 { problem.beta } else { problem.element().factor(1) };
        let [c, leading, stride] = problem.c_arguments();
        let skipped = self.matrices.start * problem.c.stride
            + self.rows.start
            + self.columns.start * problem.c.leading_dimension;
        let arguments = [
            Argument::value(self.rows.len() as u64),
            Argument::value(self.columns.len() as u64),
            Argument::value(self.terms.len() as u64),
            problem.alpha.into(),
            a_packed,
            b_packed,
            beta.into(),
            c,
            leading,
            stride,
            Argument::value(skipped as u64),
        ];
        let [rows, columns, _] = variant.block;
        let range =
            [self.rows.len().div_ceil(rows), self.columns.len().div_ceil(columns), self.matrices.len()];
        kernel.launch(LaunchRange::new(range, [1, 1, 1]), &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tuning::GemmTuning;
    use super::*;
    use crate::{MatMut, MatRef, MatrixLayout, Op, Order};
    use lattice_compute::scalar::{AnyFactor, Element, Scalar};
    use lattice_compute::{Buffer, CacheMode, DeviceOptions, TuningMode, discover};
    use num_complex::Complex;

    #[test]
    fn packed_factors_stay_within_their_limit() {
        let variant = Panels { panel: [48, 8], block: [192, 256, 256], lanes: 16 };
        let large = [1, 7, 100, 400, 20_000, 300_000, 5_000_000];
        for count in [1, 3, 1000, 100_000] {
            for m in large {
                for n in large {
                    for k in large {
                        let extents = [count, m, n, k];
                        let piece = piece(variant, 8, extents, MOST_PACKED);
                        let bytes = 8 * packed(variant, piece).iter().sum::<usize>();
                        assert!(bytes <= MOST_PACKED, "{extents:?}: {piece:?} takes {bytes} bytes");
                        assert!(piece.iter().zip(extents).all(|(&part, whole)| (1..=whole).contains(&part)));
                        assert!(piece[3] == k || piece[3].is_multiple_of(256), "{extents:?}: {piece:?}");
                    }
                }
            }
        }
        let whole = [1, 400, 400, 4000];
        assert_eq!(piece(variant, 4, whole, MOST_PACKED), whole, "small products stay whole");
        let [count, m, n, k] = piece(variant, 4, [1, 400, 400, 300_000], MOST_PACKED);
        assert_eq!([count, m, n], [1, 400, 400], "all processors have work in every piece");
        assert!(k > 8192, "{k} terms in a piece");
    }

    /// The pieces are of all four kinds: matrices, rows, columns, terms.
    #[test]
    fn pieces_change_no_bit() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            in_pieces::<f64>(&device, 2);
            in_pieces::<Complex<f32>>(&device, 4);
        }
    }

    fn in_pieces<T: Element>(device: &Device, lanes: usize) {
        let variant = Panels { panel: [lanes, 2], block: [2 * lanes, 4, 8], lanes };
        assert_eq!(GemmTuning::Panels(variant).complaint(ElementType::of::<T>()), None);
        let kernels = PanelKernels::new(device, ElementType::of::<T>(), variant).unwrap();
        let (m, n, k, count) = (19, 11, 53, 3);
        let numbers = |len: usize, step: f64| -> Vec<T> {
            let number = |i| Complex::new((step * i as f64).sin(), (step * i as f64).cos());
            (0..len).map(|i| T::from_complex(number(i))).collect()
        };
        let (alpha, beta) = (Complex::new(0.7, 0.3), Complex::new(-1.1, 0.4));
        let [alpha, beta] = [alpha, beta].map(|z| AnyFactor::from(T::from_complex(z).factor()));
        for (order, ops, missing) in [
            (Order::ColumnMajor, [Op::N, Op::N], 0),
            (Order::ColumnMajor, [Op::T, Op::C], 0),
            (Order::RowMajor, [Op::N, Op::T], 0),
            (Order::ColumnMajor, [Op::C, Op::N], 21),
        ] {
            let layout = |(rows, columns)| {
                let dense = MatrixLayout::dense(Order::ColumnMajor, rows, columns);
                dense.leading_dimension(rows + 2).offset(3)
            };
            let (a_layout, b_layout) = (layout(ops[0].shape(m, k)), layout(ops[1].shape(k, n)));
            let c_layout = MatrixLayout::dense(order, m, n).leading_dimension(m + n).offset(1);
            let stride = 4000;
            let a = Buffer::from_slice(device, &numbers(count * stride, 0.7)).unwrap();
            let b = Buffer::from_slice(device, &numbers(count * stride, 1.3)).unwrap();
            let product = |most: usize| {
                let mut c = Buffer::from_slice(device, &numbers(count * stride, 0.2)).unwrap();
                let (a, b) = (
                    MatRef::batch(&a, a_layout, count, stride).unwrap(),
                    MatRef::batch(&b, b_layout, count, stride).unwrap(),
                );
                let target = MatMut::batch(&mut c, c_layout, count, stride).unwrap();
                let problem =
                    Problem::new("gemm", ["A", "B"], ops, [alpha, beta], [a.into(), b.into()], target.into());
                let problem = problem.unwrap();
                let done = kernels.multiply(device, variant, most, Problem { missing, ..problem });
                (done.unwrap().into_events().len(), c.to_vec().unwrap())
            };
            let (launches, whole) = product(usize::MAX);
            assert_eq!(launches, 3);
            let line = size_of::<T>() * 8;
            // The bounds cut sums; sums and matrices; sums, matrices, rows and columns.
            let mut last = launches;
            for most in [line * count * 4 * (m + n), line * 2 * (m + n), line * 16] {
                let (launches, pieces) = product(most);
                assert!(launches > last, "{launches} launches within {most} bytes");
                assert!(pieces == whole, "{ops:?}, {order:?}, {most} bytes on {}", device.label());
                last = launches;
            }
        }
    }
}
