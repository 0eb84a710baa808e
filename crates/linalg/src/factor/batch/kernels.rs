//! The kernels of batches.

use crate::block::Block;
use crate::triangular::{TRIANGLE_SOURCES, Triangular};
use lattice_compute::scalar::{AnyFactor, ElementType};
use lattice_compute::{Argument, Device, Event, Kernel, KernelFamily, KernelKey, Range, Result};
use std::sync::{Arc, OnceLock};

const TRIANGLES: KernelFamily = KernelFamily::new(
    "batch_triangle",
    &[TRIANGLE_SOURCES[0], TRIANGLE_SOURCES[1], include_str!("../../../cl/batch_triangle.cl")],
);

const SQUARES: KernelFamily = KernelFamily::new(
    "batch_square",
    &[TRIANGLE_SOURCES[0], TRIANGLE_SOURCES[1], include_str!("../../../cl/batch_square.cl")],
);

const SOLUTIONS: KernelFamily = KernelFamily::new(
    "batch_solve",
    &[TRIANGLE_SOURCES[0], TRIANGLE_SOURCES[1], include_str!("../../../cl/batch_solve.cl")],
);

/// Most rows of a matrix in a batch.
pub const MOST_ROWS: usize = 64;

/// The sizes that kernels are built for: most rows of a matrix, and work-items of a group.
const EDGES: [usize; 5] = [8, 16, 32, 48, MOST_ROWS];

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
    /// Returns elements, distances and stride as arguments.
    pub fn arguments(&self) -> [Argument<'a>; 4] {
        let [elements, down, across] = self.first.arguments();
        [elements, down, across, Argument::value(self.stride as u64)]
    }

    /// Returns the transposed matrices.
    pub fn transposed(self) -> Self {
        Self { first: self.first.transposed(), ..self }
    }
}

/// A kernel of a factorisation, built for a size when it is first used.
pub(super) struct BySize {
    family: KernelFamily,
    name: &'static str,
    /// The sizes that local memory holds.
    built: Vec<(usize, OnceLock<Kernel>)>,
}

impl BySize {
    /// Makes the kernel for the sizes of which `bytes` fit into local memory.
    pub fn new(
        device: &Device,
        bytes: impl Fn(usize) -> usize,
        (family, name): (KernelFamily, &'static str),
    ) -> Self {
        let info = device.info();
        let fits = |&edge: &usize| {
            edge == EDGES[0]
                || edge <= info.max_work_group_size && bytes(edge) <= info.local_memory_bytes as usize
        };
        let built = EDGES.into_iter().filter(fits).map(|edge| (edge, OnceLock::new())).collect();
        Self { family, name, built }
    }

    /// Returns the most rows and columns of a matrix.
    pub fn most_rows(&self) -> usize {
        self.built.last().map_or(0, |&(edge, _)| edge)
    }

    /// Starts a work-group for each matrix, of which none is larger than [`most_rows`](Self::most_rows).
    pub fn launch(
        &self,
        device: &Device,
        element: ElementType,
        rows: usize,
        count: usize,
        arguments: &[Argument<'_>],
    ) -> Result<Event> {
        let (edge, built) = &self.built[self.built.partition_point(|&(edge, _)| edge < rows)];
        let kernel = match built.get() {
            Some(kernel) => kernel,
            None => {
                let key = KernelKey::of(self.family, element).define("EDGE", *edge);
                let kernel = device.program(&key)?.kernel(self.name)?;
                built.get_or_init(|| kernel)
            }
        };
        kernel.launch(Range::groups(count, *edge), arguments)
    }
}

/// The factorisations, for elements of one type.
pub(super) struct Factorisations {
    potrf: BySize,
    getrf: BySize,
    geqrf: BySize,
}

impl Factorisations {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::new(device, element))
    }

    fn new(device: &Device, element: ElementType) -> Result<Self> {
        let triangle = |edge: usize| edge * (edge + 1) / 2 * element.bytes();
        let square = |edge: usize| edge * (edge + 2) * element.bytes();
        Ok(Self {
            potrf: BySize::new(device, triangle, (TRIANGLES, "batch_potrf")),
            getrf: BySize::new(device, square, (SQUARES, "batch_getrf")),
            geqrf: BySize::new(device, square, (SQUARES, "batch_geqrf")),
        })
    }

    /// Returns the most rows of a triangle to be factorised.
    pub fn most_rows_of_triangles(&self) -> usize {
        self.potrf.most_rows()
    }

    /// Returns the most rows and columns of a matrix to be factorised.
    pub fn most_rows(&self) -> usize {
        self.getrf.most_rows().min(self.geqrf.most_rows())
    }

