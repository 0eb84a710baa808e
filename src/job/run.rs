//! The solves and contractions of a job.

use super::action::Quark;
use super::callbacks::{Callbacks, EarlierSolve, OfSolve};
use super::deflating::Deflating;
use super::error::JobError;
use super::label::Label;
use super::method::Parameters;
use super::multigrid::Levels;
use super::outcome::{JobOutcome, MixedHadrons, NamedHadronOutcome, PropagatorOutcome, SolveOutcome};
use super::problem::{Prepared, Problem};
use super::sink::Sink;
use super::solving::{Solved, Solving};
use super::sources::LabelledSource;
use crate::compute::{DeviceError, Team};
use crate::field::SpinorField;
use crate::geometry::LatticeError;
use crate::hadron::{Contraction, Hadrons, QuarkPropagator, SourceError, ThreePoint, ThreePointCorrelator};
use crate::host::{LinkField, NoRoom, Spinor};
use crate::operator::Dirac;
use crate::solve::{
    Attempt, BlockCgParams, BlockSolution, InvertError, SolveParams, block_cg_from, block_cg_with_checkpoints,
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
    pub fn run(&self, callbacks: &mut dyn Callbacks) -> Result<JobOutcome, JobError> {
        let mut outcome = JobOutcome::default();
        // All solutions use this memory, one after the other.
        let mut x = Vec::new();
        let of_multigrid = |quark: &Quark| match quark.parameters(self.team()) {
            Parameters::Multigrid(params) => Some((params, true)),
            Parameters::Auto(_, Some(params)) => Some((params, false)),
            _ => None,
        };
        let mut levels = match self.quarks.iter().find_map(of_multigrid) {
            Some((params, by_name)) => {
                Some(Levels::new(params, by_name, &self.operators, self.setup_file()?))
            }
            None => None,
        };
        let mut deflating = Deflating::new(&self.operators, self.fingerprint());
        let links = self.links_of_currents()?;
        let mut kept = Vec::new();
        for (number, labels) in self.labels.iter().enumerate() {
            let (dirac, source) = self.propagator(number);
            let sequential = self.sequential_of(number);
            let at_hadron = sequential.map(|which| self.at_hadron(which, &kept)).transpose()?;
            let prepared = match &at_hadron {
                Some(prepared) => prepared,
                None => self.prepared(number)?,
            };
            let quark = self.quark(number);
            let parameters = quark.parameters(self.team());
            let multigrid = of_multigrid(quark).and(levels.as_mut());
            let multigrid = multigrid.map(|levels| (levels, self.propagators[number][0]));
            let deflation = quark.method.deflate.is_some();
            let deflation = deflation.then_some((&mut deflating, self.propagators[number][0], &quark.method));
            let solving = Solving::new(parameters, self.team(), multigrid, deflation);
            let callbacks = &mut *callbacks;
            let at_sinks = self.sinks(number).into_iter();
            let empty =
                || Ok(QuarkPropagator::new(self.dims())?.with_time_phases(self.time_phases().clone()));
            let at_sinks = at_sinks.map(|sink| Ok(AtSink { number, sink, propagator: empty()? }));
            let mut run = Run {
                problem: self,
                dirac,
                quark,
                source,
                prepared,
                at_sinks: at_sinks.collect::<Result<_, NoRoom>>()?,
                solving,
                together: None,
                callbacks,
            };
            let propagator = match parameters {
                Parameters::AllAtOnce(params) => run.at_once(&params, labels, &mut outcome, &mut x)?,
                _ => run.one_after_the_other(number, labels, &mut outcome, &mut x)?,
            };
            let at_sinks = std::mem::take(&mut run.at_sinks);
            outcome.propagators.push(propagator);
            if !outcome.converged() {
                return Ok(outcome);
            }
            let ([at_sink, ..], Some(propagator)) = (&at_sinks[..], outcome.propagators.last_mut()) else {
                continue;
            };
            if let Some(which) = sequential {
                let found = self.three_points(which, &kept, &at_sink.propagator, links.as_ref());
                propagator.hadrons.three_points = found.map_err(LatticeError::from)?;
                continue;
            }
            if let Some(measurement) = self.hadrons(source.source.origin()) {
                let found = measurement.of_one(&at_sink.propagator, links.as_ref());
                propagator.hadrons = found.map_err(LatticeError::from)?;
            }
            if self.operators.len() > 1 || !self.named_hadrons.is_empty() || !self.sequential.is_empty() {
                kept.extend(at_sinks);
            }
        }
        outcome.mixed = self.mixed(&kept).map_err(LatticeError::from)?;
        outcome.hadrons = self.of_named_quarks(&kept, links.as_ref()).map_err(LatticeError::from)?;
        Ok(outcome)
    }

    fn team(&self) -> &Team {
        self.lattice().team()
    }

    /// Returns the right-hand sides of a sequential source, from the propagators of its hadron.
    fn at_hadron(&self, which: usize, kept: &[AtSink]) -> Result<Prepared, JobError> {
        let one = &self.sequential[which];
        let origin = self.sources[one.from].source.origin();
        let of = |&quark: &usize| self.at_sink(kept, [quark, one.from], Sink::OfSource);
        let quarks: Vec<&QuarkPropagator> = one.quarks.iter().filter_map(of).collect();
        let source = &self.sources[one.propagator[1]].source;
        if quarks.len() < one.quarks.len() {
            return Err(SourceError::NoPropagators(source.clone()).into());
        }
        let field = one.sink.field(&quarks, origin);
        Ok(self.prepared[one.from].at_hadron(source.clone(), field, self.dims()))
    }

    /// Measures the three-point functions of a sequential propagator.
    fn three_points(
        &self,
        which: usize,
        kept: &[AtSink],
        propagator: &QuarkPropagator,
        links: Option<&LinkField<f64>>,
    ) -> Result<Vec<ThreePointCorrelator>, DeviceError> {
        let (one, momenta) = (&self.sequential[which], &self.sequential_momenta[which]);
        let coupled = one.coupled();
        let Some(quark) = self.at_sink(kept, coupled, one.bare) else { return Ok(Vec::new()) };
        let functions = ThreePoint {
            quark,
            sequential: propagator,
            hadron: &one.sink.hadron,
            origin: self.sources[one.from].source.origin(),
        };
        let mut all = functions.local_on(self.team(), momenta)?;
        if let Some(links) = links {
            let dirac = &self.operators[coupled[0]];
            all.extend(functions.conserved(links, dirac.hop_weights(), momenta));
        }
        Ok(all)
    }

    /// Measures the hadrons of each pair of quarks.
    ///
    /// The quarks have different masses, or are both flavours of one mass. The heavier quark comes first, or
    /// up.
    fn mixed(&self, kept: &[AtSink]) -> Result<Vec<MixedHadrons>, DeviceError> {
        let mut mixed = Vec::new();
        let quarks = &self.quarks;
        let pairs = (0..quarks.len()).flat_map(|i| (i + 1..quarks.len()).map(move |j| (i, j)));
        for (i, j) in pairs {
            let kappa = |k: usize| quarks[k].coupling.kappa();
            let is_one_mass = quarks[i].coupling == quarks[j].coupling;
            if !is_one_mass && quarks[i].flavour != quarks[j].flavour {
                continue;
            }
            let (first, second) = if kappa(i) <= kappa(j) { (i, j) } else { (j, i) };
            for (number, source) in self.sources.iter().enumerate() {
                let Some(measurement) = self.hadrons(source.source.origin()) else { continue };
                let [Some(one), Some(two)] =
                    [first, second].map(|quark| self.at_sink(kept, [quark, number], Sink::OfSource))
                else {
                    continue;
                };
                let hadrons = if is_one_mass {
                    measurement.mesons_of_two(one, two)?
                } else {
                    measurement.of_two(one, two)?
                };
                let name = |quark: usize| quarks[quark].label.trim_end_matches(", ").to_owned();
                let quarks = [name(first), name(second)];
                mixed.push(MixedHadrons { quarks, source: source.label.clone(), hadrons });
            }
        }
        Ok(mixed)
    }

    /// Measures the hadrons of `[[hadron]]`.
    fn of_named_quarks(
        &self,
        kept: &[AtSink],
        links: Option<&LinkField<f64>>,
    ) -> Result<Vec<NamedHadronOutcome>, DeviceError> {
        let mut all = Vec::new();
        for (named, momenta) in self.named_hadrons.iter().zip(&self.named_momenta) {
            for &source in &named.sources {
                let labelled = &self.sources[source];
                let origin = labelled.source.origin();
                let measurement = self.measurement(named.sets.clone(), momenta.clone(), origin);
                let of = |&quark: &usize| self.at_sink(kept, [quark, source], named.sink.into());
                let quarks: Vec<&QuarkPropagator> = named.quarks.iter().filter_map(of).collect();
                let hadrons = match quarks[..] {
                    [one] => measurement.of_one(one, links)?,
                    [one, other] => measurement.of_two(one, other)?,
                    [one, two, three] => measurement.of_three([one, two, three])?,
                    _ => continue,
                };
                let names = named.quarks.iter().filter_map(|&quark| self.quarks[quark].name.clone());
                all.push(NamedHadronOutcome {
                    quarks: names.collect(),
                    source: labelled.label.clone(),
                    smear_sink: named.sink.or(labelled.smearing.sink).map(|kind| kind.to_string()),
                    hadrons,
                });
            }
        }
        Ok(all)
    }

    /// Returns the propagator of a quark and a source with this sink.
    fn at_sink<'k>(&self, kept: &'k [AtSink], of: [usize; 2], sink: Sink) -> Option<&'k QuarkPropagator> {
        let found = kept.iter().find(|one| self.propagators[one.number] == of && one.sink == sink);
        found.map(|one| &one.propagator)
    }
}

