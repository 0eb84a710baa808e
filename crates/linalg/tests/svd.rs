//! Singular values and vectors on every device here: LAPACK's test ratios for its kinds of matrices.

use crate::common;

use common::*;
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{Buffer, Device};
use lattice_linalg::factor::{Eigenvectors, SingularVectors, SvdMethod, batch, gesvd, gesvd_with};
use lattice_linalg::{MatMut, MatRef, MatrixLayout, Op, Triangle, host};

/// Spectra of LAPACK's kinds.
fn spectra(n: usize, epsilon: f64, draw: &mut Draw) -> Vec<(&'static str, Vec<f64>)> {
    let last = n.saturating_sub(1).max(1) as f64;
    let with = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
    vec![
        ("arithmetic", with(&|k| 1.0 - k as f64 / last * (1.0 - epsilon))),
        ("geometric", with(&|k| (0.1 * epsilon).powf(k as f64 / last))),
        ("clustered at epsilon", with(&|k| if k == 0 { 1.0 } else { epsilon })),
        ("clustered at one", with(&|k| if k as f64 == last { epsilon } else { 1.0 })),
        ("random", (0..n).map(|_| draw.real().abs()).collect()),
        ("half of the rank", with(&|k| if k < n / 2 { 1.0 / (k + 1) as f64 } else { 0.0 })),
        ("zero", vec![0.0; n]),
    ]
}

/// Multiplies by a product of three reflections from the left, in columns of `rows` elements.
fn reflect<T: Element>(a: &mut [C64], rows: usize, draw: &mut Draw) {
    for _ in 0..3 {
        let u: Vec<C64> = (0..rows).map(|_| draw.number::<T>().to_complex()).collect();
        let norm2: f64 = u.iter().map(C64::norm_sqr).sum();
        for column in a.chunks_mut(rows) {
            let share: C64 = u.iter().zip(&*column).map(|(u, x)| u.conj() * x).sum();
            column.iter_mut().zip(&u).for_each(|(x, u)| *x -= 2.0 / norm2 * share * u);
        }
    }
}

/// Makes a matrix with these singular values.
fn with_spectrum<T: Element>(rows: usize, columns: usize, spectrum: &[f64], draw: &mut Draw) -> Vec<C64> {
    let mut a = vec![C64::default(); rows * columns];
    (0..rows.min(columns)).for_each(|k| a[k + k * rows] = spectrum[k].into());
    if a.is_empty() {
        return a;
    }
    reflect::<T>(&mut a, rows, draw);
    let mut turned = entering(Op::C, rows, &a);
    reflect::<T>(&mut turned, columns, draw);
    entering(Op::C, columns, &turned)
}

/// Checks the ratios of U, Σ and V, all of columns.
fn check_factors<T: Element>(
    what: &str,
    a: &[C64],
    [rows, columns]: [usize; 2],
    (u, values, v): (&[C64], &[f64], &[C64]),
) {
    let fewer = rows.min(columns);
    let (norm, size) = (norm1(a, rows), rows.max(columns) as f64 * epsilon::<T>());
    // In units of the norm, so that nothing leaves the range of doubles.
    let unit = if norm > 0.0 { norm } else { 1.0 };
    assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{what}: {values:?}");
    assert!(values.last().is_none_or(|&last| last >= 0.0), "{what}: {values:?}");
    let stretched: Vec<C64> = (0..rows * fewer).map(|k| u[k] * (values[k / rows] / unit)).collect();
    let scaled: Vec<C64> = a.iter().map(|x| x / unit).collect();
    let rest = difference(&product(&stretched, rows, &entering(Op::C, columns, v), fewer), &scaled);
    expect_ratio(&format!("A − U Σ Vᴴ {what}"), norm1(&rest, rows), size);
    for (name, basis, length) in [("U", u, rows), ("V", v, columns)] {
        let gram = product(&entering(Op::C, length, basis), fewer, basis, length);
        let rest = difference(&gram, &identity(fewer));
        expect_ratio(&format!("{name} {what}"), norm1(&rest, fewer), size);
    }
}

