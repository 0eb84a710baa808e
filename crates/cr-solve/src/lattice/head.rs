//! Common parts of the results of `invert` and `spectrum`, as JSON and as text.

use super::attempt_outcome::AttemptOutcome;
use super::fingerprint::Configuration;
use super::perform::Performed;
use super::words::{coupling_text, method_text, solver_text, solver_words};
use lattice_cl::job::{
    DeflationOutcome, Flavour, Job, MultigridChoice, PropagatorOutcome, SolveOutcome, Solver,
};
use lattice_cl::operator::{Coupling, SiteTermResult};
use lattice_cl::solve::SolveParams;
use lattice_cli::provenance::Provenance;
use lattice_cli::report::Table;
use lattice_cli::team::device_names;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Makes the JSON schema of results, which have the job as well.
pub fn schema_of_results<T: JsonSchema>() -> Schema {
    let mut schema = SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let description = "All keys of the job with their values; of run, the job file and what --set gave.";
        properties.insert("job".to_owned(), json!({ "type": "object", "description": description }));
    }
    schema
}

/// The part of a result that does not depend on the mass and the source.
#[derive(Serialize, JsonSchema)]
pub struct Head<'a> {
    schema_version: u32,
    configuration: &'a Configuration,
    provenance: &'a Provenance,
    pub solver: Solver,
    /// The parameters of the site term, of several `[[quark]]` those of the first.
    #[serde(flatten)]
    site_term: SiteTermResult,
    /// ξ0, which is 1 on an isotropic lattice.
    pub anisotropy: f64,
    pub nu: f64,
    /// The smearing of the operator's links, absent for the links of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    fat_links: Option<String>,
    normalisation: &'static str,
    boundary: [i8; 4],
    /// Angles of the boundary condition, in units of π.
    theta: [f64; 4],
    pub dims: [usize; 4],
    pub devices: Vec<String>,
    /// Parts of the lattice in x, y, z, t, one on each device.
    grid: String,
    /// Grid of blocks, one for each rank.
    ///
    /// Absent for one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks_grid: Option<String>,
    links: usize,
    pub tolerance: f64,
}

/// The mass, the source and the method of a result.
///
/// The method is the one that ended the last solve.
#[derive(Serialize, JsonSchema)]
pub struct Equation {
    /// The method, or the method that an automatic choice took.
    pub method: String,
    pub system: String,
    pub preconditioning: String,
    pub precision: String,
    pub kappa: f64,
    pub mass: f64,
    /// The flavour, `null` without a twisted mass.
    ///
    /// The operator of down has −mu.
    pub flavour: Option<Flavour>,
    pub source: String,
    /// The name that `[[quark]]` gives the quark, absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quark: Option<String>,
    /// The operator of this `[[quark]]` in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<String>,
    /// The reason of an automatic choice for or against multigrid.
    ///
    /// `None` if no solves were left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_choice: Option<MultigridChoice>,
    /// The modes that deflated the solves, absent without deflation.
    #[serde(skip_serializing_if = "Option::is_none")]
    deflation: Option<Deflation>,
    /// The smearing of the source, absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    smear_source: Option<String>,
    /// The smearing of solutions before they are contracted, absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    smear_sink: Option<String>,
    /// The smearing of the links of both, absent for the links of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    smear_links: Option<String>,
}

/// The modes that deflated the solves of a propagator, and the time with them and without.
#[derive(Serialize, JsonSchema)]
struct Deflation {
    #[serde(flatten)]
    modes: DeflationOutcome,
    /// The solves of the propagator in this run.
    solve_seconds: f64,
    /// The solves, and the search for the modes or reading them.
    seconds_with_modes: f64,
}

impl Deflation {
    fn of(job: &Job, propagator: &PropagatorOutcome) -> Option<Self> {
        let modes = propagator.deflation.clone()?;
        // Columns that are solved at once have one time.
        let solves = if job.solves_at_once() { 1 } else { propagator.solves.len() };
        let solves = propagator.solves.iter().take(solves);
        let solving: Duration = solves.map(|solve| solve.elapsed).sum();
        let searching = Duration::try_from_secs_f64(modes.seconds).unwrap_or_default();
        let solve_seconds = solving.as_secs_f64();
        let seconds_with_modes = (solving + searching).as_secs_f64();
        Some(Self { modes, solve_seconds, seconds_with_modes })
    }
}

