//! The memory that a solve takes, counted in fields.

use super::columns::BlockCgParams;
use super::params::SolveParams;
use super::plan::{Inner, IterationPrecision, Preconditioning};
use crate::geometry::{NDIM, Shape, Shard};
use crate::host::{Matrix3, Reconstruction, Spinor, StoredBlocks};
use crate::operator::{SiteTerm, System};
use crate::scalar::StoragePrecision;
use num_complex::Complex;

/// The sizes of fields on a device's part of a lattice, or on the host.
#[derive(Clone, Copy)]
pub(crate) struct FieldSizes<'a> {
    /// The device's part; `None` on the host.
    pub shard: Option<&'a Shard>,
    /// The sites of the part.
    pub sites: usize,
    pub reconstruction: Reconstruction,
}

impl FieldSizes<'_> {
    /// Returns the bytes of a real on the host, which has no half precision.
    fn host_real(precision: StoragePrecision) -> usize {
        precision.bytes().max(size_of::<f32>())
    }

    fn on_device(shard: &Shard, precision: StoragePrecision, shape: Shape) -> u64 {
        (shard.layout(precision).half_field(shape) * precision.bytes()) as u64
    }

    /// Returns the bytes of the spinors of one parity.
    pub fn half_spinors(&self, precision: StoragePrecision) -> u64 {
        match self.shard {
            Some(shard) => Self::on_device(shard, precision, Shape::SPINOR),
            None => (self.sites / 2 * 2 * Spinor::<f64>::COMPONENTS * Self::host_real(precision)) as u64,
        }
    }

    /// Returns the bytes of all links.
    pub fn links(&self, precision: StoragePrecision) -> u64 {
        let link = size_of::<Matrix3<f64>>() / size_of::<f64>();
        match self.shard {
            Some(shard) => 2 * Self::on_device(shard, precision, Shape::links(self.reconstruction.reals())),
            None => (self.sites * NDIM * link * Self::host_real(precision)) as u64,
        }
    }

    /// Returns the bytes of the blocks of all sites.
    fn blocks(&self, stored: StoredBlocks, precision: StoragePrecision) -> u64 {
        let numbers = stored.layout().numbers();
        let complex = size_of::<Complex<f64>>() / size_of::<f64>();
        match self.shard {
            Some(shard) => 2 * Self::on_device(shard, precision, Shape::blocks(numbers)),
            None => (self.sites * 2 * numbers * complex * Self::host_real(precision)) as u64,
        }
    }

    /// Returns the bytes of the faces that a device packs and receives.
    fn halo(&self, columns: usize, precision: StoragePrecision) -> u64 {
        let Some(shard) = self.shard else { return 0 };
        let layout = shard.layout(precision);
        // Half-spinors of both parities go both ways.
        let faces = shard.domain.cut_directions().map(|mu| 2 * 2 * layout.face_sites(mu)).sum::<usize>();
        let numbers = 2 * columns * faces * Spinor::<f64>::COMPONENTS / 2;
        (2 * numbers * Self::host_real(precision)) as u64
    }

    /// Returns the bytes of the blocks that operators keep in one precision.
    ///
    /// The blocks are those of the term, and of inverses for `inverses` different operators.
    fn all_blocks(&self, of: &Fields, inverses: usize, precision: StoragePrecision) -> u64 {
        let factors = of.site_term.typical_factors();
        let term = factors.shift.matrix.stored();
        let inverse = factors.shift.split_inverse().1.matrix.stored();
        let inverse = inverse.filter(|_| of.preconditioning != Preconditioning::None);
        let all = term.into_iter().chain(inverse.into_iter().flat_map(|one| vec![one; inverses]));
        all.take(MOST_BLOCKS).map(|stored| self.blocks(stored, precision)).sum()
    }
}

/// Fields of blocks that links keep at most.
const MOST_BLOCKS: usize = 3;

/// The precision of the lower fields of an iteration; `None` if all are in double.
fn lower(precision: IterationPrecision) -> Option<StoragePrecision> {
    match precision {
        IterationPrecision::Double => None,
        IterationPrecision::Single | IterationPrecision::Mixed(Inner::Single) => {
            Some(StoragePrecision::Single)
        }
        IterationPrecision::Mixed(Inner::Half) => Some(StoragePrecision::Half),
    }
}