fn check<T: Element>(
    device: &Device,
    draw: &mut Draw,
    method: SvdMethod,
    name: &str,
    (rows, columns, a): (usize, usize, &[C64]),
    known: Option<&[f64]>,
) {
    let fewer = rows.min(columns);
    let [layout, of_u, of_vt] =
        [[rows, columns], [rows, fewer], [fewer, columns]].map(|[m, n]| draw.layout(m, n));
    let what = format!("{name}, {rows}×{columns}, {method:?}, {layout:?} on {}", device.label());
    let held = Held::new(layout, nan(), everywhere, |i, j| T::from_complex(a[i + j * rows]));
    let a = held.wide();
    let buffer = Buffer::from_slice(device, &held.elements).unwrap();
    let matrix = MatRef::new(&buffer, layout).unwrap();
    let mut factors = [of_u, of_vt].map(|layout| Held::new(layout, guard::<T>(), everywhere, |_, _| nan()));
    let mut places = factors.each_ref().map(|held| Buffer::from_slice(device, &held.elements).unwrap());
    let around = T::Real::from_f64(-7777.0);
    let mut values = Buffer::from_slice(device, &vec![around; fewer + 2]).unwrap();
    let [u, vt] = &mut places;
    let vectors = SingularVectors { u: MatMut::new(u, of_u).unwrap(), vt: MatMut::new(vt, of_vt).unwrap() };
    let info = gesvd_with(method, matrix, values.slice_mut(1..fewer + 1).unwrap(), Some(vectors)).unwrap();
    assert_eq!(info.wait().unwrap(), 0, "{what}");
    let numbers = values.to_vec().unwrap();
    assert_eq!([numbers[0], numbers[fewer + 1]], [around; 2], "{what}");
    let numbers: Vec<f64> = numbers[1..=fewer].iter().map(|value| value.to_f64()).collect();
    for (held, place) in factors.iter_mut().zip(&places) {
        held.take(&what, place.to_vec().unwrap());
    }
    let (u, v) = (factors[0].wide(), entering(Op::C, fewer, &factors[1].wide()));
    check_factors::<T>(&what, &a, [rows, columns], (&u, &numbers, &v));
    let bound = MOST * rows.max(columns) as f64 * epsilon::<T>() * norm1(&a, rows);
    if let Some(known) = known {
        let mut known = known.to_vec();
        known.sort_by(|x, y| y.total_cmp(x));
        for (found, known) in numbers.iter().zip(&known) {
            assert!((found - known).abs() <= bound, "{what}: {found:e} {known:e}");
        }
    }
    let mut alone = Buffer::<T::Real>::zeroed(device, fewer).unwrap();
    assert_eq!(gesvd_with::<T>(method, matrix, &mut alone, None).unwrap().wait().unwrap(), 0, "{what}");
    for (found, with) in alone.to_vec().unwrap().iter().zip(&numbers) {
        assert!((found.to_f64() - with).abs() <= bound, "{what}: {found:?} {with:e}");
    }
}

fn sweep<T: Element>(device: &Device, seed: u64, sizes: &[usize]) {
    let draw = &mut Draw::new(seed);
    let (huge, tiny) = if epsilon::<T>() == f64::EPSILON { (1e290, 1e-290) } else { (1e30, 1e-30) };
    for (number, &n) in sizes.iter().enumerate() {
        let shapes = [(n, n), (n + 3, n), (n, 2 * n + 1)];
        for (kind, (name, spectrum)) in spectra(n, epsilon::<T>(), draw).iter().enumerate() {
            // Kinds take turns in larger matrices, as shapes do.
            if n < 16 || kind % 4 == number % 4 {
                let (rows, columns) = shapes[(kind + number) % 3];
                let size = draw.of(&[1.0, huge, tiny]);
                let known: Vec<f64> = spectrum.iter().map(|value| value * size).collect();
                let a = with_spectrum::<T>(rows, columns, &known, draw);
                let methods = [SvdMethod::Auto, SvdMethod::Polar, SvdMethod::Jacobi];
                let method = if n < 66 { methods[(kind + number) % 3] } else { SvdMethod::Auto };
                check::<T>(device, draw, method, name, (rows, columns, &a), Some(&known));
            }
        }
        let (rows, columns) = shapes[number % 3];
        let a: Vec<C64> = (0..rows * columns).map(|_| draw.number::<T>().to_complex()).collect();
        check::<T>(device, draw, SvdMethod::Auto, "random elements", (rows, columns, &a), None);
    }
}