    /// Starts the factorisation of lower triangles.
    ///
    /// They have at most [`most_rows_of_triangles`](Self::most_rows_of_triangles) rows.
    pub fn potrf(&self, device: &Device, a: Many<'_>, info: Argument<'_>) -> Result<Event> {
        let n = a.first.rows;
        let arguments = [&[Argument::value(n as u32)][..], &a.arguments(), &[info]].concat();
        self.potrf.launch(device, a.first.element, n, a.count, &arguments)
    }

    /// Starts P A = L U; the pivots lie one matrix after another.
    pub fn getrf(
        &self,
        device: &Device,
        a: Many<'_>,
        pivots: Argument<'_>,
        info: Argument<'_>,
    ) -> Result<Event> {
        self.getrf.launch(
            device,
            a.first.element,
            edge(a),
            a.count,
            &[&extents(a)[..], &a.arguments(), &[pivots, info]].concat(),
        )
    }

    /// Starts A = Q R; the factors τ lie one matrix after another.
    pub fn geqrf(&self, device: &Device, a: Many<'_>, taus: Argument<'_>) -> Result<Event> {
        self.geqrf.launch(
            device,
            a.first.element,
            edge(a),
            a.count,
            &[&extents(a)[..], &a.arguments(), &[taus]].concat(),
        )
    }
}

fn edge(a: Many<'_>) -> usize {
    a.first.rows.max(a.first.columns)
}

fn extents(a: Many<'_>) -> [Argument<'static>; 2] {
    [a.first.rows, a.first.columns].map(|extent| Argument::value(extent as u32))
}

/// The solutions with triangles, for elements of one type.
pub(super) struct Solutions {
    potrs: Kernel,
    getrs: Kernel,
    getri: Kernel,
    trsm: Kernel,
}

impl Solutions {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::new(device, element))
    }

    fn new(device: &Device, element: ElementType) -> Result<Self> {
        let program = device.program(&KernelKey::of(SOLUTIONS, element))?;
        Ok(Self {
            potrs: program.kernel("batch_potrs")?,
            getrs: program.kernel("batch_getrs")?,
            getri: program.kernel("batch_getri")?,
            trsm: program.kernel("batch_trsm")?,
        })
    }

    /// Starts the solutions; with `conjugate` the factors enter conjugate.
    pub fn potrs(&self, conjugate: bool, l: Many<'_>, b: Many<'_>) -> Result<Event> {
        let head = counts([l.first.rows, b.first.columns, usize::from(conjugate)]);
        self.potrs.launch(columns_of(b), &[&head[..], &l.arguments(), &b.arguments()].concat())
    }

    /// Starts the solutions with A, or with `turned` factors those with Aᵀ; both may be conjugate.
    pub fn getrs(
        &self,
        [turned, conjugate]: [bool; 2],
        lu: Many<'_>,
        pivots: Argument<'_>,
        b: Many<'_>,
    ) -> Result<Event> {
        let head = counts([lu.first.rows, b.first.columns, usize::from(turned), usize::from(conjugate)]);
        let lu = if turned { lu.transposed() } else { lu };
        self.getrs.launch(columns_of(b), &[&head[..], &[pivots], &lu.arguments(), &b.arguments()].concat())
    }

    /// Starts the inverses of matrices with these factors.
    pub fn getri(&self, lu: Many<'_>, pivots: Argument<'_>, x: Many<'_>) -> Result<Event> {
        let n = counts([lu.first.rows]);
        self.getri.launch(columns_of(x), &[&n[..], &[pivots], &lu.arguments(), &x.arguments()].concat())
    }

    /// Starts X = α T⁻¹ B for triangles of this form, which lie in `t`.
    pub fn trsm(
        &self,
        form: Triangular<'_>,
        unit: bool,
        alpha: AnyFactor,
        t: Many<'_>,
        b: Many<'_>,
    ) -> Result<Event> {
        let flags = [form.lower, unit, form.conjugate].map(usize::from);
        let head = counts([t.first.rows, b.first.columns, flags[0], flags[1], flags[2]]);
        self.trsm
            .launch(columns_of(b), &[&head[..], &[alpha.into()], &t.arguments(), &b.arguments()].concat())
    }
}

fn counts<const N: usize>(counts: [usize; N]) -> [Argument<'static>; N] {
    counts.map(|count| Argument::value(count as u32))
}

/// Returns the range with a work-item for each column of each matrix.
fn columns_of(b: Many<'_>) -> Range {
    Range::new([b.first.columns.next_multiple_of(COLUMNS), b.count], [COLUMNS, 1])
}
