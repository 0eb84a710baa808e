//! Stencils whose first groups pack faces, with flags that are raised early.
//!
//! No device waits, so a simulator may run one kernel after the other, and look for races within each.
//! All devices end an application before the next one begins. Otherwise a device that compiles its
//! kernels slowly is waited for in vain.

use super::{Ending, Tuning};
use crate::compute::{
    Buffer, CacheMode, Device, DeviceKind, DeviceOptions, Fault, PeerWay, PeerWays, Peers, Recorder, Team,
    TuningMode, discover,
};
use crate::geometry::{Boundary, Dims, Grid, Lattice};
use crate::host::random::{hot, spinor_field};
use crate::host::{Reconstruction, Spinor, StencilFactors};
use crate::operator::{Dirac, DiracOptions, HopEvenOdd, HopOptions, Kappa, SiteTerm};
use crate::scalar::{Half, Storage};
use std::time::Duration;

/// Opens the first device several times, taken for GPUs with this many compute units.
///
/// The device is taken for one of PoCL, which computes in the host's memory, whatever its kind.
fn team(count: usize, compute_units: usize, recorder: &Recorder) -> Team {
    let mut found = discover().devices.swap_remove(0);
    found.info.kind = DeviceKind::Gpu;
    found.info.compute_units = compute_units;
    found.info.platform = "Portable Computing Language".to_owned();
    found.info.driver_version = "3.1".to_owned();
    let options = DeviceOptions::default()
        .with_peer(Some(PeerWays::OFF))
        .with_cache(CacheMode::Off)
        .with_tuning(TuningMode::Shipped)
        .with_recorder(recorder.clone());
    Team::of((0..count).map(|_| Device::open(&found, &options).unwrap()).collect::<Vec<_>>())
}

/// Returns a lattice whose devices raise flags early.
fn early(team: &Team, dims: Dims, grid: Grid) -> Lattice {
    let peers = Peers::untried(team.devices(), PeerWay::HostFlags).unwrap();
    let peers = peers.with_fault(Duration::from_millis(50), Fault::Early).unwrap();
    Lattice::with_grid(team, dims, grid).unwrap().with_peers(peers)
}

/// The operator on all sites, or the hop between parities with an ending.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Full,
    Hop(Ending),
}

