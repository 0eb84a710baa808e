//! The best of the solutions that corrections led to, kept without a copy.

use crate::compute::DeviceError;
use std::mem::swap;

/// Solutions x, x + c₁, x + c₁ + c₂, … . The last and the best are in memory.
///
/// A correction makes a new vector. The solution before is still there if the new one is worse.
pub(super) struct BestSolution<V> {
    /// The best solution if `is_best`; otherwise a vector whose values are not used.
    other: V,
    is_best: bool,
    smallest: f64,
}

impl<V> BestSolution<V> {
    /// Starts with a solution of this residual.
    ///
    /// `scratch` is another vector of the space.
    pub fn new(scratch: V, residual: f64) -> Self {
        Self { other: scratch, is_best: false, smallest: residual }
    }

    /// Computes solution = solution + correction.
    ///
    /// `sum` writes the sum into its second argument. The values of `scratch` are lost.
    pub fn correct(
        &mut self,
        solution: &mut V,
        scratch: &mut V,
        sum: impl FnOnce(&V, &mut V) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let next = if self.is_best { scratch } else { &mut self.other };
        sum(solution, next)?;
        swap(solution, next);
        Ok(())
    }

    /// Takes the relative residual of the solution that the last correction made.
    ///
    /// NaN counts as larger than all numbers.
    pub fn judge(&mut self, residual: f64) {
        let improves = residual < self.smallest;
        if improves {
            self.smallest = residual;
        }
        self.is_best = !improves;
    }

    /// Returns the best solution, unless the last solution is the best.
    pub fn better_than_last(self) -> Option<V> {
        self.is_best.then_some(self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the last solution and the best one, after corrections.
    ///
    /// Each correction comes with the residual of its solution.
    fn after(corrections: &[(i32, f64)]) -> (i32, i32) {
        let (mut solution, mut scratch) = (0, -1);
        let mut best = BestSolution::new(-1, 1.0);
        for &(correction, residual) in corrections {
            let sum = |old: &i32, new: &mut i32| {
                *new = old + correction;
                Ok(())
            };
            best.correct(&mut solution, &mut scratch, sum).unwrap();
            best.judge(residual);
        }
        (solution, best.better_than_last().unwrap_or(solution))
    }

    #[test]
    fn the_best_solution_survives_worse_ones() {
        assert_eq!(after(&[]), (0, 0));
        assert_eq!(after(&[(1, 2.0)]), (1, 0));
        assert_eq!(after(&[(1, f64::NAN)]), (1, 0));
        assert_eq!(after(&[(1, 0.5), (2, 0.1)]), (3, 3));
        assert_eq!(after(&[(1, 0.5), (2, 0.7), (4, 0.6), (8, 0.9)]), (15, 1));
        assert_eq!(after(&[(1, 0.5), (2, 0.7), (4, 0.2), (8, 0.3)]), (15, 7));
        assert_eq!(after(&[(1, 0.5), (2, 0.7), (4, 0.2), (8, 0.1)]), (15, 15));
    }
}