#[test]
fn singular_vectors_meet_the_ratios() {
    for device in devices() {
        for_all_elements!(sweep(&device, 5, if small() { &[0, 1, 2, 3, 7] } else { sizes() }));
    }
}

/// Takes a minute: larger sizes of the specification.
#[test]
fn singular_vectors_of_large_matrices_meet_the_ratios() {
    if std::env::var_os("LATTICE_CL_TEST_ALL").is_none_or(|value| value.is_empty() || value == "0") {
        return;
    }
    for device in devices() {
        for_all_elements!(sweep(&device, 6, &[513, 1025]));
    }
}

#[test]
fn rotations_keep_the_digits_of_small_singular_values() {
    for device in devices() {
        let (n, draw) = (21, &mut Draw::new(9));
        // Orthonormal columns of very different length.
        let mut a = vec![C64::default(); n * n];
        (0..n).for_each(|k| a[k + k * n] = 10.0_f64.powi(-2 * k as i32).into());
        reflect::<C64>(&mut a, n, draw);
        let on_device = Buffer::from_slice(&device, &a).unwrap();
        let matrix = MatRef::new(&on_device, MatrixLayout::column_major(n, n)).unwrap();
        let mut values = Buffer::<f64>::zeroed(&device, n).unwrap();
        let info = gesvd_with(SvdMethod::Jacobi, matrix, &mut values, None).unwrap();
        assert_eq!(info.wait().unwrap(), 0);
        let twin = host::jacobi::decompose(n, &a).unwrap().values;
        for (k, (found, twin)) in values.to_vec().unwrap().into_iter().zip(twin).enumerate() {
            let expected = 10.0_f64.powi(-2 * k as i32);
            assert!((found / expected - 1.0).abs() < 1e-13, "{k}: {found:e} on {}", device.label());
            assert!((twin / expected - 1.0).abs() < 1e-13, "{k}: {twin:e} by the twin");
        }
    }
}

#[test]
fn what_is_not_a_number_gives_nothing_else_and_misfits_are_refused() {
    for device in devices() {
        let layout = MatrixLayout::column_major(3, 2);
        let a = Buffer::from_slice(&device, &[1.0, f64::NAN, 3.0, 0.0, 5.0, 6.0]).unwrap();
        let (mut u, mut vt) = (a.to_vec().unwrap(), vec![0.0; 4]);
        u.fill(0.0);
        let mut on_u = Buffer::from_slice(&device, &u).unwrap();
        let mut on_vt = Buffer::from_slice(&device, &vt).unwrap();
        let mut values = Buffer::<f64>::zeroed(&device, 2).unwrap();
        let vectors = SingularVectors {
            u: MatMut::new(&mut on_u, layout).unwrap(),
            vt: MatMut::new(&mut on_vt, MatrixLayout::column_major(2, 2)).unwrap(),
        };
        let matrix = MatRef::new(&a, layout).unwrap();
        assert_eq!(gesvd(matrix, &mut values, Some(vectors)).unwrap().wait().unwrap(), 1);
        (u, vt) = (on_u.to_vec().unwrap(), on_vt.to_vec().unwrap());
        assert!([values.to_vec().unwrap(), u, vt].concat().iter().all(|x| x.is_nan()));
        let mut few = Buffer::<f64>::zeroed(&device, 1).unwrap();
        let error = gesvd(matrix, &mut few, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "gesvd: values must have 2 elements (as A has rows or columns), 1 found"
        );
    }
}

const COUNT: usize = 3;

