//! The restart: Ritz vectors that are found or kept, and the next polynomial.

use super::filter::Filter;
use super::krylov::Krylov;
use super::options::{LanczosOptions, SpectrumEnd};
use super::outcome::{LanczosLook, Mode};
use super::search::{Next, Search, Stage};
use crate::outcome::Failure;
use crate::range;
use crate::update::{AXPY, NORM2};
use crate::{ErrorOf, HermitianEigen, LinearOperator, SquareMatrix, VectorOf, VectorSpace};
use num_complex::Complex64;

/// Most changes of the polynomial.
const FILTERS: usize = 6;

/// A narrower range of wanted eigenvalues makes a new polynomial worth while.
const NARROWER: f64 = 0.5;

/// Ritz vectors of a Krylov space, the best first.
struct Ritz {
    /// Their values of the iterated operator.
    values: Vec<f64>,
    /// Their eigenvalues of A, as far as they follow from the values.
    eigenvalues: Vec<f64>,
    /// Estimates of their residuals with the iterated operator.
    residuals: Vec<f64>,
    /// Their coupling to the vectors that come next.
    couplings: Vec<Vec<Complex64>>,
    /// The coefficients, which are columns.
    vectors: SquareMatrix,
}

impl<A: LinearOperator> Search<'_, '_, A> {
    /// Begins again with the best Ritz vectors.
    pub(super) fn restart(&mut self) -> Result<Next, ErrorOf<A>> {
        let Some(ritz) = self.ritz() else {
            return Ok(Next::GaveUp(Failure::NotFinite { quantity: "(v, A v)" }));
        };
        self.restarts += 1;
        let is_whole = self.locked.len() + self.krylov.vectors() >= self.a.space().dimension()
            && !self.krylov.has_next();
        if self.filter.is_none() {
            let largest = ritz.values.iter().map(|value| value.abs()).fold(0.0, f64::max);
            self.scale = self.scale.max(largest);
        }
        if self.stage == Stage::Bounds && !is_whole {
            return self.begin_with_filter(&ritz);
        }
        let unit = self.unit(&ritz);
        let wanted = self.options.count.saturating_sub(self.locked.len()).clamp(1, ritz.values.len().max(1));
        let residual = ritz.residuals.iter().take(wanted).copied().fold(0.0, range::larger) / unit;
        self.history.push(residual);
        let found = self.lock(&ritz, is_whole)?;
        if let Some(watch) = &mut self.callbacks.watch {
            watch(&LanczosLook {
                found: self.locked.len(),
                applications: self.applications,
                restarts: self.restarts,
                residual,
            });
        }
        if is_whole {
            return Ok(Next::Done);
        }
        let left: Vec<usize> = (0..ritz.values.len()).filter(|k| !found.contains(k)).collect();
        if self.locked.len() >= self.options.count {
            return self.check(&ritz, &left);
        }
        if let Some(filter) = self.better_filter(&ritz, &left) {
            self.filter = Some(filter);
            self.filters += 1;
            return self.begin_with_sums(&ritz, &left);
        }
        self.keep_best(&ritz, &left)?;
        Ok(Next::Continue)
    }

    fn ritz(&self) -> Option<Ritz> {
        let HermitianEigen { values, vectors } = self.krylov.projected().hermitian_eigen().ok()?;
        let n = values.len();
        // With a polynomial the best have the largest values.
        let largest_first = self.filter.is_some() || self.options.end == SpectrumEnd::Largest;
        let order = |k: usize| if largest_first { n - 1 - k } else { k };
        let vectors = SquareMatrix::from_fn(n, |i, k| vectors[(i, order(k))]);
        let values: Vec<f64> = (0..n).map(|k| values[order(k)]).collect();
        let eigenvalue = |value: &f64| self.filter.map_or(*value, |filter| filter.eigenvalue(*value));
        let couplings: Vec<_> = (0..n).map(|k| self.krylov.coupling(&vectors, k)).collect();
        let norm = |coupling: &Vec<Complex64>| range::norm(coupling.iter().copied());
        Some(Ritz {
            eigenvalues: values.iter().map(eigenvalue).collect(),
            residuals: couplings.iter().map(norm).collect(),
            values,
            couplings,
            vectors,
        })
    }

