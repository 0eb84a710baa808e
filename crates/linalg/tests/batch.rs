//! Batches of small matrices against the test ratios of LAPACK.

use crate::common;

use common::{
    C64, Draw, devices, difference, entering, epsilon, expect_ratio, guard, identity, nan, norm1, product,
    small,
};
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device};
use lattice_linalg::factor::batch;
use lattice_linalg::{BlasError, Diagonal, MatMut, MatRef, MatrixLayout, Op, Side, Triangle, host};

const COUNT: usize = 3;

/// A Hermitian, positive definite matrix in the elements' precision, column after column.
fn positive<T: Element>(draw: &mut Draw, n: usize) -> Vec<C64> {
    let x: Vec<C64> = (0..n * n).map(|_| draw.number::<T>().to_complex()).collect();
    let mut a = product(&x, n, &entering(Op::C, n, &x), n);
    (0..n).for_each(|i| a[i * n + i] += 0.5);
    a.iter().map(|&z| T::from_complex(z).to_complex()).collect()
}

fn solutions<T: Element>() {
    let mut draw = Draw::new(7);
    for device in devices() {
        for &n in if small() { &[1, 5, 33][..] } else { &[0, 1, 3, 8, 9, 31, 64] } {
            for triangle in [Triangle::Lower, Triangle::Upper] {
                let (layout, wide) = (draw.layout(n, n), draw.layout(n, 3));
                let (stride, b_stride) = (n * (n + 4) + 11, (n + 4) * (n + 7) + 13);
                let stored = |i: usize, j: usize| if triangle == Triangle::Lower { i >= j } else { i <= j };
                let matrices: Vec<Vec<C64>> = (0..COUNT).map(|_| positive::<T>(&mut draw, n)).collect();
                let sides: Vec<Vec<C64>> = (0..COUNT)
                    .map(|_| (0..n * 3).map(|_| draw.number::<T>().to_complex()).collect())
                    .collect();
                let mut a = vec![nan::<T>(); stride * COUNT + 20];
                let mut b = vec![guard::<T>(); b_stride * COUNT + 20];
                for k in 0..COUNT {
                    for (i, j) in
                        (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).filter(|&(i, j)| stored(i, j))
                    {
                        let mut z = matrices[k][i + j * n];
                        if i == j {
                            z.im = f64::NAN;
                        }
                        a[k * stride + layout.index(i, j)] = T::from_complex(z);
                    }
                    for (i, j) in (0..n).flat_map(|i| (0..3).map(move |j| (i, j))) {
                        b[k * b_stride + wide.index(i, j)] = T::from_complex(sides[k][i + j * n]);
                    }
                }
                let mut on_a = Buffer::from_slice(&device, &a).unwrap();
                let mut on_b = Buffer::from_slice(&device, &b).unwrap();
                let views = (
                    MatMut::batch(&mut on_a, layout, COUNT, stride).unwrap(),
                    MatMut::batch(&mut on_b, wide, COUNT, b_stride).unwrap(),
                );
                assert_eq!(batch::posv(triangle, views.0, views.1).unwrap().wait().unwrap(), [0; COUNT]);
                let (found, x) = (on_a.to_vec().unwrap(), on_b.to_vec().unwrap());
                let unread = found.iter().filter(|z| z.to_complex().re.is_nan()).count();
                assert_eq!(unread, found.len() - COUNT * n * (n + 1) / 2, "only the triangle is written");
                let kept = x.iter().filter(|&&z| z == guard::<T>()).count();
                assert_eq!(kept, x.len() - COUNT * n * 3, "only B is written");
                for k in (0..COUNT).filter(|_| n > 0) {
                    let mut l = vec![C64::default(); n * n];
                    for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
                        let (row, column) = if triangle == Triangle::Lower { (i, j) } else { (j, i) };
                        let z = found[k * stride + layout.index(row, column)].to_complex();
                        l[i + j * n] = if triangle == Triangle::Lower { z } else { z.conj() };
                    }
                    let (eps, size) = (epsilon::<T>(), norm1(&matrices[k], n));
                    let rest = difference(&product(&l, n, &entering(Op::C, n, &l), n), &matrices[k]);
                    let ratio = norm1(&rest, n) / (n as f64 * size * eps);
                    assert!(ratio < 10.0, "{triangle:?} {n}: A − L Lᴴ {ratio}");
                    let mut twin = matrices[k].clone();
                    assert_eq!(host::cholesky::factorise(n, &mut twin), 0);
                    (0..n * n)
                        .filter(|place| place % n < place / n)
                        .for_each(|place| twin[place] = C64::default());
                    let distance = norm1(&difference(&l, &twin), n) / (norm1(&twin, n) * eps);
                    // The factor of a matrix is as sensitive as its inverse.
                    assert!(distance < 1e3, "{triangle:?} {n}: {distance} from the twin");
                    let at = |i: usize, j: usize| x[k * b_stride + wide.index(i, j)].to_complex();
                    let x: Vec<C64> = (0..n * 3).map(|place| at(place % n, place / n)).collect();
                    let rest = difference(&product(&matrices[k], n, &x, n), &sides[k]);
                    let ratio = norm1(&rest, n) / (size * norm1(&x, n) * eps);
                    assert!(ratio < 10.0, "{triangle:?} {n}: B − A X {ratio}");
                }
            }
        }
    }
}

