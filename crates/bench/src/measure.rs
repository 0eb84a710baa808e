//! `cr-solve bench measure`: flow, smearing and contractions of hadrons.

use super::outcome::{Benchmark, Subject};
use super::session::{How, Session, wrong};
use lattice_cl::compute::{Device, Team};
use lattice_cl::gauge::{
    DeviceLinks, Directions, FlowAction, FlowParams, LinkUpdate, SmearParams, Smearing, flow, smear,
};
use lattice_cl::geometry::{Dims, NDIM};
use lattice_cl::hadron::{
    BaryonCorrelator, BaryonForm, Column, DeviceSpinor, MesonCorrelator, Momenta, QuarkPropagator,
    SmearingLinks, SpinorSmearing, baryons, baryons_on, mesons, mesons_on, momenta_up_to, octet_operators,
};
use lattice_cl::host::{GaugeConfiguration, Matrix3, Spinor, random};
use lattice_cl::scalar::Precision;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::memory::Need;
use lattice_solvers::range::larger;
use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// The command line of `bench measure`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents in x, y, z, t [default: 16x16x16x32, with --quick 4x4x4x8]
    #[arg(long, value_name = "EXTENTS")]
    dims: Option<Dims>,
    /// Momenta of hadrons: all up to this n²
    #[arg(long, value_name = "N2", default_value_t = 3)]
    momenta: u32,
    #[command(flatten)]
    pub how: How,
}

/// Extents of the lattice on which everything is checked.
const CHECKED: [usize; NDIM] = [6, 4, 2, 6];

/// Largest deviation of links and spinors from the host.
const BOUND: f64 = 1e-13;
/// Largest deviation of sums of hadrons from the host.
const BOUND_OF_SUMS: f64 = 1e-9;

/// Steps that are timed together.
const STEPS: u32 = 5;

const EPSILON: f64 = 0.01;
const RHO: f64 = 0.1;
const SMEARING: SpinorSmearing = SpinorSmearing::Gaussian { width: 1.0, steps: 3 };
const ROUGHNESS: f64 = 0.3;

/// Checks on a small lattice, then times on each device.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let [_, quick, usual] = [CHECKED, [4, 4, 4, 8], [16, 16, 16, 32]];
    let default = if session.how.quick { quick } else { usual };
    let dims = match arguments.dims {
        Some(dims) => dims,
        None => Dims::new(default).map_err(failed)?,
    };
    let momenta = momenta_up_to(arguments.momenta, dims).map_err(|error| {
        Failure::usage(error.to_string()).hint("choose fewer --momenta or another --dims")
    })?;
    for (number, device) in session.opencl_devices("measure")?.iter().enumerate() {
        need(dims)
            .expect_room(format_args!("links and a propagator of a lattice of {dims}"), Some(device))?;
        let bench = Bench { number, device, dims };
        bench.measure_links(session)?;
        bench.measure_hadrons(&Momenta::each(momenta.iter().copied()), session)?;
    }
    Ok(())
}

/// Links three times on a device, twice on the host, and a propagator on the host.
fn need(dims: Dims) -> Need {
    let links = (dims.volume() * NDIM * size_of::<Matrix3<f64>>()) as u128;
    let spinor = (dims.volume() * size_of::<Spinor<f64>>()) as u128;
    Need { on_host: 2 * links + 14 * spinor, on_device: 3 * links + 4 * spinor }
}

/// The benchmark of one device.
struct Bench<'a> {
    number: usize,
    device: &'a Device,
    dims: Dims,
}

/// A change of links that is timed.
struct Change {
    kernel: String,
    parameter: (&'static str, f64),
    stages: Vec<LinkUpdate>,
    rectangles: bool,
}

impl Change {
    fn all() -> Vec<Self> {
        let of_flow = FlowAction::ALL.map(|action| Self {
            kernel: format!("flow {action}"),
            parameter: ("step", EPSILON),
            stages: action.stages(EPSILON).to_vec(),
            rectangles: action == FlowAction::Symanzik,
        });
        let stages = vec![LinkUpdate::stout(RHO, Directions::ALL)];
        let stout = Self { kernel: "stout".to_owned(), parameter: ("rho", RHO), stages, rectangles: false };
        of_flow.into_iter().chain([stout]).collect()
    }

