//! The equation of a job: the options, and the operator that they make.

use super::Common;
use super::arguments::{Input, help_on_configuration, reconstruction};
use super::checkpoint::Identity;
use super::failure::{Failure, Status};
use super::method::Method;
use super::problem::{Problem, select_team};
use super::provenance::{Configuration, Provenance};
use super::report::Report;
use super::solver::Solver;
use super::source::PointSource;
use super::words::coupling_text;
use lattice_cl::device::{Recorder, Team};
use lattice_cl::field::GaugeField;
use lattice_cl::geometry::{Boundary, Dims, Lattice, NDIM};
use lattice_cl::host::{GaugeConfiguration, Reconstruction};
use lattice_cl::operator::{Coupling, Dirac, Kappa, Mass, SiteTerm, System};
use lattice_cl::solve::{InvertError, build_programs_of_solve};
use std::path::PathBuf;
use std::thread;
use std::time::{Instant, SystemTime};

/// The linear system: a gauge field, a quark mass, a boundary condition, a source.
#[derive(Debug, clap::Args)]
pub struct Equation {
    #[arg(help = help_on_configuration())]
    pub file: PathBuf,
    #[command(flatten)]
    mass: QuarkMass,
    /// The fermions' boundary condition: antiperiodic (in t), periodic, or a sign for each of x,y,z,t
    #[arg(long, default_value = "antiperiodic", allow_hyphen_values = true, hide_short_help = true)]
    pub boundary: Boundary,
    /// Reals stored for each link: 18, or 12 or 8 where all links are in SU(3), which is less to read for every hop
    #[arg(long, value_name = "REALS", default_value = "18", value_parser = reconstruction, hide_short_help = true)]
    pub links: Reconstruction,
    /// Twisted mass of the quark, the flavour with τ₃ = +1: M + 2iκμγ5, or M + iμγ5 with --mass. The other flavour has the opposite sign
    #[arg(long, value_name = "MU", allow_negative_numbers = true)]
    mu: Option<f64>,
    /// The source: point:x,y,z,t
    #[arg(long, default_value = "point:0,0,0,0")]
    pub source: PointSource,
    #[command(flatten)]
    pub input: Input,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct QuarkMass {
    /// The hopping parameter: M = 1 − κ H
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    kappa: Option<f64>,
    /// The bare mass instead: M = (4 + m) − H/2, solutions are those of κ = 1/(8 + 2m) times 2κ
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    mass: Option<f64>,
}

/// The critical κ at β = 0 (N. Kawamoto, Nucl. Phys. B190 (1981) 617); it falls to 1/8 as β grows.
const LARGEST_CRITICAL_KAPPA: f64 = 0.25;

impl Equation {
    /// κ or the mass, checked.
    pub fn coupling(&self) -> Result<Coupling, Failure> {
        let coupling = match (self.mass.kappa, self.mass.mass) {
            (Some(kappa), _) => Kappa(kappa).into(),
            (None, Some(mass)) => Coupling::from(Mass(mass)),
            (None, None) => return Err(Failure::usage("give --kappa or --mass".to_owned())),
        };
        coupling.checked().map_err(|error| Failure::new(Status::Usage, error))
    }

    /// What the operator does within a site, checked.
    pub fn site_term(&self) -> Result<SiteTerm, Failure> {
        let site_term = self.mu.map_or(SiteTerm::Scalar, |mu| SiteTerm::Twisted { mu });
        site_term.checked().map_err(|error| Failure::new(Status::Usage, error))
    }

    /// The operator in words, for files that hold its solutions.
    pub fn operator_words(&self) -> String {
        match self.mu {
            None => "Wilson operator".to_owned(),
            Some(mu) => format!("twisted-mass operator, mu {mu:?}"),
        }
    }

    /// Which normalisation of M the solutions have: `kappa` or `mass`.
    pub fn normalisation(&self) -> &'static str {
        if self.mass.kappa.is_some() { "kappa" } else { "mass" }
    }

