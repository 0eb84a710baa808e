//! Whole solves on devices that wait for each other, with delays and faults.

use super::{
    BlockCgParams, BlockSolution, CgParams, Checkpoints, Inner, InvertError, IterationPrecision,
    Preconditioning, SolveParams, block_cg_with_checkpoints, solve_with_checkpoints,
};
use crate::compute::{
    CacheMode, Device, DeviceError, DeviceOptions, Fault, PeerWay, PeerWays, Team, TuningMode, discover,
};
use crate::field::{KERNELS_WAIT, StoredField};
use crate::geometry::{Boundary, Dims, Grid, Lattice, LatticeError};
use crate::host::random::{spinor_field, weak};
use crate::host::{Reconstruction, Spinor};
use crate::operator::{Dirac, Kappa};
use crate::sync::lock;
use lattice_solvers::{Failure, SolverInfo, SolverState, Wish};
use std::process::Command;
use std::time::Duration;

/// Returns a team of the first device, opened several times, with these ways.
fn team(count: usize, ways: PeerWays) -> Team {
    let found = discover().devices;
    let options = DeviceOptions::default()
        .with_peer(Some(ways))
        .with_cache(CacheMode::Off)
        .with_tuning(TuningMode::Shipped);
    Team::of((0..count).map(|_| Device::open(&found[0], &options).unwrap()).collect::<Vec<_>>())
}

/// Keeps the last state of a solve at which its residual was looked at.
#[derive(Default)]
struct Last {
    kept: Option<SolverState<Vec<u8>>>,
    goes_on: bool,
    asked: usize,
    /// The question at which the solve is to stop, from 1 on.
    stop: usize,
}

impl Checkpoints for Last {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        if self.goes_on { self.kept.clone() } else { None }
    }

    fn wish(&mut self) -> Wish {
        self.asked += 1;
        if self.asked == self.stop { Wish::KeepAndStop } else { Wish::Keep }
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        let SolverState { method, vectors, scalars, numbers, counts, history } = state.clone();
        let bytes = |(name, field): (_, &dyn StoredField)| Ok((name, field.to_bytes()?));
        let vectors = vectors.into_iter().map(bytes).collect::<Result<_, DeviceError>>()?;
        self.kept = Some(SolverState { method, vectors, scalars, numbers, counts, history });
        Ok(())
    }
}

type Solved = Result<(Vec<Spinor<f64>>, usize), InvertError>;

/// Solves one equation by CG, and returns the number of iterations too.
fn solve_keeping(lattice: &Lattice, keeper: &mut Last) -> Solved {
    let dims = lattice.dims();
    let boundary = Boundary::antiperiodic_t();
    let links = lattice.gauge_in::<f64>(&weak(dims, 0.2, 3), boundary, Reconstruction::Twelve)?;
    let dirac = Dirac::wilson(&links, Kappa(0.115)).unwrap();
    let source = lattice.spinor_from_host(&spinor_field(dims, 4))?;
    let params = SolveParams::Cg(CgParams { tol: 1e-8, ..Default::default() });
    let (x, info) = solve_with_checkpoints(&dirac, &source, &params, keeper)?;
    Ok((x.to_host()?, info.iterations))
}

fn solve(lattice: &Lattice) -> Solved {
    solve_keeping(lattice, &mut Last::default())
}

/// Solves for four columns by block CG, two of which depend on each other.
fn solve_block_keeping(
    lattice: &Lattice,
    precision: IterationPrecision,
    preconditioning: Preconditioning,
    keeper: &mut Last,
) -> Result<(Vec<Spinor<f64>>, SolverInfo), InvertError> {
    let dims = lattice.dims();
    let boundary = Boundary::antiperiodic_t();
    let links = lattice.gauge_in::<f64>(&weak(dims, 0.2, 3), boundary, Reconstruction::Twelve)?;
    let dirac = Dirac::wilson(&links, Kappa(0.115)).unwrap();
    let sources = [4, 5, 4, 6].map(|seed| spinor_field(dims, seed)).concat();
    let b = lattice.spinors_from_host(4, &sources)?;
    let params = BlockCgParams { tol: 1e-8, precision, preconditioning, ..Default::default() };
    let BlockSolution { x, info, .. } = block_cg_with_checkpoints(&dirac, &b, &params, keeper)?;
    assert!(info.residual.true_residual <= 1e-8);
    Ok((x.to_host()?, SolverInfo { time: Duration::ZERO, ..info }))
}

