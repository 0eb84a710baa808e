//! Eigenvalues and eigenvectors on every device here: LAPACK's test ratios for its kinds of matrices.

use crate::common;

use common::*;
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{Buffer, Device};
use lattice_linalg::factor::{Eigenvectors, heevd, heevd_range};
use lattice_linalg::{MatMut, MatrixLayout, Triangle};

/// Spectra of LAPACK's kinds, of which some have no order.
fn spectra(n: usize, epsilon: f64, draw: &mut Draw) -> Vec<(&'static str, Vec<f64>)> {
    let last = n.saturating_sub(1).max(1) as f64;
    let signed = |k: usize, value: f64| if k.is_multiple_of(3) { -value } else { value };
    let with = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
    vec![
        ("arithmetic", with(&|k| signed(k, 1.0 - k as f64 / last * (1.0 - epsilon)))),
        ("geometric", with(&|k| signed(k, (0.1 * epsilon).powf(k as f64 / last)))),
        ("clustered at epsilon", with(&|k| signed(k, if k == 0 { 1.0 } else { epsilon }))),
        ("clustered at one", with(&|k| signed(k, if k as f64 == last { epsilon } else { 1.0 }))),
        ("random", (0..n).map(|_| draw.real()).collect()),
        ("identity", vec![1.0; n]),
        ("zero", vec![0.0; n]),
    ]
}

/// Makes U Λ Uᴴ with a product U of three reflections.
fn with_spectrum<T: Element>(spectrum: &[f64], draw: &mut Draw) -> Vec<C64> {
    let n = spectrum.len();
    let mut a = vec![C64::default(); n * n];
    (0..n).for_each(|k| a[k + k * n] = spectrum[k].into());
    for _ in 0..3 {
        let u: Vec<C64> = (0..n).map(|_| draw.number::<T>().to_complex()).collect();
        let norm2: f64 = u.iter().map(C64::norm_sqr).sum();
        if norm2 == 0.0 {
            continue;
        }
        for column in a.chunks_mut(n) {
            let share: C64 = u.iter().zip(&*column).map(|(u, x)| u.conj() * x).sum();
            column.iter_mut().zip(&u).for_each(|(x, u)| *x -= 2.0 / norm2 * share * u);
        }
        for i in 0..n {
            let share: C64 = (0..n).map(|j| a[i + j * n] * u[j]).sum();
            (0..n).for_each(|j| a[i + j * n] -= 2.0 / norm2 * share * u[j].conj());
        }
    }
    a
}

fn hermitian(n: usize, element: impl Fn(usize, usize) -> C64) -> Vec<C64> {
    let of = |k: usize| match (k % n, k / n) {
        (i, j) if i == j => element(i, i).re.into(),
        (i, j) if i > j => element(i, j),
        (i, j) => element(j, i).conj(),
    };
    (0..n * n).map(of).collect()
}

