//! Arrays of `ndarray` as operands: products and factors of either order, and what has gaps.

use lattice_compute::{Selector, Team};
use lattice_linalg::split::factor::{FactorParams, getrf, getrs};
use lattice_linalg::split::{self, HostMut, HostRef, SplitParams};
use lattice_linalg::{BlasError, Op};
use ndarray::{Array2, ShapeBuilder, s};

fn array(rows: usize, columns: usize, by_columns: bool) -> Array2<f64> {
    let element = |(i, j): (usize, usize)| (0.7 * i as f64 + 1.9 * j as f64 + 0.3 * (i * j) as f64).sin();
    Array2::from_shape_fn((rows, columns).set_f(by_columns), element)
}

#[test]
fn products_and_solutions_are_those_of_ndarray() {
    for team in [Team::host(), Team::select(Selector::Auto).unwrap()] {
        for orders in 0..8 {
            let by_columns = |bit: usize| orders >> bit & 1 == 1;
            let (a, b) = (array(13, 7, by_columns(0)), array(7, 11, by_columns(1)));
            let mut c = Array2::zeros((13, 11).set_f(by_columns(2)));
            let (from_a, from_b) = (a.view().try_into().unwrap(), b.view().try_into().unwrap());
            let to = c.view_mut().try_into().unwrap();
            split::gemm(&team, &SplitParams::default(), Op::N, Op::N, 1, from_a, from_b, 0, to).unwrap();
            assert!((&c - a.dot(&b)).iter().all(|x| x.abs() < 1e-13), "orders {orders}");

            let matrix = array(9, 9, by_columns(0)) + Array2::<f64>::eye(9) * 3.0;
            let mut x = array(9, 2, by_columns(1));
            let (mut factors, right, mut pivots) = (matrix.clone(), x.clone(), [0; 9]);
            let params = FactorParams::default();
            let to = factors.view_mut().try_into().unwrap();
            assert_eq!(getrf(&team, &params, &mut |_| true, to, &mut pivots).unwrap(), 0);
            let from = factors.view().try_into().unwrap();
            getrs(&team, &params, Op::N, from, &pivots, x.view_mut().try_into().unwrap()).unwrap();
            assert!((matrix.dot(&x) - right).iter().all(|x| x.abs() < 1e-13), "orders {orders}");
        }
    }
}

#[test]
fn views_with_gaps_are_refused() {
    let mut a = array(6, 6, false);
    let error = HostRef::try_from(a.slice(s![.., 1..4])).unwrap_err();
    assert!(matches!(error, BlasError::Gaps { rows: 6, columns: 3 }), "{error}");
    let error = HostMut::try_from(a.slice_mut(s![..;2, ..])).unwrap_err();
    assert!(matches!(error, BlasError::Gaps { rows: 3, columns: 6 }), "{error}");
}
