//! What is true of the Wilson operator on any gauge field, on the host and on every device.

use crate::common;

use common::spinors::{Spinor, distance};
use lattice_cl::compute::Team;
use lattice_cl::geometry::{Boundary, Lattice, Theta};
use lattice_cl::host::random::{gauge_transformation, hot, spinor_field, transform_links, transform_spinor};
use lattice_cl::host::{self, LinkField, Matrix3, gamma};
use lattice_cl::operator::{Coupling, Dirac, Kappa, Mass};
use lattice_cl::scalar::{Half, Storage, StoragePrecision};
use lattice_cl::{Dims, GaugeConfiguration, Real};
use lattice_solvers::update::{
    BICGSTAB_DIRECTION, BICGSTAB_SOLUTION_AND_RESIDUAL, DIRECTION_AND_IMAGE, RESIDUAL,
    SOLUTION_AND_DIRECTION, SOLUTION_AND_RESIDUAL, SOLUTION_DIRECTION_AND_IMAGE,
};
use lattice_solvers::{Advance, BlockSpace, SquareMatrix, VectorSpace};
use num_complex::Complex64;
use std::fmt::Debug;

/// Extents that are multiples of little; under a simulator the smallest that still have lanes and faces.
fn lattices() -> Vec<Dims> {
    let extents: &[[usize; 4]] = match common::small() {
        true => &[[2, 2, 2, 2], [4, 2, 2, 4]],
        // Three and four ranks divide all of them.
        false => &[[2, 4, 6, 8], [4, 6, 2, 10], [8, 4, 4, 4], [2, 2, 2, 4]],
    };
    extents.iter().map(|extents| Dims::new(*extents).unwrap()).collect()
}

fn boundaries() -> [Boundary; 4] {
    let signs = Boundary::from_signs([-1, 1, -1, -1]).unwrap();
    let twisted = signs.twisted(Theta::new([0.3, -0.2, 0.5, 0.1]).unwrap());
    [Boundary::periodic(), Boundary::antiperiodic_t(), signs, twisted]
}

/// M ψ, M†ψ or γ5Mψ in precision `T` on a team, as double on the host.
fn on_team<T: Real>(
    team: &Team,
    configuration: &GaugeConfiguration,
    boundary: Boundary,
    coupling: impl Into<Coupling>,
    which: &str,
    psi: &[Spinor],
) -> Vec<Spinor> {
    let lattice = Lattice::new(team, configuration.dims()).unwrap();
    let links = lattice.gauge::<T>(configuration, boundary).unwrap();
    let wilson = Dirac::wilson(&links, coupling).unwrap();
    let operator = match which {
        "M" => wilson,
        "M†" => wilson.adjoint().unwrap(),
        "γ5M" => wilson.times_gamma5().unwrap(),
        _ => unreachable!(),
    };
    let psi: Vec<host::Spinor<T>> = psi.iter().map(Spinor::cast).collect();
    let psi = lattice.spinor_from_host(&psi).unwrap();
    let mut out = lattice.spinor().unwrap();
    operator.apply(&psi, &mut out).unwrap();
    out.to_host().unwrap().iter().map(host::Spinor::cast).collect()
}

/// The twin, written out once more here from the definition, spin matrices and all.
fn by_definition(
    configuration: &GaugeConfiguration,
    boundary: Boundary,
    kappa: f64,
    dagger: bool,
    psi: &[Spinor],
) -> Vec<Spinor> {
    let dims = configuration.dims();
    let links = LinkField::<f64>::new(configuration, boundary);
    let times = |u: Matrix3<f64>, psi: &Spinor| host::Spinor(psi.0.map(|colours| u.times(&colours)));
    let combine = |a: Spinor, factor: f64, b: Spinor| Spinor::from_fn(|s, c| a.0[s][c] + b.0[s][c] * factor);
    let sign = if dagger { 1.0 } else { -1.0 };
    (0..dims.volume())
        .map(|x| {
            let mut sum = Spinor::default();
            for mu in 0..4 {
                let (ahead, behind) = (dims.forward(x, mu), dims.backward(x, mu));
                let forward = times(*links.link(x, mu), &psi[ahead]);
                let backward = times(links.link(behind, mu).adjoint(), &psi[behind]);
                let turned = gamma::spin_times(&gamma::GAMMA[mu], &combine(forward, -1.0, backward));
                sum = combine(combine(combine(sum, 1.0, forward), 1.0, backward), sign, turned);
            }
            combine(psi[x], -kappa, sum)
        })
        .collect()
}

