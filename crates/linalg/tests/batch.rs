//! Batches of small matrices against the test ratios of LAPACK.

mod common;

use common::{C64, Draw, devices, difference, entering, epsilon, guard, nan, norm1, product, small};
use lattice_compute::Buffer;
use lattice_compute::scalar::Element;
use lattice_linalg::factor::batch;
use lattice_linalg::{BlasError, MatMut, MatrixLayout, Op, Triangle, host};

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
