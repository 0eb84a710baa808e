//! `cr-solve bench solver --multigrid`: time to solution, with the set-up apart and spread over a propagator.

use super::session::Session;
use super::solver::{Case, Limits, WHOLE, reached};
use lattice_cl::field::SpinorField;
use lattice_cl::multigrid::{Multigrid, MultigridParams};
use lattice_cl::solve::{
    BicgstabParams, CrParams, InvertError, IterationPrecision, Preconditioning, bicgstab,
};
use lattice_cli::failure::{Failure, Status};
use std::time::{Duration, Instant};

/// Sources over which the set-up is spread: those of a propagator.
const SOURCES: usize = 12;

/// Returns the seconds of a call.
type Timed<'a> = dyn Fn(&mut dyn FnMut() -> Result<(), Failure>) -> Result<f64, Failure> + 'a;

impl Case<'_> {
    /// Times a set-up, whole solves by multigrid and by BiCGStab, and those for a propagator at once.
    ///
    /// A sample is the time of a cycle. Compilers are left out.
    pub(super) fn measure_multigrid(
        &self,
        b: &SpinorField<f64>,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let (dirac, team) = (self.dirac, self.dirac.lattice().team());
        let timed = |call: &mut dyn FnMut() -> Result<(), Failure>| {
            let (begin, compiled) = (Instant::now(), team.compile_time());
            call()?;
            team.finish()?;
            let elapsed = begin.elapsed().saturating_sub(team.compile_time().saturating_sub(compiled));
            Ok::<_, Failure>(elapsed.as_secs_f64())
        };
        let failed = |error| Failure::new(Status::Failed, anyhow::Error::from(error));
        let max_iterations = CrParams::default().max_iterations;
        let precision = IterationPrecision::mixed_on(team);
        let preconditioning = Preconditioning::EvenOdd;
        let params = BicgstabParams::default()
            .with_tol(WHOLE)
            .with_max_iterations(max_iterations)
            .with_precision(precision)
            .with_preconditioning(preconditioning);
        let by_bicgstab = || bicgstab(dirac, b, &params).or_else(reached);
        // Kernels are loaded, and links are where they are needed.
        by_bicgstab()?;
        let mut iterations = 0;
        let bicgstab_seconds = timed(&mut || {
            iterations = by_bicgstab()?.1.iterations;
            Ok(())
        })?;

        let IterationPrecision::Mixed(inner) = precision else { return Ok(()) };
        let params = MultigridParams::default().with_tol(WHOLE).with_precision(inner);
        let mut multigrid = None;
        let set_up_seconds = timed(&mut || {
            multigrid = Some(Multigrid::new(dirac, params, |_| ()).map_err(failed)?);
            Ok(())
        })?;
        let Some(mut multigrid) = multigrid else { return Ok(()) };
        session.report.note(format_args!("multigrid: {}", multigrid.levels()));
        let (x, info) = multigrid.solve(dirac, b, None).or_else(reached)?;
        let residual = self.check("multigrid", &x, b)?;
        drop(x);
        let cycles = info.iterations.max(1) as u32;
        let samples = session.samples(|_| {
            let mut solve = || multigrid.solve(dirac, b, None).or_else(reached).map(|_| ());
            let seconds = timed(&mut solve)?;
            Ok((Duration::from_secs_f64(seconds) / cycles, None))
        })?;
        let Some(fastest) = samples.wall.iter().copied().min_by(f64::total_cmp) else { return Ok(()) };
        let seconds = fastest * f64::from(cycles);
        let at_once = multigrid.columns_at_once(dirac.lattice(), SOURCES);
        let (twelve_seconds, cycles_at_once) = self.propagator(&mut multigrid, at_once, &timed)?;
        let all = set_up_seconds + twelve_seconds;
        let twelve_by_bicgstab = SOURCES as f64 * bicgstab_seconds;
        let limits = Limits { tol: WHOLE, iterations: max_iterations, precision, preconditioning };
        let subject = self
            .subject("multigrid", limits, Some((info.work, cycles)))
            .found("residual", residual)
            .found("whole_solve_iterations", info.iterations)
            .found("whole_solve_residual", info.residual.true_residual)
            .found("whole_solve_seconds", seconds)
            .found("set_up_seconds", set_up_seconds)
            .found("columns_at_once", at_once)
            .found("columns_iterations", cycles_at_once)
            .found("twelve_solves_seconds", twelve_seconds)
            .found("twelve_sources_seconds", all)
            .found("bicgstab_precision", precision.to_string())
            .found("bicgstab_iterations", iterations)
            .found("bicgstab_seconds", bicgstab_seconds)
            .found("times_as_fast_as_bicgstab", bicgstab_seconds / seconds)
            .found("twelve_solves_times_as_fast", twelve_by_bicgstab / twelve_seconds)
            .found("times_as_fast_with_set_up", twelve_by_bicgstab / all);
        session.push(subject, samples);
        Ok(())
    }

    /// Solves for the point sources of a propagator, as many at once as there is memory for.
    ///
    /// Returns the seconds of all twelve, and the cycles of the last columns.
    fn propagator(
        &self,
        multigrid: &mut Multigrid,
        at_once: usize,
        timed: &Timed<'_>,
    ) -> Result<(f64, usize), Failure> {
        let lattice = self.dirac.lattice();
        let mut cycles = 0;
        let mut solve = |first: usize| {
            let mut b = lattice.spinors(at_once)?;
            for k in 0..at_once {
                let (spin, colour) = ((first + k) / 3, (first + k) % 3);
                b.copy_column_from(k, &lattice.point_source([0; 4], spin, colour)?)?;
            }
            let mut count = 0;
            let seconds = timed(&mut || {
                count = match multigrid.solve_columns(self.dirac, &b, None) {
                    Ok(solution) => solution.info.iterations,
                    Err(InvertError::NotConverged { info, .. }) => info.iterations,
                    Err(InvertError::Lattice(error)) => return Err(error.into()),
                    Err(error) => return Err(Failure::new(Status::Failed, error)),
                };
                Ok(())
            })?;
            cycles = count;
            Ok::<_, Failure>(seconds)
        };
        // Kernels for so many columns are loaded.
        solve(0)?;
        let mut all = 0.0;
        for first in (0..SOURCES).step_by(at_once) {
            all += solve(first)?;
        }
        Ok((all, cycles))
    }
}
