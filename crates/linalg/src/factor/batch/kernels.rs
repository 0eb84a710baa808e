//! The kernels of batches.

use crate::block::Block;
use lattice_compute::scalar::Element;
use lattice_compute::{Argument, Device, Event, Kernel, KernelFamily, KernelKey, Parameter, Range, Result};
use std::marker::PhantomData;
use std::sync::Arc;

const BATCH: KernelFamily = KernelFamily::new(
    "batch",
    &[include_str!("../../../cl/elements.cl"), include_str!("../../../cl/batch.cl")],
);

/// Most rows of a matrix in a batch.
pub const MOST_ROWS: usize = 64;

/// Work-items of a group that solves for columns.
const COLUMNS: usize = 8;

/// Matrices of one shape at equal distances.
#[derive(Clone, Copy)]
pub(super) struct Many<'a> {
    pub first: Block<'a>,
    pub count: usize,
    /// Elements from one matrix to the next.
    pub stride: usize,
}

impl<'a> Many<'a> {
    fn arguments(&self) -> [Argument<'a>; 4] {
        let [elements, down, across] = self.first.arguments();
        [elements, down, across, Argument::value(self.stride as u64)]
    }
}

/// The kernels for elements of type `T`.
pub(super) struct Kernels<T> {
    /// Kernels of factorisations, each with the most rows that it takes.
    ///
    /// The most rows are also the size of a work-group.
    potrf: Vec<(usize, Kernel)>,
    potrs: Kernel,
    element: PhantomData<T>,
}

impl<T: Element> Kernels<T> {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(Self::new)
    }

    fn new(device: &Device) -> Result<Self> {
        let info = device.info();
        let fits = |&edge: &usize| {
            let bytes = edge * (edge + 1) / 2 * size_of::<T>();
            edge == 8 || edge <= info.max_work_group_size && bytes <= info.local_memory_bytes as usize
        };
        let (count, number) = (Parameter::value::<u32>, Parameter::value::<u64>);
        let (input, output) = (Parameter::input_view::<T>, Parameter::output_view::<T>);
        let program = |edge: usize| device.program(&KernelKey::of_element::<T>(BATCH).define("EDGE", edge));
        let a = [output("a"), number("a_down"), number("a_across"), number("stride")];
        let parameters = [&[count("n")][..], &a, &[Parameter::output::<u32>("info")]].concat();
        let potrf = [8, 16, 32, 48, MOST_ROWS]
            .into_iter()
            .filter(fits)
            .map(|edge| Ok((edge, program(edge)?.kernel("batch_potrf", &parameters)?)))
            .collect::<Result<_>>()?;
        let counts = [count("n"), count("columns"), count("conjugate")];
        let l = [input("l"), number("l_down"), number("l_across"), number("l_stride")];
        let b = [output("b"), number("b_down"), number("b_across"), number("b_stride")];
        let potrs = program(8)?.kernel("batch_potrs", &[&counts[..], &l, &b].concat())?;
        Ok(Self { potrf, potrs, element: PhantomData })
    }

    /// Returns the most rows of a matrix to be factorised.
    pub fn most_rows(&self) -> usize {
        self.potrf.last().map_or(0, |&(edge, _)| edge)
    }

    /// Starts the factorisation of lower triangles.
    ///
    /// They have at most [`most_rows`](Self::most_rows) rows.
    pub fn potrf(&self, a: Many<'_>, info: Argument<'_>) -> Result<Event> {
        let n = a.first.rows;
        let (edge, kernel) = &self.potrf[self.potrf.partition_point(|&(edge, _)| edge < n)];
        let arguments = [&[Argument::value(n as u32)][..], &a.arguments(), &[info]].concat();
        kernel.launch(Range::groups(a.count, *edge), &arguments)
    }

    /// Starts the solutions; with `conjugate` the factors enter conjugate.
    pub fn potrs(&self, conjugate: bool, l: Many<'_>, b: Many<'_>) -> Result<Event> {
        let counts = [l.first.rows, b.first.columns, usize::from(conjugate)];
        let counts = counts.map(|count| Argument::value(count as u32));
        let range = Range::new([b.first.columns.next_multiple_of(COLUMNS), b.count], [COLUMNS, 1]);
        self.potrs.launch(range, &[&counts[..], &l.arguments(), &b.arguments()].concat())
    }
}