/// Solves a problem and checks LAPACK's ratios.
fn check<T: Element>(
    device: &Device,
    draw: &mut Draw,
    name: &str,
    a: &[C64],
    known: Option<&[f64]>,
    size: f64,
) {
    let n = (a.len() as f64).sqrt() as usize;
    let a: Vec<C64> = a.iter().map(|x| T::from_complex(x * size).to_complex()).collect();
    let triangle = draw.of(&[Triangle::Lower, Triangle::Upper]);
    let belongs = if triangle == Triangle::Lower { in_lower } else { in_upper };
    let layout = draw.layout(n, n);
    let what = format!("{name}, {n}, size {size:.0e}, {triangle:?}, {layout:?} on {}", device.label());
    // What must not be read is NaN, what must not be written is a guard.
    let mut held = Held::new(layout, guard::<T>(), everywhere, |i, j| {
        if belongs(i, j) { T::from_complex(a[i + j * n]) } else { nan() }
    });
    let mut alone = Vec::new();
    for wanted in [Eigenvectors::Without, Eigenvectors::With] {
        let mut buffer = Buffer::from_slice(device, &held.elements).unwrap();
        let around = T::Real::from_f64(-7777.0);
        let mut values = Buffer::from_slice(device, &vec![around; n + 2]).unwrap();
        let matrix = MatMut::new(&mut buffer, layout).unwrap();
        let info = heevd(triangle, wanted, matrix, values.slice_mut(1..n + 1).unwrap()).unwrap();
        assert_eq!(info.wait().unwrap(), 0, "{what}");
        let values = values.to_vec().unwrap();
        assert_eq!([values[0], values[n + 1]], [around; 2], "{what}");
        let values: Vec<f64> = values[1..=n].iter().map(|value| value.to_f64()).collect();
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{what}: {values:?}");
        let norm = norm1(&a, n);
        let bound = n as f64 * norm * epsilon::<T>();
        if wanted == Eigenvectors::Without {
            let same = |x: &T, y: &T| x == y || (x.to_complex().is_nan() && y.to_complex().is_nan());
            let after = buffer.to_vec().unwrap();
            assert!(after.iter().zip(&held.elements).all(|(x, y)| same(x, y)), "{what}: A has changed");
            alone = values;
            continue;
        }
        for (k, (with, without)) in values.iter().zip(&alone).enumerate() {
            assert!((with - without).abs() <= MOST * bound, "{what}: {k}: {with:e} {without:e}");
        }
        if let Some(known) = known {
            let mut known: Vec<f64> = known.iter().map(|value| value * size).collect();
            known.sort_by(f64::total_cmp);
            for (k, (found, known)) in values.iter().zip(&known).enumerate() {
                assert!((found - known).abs() <= MOST * bound, "{what}: {k}: {found:e} {known:e}");
            }
        }
        held.take(&what, buffer.to_vec().unwrap());
        let v = held.wide();
        // In units of the norm, so that nothing leaves the range of doubles.
        let unit = if norm > 0.0 { norm } else { 1.0 };
        let scaled: Vec<C64> = a.iter().map(|x| x / unit).collect();
        let stretched: Vec<C64> = (0..n * n).map(|k| v[k] * (values[k / n] / unit)).collect();
        let rest = difference(&product(&scaled, n, &v, n), &stretched);
        expect_ratio(&format!("A V {what}"), norm1(&rest, n), n as f64 * epsilon::<T>());
        let gram = product(&entering(lattice_linalg::Op::C, n, &v), n, &v, n);
        let rest = difference(&gram, &identity(n));
        expect_ratio(&format!("Vᴴ V {what}"), norm1(&rest, n), n as f64 * epsilon::<T>());
    }
}

fn sweep<T: Element>(device: &Device, seed: u64, sizes: &[usize]) {
    let draw = &mut Draw::new(seed);
    let (huge, tiny) = if epsilon::<T>() == f64::EPSILON { (1e290, 1e-290) } else { (1e30, 1e-30) };
    for (number, &n) in sizes.iter().enumerate() {
        let kinds = spectra(n, epsilon::<T>(), draw);
        for (kind, (name, spectrum)) in kinds.iter().enumerate() {
            // Kinds take turns in larger matrices.
            if n < 64 || kind % 3 == number % 3 {
                let a = with_spectrum::<T>(spectrum, draw);
                let size = draw.of(&[1.0, huge, tiny]);
                check::<T>(device, draw, name, &a, Some(spectrum), size);
            }
        }
        let numbers: Vec<C64> = (0..n * n).map(|_| draw.number::<T>().to_complex()).collect();
        let random = hermitian(n, |i, j| numbers[i + j * n]);
        check::<T>(device, draw, "random elements", &random, None, 1.0);
        if n < 130 {
            let graded = hermitian(n, |i, j| numbers[i + j * n] * 10.0_f64.powi(-((i + j) as i32) / 9));
            check::<T>(device, draw, "graded", &graded, None, 1.0);
            let zero_rows =
                hermitian(
                    n,
                    |i, j| {
                        if i % 3 == 1 || j % 3 == 1 { C64::default() } else { numbers[i + j * n] }
                    },
                );
            check::<T>(device, draw, "zero rows", &zero_rows, None, 1.0);
        }
    }
}

#[test]
fn eigenvectors_meet_the_ratios() {
    for device in devices() {
        for_all_elements!(sweep(&device, 5, sizes()));
    }
}

/// Takes a minute: larger sizes of the specification.
#[test]
fn eigenvectors_of_large_matrices_meet_the_ratios() {
    if std::env::var_os("LATTICE_CL_TEST_ALL").is_none_or(|value| value.is_empty() || value == "0") {
        return;
    }
    for device in devices() {
        for_all_elements!(sweep(&device, 6, &[513, 1025]));
    }
}