fn dot(a: &[Spinor], b: &[Spinor]) -> Complex64 {
    a.iter().zip(b).flat_map(|(a, b)| (0..12).map(|k| a.component(k).conj() * b.component(k))).sum()
}

#[test]
fn every_team_agrees_with_the_definition() {
    let forms = [("M", false), ("M†", true), ("γ5M", false)];
    for (turn, dims) in lattices().into_iter().enumerate() {
        let configuration = hot(dims, 1);
        let psi = spinor_field(dims, 2);
        for boundary in boundaries() {
            for (name, team) in common::teams() {
                // Compiling the kernels is what takes the time: every form on two lattices, in single precision on the first.
                let forms = if turn < 2 { &forms[..] } else { &forms[..1] };
                for (k, &(which, dagger)) in forms.iter().enumerate() {
                    let mut expected = by_definition(&configuration, boundary, 0.137, dagger, &psi);
                    if which == "γ5M" {
                        expected.iter_mut().for_each(|psi| *psi = gamma::spin_times(&gamma::GAMMA5, psi));
                    }
                    let double = on_team::<f64>(&team, &configuration, boundary, Kappa(0.137), which, &psi);
                    let error = distance(&double, &expected);
                    assert!(error < 1e-15, "{name} {dims} {boundary} {which} double: {error:e}");
                    if k > 0 && turn > 0 {
                        continue;
                    }
                    let single = on_team::<f32>(&team, &configuration, boundary, Kappa(0.137), which, &psi);
                    let error = distance(&single, &expected);
                    assert!(
                        error < 3e-7 && error > 0.0,
                        "{name} {dims} {boundary} {which} single: {error:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn mass_form_is_the_kappa_form_divided_by_two_kappa() {
    let dims = lattices()[1];
    let configuration = hot(dims, 3);
    let psi = spinor_field(dims, 4);
    let mass = 0.3;
    let kappa = 1.0 / (2.0 * (4.0 + mass));
    for (name, team) in common::teams() {
        let boundary = Boundary::antiperiodic_t();
        let in_mass = on_team::<f64>(&team, &configuration, boundary, Mass(mass), "M", &psi);
        let in_kappa = on_team::<f64>(&team, &configuration, boundary, Kappa(kappa), "M", &psi);
        let scaled: Vec<Spinor> =
            in_kappa.iter().map(|psi| Spinor::from_fn(|s, c| psi.0[s][c] / (2.0 * kappa))).collect();
        assert!(distance(&in_mass, &scaled) < 1e-15, "{name}");
    }
}

#[test]
fn adjoint_and_gamma5_hermiticity() {
    for dims in lattices().into_iter().take(2) {
        let configuration = hot(dims, 5);
        let (phi, chi) = (spinor_field(dims, 6), spinor_field(dims, 7));
        let with_boundary = |(name, team): (String, Team)| {
            [boundaries()[1], boundaries()[3]].map(|boundary| (name.clone(), team.clone(), boundary))
        };
        for (name, team, boundary) in common::teams().into_iter().flat_map(with_boundary) {
            let apply = |which: &str, psi: &[Spinor]| {
                on_team::<f64>(&team, &configuration, boundary, Kappa(0.15), which, psi)
            };
            let left = dot(&phi, &apply("M", &chi));
            let right = dot(&apply("M†", &phi), &chi);
            let scale = (dot(&phi, &phi).re * dot(&chi, &chi).re).sqrt();
            assert!((left - right).norm() < 1e-14 * scale, "{name} {dims}: ⟨φ|Mχ⟩ = ⟨M†φ|χ⟩");
            let left = dot(&phi, &apply("γ5M", &chi));
            let right = dot(&apply("γ5M", &phi), &chi);
            assert!((left - right).norm() < 1e-14 * scale, "{name} {dims}: γ5M is Hermitian");
        }
    }
}

#[test]
fn gauge_covariance() {
    for dims in lattices().into_iter().take(2) {
        let configuration = hot(dims, 8);
        let rotation = gauge_transformation(dims, 9);
        let rotated = transform_links(&configuration, &rotation);
        let psi = spinor_field(dims, 10);
        // Three agree with the definition, see above.
        for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 2) {
            let boundary = boundaries()[3];
            let before = on_team::<f64>(&team, &configuration, boundary, Kappa(0.14), "M", &psi);
            let after = on_team::<f64>(
                &team,
                &rotated,
                boundary,
                Kappa(0.14),
                "M",
                &transform_spinor(&psi, &rotation),
            );
            let error = distance(&after, &transform_spinor(&before, &rotation));
            assert!(error < 1e-14, "{name} {dims}: {error:e}");
        }
    }
}

#[test]
fn translation_covariance() {
    // Shifting links and spinors by one site in every direction shifts M ψ; with periodic boundaries exactly so.
    for dims in lattices().into_iter().take(2) {
        let configuration = hot(dims, 11);
        let psi = spinor_field(dims, 12);
        for mu in 0..4 {
            let shift = |site: usize| dims.forward(site, mu);
            let links = (0..4 * dims.volume()).map(|k| configuration.link(shift(k / 4), k % 4)).collect();
            let shifted = GaugeConfiguration::new(dims, host::Links::Double(links));
            let shifted_psi: Vec<Spinor> = (0..dims.volume()).map(|site| psi[shift(site)]).collect();
            // Three agree with the definition, see above.
            for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 2) {
                let apply = |links: &GaugeConfiguration, psi: &[Spinor]| {
                    on_team::<f64>(&team, links, Boundary::periodic(), Kappa(0.14), "M", psi)
                };
                let plain = apply(&configuration, &psi);
                let expected: Vec<Spinor> = (0..dims.volume()).map(|site| plain[shift(site)]).collect();
                let error = distance(&apply(&shifted, &shifted_psi), &expected);
                assert!(error < 1e-15, "{name} {dims} direction {mu}: {error:e}");
            }
        }
    }
}

#[test]
fn plane_waves_are_eigenvectors_of_the_free_operator_squared() {
    // On the free field M(p) = 1 − 2κ Σ cos p + 2iκ Σ γ sin p, so M†M = (1 − 2κ Σ cos p)² + 4κ² Σ sin² p on a plane wave.
    let dims = lattices()[1];
    let kappa = 0.12;
    let modes = [1usize, 2, 1, 3];
    let momentum: [f64; 4] =
        std::array::from_fn(|mu| 2.0 * std::f64::consts::PI * modes[mu] as f64 / dims[mu] as f64);
    let psi: Vec<Spinor> = (0..dims.volume())
        .map(|site| {
            let phase: f64 = (0..4).map(|mu| momentum[mu] * dims.coordinates(site)[mu] as f64).sum();
            Spinor::from_fn(|s, c| Complex64::from_polar(1.0 + (3 * s + c) as f64, phase + s as f64))
        })
        .collect();
    let cosines: f64 = momentum.iter().map(|p| p.cos()).sum();
    let sines: f64 = momentum.iter().map(|p| p.sin().powi(2)).sum();
    let eigenvalue = (1.0 - 2.0 * kappa * cosines).powi(2) + 4.0 * kappa * kappa * sines;
    let expected: Vec<Spinor> =
        psi.iter().map(|psi| Spinor::from_fn(|s, c| psi.0[s][c] * eigenvalue)).collect();
    let free = GaugeConfiguration::unit(dims);
    // Three agree with the definition, see above.
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 2) {
        let apply = |which: &str, psi: &[Spinor]| {
            on_team::<f64>(&team, &free, Boundary::periodic(), Kappa(kappa), which, psi)
        };
        let error = distance(&apply("M†", &apply("M", &psi)), &expected);
        assert!(error < 1e-14, "{name}: {error:e}");
    }
}

#[test]
fn fields_come_back() {
    // One that comes in two pieces.
    let large = (!common::small()).then(|| Dims::new([8, 16, 16, 18]).unwrap());
    for dims in lattices().into_iter().chain(large) {
        let psi = spinor_field(dims, 13);
        let single: Vec<host::Spinor<f32>> = psi.iter().map(Spinor::cast).collect();
        for (name, team) in common::teams() {
            let lattice = Lattice::new(&team, dims).unwrap();
            let double = lattice.spinor_from_host::<f64>(&psi).unwrap().to_host().unwrap();
            let found = lattice.spinor_from_host::<f32>(&single).unwrap().to_host().unwrap();
            let found: Vec<Spinor> = found.iter().map(host::Spinor::cast).collect();
            // On devices spins are turned to another basis, and back.
            assert!(distance(&double, &psi) < 1e-15, "{name} {dims}");
            assert!(distance(&found, &psi) < 1e-6, "{name} {dims}");
        }
    }
}

#[test]
fn the_space_of_spinor_fields_on_every_team() {
    for dims in lattices() {
        let fields: Vec<Vec<Spinor>> = (20..24).map(|seed| spinor_field(dims, seed)).collect();
        let (a, b) = (Complex64::new(0.7, -1.3), Complex64::new(-0.2, 0.4));
        let combine = |x: &[Spinor], f: Complex64, y: &[Spinor]| -> Vec<Spinor> {
            x.iter().zip(y).map(|(x, y)| Spinor::from_fn(|s, c| x.0[s][c] + f * y.0[s][c])).collect()
        };
        for (name, team) in common::teams() {
            let lattice = Lattice::new(&team, dims).unwrap();
            let space = lattice.spinor_space::<f64>().unwrap();
            let [p, mut x, q, mut r] = std::array::from_fn(|k| lattice.spinor_from_host(&fields[k]).unwrap());
            let close = |field: &lattice_cl::field::SpinorField<f64>, expected: &[Spinor]| {
                let error = distance(&field.to_host().unwrap(), expected);
                assert!(error < 1e-15, "{name} {dims}: {error:e}");
            };
            let value = |scalar| space.read([&scalar]).unwrap()[0];
            let near = |got: Complex64, expected: Complex64| {
                assert!((got - expected).norm() < 1e-13 * expected.norm(), "{name} {dims}: {got} {expected}");
            };
            near(value(space.dot(&p, &q).unwrap()), dot(&fields[0], &fields[2]));
            near(value(space.norm2(&p).unwrap()), dot(&fields[0], &fields[0]));
            // x = x + a p; r = r − a q
            let factor = space.scalar(a);
            let [norm2] = SOLUTION_AND_RESIDUAL.apply(&space, [&factor], [&p, &q], [&mut x, &mut r]).unwrap();
            let new_x = combine(&fields[1], a, &fields[0]);
            let new_r = combine(&fields[3], -a, &fields[2]);
            close(&x, &new_x);
            close(&r, &new_r);
            near(value(norm2), dot(&new_r, &new_r));
            // x = p + b x; r = q + b r
            let factor = space.scalar(b);
            let sums = DIRECTION_AND_IMAGE.apply(&space, [&factor], [&p, &q], [&mut x, &mut r]).unwrap();
            let [product, norm2] = space.read([&sums[0], &sums[1]]).unwrap();
            let newer_x = combine(&fields[0], b, &new_x);
            let newer_r = combine(&fields[2], b, &new_r);
            close(&x, &newer_x);
            close(&r, &newer_r);
            near(product, dot(&fields[0], &newer_r));
            near(norm2, dot(&newer_r, &newer_r));
            space.axpy(&space.scalar(a), &p, &mut x).unwrap();
            let newest = combine(&newer_x, a, &fields[0]);
            close(&x, &newest);
            space.xpby(&q, &space.scalar(b), &mut x).unwrap();
            close(&x, &combine(&fields[2], b, &newest));
            // r = r − a q; then x = x + a p; p = r + b p, for what is in x and r now.
            let (old_x, old_r) = (x.to_host().unwrap(), r.to_host().unwrap());
            let (number_a, number_b) = (space.scalar(a), space.scalar(b));
            let [norm2] = RESIDUAL.apply(&space, [&number_a], [&q], [&mut r]).unwrap();
            let new_r = combine(&old_r, -a, &fields[2]);
            close(&r, &new_r);
            near(value(norm2), dot(&new_r, &new_r));
            let mut direction = lattice.spinor_from_host(&fields[0]).unwrap();
            let factors = [&number_a, &number_b];
            SOLUTION_AND_DIRECTION.apply(&space, factors, [&r], [&mut x, &mut direction]).unwrap();
            let new_x = combine(&old_x, a, &fields[0]);
            let new_direction = combine(&new_r, b, &fields[0]);
            close(&x, &new_x);
            close(&direction, &new_direction);
            // x = x + a p; p = r + b p; q = s + b q, with (r, q) and (q, q).
            let mut image = lattice.spinor_from_host(&fields[3]).unwrap();
            let written = [&mut x, &mut direction, &mut image];
            let sums = SOLUTION_DIRECTION_AND_IMAGE.apply(&space, factors, [&r, &q], written).unwrap();
            let (new_x, new_direction) =
                (combine(&new_x, a, &new_direction), combine(&new_r, b, &new_direction));
            let new_image = combine(&fields[2], b, &fields[3]);
            close(&x, &new_x);
            close(&direction, &new_direction);
            close(&image, &new_image);
            near(value(sums[0].clone()), dot(&new_r, &new_image));
            near(value(sums[1].clone()), dot(&new_image, &new_image));
            // x = x + a p + b r; r = r − b t, with (q, r) and (r, r).
            let read = [&p, &direction, &q];
            let sums = BICGSTAB_SOLUTION_AND_RESIDUAL.apply(&space, factors, read, [&mut x, &mut r]).unwrap();
            let newer_r = combine(&new_r, -b, &new_direction);
            close(&x, &combine(&combine(&new_x, a, &fields[0]), b, &new_r));
            close(&r, &newer_r);
            near(value(sums[0].clone()), dot(&fields[2], &newer_r));
            near(value(sums[1].clone()), dot(&newer_r, &newer_r));
            // direction = r + b (direction − a q), with numbers that may still be on the device: a = a (p, q) / (p, q).
            let p_q = space.dot(&p, &q).unwrap();
            let same_a = space.quotient(&p_q, &space.quotient(&p_q, &number_a));
            let ratio = space.quotient(&space.dot(&q, &p).unwrap(), &space.norm2(&p).unwrap());
            let expected_ratio = dot(&fields[0], &fields[2]).conj() / dot(&fields[0], &fields[0]);
            near(value(ratio.clone()), expected_ratio);
            let factors = [&same_a, &space.conjugate(&ratio)];
            BICGSTAB_DIRECTION.apply(&space, factors, [&q, &r], [&mut direction]).unwrap();
            let turned = combine(&new_direction, -a, &fields[2]);
            close(&direction, &combine(&newer_r, expected_ratio.conj(), &turned));
            // A quotient by zero is zero.
            let nothing = space.quotient(&p_q, &space.scalar(Complex64::default()));
            space.axpy(&nothing, &p, &mut direction).unwrap();
            close(&direction, &combine(&newer_r, expected_ratio.conj(), &turned));
            space.copy(&p, &mut x).unwrap();
            close(&x, &fields[0]);
            let bits: Vec<Complex64> = (0..if common::small() { 2 } else { 20 })
                .map(|_| value(space.dot(&p, &q).unwrap()))
                .collect();
            assert!(
                bits.iter().all(|dot| *dot == bits[0]),
                "{name}: a reduction has the same bits each time"
            );
        }
    }
}

/// X D for columns X.
fn times(x: &[Vec<Spinor>], d: &SquareMatrix) -> Vec<Vec<Spinor>> {
    let column = |j: usize| {
        let number = |site: usize, s: usize, c: usize| {
            (0..x.len()).map(|i| x[i][site].0[s][c] * d[(i, j)]).sum::<Complex64>()
        };
        (0..x[0].len()).map(|site| Spinor::from_fn(|s, c| number(site, s, c))).collect()
    };
    (0..x.len()).map(column).collect()
}

/// X + s Y
fn plus(x: &[Vec<Spinor>], sign: f64, y: &[Vec<Spinor>]) -> Vec<Vec<Spinor>> {
    let sum = |x: &Spinor, y: &Spinor| Spinor::from_fn(|s, c| x.0[s][c] + y.0[s][c] * sign);
    x.iter().zip(y).map(|(x, y)| x.iter().zip(y).map(|(x, y)| sum(x, y)).collect()).collect()
}

/// The operations on columns in precision `T` by their definitions; `field` makes columns of what there is in double on the host.
fn check_blocks<T: Storage, S: BlockSpace<Vector: Debug, Error: Debug>>(
    what: &str,
    space: &S,
    sites: usize,
    field: impl Fn(&[host::Spinor<T::Real>]) -> S::Vector,
    values: impl Fn(&S::Vector) -> Vec<host::Spinor<T::Real>>,
) {
    let bound = match T::STORAGE {
        StoragePrecision::Double => 1e-14,
        StoragePrecision::Single => 1e-6,
        StoragePrecision::Half => 2e-4,
    };
    let columns = space.columns();
    let block = |seed: u64| -> Vec<Vec<Spinor>> {
        let all = Dims::new([2, 2, 2, 2 * (sites * columns).div_ceil(16)]).unwrap();
        spinor_field(all, seed).chunks(sites).take(columns).map(<[_]>::to_vec).collect()
    };
    let upload = |block: &[Vec<Spinor>]| {
        field(&block.iter().flatten().map(Spinor::cast).collect::<Vec<host::Spinor<T::Real>>>())
    };
    let close = |found: &S::Vector, expected: &[Vec<Spinor>], what: &str| {
        let found: Vec<Spinor> = values(found).iter().map(host::Spinor::cast).collect();
        for (j, (found, expected)) in found.chunks(sites).zip(expected).enumerate() {
            let error = distance(found, expected);
            assert!(error < bound, "{what}, column {j}: {error:e}");
        }
    };
    let close_gram = |found: &SquareMatrix, x: &[Vec<Spinor>], what: &str| {
        for (i, j) in (0..columns).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let (found, expected) = (found[(i, j)], dot(&x[i], &x[j]));
            let scale = (dot(&x[i], &x[i]).re * dot(&x[j], &x[j]).re).sqrt();
            assert!((found - expected).norm() < bound * scale, "{what} ({i}, {j}): {found} {expected}");
        }
    };
    // Without a pattern, and triangular where they are to be.
    let matrix = |seed: f64, there: fn(usize, usize) -> bool| {
        let z = |i: usize, j: usize| {
            Complex64::new((seed * (3 * i + j) as f64).sin(), (seed + (i * j) as f64).cos())
        };
        SquareMatrix::from_fn(columns, |i, j| if there(i, j) { z(i, j) } else { Complex64::default() })
    };
    let [earlier, step] = [3.1, 1.3].map(|seed| matrix(seed, |_, _| true));
    let turn = matrix(0.7, |i, j| i <= j);
    let keep = matrix(2.1, |i, j| i >= j);

    let [x, q, p, o] = [1, 2, 3, 4].map(block);
    let [mut x_there, mut q_there, mut p_there, mut o_there] = [&x, &q, &p, &o].map(|block| upload(block));
    close_gram(&space.gram(&x_there).unwrap(), &x, &format!("{what}: X†X"));
    let gram = space.subtract_block(&p_there, &step, &mut q_there).unwrap();
    let q = plus(&q, -1.0, &times(&p, &step));
    close(&q_there, &q, &format!("{what}: Q − Z D"));
    close_gram(&gram, &q, &format!("{what}: Q†Q"));
    let again = (0..3).map(|_| space.gram(&q_there).unwrap()).collect::<Vec<_>>();
    assert!(again[0] == again[1] && again[1] == again[2], "{what}: the same bits each time");

    let [mut x, mut q, mut p, mut o] = [x, q, p, o];
    let flags = (0..16).map(|k| [1, 2, 4, 8].map(|bit| k & bit != 0));
    // D is one of O.
    for [in_pairs, with_earlier, with_step, overwrite] in flags.filter(|flags| flags[0] || !flags[1]) {
        let earlier = with_earlier.then_some(&earlier);
        let step = with_step.then_some(&step);
        let matrices = Advance { earlier, step, turn: &turn, keep: &keep, overwrite };
        let other = in_pairs.then_some(&mut o_there);
        space.advance_block(matrices, &mut x_there, &mut q_there, &mut p_there, other).unwrap();
        for (direction, matrix) in [(&o, earlier), (&p, step)] {
            if let Some(matrix) = matrix {
                x = plus(&x, 1.0, &times(direction, matrix));
            }
        }
        let q_turned = times(&q, &turn);
        let next = plus(&q_turned, 1.0, &times(&p, &keep));
        *(if in_pairs { &mut o } else { &mut p }) = next;
        if overwrite {
            q = q_turned;
        }
        let what = format!("{what}, {in_pairs} {with_earlier} {with_step} {overwrite}");
        close(&x_there, &x, &format!("{what}: X"));
        close(&q_there, &q, &format!("{what}: Q"));
        close(&p_there, &p, &format!("{what}: P"));
        close(&o_there, &o, &format!("{what}: O"));
    }
}

fn check_column_space<T: Storage>(team: &Team, what: &str, dims: Dims, columns: usize) {
    let lattice = Lattice::new(team, dims).unwrap();
    let what = format!("{what} {dims} {} × {columns}", T::STORAGE);
    let space = lattice.spinor_block_space::<T>(columns).unwrap();
    check_blocks::<T, _>(
        &what,
        &space,
        dims.volume(),
        |spinors| lattice.spinors_from_host(columns, spinors).unwrap(),
        |field| field.to_host().unwrap(),
    );
    let space = lattice.parity_block_space::<T>(1, columns).unwrap();
    check_blocks::<T, _>(
        &format!("{what}, odd sites"),
        &space,
        dims.volume() / 2,
        |spinors| lattice.parities_from_host(1, columns, spinors).unwrap(),
        |field| field.to_host().unwrap(),
    );
}

/// Extents with lanes and without, that fill work-groups and do not, numbers of fields that are multiples of a tile and not; few of each, as each is a program
/// to compile.
#[test]
fn operations_on_columns_are_their_definitions() {
    let [with_lanes, without] = match common::small() {
        true => [[2, 2, 2, 2], [2, 2, 2, 2]],
        false => [[4, 2, 6, 8], [2, 6, 2, 10]],
    };
    let [with_lanes, without] = [with_lanes, without].map(|extents| Dims::new(extents).unwrap());
    let several = if common::small() { 4 } else { 12 };
    let teams = if common::small() { 2 } else { 3 };
    for (k, (name, team)) in common::teams().into_iter().take(teams).enumerate() {
        check_column_space::<f64>(&team, &name, with_lanes, several);
        if k == 2 {
            continue;
        }
        check_column_space::<f32>(&team, &name, without, several);
        if common::small() {
            check_column_space::<Half>(&team, &name, without, several);
            continue;
        }
        check_column_space::<f64>(&team, &name, without, 5);
        if !team.is_host() {
            check_column_space::<Half>(&team, &name, with_lanes, 3);
            check_column_space::<Half>(&team, &name, without, several);
            check_column_space::<Half>(&team, &name, Dims::new([2, 6, 2, 14]).unwrap(), 4);
        }
    }
}

#[test]
fn fields_of_another_lattice_are_refused() {
    let dims = lattices()[0];
    let smaller = Dims::new([2, 2, 2, 4]).unwrap();
    for (name, team) in common::teams() {
        let lattice = Lattice::new(&team, dims).unwrap();
        let links = lattice.gauge::<f64>(&GaugeConfiguration::unit(dims), Boundary::periodic()).unwrap();
        let wilson = Dirac::wilson(&links, Kappa(0.1)).unwrap();
        let foreign = match dims == smaller {
            true => Lattice::new(&team, Dims::new([2, 2, 4, 4]).unwrap()).unwrap(),
            false => Lattice::new(&team, smaller).unwrap(),
        };
        let psi = foreign.spinor::<f64>().unwrap();
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wilson.apply(&psi, &mut lattice.spinor().unwrap())
        }));
        assert!(refused.is_err(), "{name}: an operator on a field of another lattice");
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wilson.spinor_space().norm2(&psi).map(drop)
        }));
        assert!(refused.is_err(), "{name}: a sum over a field of another lattice");
    }
}