    /// What tells the job `command` from others, to which its checkpoint does not belong; `more` are options of this command.
    pub fn identity(
        &self,
        command: &str,
        method: &Method,
        problem: &Problem,
        more: &[(&str, String)],
    ) -> Identity {
        let coupling = match (self.mass.kappa, self.mass.mass) {
            (Some(kappa), _) => ("kappa", kappa),
            (None, mass) => ("mass", mass.unwrap_or(f64::NAN)),
        };
        let own = [
            ("command", command.to_owned()),
            ("lattice", problem.dims().to_string()),
            ("configuration", problem.configuration.fingerprint()),
            (coupling.0, format!("{:?}", coupling.1)),
            ("boundary", format!("{:?}", self.boundary.signs())),
            ("links", self.links.to_string()),
            ("source", self.source.to_string()),
            ("solver", method.solver.to_string()),
            ("system", method.system().to_string()),
            ("preconditioning", method.preconditioning.to_string()),
            ("precision", method.precision(problem.wilson.lattice().team()).to_string()),
            ("tolerance", format!("{:e}", method.tolerance())),
            ("storage of fields", problem.wilson.lattice().storage_description()),
        ];
        // Jobs without it are those of versions that did not have it.
        let mu = self.mu.map(|mu| ("mu", format!("{mu:?}")));
        own.into_iter()
            .chain(mu)
            .chain(more.iter().cloned())
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Checks that the source lies on the lattice.
    fn check_source(&self, dims: Dims) -> Result<(), Failure> {
        let outside = (0..NDIM).find(|&mu| self.source.0[mu] >= dims[mu]);
        match outside {
            None => Ok(()),
            Some(mu) => Err(Failure::usage(format!(
                "the source {} lies outside the {dims} lattice of {}: {} runs from 0 to {}",
                self.source,
                self.file.display(),
                Dims::direction_name(mu),
                dims[mu] - 1
            ))),
        }
    }

    /// Everything that comes before solving: reads the configuration, opens the devices, and puts the operator on them.
    ///
    /// What can be wrong with the arguments alone is found out first.
    ///
    /// The recorder is told what the devices do from then on.
    pub fn set_up(
        &self,
        method: &Method,
        common: &Common,
        recorder: &Recorder,
        report: &Report,
    ) -> Result<Problem, Failure> {
        let (start, started) = (Instant::now(), SystemTime::now());
        let (coupling, site_term) = (self.coupling()?, self.site_term()?);
        method.check()?;
        if site_term != SiteTerm::Scalar && method.system() == System::Hermitian {
            return Err(Failure::new(Status::Usage, InvertError::NotHermitian));
        }
        if coupling.kappa() > LARGEST_CRITICAL_KAPPA {
            report.note(format_args!(
                "note: {}: above 1/4 (mass below -2) kappa is beyond its critical value on every gauge field, even at infinite coupling, and no quark \
                 mass is positive there; solved all the same",
                coupling_text(coupling.kappa(), coupling.mass())
            ));
        }
        let team = select_team(common, recorder.clone(), report)?;
        let (configuration, links) = thread::scope(|scope| {
            let team = &team;
            let compile = |dims| {
                report.compiles_for(dims);
                scope.spawn(move || self.compile(method, team, dims));
            };
            self.links_on(team, report, &compile)
        })?;
        let known = Configuration::new(&self.file, &configuration);
        drop(configuration);
        let wilson = Dirac::new(&links, coupling, site_term)?;
        team.finish()?;
        // Only solving is of interest.
        recorder.take()?;
        let setup = start.elapsed().saturating_sub(team.compile_time());
        Ok(Problem {
            wilson,
            coupling,
            configuration: known,
            provenance: Provenance::new(&team, started),
            setup_seconds: setup.as_secs_f64(),
        })
    }

    /// Reads the configuration and puts it on the devices; `extents` is told the extents before the links are read.
    fn links_on(
        &self,
        team: &Team,
        report: &Report,
        extents: &dyn Fn(Dims),
    ) -> Result<(GaugeConfiguration, GaugeField<f64>), Failure> {
        let configuration = self.input.read_and_tell(&self.file, report, extents)?.configuration;
        let dims = configuration.dims();
        self.check_source(dims)?;
        let lattice = Lattice::new(team, dims)?;
        if lattice.idle_devices() > 0 {
            report.warning(format_args!(
                "{} of the {} devices have no share: the lattice is cut {}, and no grid of more of them is possible",
                lattice.idle_devices(),
                team.len(),
                lattice.grid()
            ));
        }
        let links = lattice.gauge_in(&configuration, self.boundary, self.links)?;
        Ok((configuration, links))
    }

    /// Compiles what the solves will run.
    fn compile(&self, method: &Method, team: &Team, dims: Dims) {
        // The programs of a block method are made as they are wanted.
        if method.solver != Solver::BlockCg
            && self.check_source(dims).is_ok()
            && let Ok(lattice) = Lattice::new(team, dims)
            && let Ok(site_term) = self.site_term()
        {
            build_programs_of_solve(
                &lattice,
                self.boundary,
                self.links,
                site_term,
                &method.begin(team).params(),
            );
        }
    }
}
