//! A tuning file is for people too: whatever they write into an entry, results stay right and nothing breaks.

use crate::common;

use lattice_cl::Dims;
use lattice_cl::compute::{Buffer, CacheMode, DeviceIndex, DeviceOptions, Selector, Team, TuningMode};
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host::{Reconstruction, Spinor, StencilFactors, random};
use lattice_cl::linalg::gemm::{Arithmetic, GemmTuning, Registers, tune_gemm};
use lattice_cl::linalg::{self, MatMut, MatRef, MatrixLayout, Op};
use lattice_cl::operator::{HopEvenOdd, HopOptions, SiteTerm, tune_stencil};
use lattice_cl::tuning::{Entry, Identity, TuningFile};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// What a field may be set to: numbers that are too small, odd, too large or negative, and values of another type.
fn edits() -> Vec<Value> {
    let numbers = [json!(0), json!(1), json!(3), json!(1_000_000), json!(u64::MAX), json!(-1), json!(2.5)];
    numbers.into_iter().chain([json!("64"), json!(true), json!(null), json!([1])]).collect()
}

/// Every variant with one number or flag in it changed, and with one field too few or too many; with what was changed.
fn edited(variant: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (name, old) in variant.as_object().unwrap() {
        let places = old.as_array().map_or(vec![format!("/{name}")], |list| {
            (0..list.len()).map(|place| format!("/{name}/{place}")).collect()
        });
        for place in places {
            for edit in edits() {
                let mut variant = variant.clone();
                *variant.pointer_mut(&place).unwrap() = edit.clone();
                all.push((format!("{place} = {edit}"), variant));
            }
        }
        let mut fewer = variant.clone();
        fewer.as_object_mut().unwrap().remove(name);
        all.push((format!("no {name}"), fewer));
    }
    let mut more = variant.clone();
    more["nonsense"] = json!(1);
    all.push(("nonsense".to_owned(), more));
    all.push(("a list".to_owned(), json!([variant])));
    all
}

fn team(folder: &Path, index: DeviceIndex, tuning: TuningMode) -> Team {
    let options = DeviceOptions::default()
        .with_cache(CacheMode::TuningFile(folder.join("tuning.json")))
        .with_tuning(tuning);
    Team::select_with([Selector::Index(index)], &options).unwrap()
}

const DIMS: [usize; 4] = [4, 4, 4, 4];

/// The variant of the hop on these links for three sources, as it is kept, and what the hop gives.
fn hop(team: &Team, sources: usize) -> (Value, Vec<Spinor<f64>>) {
    let dims = Dims::new(DIMS).unwrap();
    let lattice = Lattice::new(team, dims).unwrap();
    let links = lattice
        .gauge_in::<f64>(&random::hot(dims, 1), Boundary::antiperiodic_t(), Reconstruction::None)
        .unwrap();
    let factors = StencilFactors::new(0.0, 1.0);
    let options = HopOptions::default().with_columns(sources);
    let hop = HopEvenOdd::new(&links, 0, factors, options).unwrap();
    let psi: Vec<_> = (0..sources).flat_map(|n| random::spinor_field(dims, n as u64)).collect();
    let psi = lattice.parities_from_host(1, sources, &psi[..psi.len() / 2]).unwrap();
    let mut out = hop.target().unwrap();
    hop.apply(&psi, None, &mut out).unwrap();
    (serde_json::to_value(hop.tuning().unwrap()).unwrap(), out.to_host().unwrap())
}

#[test]
fn an_edited_entry_of_the_stencil_is_used_or_passed_over() {
    const COLUMNS: usize = 3;
    let Some(device) = common::devices().into_iter().next() else { return };
    let folder = tempfile::tempdir().unwrap();
    let dims = Dims::new(DIMS).unwrap();
    let untuned = team(folder.path(), device.index(), TuningMode::Shipped);
    let lattice = Lattice::new(&untuned, dims).unwrap();
    let links = lattice
        .gauge_in::<f64>(&random::hot(dims, 1), Boundary::antiperiodic_t(), Reconstruction::None)
        .unwrap();
    tune_stencil(&links, SiteTerm::Scalar, COLUMNS, Duration::ZERO).unwrap();
    let (shipped, expected) = hop(&untuned, COLUMNS);

    let file = TuningFile::new(folder.path().join("tuning.json"));
    let mut entry = entry_with(&file, "region=parity precision");
    let (mut used, mut passed_over) = (0, 0);
    for (edit, variant) in edited(&entry.variant.clone()) {
        entry.variant = variant.clone();
        file.put(&entry).unwrap();
        let (found, result) = hop(&team(folder.path(), device.index(), TuningMode::Cached), COLUMNS);
        assert!(found == shipped || found == variant, "{edit}: {found}");
        // Sources in a work-item divide the number of sources: the variant that runs may be a smaller one.
        if found == shipped {
            passed_over += 1
        } else {
            used += 1
        }
        let difference: f64 = result
            .iter()
            .zip(&expected)
            .map(|(a, b)| Spinor::from_fn(|s, c| a.0[s][c] - b.0[s][c]).norm2())
            .sum();
        assert!(difference.sqrt() < 1e-12, "{edit}: {difference:e}");
        assert_eq!(entry_with(&file, "region=parity precision").variant, variant, "{edit}: the entry stays");
    }
    assert!(used > 5 && passed_over > 50, "{used} used, {passed_over} passed over");
}