    /// Starts the stages on a device.
    fn apply(&self, links: &mut DeviceLinks) -> Result<(), Failure> {
        Ok(self.stages.iter().try_for_each(|stage| links.update(stage))?)
    }

    /// The links after one change, by the host.
    fn on_host(&self, links: &GaugeConfiguration) -> Result<GaugeConfiguration, Failure> {
        if let [_] = self.stages[..] {
            let params = SmearParams::new(Smearing::Stout { rho: RHO }, 1);
            return smear(links, &params).map_err(failed);
        }
        let action = if self.rectangles { FlowAction::Symanzik } else { FlowAction::Wilson };
        let params = FlowParams::default().with_action(action).with_step(EPSILON).with_steps(1).with_every(1);
        let outcome = flow(links, &params, &mut |_, _| ControlFlow::Continue(()));
        outcome.map(|outcome| outcome.links).map_err(failed)
    }
}

impl Bench<'_> {
    fn subject(&self, kernel: impl Into<String>) -> Subject {
        Subject::new(Benchmark::Measure, kernel).on(self.number).with("dims", self.dims.to_string())
    }

    /// Steps of the flow, stout and Gaussian smearing, and the energy.
    ///
    /// Rates are relative to the least traffic of memory, if caches serve all neighbours.
    fn measure_links(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let small = Dims::new(CHECKED).map_err(failed)?;
        let small = Arc::new(random::weak(small, ROUGHNESS, 1));
        for change in Change::all() {
            self.check_change(&change, &small)?;
        }
        self.check_smearing(&small)?;

        // Shows how much arithmetic there is.
        session.arithmetic(self.number, Precision::Double)?;
        let sites = self.dims.volume();
        let configuration = Arc::new(random::weak(self.dims, ROUGHNESS, 1));
        for change in Change::all() {
            if session.interrupted() {
                return Ok(());
            }
            let mut links = DeviceLinks::new(self.device, &configuration, change.rectangles)?;
            let count = |of: fn(&LinkUpdate) -> usize| {
                (NDIM * sites * change.stages.iter().map(of).sum::<usize>()) as u64
            };
            let (name, value) = change.parameter;
            let subject = self.subject(change.kernel.clone()).with(name, value);
            let subject = subject.bytes(count(LinkUpdate::bytes)).flops(count(LinkUpdate::flops));
            self.time_steps(subject, session, || change.apply(&mut links))?;
            if change.kernel == "stout" {
                let subject = self.subject("energy").bytes((NDIM * sites * size_of::<Matrix3<f64>>()) as u64);
                self.time_steps(subject, session, || Ok(links.clover_energy().map(drop)?))?;
            }
        }
        let field = random::spinor_field(self.dims, 2);
        let mut spinor = DeviceSpinor::new(self.device, &SmearingLinks::from(configuration), &field)?;
        let subject = self.subject("gaussian").bytes((sites * DeviceSpinor::STEP_BYTES) as u64);
        self.time_steps(subject, session, || Ok(spinor.step(SMEARING.weight())?))
    }

    /// Times some steps in a row.
    fn time_steps(
        &self,
        subject: Subject,
        session: &mut Session<'_>,
        mut step: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let samples = session.samples(|_| {
            let begin = Instant::now();
            for _ in 0..STEPS {
                step()?;
            }
            self.device.finish()?;
            Ok((begin.elapsed() / STEPS, None))
        })?;
        session.push(subject.by_the_wall(), samples);
        Ok(())
    }

    fn check_change(&self, change: &Change, small: &GaugeConfiguration) -> Result<(), Failure> {
        let expected = change.on_host(small)?;
        let mut links = DeviceLinks::new(self.device, small, change.rectangles)?;
        change.apply(&mut links)?;
        let found = links.to_configuration()?;
        let differences = (0..small.dims().volume()).flat_map(|site| {
            let (found, expected) = (&found, &expected);
            (0..NDIM).map(move |mu| found.link(site, mu).max_difference(&expected.link(site, mu)))
        });
        expect(&change.kernel, differences, BOUND)
    }