#[test]
fn what_is_not_a_number_gives_nothing_else_and_misfits_are_refused() {
    for device in devices() {
        let layout = MatrixLayout::column_major(3, 3);
        for bad in [f64::NAN, f64::INFINITY] {
            let mut a = Buffer::from_slice(&device, &[1.0, bad, 3.0, 0.0, 5.0, 6.0, 0.0, 0.0, 9.0]).unwrap();
            let mut values = Buffer::<f64>::zeroed(&device, 3).unwrap();
            let matrix = MatMut::new(&mut a, layout).unwrap();
            let info = heevd(Triangle::Lower, Eigenvectors::With, matrix, &mut values).unwrap();
            assert_eq!(info.wait().unwrap(), 1);
            let all = [values.to_vec().unwrap(), a.to_vec().unwrap()].concat();
            assert!(all.iter().all(|x| x.is_nan()), "{all:?}");
        }
        let mut a = Buffer::<f64>::zeroed(&device, 9).unwrap();
        let mut values = Buffer::<f64>::zeroed(&device, 2).unwrap();
        let matrix = MatMut::new(&mut a, layout).unwrap();
        let error = heevd(Triangle::Lower, Eigenvectors::With, matrix, &mut values).unwrap_err();
        assert_eq!(
            error.to_string(),
            "heevd: values must have 3 elements (as eigenvalues are wanted), 2 found"
        );
        let wide = MatMut::new(&mut a, MatrixLayout::column_major(2, 3)).unwrap();
        let error = heevd(Triangle::Lower, Eigenvectors::With, wide, &mut values).unwrap_err();
        assert!(error.to_string().starts_with("heevd: A must"), "{error}");
    }
}

#[test]
fn a_range_has_the_eigenpairs_of_the_whole() {
    for device in devices() {
        let draw = &mut Draw::new(8);
        for (n, range) in [(5, 0..5), (5, 2..3), (64, 0..7), (129, 60..129), (129, 4..4)] {
            let a: Vec<C64> = {
                let numbers: Vec<C64> = (0..n * n).map(|_| draw.number::<C64>()).collect();
                hermitian(n, |i, j| numbers[i + j * n])
            };
            let layout = MatrixLayout::column_major(n, n);
            let mut whole = Buffer::from_slice(&device, &a).unwrap();
            let mut all = Buffer::<f64>::zeroed(&device, n).unwrap();
            let matrix = MatMut::new(&mut whole, layout).unwrap();
            heevd(Triangle::Lower, Eigenvectors::With, matrix, &mut all).unwrap().wait().unwrap();
            let (whole, all) = (whole.to_vec().unwrap(), all.to_vec().unwrap());
            for wanted in [Eigenvectors::Without, Eigenvectors::With] {
                let what = format!("{range:?} of {n}, {wanted:?} on {}", device.label());
                let mut part = Buffer::from_slice(&device, &a).unwrap();
                let mut values = Buffer::<f64>::zeroed(&device, range.len()).unwrap();
                let matrix = MatMut::new(&mut part, layout).unwrap();
                let info = heevd_range(Triangle::Lower, wanted, range.clone(), matrix, &mut values).unwrap();
                assert_eq!(info.wait().unwrap(), 0, "{what}");
                let (part, values) = (part.to_vec().unwrap(), values.to_vec().unwrap());
                for (found, expected) in values.iter().zip(&all[range.clone()]) {
                    assert!((found - expected).abs() < 1e-12, "{what}: {found} {expected}");
                }
                let written = if wanted == Eigenvectors::With { range.len() * n } else { 0 };
                let first = &whole[range.start * n..];
                let far = (0..written).map(|k| (part[k] - first[k]).norm()).fold(0.0, f64::max);
                assert!(far < 1e-10, "{what}: {far:e}");
                assert_eq!(part[written..], a[written..], "{what}");
            }
        }
        let mut a = Buffer::<f64>::zeroed(&device, 9).unwrap();
        let mut values = Buffer::<f64>::zeroed(&device, 2).unwrap();
        let matrix = MatMut::new(&mut a, MatrixLayout::column_major(3, 3)).unwrap();
        let error = heevd_range(Triangle::Lower, Eigenvectors::With, 2..4, matrix, &mut values).unwrap_err();
        assert_eq!(error.to_string(), "columns 2..4 do not lie in a matrix with 3 columns");
    }
}

#[test]
fn elements_may_be_the_largest_numbers_there_are() {
    for device in devices() {
        // Sums of columns are not in range, the eigenvalues ±√2 a are.
        let a = 1.2e308;
        let mut matrix = Buffer::from_slice(&device, &[a, a, f64::NAN, -a]).unwrap();
        let mut values = Buffer::<f64>::zeroed(&device, 2).unwrap();
        let view = MatMut::new(&mut matrix, MatrixLayout::column_major(2, 2)).unwrap();
        let info = heevd(Triangle::Lower, Eigenvectors::Without, view, &mut values).unwrap();
        assert_eq!(info.wait().unwrap(), 0);
        for (value, sign) in values.to_vec().unwrap().into_iter().zip([-1.0, 1.0]) {
            assert!((value / a - sign * 2.0_f64.sqrt()).abs() < 1e-14, "{value:e}");
        }
    }
}
