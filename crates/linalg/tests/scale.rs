//! Every dense kernel of the host gives s to some power times its result if its matrix is multiplied by s.
//!
//! The table below has the kernels. A kernel that is added belongs there.

use crate::common;

use common::{C64, Draw, devices, epsilon};
use lattice_compute::scalar::{Element, Precision, Real};
use lattice_compute::{Buffer, Selector, Team};
use lattice_linalg::factor::{Cholesky, Eigenvectors, Lu, Qr, Wide, batch};
use lattice_linalg::host::level1::{self, Arithmetic};
use lattice_linalg::host::{cholesky, jacobi, lu, mixed, qr, secular, triangular, tridiagonal};
use lattice_linalg::sparse::precondition::{AmgOptions, Substitution};
use lattice_linalg::sparse::solve::{Kind, SolveOptions, condition_estimate, solve};
use lattice_linalg::sparse::{Csr, Processor};
use lattice_linalg::split::factor::{Divisible, FactorParams, getrf, getrs, potrf, potrs};
use lattice_linalg::split::{HostMut, HostRef};
use lattice_linalg::{MatMut, MatRef, MatrixLayout, Op, Triangle};
use lattice_solvers::range::{complex_times_power, times_power};
use lattice_solvers::{SquareMatrix, Stopping, tridiagonal_eigen};
use num_complex::Complex;
use std::ops::Div;

const ROWS: usize = 7;
const COLUMNS: usize = 5;

/// Numbers of a result, which are multiplied by s^(halves/2).
struct Scaled {
    halves: i32,
    numbers: Vec<C64>,
}

fn scaled<T: Element>(halves: i32, numbers: impl IntoIterator<Item = T>) -> Scaled {
    Scaled { halves, numbers: numbers.into_iter().map(Element::to_complex).collect() }
}

/// The matrices that kernels are given, column after column.
struct Matrices<T> {
    tall: Vec<T>,
    square: Vec<T>,
    /// Hermitian, positive definite, and far from diagonal.
    positive: Vec<T>,
    right_side: Vec<T>,
}

impl<T: Element> Matrices<T> {
    /// Makes matrices times 2ᵏ; the right-hand side stays as it is.
    fn new(power: i32) -> Self {
        let mut draw = Draw::new(3);
        let mut numbers = |count| (0..count).map(|_| draw.number::<T>().to_complex()).collect::<Vec<C64>>();
        let (tall, mut square) = (numbers(ROWS * COLUMNS), numbers(ROWS * ROWS));
        let right_side = numbers(ROWS);
        (0..ROWS).for_each(|k| square[k * (ROWS + 1)] += 2.0);
        let element = |i: usize, j: usize| {
            let sum: C64 = (0..ROWS).map(|k| square[k + i * ROWS].conj() * square[k + j * ROWS]).sum();
            sum + f64::from(u8::from(i == j))
        };
        let positive: Vec<C64> = (0..ROWS * ROWS).map(|k| element(k % ROWS, k / ROWS)).collect();
        // Rounded before they are multiplied, so that all have the same digits.
        let of = |numbers: &[C64], power| {
            let rounded = numbers.iter().map(|z| T::from_complex(*z).to_complex());
            rounded.map(|z| T::from_complex(complex_times_power(z, power))).collect()
        };
        Self {
            tall: of(&tall, power),
            square: of(&square, power),
            positive: of(&positive, power),
            right_side: of(&right_side, 0),
        }
    }
}

