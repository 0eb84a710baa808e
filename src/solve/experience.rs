//! The experience with earlier sources.
//!
//! The experience tells with which method the next source begins, and for how long.

use super::attempts::Attempt;
use crate::compute::{DeviceKind, Team};

/// The place of BiCGStab among the methods that are tried.
pub(crate) const BICGSTAB: usize = 0;
pub(crate) const CG: usize = 1;

/// Factor by which a method may exceed its iterations for an earlier source.
///
/// Beyond this factor, another method takes over.
const TOLERATED_GROWTH: usize = 3;

/// Fewest iterations that the limit for a later source is based on.
///
/// Three times a smaller number would be few iterations too.
const FEW_ITERATIONS: usize = 20;

/// Memory traffic of a solve on a GPU from which on a comparison is worth its kernels.
///
/// CG takes five stencils, about 4 s of compilation (NVIDIA 580.159.04). It may save half of the eleven
/// solves that are left of a propagator, each 0.1 s at 3 TB/s.
const BYTES_WORTH_KERNELS: u64 = 256 << 30;

/// The same traffic for a core of a processor, where a byte takes about a hundred times as long.
const BYTES_OF_CORE_WORTH_KERNELS: u64 = 4 << 30;

/// Returns the memory traffic of a solve from which on a comparison is worth its kernels.
///
/// The host has none to compile.
pub(crate) fn bytes_worth_a_comparison(team: &Team) -> u64 {
    let of_device = |kind, units: usize| match kind {
        DeviceKind::Cpu => BYTES_OF_CORE_WORTH_KERNELS * units as u64,
        _ => BYTES_WORTH_KERNELS,
    };
    team.devices().iter().map(|device| of_device(device.info().kind, device.info().compute_units)).sum()
}

/// The experience with methods, which are known by their places.
///
/// No method follows the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Experience {
    /// The least memory traffic of a solve with which methods are compared.
    pub worth: u64,
    /// The method with which a source begins.
    begins_with: usize,
    /// `true` if the first two methods have been compared.
    compared: bool,
    measured: [Measured; 3],
}

/// The cost of a method for an earlier source.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Iterations; 0 if it has not worked yet.
    iterations: usize,
    /// Memory traffic of a solve that the method did alone.
    ///
    /// `None` if the method has done no solve alone, or has given up since.
    bytes: Option<u64>,
}

/// The next method, and the iterations after which another one takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub place: usize,
    pub limit: usize,
    /// `true` if the method is tried for a part of the way only, to be compared.
    pub trial: bool,
}

impl Experience {
    /// Returns the same experience, without a comparison to come.
    pub fn settled(&self) -> Self {
        Self { compared: true, ..self.clone() }
    }

    /// Returns the method with which the next source begins if there is no comparison.
    pub fn begins_with(&self) -> usize {
        self.begins_with
    }

    /// Returns the method after these attempts; `None` if no method follows.
    ///
    /// Each attempt has its place. `left` iterations are left.
    pub fn next(
        &self,
        attempts: &[(usize, &Attempt)],
        methods: usize,
        tol: f64,
        left: usize,
    ) -> Option<Next> {
        let trial = self.trial();
        let place = match (attempts, trial) {
            ([], Some(iterations)) => {
                return Some(Next { place: CG, limit: iterations.min(left), trial: true });
            }
            ([], None) => self.begins_with,
            ([(_, tried)], Some(_)) => {
                if self.promises(tried, tol) {
                    CG
                } else {
                    BICGSTAB
                }
            }
            ([.., (last, _)], _) => last + 1,
        };
        (place < methods).then(|| Next { place, limit: self.limit(place, methods, left), trial: false })
    }

    /// Returns the iterations for which CG is tried with the next source, if it is due.
    ///
    /// CG gets half of the iterations of BiCGStab. No iteration of BiCGStab is cheaper than one of
    /// CG.
    fn trial(&self) -> Option<usize> {
        let Measured { iterations, bytes } = self.measured[BICGSTAB];
        let is_worth_it = bytes.is_some_and(|bytes| bytes >= self.worth);
        let due = self.begins_with == BICGSTAB && !self.compared && is_worth_it;
        due.then_some(iterations.div_ceil(2))
    }

    /// Tells whether a solve at the present rate costs less than that of BiCGStab.
    ///
    /// The logarithm of the residual measures the way to a solution.
    fn promises(&self, tried: &Attempt, tol: f64) -> bool {
        let part_of_the_way = tried.residual.true_residual.ln() / tol.ln();
        let Some(bicgstab) = self.measured[BICGSTAB].bytes else { return false };
        // False for values that are not numbers.
        part_of_the_way > 0.0 && (tried.work.bytes as f64) < bicgstab as f64 * part_of_the_way
    }

    /// Returns the iterations that a method may take when `left` are left.
    fn limit(&self, place: usize, methods: usize, left: usize) -> usize {
        let known = self.measured[place].iterations;
        if place + 1 == methods {
            left
        } else if known > 0 {
            left.min(TOLERATED_GROWTH * known.max(FEW_ITERATIONS))
        } else if place == BICGSTAB {
            left.div_ceil(2)
        } else {
            left
        }
    }

