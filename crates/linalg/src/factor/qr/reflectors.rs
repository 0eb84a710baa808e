//! Products with the Q of a factorisation, a block of reflectors at a time.

use super::kernels::Kernels;
use crate::block::Block;
use crate::error::BlasResult;
use crate::gemm::multiply_blocks;
use crate::level3::Diagonal;
use crate::matrix::MatrixLayout;
use crate::triangular::{Triangular, solve};
use lattice_compute::{Argument, Device, Event};
use std::ops::Range;

/// Reflectors that are applied by one product.
pub(super) const BLOCK: usize = 128;

/// The reflectors below the diagonal of a factorised matrix, and their τ.
#[derive(Clone, Copy)]
pub(in crate::factor) struct Reflectors<'a> {
    pub matrix: Block<'a>,
    pub tau: Argument<'a>,
    pub count: usize,
}

/// The way in which Q stands on the left of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::factor) struct Form {
    /// Qᴴ in place of Q.
    pub adjoint: bool,
    /// The complex conjugate of this.
    pub conjugate: bool,
}

impl<'a> Reflectors<'a> {
    /// Starts C = op(Q) C for the first rows of Q.
    ///
    /// If C is zero above row k in its columns before k, `triangular` leaves out what stays zero.
    pub fn apply(
        &self,
        device: &Device,
        form: Form,
        c: Block<'_>,
        triangular: bool,
        events: &mut Vec<Event>,
    ) -> BlasResult<()> {
        let blocks = (0..self.count).step_by(BLOCK).map(|first| first..(first + BLOCK).min(self.count));
        let blocks: Vec<_> = if form.adjoint { blocks.collect() } else { blocks.rev().collect() };
        for block in blocks {
            let first_column = if triangular { block.start.min(c.columns) } else { 0 };
            let part = c.part(block.start..c.rows, first_column..c.columns);
            self.apply_block(device, block, form, part, events)?;
        }
        Ok(())
    }

    /// Starts C = op(Hᵢ Hᵢ₊₁ …) C with the reflectors of these columns.
    ///
    /// C has the rows from the first of them on. H₁ H₂ … = 1 − V T Vᴴ, and T⁻¹ is the upper triangle
    /// of Vᴴ V with 1/τ on its diagonal.
    pub fn apply_block(
        &self,
        device: &Device,
        columns: Range<usize>,
        form: Form,
        c: Block<'_>,
        events: &mut Vec<Event>,
    ) -> BlasResult<()> {
        let (rows, width) = (c.rows, columns.len());
        if rows == 0 || c.columns == 0 || width == 0 {
            return Ok(());
        }
        let element = c.element;
        let kernels = Kernels::of(device, element)?;
        let (complex, conjugate) = (element.complex, form.conjugate && element.complex);
        let tau = self.tau.skip(columns.start);
        let stored = self.matrix.part(columns.start..self.matrix.rows, columns);
        let mut v = device.scratch_of(element, rows * width)?;
        let mut products = device.scratch_of(element, width * width)?;
        let mut w = device.scratch_of(element, width * c.columns)?;
        events.push(kernels.spread_reflectors(stored, tau, v.output())?);
        let v = Block::at(v.input(), &MatrixLayout::column_major(rows, width));
        let square = Block::at(products.output(), &MatrixLayout::column_major(width, width));
        let w = Block::at(w.output(), &MatrixLayout::dense(c.order, width, c.columns));
        let gram = [(v.transposed(), complex), (v, false)];
        events.extend(multiply_blocks(device, 1, gram, 0, square)?.into_events());
        let projections = [(v.transposed(), complex != conjugate), (c, false)];
        events.extend(multiply_blocks(device, 1, projections, 0, w)?.into_events());
        events.push(kernels.set_reciprocals(width, tau, square.elements)?);
        let tri = if form.adjoint {
            Triangular { matrix: square.transposed(), lower: true, conjugate: complex != conjugate }
        } else {
            Triangular { matrix: square, lower: false, conjugate }
        };
        solve(device, tri, Diagonal::Stored, w, events)?;
        let update = [(v, conjugate), (w, false)];
        events.extend(multiply_blocks(device, -1, update, 1, c)?.into_events());
        Ok(())
    }
}