    /// Returns the size to which residuals with the iterated operator refer.
    fn unit(&self, ritz: &Ritz) -> f64 {
        let unit = match self.filter {
            None => self.scale,
            Some(_) => ritz.values.first().map_or(1.0, |value| value.max(1.0)),
        };
        if unit == 0.0 { 1.0 } else { unit }
    }

    /// Returns the bound that counts for the residual of one Ritz vector.
    ///
    /// The residual with A is the one with the polynomial over its value, in units of the spectrum.
    fn bound(&self, ritz: &Ritz, k: usize, tolerance: f64) -> f64 {
        match self.filter {
            None => tolerance * self.scale,
            Some(_) => tolerance * ritz.values[k].max(1.0),
        }
    }

    /// Tells whether an eigenvalue is wanted beside the locked ones.
    fn is_wanted(&self, eigenvalue: f64) -> bool {
        let Options { count, end, tolerance } = self.few_options();
        let margin = 10.0 * tolerance * self.scale;
        match self.locked.get(count - 1) {
            None => true,
            Some(last) => end.is_better(eigenvalue, end.moved(last.value, margin)),
        }
    }

    fn few_options(&self) -> Options {
        let LanczosOptions { count, end, tolerance, .. } = self.options;
        Options { count, end, tolerance }
    }

    /// Locks the Ritz vectors that are found, and returns their numbers.
    fn lock(&mut self, ritz: &Ritz, all: bool) -> Result<Vec<usize>, ErrorOf<A>> {
        let Options { count, end, tolerance } = self.few_options();
        let mut found = Vec::new();
        for k in 0..ritz.values.len().min(count) {
            let small = ritz.residuals[k] <= self.bound(ritz, k, tolerance);
            if !(all || small && self.is_wanted(ritz.eigenvalues[k])) {
                continue;
            }
            let vector = self.krylov.combination(self.a.space(), |j| ritz.vectors[(j, k)], &mut self.work)?;
            let mode = self.mode(vector)?;
            if all || (mode.residual <= tolerance * self.scale && self.is_wanted(mode.value)) {
                let at = self.locked.partition_point(|other| !end.is_better(mode.value, other.value));
                self.locked.insert(at, mode);
                found.push(k);
            }
        }
        self.locked_in_sweep += found.len();
        Ok(found)
    }

    /// Makes a mode of a vector of norm 1, with its true residual.
    fn mode(&mut self, vector: VectorOf<A>) -> Result<Mode<VectorOf<A>>, ErrorOf<A>> {
        let mode = true_mode(self.a, vector, &mut self.image)?;
        self.applications += 1;
        self.work += self.a.work_with_products();
        self.work += AXPY.work(self.a.space());
        self.work += NORM2.work(self.a.space());
        Ok(mode)
    }

    /// Goes on with all modes found, until a new Krylov space finds nothing better.
    fn check(&mut self, ritz: &Ritz, left: &[usize]) -> Result<Next, ErrorOf<A>> {
        let settled = self.checks
            && left.first().is_none_or(|&best| {
                ritz.residuals[best] <= self.bound(ritz, best, self.options.tolerance.sqrt())
                    && !self.is_wanted(ritz.eigenvalues[best])
            });
        if settled && self.locked_in_sweep == 0 {
            return Ok(Next::Done);
        }
        if !self.checks || settled {
            self.locked.truncate(self.options.count);
            (self.checks, self.locked_in_sweep) = (true, 0);
            self.krylov = Krylov::default();
            return Ok(Next::Continue);
        }
        self.keep_best(ritz, left)?;
        Ok(Next::Continue)
    }

    /// Begins again with some Ritz vectors, and with the vectors that come next.
    fn keep_best(&mut self, ritz: &Ritz, left: &[usize]) -> Result<(), ErrorOf<A>> {
        let Options { count, .. } = self.few_options();
        let wanted = count.saturating_sub(self.locked.len()).max(1);
        let next = self.krylov.vectors() - self.krylov.columns.len();
        let room = self.options.subspace.saturating_sub(next + 1);
        let kept = (wanted + room.saturating_sub(wanted) / 3).min(room).min(left.len());
        let mut begun = Krylov::default();
        for &k in &left[..kept] {
            let vector = self.krylov.combination(self.a.space(), |j| ritz.vectors[(j, k)], &mut self.work)?;
            let row = begun.columns.len();
            let mut column = vec![Complex64::ZERO; kept];
            column[row] = ritz.values[k].into();
            column.extend(&ritz.couplings[k]);
            begun.basis.push(vector);
            begun.columns.push(column);
        }
        let done = self.krylov.columns.len();
        begun.basis.extend(self.krylov.basis.drain(done..));
        self.krylov = begun;
        Ok(())
    }

