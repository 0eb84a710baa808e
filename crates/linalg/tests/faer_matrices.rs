//! Matrices of `faer` as operands: products and factors of views with gaps, turned round and reversed.

use faer::{Mat, MatRef};
use lattice_compute::{Selector, Team};
use lattice_linalg::Op;
use lattice_linalg::split::factor::{FactorParams, getrf, getrs};
use lattice_linalg::split::{self, HostMatrix, SplitParams};

fn matrix(rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, j| (0.7 * i as f64 + 1.9 * j as f64 + 0.3 * (i * j) as f64).sin())
}

/// The largest difference between A B and C.
fn away(a: MatRef<'_, f64>, b: MatRef<'_, f64>, c: MatRef<'_, f64>) -> f64 {
    assert_eq!((a.nrows(), b.ncols()), c.shape());
    let sum = |i: usize, j: usize| (0..a.ncols()).map(|k| a[(i, k)] * b[(k, j)]).sum::<f64>();
    let all = (0..c.ncols()).flat_map(|j| (0..c.nrows()).map(move |i| (i, j)));
    all.map(|(i, j)| (c[(i, j)] - sum(i, j)).abs()).fold(0.0, f64::max)
}

#[test]
fn products_and_solutions_are_those_of_the_elements() {
    let (large, right) = (matrix(16, 15), matrix(7, 11));
    // Columns with gaps, rows, and columns from the last to the first.
    let views = [large.submatrix(2, 3, 13, 7), large.submatrix(1, 1, 7, 13).transpose(), {
        large.submatrix(0, 5, 13, 7).reverse_cols()
    }];
    for team in [Team::host(), Team::select(Selector::Auto).unwrap()] {
        for view in views {
            let (a, b) = (HostMatrix::from(view), HostMatrix::from(right.as_ref()));
            assert_eq!(a.faer(), view);
            let mut c = HostMatrix::zeros(13, 11);
            let params = SplitParams::default();
            split::gemm(&team, &params, Op::N, Op::N, 1, a.host(), b.host(), 0, c.host_mut()).unwrap();
            assert!(away(view, right.as_ref(), c.faer()) < 1e-13);
        }

        let mut factors = HostMatrix::from(large.submatrix(3, 2, 9, 9));
        (0..9).for_each(|i| factors.faer_mut()[(i, i)] += 3.0);
        let (a, b) = (factors.clone(), matrix(9, 2));
        let (mut x, mut pivots, params) = (HostMatrix::from(b.as_ref()), [0; 9], FactorParams::default());
        assert_eq!(getrf(&team, &params, &mut |_| true, factors.host_mut(), &mut pivots).unwrap(), 0);
        getrs(&team, &params, Op::N, factors.host(), &pivots, x.host_mut()).unwrap();
        assert!(away(a.faer(), x.faer(), b.as_ref()) < 1e-13);
    }
}