/// Checks that a stencil with early flags gives the bits of faces and sums by the host.
///
/// A domain is a single group. From the third application of one field on, faces of two epochs before
/// are those of this epoch, and from the fifth on sums are.
fn check<T: Storage>(extents: [usize; 4], parts: [usize; 4], columns: usize, what: What) {
    let (dims, grid) = (Dims::new(extents).unwrap(), Grid::new(parts).unwrap());
    let configuration = hot(dims, 15);
    let fields: Vec<Spinor<f64>> = (0..columns as u64).flat_map(|seed| spinor_field(dims, seed)).collect();
    let of_parity = |parity: usize| -> Vec<Spinor<T::Real>> {
        let fields = fields.chunks(dims.volume());
        let sites = fields.flat_map(|field| (0..dims.volume()).map(move |site| (site, field[site])));
        sites.filter(|&(site, _)| dims.parity(site) == parity).map(|(_, value)| value.cast()).collect()
    };
    let varied = |shipped: Option<Tuning>| {
        Some(Tuning { rounds: 1 << 16, work_group: 16, columns_per_item: 1, ..shipped.unwrap() })
    };
    let apply = |flags: bool| {
        let recorder = Recorder::new();
        let team = team(grid.count(), if what == What::Full { 1 } else { 2 }, &recorder);
        let lattice =
            if flags { early(&team, dims, grid) } else { Lattice::with_grid(&team, dims, grid).unwrap() };
        let links = lattice.gauge_in::<T>(&configuration, Boundary::antiperiodic_t(), Reconstruction::Twelve);
        let links = links.unwrap();
        let mut sums = Vec::new();
        let out: Vec<Spinor<T::Real>> = match what {
            What::Full => {
                let with = |tuning| {
                    let options = DiracOptions { columns, tuning };
                    Dirac::with_options(&links, Kappa(0.13), SiteTerm::Scalar, options).unwrap()
                };
                let dirac = with(varied(with(None).tuning()));
                let all: Vec<_> = fields.iter().map(Spinor::cast).collect();
                let psi = lattice.spinors_from_host(columns, &all).unwrap();
                let mut out = lattice.spinors(columns).unwrap();
                for _ in 0..6 {
                    dirac.apply(&psi, &mut out).unwrap();
                    team.finish().unwrap();
                }
                out.to_host().unwrap()
            }
            What::Hop(ending) => {
                let with = |tuning| {
                    let options = HopOptions { columns, ending, tuning, ..Default::default() };
                    HopEvenOdd::<T>::new(&links, 0, StencilFactors::new(0.0, 0.3), options).unwrap()
                };
                let hop = with(varied(with(None).tuning()));
                let psi = lattice.parities_from_host(1, columns, &of_parity(1)).unwrap();
                let against = lattice.parities_from_host(0, columns, &of_parity(0)).unwrap();
                let mut out = hop.target().unwrap();
                for _ in 0..6 {
                    if ending == Ending::Products {
                        let numbers = hop.apply_with_products(&psi, None, &mut out, &against).unwrap();
                        sums.push(numbers.map(|number| number.value().unwrap()));
                    } else {
                        hop.apply(&psi, None, &mut out).unwrap();
                    }
                    team.finish().unwrap();
                }
                out.to_host().unwrap()
            }
        };
        let records = recorder.take().unwrap();
        let commands = records.iter().flat_map(|record| &record.commands);
        let packed = commands.filter(|command| command.span.name == "pack_halos").count();
        (out, sums.split_off(sums.len().saturating_sub(2)), packed)
    };
    let (expected, expected_sums, _) = apply(false);
    let (found, sums, packed) = apply(true);
    let what = format!("{dims} cut {grid}, {} {columns} columns, {what:?}", T::STORAGE);
    assert!(found == expected && sums == expected_sums, "{what}: {sums:?} {expected_sums:?}");
    assert_eq!(packed, grid.count(), "{what}: only the first application packs ahead");
}

#[test]
fn early_flags_have_stencils_pack_one_after_the_other() {
    let _waiting = crate::sync::lock(&crate::field::KERNELS_WAIT);
    let wanted = |name| std::env::var_os(name).is_some_and(|value| value == "1");
    if !wanted("LATTICE_CL_TEST_SMALL") {
        // All directions are cut, and each device tells fifteen others its sums.
        check::<f64>([4, 2, 2, 2], [2, 2, 2, 2], 1, What::Hop(Ending::Products));
        // Devices that wait for each other do the same as the rest.
        if !wanted("LATTICE_CL_TEST_ALL") {
            return;
        }
        check::<f64>([2, 2, 4, 4], [1, 1, 2, 4], 1, What::Hop(Ending::Products));
    }
    check::<f64>([4, 2, 2, 4], [1, 1, 1, 2], 1, What::Hop(Ending::Products));
    check::<Half>([4, 2, 4, 2], [1, 1, 2, 1], 1, What::Hop(Ending::Products));
    check::<f32>([4, 4, 2, 2], [1, 2, 1, 1], 2, What::Hop(Ending::Store));
    check::<f64>([4, 2, 2, 2], [2, 1, 1, 1], 1, What::Full);
    // Three devices meet in the stencil, four do not.
    check::<f64>([2, 2, 2, 6], [1, 1, 1, 3], 1, What::Hop(Ending::Products));
    check::<f64>([2, 2, 4, 4], [1, 1, 2, 2], 1, What::Hop(Ending::Products));
}

