//! The Wilson operator on 16³×32 in both precisions, on every OpenCL device and on the host: sites per second
//! (times 1368 for flops).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lattice_cl::Real;
use lattice_cl::compute::{Selector, Team, discover};
use lattice_cl::geometry::{Boundary, Dims, Lattice};
use lattice_cl::host::{self, Spinor, random};
use lattice_cl::operator::{Dirac, Kappa};

fn on_team<T: Real>(criterion: &mut Criterion, name: &str, team: &Team) {
    let dims = Dims::new([16, 16, 16, 32]).expect("even extents");
    let lattice = Lattice::new(team, dims).expect("a team holds any lattice");
    let links = lattice.gauge::<T>(&random::hot(dims, 1), Boundary::antiperiodic_t()).expect("the links fit");
    let wilson = Dirac::wilson(&links, Kappa(0.13)).expect("kappa is positive");
    let psi: Vec<host::Spinor<T>> = random::spinor_field(dims, 2).iter().map(Spinor::cast).collect();
    let psi = lattice.spinor_from_host(&psi).expect("the field fits");
    let mut out = lattice.spinor().expect("the field fits");
    let mut group = criterion.benchmark_group(format!("Wilson {}", T::PRECISION));
    group.throughput(Throughput::Elements(dims.volume() as u64));
    group.bench_function(name, |b| {
        b.iter(|| {
            wilson.apply(&psi, &mut out).expect("the kernel runs");
            team.finish().expect("the kernel runs");
        })
    });
    group.finish();
}

fn bench(criterion: &mut Criterion) {
    let mut teams = vec![("host".to_owned(), Team::host())];
    for found in discover().devices.iter().filter(|found| found.info.fp64) {
        if let Ok(team) = Team::select(Selector::Index(found.index)) {
            teams.push((found.label(), team));
        }
    }
    for (name, team) in &teams {
        on_team::<f64>(criterion, name, team);
        on_team::<f32>(criterion, name, team);
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
