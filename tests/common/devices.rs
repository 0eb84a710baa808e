//! The devices and teams that tests run on.

use lattice_cl::compute::mpi::{Launcher, World};
use lattice_cl::compute::{
    CacheMode, Device, DeviceKind, DeviceOptions, DiscoveredDevice, Discovery, PeerWay, PeerWays, Recorder,
    Selector, Team, TuningMode, discover,
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Every device here with double precision.
///
/// # Panics
/// When there is none: a test never passes because it had nothing to run on.
pub fn devices() -> Vec<Device> {
    opened(&untuned())
}

/// Options for devices whose kernels are always the same, whatever was found on this machine.
pub fn untuned() -> DeviceOptions {
    // To keep a program makes PoCL compile each of its kernels once more, for any size of work-group.
    DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped)
}

/// As [`devices`], opened in a particular way.
pub fn opened(options: &DeviceOptions) -> Vec<Device> {
    let usable = usable();
    usable.iter().map(|d| Device::open(d, options).expect("a discovered device opens")).collect()
}

/// Every device that is no GPU, taken for one: operations then cut their work as they do on GPUs.
pub fn taken_for_gpus() -> Vec<Device> {
    let mut others = usable();
    others.retain(|found| found.info.kind != DeviceKind::Gpu);
    others.iter_mut().for_each(|found| found.info.kind = DeviceKind::Gpu);
    others.iter().map(|found| Device::open(found, &untuned()).expect("a discovered device opens")).collect()
}

fn usable() -> Vec<DiscoveredDevice> {
    let Discovery { mut devices, absence } = discover();
    devices.retain(|found| found.info.fp64);
    assert!(
        !devices.is_empty(),
        "no OpenCL device with double precision: {absence:?}; run scripts/setup-opencl.sh"
    );
    devices
}

/// True if the tests run under a simulator and must be tiny (`LATTICE_CL_TEST_SMALL=1`).
pub fn small() -> bool {
    std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0")
}

/// True if every combination is to be checked on devices too (`LATTICE_CL_TEST_ALL=1`), as `make check` does.
///
/// Compiling kernels is what takes the time. So tests have each text of a kernel once, and combinations take turns.
pub fn all_combinations() -> bool {
    std::env::var_os("LATTICE_CL_TEST_ALL").is_some_and(|value| value == "1")
}

/// The ranks that this process is one of, if a launcher of MPI has started the test program.
fn ranks() -> Option<&'static Arc<World>> {
    static WORLD: OnceLock<Option<&'static Arc<World>>> = OnceLock::new();
    *WORLD.get_or_init(|| {
        let world = World::open(&Launcher::of_this_process()?).expect("the library of the launcher");
        let world: &'static Arc<World> = Box::leak(Box::new(Arc::new(world)));
        world.leave_at_exit();
        Some(world)
    })
}

/// The host, each OpenCL device alone, each device opened two and three times over as a team (under a simulator,
/// two times), and where there are several devices all of them together. Under MPI the host, and the first device of each rank.
pub fn teams() -> Vec<(String, Team)> {
    let mut teams = vec![("host".to_owned(), Team::host())];
    if let Some(world) = ranks() {
        let device = Device::open(&usable()[0], &untuned()).expect("a discovered device opens");
        let team = Team::from(device).across(world).expect("ranks on one machine are alike");
        teams.push((format!("{} ranks", world.size()), team));
        return teams;
    }
    for found in usable() {
        let index = Selector::Index(found.index);
        let most = if small() { 2 } else { 3 };
        for count in 1..=most {
            let team = Team::select_with(vec![index.clone(); count], &untuned()).unwrap();
            teams.push((format!("{count} × {}", found.label()), team));
        }
    }
    if usable().len() > 1 {
        let indices = usable().into_iter().map(|found| Selector::Index(found.index));
        let team = Team::select_with(indices, &untuned()).unwrap();
        teams.push((format!("all {} devices", usable().len()), team));
    }
    teams
}

/// A team of so many devices: the first one here, opened as often.
pub fn team_of(count: usize) -> Team {
    let first = Selector::Index(usable()[0].index);
    Team::select_with(vec![first; count], &untuned()).expect("a discovered device opens")
}

/// As [`team_of`], with these ways to the memory of each other.
pub fn team_in(count: usize, ways: PeerWays) -> Team {
    let first = Selector::Index(usable()[0].index);
    let options = untuned().with_peer(Some(ways));
    Team::select_with(vec![first; count], &options).expect("a discovered device opens")
}

/// As [`team_in`], of two devices of this kind or taken for such, whose commands are recorded.
pub fn recorded_team(kind: DeviceKind, ways: PeerWays, recorder: &Recorder) -> Team {
    let mut first = usable().swap_remove(0);
    first.info.kind = kind;
    let options = untuned().with_peer(Some(ways)).with_recorder(recorder.clone());
    let device = || Device::open(&first, &options).expect("a discovered device opens");
    Team::of(vec![device(), device()])
}

/// The ways in which so many devices can tell each other something, by the host first. Kernels that wait for each other need a thread each.
pub fn peer_ways(count: usize) -> Vec<PeerWays> {
    let mut ways = vec![PeerWays::OFF, PeerWays::only(PeerWay::Host)];
    if count == 2 {
        ways.push(PeerWays::only(PeerWay::HostFlags));
    }
    ways
}

/// To be held while kernels wait for each other: PoCL has a thread for each core, and those of two tests could keep all of them.
pub fn kernels_wait() -> MutexGuard<'static, ()> {
    static WAITING: Mutex<()> = Mutex::new(());
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// |a − b| relative to |b|.
pub fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}