type Kernel<T> = (&'static str, fn(&Matrices<T>) -> Vec<Scaled>);

/// The kernels for elements of all types.
fn kernels<T: Divisible>() -> Vec<Kernel<T>> {
    vec![
        ("nrm2", |m| vec![scaled(2, [level1::nrm2(&m.tall)])]),
        ("asum", |m| vec![scaled(2, [level1::asum(&m.tall)])]),
        ("iamax", |m| vec![scaled(0, level1::iamax(&m.tall).map(|place| place as f64))]),
        ("QR", |m| {
            let mut a = m.tall.clone();
            let tau = qr::factorise(ROWS, &mut a);
            let mut column = m.right_side.clone();
            qr::apply(Op::C, ROWS, &a, &tau, &mut column);
            let upper = |k: &usize| k % ROWS <= k / ROWS;
            let (r, v): (Vec<usize>, Vec<usize>) = (0..a.len()).partition(upper);
            let of = |places: Vec<usize>| places.into_iter().map(|k| a[k]).collect::<Vec<T>>();
            vec![scaled(2, of(r)), scaled(0, of(v)), scaled(0, tau), scaled(0, column)]
        }),
        ("LU", |m| {
            let mut a = m.square.clone();
            let (pivots, info) = lu::factorise(ROWS, &mut a);
            let upper = |k: &usize| k % ROWS <= k / ROWS;
            let (u, l): (Vec<usize>, Vec<usize>) = (0..a.len()).partition(upper);
            let of = |places: Vec<usize>| places.into_iter().map(|k| a[k]).collect::<Vec<T>>();
            let pivots = pivots.into_iter().map(f64::from).chain([info as f64]);
            vec![scaled(2, of(u)), scaled(0, of(l)), scaled(0, pivots)]
        }),
        ("Cholesky", |m| {
            let mut a = m.positive.clone();
            assert_eq!(cholesky::factorise(ROWS, &mut a), 0);
            vec![scaled(1, (0..a.len()).filter(|k| k % ROWS >= k / ROWS).map(|k| a[k]))]
        }),
        ("triangular solve", |m| {
            let mut x = m.right_side.clone();
            triangular::solve(false, 1, |i, j| m.square[i + j * ROWS], &mut x, ROWS);
            vec![scaled(-2, x)]
        }),
        ("reduction to a tridiagonal matrix", |m| {
            let mut a = m.positive.clone();
            let found = tridiagonal::reduce(ROWS, &mut a);
            vec![scaled(2, found.diagonal), scaled(2, found.beside), scaled(0, found.tau)]
        }),
        ("singular values", |m| {
            let wide: Vec<C64> = m.tall.iter().map(|x| x.to_complex()).collect();
            let found = jacobi::decompose(ROWS, &wide).unwrap();
            vec![scaled(2, found.values), scaled(0, found.u), scaled(0, found.v)]
        }),
        ("eigenvalues", |m| {
            let a = SquareMatrix::from_fn(ROWS, |i, j| m.positive[i + j * ROWS].to_complex());
            let found = a.hermitian_eigen().unwrap();
            let alone = a.hermitian_eigenvalues().unwrap();
            vec![
                scaled(2, found.values),
                scaled(0, found.vectors.elements().iter().copied()),
                scaled(2, alone),
            ]
        }),
        ("QL", |m| {
            let mut diagonal: Vec<f64> = m.tall.iter().map(|x| x.real_part().to_f64()).collect();
            let mut beside: Vec<f64> = diagonal.iter().rev().copied().collect();
            tridiagonal_eigen(&mut diagonal, &mut beside, &mut []).unwrap();
            vec![scaled(2, diagonal)]
        }),
        ("secular equation", |m| {
            let mut d: Vec<f64> = m.tall.iter().map(|x| x.real_part().to_f64()).collect();
            d.sort_by(f64::total_cmp);
            let rho = d[d.len() - 1].abs();
            let weights: Vec<f64> = (1..=d.len()).map(|k| 1.0 / (k * k) as f64).collect();
            let roots: Vec<_> = (0..d.len()).map(|j| secular::root(&d, &weights, rho, j)).collect();
            vec![
                scaled(2, roots.iter().map(|root| root.distance)),
                scaled(1, secular::exact_weights(&d, &roots)),
            ]
        }),
        ("norms of columns", |m| {
            let a = SquareMatrix::from_fn(ROWS, |i, j| m.square[i + j * ROWS].to_complex());
            vec![scaled(2, a.column_norms())]
        }),
        ("small Cholesky", |m| {
            let a = SquareMatrix::from_fn(ROWS, |i, j| m.positive[i + j * ROWS].to_complex());
            let found = a.cholesky(1e-14);
            let inverse = found.inverse_of_product();
            vec![
                scaled(1, found.factor.elements().iter().copied()),
                scaled(-1, found.inverse.elements().iter().copied()),
                scaled(-2, inverse.elements().iter().copied()),
                scaled(0, found.independent),
            ]
        }),
        ("small triangular inverse", |m| {
            let element = |i: usize, j: usize| m.square[i + j * ROWS].to_complex();
            let a = SquareMatrix::from_fn(ROWS, |i, j| if i <= j { element(i, j) } else { C64::default() });
            vec![scaled(-2, a.triangular_inverse().elements().iter().copied())]
        }),
        ("LU of a host matrix", |m| {
            let (team, params) = (host(), FactorParams::default());
            let (mut a, mut x, mut pivots) = (m.square.clone(), m.right_side.clone(), vec![0; ROWS]);
            let (layout, one) = (MatrixLayout::column_major(ROWS, ROWS), MatrixLayout::column_major(ROWS, 1));
            let to = HostMut::new(&mut a, layout).unwrap();
            assert_eq!(getrf(&team, &params, &mut |_| true, to, &mut pivots).unwrap(), 0);
            let (factors, b) = (HostRef::new(&a, layout).unwrap(), HostMut::new(&mut x, one).unwrap());
            getrs(&team, &params, Op::N, factors, &pivots, b).unwrap();
            vec![scaled(-2, x)]
        }),
        ("Cholesky of a host matrix", |m| {
            let (team, params) = (host(), FactorParams::default());
            let (mut a, mut x) = (m.positive.clone(), m.right_side.clone());
            let (layout, one) = (MatrixLayout::column_major(ROWS, ROWS), MatrixLayout::column_major(ROWS, 1));
            let to = HostMut::new(&mut a, layout).unwrap();
            assert_eq!(potrf(&team, &params, &mut |_| true, Triangle::Lower, to).unwrap(), 0);
            let (factor, b) = (HostRef::new(&a, layout).unwrap(), HostMut::new(&mut x, one).unwrap());
            potrs(&team, &params, Triangle::Lower, factor, b).unwrap();
            vec![scaled(-2, x)]
        }),
        ("sparse, Jacobi", |m| sparse(m, Kind::Jacobi)),
        ("sparse, block Jacobi", |m| sparse(m, Kind::BlockJacobi(Some(3)))),
        ("sparse, ILU", |m| sparse(m, Kind::Ilu0(Substitution::Levels))),
        ("sparse, IC", |m| sparse(m, Kind::Ic0(Substitution::Levels))),
        ("sparse, multigrid", |m| sparse(m, Kind::Amg)),
        ("condition of a sparse matrix", |m| {
            let options = SolveOptions::default().with_stopping(stopping::<T>());
            let matrix = csr(&m.positive);
            vec![scaled(0, condition_estimate(&[Processor::Host], matrix, &options, None).unwrap())]
        }),
    ]
}

/// The kernel that has factors in single precision.
fn mixed_kernel<T: Wide>() -> Kernel<T>
where
    T::Narrow: Arithmetic + Div<Output = T::Narrow>,
{
    ("factors in single precision", |m| {
        vec![scaled(-2, mixed::solve(ROWS, &m.square, &m.right_side).unwrap().0)]
    })
}

fn host() -> Team {
    Team::select([Selector::Host]).unwrap()
}

fn stopping<T: Element>() -> Stopping {
    let tolerance = if T::Real::PRECISION == Precision::Single { 1e-5 } else { 1e-13 };
    Stopping::default().with_tolerance(tolerance)
}

fn csr<T: Arithmetic>(a: &[T]) -> Csr<T> {
    Csr::from_rows(ROWS, (0..ROWS).map(|i| (0..ROWS).map(move |j| (j as u32, a[i + j * ROWS]))))
}

fn sparse<T: Arithmetic>(m: &Matrices<T>, kind: Kind) -> Vec<Scaled> {
    // Multigrid shall have two levels.
    let amg = AmgOptions::default().with_coarse_rows(3);
    let options =
        SolveOptions::default().with_preconditioner(Some(kind)).with_stopping(stopping::<T>()).with_amg(amg);
    let solved = solve(&Processor::Host, csr(&m.positive), &m.right_side, &options, None).unwrap();
    assert!(solved.converged, "{kind}: {} {:?}", solved.true_residual, solved.warnings);
    vec![scaled(-2, solved.x)]
}

#[track_caller]
fn check<T: Element>(kernels: Vec<Kernel<T>>, powers: &[i32]) {
    let ordinary = Matrices::<T>::new(0);
    for (name, kernel) in kernels {
        let expected = kernel(&ordinary);
        for &power in powers {
            let found = kernel(&Matrices::new(power));
            assert_eq!(found.len(), expected.len(), "{name}");
            for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let what = format!("{name}, result {number}, times 2^{power}");
                assert_eq!(found.numbers.len(), expected.numbers.len(), "{what}");
                let size = expected.numbers.iter().map(|z| z.norm()).fold(0.0, f64::max);
                for (found, wanted) in found.numbers.iter().zip(&expected.numbers) {
                    let found = complex_times_power(*found, -power / 2 * expected.halves);
                    let apart = (found - wanted).norm();
                    assert!(apart <= 1e3 * epsilon::<T>() * size, "{what}: {found} {wanted}");
                }
            }
        }
    }
}