#[test]
fn factors_and_solutions_of_a_batch_meet_the_test_ratios() {
    for_all_elements!(solutions());
}

#[test]
fn each_matrix_has_its_own_info() {
    for device in devices() {
        let a = [4.0, 2.0, 0.0, 5.0, 4.0, 2.0, 0.0, 1.0, f64::NAN, 2.0, 0.0, 1.0];
        let mut buffer = Buffer::from_slice(&device, &a).unwrap();
        let view = MatMut::batch(&mut buffer, MatrixLayout::column_major(2, 2), 3, 4).unwrap();
        assert_eq!(batch::potrf(Triangle::Lower, view).unwrap().wait().unwrap(), [0, 2, 1]);
        assert_eq!(buffer.to_vec().unwrap()[..8], [2.0, 1.0, 0.0, 2.0, 2.0, 1.0, 0.0, 1.0]);
        let mut large = Buffer::<f64>::zeroed(&device, 65 * 65).unwrap();
        let view = MatMut::new(&mut large, MatrixLayout::column_major(65, 65)).unwrap();
        assert!(matches!(batch::potrf(Triangle::Lower, view), Err(BlasError::Shape { found: 65, .. })));
    }
}

/// Matrices of one shape in a buffer, with gaps between lines and matrices.
struct Matrices<T> {
    elements: Vec<T>,
    layout: MatrixLayout,
    stride: usize,
    /// The matrices in double, column after column.
    wide: Vec<Vec<C64>>,
}

impl<T: Element> Matrices<T> {
    /// Draws matrices; `around` fills the rest of the buffer.
    fn draw(draw: &mut Draw, rows: usize, columns: usize, around: T) -> Self {
        let layout = draw.layout(rows, columns);
        let stride = (rows + 4) * (columns + 4) + 11;
        let mut elements = vec![around; stride * COUNT + 20];
        let mut wide = vec![Vec::new(); COUNT];
        for (k, wide) in wide.iter_mut().enumerate() {
            for (i, j) in (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))) {
                let x = draw.number::<T>();
                elements[k * stride + layout.index(i, j)] = x;
                wide.push(x.to_complex());
            }
        }
        Self { elements, layout, stride, wide }
    }

    fn on(&self, device: &Device) -> Buffer<T> {
        Buffer::from_slice(device, &self.elements).unwrap()
    }

    fn read<'a>(&self, buffer: &'a Buffer<T>) -> MatRef<'a, T> {
        MatRef::batch(buffer, self.layout, COUNT, self.stride).unwrap()
    }

    fn write<'a>(&self, buffer: &'a mut Buffer<T>) -> MatMut<'a, T> {
        MatMut::batch(buffer, self.layout, COUNT, self.stride).unwrap()
    }

    /// The matrices that a device has written, which has left everything else as it was.
    #[track_caller]
    fn found(&self, buffer: &Buffer<T>) -> Vec<Vec<C64>> {
        let (mut found, MatrixLayout { rows, columns, .. }) = (buffer.to_vec().unwrap(), self.layout);
        let mut wide = vec![Vec::new(); COUNT];
        for (k, wide) in wide.iter_mut().enumerate() {
            for (i, j) in (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))) {
                let place = k * self.stride + self.layout.index(i, j);
                wide.push(found[place].to_complex());
                found[place] = self.elements[place];
            }
        }
        let same = |(a, b): (&T, &T)| a == b || a.to_complex().re.is_nan() && b.to_complex().re.is_nan();
        assert!(found.iter().zip(&self.elements).all(same), "written beside the matrices");
        wide
    }
}