#[test]
fn early_flags_have_arrays_added_one_after_the_other() {
    let _waiting = crate::sync::lock(&crate::field::KERNELS_WAIT);
    let team = team(4, 2, &Recorder::default());
    let lattice = early(&team, Dims::new([2, 2, 4, 4]).unwrap(), Grid::new([1, 1, 2, 2]).unwrap());
    let sums = lattice.team_sums().unwrap().expect("devices with flags");
    const COUNT: usize = 301;
    let part = |device: usize| -> Vec<f64> {
        (0..COUNT).map(|k| ((k + 1) as f64 * (device as f64 + 0.3)).sin()).collect()
    };
    let parts: Vec<Vec<f64>> = (0..4).map(part).collect();
    let there: Vec<Buffer<f64>> = team
        .devices()
        .iter()
        .zip(&parts)
        .map(|(device, part)| Buffer::from_slice(device, part).unwrap())
        .collect();
    let mut totals: Vec<Buffer<f64>> =
        team.devices().iter().map(|device| Buffer::zeroed(device, COUNT).unwrap()).collect();
    for _ in 0..3 {
        sums.add_arrays(&there.iter().collect::<Vec<_>>(), &mut totals).unwrap();
        team.finish().unwrap();
    }
    let expected: Vec<f64> = (0..COUNT).map(|k| parts.iter().fold(0.0, |sum, part| sum + part[k])).collect();
    for (device, totals) in totals.iter().enumerate() {
        assert!(totals.to_vec().unwrap() == expected, "device {device}");
    }
}

/// Checks that no sum of a stencil is a wrong number, from the first wait in vain on.
#[test]
fn sums_after_a_wait_in_vain_are_no_numbers() {
    let _waiting = crate::sync::lock(&crate::field::KERNELS_WAIT);
    let (dims, grid) = (Dims::new([4, 2, 2, 4]).unwrap(), Grid::new([1, 1, 1, 2]).unwrap());
    let found = discover().devices.swap_remove(0);
    let options = DeviceOptions::default()
        .with_peer(Some(PeerWays::only(PeerWay::HostFlags)))
        .with_cache(CacheMode::Off)
        .with_tuning(TuningMode::Shipped);
    let team = Team::of((0..2).map(|_| Device::open(&found, &options).unwrap()).collect::<Vec<_>>());
    let lattice = Lattice::with_grid(&team, dims, grid).unwrap();
    let Some(peers) = lattice.peers() else { return };
    let of_parity = |parity: usize| -> Vec<Spinor<f64>> {
        let field = spinor_field(dims, 3);
        (0..dims.volume()).filter(|&site| dims.parity(site) == parity).map(|site| field[site]).collect()
    };
    // The sums of six applications, and whether a device has waited in vain by then.
    let sums_on = |lattice: &Lattice| {
        let links =
            lattice.gauge_in::<f64>(&hot(dims, 15), Boundary::antiperiodic_t(), Reconstruction::Twelve);
        let options = HopOptions { ending: Ending::Products, ..Default::default() };
        let hop = HopEvenOdd::<f64>::new(&links.unwrap(), 0, StencilFactors::new(0.0, 0.3), options).unwrap();
        let psi = lattice.parities_from_host(1, 1, &of_parity(1)).unwrap();
        let against = lattice.parities_from_host(0, 1, &of_parity(0)).unwrap();
        let mut out = hop.target().unwrap();
        let mut apply = || {
            let numbers = hop.apply_with_products(&psi, None, &mut out, &against).unwrap();
            let sums = numbers.map(|number| number.value().unwrap());
            (sums, lattice.peers().unwrap().check().is_err())
        };
        (0..6).map(|_| apply()).collect::<Vec<_>>()
    };
    let (expected, _) = sums_on(&lattice)[0];
    for (device, after) in [(0, 0), (1, 0), (0, 5), (1, 6), (0, 7), (1, 8)] {
        let fault = Fault::Silent { device, after };
        let silent = lattice.with_peers(peers.with_fault(Duration::from_millis(100), fault).unwrap());
        let found = sums_on(&silent);
        for (sums, in_vain) in &found {
            let is_none = sums.iter().all(|sum| sum.re.is_nan());
            assert!(*sums == expected || (is_none && *in_vain), "{fault:?}: {sums:?}, not {expected:?}");
        }
        let (last, in_vain) = found[5];
        assert!(in_vain && last.iter().all(|sum| sum.re.is_nan()), "{fault:?}: {last:?}");
    }
}
