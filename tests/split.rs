//! Products of matrices on teams, against the host twin in double.

use crate::common;

use common::{SMALL_MMA, devices, small, teams, unit_roundoff, untuned};
use lattice_cl::compute::{Selector, Team};
use lattice_cl::host;
use lattice_cl::host::level1::Arithmetic;
use lattice_cl::linalg::gemm::{GemmParams, GemmTuning, Mma};
use lattice_cl::linalg::split::{self, Copies, HostMut, HostRef, RowShards, SplitParams};
use lattice_cl::linalg::{BlasError, MatrixLayout, Op, Order};
use num_complex::Complex;

type C64 = Complex<f64>;

/// Elements of order one without a pattern, and NaN where the layout has none.
fn matrix<T: Arithmetic>(layout: &MatrixLayout, seed: f64) -> Vec<T> {
    let lines = if layout.order == Order::ColumnMajor { layout.columns } else { layout.rows };
    let len = layout.offset + lines * layout.leading_dimension + 3;
    let mut elements = vec![T::from_complex(C64::new(f64::NAN, f64::NAN)); len];
    for i in 0..layout.rows {
        for j in 0..layout.columns {
            let phase = seed + 0.7 * i as f64 + 1.9 * j as f64 + 0.01 * (i * j) as f64;
            elements[layout.index(i, j)] =
                T::from_complex(C64::new((3.1 * phase).sin(), (5.7 * phase).cos()));
        }
    }
    elements
}

fn wide<T: Arithmetic>(layout: &MatrixLayout, elements: &[T]) -> Vec<C64> {
    let column = |j| (0..layout.rows).map(move |i| elements[layout.index(i, j)].to_complex());
    (0..layout.columns).flat_map(column).collect()
}

fn norm(x: &[C64]) -> f64 {
    x.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt()
}

/// α op(A) op(B) + β C in double.
fn expected(
    [op_a, op_b]: [Op; 2],
    k: usize,
    alpha: C64,
    [a, b]: [(&MatrixLayout, &[C64]); 2],
    beta: C64,
    (c_layout, c): (&MatrixLayout, &[C64]),
) -> Vec<C64> {
    let element = |op: Op, (layout, x): (&MatrixLayout, &[C64]), i: usize, j: usize| match op {
        Op::N => x[i + j * layout.rows],
        Op::T => x[j + i * layout.rows],
        Op::C => x[j + i * layout.rows].conj(),
    };
    let mut expected = c.to_vec();
    let (a, b) = (|i, p| element(op_a, a, i, p), |p, j| element(op_b, b, p, j));
    host::gemm::gemm(k, alpha, a, b, beta, &mut expected, c_layout.rows);
    expected
}

#[track_caller]
fn assert_close<T: Arithmetic>(what: &str, terms: usize, scale: f64, found: &[C64], expected: &[C64]) {
    let difference: Vec<C64> = found.iter().zip(expected).map(|(f, e)| f - e).collect();
    let bound = 8.0 * unit_roundoff::<T::Real>() * ((terms + 2) as f64).sqrt() * scale;
    assert!(norm(&difference) <= bound, "{what}: {:.2e}, at most {bound:.2e} allowed", norm(&difference));
}

