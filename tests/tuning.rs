//! Which variant of a kernel a device uses: shipped, kept from an earlier search, or searched for.

use crate::common;

use lattice_cl::compute::{
    CacheMode, Device, DeviceKind, DeviceOptions, SearchObserver, Selector, Team, TuningMode,
};
use lattice_cl::field::GaugeField;
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host::{Reconstruction, Spinor, StencilFactors, random};
use lattice_cl::operator::{HopEvenOdd, HopOptions, SiteTerm, tune_stencil};
use lattice_cl::tuning::{self, Key, Step, Tunable, TuningFile};
use lattice_cl::{Dims, Real};
use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A kernel whose variants are numbers, and take 1000 µs less 100 µs for each up to 5; larger ones fail.
struct Numbers<'a> {
    device: &'a Device,
    timed: Cell<usize>,
    shipped: u32,
}

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("the number {0} is too large")]
struct TooLarge(u32);

impl Tunable for Numbers<'_> {
    type Variant = u32;
    type Data = ();
    type Error = TooLarge;

    fn device(&self) -> &Device {
        self.device
    }

    fn key(&self) -> Key {
        Key::new("numbers", "any").option("shipped", self.shipped)
    }

    fn shipped(&self) -> u32 {
        self.shipped
    }

    fn steps(&self) -> Vec<Step<'_, u32>> {
        vec![Box::new(|_| (0..8).collect())]
    }

    fn data(&self) -> Result<(), TooLarge> {
        Ok(())
    }

    fn time(&self, number: &u32, (): &mut ()) -> Result<Duration, TooLarge> {
        self.timed.set(self.timed.get() + 1);
        let micros = 1000_u64.checked_sub(100 * u64::from(*number)).filter(|_| *number <= 5);
        micros.map(Duration::from_micros).ok_or(TooLarge(*number))
    }
}

/// What is chosen with these options on each device, and whether anything was timed for it.
fn chosen(options: &DeviceOptions, shipped: u32) -> Vec<(DeviceKind, u32, bool)> {
    let devices = common::opened(options);
    let chosen = devices.iter().map(|device| {
        let numbers = Numbers { device, timed: Cell::new(0), shipped };
        let number = tuning::choose(&numbers);
        let timed = numbers.timed.take() > 0;
        assert_eq!((tuning::choose(&numbers), numbers.timed.get()), (number, 0), "a device remembers");
        (device.info().kind, number, timed)
    });
    chosen.collect()
}

fn options(folder: &Path, tuning: TuningMode) -> DeviceOptions {
    DeviceOptions::default().with_cache(CacheMode::TuningFile(folder.join("tuning.json"))).with_tuning(tuning)
}

#[test]
fn the_mode_decides_what_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let mode = |mode| options(folder.path(), mode);
    for (_, number, timed) in chosen(&mode(TuningMode::Cached), 0) {
        assert_eq!((number, timed), (0, false), "nothing is kept yet");
    }
    for (kind, number, timed) in chosen(&mode(TuningMode::SearchOnGpus), 0) {
        // Of several cards of one kind only the first one searches.
        let gpu = kind == DeviceKind::Gpu;
        assert_eq!(number, if gpu { 5 } else { 0 });
        assert!(gpu || !timed);
    }
    for (_, number, _) in chosen(&mode(TuningMode::Search), 0) {
        assert_eq!(number, 5);
    }
    for (_, number, timed) in chosen(&mode(TuningMode::Cached), 0) {
        assert_eq!((number, timed), (5, false), "found in the file");
    }
    for (_, number, timed) in chosen(&mode(TuningMode::Shipped), 0) {
        assert_eq!((number, timed), (0, false));
    }
}

#[test]
fn without_a_cache_a_search_is_remembered_by_its_device_only() {
    let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Search);
    for _ in 0..2 {
        for (_, number, timed) in chosen(&options, 0) {
            assert_eq!((number, timed), (5, true));
        }
    }
}

#[test]
fn without_time_for_a_search_the_shipped_variant_is_used_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let none = options(folder.path(), TuningMode::Search).with_search_time(Some(Duration::ZERO));
    for (_, number, timed) in chosen(&none, 0) {
        assert_eq!((number, timed), (0, false));
    }
    let some = none.with_search_time(Some(tuning::TIME_ON_FIRST_USE));
    for (_, number, timed) in chosen(&some, 0) {
        assert_eq!((number, timed), (0, false), "later runs do not wait either");
    }
    for device in common::opened(&some) {
        let numbers = Numbers { device: &device, timed: Cell::new(0), shipped: 0 };
        assert_eq!(tuning::renew(&numbers, tuning::BUDGET).unwrap().variant, 5, "until told to search");
    }
}