/// Draws matrices of one shape, with gaps between lines and matrices.
fn draw_batch<T: Element>(
    draw: &mut Draw,
    [rows, columns]: [usize; 2],
    mut element: impl FnMut(&mut Draw, usize, usize, usize) -> Option<C64>,
) -> (Vec<T>, MatrixLayout, usize, Vec<Vec<C64>>) {
    let layout = draw.layout(rows, columns);
    let stride = (rows + 4) * (columns + 4) + 11;
    let mut elements = vec![nan::<T>(); stride * COUNT + 20];
    let mut wide = vec![vec![C64::default(); rows * columns]; COUNT];
    for (k, wide) in wide.iter_mut().enumerate() {
        for (i, j) in (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))) {
            if let Some(x) = element(draw, k, i, j) {
                let x = T::from_complex(x);
                elements[k * stride + layout.index(i, j)] = x;
                wide[i + j * rows] = x.to_complex();
            }
        }
    }
    (elements, layout, stride, wide)
}

fn gathered<T: Element>(elements: &[T], layout: &MatrixLayout, stride: usize, k: usize) -> Vec<C64> {
    let place = |at: usize| k * stride + layout.index(at % layout.rows, at / layout.rows);
    (0..layout.rows * layout.columns).map(|at| elements[place(at)].to_complex()).collect()
}

fn eigenvalues_of_batches<T: Element>(device: &Device) {
    let draw = &mut Draw::new(17);
    let huge = if epsilon::<T>() == f64::EPSILON { 1e300 } else { 1e35 };
    for &n in if small() { &[1, 3][..] } else { &[0, 1, 2, 7, 16, 33, 48] } {
        for triangle in [Triangle::Lower, Triangle::Upper] {
            let stored = |i: usize, j: usize| if triangle == Triangle::Lower { i >= j } else { i <= j };
            // One matrix is near the ends of the range, one is diagonal with equal elements.
            let (elements, layout, stride, mut wide) = draw_batch::<T>(draw, [n, n], |draw, k, i, j| {
                let x = draw.number::<T>().to_complex();
                let x = match k {
                    0 => x * huge,
                    1 => x,
                    _ if i == j => f64::from(u8::from(i > 2)).into(),
                    _ => C64::default(),
                };
                stored(i, j).then_some(if i == j { C64::new(x.re, f64::NAN) } else { x })
            });
            for a in &mut wide {
                for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
                    if i == j {
                        a[i + j * n].im = 0.0;
                    } else if !stored(i, j) {
                        a[i + j * n] = a[j + i * n].conj();
                    }
                }
            }
            let mut alone = Vec::new();
            for wanted in [Eigenvectors::Without, Eigenvectors::With] {
                let mut buffer = Buffer::from_slice(device, &elements).unwrap();
                let mut values = Buffer::<T::Real>::zeroed(device, COUNT * n).unwrap();
                let view = MatMut::batch(&mut buffer, layout, COUNT, stride).unwrap();
                let info = batch::heev(triangle, wanted, view, &mut values).unwrap();
                assert_eq!(info.wait().unwrap(), [0; COUNT], "{n} {triangle:?}");
                let (found, values) = (buffer.to_vec().unwrap(), values.to_vec().unwrap());
                if wanted == Eigenvectors::Without {
                    let same = |x: &T, y: &T| x == y || (x.to_complex().is_nan() && y.to_complex().is_nan());
                    assert!(found.iter().zip(&elements).all(|(x, y)| same(x, y)), "{n}: A has changed");
                    alone = values;
                    continue;
                }
                assert_eq!(values, alone, "{n}");
                for (k, a) in wide.iter().enumerate().filter(|_| n > 0) {
                    let what = format!("matrix {k} of {n}, {triangle:?} on {}", device.label());
                    let v = gathered(&found, &layout, stride, k);
                    let values: Vec<f64> = values[k * n..(k + 1) * n].iter().map(|x| x.to_f64()).collect();
                    assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{what}: {values:?}");
                    let unit = norm1(a, n).max(f64::MIN_POSITIVE);
                    let scaled: Vec<C64> = a.iter().map(|x| x / unit).collect();
                    let stretched: Vec<C64> = (0..n * n).map(|k| v[k] * (values[k / n] / unit)).collect();
                    let rest = difference(&product(&scaled, n, &v, n), &stretched);
                    expect_ratio(&format!("A V {what}"), norm1(&rest, n), n as f64 * epsilon::<T>());
                    let gram = product(&entering(Op::C, n, &v), n, &v, n);
                    let rest = difference(&gram, &identity(n));
                    expect_ratio(&format!("Vᴴ V {what}"), norm1(&rest, n), n as f64 * epsilon::<T>());
                }
            }
        }
    }
}

