//! Every fused update does what its formula says, on the host and on every team of devices.

use crate::common;

use lattice_cl::Dims;
use lattice_cl::compute::Number;
use lattice_cl::geometry::Lattice;
use lattice_cl::host::random::spinor_field;
use lattice_cl::host::{self, spinor_fields, updates};
use lattice_cl::scalar::{Half, Storage, StoragePrecision};
use lattice_solvers::VectorSpace;
use lattice_solvers::update::{self, BICGSTAB_SOLUTION_AND_RESIDUAL, Formula};
use lattice_solvers::vec::VecSpace;
use num_complex::{Complex, Complex64};
use std::fmt::Debug;

type Spinor = host::Spinor<f64>;

/// Formulas that are not in the list: what is overwritten without being read, terms in any order, four factors.
const OTHERS: [Formula; 2] = [
    formula("unlisted_terms", "w = x; y = x + a y + b z; z = e - a z; h = e + b w; (w, y), (w, w)"),
    formula("unlisted_factors", "h = h + a e - b f + c g - d i; (e, h)"),
];

const fn formula(name: &'static str, text: &'static str) -> Formula {
    match Formula::parse(name, text) {
        Ok(formula) => formula,
        Err(error) => panic!("{}", error.message),
    }
}

/// Extents that are multiples of little; the last has more sites than a part of a sum on the host.
fn lattices() -> Vec<Dims> {
    let extents: &[[usize; 4]] = match common::small() {
        true => &[[4, 2, 2, 4]],
        false => &[[2, 4, 6, 2], [6, 4, 6, 10]],
    };
    extents.iter().map(|extents| Dims::new(*extents).unwrap()).collect()
}

fn flat<T: lattice_cl::Real>(field: &[host::Spinor<T>]) -> Vec<Complex64> {
    field
        .iter()
        .flat_map(|spinor| spinor.0.into_iter().flatten())
        .map(|z: Complex<T>| Complex64::new(z.re.to_f64(), z.im.to_f64()))
        .collect()
}

fn norm(x: &[Complex64]) -> f64 {
    x.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt()
}

/// All updates against plain operations on ordinary vectors in double. `field` makes a vector, `values` reads it.
fn check<T: Storage, S: VectorSpace<Scalar = Number, Error: Debug>>(
    what: &str,
    space: &S,
    field: impl Fn(u64) -> S::Vector,
    values: impl Fn(&S::Vector) -> Vec<host::Spinor<T::Real>>,
) {
    let bound = match T::STORAGE {
        StoragePrecision::Double => 1e-14,
        StoragePrecision::Single => 2e-6,
        StoragePrecision::Half => 5e-4,
    };
    let plain = VecSpace::<Complex64>::new(space.dimension());
    let complex = [(0.7, -1.3), (-0.2, 0.4), (1.1, 0.3), (-0.6, -0.8)].map(|(re, im)| Complex64::new(re, im));
    let real = [0.7, -0.2, 1.1, -0.6].map(Complex64::from);
    // Numbers that are still on the device: a = (p, q) / ((p, q) / a).
    let p_q = space.dot(&field(50), &field(51)).unwrap();
    let of_sums = |a: Complex64| space.quotient(&p_q, &space.quotient(&p_q, &space.scalar(a)));
    let scalar = |a: Complex64| space.scalar(a);
    let kinds: [(&str, _, &dyn Fn(Complex64) -> Number); 3] =
        [("complex", complex, &scalar), ("real", real, &scalar), ("of sums", complex, &of_sums)];
    // Each of the others is a program of its own.
    let others = if T::STORAGE == StoragePrecision::Double { &OTHERS[..] } else { &[] };
    for formula in update::ALL.iter().chain(others) {
        for (kind, values_of_factors, number) in kinds {
            for same in [false, true] {
                if kind != "complex" && (same || formula.factors() == 0) {
                    continue;
                }
                // Vectors that are only read may be the same one.
                let read: Vec<S::Vector> =
                    (0..formula.read()).map(|k| field(if same { 10 } else { 10 + k as u64 })).collect();
                let read: Vec<&S::Vector> =
                    (0..formula.read()).map(|k| if same { &read[0] } else { &read[k] }).collect();
                let mut written: Vec<S::Vector> =
                    (0..formula.written()).map(|k| field(20 + k as u64)).collect();
                let plain_read: Vec<_> = read.iter().map(|x| flat(&values(x))).collect();
                let mut plain_written: Vec<_> = written.iter().map(|x| flat(&values(x))).collect();
                let factors = &values_of_factors[..formula.factors()];
                let expected = plain
                    .update_plainly(
                        formula,
                        &factors.iter().collect::<Vec<_>>(),
                        &plain_read.iter().collect::<Vec<_>>(),
                        &mut plain_written.iter_mut().collect::<Vec<_>>(),
                    )
                    .unwrap();

                let numbers: Vec<Number> = factors.iter().map(|factor| number(*factor)).collect();
                let numbers: Vec<&Number> = numbers.iter().collect();
                let mut targets: Vec<&mut S::Vector> = written.iter_mut().collect();
                let sums = space.update(formula, &numbers, &read, &mut targets).unwrap();
                let what = format!("{what}, {}, factors {kind}, one vector to read: {same}", formula.text());
                for (found, expected) in written.iter().zip(&plain_written) {
                    let found = flat(&values(found));
                    let difference: Vec<_> = found.iter().zip(expected).map(|(x, y)| x - y).collect();
                    let error = norm(&difference) / norm(expected);
                    assert!(error < bound, "{what}: {error:e}");
                }
                let sums = space.read_all(&sums.iter().collect::<Vec<_>>()).unwrap();
                assert_eq!(sums.len(), expected.len(), "{what}");
                let largest = plain_read.iter().chain(&plain_written).map(|x| norm(x)).fold(0.0, f64::max);
                for (found, expected) in sums.iter().zip(&expected) {
                    let error = (found - expected).norm() / largest.powi(2);
                    assert!(error < bound, "{what}: {found} {expected}");
                }
            }
        }
    }
}

