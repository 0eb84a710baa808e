//! The state of a factorisation by blocks of columns, as a checkpoint has it.

use super::factors::{Factors, Number};
use lattice_cl::linalg::MatrixLayout;
use lattice_cl::linalg::split::factor::Finished;
use lattice_solvers::SolverState;
use std::ops::Range;

/// Most columns of a vector of a state.
const AT_ONCE: usize = 256;

/// The name of the number of finished columns.
const COLUMNS: &str = "columns";

/// Factors that the matrix does not have.
#[derive(Clone, Copy, Debug)]
pub struct Failed {
    pub factors: Factors,
    /// LAPACK's.
    pub info: usize,
    pub seconds: f64,
}

/// Columns that an earlier run has finished.
pub struct FactorCheckpoint {
    pub factors: Factors,
    pub columns: usize,
    /// Factors that were tried before.
    pub failed: Vec<Failed>,
    /// Finished columns, some at a time and row after row, then pivots and τ.
    blocks: Vec<Vec<u8>>,
}

fn parts(columns: usize) -> impl Iterator<Item = Range<usize>> {
    (0..columns).step_by(AT_ONCE).map(move |first| first..(first + AT_ONCE).min(columns))
}

/// Returns what a state says of its vectors.
pub fn state<T>(factors: Factors, failed: &[Failed], finished: &Finished<'_, T>) -> SolverState<()> {
    let columns =
        parts(finished.columns).map(|part| format!("columns {} to {}", part.start, part.end).into());
    let infos = failed.iter().map(|failed| (failed.factors.name().into(), failed.info as u64));
    SolverState {
        method: factors.name().into(),
        vectors: columns.chain(["pivots".into(), "tau".into()]).map(|name| (name, ())).collect(),
        scalars: Vec::new(),
        numbers: failed.iter().map(|failed| (failed.factors.name().into(), failed.seconds)).collect(),
        counts: [(COLUMNS.into(), finished.columns as u64)].into_iter().chain(infos).collect(),
        history: Vec::new(),
    }
}

/// Returns the bytes of a vector of the state.
pub fn block<T: Number>(layout: &MatrixLayout, finished: &Finished<'_, T>, number: usize) -> Vec<u8> {
    match parts(finished.columns).nth(number) {
        Some(part) => {
            let places = places(layout, part);
            let elements: Vec<T> = places.map(|place| finished.elements[place]).collect();
            bytemuck::cast_slice(&elements).to_vec()
        }
        None if number == finished.columns.div_ceil(AT_ONCE) => {
            bytemuck::cast_slice(finished.pivots).to_vec()
        }
        None => bytemuck::cast_slice(finished.tau).to_vec(),
    }
}

/// Returns the places of these columns, row after row.
fn places(layout: &MatrixLayout, columns: Range<usize>) -> impl Iterator<Item = usize> {
    let layout = *layout;
    (0..layout.rows).flat_map(move |i| columns.clone().map(move |j| layout.index(i, j)))
}

impl FactorCheckpoint {
    /// Takes the state of a checkpoint.
    ///
    /// `None` if it is not that of factors.
    pub fn of(state: SolverState<Vec<u8>>) -> Option<Self> {
        let count = |name: &str| state.counts.iter().find(|(own, _)| own == name).map(|(_, count)| *count);
        let failed = state.numbers.iter().map(|(name, seconds)| {
            Some(Failed {
                factors: name.parse().ok()?,
                info: usize::try_from(count(name)?).ok()?,
                seconds: *seconds,
            })
        });
        Some(Self {
            factors: state.method.parse().ok()?,
            columns: usize::try_from(count(COLUMNS)?).ok()?,
            failed: failed.collect::<Option<_>>()?,
            blocks: state.vectors.into_iter().map(|(_, block)| block).collect(),
        })
    }