fn singular_values_of_batches<T: Element>(device: &Device) {
    let draw = &mut Draw::new(18);
    let huge = if epsilon::<T>() == f64::EPSILON { 1e300 } else { 1e35 };
    let shapes = [[1, 1], [2, 2], [5, 3], [16, 16], [33, 7], [48, 48]];
    for &[rows, columns] in if small() { &shapes[..3] } else { &shapes } {
        // One matrix is near the ends of the range, one has rank 2 at most, with zero columns.
        let (elements, layout, stride, wide) = draw_batch::<T>(draw, [rows, columns], |draw, k, _, j| {
            let x = draw.number::<T>().to_complex();
            Some(match k {
                0 => x * huge,
                1 => x,
                _ if j % 3 == 1 && j < 6 => x,
                _ => C64::default(),
            })
        });
        let (of_v, stride_of_v) = (draw.layout(columns, columns), (columns + 4) * (columns + 4) + 9);
        let mut on_v = Buffer::from_slice(device, &vec![guard::<T>(); stride_of_v * COUNT + 20]).unwrap();
        let mut buffer = Buffer::from_slice(device, &elements).unwrap();
        let mut values = Buffer::<T::Real>::zeroed(device, COUNT * columns).unwrap();
        let a = MatMut::batch(&mut buffer, layout, COUNT, stride).unwrap();
        let v = MatMut::batch(&mut on_v, of_v, COUNT, stride_of_v).unwrap();
        let info = batch::gesvj(a, &mut values, Some(v)).unwrap();
        assert_eq!(info.wait().unwrap(), [0; COUNT], "{rows}×{columns}");
        let (u, v) = (buffer.to_vec().unwrap(), on_v.to_vec().unwrap());
        let kept = v.iter().filter(|&&z| z == guard::<T>()).count();
        assert_eq!(kept, v.len() - COUNT * columns * columns, "only V is written");
        let values: Vec<f64> = values.to_vec().unwrap().iter().map(|x| x.to_f64()).collect();
        for (k, a) in wide.iter().enumerate() {
            let what = format!("matrix {k} of {rows}×{columns} on {}", device.label());
            let numbers = &values[k * columns..(k + 1) * columns];
            let (u, v) = (gathered(&u, &layout, stride, k), gathered(&v, &of_v, stride_of_v, k));
            check_factors::<T>(&what, a, [rows, columns], (&u, numbers, &v));
            if k == 1 {
                let twin = host::jacobi::decompose(rows, a).unwrap().values;
                for (found, twin) in numbers.iter().zip(&twin) {
                    assert!(
                        (found - twin).abs() < 10.0 * epsilon::<T>() * twin.max(1.0) * rows as f64,
                        "{what}"
                    );
                }
            }
        }
        let mut buffer = Buffer::from_slice(device, &elements).unwrap();
        let mut alone = Buffer::<T::Real>::zeroed(device, COUNT * columns).unwrap();
        let a = MatMut::batch(&mut buffer, layout, COUNT, stride).unwrap();
        batch::gesvj::<T>(a, &mut alone, None).unwrap().wait().unwrap();
        let alone: Vec<f64> = alone.to_vec().unwrap().iter().map(|x| x.to_f64()).collect();
        assert_eq!(alone, values, "{rows}×{columns}");
    }
}

