//! The kernels of `bench bandwidth` and `bench ladder` against their twins, on every OpenCL device present.

use crate::common;

use lattice_cl::compute::{
    AccessKernels, Buffer, DeviceError, GatherList, StreamArrays, StreamKernels, repeated,
};
use lattice_cl::host::streams::random_places;
use lattice_cl::host::{PeriodicNumbers, Stream};
use lattice_cl::scalar::Real;

#[test]
fn streams_are_those_of_the_host_on_every_window() {
    streams_are_those_of_the_host::<f64>(1e-14);
    streams_are_those_of_the_host::<f32>(1e-6);
}

fn streams_are_those_of_the_host<T: Real>(sum_tolerance: f64) {
    let (b, c) = (PeriodicNumbers::new(1, 61), PeriodicNumbers::new(2, 61));
    for device in common::devices() {
        let lanes = StreamKernels::<T>::native_lanes(device.info());
        let kernels = StreamKernels::<T>::new(&device, lanes).unwrap();
        let mut arrays = StreamArrays::new(&device, 1003, 3, &b, &c).unwrap();
        assert_eq!(arrays.len(), 1008);
        for stream in Stream::ALL {
            for window in 0..3 {
                arrays.clear_output().unwrap();
                let (sum, _) = kernels.launch(stream, &mut arrays, window).unwrap().wait().unwrap();
                let start = arrays.start(window);
                assert_eq!(sum.is_some(), stream.is_sum());
                if let Some(sum) = sum {
                    let (expected, magnitudes) = stream.sum::<T>(&b, &c, start, arrays.len());
                    assert!((sum - expected).abs() <= sum_tolerance * magnitudes, "{stream:?} on {device:?}");
                    continue;
                }
                for (i, found) in arrays.output(window).unwrap().to_vec().unwrap().into_iter().enumerate() {
                    let (b, c): (T, T) = (b.at(start + i), c.at(start + i));
                    let difference = (found - stream.value(b, c)).abs();
                    assert!(difference <= stream.tolerance(c), "{stream:?} on {device:?}: element {i}");
                }
                // The other windows are left alone.
                let other = arrays.output(window + 1).unwrap().to_vec().unwrap();
                assert!(other.iter().all(|number| number.is_nan()), "{stream:?} on {device:?}");
            }
        }
    }
}

#[test]
fn patterns_read_what_they_say() {
    let numbers = PeriodicNumbers::new(1, 61);
    for device in common::devices() {
        let kernels = AccessKernels::new(&device).unwrap();
        let count = 501;
        let x = repeated(&device, &numbers.to_vec::<f64>(), 7 * count + 7).unwrap();
        let mut y = Buffer::<f64>::zeroed(&device, count).unwrap();
        for (start, stride) in [(0, 1), (7, 1), (0, 7), (7, 7)] {
            kernels.strided(&mut y, &x, start, stride).unwrap();
            let expected: Vec<f64> = (0..count).map(|i| numbers.at(start + stride * i)).collect();
            assert_eq!(y.to_vec().unwrap(), expected, "{start} + {stride} i on {device:?}");
        }
        let places = random_places(count, count as u32);
        kernels.gather(&mut y, &x, &GatherList::new(&device, &places).unwrap()).unwrap();
        let expected: Vec<f64> = places.iter().map(|&place| numbers.at(place as usize)).collect();
        assert_eq!(y.to_vec().unwrap(), expected, "by list on {device:?}");

        let outside = kernels.strided(&mut y, &x, 8, 7).map(drop);
        assert_eq!(outside.is_err(), 8 + 7 * (count - 1) >= x.len());
        let outside = kernels.strided(&mut y, &x, 15, 7).map(drop);
        assert!(matches!(outside, Err(DeviceError::OutOfRange { .. })), "{outside:?}");
        let list = GatherList::new(&device, &vec![7 * count as u32 + 7; count]).unwrap();
        let outside = kernels.gather(&mut y, &x, &list).map(drop);
        assert!(matches!(outside, Err(DeviceError::OutOfRange { .. })), "{outside:?}");
    }
}

#[test]
fn mapped_transfers_are_transfers() {
    for device in common::devices() {
        let numbers: Vec<f64> = PeriodicNumbers::new(1, 333).to_vec();
        let mut buffer = Buffer::<f64>::zeroed(&device, 333).unwrap();
        buffer.write_mapped(&numbers).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), numbers);
        let mut back = vec![0.0; 333];
        buffer.read_mapped(&mut back).unwrap();
        assert_eq!(back, numbers);
        let wrong = buffer.write_mapped(&back[1..]);
        assert!(matches!(wrong, Err(DeviceError::LengthMismatch { .. })), "{wrong:?}");
        Buffer::<f64>::zeroed(&device, 0).unwrap().read_mapped(&mut []).unwrap();
    }
}