#[test]
fn kernels_of_the_host_have_the_scale_of_their_matrices() {
    let (of_double, of_single) = ([-1000, -700, -450, 450, 700, 1000], [-110, -70, 70, 110]);
    check::<f64>([kernels(), vec![mixed_kernel()]].concat(), &of_double);
    check::<C64>([kernels(), vec![mixed_kernel()]].concat(), &of_double);
    check::<f32>(kernels(), &of_single);
    check::<Complex<f32>>(kernels(), &of_single);
}

/// Singular values and eigenvalues of plain matrices that have fewer directions than columns.
#[test]
fn matrices_of_small_rank_have_singular_values_and_eigenvalues() {
    let vector = |n: usize, k: usize| (0..n).map(|i| ((i * i + k) as f64).sin()).collect::<Vec<f64>>();
    let product = |rows, columns| {
        let (u, v) = (vector(rows, 1), vector(columns, 5));
        (0..rows * columns).map(|k| u[k % rows] * v[k / rows]).collect::<Vec<f64>>()
    };
    let cases = [
        ("ones 21×6", 21, vec![1.0; 126], 1),
        ("ones 40×30", 40, vec![1.0; 1200], 1),
        ("ones 6×6", 6, vec![1.0; 36], 1),
        ("u vᵀ 7×5", 7, product(7, 5), 1),
        ("u vᵀ 12×12", 12, product(12, 12), 1),
        ("two columns three times", 9, [vector(9, 1), vector(9, 4)].concat().repeat(3), 2),
        ("a column and zeros", 5, [vector(5, 2), vec![0.0; 15]].concat(), 1),
        ("whole numbers", 4, (0..16).map(f64::from).collect(), 2),
        ("sums of rows and columns", 30, (0..750).map(|k| (k % 30 + k / 30) as f64).collect(), 2),
        ("zeros", 4, vec![0.0; 12], 0),
        ("one column", 6, vector(6, 3), 1),
        ("one element", 1, vec![-3.0], 1),
    ];
    for (name, rows, real, rank) in cases {
        for (phase, power) in
            [(C64::from(1.0), 0), (C64::new(0.6, 0.8), 0), (C64::from(1.0), -1020), (1.0.into(), 1000)]
        {
            let a: Vec<C64> = real.iter().map(|&x| complex_times_power(phase * x, power)).collect();
            let what = format!("{name}, {phase} 2^{power}");
            let columns = a.len() / rows;
            let found = jacobi::decompose(rows, &a).expect(&what);
            let unit = |x: f64| times_power(x, -power);
            let (values, largest) = (&found.values, unit(found.values[0]).max(f64::MIN_POSITIVE));
            assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{what}: {values:?}");
            let least = 1e-13 * largest;
            assert_eq!(
                values.iter().filter(|&&value| unit(value) > least).count(),
                rank,
                "{what}: {values:?}"
            );
            // A = U Σ Vᴴ with orthonormal columns of U and V.
            let v_of = |row: usize, k: usize| found.v[row + k * columns];
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let terms = (0..columns).map(|k| found.u[i + k * rows] * unit(values[k]) * v_of(j, k).conj());
                let apart = (terms.sum::<C64>() - complex_times_power(a[i + j * rows], -power)).norm();
                assert!(apart <= 1e-13 * largest, "{what}: {i}, {j}: {apart:e}");
            }
            for (length, vectors) in [(rows, &found.u), (columns, &found.v)] {
                for (k, l) in (0..columns).flat_map(|k| (0..=k).map(move |l| (k, l))) {
                    let [one, two] = [k, l].map(|k| &vectors[k * length..(k + 1) * length]);
                    let product: C64 = one.iter().zip(two).map(|(one, two)| one.conj() * two).sum();
                    assert!(
                        (product - f64::from(u8::from(k == l))).norm() < 1e-13,
                        "{what}: {k}, {l}: {product}"
                    );
                }
            }
            // AᴴA in the unit of A has the squares as eigenvalues.
            let gram = SquareMatrix::from_fn(columns, |k, l| {
                let at = |i: usize, j: usize| complex_times_power(a[i + j * rows], -power);
                (0..rows).map(|i| at(i, k).conj() * at(i, l)).sum()
            });
            let eigen = gram.hermitian_eigen().expect(&what);
            for (eigenvalue, value) in eigen.values.iter().rev().zip(values) {
                let apart = (eigenvalue - unit(*value).powi(2)).abs();
                assert!(apart <= 1e-12 * largest * largest, "{what}: {eigenvalue} {value}");
            }
        }
    }
    // The smallest numbers that there are.
    let least = f64::from_bits(1);
    let values = jacobi::decompose(2, &[3.0 * least, 4.0 * least, 0.0, 0.0].map(C64::from)).unwrap().values;
    assert_eq!(values, [5.0 * least, 0.0]);
    let a = SquareMatrix::from_fn(2, |i, j| if i == j { C64::default() } else { least.into() });
    assert_eq!(a.hermitian_eigenvalues().unwrap(), [-least, least]);
    // A short column beside a long one keeps its digits.
    let values = jacobi::decompose(2, &[1.0, 1.0, 1e-200, -1e-200].map(C64::from)).unwrap().values;
    assert!((values[1] / 2.0_f64.sqrt() / 1e-200 - 1.0).abs() < 1e-15, "{values:?}");
}