    /// Takes note of the attempts for one source, each with its place.
    ///
    /// The last attempt found the solution.
    pub fn learn(&mut self, attempts: &[(usize, &Attempt)]) {
        let Some(((last, _), gave_up)) = attempts.split_last() else { return };
        let was_trial = self.trial().is_some();
        self.compared |= was_trial;
        // A trial is no failure.
        for (place, _) in gave_up.iter().skip(usize::from(was_trial)) {
            self.measured[*place].bytes = None;
        }
        let own = attempts.iter().filter(|(place, _)| place == last);
        let iterations = own.map(|(_, attempt)| attempt.iterations).sum();
        let measured = &mut self.measured[*last];
        match attempts {
            [(_, alone)] => *measured = Measured { iterations, bytes: Some(alone.work.bytes) },
            // A method that starts from a good iterate had less to do.
            _ => measured.iterations = measured.iterations.max(iterations),
        }
        self.begins_with = *last;
        if let (BICGSTAB | CG, [Some(bicgstab), Some(cg)]) =
            (*last, [BICGSTAB, CG].map(|place| self.measured[place].bytes))
        {
            self.begins_with = if cg < bicgstab { CG } else { BICGSTAB };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::{CgParams, SolveParams};
    use lattice_solvers::{Residual, Work};

    const TOL: f64 = 1e-10;
    const METHODS: usize = 3;

    fn attempt(iterations: usize, bytes_each: usize, true_residual: f64) -> Attempt {
        Attempt {
            // Methods are known by their places.
            params: SolveParams::Cg(CgParams::default()),
            multigrid: false,
            iterations,
            applications: 2 * iterations,
            residual: Residual { iterated: true_residual, true_residual },
            time: Default::default(),
            work: Work { flops: 0, bytes: (bytes_each * iterations) as u64 },
            failure: None,
        }
    }

    /// Returns the place, the limit and the trial flag of the next method.
    fn next(experience: &Experience, attempts: &[(usize, &Attempt)]) -> Option<(usize, usize, bool)> {
        let next = experience.next(attempts, METHODS, TOL, 10_000);
        next.map(|Next { place, limit, trial }| (place, limit, trial))
    }

    /// Returns the experience after one source.
    ///
    /// BiCGStab solved the source in 100 iterations of 10 bytes.
    fn after_one_source() -> Experience {
        let mut experience = Experience::default();
        assert_eq!(next(&experience, &[]), Some((BICGSTAB, 5000, false)));
        experience.learn(&[(BICGSTAB, &attempt(100, 10, 1e-11))]);
        assert_eq!(next(&experience, &[]), Some((CG, 50, true)));
        experience
    }

    #[test]
    fn solves_that_are_shorter_than_compiling_are_not_compared() {
        for (worth, trial) in [(1000, Some((CG, 50, true))), (1001, Some((BICGSTAB, 300, false)))] {
            let mut experience = Experience { worth, ..Default::default() };
            experience.learn(&[(BICGSTAB, &attempt(100, 10, 1e-11))]);
            assert_eq!(next(&experience, &[]), trial);
        }
    }

    #[test]
    fn what_costs_more_is_left_after_its_trial() {
        let mut experience = after_one_source();
        // At this rate CG takes 125 iterations of 9 bytes.
        let trial = attempt(50, 9, 1e-4);
        assert_eq!(next(&experience, &[(CG, &trial)]), Some((BICGSTAB, 300, false)));
        experience.learn(&[(CG, &trial), (BICGSTAB, &attempt(60, 10, 1e-11))]);
        assert_eq!(next(&experience, &[]), Some((BICGSTAB, 300, false)), "compared once and for all");
        for nothing in [1.0, 2.0, f64::NAN, f64::INFINITY] {
            let trial = attempt(50, 9, nothing);
            assert_eq!(next(&after_one_source(), &[(CG, &trial)]), Some((BICGSTAB, 300, false)), "{nothing}");
        }
    }

    #[test]
    fn what_promises_to_cost_less_goes_on_and_must_keep_its_promise() {
        for (cg_iterations, stays_with) in [(105, CG), (115, BICGSTAB)] {
            let mut experience = after_one_source();
            // At this rate CG takes 100 iterations.
            let (trial, rest) = (attempt(50, 9, 1e-5), attempt(45, 9, 1e-11));
            assert_eq!(next(&experience, &[(CG, &trial)]), Some((CG, 10_000, false)));
            experience.learn(&[(CG, &trial), (CG, &rest)]);
            assert_eq!(next(&experience, &[]), Some((CG, 3 * 95, false)));
            experience.learn(&[(CG, &attempt(cg_iterations, 9, 1e-11))]);
            assert_eq!(experience.begins_with(), stays_with);
            assert!(experience.trial().is_none());
        }
    }

    #[test]
    fn a_solution_found_in_the_trial_is_cheaper() {
        let mut experience = after_one_source();
        experience.learn(&[(CG, &attempt(40, 9, 1e-11))]);
        assert_eq!(next(&experience, &[]), Some((CG, 120, false)));
    }

    #[test]
    fn one_that_gave_up_does_not_come_back_for_having_been_cheap() {
        let mut experience = after_one_source();
        experience.learn(&[(CG, &attempt(50, 9, 1e-2)), (BICGSTAB, &attempt(90, 10, 1e-11))]);
        let (failed, rest) = (attempt(300, 10, 0.3), attempt(400, 9, 1e-11));
        assert_eq!(next(&experience, &[(BICGSTAB, &failed)]), Some((CG, 10_000, false)));
        experience.learn(&[(BICGSTAB, &failed), (CG, &rest)]);
        experience.learn(&[(CG, &attempt(500, 9, 1e-11))]);
        assert_eq!(next(&experience, &[]), Some((CG, 1500, false)));
        assert_eq!(next(&experience, &[(CG, &failed)]), Some((2, 10_000, false)));
        assert_eq!(next(&experience, &[(CG, &failed), (2, &failed)]), None);
    }
}