fn check_precision<T: Storage>(name: &str, lattice: &Lattice) {
    let dims = lattice.dims();
    let host =
        |seed| -> Vec<host::Spinor<T::Real>> { spinor_field(dims, seed).iter().map(Spinor::cast).collect() };
    let what = format!("{name} {dims} {:?}", T::STORAGE);
    let space = lattice.spinor_space::<T>().unwrap();
    check::<T, _>(
        &what,
        &space,
        |seed| lattice.spinor_from_host(&host(seed)).unwrap(),
        |field| field.to_host().unwrap(),
    );
    let space = lattice.parity_space::<T>(1).unwrap();
    check::<T, _>(
        &format!("{what}, odd sites"),
        &space,
        |seed| lattice.parity_from_host(1, &host(seed)[..dims.volume() / 2]).unwrap(),
        |field| field.to_host().unwrap(),
    );
}

#[test]
fn every_update_does_what_its_formula_says() {
    for dims in lattices() {
        for (name, team) in common::teams() {
            let lattice = Lattice::new(&team, dims).unwrap();
            check_precision::<f64>(&name, &lattice);
            check_precision::<f32>(&name, &lattice);
            check_precision::<Half>(&name, &lattice);
        }
    }
}

#[test]
fn updates_on_the_host_have_the_bits_of_plain_operations() {
    let dims = Dims::new([6, 4, 6, 10]).unwrap();
    let [p, t, q, x, r] = std::array::from_fn(|k| spinor_field(dims, k as u64));
    let [a, b] = [Complex64::new(0.7, -1.3), Complex64::new(-0.2, 0.4)];
    let (mut new_x, mut new_r) = (x.clone(), r.clone());
    let formula = BICGSTAB_SOLUTION_AND_RESIDUAL.formula();
    let sums = updates::update(formula, &[a, b], &[&p, &t, &q], vec![&mut new_x, &mut new_r]);
    let (mut expected_x, mut expected_r) = (x, r.clone());
    spinor_fields::axpy(a, &p, &mut expected_x);
    spinor_fields::axpy(b, &r, &mut expected_x);
    spinor_fields::axpy(-b, &t, &mut expected_r);
    assert_eq!((new_x, new_r), (expected_x, expected_r.clone()));
    assert_eq!(sums, (spinor_fields::dot(&q, &expected_r), spinor_fields::norm2(&expected_r)));
}

/// What kernels make of sums on their device has the bits of what the host makes of the same sums.
#[test]
fn a_number_is_the_same_on_the_host_and_on_devices() {
    // Two, three and four ranks divide it.
    let dims = Dims::new([2, 2, 4, 12]).unwrap();
    let ones = vec![Spinor::from_fn(|_, _| Complex64::from(1.0)); dims.volume()];
    // Neither short nor of one size.
    let sum = |k: u32| Complex64::from_polar(f64::from(k).exp2() / 3.0, 0.7 * f64::from(k * k) + 0.1);
    let combined = |sums: &[Number]| {
        let [a, b, c, d, e, f] = std::array::from_fn(|k| sums[k].clone());
        [
            a.over(&b),
            a.over(&b).over(&c.over(&d)),
            a.conj().over(&Number::from(Complex64::new(-0.3, 1.7))).over(&e),
            a.over(&b).over(&c.over(&d)).over(&e.over(&f)),
            // More than a kernel takes.
            a.over(&b).over(&c.over(&d)).over(&e.over(&f)).over(&a.conj().over(&f.conj())),
        ]
    };
    let on_host = combined(&(0..6).map(|k| Number::of_host(sum(k))).collect::<Vec<_>>());
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() == 1) {
        let lattice = Lattice::new(&team, dims).unwrap();
        let space = lattice.spinor_space::<f64>().unwrap();
        let device = team.device().unwrap();
        let sums: Vec<_> = (0..6).map(|k| Number::on_device(device, sum(k)).unwrap()).collect();
        let x = lattice.spinor_from_host(&ones).unwrap();
        for (k, (there, here)) in combined(&sums).iter().zip(&on_host).enumerate() {
            let value = here.value().unwrap();
            assert_eq!(there.value().unwrap(), value, "{name}, {k}");
            // To the host spins are turned, which rounds.
            let times_ones = [there, here].map(|number| {
                let mut y = space.zero_vector().unwrap();
                space.axpy(number, &x, &mut y).unwrap();
                y.to_host().unwrap()
            });
            assert!(times_ones[0] == times_ones[1], "{name}, {k}");
            assert!((times_ones[0][3].0[1][2] - value).norm() < 1e-14 * value.norm(), "{name}, {k}");
        }
    }
}