#[test]
fn batches_meet_the_ratios() {
    for device in devices() {
        for_all_elements!(eigenvalues_of_batches(&device));
        for_all_elements!(singular_values_of_batches(&device));
    }
}

#[test]
fn each_matrix_of_a_batch_has_its_own_info() {
    for device in devices() {
        let layout = MatrixLayout::column_major(2, 2);
        let elements = [f64::NAN, 0.0, 0.0, 1.0, 1.0, 1.0, f64::NAN, 1.0];
        let mut a = Buffer::from_slice(&device, &elements).unwrap();
        let mut values = Buffer::<f64>::zeroed(&device, 4).unwrap();
        let view = MatMut::batch(&mut a, layout, 2, 4).unwrap();
        let info = batch::heev(Triangle::Lower, Eigenvectors::With, view, &mut values).unwrap();
        assert_eq!(info.wait().unwrap(), [1, 0]);
        let values = values.to_vec().unwrap();
        assert!(values[0].is_nan() && values[1].is_nan());
        assert!(values[2].abs() < 1e-15 && (values[3] - 2.0).abs() < 1e-14, "{values:?}");
        let mut a = Buffer::<f64>::zeroed(&device, 6).unwrap();
        let mut values = Buffer::<f64>::zeroed(&device, 3).unwrap();
        let wide = MatMut::new(&mut a, MatrixLayout::column_major(2, 3)).unwrap();
        let error = batch::gesvj(wide, &mut values, None).unwrap_err();
        assert!(error.to_string().ends_with("(as it has rows at most; transpose it), 3 found"), "{error}");
    }
}

fn whole_bases<T: Element>(device: &Device, draw: &mut Draw, [rows, columns]: [usize; 2]) {
    let fewer = rows.min(columns);
    let layout = draw.layout(rows, columns);
    let held = Held::new(layout, nan(), everywhere, |_, _| draw.number::<T>());
    let a = held.wide();
    let what = format!("{rows}×{columns} on {}", device.label());
    let buffer = Buffer::from_slice(device, &held.elements).unwrap();
    let extents = [rows, columns].map(|n| draw.layout(n, n));
    let mut factors = extents.map(|layout| Held::new(layout, guard::<T>(), everywhere, |_, _| nan()));
    let mut places = factors.each_ref().map(|held| Buffer::from_slice(device, &held.elements).unwrap());
    let mut values = Buffer::<T::Real>::zeroed(device, fewer).unwrap();
    let [u, vt] = &mut places;
    let vectors =
        SingularVectors { u: MatMut::new(u, extents[0]).unwrap(), vt: MatMut::new(vt, extents[1]).unwrap() };
    let info = gesvd(MatRef::new(&buffer, layout).unwrap(), &mut values, Some(vectors)).unwrap();
    assert_eq!(info.wait().unwrap(), 0, "{what}");
    for (held, place) in factors.iter_mut().zip(&places) {
        held.take(&what, place.to_vec().unwrap());
    }
    let (u, v) = (factors[0].wide(), entering(Op::C, columns, &factors[1].wide()));
    for (name, basis, n) in [("U", &u, rows), ("V", &v, columns)] {
        let rest = difference(&product(&entering(Op::C, n, basis), n, basis, n), &identity(n));
        expect_ratio(&format!("whole {name} {what}"), norm1(&rest, n), n as f64 * epsilon::<T>());
    }
    let values: Vec<f64> = values.to_vec().unwrap().iter().map(|value| value.to_f64()).collect();
    check_factors::<T>(&what, &a, [rows, columns], (&u[..rows * fewer], &values, &v[..columns * fewer]));
}

#[test]
fn bases_are_completed_where_all_of_their_vectors_are_wanted() {
    for device in devices() {
        let draw = &mut Draw::new(11);
        let shapes: &[[usize; 2]] = if small() {
            &[[5, 2], [2, 5]]
        } else {
            &[[1, 4], [4, 0], [0, 3], [7, 3], [3, 7], [9, 9], [140, 70], [33, 131]]
        };
        for &shape in shapes {
            for_all_elements!(whole_bases(&device, draw, shape));
        }
    }
}
