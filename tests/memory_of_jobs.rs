//! The memory that a job is said to take, compared with the memory of its buffers.

use crate::common;

use common::{all_combinations, devices, team_of};
use lattice_cl::Dims;
use lattice_cl::compute::Team;
use lattice_cl::hadron::SpinorSmearing;
use lattice_cl::host::{Reconstruction, random};
use lattice_cl::job::{
    Action, Configuration, Job, Method, Needs, OneOrMore, Problem, Progress, SiteTermKeys, Solver,
    SourceEntry, Task, WantedPrecision,
};
use lattice_cl::solve::{Inner, IterationPrecision, Preconditioning};
use lattice_solvers::Watching;

/// Bytes of buffers that do not grow with the lattice: sums, counters, flags.
const SMALL_BUFFERS: u64 = 1 << 18;

/// Extents of which no device has a part with the extents of another one.
fn dims() -> Dims {
    Dims::new([8, 4, 6, 8]).unwrap()
}

/// Does a job, and compares the buffers of each device with the needs.
///
/// `share` is the least share of the needs that the buffers take.
fn expect_as_told(job: &Job, team: &Team, share: f64) {
    let needs = Needs::of(job, team, dims()).unwrap();
    assert_eq!(needs.devices.len(), team.len());
    for device in team.devices() {
        device.take_most_memory();
    }
    let problem = Problem::on(job, random::weak(dims(), 0.1, 3), team).unwrap();
    assert!(problem.run(&mut Watching(|_: &Progress<'_>| {})).unwrap().converged());
    for need in needs.devices {
        let (found, told) = (need.device.take_most_memory(), need.bytes);
        let most = told + told / 10 + SMALL_BUFFERS;
        let solver = &job.solver;
        println!("{solver:?}: {found} bytes, {told} told, on {}", need.device.label());
        assert!(found <= most, "{solver:?}: {found} bytes, and {told} were told");
        assert!(found as f64 >= share * told as f64, "{solver:?}: only {found} bytes, and {told} were told");
    }
}

fn job(name: &str, precision: IterationPrecision, preconditioning: Preconditioning) -> Job {
    let solver: Solver = name.parse().unwrap();
    let tol = Some(if precision == IterationPrecision::Single { 1e-4 } else { 1e-8 });
    let precision = Some(WantedPrecision::This(precision));
    let solver = Method::default()
        .with_solver(solver)
        .with_tol(tol)
        .with_precision(precision)
        .with_preconditioning(preconditioning);
    let command = if solver.solver == Solver::BlockCg { Task::Spectrum } else { Task::Invert };
    Job::default().with_command(command).with_action(Action::kappa(0.11)).with_solver(solver)
}

const METHODS: [&str; 10] =
    ["bicgstab", "cg", "block-cg", "auto", "cr", "minres", "cgne", "bicgstab-l", "gcr", "mr"];

/// GCR allocates a direction when it is used.
fn share(name: &str) -> f64 {
    if name == "gcr" { 0.5 } else { 0.9 }
}

#[test]
fn every_method_takes_the_memory_that_was_told() {
    let team = Team::of(devices().into_iter().take(1));
    let every: Vec<_> = IterationPrecision::ALL
        .into_iter()
        .flat_map(|precision| Preconditioning::ALL.map(|preconditioning| (precision, preconditioning)))
        .collect();
    let usual = [(IterationPrecision::Mixed(Inner::Single), Preconditioning::EvenOdd)];
    let (methods, cases) =
        if all_combinations() { (&METHODS[..], &every[..]) } else { (&METHODS[..3], &usual[..]) };
    for name in methods {
        for &(precision, preconditioning) in cases {
            expect_as_told(&job(name, precision, preconditioning), &team, share(name));
        }
    }
}

/// Links of twelve reals, blocks of a clover term of two masses, a smeared source, on two devices.
#[test]
fn operators_and_teams_take_the_memory_that_was_told() {
    let usual = job("cg", IterationPrecision::Mixed(Inner::Single), Preconditioning::EvenOdd);
    let smear_source = Some(SpinorSmearing::Gaussian { width: 1.0, steps: 2 });
    let clover = usual
        .clone()
        .with_action(
            Action::default()
                .with_site_term(SiteTermKeys::default().with_csw(Some(1.2)))
                .with_kappa(Some(OneOrMore::More(vec![0.1, 0.11]))),
        )
        .with_configuration(Configuration::default().with_links(Reconstruction::Twelve))
        .with_sources(Some(SourceEntry::default().with_smear_source(smear_source)));
    expect_as_told(&clover, &team_of(2), 0.85);
    if all_combinations() {
        let site_term = clover.action.site_term.with_mu(Some(0.1));
        let twisted = usual.with_action(clover.action.clone().with_site_term(site_term));
        expect_as_told(&twisted, &team_of(3), 0.85);
    }
}

#[test]
fn levels_of_multigrid_take_the_memory_that_was_told() {
    let precision = IterationPrecision::Mixed(Inner::Single);
    let mut multigrid = job("multigrid", precision, Preconditioning::EvenOdd);
    multigrid.solver.multigrid.vectors = Some(8);
    expect_as_told(&multigrid, &Team::of(devices().into_iter().take(1)), 0.8);
    multigrid.command = Task::Spectrum;
    expect_as_told(&multigrid, &Team::of(devices().into_iter().take(1)), 0.8);
}

#[test]
fn the_host_takes_what_devices_would() {
    let job = job("bicgstab", IterationPrecision::Double, Preconditioning::None);
    let (host, device) = (Team::host(), Team::of(devices().into_iter().take(1)));
    let [on_host, on_device] = [host, device].map(|team| Needs::of(&job, &team, dims()).unwrap());
    assert!(on_host.devices.is_empty());
    assert_eq!(on_host.on_host, on_device.on_host + on_device.devices[0].bytes);
    assert_eq!(on_host.checkpoint, on_device.checkpoint);
    // x, r, p, the shadow residual and the best iterate.
    assert_eq!(on_host.checkpoint, (5 * 192 * dims().volume()) as u64);
    let links = (576 * dims().volume()) as u64;
    // A solution takes less than the links that are read before.
    assert_eq!(on_device.on_host, links);
    let twelve = job.with_command(Task::Spectrum);
    let needs = Needs::of(&twelve, &Team::host(), dims()).unwrap();
    assert_eq!((needs.solves, needs.columns), (12, 1));
    assert_eq!(needs.solutions, (12 * 192 * dims().volume()) as u64);
    assert_eq!(needs.checkpoint, on_host.checkpoint + needs.solutions);

    // Solutions of columns that are solved at once are not kept, however many propagators there are.
    let at_once = |kappas: &[f64]| {
        let mut job = self::job("block-cg", IterationPrecision::Double, Preconditioning::None);
        job.command = Task::Spectrum;
        job.action.kappa = Some(OneOrMore::More(kappas.to_vec()));
        Needs::of(&job, &Team::host(), dims()).unwrap()
    };
    let [one, two] = [&[0.1][..], &[0.1, 0.12]].map(at_once);
    assert_eq!((one.solves, one.columns, two.solves), (1, 12, 2));
    assert_eq!((two.solutions, two.checkpoint), (2 * one.solutions, one.checkpoint));
}