/// A propagator that hadrons are made of.
struct AtSink {
    /// The number of the propagator.
    number: usize,
    sink: Sink,
    propagator: QuarkPropagator,
}

/// The solves of one propagator.
struct Run<'a, 'l> {
    problem: &'a Problem,
    dirac: &'a Dirac<f64>,
    quark: &'a Quark,
    source: &'a LabelledSource,
    prepared: &'a Prepared,
    /// The solutions that hadrons need.
    at_sinks: Vec<AtSink>,
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
        outcome: &mut JobOutcome,
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
            found.deflation = self.solving.deflation().cloned();
            if failure.is_none() {
                self.contract(label, x, &mut contractions)?;
            }
            if let Some(solve) = found.solves.last().filter(|_| failure != Some(Failure::Interrupted)) {
                self.callbacks.spent(solve, x).map_err(JobError::Callback)?;
            }
            if failure.is_some() {
                return Ok(found);
            }
        }
        found.correlators = contractions.into_iter().map(Contraction::finish).collect();
        Ok(found)
    }

    /// Solves for column number `k`, or takes the solution of an earlier run, into `x`.
    fn column(
        &mut self,
        k: usize,
        labels: &[Label],
        outcome: &mut JobOutcome,
        x: &mut Vec<Spinor<f64>>,
    ) -> Result<SolveOutcome, JobError> {
        let (team, label) = (self.problem.team(), labels[k].clone());
        let earlier = self.callbacks.earlier_solve(&label).map_err(JobError::Callback)?;
        if let Some(EarlierSolve { outcome, solution }) = earlier {
            self.solving.learn(team, &outcome.attempts);
            *x = solution;
            return Ok(outcome);
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
        outcome: &mut JobOutcome,
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
        outcome: &mut JobOutcome,
        x: &mut Vec<Spinor<f64>>,
    ) -> Result<PropagatorOutcome, JobError> {
        let (lattice, team) = (self.dirac.lattice(), self.problem.team());
        self.solving.prepare(team, &mut *self.callbacks)?;
        let b = self.columns(labels)?;
        let all = labels[0].of_columns(labels.len());
        self.callbacks.begins(&all);
        let clock = Clock::start(team);
        let guess = self.solving.guess(self.dirac, &b)?;
        let mut of_solve = OfSolve { label: &all, callbacks: &mut *self.callbacks };
        let solved = match &guess {
            Some(guess) => block_cg_from(self.dirac, &b, guess, params, Some(&mut of_solve)),
            None => block_cg_with_checkpoints(self.dirac, &b, params, &mut of_solve),
        };
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
            self.contract(label, x, &mut contractions)?;
            self.callbacks.spent(&solve, x).map_err(JobError::Callback)?;
            found.solves.push(solve);
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
        let at_sink = |sink| self.prepared.at_sink(self.problem.team(), x, sink);
        let of_source = at_sink(Sink::OfSource)?;
        contractions.iter_mut().for_each(|contraction| contraction.add(&of_source));
        for one in &mut self.at_sinks {
            let smeared = if one.sink == Sink::OfSource { &of_source } else { &at_sink(one.sink)? };
            one.propagator.set_column(label.column(), smeared);
        }
        Ok(())
    }

    /// Returns the contractions to fill; none of a sequential propagator.
    fn contractions(&self) -> Vec<Contraction> {
        if self.source.sequential.is_some() {
            return Vec::new();
        }
        let (dims, origin) = (self.problem.dims(), self.source.source.origin());
        let contraction = |along: usize, observable| Contraction::new(observable, dims, along, origin[along]);
        self.problem.observables.iter().map(|entry| contraction(entry.along.0, entry.observable)).collect()
    }

    fn nothing_yet(&self) -> PropagatorOutcome {
        PropagatorOutcome {
            coupling: self.dirac.coupling(),
            flavour: self.quark.flavour,
            quark: self.quark.name.clone(),
            source: self.source.clone(),
            solves: Vec::new(),
            params: self.solving.params(),
            choice: self.solving.choice(),
            deflation: self.solving.deflation().cloned(),
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