/// The part of a matrix of so many rows below, or above, its diagonal, with what is on it.
fn triangle_of(rows: usize, a: &[C64], lower: bool, unit: bool) -> Vec<C64> {
    let entry = |(place, &x): (usize, &C64)| match (place % rows, place / rows) {
        (i, j) if i == j && unit => 1.0.into(),
        (i, j) if i == j || (i > j) == lower => x,
        _ => C64::default(),
    };
    a.iter().enumerate().map(entry).collect()
}

fn extents() -> &'static [(usize, usize)] {
    if small() { &[(1, 1), (5, 5), (9, 4)] } else { &[(1, 1), (3, 3), (9, 4), (5, 33), (64, 64)] }
}

fn lu_factors<T: Element>() {
    let mut draw = Draw::new(11);
    for device in devices() {
        for &(rows, columns) in extents() {
            let (a, fewer) = (Matrices::<T>::draw(&mut draw, rows, columns, guard()), rows.min(columns));
            let mut buffer = a.on(&device);
            let mut pivots = Buffer::from_slice(&device, &vec![77_u32; COUNT * fewer]).unwrap();
            let infos = batch::getrf(a.write(&mut buffer), &mut pivots).unwrap().wait().unwrap();
            assert_eq!(infos, [0; COUNT], "{rows}×{columns}");
            let (found, pivots_found, eps) = (a.found(&buffer), pivots.to_vec().unwrap(), epsilon::<T>());
            for (k, found) in found.iter().enumerate() {
                let what = format!("{rows}×{columns}");
                let pivots = &pivots_found[k * fewer..][..fewer];
                let mut exchanged = a.wide[k].clone();
                for (i, &row) in pivots.iter().enumerate() {
                    (0..columns).for_each(|j| exchanged.swap(i + j * rows, row as usize + j * rows));
                }
                let l = triangle_of(rows, &found[..rows * fewer], true, true);
                let u: Vec<C64> = (0..fewer * columns)
                    .map(|at| (at % fewer, at / fewer))
                    .map(|(i, j)| if i <= j { found[i + j * rows] } else { C64::default() })
                    .collect();
                let rest = difference(&product(&l, rows, &u, fewer), &exchanged);
                let size = norm1(&a.wide[k], rows);
                expect_ratio(&format!("{what}: P A − L U"), norm1(&rest, rows), columns as f64 * size * eps);
                assert!(l.iter().all(|z| z.norm() < 1.5), "{what}: the pivot is the largest");
                let mut twin = a.wide[k].clone();
                let (expected, _) = host::lu::factorise(rows, &mut twin);
                if eps < 1e-10 {
                    assert_eq!(pivots, expected, "{what}");
                }
            }
            if rows == columns {
                lu_solutions(&device, &mut draw, &a, &buffer, &pivots);
            }
        }
    }
}

fn lu_solutions<T: Element>(
    device: &Device,
    draw: &mut Draw,
    a: &Matrices<T>,
    factors: &Buffer<T>,
    pivots: &Buffer<u32>,
) {
    let n = a.layout.rows;
    for op in [Op::N, Op::T, Op::C] {
        let b = Matrices::<T>::draw(draw, n, 3, guard());
        let mut buffer = b.on(device);
        batch::getrs(op, a.read(factors), pivots, b.write(&mut buffer)).unwrap();
        for (k, x) in b.found(&buffer).iter().enumerate() {
            let rest = difference(&product(&entering(op, n, &a.wide[k]), n, x, n), &b.wide[k]);
            let size = norm1(&entering(op, n, &a.wide[k]), n) * norm1(x, n);
            expect_ratio(&format!("{op:?} {n}: B − A X"), norm1(&rest, n), size * epsilon::<T>());
        }
    }
    let mut x = Matrices::<T>::draw(draw, n, n, guard());
    x.elements.fill(nan());
    let mut inverse = x.on(device);
    batch::getri(a.read(factors), pivots, x.write(&mut inverse)).unwrap();
    for (k, x) in x.found(&inverse).iter().enumerate() {
        let rest = difference(&product(&a.wide[k], n, x, n), &identity(n));
        let size = norm1(&a.wide[k], n) * norm1(x, n);
        expect_ratio(&format!("{n}: 1 − A A⁻¹"), norm1(&rest, n), size * n as f64 * epsilon::<T>());
    }
    // Both in one make the same bits.
    let b = Matrices::<T>::draw(draw, n, 2, guard());
    let (mut again, mut both, mut one) = (a.on(device), b.on(device), b.on(device));
    let mut own = Buffer::zeroed(device, pivots.len()).unwrap();
    assert_eq!(
        batch::gesv(a.write(&mut again), &mut own, b.write(&mut both)).unwrap().wait().unwrap(),
        [0; COUNT]
    );
    batch::getrs(Op::N, a.read(factors), pivots, b.write(&mut one)).unwrap();
    assert_eq!(both.to_vec().unwrap(), one.to_vec().unwrap());
    assert_eq!(own.to_vec().unwrap(), pivots.to_vec().unwrap());
}

