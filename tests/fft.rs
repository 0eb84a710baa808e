//! Fourier transforms on every device here, also taken for a GPU, against sums by definition and host twins.
//!
//! Around what is read and written there are NaNs, which must neither come in nor go away.

use crate::common;

use common::{all_combinations, devices, small, taken_for_gpus, unit_roundoff};
use lattice_cl::Real;
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::host::Philox;
use lattice_cl::linalg::fft::{FftError, Layout, Plan, RealPlan, Scale, Shape, half_extents};
use lattice_cl::linalg::host::fft as twin;
use num_complex::{Complex, Complex64};
use std::ops::{Add, Mul, Neg};

/// A number of about 106 bits: an unevaluated sum of two doubles.
#[derive(Clone, Copy, Debug, Default)]
struct Long(f64, f64);

impl Long {
    fn sum(a: f64, b: f64) -> Self {
        let s = a + b;
        let t = s - a;
        Self(s, (a - (s - t)) + (b - t))
    }
}

impl Add for Long {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (s, t) = (Self::sum(self.0, other.0), Self::sum(self.1, other.1));
        let s = Self::sum(s.0, s.1 + t.0);
        Self::sum(s.0, s.1 + t.1)
    }
}

impl Mul for Long {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let p = self.0 * other.0;
        let rest = self.0.mul_add(other.0, -p) + (self.0 * other.1 + self.1 * other.0);
        Self::sum(p, rest)
    }
}

