//! The solves and contractions of a job.

use super::callbacks::{Callbacks, Found, OfSolve};
use super::error::JobError;
use super::flavour::Flavour;
use super::label::Label;
use super::method::Parameters;
use super::multigrid::Levels;
use super::outcome::{MixedHadrons, Outcome, PropagatorOutcome, SolveOutcome};
use super::problem::{Prepared, Problem};
use super::solving::{Solved, Solving};
use super::sources::LabelledSource;
use crate::device::{DeviceError, Team};
use crate::field::SpinorField;
use crate::geometry::{Dims, LatticeError};
use crate::hadron::{Contraction, HadronMeasurement, Hadrons, QuarkPropagator};
use crate::host::{NoRoom, Spinor};
use crate::operator::Dirac;
use crate::solve::{
    Attempt, BlockCgParams, BlockSolution, InvertError, SolveParams, block_cg_with_checkpoints,
};
use lattice_solvers::{Failure, SolverInfo};
use std::time::{Duration, Instant};

impl Problem {
    /// Solves for every mass and source, and measures the observables.
    ///
    /// A solve that gives up ends the job. The outcome then has the earlier results and the reason.
    ///
    /// # Errors
    /// If a device fails, if a callback ends the job, or if a kept state belongs to another job.
    pub fn run(&self, callbacks: &mut dyn Callbacks) -> Result<Outcome, JobError> {
        let mut outcome = Outcome::default();
        // All solutions use this memory, one after the other.
        let mut x = Vec::new();
        let parameters = self.job.solver.parameters(self.team());
        let mut levels = match parameters {
            Parameters::Multigrid(params) | Parameters::Auto(_, Some(params)) => {
                Some(Levels::new(params, &self.operators, self.setup_file()?))
            }
            _ => None,
        };
        let links = self.links_of_currents()?;
        let mut kept = Vec::new();
        for (number, labels) in self.labels.iter().enumerate() {
            let (dirac, source) = self.propagator(number);
            let prepared = self.prepared(number)?;
            let operator = number / self.sources.len();
            let multigrid = levels.as_mut().map(|levels| (levels, operator));
            let solving = Solving::new(parameters, self.team(), multigrid);
            let flavour = self.flavour(number);
            let callbacks = &mut *callbacks;
            let hadrons = match self.hadrons(source.source.origin()) {
                Some(measurement) => Some(OneQuark::new(measurement, self.dims())?),
                None => None,
            };
            let mut run = Run {
                problem: self,
                dirac,
                flavour,
                source,
                prepared,
                hadrons,
                solving,
                together: None,
                callbacks,
            };
            let propagator = match parameters {
                Parameters::AllAtOnce(params) => run.at_once(&params, labels, &mut outcome, &mut x)?,
                _ => run.one_after_the_other(number, labels, &mut outcome, &mut x)?,
            };
            let hadrons = run.hadrons.take();
            outcome.propagators.push(propagator);
            if !outcome.converged() {
                return Ok(outcome);
            }
            if let (Some(hadrons), Some(propagator)) = (hadrons, outcome.propagators.last_mut()) {
                let found = hadrons.measurement.of_one(&hadrons.propagator, links.as_ref());
                propagator.hadrons = found.map_err(LatticeError::from)?;
                kept.extend((self.operators.len() > 1).then_some(hadrons));
            }
        }
        outcome.mixed = self.mixed(&kept).map_err(LatticeError::from)?;
        Ok(outcome)
    }

    fn team(&self) -> &Team {
        self.lattice().team()
    }