#[test]
fn factors_with_pivots_of_a_batch_meet_the_test_ratios() {
    for_all_elements!(lu_factors());
}

fn orthogonal_factors<T: Element>() {
    let mut draw = Draw::new(12);
    for device in devices() {
        for &(rows, columns) in extents() {
            // Numbers near the ends of the range do not overflow.
            let far = if epsilon::<T>() < 1e-10 { 2.0_f64.powi(900) } else { 2.0_f64.powi(100) };
            for scale in [1.0, far, 1.0 / far] {
                let mut a = Matrices::<T>::draw(&mut draw, rows, columns, guard());
                let scaled = |z: C64| T::from_complex(z * scale);
                a.elements.iter_mut().for_each(|x| *x = scaled(x.to_complex()));
                let fewer = rows.min(columns);
                let mut buffer = a.on(&device);
                let mut tau = Buffer::<T>::zeroed(&device, COUNT * fewer).unwrap();
                batch::geqrf(a.write(&mut buffer), &mut tau).unwrap();
                let (found, tau, eps) = (a.found(&buffer), tau.to_vec().unwrap(), epsilon::<T>());
                for (k, found) in found.iter().enumerate() {
                    let what = format!("{rows}×{columns} times {scale:e}");
                    // Q is the product of the reflectors on the identity, the last one first.
                    let mut q = identity(rows);
                    for j in (0..fewer).rev() {
                        let entry = |i: usize| match i {
                            _ if i < j => C64::default(),
                            _ if i == j => 1.0.into(),
                            _ => found[i + j * rows],
                        };
                        let v: Vec<C64> = (0..rows).map(entry).collect();
                        let tau = tau[k * fewer + j].to_complex();
                        for column in q.chunks_mut(rows) {
                            let along: C64 = v.iter().zip(&*column).map(|(v, x)| v.conj() * x).sum();
                            v.iter().zip(column).for_each(|(v, x)| *x -= tau * along * v);
                        }
                    }
                    let r: Vec<C64> =
                        triangle_of(rows, found, false, false).iter().map(|z| z / scale).collect();
                    assert!((0..fewer).all(|i| r[i + i * rows].im == 0.0), "{what}: the diagonal is real");
                    let rest = difference(&product(&q, rows, &r, rows), &a.wide[k]);
                    let size = norm1(&a.wide[k], rows);
                    expect_ratio(&format!("{what}: A − Q R"), norm1(&rest, rows), rows as f64 * size * eps);
                    let gram = product(&entering(Op::C, rows, &q), rows, &q, rows);
                    let away = norm1(&difference(&gram, &identity(rows)), rows);
                    expect_ratio(&format!("{what}: 1 − Qᴴ Q"), away, rows as f64 * eps);
                    if scale == 1.0 {
                        let mut twin = a.wide[k].clone();
                        host::qr::factorise(rows, &mut twin);
                        let expected = triangle_of(rows, &twin, false, false);
                        // The last columns are as sensitive as the inverse of the matrix.
                        let distance = norm1(&difference(&r, &expected), rows) / (size * eps);
                        assert!(distance < 1e3, "{what}: {distance} from the twin");
                    }
                }
            }
        }
    }
}

#[test]
fn orthogonal_factors_of_a_batch_meet_the_test_ratios() {
    for_all_elements!(orthogonal_factors());
}