#[test]
fn a_kernel_that_cannot_be_timed_stays_as_it_is_shipped() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), TuningMode::Search);
    for (_, number, timed) in chosen(&options, 7) {
        assert_eq!((number, timed), (7, true));
    }
    assert!(!folder.path().join("tuning.json").exists(), "there is nothing to keep");
    for device in common::opened(&options) {
        let numbers = Numbers { device: &device, timed: Cell::new(0), shipped: 7 };
        let error = tuning::renew(&numbers, tuning::BUDGET).unwrap_err();
        assert_eq!(error.to_string(), TooLarge(7).to_string());
    }
}

#[test]
fn a_search_is_told_from_its_beginning_to_its_end() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let observer = SearchObserver::new({
        let told = Arc::clone(&told);
        move |progress| {
            let kernel = progress.kernel.to_owned();
            told.lock().unwrap().push((kernel, progress.done, progress.planned, progress.finished));
        }
    });
    let options = common::untuned().with_observer(observer);
    for device in common::opened(&options) {
        let numbers = Numbers { device: &device, timed: Cell::new(0), shipped: 0 };
        // Whatever the mode: it was asked for.
        let found = tuning::renew(&numbers, tuning::BUDGET).unwrap();
        assert_eq!((found.variant, found.tried), (5, 8));
        let told = std::mem::take(&mut *told.lock().unwrap());
        assert!(told.iter().all(|(kernel, ..)| kernel == "numbers shipped=0 any"), "{told:?}");
        let (first, last) = (&told[0], &told[told.len() - 2]);
        assert_eq!((first.1, first.2, last.1, last.2), (0, 9, 9, 9));
        let finished: Vec<bool> = told.iter().map(|(.., finished)| *finished).collect();
        assert_eq!(finished.iter().position(|finished| *finished), Some(told.len() - 1));
    }
}

fn links<T: Real>(team: &Team, extents: [usize; 4]) -> GaugeField<T> {
    let dims = Dims::new(extents).unwrap();
    let lattice = Lattice::new(team, dims).unwrap();
    lattice.gauge_in(&random::hot(dims, 1), Boundary::antiperiodic_t(), Reconstruction::None).unwrap()
}

/// The variant of the hop on these links, and what the hop gives.
fn hop(links: &GaugeField<f64>) -> (usize, Vec<Spinor<f64>>) {
    let factors = StencilFactors::new(0.0, 1.0);
    let hop = HopEvenOdd::new(links, 0, factors, HopOptions::default()).unwrap();
    let psi = random::spinor_field(links.lattice().dims(), 2);
    let psi = links.lattice().parity_from_host(1, &psi[..psi.len() / 2]).unwrap();
    let mut out = hop.target().unwrap();
    hop.apply(&psi, None, &mut out).unwrap();
    (hop.tuning().unwrap().work_group, out.to_host().unwrap())
}

#[test]
fn the_stencil_uses_what_was_kept_and_gives_the_same() {
    const EXTENTS: [usize; 4] = [4, 4, 4, 4];
    for device in common::devices() {
        let folder = tempfile::tempdir().unwrap();
        let team = |mode, count| {
            let index = Selector::Index(device.index());
            Team::select_with(vec![index; count], &options(folder.path(), mode)).unwrap()
        };
        // Without time for a search the shipped variants are kept.
        let tuned = tune_stencil(
            &links::<f64>(&team(TuningMode::Shipped, 1), EXTENTS),
            SiteTerm::Scalar,
            1,
            Duration::ZERO,
        );
        let tuned = tuned.unwrap();
        assert_eq!(tuned.len(), 5);
        for kernel in &tuned {
            assert_eq!((kernel.found.variant, kernel.found.tried), (kernel.shipped, 1));
            assert!(kernel.found.time > Duration::ZERO && kernel.found.gain() == 1.0);
        }
        let file = TuningFile::new(folder.path().join("tuning.json"));
        let mut entries = file.entries().unwrap();
        assert_eq!(entries.len(), 5);

        let (shipped, expected) = hop(&links(&team(TuningMode::Cached, 1), EXTENTS));
        assert_eq!(shipped, tuned[1].shipped.work_group);
        for entry in &mut entries {
            entry.variant["work_group"] = 2.into();
            file.put(entry).unwrap();
        }
        assert_eq!(hop(&links(&team(TuningMode::Cached, 1), EXTENTS)), (2, expected.clone()));
        assert_eq!(hop(&links(&team(TuningMode::Shipped, 1), EXTENTS)), (shipped, expected));

        // A device of a team is timed alone, with its share.
        let share = [EXTENTS[0], EXTENTS[1], EXTENTS[2], 2 * EXTENTS[3]];
        let shared = tune_stencil(
            &links::<f64>(&team(TuningMode::Shipped, 2), share),
            SiteTerm::Scalar,
            1,
            Duration::ZERO,
        );
        let keys = |tuned: &[lattice_cl::operator::Tuned]| -> Vec<Key> {
            tuned.iter().map(|tuned| tuned.key.clone()).collect()
        };
        assert_eq!(keys(&shared.unwrap()), keys(&tuned));
    }
}