    fn check_smearing(&self, small: &Arc<GaugeConfiguration>) -> Result<(), Failure> {
        let field = random::spinor_field(small.dims(), 3);
        let expected = SMEARING.apply(small, &field);
        let links = SmearingLinks::from(Arc::clone(small));
        let found = SMEARING.apply_on(&Team::of([self.device.clone()]), &links, &field)?;
        let differences = found.iter().zip(&expected).flat_map(|(found, expected)| {
            (0..12).map(move |c| (found.component(c) - expected.component(c)).norm())
        });
        expect("gaussian", differences, BOUND)
    }

    /// All mesons, and all operators of the nucleon, of a propagator in host memory.
    fn measure_hadrons(&self, momenta: &Momenta, session: &mut Session<'_>) -> Result<(), Failure> {
        let team = Team::of([self.device.clone()]);
        let operators = octet_operators();
        let form = BaryonForm::Octet;
        let origin = [1, 0, 1, 2].map(|at: usize| at % self.dims.extents().into_iter().min().unwrap_or(1));
        self.check_hadrons(&team, session)?;

        let mut quark = QuarkPropagator::new(self.dims).map_err(failed)?;
        let field = random::spinor_field(self.dims, 4);
        Column::all().for_each(|column| quark.set_column(column, &field));
        drop(field);
        let count = momenta.names().len();
        let subject = |kernel: &str, operators: usize| {
            let subject = self.subject(kernel).with("momenta", count).with("operators", operators);
            let bytes = self.dims.volume() * size_of_val(&quark.sites()[0]);
            subject.bytes(bytes as u64).unlimited().by_the_wall()
        };
        if session.interrupted() {
            return Ok(());
        }
        session.time(subject("mesons", 256), |_| {
            mesons_on(&team, &quark, &quark, origin, momenta)?;
            Ok(None)
        })?;
        if session.interrupted() {
            return Ok(());
        }
        session.time(subject("nucleon", operators.len()), |_| {
            baryons_on(&team, "nucleon", form, &operators, &[&quark; 2], origin, momenta)?;
            Ok(None)
        })
    }

    fn check_hadrons(&self, team: &Team, session: &Session<'_>) -> Result<(), Failure> {
        if session.interrupted() {
            return Ok(());
        }
        let dims = Dims::new(CHECKED).map_err(failed)?;
        let mut quark = QuarkPropagator::new(dims).map_err(failed)?;
        for (seed, column) in Column::all().enumerate() {
            quark.set_column(column, &random::spinor_field(dims, seed as u64));
        }
        let momenta = Momenta::each(momenta_up_to(1, dims).map_err(failed)?);
        let (origin, operators, form) = ([1, 0, 1, 2], octet_operators(), BaryonForm::Octet);
        let difference = |found: &[[f64; 2]], expected: &[[f64; 2]]| {
            let both = found.iter().flatten().zip(expected.iter().flatten());
            both.map(|(found, expected)| (found - expected).abs()).fold(0.0, larger)
        };
        let of_mesons = |found: &[MesonCorrelator], expected: &[MesonCorrelator]| -> Vec<f64> {
            found.iter().zip(expected).map(|(a, b)| difference(&a.values, &b.values)).collect()
        };
        let found = mesons_on(team, &quark, &quark, origin, &momenta)?;
        let expected = mesons(&quark, &quark, origin, &momenta);
        expect("mesons", of_mesons(&found, &expected), BOUND_OF_SUMS)?;
        let of_baryons = |found: &[BaryonCorrelator], expected: &[BaryonCorrelator]| -> Vec<f64> {
            found.iter().zip(expected).map(|(a, b)| difference(&a.values, &b.values)).collect()
        };
        let found = baryons_on(team, "nucleon", form, &operators, &[&quark; 2], origin, &momenta)?;
        let expected = baryons("nucleon", form, &operators, &[&quark; 2], origin, &momenta);
        expect("nucleon", of_baryons(&found, &expected), BOUND_OF_SUMS)
    }
}

fn failed(error: impl Into<anyhow::Error>) -> Failure {
    Failure::new(Status::Failed, error)
}

/// Refuses a difference from the host above `bound`.
fn expect(what: impl Display, differences: impl IntoIterator<Item = f64>, bound: f64) -> Result<(), Failure> {
    let difference = differences.into_iter().fold(0.0, larger);
    // So put that NaN is refused.
    if difference <= bound {
        return Ok(());
    }
    Err(wrong(what, format_args!("numbers within {bound:e}"), format_args!("differences of {difference:e}")))
}