/// Ways of block CG with matrices that devices make: with hops that end with columns, and without.
const BLOCKS: [(IterationPrecision, Preconditioning); 3] = [
    (IterationPrecision::Double, Preconditioning::EvenOdd),
    (IterationPrecision::Double, Preconditioning::None),
    (IterationPrecision::Mixed(Inner::Half), Preconditioning::EvenOdd),
];

/// Solves by block CG.
fn solve_block(
    lattice: &Lattice,
    (precision, preconditioning): (IterationPrecision, Preconditioning),
) -> Result<(Vec<Spinor<f64>>, SolverInfo), InvertError> {
    solve_block_keeping(lattice, precision, preconditioning, &mut Last::default())
}

/// Checks that matrices made by devices, of one or of two, are in the state of a solve.
#[test]
fn a_block_solve_that_was_interrupted_gives_the_same_bits() {
    let _waiting = lock(&KERNELS_WAIT);
    let dims = Dims::new([4, 2, 4, 4]).unwrap();
    for (parts, ways) in [
        ([1, 1, 1, 1], PeerWays::OFF),
        ([1, 1, 1, 2], PeerWays::OFF),
        ([1, 1, 2, 1], PeerWays::only(PeerWay::HostFlags)),
    ] {
        let grid = Grid::new(parts).unwrap();
        let lattice = Lattice::with_grid(&team(grid.count(), ways), dims, grid).unwrap();
        for (precision, preconditioning) in BLOCKS {
            let what = format!("{grid} {ways:?} {precision:?} {preconditioning:?}");
            let solve = |keeper: &mut Last| solve_block_keeping(&lattice, precision, preconditioning, keeper);
            let mut never = Last::default();
            let whole = solve(&mut never).unwrap();
            assert!(never.asked > 3, "{what}: asked {} times", never.asked);
            let mut keeper = Last { stop: never.asked * 2 / 3, ..Last::default() };
            let Err(InvertError::NotConverged { failure, .. }) = solve(&mut keeper) else {
                panic!("{what}: it does not stop")
            };
            assert_eq!(failure, Failure::Interrupted, "{what}");
            let mut rest = Last { kept: keeper.kept, goes_on: true, ..Last::default() };
            let found = solve(&mut rest).unwrap();
            assert_eq!(found.1, whole.1, "{what}");
            assert!(found.0 == whole.0, "{what}: other bits");
        }
    }
}

/// Checks that a device without flags ends the solve with an error that names it.
///
/// The device raises no flag at all, or none from the middle of the solve. An earlier checkpoint stays
/// valid.
#[test]
fn a_solve_on_a_device_that_falls_silent_ends() {
    let _waiting = lock(&KERNELS_WAIT);
    let (dims, grid) = (Dims::new([4, 2, 2, 4]).unwrap(), Grid::new([1, 1, 1, 2]).unwrap());
    let team = team(2, PeerWays::only(PeerWay::HostFlags));
    let lattice = Lattice::with_grid(&team, dims, grid).unwrap();
    let Some(peers) = lattice.peers() else { return };
    let expected = solve(&lattice).unwrap();
    for (device, after) in [(0, 0), (1, 0), (0, 50), (1, 51)] {
        let fault = Fault::Silent { device, after };
        let silent = lattice.with_peers(peers.with_fault(Duration::from_secs(1), fault).unwrap());
        let mut keeper = Last::default();
        let error = solve_keeping(&silent, &mut keeper).unwrap_err();
        let InvertError::Lattice(LatticeError::Device(DeviceError::PeerTimeout { waiter, awaited, seconds })) =
            error
        else {
            panic!("{fault:?}: {error}")
        };
        let labels = [1 - device, device].map(|number| team.devices()[number].label().to_owned());
        assert_eq!(([waiter, awaited], seconds), (labels, 1.0), "{fault:?}");
        assert_eq!(keeper.kept.is_some(), after > 0, "{fault:?}");
        // Its devices can be used again, and go on from there.
        keeper.goes_on = true;
        assert!(solve_keeping(&lattice, &mut keeper).unwrap() == expected, "{fault:?}");
    }
    // Gram matrices are added on the devices, too.
    let expected = solve_block(&lattice, BLOCKS[0]).unwrap();
    for (device, after) in [(0, 0), (1, 40)] {
        let fault = Fault::Silent { device, after };
        let silent = lattice.with_peers(peers.with_fault(Duration::from_secs(1), fault).unwrap());
        let error = solve_block(&silent, BLOCKS[0]).unwrap_err();
        let InvertError::Lattice(LatticeError::Device(DeviceError::PeerTimeout { awaited, .. })) = error
        else {
            panic!("{fault:?}: {error}")
        };
        assert_eq!(awaited, team.devices()[device].label(), "{fault:?}");
    }
    assert!(solve_block(&lattice, BLOCKS[0]).unwrap() == expected);
}

