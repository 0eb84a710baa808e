//! Solutions in double precision with factors in single.

use crate::common;

use common::{
    C64, Draw, Held, devices, difference, entering, everywhere, expect_ratio, guard, in_lower, in_upper, nan,
    norm1, product, small,
};
use lattice_compute::{Buffer, Device};
use lattice_linalg::factor::{FallBack, MOST_STEPS, Refined, Wide, mixed_gesv, mixed_posv};
use lattice_linalg::host::level1::Arithmetic;
use lattice_linalg::{BlasError, MatMut, MatRef, MatrixLayout, Op, Triangle, host};
use std::ops::Div;

/// A system with gaps around its matrices; of A only a triangle is there if one is named.
struct System<T> {
    a: Held<T>,
    b: Held<T>,
    x: Held<T>,
    whole: Vec<C64>,
}

impl<T: Wide> System<T> {
    fn new(draw: &mut Draw, n: usize, whole: Vec<C64>, triangle: Option<Triangle>) -> Self {
        let belongs = match triangle {
            None => everywhere,
            Some(Triangle::Lower) => in_lower,
            Some(Triangle::Upper) => in_upper,
        };
        let a = Held::new(draw.layout(n, n), nan(), belongs, |i, j| T::from_complex(whole[i + j * n]));
        let (b_layout, x_layout) = (draw.layout(n, 3), draw.layout(n, 3));
        let b = Held::new(b_layout, nan(), everywhere, |_, _| draw.number());
        let x = Held::new(x_layout, guard(), everywhere, |_, _| guard());
        Self { a, b, x, whole }
    }

    #[track_caller]
    fn solve(&mut self, device: &Device, triangle: Option<Triangle>) -> Refined {
        let on = |held: &Held<T>| Buffer::from_slice(device, &held.elements).unwrap();
        let (a, b, mut x) = (on(&self.a), on(&self.b), on(&self.x));
        let views = (MatRef::new(&a, self.a.layout).unwrap(), MatRef::new(&b, self.b.layout).unwrap());
        let to = MatMut::new(&mut x, self.x.layout).unwrap();
        let refined = match triangle {
            None => mixed_gesv(views.0, views.1, to),
            Some(triangle) => mixed_posv(triangle, views.0, views.1, to),
        };
        self.x.take("X", x.to_vec().unwrap());
        refined.unwrap()
    }

    /// LAPACK's ratio for a solution in double precision.
    #[track_caller]
    fn expect_solved(&self, what: &str) {
        let n = self.a.layout.rows;
        let rest = difference(&product(&self.whole, n, &self.x.wide(), n), &self.b.wide());
        let size = norm1(&self.whole, n) * norm1(&self.x.wide(), n) * f64::EPSILON;
        expect_ratio(&format!("{what}: B − A X"), norm1(&rest, n), size * (n as f64).sqrt());
    }
}

/// A matrix with a large diagonal, Hermitian and positive definite if wanted.
fn matrix<T: Wide>(draw: &mut Draw, n: usize, positive: bool) -> Vec<C64> {
    let mut a: Vec<C64> = (0..n * n).map(|_| draw.number::<T>().to_complex()).collect();
    if positive {
        a = product(&a, n, &entering(Op::C, n, &a), n);
    }
    (0..n).for_each(|i| a[i + i * n] = (a[i + i * n].re + n as f64 / 4.0 + 1.0).into());
    a
}

fn refined_solutions<T: Wide + Arithmetic>()
where
    T::Narrow: Arithmetic + Div<Output = T::Narrow>,
{
    let mut draw = Draw::new(21);
    for device in devices() {
        for &n in if small() { &[1, 5][..] } else { &[1, 5, 33, 130] } {
            for triangle in [None, Some(Triangle::Lower), Some(Triangle::Upper)] {
                let a = matrix::<T>(&mut draw, n, triangle.is_some());
                let mut system = System::<T>::new(&mut draw, n, a, triangle);
                let refined = system.solve(&device, triangle);
                let what = format!("{n} {triangle:?}: {refined:?}");
                assert!(refined.fall_back.is_none() && refined.info == 0 && refined.steps <= 5, "{what}");
                system.expect_solved(&what);
                if triangle.is_none() {
                    let elements = |x: &[C64]| x.iter().map(|&z| T::from_complex(z)).collect::<Vec<T>>();
                    let sides = system.b.wide();
                    for (b, found) in sides.chunks(n).zip(system.x.wide().chunks(n)) {
                        let (x, steps) =
                            host::mixed::solve(n, &elements(&system.whole), &elements(b)).unwrap();
                        assert!(steps.abs_diff(refined.steps) <= 2, "{what}: the twin takes {steps}");
                        let x: Vec<C64> = x.iter().map(|x| x.to_complex()).collect();
                        let distance = norm1(&difference(&x, found), n) / norm1(&x, n);
                        assert!(distance < 1e-12, "{what}: {distance} from the twin");
                    }
                }
            }
        }
    }
}

#[test]
fn solutions_are_as_good_as_in_double_precision() {
    refined_solutions::<f64>();
    refined_solutions::<num_complex::Complex<f64>>();
}

#[test]
fn what_single_precision_cannot_solve_is_solved_in_double() {
    let (mut draw, n) = (Draw::new(22), 20);
    for device in devices() {
        // Two rows that differ only in double precision.
        let mut close = matrix::<f64>(&mut draw, n, false);
        (0..n).for_each(|j| close[1 + j * n] = close[j * n] * (1.0 + 1e-11 * (j as f64 - 3.0)));
        let mut system = System::<f64>::new(&mut draw, n, close, None);
        let refined = system.solve(&device, None);
        let given_up = matches!(
            refined.fall_back,
            Some(FallBack::Steps(MOST_STEPS) | FallBack::Factorisation(_) | FallBack::Overflow)
        );
        assert!(given_up && refined.info == 0, "{refined:?}");
        system.expect_solved("two close rows");

        let large = matrix::<f64>(&mut draw, n, true).into_iter().map(|z| z * 1e200).collect();
        let mut system = System::<f64>::new(&mut draw, n, large, Some(Triangle::Lower));
        let refined = system.solve(&device, Some(Triangle::Lower));
        assert_eq!(refined, Refined { steps: 0, fall_back: Some(FallBack::Overflow), info: 0 });
        system.expect_solved("large numbers");

        let mut singular = matrix::<f64>(&mut draw, n, false);
        singular[7 * n..8 * n].fill(C64::default());
        let mut system = System::<f64>::new(&mut draw, n, singular, None);
        let refined = system.solve(&device, None);
        assert_eq!(refined, Refined { steps: 0, fall_back: Some(FallBack::Factorisation(8)), info: 8 });
        assert_eq!(system.x.wide(), system.b.wide(), "X is B if there is no solution");
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    for device in devices() {
        let buffer = Buffer::from_slice(&device, &[1.0; 12]).unwrap();
        let mut to = Buffer::from_slice(&device, &[1.0; 12]).unwrap();
        let view = |rows, columns| MatRef::new(&buffer, MatrixLayout::column_major(rows, columns)).unwrap();
        let x = MatMut::new(&mut to, MatrixLayout::column_major(3, 2)).unwrap();
        assert!(matches!(
            mixed_gesv(view(3, 3), view(3, 1), x),
            Err(BlasError::Shape { wanted: 2, found: 1, .. })
        ));
        let x = MatMut::new(&mut to, MatrixLayout::column_major(3, 2)).unwrap();
        assert!(matches!(mixed_gesv(view(3, 2), view(3, 2), x), Err(BlasError::NotSquare { .. })));
    }
}