impl<'a> Head<'a> {
    /// Collects the head of a job that was done.
    pub fn new(performed: &Performed<'a>) -> Self {
        let Performed { problem, configuration, provenance, .. } = performed;
        let job = problem.job();
        Self {
            schema_version: 1,
            configuration,
            provenance,
            solver: job.solver.solver,
            site_term: SiteTermResult(problem.quark(0).action.site_term),
            anisotropy: job.action.anisotropy.unwrap_or(1.0),
            nu: job.action.nu.unwrap_or(1.0),
            fat_links: job.action.fat_links.map(|kind| kind.to_string()),
            normalisation: job.normalisation(),
            boundary: job.action.boundary.signs(),
            theta: job.action.boundary().theta().angles(),
            dims: problem.dims().extents(),
            devices: device_names(problem.lattice().team()),
            grid: problem.lattice().grid().to_string(),
            ranks_grid: problem.lattice().team().ranks().map(|_| problem.lattice().ranks_grid().to_string()),
            links: job.configuration.links.reals(),
            tolerance: job.solver.tolerance(),
        }
    }

    /// Adds the first lines of a table.
    pub fn begin(&self, table: &mut Table) {
        table.line("extents", self.dims.map(|extent| extent.to_string()).join("x"));
        table.line("devices", self.devices.join(", "));
    }

    /// Adds lines on what the operator has besides a mass.
    ///
    /// The lines are about the site term, the anisotropy, the links and the angles of the boundary.
    pub fn action(&self, flavour: Option<Flavour>, table: &mut Table) {
        for (name, value) in self.site_term.lines(flavour) {
            table.line(name, value);
        }
        if [self.anisotropy, self.nu] != [1.0; 2] {
            table.line("anisotropy", format!("{:?}, nu {:?}", self.anisotropy, self.nu));
        }
        if let Some(kind) = &self.fat_links {
            table.line("fat links", kind);
        }
        if self.theta != [0.0; 4] {
            table.line("theta", format!("{} pi", self.theta.map(|angle| angle.to_string()).join(",")));
        }
    }
}

impl Equation {
    /// Describes one propagator.
    pub fn new(job: &Job, propagator: &PropagatorOutcome) -> Self {
        let PropagatorOutcome { coupling, flavour, source, params, choice, quark, .. } = propagator;
        let (coupling, params): (&Coupling, &SolveParams) = (coupling, params);
        let entry = job.quark.iter().find(|entry| quark.as_ref() == Some(&entry.label));
        let solver = entry.and_then(|entry| entry.solver).unwrap_or(job.solver.solver);
        Self {
            method: method_text(solver, params),
            system: params.system().to_string(),
            preconditioning: params.preconditioning().to_string(),
            precision: params.precision().to_string(),
            kappa: coupling.kappa(),
            mass: coupling.mass(),
            flavour: *flavour,
            source: source.source.to_string(),
            quark: quark.clone(),
            operator: entry.map(|entry| entry.action(&job.action).operator_words()),
            multigrid_choice: *choice,
            deflation: Deflation::of(job, propagator),
            smear_source: source.smearing.source.map(|kind| kind.to_string()),
            smear_sink: source.smearing.sink.map(|kind| kind.to_string()),
            smear_links: source.smearing.links.map(|kind| kind.to_string()),
        }
    }

    /// Adds a line on smearing, if there is some.
    pub fn smearing(&self, table: &mut Table) {
        let parts =
            [("source", &self.smear_source), ("sink", &self.smear_sink), ("links", &self.smear_links)];
        let parts = parts.iter().filter_map(|(name, kind)| Some(format!("{name} {}", kind.as_ref()?)));
        let text = parts.collect::<Vec<_>>().join(", ");
        if !text.is_empty() {
            table.line("smearing", text);
        }
    }

    /// Adds a line on deflation, if there is some.
    pub fn deflation(&self, table: &mut Table) {
        if let Some(Deflation { modes, solve_seconds, seconds_with_modes }) = &self.deflation {
            table.line(
                "deflation",
                format_args!("{modes}; solves {solve_seconds:.3} s, together {seconds_with_modes:.3} s"),
            );
        }
    }

    /// Returns κ and the mass as text.
    pub fn coupling_text(&self) -> String {
        coupling_text(self.kappa, self.mass)
    }

    /// Returns the method as it was asked for, and the method that was used.
    pub fn solver_text(&self, solver: Solver) -> String {
        let words = solver_words(solver, &self.method);
        solver_text(words, &self.system, &self.preconditioning, &self.precision)
    }
}

/// Returns the attempts of a solve.
pub fn attempts(solve: &SolveOutcome) -> Vec<AttemptOutcome> {
    solve.attempts.iter().map(AttemptOutcome::from).collect()
}