impl Neg for Long {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

/// cos and sin of 2π k/n to about 30 digits.
fn long_root(k: usize, n: usize) -> [Long; 2] {
    let eighth = 8 * k / n;
    let quarter = eighth.div_ceil(2);
    let rest = 4.0 * k as f64 - (quarter * n) as f64;
    // The quotient by one step of Newton's, and π/2 in two parts.
    let high = rest / n as f64;
    let quotient = Long::sum(high, (-high).mul_add(n as f64, rest) / n as f64);
    let x = quotient * Long(std::f64::consts::FRAC_PI_2, 6.123233995736766e-17);
    let minus_square = -(x * x);
    let (mut cos, mut sin, mut term) = (Long(1.0, 0.0), x, (Long(1.0, 0.0), x));
    for j in 1..16 {
        let over = |d: f64| {
            let high = 1.0 / d;
            Long::sum(high, (-high).mul_add(d, 1.0) / d)
        };
        let j = f64::from(2 * j);
        term = (term.0 * minus_square * over(j * (j - 1.0)), term.1 * minus_square * over(j * (j + 1.0)));
        (cos, sin) = (cos + term.0, sin + term.1);
    }
    [[cos, sin], [-sin, cos], [-cos, -sin], [sin, -cos]][quarter % 4]
}

/// The transform by its definition, in long numbers.
fn exact(x: &[Complex64]) -> Vec<[Long; 2]> {
    let all: Vec<usize> = (0..x.len()).collect();
    exact_at(x, &all)
}

/// Some results of the transform by its definition, in long numbers.
fn exact_at(x: &[Complex64], results: &[usize]) -> Vec<[Long; 2]> {
    let n = x.len();
    let roots: Vec<_> = (0..n).map(|k| long_root(k, n)).collect();
    let result = |k: usize| {
        let mut sum = [Long::default(); 2];
        for (j, x) in x.iter().enumerate() {
            let ([c, s], [re, im]) = (roots[j * k % n], [Long(x.re, 0.0), Long(x.im, 0.0)]);
            sum = [sum[0] + re * c + im * s, sum[1] + im * c + -(re * s)];
        }
        sum
    };
    results.iter().map(|&k| result(k)).collect()
}

/// ‖found − exact‖ / ‖exact‖.
fn distance(found: &[Complex64], exact: &[[Long; 2]]) -> f64 {
    let difference = |x: f64, exact: Long| ((x - exact.0) - exact.1).powi(2);
    let error: f64 =
        found.iter().zip(exact).map(|(x, [re, im])| difference(x.re, *re) + difference(x.im, *im)).sum();
    let norm: f64 = exact.iter().map(|[re, im]| re.0.powi(2) + im.0.powi(2)).sum();
    if norm == 0.0 { error.sqrt() } else { (error / norm).sqrt() }
}

/// As [`distance`], from numbers in double.
fn relative(found: &[Complex64], wanted: &[Complex64]) -> f64 {
    let wanted: Vec<_> = wanted.iter().map(|x| [Long(x.re, 0.0), Long(x.im, 0.0)]).collect();
    distance(found, &wanted)
}

/// Numbers that look random, rounded to the precision.
fn numbers<T: Real>(seed: u64, count: usize) -> Vec<Complex<T>> {
    let mut draw = Philox::new(seed, 7, 0);
    let mut real = || T::from_f64(f64::from(draw.next_u32()) / f64::from(u32::MAX) - 0.5);
    (0..count).map(|_| Complex::new(real(), real())).collect()
}

fn double<T: Real>(x: &[Complex<T>]) -> Vec<Complex64> {
    x.iter().map(|x| Complex64::new(x.re.to_f64(), x.im.to_f64())).collect()
}

fn bytes_of<T: Real>(x: &[Complex<T>]) -> &[u8] {
    bytemuck::cast_slice(x)
}

/// Devices as they are, and taken for GPUs, where transforms have groups of many items.
fn all_devices() -> Vec<Device> {
    devices().into_iter().chain(taken_for_gpus()).collect()
}

/// The largest relative error that a length may have, of which convolutions may have more.
fn allowed<T: Real>(n: usize) -> f64 {
    let is_smooth = [2, 3, 5, 7, 11, 13].iter().fold(n, |mut n, p| {
        while n.is_multiple_of(*p) {
            n /= p;
        }
        n
    }) == 1;
    let factor = if is_smooth { 1.0 } else { 1.8 };
    factor * unit_roundoff::<T>() * (n as f64).log2().sqrt()
}

/// Transforms lines of each length there and back, in place and not.
fn lengths<T: Real>(device: &Device, lengths: &[usize]) {
    for &n in lengths {
        // Short lines are many, so that the norm of their errors is no matter of chance.
        let batch = (192 / n).max(3);
        let plan = Plan::<T>::new(device, &Shape::new(&[n]).batch(batch)).unwrap();
        let x = numbers::<T>(n as u64, batch * n);
        let input = Buffer::from_slice(device, &x).unwrap();
        let mut output =
            Buffer::from_slice(device, &vec![Complex::new(T::nan(), T::nan()); batch * n]).unwrap();
        plan.forward(&input, &mut output).unwrap();
        let forward = output.to_vec().unwrap();
        // The sum in double is exact enough for single precision.
        let error = if size_of::<T>() == 4 {
            relative(
                &double(&forward),
                &double(&x).chunks(n).flat_map(twin::by_definition).collect::<Vec<_>>(),
            )
        } else {
            distance(&double(&forward), &double(&x).chunks(n).flat_map(exact).collect::<Vec<_>>())
        };
        assert!(error <= allowed::<T>(n), "{n} on {}: {error:e}, {:e}", device.label(), allowed::<T>(n));
        assert_eq!(input.to_vec().unwrap(), x, "the input is kept");
        let mut data = input;
        plan.forward_in_place(&mut data).unwrap();
        assert_eq!(data.to_vec().unwrap(), forward, "{n} in place");
        plan.inverse_in_place(&mut data).unwrap();
        let back: Vec<_> = double(&data.to_vec().unwrap()).iter().map(|x| x / n as f64).collect();
        assert!(relative(&back, &double(&x)) <= 2.0 * allowed::<T>(n), "{n} and back on {}", device.label());
    }
}

#[test]
fn every_length_has_small_errors() {
    let some: Vec<usize> = if small() {
        vec![1, 2, 15, 17, 23, 38]
    } else if all_combinations() {
        (1..=1024).chain([2039]).collect()
    } else {
        (1..=34).chain([45, 49, 60, 64, 77, 96, 101, 128, 143, 168, 169, 251, 256, 323, 343]).collect()
    };
    for device in all_devices() {
        lengths::<f64>(&device, &some);
        lengths::<f32>(&device, &some);
    }
}

/// Results of a long line that are summed by definition: enough for a norm, from all over the line.
fn samples(behind: usize) -> Vec<usize> {
    (0..SAMPLES).map(|i| i * (behind - 1) / (SAMPLES - 1)).collect()
}

const SAMPLES: usize = 48;

/// Compares one line, complex and real, with sums in long numbers.
fn long_line<T: Real>(device: &Device, n: usize) {
    let x = numbers::<T>(1, n);
    let some = samples(n);
    let plan = Plan::<T>::new(device, &Shape::new(&[n])).unwrap();
    let mut data = Buffer::from_slice(device, &x).unwrap();
    plan.forward_in_place(&mut data).unwrap();
    let error = distance(&gathered(&double(&data.to_vec().unwrap()), &some), &exact_at(&double(&x), &some));
    assert!(error <= allowed::<T>(n), "{n} on {}: {error:e}, {:e}", device.label(), allowed::<T>(n));
    let real: Vec<T> = x.iter().map(|x| x.re).collect();
    let plan = RealPlan::<T>::new(device, &Shape::new(&[n])).unwrap().scaled(Scale::ByLength);
    let input = Buffer::from_slice(device, &real).unwrap();
    let mut half = Buffer::zeroed(device, n / 2 + 1).unwrap();
    plan.forward(&input, &mut half).unwrap();
    let as_complex = |x: &[T]| x.iter().map(|&x| Complex64::new(x.to_f64(), 0.0)).collect::<Vec<_>>();
    let some = samples(n / 2 + 1);
    let found = gathered(&double(&half.to_vec().unwrap()), &some);
    let error = distance(&found, &exact_at(&as_complex(&real), &some));
    assert!(error <= allowed::<T>(n), "real {n} on {}: {error:e}", device.label());
    let mut back = Buffer::zeroed(device, n).unwrap();
    plan.inverse(&half, &mut back).unwrap();
    let error = relative(&as_complex(&back.to_vec().unwrap()), &as_complex(&real));
    assert!(error <= 2.0 * allowed::<T>(n), "real {n} and back on {}: {error:e}", device.label());
}

#[test]
fn long_lines_take_several_steps() {
    if small() {
        return;
    }
    let some = if all_combinations() {
        vec![1009, 1021, 2039, 4096, 4099, 8191, 12288, 65536, 65537, 104729, 13 * 8191]
    } else {
        vec![4099, 12288, 65537]
    };
    for device in devices() {
        for &n in &some {
            long_line::<f64>(&device, n);
            long_line::<f32>(&device, n);
        }
    }
    // Little local memory sends shorter lines that way.
    for device in taken_for_gpus() {
        long_line::<f64>(&device, 12288);
    }
}

#[test]
fn large_arrays_on_gpus_have_programs_of_their_own() {
    if small() {
        return;
    }
    for device in taken_for_gpus() {
        // Stockham's passes on neighbouring and on distant elements; Rader's and Bluestein's convolutions.
        for extents in [vec![40, 42, 44], vec![262, 251]] {
            let count: usize = extents.iter().product();
            let x = numbers::<f32>(2, count);
            let plan = Plan::<f32>::new(&device, &Shape::new(&extents)).unwrap();
            let mut data = Buffer::from_slice(&device, &x).unwrap();
            plan.forward_in_place(&mut data).unwrap();
            let error = relative(&double(&data.to_vec().unwrap()), &twin_of(&double(&x), &extents));
            assert!(error < 3.0 * allowed::<f32>(count * 17), "{extents:?}: {error:e}");
        }
        // Real rows, an odd number of them.
        let (rows, n) = (183, 364);
        let x: Vec<f64> = numbers::<f64>(5, rows * n).iter().map(|x| x.re).collect();
        let as_complex: Vec<_> = x.iter().map(|&x| Complex64::new(x, 0.0)).collect();
        let plan = RealPlan::<f64>::new(&device, &Shape::new(&[n]).batch(rows)).unwrap();
        let mut half = Buffer::zeroed(&device, rows * (n / 2 + 1)).unwrap();
        plan.forward(&Buffer::from_slice(&device, &x).unwrap(), &mut half).unwrap();
        let wanted = as_complex.chunks(n).flat_map(|row| twin_of(row, &[n])[..n / 2 + 1].to_vec());
        let error = relative(&half.to_vec().unwrap(), &wanted.collect::<Vec<_>>());
        assert!(error < allowed::<f64>(n), "{error:e}");
        let mut back = Buffer::zeroed(&device, rows * n).unwrap();
        plan.inverse(&half, &mut back).unwrap();
        let back = back.to_vec().unwrap();
        let back: Vec<_> = back.iter().map(|x| Complex64::new(x / n as f64, 0.0)).collect();
        assert!(relative(&back, &as_complex) < 2.0 * allowed::<f64>(n));
    }
}

/// A buffer with elements at these places, and NaNs around them.
fn scattered<E: bytemuck::Pod>(device: &Device, places: &[usize], elements: &[E], around: E) -> Buffer<E> {
    let mut all = vec![around; places.iter().max().unwrap() + 4];
    places.iter().zip(elements).for_each(|(&place, &element)| all[place] = element);
    Buffer::from_slice(device, &all).unwrap()
}

/// The places of all elements, array after array, the last axis fastest.
fn places(layout: &Layout, extents: &[usize], batch: usize) -> Vec<usize> {
    let count: usize = extents.iter().product();
    let place = |number: usize| {
        let mut rest = number % count;
        let mut place = number / count * layout.distance;
        for axis in (0..extents.len()).rev() {
            place += rest % extents[axis] * layout.strides[axis];
            rest /= extents[axis];
        }
        place
    };
    (0..batch * count).map(place).collect()
}

fn gathered<E: Copy>(all: &[E], places: &[usize]) -> Vec<E> {
    places.iter().map(|&place| all[place]).collect()
}

fn twin_of(x: &[Complex64], extents: &[usize]) -> Vec<Complex64> {
    let mut x = x.to_vec();
    let count = extents.iter().product();
    x.chunks_mut(count).for_each(|x| twin::all_axes(x, extents, twin::Direction::Forward));
    x
}

/// The layouts that shapes are tried with: dense; rows apart; the first axis fastest, with the arrays of a batch side by side.
fn layouts(extents: &[usize], batch: usize) -> [Layout; 3] {
    let padded = Layout::padded(extents, extents.last().unwrap() + 3);
    let mut turned = Layout { strides: vec![1; extents.len()], distance: 1 };
    let mut next = batch;
    for axis in 0..extents.len() {
        turned.strides[axis] = next;
        next *= extents[axis] + axis % 2;
    }
    [Layout::dense(extents), padded, turned]
}

fn shapes() -> Vec<(Vec<usize>, usize)> {
    if small() {
        return vec![(vec![3, 5], 2)];
    }
    vec![
        (vec![7], 17),
        (vec![9, 20], 2),
        (vec![4, 6, 10], 1),
        (vec![17, 1, 6], 3),
        (vec![23, 12, 5], 1),
        (vec![3, 4, 5, 6], 2),
        (vec![1, 1], 1),
    ]
}

/// Shapes that have programs of their own: on GPUs planes, rows and neighbouring lines in tiles, with and without gaps.
fn large_shapes() -> Vec<(Vec<usize>, usize)> {
    if small() {
        return Vec::new();
    }
    vec![
        (vec![3, 75, 98], 3),
        (vec![63, 45, 25], 1),
        (vec![9, 64, 128], 1),
        (vec![300], 220),
        (vec![96, 700], 1),
    ]
}

fn complex_arrays<T: Real>(device: &Device, shapes: Vec<(Vec<usize>, usize)>) {
    let nan = Complex::new(T::nan(), T::nan());
    for (number, (extents, batch)) in shapes.into_iter().enumerate() {
        let count = batch * extents.iter().product::<usize>();
        let x = numbers::<T>(number as u64, count);
        let wanted = twin_of(&double(&x), &extents);
        let error = 3.0 * allowed::<T>(extents.iter().product::<usize>() * 17);
        let all = layouts(&extents, batch);
        for which in 0..3 {
            let (from, to) = (&all[which], &all[(which + number) % 3]);
            let shape = Shape::new(&extents).batch(batch).input(from.clone()).output(to.clone());
            let plan = Plan::<T>::new(device, &shape).unwrap().scaled(Scale::ByLength);
            let (read, written) = (places(from, &extents, batch), places(to, &extents, batch));
            let input = scattered(device, &read, &x, nan);
            let mut output = scattered(device, &written, &vec![nan; count], nan);
            plan.forward(&input, &mut output).unwrap();
            let found = output.to_vec().unwrap();
            let label = format!("{extents:?} × {batch}, layout {which}, on {}", device.label());
            assert!(relative(&double(&gathered(&found, &written)), &wanted) < error, "{label}");
            assert_eq!(found.iter().filter(|x| x.re.is_nan()).count(), found.len() - count, "{label}");
            let mut back = scattered(device, &read, &vec![nan; count], nan);
            plan.inverse(&output, &mut back).unwrap();
            let back = back.to_vec().unwrap();
            assert!(relative(&double(&gathered(&back, &read)), &double(&x)) < error, "{label} and back");
            assert_eq!(back.iter().filter(|x| x.re.is_nan()).count(), back.len() - count, "{label}");
            if from == to {
                let mut data = input;
                plan.forward_in_place(&mut data).unwrap();
                let found = gathered(&data.to_vec().unwrap(), &read);
                assert!(relative(&double(&found), &wanted) < error, "{label} in place");
            } else {
                let mut data = input;
                let refused = plan.forward_in_place(&mut data).unwrap_err();
                assert!(matches!(refused, FftError::NotInPlace { .. }), "{refused}");
            }
        }
    }
}

fn real_arrays<T: Real>(device: &Device, shapes: Vec<(Vec<usize>, usize)>) {
    let nan = T::nan();
    for (number, (extents, batch)) in shapes.into_iter().enumerate() {
        let half = half_extents(&extents);
        let count = batch * extents.iter().product::<usize>();
        let half_count = batch * half.iter().product::<usize>();
        let x: Vec<T> = numbers::<T>(number as u64, count).iter().map(|x| x.re).collect();
        let as_complex: Vec<_> = x.iter().map(|&x| Complex64::new(x.to_f64(), 0.0)).collect();
        let whole = twin_of(&as_complex, &extents);
        // The first part of each row.
        let (row, kept) = (extents.last().unwrap(), half.last().unwrap());
        let wanted: Vec<_> = whole.chunks(*row).flat_map(|row| row[..*kept].to_vec()).collect();
        let error = 3.0 * allowed::<T>(extents.iter().product::<usize>() * 17);
        let (all, all_half) = (layouts(&extents, batch), layouts(&half, batch));
        for which in 0..3 {
            let label = format!("real {extents:?} × {batch}, layout {which}, on {}", device.label());
            let (from, to) = (&all[which], &all_half[(which + number) % 3]);
            let shape = Shape::new(&extents).batch(batch).input(from.clone()).output(to.clone());
            let plan = RealPlan::<T>::new(device, &shape).unwrap().scaled(Scale::ByLength);
            let (read, written) = (places(from, &extents, batch), places(to, &half, batch));
            let input = scattered(device, &read, &x, nan);
            let nans = Complex::new(nan, nan);
            let mut output = scattered(device, &written, &vec![nans; half_count], nans);
            plan.forward(&input, &mut output).unwrap();
            let found = output.to_vec().unwrap();
            assert!(relative(&double(&gathered(&found, &written)), &wanted) < error, "{label}");
            assert_eq!(found.iter().filter(|x| x.re.is_nan()).count(), found.len() - half_count, "{label}");
            let mut back = scattered(device, &read, &vec![nan; count], nan);
            for overwriting in [false, true] {
                back.fill(nan).unwrap();
                if overwriting {
                    plan.inverse_overwriting(&mut output, &mut back).unwrap();
                } else {
                    plan.inverse(&output, &mut back).unwrap();
                    let kept = output.to_vec().unwrap();
                    assert!(bytes_of(&kept) == bytes_of(&found), "{label}");
                }
                let back = back.to_vec().unwrap();
                let found: Vec<_> =
                    gathered(&back, &read).iter().map(|x| Complex::new(*x, T::zero())).collect();
                assert!(relative(&double(&found), &as_complex) < error, "{label} and back");
                assert_eq!(back.iter().filter(|x| x.is_nan()).count(), back.len() - count, "{label}");
            }
        }
        // In place with padded rows.
        let padded = Layout::padded(&extents, 2 * kept);
        let plan =
            RealPlan::<T>::new(device, &Shape::new(&extents).batch(batch).input(padded.clone())).unwrap();
        let read = places(&padded, &extents, batch);
        let mut all = vec![nan; 2 * half_count + 3];
        read.iter().zip(&x).for_each(|(&place, &x)| all[place] = x);
        let mut data = Buffer::from_slice(device, &all).unwrap();
        plan.forward_in_place(&mut data).unwrap();
        let found = data.to_vec().unwrap();
        assert!(found[2 * half_count..].iter().all(|x| x.is_nan()));
        let found: Vec<_> = found[..2 * half_count].chunks(2).map(|x| Complex::new(x[0], x[1])).collect();
        assert!(relative(&double(&found), &wanted) < error, "real {extents:?} in place");
        plan.inverse_in_place(&mut data).unwrap();
        let points = extents.iter().product::<usize>() as f64;
        let back = gathered(&data.to_vec().unwrap(), &read);
        let back: Vec<_> = back.iter().map(|&x| Complex64::new(x.to_f64() / points, 0.0)).collect();
        assert!(relative(&back, &as_complex) < error, "real {extents:?} in place and back");
    }
}

#[test]
fn arrays_with_any_strides_are_the_twin() {
    for device in all_devices() {
        complex_arrays::<f64>(&device, shapes());
        complex_arrays::<f32>(&device, shapes());
    }
}

#[test]
fn real_arrays_with_any_strides_are_the_twin() {
    for device in all_devices() {
        real_arrays::<f64>(&device, shapes());
        real_arrays::<f32>(&device, shapes());
    }
}

#[test]
fn large_arrays_with_any_strides_are_the_twin() {
    for device in all_devices() {
        complex_arrays::<f32>(&device, large_shapes());
        real_arrays::<f64>(&device, large_shapes());
    }
}

#[test]
fn large_arrays_in_the_other_precision_are_the_twin() {
    if !all_combinations() {
        return;
    }
    for device in all_devices() {
        complex_arrays::<f64>(&device, large_shapes());
        real_arrays::<f32>(&device, large_shapes());
    }
}

#[test]
fn transforms_are_linear_unitary_and_turn_shifts_into_phases() {
    let extents = if small() { [2, 3, 5] } else { [12, 17, 20] };
    let count: usize = extents.iter().product();
    for device in devices() {
        let plan = Plan::<f64>::new(&device, &Shape::new(&extents)).unwrap().scaled(Scale::Unitary);
        let transform = |x: &[Complex64]| {
            let mut data = Buffer::from_slice(&device, x).unwrap();
            plan.forward_in_place(&mut data).unwrap();
            data.to_vec().unwrap()
        };
        let (x, y) = (numbers::<f64>(3, count), numbers::<f64>(4, count));
        let (of_x, of_y) = (transform(&x), transform(&y));
        let norm = |x: &[Complex64]| x.iter().map(Complex64::norm_sqr).sum::<f64>();
        assert!((norm(&of_x) / norm(&x) - 1.0).abs() < 1e-14);
        let factor = Complex64::new(0.3, -1.7);
        let together: Vec<_> = x.iter().zip(&y).map(|(x, y)| x + factor * y).collect();
        let wanted: Vec<_> = of_x.iter().zip(&of_y).map(|(x, y)| x + factor * y).collect();
        assert!(relative(&transform(&together), &wanted) < 1e-15);
        let [n1, n2, n3] = extents;
        let index = |i: usize, j: usize, k: usize| ((i % n1) * n2 + j % n2) * n3 + k % n3;
        let all = || (0..count).map(|l| (l / (n2 * n3), l / n3 % n2, l % n3));
        let shifted: Vec<_> = all().map(|(i, j, k)| x[index(i + 1, j + 2, k + 3)]).collect();
        let phase = |(i, j, k)| (twin::root(i, n1) * twin::root(2 * j, n2) * twin::root(3 * k, n3)).conj();
        let wanted: Vec<_> = all().zip(&of_x).map(|(place, x)| x * phase(place)).collect();
        assert!(relative(&transform(&shifted), &wanted) < 1e-15);
        assert_eq!(transform(&x), of_x, "the same bits each time");
    }
}

#[test]
fn what_cannot_be_transformed_is_refused() {
    let device = &devices()[0];
    let zero = Plan::<f32>::new(device, &Shape::new(&[4, 0])).err().unwrap();
    assert_eq!(zero.to_string(), "the extent of axis 1 is 0; every extent and the batch must be at least 1");
    let axes = RealPlan::<f64>::new(device, &Shape::new(&[])).err().unwrap();
    assert!(matches!(axes, FftError::Axes { found: 0 }));
    let long = Plan::<f64>::new(device, &Shape::new(&[(1 << 29) + 11])).err().unwrap();
    assert!(matches!(long, FftError::TooLong { .. }), "{long}");
    let plan = Plan::<f64>::new(device, &Shape::new(&[4, 5])).unwrap();
    let mut short = Buffer::zeroed(device, 19).unwrap();
    let short = plan.forward_in_place(&mut short).unwrap_err();
    assert_eq!(short, FftError::BufferTooShort { side: "data", wanted: 20, found: 19 });
    let other = &devices()[0];
    let mut elsewhere = Buffer::zeroed(other, 20).unwrap();
    assert!(matches!(plan.forward_in_place(&mut elsewhere), Err(FftError::OtherDevice { .. })));
    let plan = RealPlan::<f64>::new(device, &Shape::new(&[4, 5])).unwrap();
    let mut dense = Buffer::zeroed(device, 24).unwrap();
    assert!(matches!(plan.forward_in_place(&mut dense), Err(FftError::NotInPlace { .. })));
}