/// Asks for the body of the test below.
const STRESSED: &str = "LATTICE_CL_TEST_STRESS";

/// Checks that solves on many devices have the same bits when flags are late.
///
/// PoCL needs a thread for each kernel that waits. It makes them when it starts, so the test runs in a process of its own.
#[test]
fn many_devices_that_are_late_give_the_same_bits() {
    if std::env::var_os(STRESSED).is_some() {
        return stress();
    }
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "solve::tests::many_devices_that_are_late_give_the_same_bits", "--nocapture"])
        .envs([(STRESSED, "1"), ("POCL_PTHREAD_MIN_THREADS", "10")])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn stress() {
    // Long with LATTICE_CL_TEST_ALL=1, which `make check` sets.
    let long = std::env::var_os("LATTICE_CL_TEST_ALL").is_some_and(|value| value == "1");
    let cases: &[([usize; 4], [usize; 4])] = match long {
        false => &[([4, 2, 4, 4], [1, 1, 2, 2]), ([4, 2, 2, 6], [1, 1, 1, 3])],
        true => &[
            ([4, 2, 4, 4], [1, 1, 2, 2]),
            ([4, 2, 2, 6], [1, 1, 1, 3]),
            ([4, 2, 2, 8], [1, 1, 1, 4]),
            ([4, 2, 8, 2], [1, 1, 4, 1]),
            ([8, 2, 2, 4], [2, 1, 1, 2]),
            ([4, 2, 4, 8], [1, 1, 2, 4]),
            ([4, 4, 4, 4], [1, 2, 2, 2]),
        ],
    };
    let (rounds, seeds, kinds) = if long { (5, 0..3, BLOCKS.len()) } else { (1, 0..1, 1) };
    for &(dims, parts) in cases {
        let (dims, grid) = (Dims::new(dims).unwrap(), Grid::new(parts).unwrap());
        let on = |ways| Lattice::with_grid(&team(grid.count(), ways), dims, grid).unwrap();
        let expected = solve(&on(PeerWays::OFF)).unwrap();
        assert!(solve(&on(PeerWays::only(PeerWay::Host))).unwrap() == expected, "{grid}, host");
        let lattice = on(PeerWays::only(PeerWay::HostFlags));
        let Some(peers) = lattice.peers() else { return };
        for round in 0..rounds {
            assert!(solve(&lattice).unwrap() == expected, "{grid}, host-flags, round {round}");
        }
        let expected_of = |&block: &_| (block, solve_block(&on(PeerWays::OFF), block).unwrap());
        let blocks: Vec<_> = BLOCKS[..kinds].iter().map(expected_of).collect();
        for (block, expected) in &blocks {
            assert!(solve_block(&lattice, *block).unwrap() == *expected, "{grid}, host-flags, {block:?}");
        }
        for seed in seeds.clone() {
            let fault = Fault::Late { seed, most: 2 };
            let late = lattice.with_peers(peers.with_fault(Duration::from_secs(30), fault).unwrap());
            assert!(solve(&late).unwrap() == expected, "{grid}, late, seed {seed}");
            let (block, expected) = &blocks[0];
            assert!(solve_block(&late, *block).unwrap() == *expected, "{grid}, late block, seed {seed}");
        }
    }
}