    /// Returns the number of the Ritz value at which the unwanted part may begin.
    ///
    /// Ritz values are never better than the eigenvalues of the same number.
    fn first_unwanted(&self) -> usize {
        let wanted = self.options.count.saturating_sub(self.locked.len());
        wanted + (self.options.count / 5).max(2)
    }

    /// Takes the bounds of the spectrum from a first Krylov space.
    fn begin_with_filter(&mut self, ritz: &Ritz) -> Result<Next, ErrorOf<A>> {
        let last = ritz.values.len() - 1;
        // The end of the spectrum is not farther from the Ritz value than this
        // (Y. Zhou, Y. Saad, M. L. Tiago and J. R. Chelikowsky, J. Comput. Phys. 219 (2006) 172).
        let beyond = range::norm(ritz.couplings.iter().flatten().copied());
        let to = self.options.end.opposite().moved(ritz.values[last], beyond);
        let from = ritz.values[self.first_unwanted().min(last)];
        self.scale = self.scale.max(to.abs());
        self.stage = Stage::Modes;
        // Without an unwanted part, A itself is iterated.
        let best = ritz.values[0];
        if (to - from).abs() > 1e-3 * (to - best).abs() && (to - best).abs() > 1e-8 * self.scale {
            self.filter = Some(Filter::new(from, to, self.options.degree, best));
        }
        let all: Vec<usize> = (0..=last).collect();
        self.begin_with_sums(ritz, &all)
    }

    /// Returns a polynomial for a much narrower range of wanted eigenvalues.
    fn better_filter(&self, ritz: &Ritz, left: &[usize]) -> Option<Filter> {
        let filter = self.filter.filter(|_| self.filters < FILTERS)?;
        let from = ritz.eigenvalues[*left.get(self.first_unwanted())?];
        let best = self.locked.first().map(|mode| mode.value);
        let own = ritz.eigenvalues[*left.first()?];
        let best = best.filter(|best| self.options.end.is_better(*best, own)).unwrap_or(own);
        let next = Filter::new(from, filter.to, self.options.degree, own);
        ((next.from - best).abs() < NARROWER * (filter.from - best).abs()).then_some(next)
    }

    /// Begins a new Krylov space with sums of the best Ritz vectors.
    fn begin_with_sums(&mut self, ritz: &Ritz, left: &[usize]) -> Result<Next, ErrorOf<A>> {
        let Options { count, .. } = self.few_options();
        let wanted = count.saturating_sub(self.locked.len()).max(1).max(self.options.block);
        let best = &left[..wanted.min(left.len())];
        let block = self.options.block.min(best.len());
        let mut begun = Krylov::default();
        for first in 0..block {
            let of_sum =
                |j: usize| best.iter().skip(first).step_by(block).map(|&k| ritz.vectors[(j, k)]).sum();
            let mut sum = self.krylov.combination(self.a.space(), of_sum, &mut self.work)?;
            if !begun.add(self.a.space(), &self.locked, &mut sum, &mut self.work)? {
                return Ok(Next::GaveUp(Failure::NotFinite { quantity: "a Ritz vector" }));
            }
        }
        self.krylov = begun;
        Ok(Next::Continue)
    }
}

/// The options that decide which modes are wanted.
struct Options {
    count: usize,
    end: SpectrumEnd,
    tolerance: f64,
}

impl SpectrumEnd {
    fn opposite(self) -> Self {
        match self {
            Self::Lowest => Self::Largest,
            Self::Largest => Self::Lowest,
        }
    }
}

/// Makes a mode of a vector, with λ = (v, A v)/(v, v) and its true residual.
pub(super) fn true_mode<A: LinearOperator>(
    a: &A,
    vector: VectorOf<A>,
    image: &mut VectorOf<A>,
) -> Result<Mode<VectorOf<A>>, ErrorOf<A>> {
    let space = a.space();
    let product = a.apply_dot(&vector, image)?;
    let [product, norm2] = space.read([&product, &space.norm2(&vector)?])?;
    let value = product.re / norm2.re;
    space.axpy(&space.scalar((-value).into()), &vector, image)?;
    let [rest] = space.read([&space.norm2(image)?])?;
    Ok(Mode { value, vector, residual: rest.re.sqrt() })
}