fn one_product<T: Arithmetic>(team: &Team, name: &str, number: usize, [m, n, k]: [usize; 3]) {
    let ops = [Op::ALL[number % 3], Op::ALL[(number / 3) % 3]];
    let order =
        |bit: usize| if (number >> bit).is_multiple_of(2) { Order::RowMajor } else { Order::ColumnMajor };
    let layout = |order, (rows, columns), gap| {
        let dense = MatrixLayout::dense(order, rows, columns);
        dense.leading_dimension(dense.leading_dimension + gap).offset(2 * gap)
    };
    let a_layout = layout(order(0), ops[0].shape(m, k), 1);
    let b_layout = layout(order(1), ops[1].shape(k, n), 0);
    let c_layout = layout(order(2), (m, n), 3);
    let scalars =
        [(1.0, 0.0), (0.5, -1.0), (0.0, 0.0)].map(|(re, im)| T::from_complex(C64::new(re, im)).to_complex());
    let (alpha, beta) = (scalars[usize::from(number % 4 == 3)], scalars[(number + 2) % 3]);
    let (a, b, mut c) =
        (matrix::<T>(&a_layout, 0.3), matrix::<T>(&b_layout, 1.1), matrix::<T>(&c_layout, 2.3));
    let [wide_a, wide_b, mut old] =
        [(&a_layout, &a), (&b_layout, &b), (&c_layout, &c)].map(|(l, x)| wide(l, x));
    if beta == C64::default() {
        c.fill(T::from_complex(C64::new(f64::NAN, f64::NAN)));
        old.fill(C64::default());
    }
    // Rates that say nothing else let every device take part. With so little memory panels go round.
    let params = SplitParams::default()
        .with_rates(Some(vec![1.0; team.len()]))
        .with_panel(Some(50))
        .with_memory((number % 2 == 1).then_some(1));
    let report = split::gemm(
        team,
        &params,
        ops[0],
        ops[1],
        T::from_complex(alpha),
        HostRef::new(&a, a_layout).unwrap(),
        HostRef::new(&b, b_layout).unwrap(),
        T::from_complex(beta),
        HostMut::new(&mut c, c_layout).unwrap(),
    );
    let what = format!("{name}: {m} {n} {k} {ops:?} {a_layout:?} {b_layout:?} {c_layout:?} {alpha} {beta}");
    let report = report.unwrap_or_else(|error| panic!("{what}: {error}"));
    if !report.shares.is_empty() {
        assert_eq!(report.by_columns, n > m, "{what}");
        let shared = m.max(n);
        assert_eq!(report.shares.iter().map(|share| share.rows).sum::<usize>(), shared, "{what}");
        assert!(
            shared < 64 * team.len() || report.shares.iter().all(|share| share.planned_rows >= 64),
            "{what}"
        );
    }
    let sides = [(&a_layout, &wide_a[..]), (&b_layout, &wide_b[..])];
    let expected = expected(ops, k, alpha, sides, beta, (&c_layout, &old));
    let scale = alpha.norm() * norm(&wide_a) * norm(&wide_b) + 2.0 * beta.norm() * norm(&old);
    assert_close::<T>(&what, k, scale, &wide(&c_layout, &c), &expected);
    // What lies between the lines is still there.
    let inside = m * n;
    assert!(c.iter().filter(|x| x.to_complex().re.is_nan()).count() >= c.len() - inside, "{what}");
}

#[test]
fn teams_of_every_size_multiply_matrices_of_every_shape() {
    let sizes: &[usize] =
        if small() { &[0, 1, 33, 130] } else { &[0, 1, 2, 3, 7, 31, 33, 64, 65, 127, 129, 257] };
    for (name, team) in teams() {
        for number in 0..if small() { 4 } else { 24 } {
            // Every size occurs in every place, most often beside another one.
            let size = |stride: usize| sizes[(stride * number + stride) % sizes.len()];
            one_product::<f64>(&team, &name, number, [size(5), size(7), size(1)]);
        }
        for number in 0..6 {
            one_product::<f64>(&team, &name, number, [257, 129, 65]);
            one_product::<Complex<f32>>(&team, &name, number, [200, 77, 33]);
        }
        if !small() {
            // Many strips, and B more often than once.
            for number in 0..2 {
                one_product::<f64>(&team, &name, number, [2000, 170, 20]);
            }
        }
    }
}

#[test]
fn shares_follow_the_rates_that_are_given_and_those_that_are_measured() {
    for device in devices() {
        let team = Team::select_with(vec![Selector::Index(device.index()); 2], &untuned()).unwrap();
        let n = if small() { 64 } else { 640 };
        let layout = MatrixLayout::column_major(n, n);
        let (a, mut c) = (matrix::<f64>(&layout, 0.3), vec![0.0; n * n]);
        let mut planned = |params: SplitParams| {
            let (a, c) = (HostRef::new(&a, layout).unwrap(), HostMut::new(&mut c, layout).unwrap());
            let report = split::gemm(&team, &params, Op::N, Op::N, 1.0, a, a, 0.0, c).unwrap();
            assert_eq!(report.shares.iter().map(|share| share.rows).sum::<usize>(), n);
            [0, 1].map(|member| report.shares[member].planned_rows)
        };
        let given = |rates: [f64; 2]| SplitParams::default().with_rates(Some(rates.to_vec()));
        // The textbook's kernel slows one of them down, many times.
        let slowed_down = |member: usize| {
            let mut tunings = vec![None; 2];
            tunings[member] = Some(GemmTuning::Global);
            SplitParams::default().with_tunings(tunings)
        };
        let mut both = vec![[given([3.0, 1.0]), given([1.0, 3.0])]];
        if !small() {
            both.push([slowed_down(1), slowed_down(0)]);
        }
        for [first_is_faster, second_is_faster] in both {
            let [fast, slow] = planned(first_is_faster);
            assert!(fast > slow, "{fast} {slow}");
            let [slow, fast] = planned(second_is_faster);
            assert!(fast > slow, "{fast} {slow}");
        }
    }
}