/// The fields of a solve of M x = b.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub precision: IterationPrecision,
    pub preconditioning: Preconditioning,
    pub site_term: SiteTerm,
    pub columns: usize,
    /// Vectors of the method, without its right-hand side.
    vectors: usize,
    /// Vectors of the method that a checkpoint has.
    kept: usize,
    /// `true` if double precision is treated like a lower one.
    always_corrects: bool,
}

impl Fields {
    /// Returns the fields of a method for one column.
    pub fn of(params: &SolveParams, site_term: SiteTerm) -> Self {
        // Every method has x, r, the best x and a scratch vector.
        let (own, kept) = match params {
            SolveParams::Cr(_) => (3, 4),
            SolveParams::Minres(_) => (5, 5),
            SolveParams::Cg(_) | SolveParams::Cgne(_) => (2, 3),
            SolveParams::Bicgstab(_) => (4, 4),
            SolveParams::BicgstabL(params) => (2 * params.degree + 2, 4),
            SolveParams::Gcr(params) => (2 * params.restart + 2 * usize::from(params.smoothing > 0), 2),
            SolveParams::Mr(_) => (1, 2),
        };
        // M†M has a field between its factors.
        let between = usize::from(params.system() == System::Normal);
        Self {
            precision: params.precision(),
            preconditioning: params.preconditioning(),
            site_term,
            columns: 1,
            vectors: 4 + own + between,
            kept: kept + 1,
            always_corrects: false,
        }
    }

    /// Returns the fields of block CG.
    pub fn of_block_cg(params: &BlockCgParams, site_term: SiteTerm, columns: usize) -> Self {
        Self {
            precision: params.precision,
            preconditioning: params.preconditioning,
            site_term,
            columns,
            vectors: 7,
            kept: 4,
            always_corrects: true,
        }
    }

    /// Returns the bytes of links, of blocks, and of faces.
    ///
    /// `operators` differ in their masses; the blocks of their clover terms are kept.
    pub fn bytes_of_links(&self, sizes: FieldSizes<'_>, operators: usize) -> u64 {
        let double = StoragePrecision::Double;
        let precisions = [Some(double), lower(self.precision)];
        let bytes = |precision| {
            sizes.links(precision)
                + sizes.all_blocks(self, operators, precision)
                + sizes.halo(self.columns, precision)
        };
        precisions.into_iter().flatten().map(bytes).sum()
    }

    /// Returns the bytes of the spinors of a solve, with the source and the solution.
    pub fn bytes(&self, sizes: FieldSizes<'_>) -> u64 {
        let double = StoragePrecision::Double;
        let half = sizes.half_spinors(double) * self.columns as u64;
        let (vector, parts, has_inverse) = match self.preconditioning {
            Preconditioning::None => (2 * half, 0, false),
            // The odd source, the one of the even sites, a field between hops, an odd solution;
            // a turned odd source. The solution on all sites.
            _ => (half, (4 + 2) * half, self.site_term != SiteTerm::Scalar),
        };
        let turned = u64::from(has_inverse) * half;
        // The source and the residual in double.
        let mut bytes = 2 * 2 * half + parts + turned;
        let of_iteration = |vector: u64, operator: u64| (self.vectors + 1) as u64 * vector + operator;
        let Some(low) = lower(self.precision).or(self.always_corrects.then_some(double)) else {
            return bytes + of_iteration(vector, 0);
        };
        let low_half = sizes.half_spinors(low) * self.columns as u64;
        let low_vector = vector / half * low_half;
        // A residual in the lower precision, and the field between its hops.
        let between = if self.preconditioning == Preconditioning::None { 0 } else { low_half };
        bytes += of_iteration(low_vector, low_vector + between);
        // Solution, residual and best solution of corrections; or the raised solution.
        let in_double =
            if self.precision == IterationPrecision::Single && !self.always_corrects { 1 } else { 3 };
        bytes + in_double * vector
    }

    /// Returns the bytes of the fields in a checkpoint of a solve.
    pub fn bytes_of_checkpoint(&self, sizes: FieldSizes<'_>) -> u64 {
        let double = StoragePrecision::Double;
        let vectors = if self.preconditioning == Preconditioning::None { 2 } else { 1 } * self.columns as u64;
        let of_iteration = lower(self.precision).unwrap_or(double);
        let corrects = self.always_corrects || matches!(self.precision, IterationPrecision::Mixed(_));
        let solution = u64::from(corrects) * sizes.half_spinors(double);
        vectors * (self.kept as u64 * sizes.half_spinors(of_iteration) + solution)
    }
}