#[test]
fn a_variant_that_a_device_cannot_run_is_refused() {
    for device in common::devices() {
        let team = Team::from(device);
        let dims = Dims::new(DIMS).unwrap();
        let lattice = Lattice::new(&team, dims).unwrap();
        let links = lattice
            .gauge_in::<f64>(&random::hot(dims, 1), Boundary::antiperiodic_t(), Reconstruction::None)
            .unwrap();
        let factors = StencilFactors::new(0.0, 1.0);
        let right = HopEvenOdd::new(&links, 0, factors, HopOptions::default()).unwrap().tuning().unwrap();
        for (field, value) in [("work_group", 0), ("work_group", 1_000_000), ("sources_per_item", 0)] {
            let mut variant = serde_json::to_value(right).unwrap();
            variant[field] = value.into();
            let tuning = Some(serde_json::from_value(variant).unwrap());
            let refused = HopEvenOdd::new(&links, 0, factors, HopOptions::default().with_tuning(tuning));
            assert!(refused.err().unwrap().to_string().contains(field), "{field} = {value}");
        }
    }
}

#[test]
fn an_edited_entry_of_the_product_is_used_or_passed_over() {
    const N: usize = 40;
    let Some(device) = common::devices().into_iter().next() else { return };
    let folder = tempfile::tempdir().unwrap();
    let untuned = team(folder.path(), device.index(), TuningMode::Shipped);
    tune_gemm::<f64>(&untuned.devices()[0], Arithmetic::Ieee, [Op::N, Op::N], [N; 3], Duration::ZERO)
        .unwrap();
    let file = TuningFile::new(folder.path().join("tuning.json"));
    let mut entry = entry_with(&file, "element=d");
    let a: Vec<f64> = (0..N * N).map(|i| (1.3 * i as f64).sin()).collect();
    let b: Vec<f64> = (0..N * N).map(|i| (0.7 * i as f64).cos()).collect();
    let expected = |i: usize, j: usize| (0..N).map(|k| a[i + N * k] * b[k + N * j]).sum::<f64>();

    let registers: Registers = serde_json::from_value(json!({
        "tile": [32, 32, 16], "item": [4, 4], "vector": 2, "load": 2, "pad": 2, "band": 8, "slices": 1
    }))
    .unwrap();
    let variants = [
        entry.variant.clone(),
        serde_json::to_value(GemmTuning::Registers(registers)).unwrap(),
        serde_json::to_value(GemmTuning::Mma(common::SMALL_MMA)).unwrap(),
    ];
    let mut used = 0;
    for (edit, variant) in variants.iter().flat_map(edited) {
        entry.variant = variant.clone();
        file.put(&entry).unwrap();
        let team = team(folder.path(), device.index(), TuningMode::Cached);
        let device = &team.devices()[0];
        let layout = MatrixLayout::column_major(N, N);
        let [a, b] = [&a, &b].map(|x| Buffer::from_slice(device, x).unwrap());
        let mut c = Buffer::<f64>::zeroed(device, N * N).unwrap();
        let (a, b) = (MatRef::new(&a, layout).unwrap(), MatRef::new(&b, layout).unwrap());
        let of_c = MatMut::new(&mut c, layout).unwrap();
        let product =
            linalg::gemm::gemm(Op::N, Op::N, 1.0, a, b, 0.0, of_c).and_then(|started| Ok(started.wait()?));
        product.unwrap_or_else(|error| panic!("{edit}: {error}"));
        let found = c.to_vec().unwrap();
        for (place, found) in found.iter().enumerate() {
            let expected = expected(place % N, place / N);
            assert!((found - expected).abs() < 1e-12, "{edit}, element {place}: {found} {expected}");
        }
        let chosen = GemmTuning::chosen::<f64>(device, Arithmetic::Ieee, [Op::N, Op::N], [N; 3]);
        used += usize::from(serde_json::to_value(chosen).unwrap() == variant);
    }
    assert!(used > 10, "{used} of the variants are used");
}

fn entry_with(file: &TuningFile, options: &str) -> Entry {
    let entries = file.entries().unwrap();
    let of_kernel = |entry: &&Entry| {
        let Identity { options: found, .. } = &entry.identity;
        found.starts_with(options)
    };
    entries.iter().find(of_kernel).unwrap().clone()
}