    /// Tells whether the state is that of a matrix of this layout.
    pub fn fits<T: Number>(&self, layout: &MatrixLayout) -> bool {
        let known = self.columns.min(layout.rows);
        let [columns @ .., pivots, tau] = &self.blocks[..] else { return false };
        let as_wanted = |(block, part): (&Vec<u8>, Range<usize>)| {
            block.len() as u128 == (part.len() * size_of::<T>()) as u128 * layout.rows as u128
        };
        let rows: Vec<u32> = bytemuck::pod_collect_to_vec(pivots);
        let [pivots_wanted, tau_wanted] = match self.factors {
            Factors::Cholesky => [0, 0],
            Factors::Lu => [known, 0],
            Factors::Qr => [0, known],
        };
        self.columns <= layout.columns
            && columns.len() == self.columns.div_ceil(AT_ONCE)
            && columns.iter().zip(parts(self.columns)).all(as_wanted)
            && pivots.len() == pivots_wanted * size_of::<u32>()
            && rows.iter().all(|&row| (row as usize) < layout.rows)
            && tau.len() == tau_wanted * size_of::<T>()
    }

    /// Puts the finished columns into a matrix that they fit.
    pub fn restore<T: Number>(&self, layout: &MatrixLayout, elements: &mut [T]) {
        for (block, part) in self.blocks.iter().zip(parts(self.columns)) {
            let kept: Vec<T> = bytemuck::pod_collect_to_vec(block);
            places(layout, part).zip(kept).for_each(|(place, element)| elements[place] = element);
        }
    }

    /// Returns the pivots of the finished columns.
    pub fn pivots(&self) -> Vec<u32> {
        self.blocks.iter().rev().nth(1).map_or_else(Vec::new, |block| bytemuck::pod_collect_to_vec(block))
    }

    /// Returns the τ of the finished columns.
    pub fn tau<T: Number>(&self) -> Vec<T> {
        self.blocks.last().map_or_else(Vec::new, |block| bytemuck::pod_collect_to_vec(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_columns_come_back_with_pivots_and_failures() {
        let layout = MatrixLayout::row_major(3, 300);
        let elements: Vec<f64> = (0..900).map(f64::from).collect();
        let (pivots, tau) = ([2, 1, 2], [0.0; 0]);
        let finished = Finished { columns: 260, all: 300, elements: &elements, pivots: &pivots, tau: &tau };
        let failed = [Failed { factors: Factors::Cholesky, info: 7, seconds: 0.5 }];
        let about = state(Factors::Lu, &failed, &finished);
        let vectors = about.vectors.into_iter().enumerate();
        let vectors = vectors.map(|(k, (name, ()))| (name, block(&layout, &finished, k))).collect();
        let again = |vectors| SolverState {
            method: about.method.clone(),
            vectors,
            scalars: Vec::new(),
            numbers: about.numbers.clone(),
            counts: about.counts.clone(),
            history: Vec::new(),
        };
        let kept = FactorCheckpoint::of(again(vectors)).unwrap();
        assert_eq!((kept.columns, kept.failed[0].info, kept.pivots()), (260, 7, vec![2, 1, 2]));
        assert!(kept.fits::<f64>(&layout) && kept.tau::<f64>().is_empty());
        let mut restored = vec![-1.0; 900];
        kept.restore(&layout, &mut restored);
        for (k, (&restored, &element)) in restored.iter().zip(&elements).enumerate() {
            assert_eq!(restored, if k % 300 < 260 { element } else { -1.0 });
        }
        // Another shape, and pivots that name no row.
        assert!(!kept.fits::<f64>(&MatrixLayout::row_major(4, 300)));
        assert!(
            !kept.fits::<num_complex::Complex64>(&layout)
                && !kept.fits::<f64>(&MatrixLayout::row_major(3, 259))
        );
        let mut wrong = kept.blocks.clone();
        wrong[2] = bytemuck::cast_slice(&[0_u32, 3, 0]).to_vec();
        assert!(!FactorCheckpoint { blocks: wrong, ..kept }.fits::<f64>(&layout));
    }
}