    /// Measures the hadrons of each pair of quarks.
    ///
    /// The quarks have different masses, or are both flavours of one mass. The heavier quark comes first, or
    /// up.
    fn mixed(&self, kept: &[OneQuark]) -> Result<Vec<MixedHadrons>, DeviceError> {
        let mut mixed = Vec::new();
        let (quarks, sources) = (&self.quarks, self.sources.len());
        let pairs = (0..quarks.len()).flat_map(|i| (i + 1..quarks.len()).map(move |j| (i, j)));
        for (i, j) in pairs.filter(|_| !kept.is_empty()) {
            let kappa = |k: usize| quarks[k].coupling.kappa();
            let is_one_mass = quarks[i].coupling == quarks[j].coupling;
            if !is_one_mass && quarks[i].flavour != quarks[j].flavour {
                continue;
            }
            let (first, second) = if kappa(i) <= kappa(j) { (i, j) } else { (j, i) };
            for (number, source) in self.sources.iter().enumerate() {
                let [one, two] = [first, second].map(|quark| &kept[quark * sources + number]);
                let (one_quark, other) = (&one.propagator, &two.propagator);
                let hadrons = if is_one_mass {
                    one.measurement.mesons_of_two(one_quark, other)?
                } else {
                    one.measurement.of_two(one_quark, other)?
                };
                let name = |quark: usize| quarks[quark].label.trim_end_matches(", ").to_owned();
                let quarks = [name(first), name(second)];
                mixed.push(MixedHadrons { quarks, source: source.label.clone(), hadrons });
            }
        }
        Ok(mixed)
    }
}

/// A propagator that hadrons are made of, and the measurement.
struct OneQuark {
    measurement: HadronMeasurement,
    propagator: QuarkPropagator,
}

impl OneQuark {
    fn new(measurement: HadronMeasurement, dims: Dims) -> Result<Self, NoRoom> {
        Ok(Self { measurement, propagator: QuarkPropagator::new(dims)? })
    }
}

/// The solves of one propagator.
struct Run<'a, 'l> {
    problem: &'a Problem,
    dirac: &'a Dirac<f64>,
    flavour: Option<Flavour>,
    source: &'a LabelledSource,
    prepared: &'a Prepared,
    /// The solutions that hadrons need.
    hadrons: Option<OneQuark>,
    solving: Solving<'a, 'l>,
    /// The last solutions that multigrid cycles found for several columns at once.
    together: Option<Together>,
    callbacks: &'a mut dyn Callbacks,
}

/// The solutions of columns that were solved at once.
struct Together {
    /// The number of the first column.
    first: usize,
    solution: BlockSolution,
    params: SolveParams,
    elapsed: Duration,
}

impl Run<'_, '_> {
    fn one_after_the_other(
        &mut self,
        number: usize,
        labels: &[Label],
        outcome: &mut Outcome,
        x: &mut Vec<Spinor<f64>>,
    ) -> Result<PropagatorOutcome, JobError> {
        let mut found = self.nothing_yet();
        let mut contractions = self.contractions();
        for (k, label) in labels.iter().enumerate() {
            let solve = self.column(k, labels, outcome, x)?;
            let failure = solve.failure;
            if failure != Some(Failure::Interrupted) {
                self.callbacks.solved(&solve, x).map_err(JobError::Callback)?;
            }
            if failure.is_none() {
                let left = self.problem.solves_left(number, k + 1);
                self.solving.weigh(&solve.attempts, left, labels.len(), &mut *self.callbacks);
            }
            found.solves.push(solve);
            found.params = self.solving.params();
            found.choice = self.solving.choice();
            if failure.is_some() {
                return Ok(found);
            }
            self.contract(label, x, &mut contractions)?;
        }
        found.correlators = contractions.into_iter().map(Contraction::finish).collect();
        Ok(found)
    }