fn triangular_systems<T: Element>() {
    let mut draw = Draw::new(13);
    for device in devices() {
        for &n in if small() { &[1, 5][..] } else { &[1, 3, 17, 64] } {
            for side in [Side::Left, Side::Right] {
                let (op, triangle) =
                    (draw.of(&[Op::N, Op::T, Op::C]), draw.of(&[Triangle::Lower, Triangle::Upper]));
                let (diagonal, lower) =
                    (draw.of(&[Diagonal::Stored, Diagonal::Ones]), triangle == Triangle::Lower);
                let mut a = Matrices::<T>::draw(&mut draw, n, n, nan());
                for (k, i) in (0..COUNT).flat_map(|k| (0..n).map(move |i| (k, i))) {
                    // The diagonal is large, so that X stays small; nothing else is read.
                    let place = |j: usize| k * a.stride + a.layout.index(i, j);
                    (0..n).filter(|&j| (i < j) == lower && i != j).for_each(|j| a.elements[place(j)] = nan());
                    let large = T::from_complex(a.wide[k][i + i * n] / n as f64 + 2.0);
                    a.elements[place(i)] = if diagonal == Diagonal::Ones { nan() } else { large };
                    a.wide[k][i + i * n] = large.to_complex();
                    for j in (0..n).filter(|&j| j != i) {
                        let small = T::from_complex(a.wide[k][i + j * n] / n as f64);
                        if (i > j) == lower {
                            a.elements[place(j)] = small;
                        }
                        a.wide[k][i + j * n] = small.to_complex();
                    }
                }
                let [rows, columns] = if side == Side::Left { [n, 3] } else { [3, n] };
                let b = Matrices::<T>::draw(&mut draw, rows, columns, guard());
                let (on_a, mut on_b) = (a.on(&device), b.on(&device));
                batch::trsm(side, triangle, op, diagonal, 2, a.read(&on_a), b.write(&mut on_b)).unwrap();
                for (k, x) in b.found(&on_b).iter().enumerate() {
                    let t = entering(op, n, &triangle_of(n, &a.wide[k], lower, diagonal == Diagonal::Ones));
                    let back = match side {
                        Side::Left => product(&t, n, x, n),
                        Side::Right => product(x, 3, &t, n),
                    };
                    let wanted: Vec<C64> = b.wide[k].iter().map(|z| 2.0 * z).collect();
                    let what = format!("{side:?} {triangle:?} {op:?} {diagonal:?} {n}");
                    let size = norm1(&t, n) * norm1(x, rows) * epsilon::<T>();
                    expect_ratio(&what, norm1(&difference(&back, &wanted), rows), size);
                }
                batch::trsm(side, triangle, op, diagonal, 0, a.read(&on_a), b.write(&mut on_b)).unwrap();
                assert!(b.found(&on_b).iter().flatten().all(|z| *z == C64::default()), "α = 0 reads nothing");
            }
        }
    }
}

#[test]
fn triangular_systems_of_a_batch_meet_the_test_ratios() {
    for_all_elements!(triangular_systems());
}

#[test]
fn singular_matrices_of_a_batch_are_named_alone() {
    for device in devices() {
        // The second matrix has a zero column, and the third begins with a zero.
        let a = [4.0, 2.0, 1.0, 5.0, 0.0, 0.0, 1.0, 5.0, 0.0, 2.0, 1.0, 5.0];
        let mut buffer = Buffer::from_slice(&device, &a).unwrap();
        let mut pivots = Buffer::<u32>::zeroed(&device, 6).unwrap();
        let view = MatMut::batch(&mut buffer, MatrixLayout::column_major(2, 2), 3, 4).unwrap();
        assert_eq!(batch::getrf(view, &mut pivots).unwrap().wait().unwrap(), [0, 1, 0]);
        assert_eq!(pivots.to_vec().unwrap(), [0, 1, 0, 1, 1, 1]);
        assert_eq!(buffer.to_vec().unwrap(), [4.0, 0.5, 1.0, 4.5, 0.0, 0.0, 1.0, 5.0, 2.0, 0.0, 5.0, 1.0]);
        let view = MatMut::batch(&mut buffer, MatrixLayout::column_major(2, 2), 3, 4).unwrap();
        let mut few = Buffer::<u32>::zeroed(&device, 5).unwrap();
        assert!(matches!(batch::getrf(view, &mut few), Err(BlasError::Shape { wanted: 6, found: 5, .. })));
    }
}
