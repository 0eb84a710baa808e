//! Ordinary vectors: every type of components, by every kind of method.

use lattice_solvers::vec::{Component, VecSpace, from_fn};
use lattice_solvers::*;
use num_complex::{Complex, Complex64};

const N: usize = 40;

/// Makes an operator with 2 on the diagonal, and the given numbers beside it.
fn tridiagonal<T: Component>(below: f64, above: f64) -> impl Fn(&[T], &mut [T]) {
    move |x, out| {
        for i in 0..x.len() {
            let mut sum = T::multiply_add(2.0.into(), x[i], T::ZERO);
            if i > 0 {
                sum = T::multiply_add(below.into(), x[i - 1], sum);
            }
            if i + 1 < x.len() {
                sum = T::multiply_add(above.into(), x[i + 1], sum);
            }
            out[i] = sum;
        }
    }
}

/// Returns the solution of T x = 1 by elimination.
fn expected(below: f64, above: f64) -> Vec<f64> {
    let (mut diagonal, mut x) = (vec![2.0; N], vec![1.0; N]);
    for i in 1..N {
        let factor = below / diagonal[i - 1];
        diagonal[i] -= factor * above;
        x[i] -= factor * x[i - 1];
    }
    for i in (0..N).rev() {
        let next = if i + 1 < N { above * x[i + 1] } else { 0.0 };
        x[i] = (x[i] - next) / diagonal[i];
    }
    x
}

fn check<T: Component>(one: T, tolerance: f64) {
    let stopping = Stopping::default().with_tolerance(tolerance);
    let b = vec![one; N];
    let near = |x: &[T], expected: &[f64]| {
        let largest = expected.iter().copied().fold(0.0, f64::max);
        let error = |(x, expected): (&T, &f64)| (x.to_complex() - expected).norm();
        let error = x.iter().zip(expected).map(error).fold(0.0, f64::max);
        assert!(error < 1e3 * tolerance * largest, "{error:e} of {largest}");
    };
    let laplacian = from_fn(N, tridiagonal::<T>(-1.0, -1.0)).with_work(Work { flops: 3, bytes: 2 });
    let (x, info) =
        conjugate_gradient(&laplacian, &b, None, &CgOptions::default().with_stopping(stopping), None, None)
            .unwrap();
    near(&x, &expected(-1.0, -1.0));
    assert!(info.work.flops > 3 * info.iterations as u64);
    let skewed = from_fn(N, tridiagonal::<T>(-1.2, -0.5));
    let options = BicgstabOptions::default().with_stopping(stopping);
    let (x, _) = bicgstab(&skewed, &b, None, &options, None).unwrap();
    near(&x, &expected(-1.2, -0.5));
    assert_eq!(skewed.space(), &VecSpace::new(N));
}

#[test]
fn every_type_of_components() {
    check(1f64, 1e-10);
    check(Complex64::ONE, 1e-10);
    check(1f32, 1e-5);
    check(Complex::<f32>::ONE, 1e-5);
}

#[test]
fn real_vectors_take_real_parts() {
    let space = VecSpace::<f64>::new(2);
    let (x, mut y) = (vec![1.0, 2.0], vec![10.0, 20.0]);
    let Ok(()) = space.axpy(&Complex64::new(3.0, 5.0), &x, &mut y);
    assert_eq!(y, [13.0, 26.0]);
    let Ok(()) = space.xpby(&x, &Complex64::new(2.0, 0.0), &mut y);
    assert_eq!(y, [27.0, 54.0]);
    assert_eq!((space.dimension(), space.component_bytes()), (2, 8));
}