#[test]
fn a_device_that_fails_is_named_and_nobody_takes_c_for_finished() {
    for device in devices() {
        let team = Team::select_with(vec![Selector::Index(device.index()); 2], &untuned()).unwrap();
        let layout = MatrixLayout::column_major(256, 40);
        let (a_layout, b_layout) = (MatrixLayout::column_major(256, 30), MatrixLayout::column_major(30, 40));
        let (a, b) = (matrix::<f32>(&a_layout, 0.3), matrix::<f32>(&b_layout, 0.7));
        let mut c = vec![-1.0e6; 256 * 40];
        let params = SplitParams::default()
            // Less accurate than the call allows.
            .with_tunings(vec![None, Some(GemmTuning::Mma(SMALL_MMA))])
            .with_rates(Some(vec![1.0, 1.0]));
        let (from_a, from_b) = (HostRef::new(&a, a_layout).unwrap(), HostRef::new(&b, b_layout).unwrap());
        let to = HostMut::new(&mut c, layout).unwrap();
        let error = split::gemm(&team, &params, Op::N, Op::N, 1.0, from_a, from_b, 0.0, to).unwrap_err();
        let message = error.to_string();
        let BlasError::Unfinished { member: 1, written, elements, .. } = error else { panic!("{message}") };
        assert!(message.contains(device.label()) && message.contains("ThreeTf32"), "{message}");
        assert_eq!(elements, c.len());
        assert_eq!(c.iter().filter(|&&x| x != -1.0e6).count(), written, "the others are as they were");
        assert!(written < elements);
    }
}

#[test]
fn a_variant_that_cannot_be_is_refused() {
    for (name, team) in teams().into_iter().filter(|(_, team)| !team.is_host()) {
        let layout = MatrixLayout::column_major(4, 4);
        let (a, mut c) = ([1.0f32; 16], [2.0f32; 16]);
        let nothing = Mma { tile: [0; 3], ..SMALL_MMA };
        let params = SplitParams::default().with_tunings(vec![Some(GemmTuning::Mma(nothing))]);
        let from = HostRef::new(&a, layout).unwrap();
        let to = HostMut::new(&mut c, layout).unwrap();
        let error = split::gemm(&team, &params, Op::N, Op::N, 1.0, from, from, 0.0, to).unwrap_err();
        assert!(matches!(error, BlasError::Variant { .. }), "{name}: {error}");
        assert_eq!(c, [2.0; 16], "{name}");
    }
}

#[test]
fn matrices_may_stay_on_the_devices() {
    for (name, team) in teams().into_iter().filter(|(_, team)| !team.is_host()) {
        let (m, n, k) = (70, 21, 33);
        let count = team.len();
        // Shares that are not even; the last one has all that is left.
        let mut shares: Vec<usize> = (0..count).map(|member| 10 * member).collect();
        shares[count - 1] += m - shares.iter().sum::<usize>();
        let layouts = [
            MatrixLayout::row_major(m, k).leading_dimension(k + 2),
            MatrixLayout::column_major(n, k),
            MatrixLayout::column_major(m, n).offset(4),
        ];
        let [a, b, mut c] = [0, 1, 2].map(|place| matrix::<C64>(&layouts[place], place as f64));
        let [wide_a, wide_b, old] =
            [(&layouts[0], &a), (&layouts[1], &b), (&layouts[2], &c)].map(|(l, x)| wide(l, x));
        fn on_host<'a>(x: &'a [C64], layout: &MatrixLayout) -> HostRef<'a, C64> {
            HostRef::new(x, *layout).unwrap()
        }
        let left = RowShards::upload(&team, &shares, on_host(&a, &layouts[0])).unwrap();
        let right = Copies::upload(&team, on_host(&b, &layouts[1])).unwrap();
        let mut result = RowShards::upload(&team, &shares, on_host(&c, &layouts[2])).unwrap();
        assert_eq!(result.shares(), shares);
        let (alpha, beta) = (C64::new(0.5, -1.0), C64::new(-1.0, 0.25));
        let params = GemmParams::default();
        // Twice, to see that what a product leaves is there for the next one.
        for _ in 0..2 {
            split::gemm_resident(&params, Op::C, alpha, &left, &right, beta, &mut result).unwrap();
        }
        result.download(HostMut::new(&mut c, layouts[2]).unwrap()).unwrap();
        let sides = [(&layouts[0], &wide_a[..]), (&layouts[1], &wide_b[..])];
        let once = expected([Op::N, Op::C], k, alpha, sides, beta, (&layouts[2], &old));
        let twice = expected([Op::N, Op::C], k, alpha, sides, beta, (&layouts[2], &once));
        let scale = 4.0 * (norm(&wide_a) * norm(&wide_b) + norm(&old));
        assert_close::<C64>(&name, k, scale, &wide(&layouts[2], &c), &twice);

        let short = RowShards::upload(&team, &shares[1..], on_host(&a, &layouts[0])).unwrap_err();
        assert_eq!(short, BlasError::TeamSize { wanted: count, found: count - 1 });
        let error =
            split::gemm_resident(&params, Op::N, alpha, &left, &right, beta, &mut result).unwrap_err();
        assert!(error.to_string().starts_with("gemm: B must have 21 columns"), "{error}");
    }
}
