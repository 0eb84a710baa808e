//! Vector operations on every OpenCL device and on the host: bytes per second.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lattice_cl::compute::{Buffer, Device, DeviceOptions, discover};
use lattice_cl::host::level1;
use lattice_cl::linalg;

const LENGTH: usize = 1 << 23;

fn bench(criterion: &mut Criterion) {
    let x: Vec<f64> = (0..LENGTH).map(|i| (i as f64).sin()).collect();
    let mut y = x.clone();
    let devices: Vec<Device> = discover()
        .devices
        .iter()
        .filter(|found| found.info.fp64)
        .filter_map(|found| Device::open(found, &DeviceOptions::default()).ok())
        .collect();

    let mut group = criterion.benchmark_group("axpy double");
    group.throughput(Throughput::Bytes(3 * 8 * LENGTH as u64));
    group.bench_function("host", |b| b.iter(|| level1::axpy(1e-9, &x, &mut y)));
    for device in &devices {
        let on_device = Buffer::from_slice(device, &x).and_then(|x| Ok((x, Buffer::from_slice(device, &y)?)));
        let (x, mut y) = on_device.expect("two vectors fit");
        group.bench_function(BenchmarkId::from_parameter(device.label()), |b| {
            b.iter(|| {
                linalg::axpy(1e-9, &x, &mut y).expect("lengths agree");
                device.finish().expect("the kernel runs");
            })
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("dot double");
    group.throughput(Throughput::Bytes(2 * 8 * LENGTH as u64));
    group.bench_function("host", |b| b.iter(|| level1::dotc(&x, &y)));
    for device in &devices {
        let on_device = Buffer::from_slice(device, &x).and_then(|x| Ok((x, Buffer::from_slice(device, &y)?)));
        let (x, y) = on_device.expect("two vectors fit");
        group.bench_function(BenchmarkId::from_parameter(device.label()), |b| {
            b.iter(|| linalg::dotc(&x, &y).and_then(|sum| sum.wait()).expect("the kernel runs"))
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