    /// Solves for column number `k`, or takes the solution of an earlier run, into `x`.
    fn column(
        &mut self,
        k: usize,
        labels: &[Label],
        outcome: &mut Outcome,
        x: &mut Vec<Spinor<f64>>,
    ) -> Result<SolveOutcome, JobError> {
        let (team, label) = (self.problem.team(), labels[k].clone());
        let found = self.callbacks.found(&label).map_err(JobError::Callback)?;
        if let Some(Found { outcome: found, solution }) = found {
            self.solving.learn(team, &found.attempts);
            *x = solution;
            return Ok(found);
        }
        self.solving.prepare(team, &mut *self.callbacks)?;
        if let Some(solve) = self.one_of_several(k, labels, outcome, x)? {
            return Ok(solve);
        }
        let b = self.prepared.fields.field(self.dirac.lattice(), label.column())?;
        self.callbacks.begins(&label);
        let clock = Clock::start(team);
        let mut of_solve = OfSolve { label: &label, callbacks: &mut *self.callbacks };
        let solved = self.solving.solve(self.dirac, &b, &mut of_solve)?;
        let elapsed = clock.elapsed(team);
        self.callbacks.ended(&label);
        outcome.count(&solved.info);
        if solved.failure != Some(Failure::Interrupted) {
            copy_to_host(&solved.x, x)?;
        }
        let Solved { info, failure, attempts, .. } = solved;
        Ok(SolveOutcome { label, info, failure, attempts, elapsed, found: false })
    }