fn on_devices<T: Element>(powers: &[i32]) {
    for device in devices() {
        let layout = MatrixLayout::column_major(ROWS, ROWS);
        let of = |power: i32| -> Vec<Scaled> {
            let m = Matrices::<T>::new(power);
            let [square, positive] =
                [&m.square, &m.positive].map(|a| Buffer::from_slice(&device, a).unwrap());
            let [square, positive] = [&square, &positive].map(|a| MatRef::new(a, layout).unwrap());
            let conditions = [
                Lu::new(square).unwrap().condition().unwrap(),
                Qr::new(square).unwrap().condition().unwrap(),
                Cholesky::new(Triangle::Lower, positive).unwrap().condition().unwrap(),
            ];
            let mut found = vec![scaled(0, conditions)];
            for singular in [false, true] {
                let mut a =
                    Buffer::from_slice(&device, if singular { &m.square } else { &m.positive }).unwrap();
                let mut values = Buffer::<T::Real>::zeroed(&device, ROWS).unwrap();
                let view = MatMut::new(&mut a, layout).unwrap();
                let info = if singular {
                    batch::gesvj(view, &mut values, None).unwrap()
                } else {
                    batch::heev(Triangle::Lower, Eigenvectors::Without, view, &mut values).unwrap()
                };
                assert_eq!(info.wait().unwrap(), [0], "2^{power} on {}", device.label());
                found.push(scaled(2, values.to_vec().unwrap().into_iter().map(Real::to_f64)));
            }
            found
        };
        let expected = of(0);
        for &power in powers {
            for (found, expected) in of(power).iter().zip(&expected) {
                for (found, wanted) in found.numbers.iter().zip(&expected.numbers) {
                    let found = complex_times_power(*found, -power / 2 * expected.halves);
                    let apart = (found - wanted).norm() / wanted.norm();
                    assert!(
                        apart <= 1e3 * epsilon::<T>(),
                        "2^{power} on {}: {found} {wanted}",
                        device.label()
                    );
                }
            }
        }
    }
}

#[test]
fn conditions_and_batches_of_devices_have_the_scale_of_their_matrices() {
    on_devices::<f64>(&[-1000, -450, 450, 1000]);
    on_devices::<C64>(&[-1000, 1000]);
    on_devices::<Complex<f32>>(&[-110, 110]);
}