    /// Solves for column number `k` and those beside it at once, by multigrid cycles.
    ///
    /// `None` if columns are solved one after the other. Columns that an earlier run has found are solved for
    /// again, so that the others have the same bits. So is the column after which multigrid was chosen: twelve
    /// at once take hardly longer than eleven.
    fn one_of_several(
        &mut self,
        k: usize,
        labels: &[Label],
        outcome: &mut Outcome,
        x: &mut Vec<Spinor<f64>>,
    ) -> Result<Option<SolveOutcome>, JobError> {
        let (lattice, team) = (self.dirac.lattice(), self.problem.team());
        let at_once = self.solving.columns_at_once(self.dirac, labels.len());
        if at_once < 2 {
            return Ok(None);
        }
        let first = k / at_once * at_once;
        if self.together.as_ref().is_none_or(|together| together.first != first) {
            self.together = None;
            let labels = &labels[first..][..at_once];
            let b = self.columns(labels)?;
            let all = labels[0].of_columns(at_once);
            self.callbacks.begins(&all);
            let clock = Clock::start(team);
            let mut of_solve = OfSolve { label: &all, callbacks: &mut *self.callbacks };
            let solved = self.solving.solve_at_once(self.dirac, &b, &mut of_solve);
            let elapsed = clock.elapsed(team);
            self.callbacks.ended(&all);
            match solved {
                Ok(solution) => {
                    // Columns that are solved together count once.
                    outcome.count(&solution.info);
                    let params = self.solving.params();
                    self.together = Some(Together { first, solution, params, elapsed });
                }
                Err(InvertError::NotConverged { failure: failure @ Failure::Interrupted, info, .. }) => {
                    outcome.count(&info);
                    let (info, failure, attempts) = (*info, Some(failure), Vec::new());
                    let solve = SolveOutcome { label: all, info, failure, attempts, elapsed, found: false };
                    return Ok(Some(solve));
                }
                // If cycles do not converge, another method solves one column after the other.
                Err(InvertError::NotConverged { info, .. }) => {
                    outcome.count(&info);
                    self.solving.one_by_one();
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let Some(Together { first, solution, params, elapsed }) = &self.together else { return Ok(None) };
        let BlockSolution { x: solutions, residuals, info } = solution;
        let mut column = lattice.spinor()?;
        solutions.copy_column_to(k - first, &mut column).map_err(InvertError::from)?;
        copy_to_host(&column, x)?;
        let info = SolverInfo { residual: residuals[k - first], ..info.clone() };
        let attempts = vec![Attempt::of_cycles(*params, &info)];
        let label = labels[k].clone();
        Ok(Some(SolveOutcome { label, info, failure: None, attempts, elapsed: *elapsed, found: false }))
    }

    /// Returns the sources of these columns as one field.
    fn columns(&self, labels: &[Label]) -> Result<SpinorField<f64>, JobError> {
        let lattice = self.dirac.lattice();
        let mut b = lattice.spinors(labels.len())?;
        for (k, label) in labels.iter().enumerate() {
            let one = self.prepared.fields.field(lattice, label.column())?;
            b.copy_column_from(k, &one).map_err(InvertError::from)?;
        }
        Ok(b)
    }

    /// Solves for all columns at once.
    fn at_once(
        &mut self,
        params: &BlockCgParams,
        labels: &[Label],
        outcome: &mut Outcome,
        x: &mut Vec<Spinor<f64>>,
    ) -> Result<PropagatorOutcome, JobError> {
        let (lattice, team) = (self.dirac.lattice(), self.problem.team());
        let b = self.columns(labels)?;
        let all = labels[0].of_columns(labels.len());
        self.callbacks.begins(&all);
        let clock = Clock::start(team);
        let mut of_solve = OfSolve { label: &all, callbacks: &mut *self.callbacks };
        let solved = block_cg_with_checkpoints(self.dirac, &b, params, &mut of_solve);
        let elapsed = clock.elapsed(team);
        self.callbacks.ended(&all);
        let solve = |label, info, failure| SolveOutcome {
            label,
            info,
            failure,
            attempts: Vec::new(),
            elapsed,
            found: false,
        };
        let mut found = self.nothing_yet();
        let BlockSolution { x: solutions, residuals, info } = match solved {
            Ok(solution) => solution,
            Err(InvertError::NotConverged { failure, info, .. }) => {
                outcome.count(&info);
                found.solves.push(solve(all, *info, Some(failure)));
                return Ok(found);
            }
            Err(error) => return Err(error.into()),
        };
        // Columns that are solved together count once.
        outcome.count(&info);
        let mut contractions = self.contractions();
        let mut column = lattice.spinor()?;
        for ((k, label), residual) in labels.iter().enumerate().zip(residuals) {
            solutions.copy_column_to(k, &mut column).map_err(InvertError::from)?;
            copy_to_host(&column, x)?;
            let solve = solve(label.clone(), SolverInfo { residual, ..info.clone() }, None);
            self.callbacks.solved(&solve, x).map_err(JobError::Callback)?;
            found.solves.push(solve);
            self.contract(label, x, &mut contractions)?;
        }
        found.correlators = contractions.into_iter().map(Contraction::finish).collect();
        Ok(found)
    }

    /// Adds a solution to all measurements, with its sink smeared if the job says so.
    fn contract(
        &mut self,
        label: &Label,
        x: &[Spinor<f64>],
        contractions: &mut [Contraction],
    ) -> Result<(), JobError> {
        let at_sink = self.prepared.at_sink(self.problem.team(), x)?;
        contractions.iter_mut().for_each(|contraction| contraction.add(&at_sink));
        if let Some(hadrons) = &mut self.hadrons {
            hadrons.propagator.set_column(label.column(), &at_sink);
        }
        Ok(())
    }

    fn contractions(&self) -> Vec<Contraction> {
        let (dims, origin) = (self.problem.dims(), self.source.source.origin());
        let contraction = |along: usize, observable| Contraction::new(observable, dims, along, origin[along]);
        self.problem.observables.iter().map(|entry| contraction(entry.along.0, entry.observable)).collect()
    }

    fn nothing_yet(&self) -> PropagatorOutcome {
        PropagatorOutcome {
            coupling: self.dirac.coupling(),
            flavour: self.flavour,
            source: self.source.clone(),
            solves: Vec::new(),
            params: self.solving.params(),
            choice: self.solving.choice(),
            correlators: Vec::new(),
            hadrons: Hadrons::default(),
        }
    }
}

fn copy_to_host(field: &SpinorField<f64>, x: &mut Vec<Spinor<f64>>) -> Result<(), InvertError> {
    match x.len() {
        0 => *x = field.to_host()?,
        _ => field.copy_to_host(x)?,
    }
    Ok(())
}

/// A clock that stands still while compilers run.
struct Clock {
    begun: Instant,
    compiled: Duration,
}

impl Clock {
    fn start(team: &Team) -> Self {
        Self { begun: Instant::now(), compiled: team.compile_time() }
    }

    fn elapsed(&self, team: &Team) -> Duration {
        self.begun.elapsed().saturating_sub(team.compile_time().saturating_sub(self.compiled))
    }
}
