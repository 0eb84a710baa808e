//! Products with sparse matrices: every format against the definition, on the host and every device.

use crate::matrices;

use lattice_compute::{CacheMode, Device, DeviceOptions, discover};
use lattice_linalg::host::level1::Arithmetic;
use lattice_linalg::sparse::market::AnyCsr;
use lattice_linalg::sparse::{
    Csr, Format, FormatError, Matrix, MatrixOptions, Problem, Processor, Vector, tune_format,
};
use lattice_linalg::{BlasError, host};
use matrices::{complex, json, matrices, matrix, norm, places, sample, small, vector};
use num_complex::{Complex, Complex64};
use std::sync::Arc;
use std::time::Duration;

/// All formats that a matrix can have.
fn formats<T: Arithmetic>(matrix: &Csr<T>) -> Vec<Format> {
    let mut formats = vec![Format::Csr, Format::Sell, Format::Coo, Format::FullRows];
    formats.extend(
        [2, 3, 5].into_iter().filter(|n| matrix.rows() % n + matrix.columns() % n == 0).map(Format::Blocks),
    );
    if Format::candidates(matrix, 8).iter().any(|(format, _)| *format == Format::Diagonals) {
        formats.push(Format::Diagonals);
    }
    if matrix.is_hermitian() {
        formats.push(Format::Symmetric);
    }
    formats
}

/// Y = A X by definition, in double.
fn expected<T: Arithmetic>(matrix: &Csr<T>, vectors: usize, x: &[T]) -> Vec<Complex64> {
    let mut y = vec![Complex64::default(); matrix.rows() * vectors];
    for row in 0..matrix.rows() {
        for (column, value) in matrix.row(row) {
            for v in 0..vectors {
                y[row * vectors + v] += value.to_complex() * x[column * vectors + v].to_complex();
            }
        }
    }
    y
}

fn bits<T: Arithmetic>(values: &[T]) -> Vec<[u64; 2]> {
    values.iter().map(|value| [value.to_complex().re.to_bits(), value.to_complex().im.to_bits()]).collect()
}

fn distance<T: Arithmetic>(y: &[T], expected: &[Complex64]) -> f64 {
    let difference: Vec<_> = y.iter().zip(expected).map(|(y, expected)| y.to_complex() - expected).collect();
    norm(&difference) / norm(expected).max(1.0)
}

fn check<T: Arithmetic>(place: &Processor, matrix: &Csr<T>, tolerance: f64) {
    let nan = T::from_complex(Complex64::new(f64::NAN, f64::NAN));
    for format in formats(matrix) {
        let made = Matrix::with_format(place, matrix.clone(), format).unwrap();
        for vectors in [1, 3, 8, 12] {
            let what = format!("{}, {format}, {} rows, {vectors} vectors", place.label(), matrix.rows());
            let x: Vec<T> =
                vector(matrix.columns() * vectors, true).into_iter().map(T::from_complex).collect();
            let expected = expected(matrix, vectors, &x);
            let x = Vector::from_slice(place, &x).unwrap();
            let product = || {
                let mut y = Vector::from_slice(place, &vec![nan; matrix.rows() * vectors]).unwrap();
                made.multiply_block(vectors, &x, &mut y).unwrap();
                y.to_vec().unwrap()
            };
            let y = product();
            assert!(distance(&y, &expected) <= tolerance, "{what}: {}", distance(&y, &expected));
            assert_eq!(bits(&product()), bits(&y), "{what}: the bits of another run");
        }
        let x: Vec<T> = vector(matrix.rows(), true).into_iter().map(T::from_complex).collect();
        let expected = expected_of_transpose(matrix, &x);
        let x = Vector::from_slice(place, &x).unwrap();
        let mut y = Vector::from_slice(place, &vec![nan; matrix.columns()]).unwrap();
        made.multiply_transposed(&x, &mut y).unwrap();
        assert!(distance(&y.to_vec().unwrap(), &expected) <= tolerance, "{}, transposed", place.label());
    }
}

fn expected_of_transpose<T: Arithmetic>(matrix: &Csr<T>, x: &[T]) -> Vec<Complex64> {
    let mut y = vec![Complex64::default(); matrix.columns()];
    for row in 0..matrix.rows() {
        for (column, value) in matrix.row(row) {
            y[column] += value.to_complex() * x[row].to_complex();
        }
    }
    y
}

/// Three full rows among short ones; one of them only in its second half, with gaps.
fn arrow(columns: usize) -> Csr<Complex64> {
    let value = |row: usize, column: usize| Complex64::new((row + 3 * column) as f64, 0.5 - row as f64).inv();
    Csr::from_rows(
        columns,
        (0..41).map(|row| {
            let is_entry = move |column: &usize| match row {
                0 | 40 => true,
                7 => *column >= columns / 10 && column % 9 != 4,
                _ => column % 41 == row && *column < 90,
            };
            (0..columns)
                .filter(is_entry)
                .map(move |column| (column as u32, value(row, column)))
                .collect::<Vec<_>>()
        }),
    )
}

#[test]
fn full_rows_need_no_column_numbers() {
    let matrix = arrow(3000).cast::<f64>();
    let bytes: Vec<_> = Format::candidates(&matrix, 8);
    let of = |wanted: Format| bytes.iter().find(|(format, _)| *format == wanted).map(|(_, bytes)| *bytes);
    let (full, rows) = (of(Format::FullRows).unwrap(), of(Format::Csr).unwrap());
    assert!(10 * full < 7 * rows, "{full} {rows}");
    assert_eq!(Format::of_fewest_bytes(&matrix, 8), Format::FullRows);
    assert!(
        Format::FullRows.reason(&matrix).starts_with("3 rows are full"),
        "{}",
        Format::FullRows.reason(&matrix)
    );
    for place in places() {
        let made = Matrix::with_format(&place, matrix.clone(), Format::FullRows).unwrap();
        let height = Matrix::<f64>::slice_height(&place);
        let counted =
            Format::candidates(&matrix, height).into_iter().find(|(format, _)| *format == Format::FullRows);
        assert_eq!(counted, Some((Format::FullRows, made.bytes())), "{}", place.label());
    }
}

#[test]
fn values_may_be_single_while_sums_are_double() {
    let (uneven, arrow) = (sample(95, 70, true).to_csr().unwrap(), arrow(150));
    for place in places() {
        for matrix in [&uneven, &arrow] {
            check_single::<Complex<f64>>(&place, matrix);
            check_single::<f64>(&place, &matrix.cast());
        }
        // There is nothing to round in single precision.
        let options = MatrixOptions::default().with_single_values(true);
        let single = Matrix::<f32>::with_options(&place, uneven.cast::<f32>(), options).unwrap();
        assert_eq!(single.bytes(), Matrix::new(&place, uneven.cast::<f32>()).unwrap().bytes());
    }
}

fn check_single<T: Arithmetic>(place: &Processor, matrix: &Csr<T>) {
    let rounded: Csr<T> =
        if T::IS_COMPLEX { matrix.cast::<Complex<f32>>().cast() } else { matrix.cast::<f32>().cast() };
    for format in formats(matrix) {
        let options =
            MatrixOptions::default().with_format(Some(format)).with_single_values(true).with_vectors(1);
        let made = Matrix::with_options(place, matrix.clone(), options).unwrap();
        let whole = Matrix::with_format(place, matrix.clone(), format).unwrap();
        let what = format!("{}, {format}", place.label());
        assert!(made.bytes() < whole.bytes(), "{what}: {} {}", made.bytes(), whole.bytes());
        for vectors in [1, 4] {
            let x: Vec<T> =
                vector(matrix.columns() * vectors, true).into_iter().map(T::from_complex).collect();
            let expected = expected(&rounded, vectors, &x);
            let mut y = Vector::zero(place, matrix.rows() * vectors).unwrap();
            made.multiply_block(vectors, &Vector::from_slice(place, &x).unwrap(), &mut y).unwrap();
            let found = distance(&y.to_vec().unwrap(), &expected);
            assert!(found <= 1e-14, "{what}, {vectors} vectors: {found}");
        }
    }
}

#[test]
fn a_measured_format_is_kept_for_the_pattern() {
    let options = DeviceOptions::default().with_cache(CacheMode::Off);
    let Some(found) = discover().devices.into_iter().find(|found| found.info.fp64) else { return };
    let device = Device::open(&found, &options).unwrap();
    let place = Processor::from(&device);
    let matrix = Arc::new("poisson2d:17".parse::<Problem>().unwrap().matrix().unwrap());
    let by_bytes = Matrix::chosen_format(&place, &matrix, 1);
    assert_eq!(by_bytes, Format::Diagonals);
    let options = MatrixOptions::default().with_vectors(2);
    let tuned = tune_format(&device, &matrix, options, Duration::from_secs(20)).unwrap();
    assert_eq!((tuned.shipped, Matrix::chosen_format(&place, &matrix, 2)), (by_bytes, tuned.found.variant));
    assert!(tuned.found.tried >= 4, "{}", tuned.found.tried);
    // Values do not matter, the places of entries do.
    let other = "poisson2d:18".parse::<Problem>().unwrap().matrix().unwrap();
    assert_eq!(matrix.pattern_hash(), matrix.map(|_, _, value| 2.0 * value).pattern_hash());
    assert_ne!(matrix.pattern_hash(), other.pattern_hash());
    assert_ne!(Csr::<f64>::empty(3, 4).pattern_hash(), Csr::<f64>::empty(3, 5).pattern_hash());
}

#[test]
fn every_format_multiplies_on_every_device() {
    let (rows, columns) = if small() { (45, 35) } else { (1065, 735) };
    let uneven = sample(rows, columns, true).to_csr().unwrap();
    // Diagonals and dense blocks: a matrix of three diagonals of 5×5 blocks, cut off at the right.
    let banded = Csr::from_rows(
        columns,
        (0..rows).map(|row| {
            let near = |column: &usize| (row / 5).abs_diff(column / 5) < 2;
            let value =
                move |column: usize| Complex64::new((row + 2 * column) as f64, row as f64 - 1.5).inv();
            (0..columns).filter(near).map(|column| (column as u32, value(column))).collect::<Vec<_>>()
        }),
    );
    let arrow = arrow(if small() { 150 } else { 1500 });
    for place in places() {
        for matrix in [&uneven, &banded, &arrow] {
            check::<Complex<f64>>(&place, matrix, 1e-14);
            check::<f64>(&place, &matrix.cast(), 1e-14);
            check::<f32>(&place, &matrix.cast(), 1e-5);
            check::<Complex<f32>>(&place, &matrix.cast(), 1e-5);
        }
    }
}

#[test]
fn long_rows_and_empty_matrices_are_no_exception() {
    let long = if small() { 300 } else { 70_000 };
    let rows = [long, 0, 3, long, 1];
    let matrix = Csr::<f64>::from_rows(
        long,
        rows.into_iter().enumerate().map(|(row, length)| {
            (0..length).map(move |column| (column as u32, ((row + column) as f64).sin())).collect::<Vec<_>>()
        }),
    );
    for place in places() {
        for format in [Format::Csr, Format::Sell, Format::Coo, Format::FullRows] {
            let made = Matrix::with_format(&place, matrix.clone(), format).unwrap();
            let x: Vec<f64> = vector(long, false).into_iter().map(|x| x.re).collect();
            let mut y = Vector::from_slice(&place, &[f64::NAN; 5]).unwrap();
            made.multiply(&Vector::from_slice(&place, &x).unwrap(), &mut y).unwrap();
            let expected = expected(&matrix, 1, &x);
            assert!(distance(&y.to_vec().unwrap(), &expected) < 1e-12, "{}, {format}", place.label());
            let none = Matrix::with_format(&place, Csr::<f64>::empty(5, 4), format).unwrap();
            none.multiply(&Vector::zero(&place, 4).unwrap(), &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), [0.0; 5]);
        }
    }
}

#[test]
fn a_nan_stays_in_its_rows() {
    let matrix = sample(61, 47, false).to_csr().unwrap().cast::<f64>();
    let mut x: Vec<f64> = vector(47, false).into_iter().map(|x| x.re).collect();
    x[0] = f64::NAN;
    x[31] = f64::INFINITY;
    let touched: Vec<bool> = (0..61).map(|row| matrix.row(row).any(|(j, _)| j == 0 || j == 31)).collect();
    for place in places() {
        for format in [Format::Csr, Format::Sell, Format::Coo] {
            let made = Matrix::with_format(&place, matrix.clone(), format).unwrap();
            let mut y = Vector::zero(&place, 61).unwrap();
            made.multiply(&Vector::from_slice(&place, &x).unwrap(), &mut y).unwrap();
            let found: Vec<bool> = y.to_vec().unwrap().iter().map(|y| !y.is_finite()).collect();
            assert_eq!(found, touched, "{}, {format}", place.label());
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let matrix = sample(6, 4, false).to_csr().unwrap();
    for place in places() {
        let made = Matrix::new(&place, matrix.clone()).unwrap();
        let (x, mut y) = (Vector::zero(&place, 5).unwrap(), Vector::zero(&place, 6).unwrap());
        let error = made.multiply(&x, &mut y).unwrap_err();
        assert!(matches!(error, BlasError::Shape { wanted: 4, found: 5, .. }), "{error}");
        let error = Matrix::with_format(&place, matrix.clone(), Format::Blocks(3)).err().unwrap();
        assert!(matches!(error, FormatError::Blocks { size: 3, .. }), "{error}");
        if place != Processor::Host {
            let (x, mut y) = (Vector::zero(&Processor::Host, 4).unwrap(), Vector::zero(&place, 6).unwrap());
            assert!(matches!(made.multiply(&x, &mut y).unwrap_err(), BlasError::OtherDevice { .. }));
        }
    }
}

#[test]
fn products_are_those_of_other_programs() {
    let Some(folder) = matrices() else { return };
    if small() {
        return;
    }
    let facts = json(&folder.join("facts.json"));
    let places = places();
    for (name, facts) in facts.as_object().unwrap() {
        let (matrix, is_complex) = match matrix(&folder, name) {
            AnyCsr::Real(matrix) => (matrix.cast(), false),
            AnyCsr::Complex(matrix) => (matrix, true),
        };
        assert_eq!(matrix.rows() as u64, facts["rows"].as_u64().unwrap(), "{name}");
        assert_eq!(matrix.entries() as u64, facts["stored"].as_u64().unwrap(), "{name}");
        for place in &places {
            if is_complex {
                agrees::<Complex<f64>>(name, place, &matrix, facts, 1e-14);
                agrees::<Complex<f32>>(name, place, &matrix.cast(), facts, 1e-5);
            } else {
                agrees::<f64>(name, place, &matrix.cast(), facts, 1e-14);
                agrees::<f32>(name, place, &matrix.cast(), facts, 1e-5);
            }
        }
    }
}

fn agrees<T: Arithmetic>(
    name: &str,
    place: &Processor,
    matrix: &Csr<T>,
    facts: &serde_json::Value,
    tolerance: f64,
) {
    let of = |len| -> Vec<T> { vector(len, T::IS_COMPLEX).into_iter().map(T::from_complex).collect() };
    let made = Matrix::new(place, matrix.clone()).unwrap();
    let what = format!("{name}, {}, {}", place.label(), made.format());
    let mut y = Vector::zero(place, matrix.rows()).unwrap();
    made.multiply(&Vector::from_slice(place, &of(matrix.columns())).unwrap(), &mut y).unwrap();
    let y = y.to_vec().unwrap();
    let wanted = facts["product"]["norm"].as_f64().unwrap();
    // x_k is only known to the rounding of its phase 0.7 k.
    let tolerance = tolerance.max(4e-18 * matrix.rows() as f64);
    let found = host::level1::nrm2(&y);
    assert!((found - wanted).abs() <= tolerance * wanted, "{what}: norm {found}, {wanted} wanted");
    for (y, first) in y.iter().zip(facts["product"]["first"].as_array().unwrap()) {
        let difference = (y.to_complex() - complex(first)).norm();
        assert!(difference <= tolerance * wanted, "{what}: {y:?}, {first} wanted");
    }
    let mut y = Vector::zero(place, matrix.columns()).unwrap();
    made.multiply_transposed(&Vector::from_slice(place, &of(matrix.rows())).unwrap(), &mut y).unwrap();
    let wanted = facts["transposed_product_norm"].as_f64().unwrap();
    let found = host::level1::nrm2(&y.to_vec().unwrap());
    assert!((found - wanted).abs() <= tolerance * wanted, "{what}, transposed: {found}, {wanted} wanted");
}

/// A Hermitian matrix of short rows, some of them without an entry on the diagonal.
fn hermitian(n: usize) -> Csr<Complex64> {
    let value = |row: usize, column: usize| {
        let (low, high) = (row.min(column), row.max(column));
        let value = Complex64::new((1.3 * (low + 7 * high) as f64).sin(), (high - low) as f64 / n as f64);
        if row < column { value.conj() } else { value }
    };
    let is_entry = |row: usize, column: usize| {
        let (low, high) = (row.min(column), row.max(column));
        (high - low) % 11 < 2 && high - low < 60 && !(low == high && low % 5 == 2)
    };
    let row = |row: usize| {
        let columns = (0..n).filter(move |column| is_entry(row, *column));
        columns.map(move |column| (column as u32, value(row, column))).collect::<Vec<_>>()
    };
    Csr::from_rows(n, (0..n).map(row))
}

#[test]
fn one_triangle_stands_for_both() {
    let n = if small() { 61 } else { 401 };
    let matrix = hermitian(n);
    assert!(matrix.is_hermitian() && !sample(9, 9, true).to_csr().unwrap().is_hermitian());
    for place in places() {
        check(&place, &matrix, 1e-14);
        check::<Complex<f32>>(&place, &matrix.cast(), 1e-5);
        check::<f64>(&place, &matrix.cast(), 1e-14);
        check_single::<Complex64>(&place, &matrix);
        let lies = Matrix::with_format(&place, sample(9, 9, true).to_csr().unwrap(), Format::Symmetric);
        assert_eq!(lies.err(), Some(FormatError::NotSymmetric), "{}", place.label());
    }
    // Half of the values; only a measurement chooses it, and GPUs have no coloured blocks.
    let poisson = "poisson2d:60".parse::<Problem>().unwrap().matrix().unwrap();
    let bytes =
        |format: Format| Format::candidates(&poisson, 8).into_iter().find(|(other, _)| *other == format);
    let (_, lower) = bytes(Format::Symmetric).unwrap();
    assert!(100 * lower < 72 * bytes(Format::Csr).unwrap().1, "{lower}");
    let made = Matrix::with_format(&Processor::Host, poisson.clone(), Format::Symmetric).unwrap();
    assert_eq!(made.bytes(), lower);
    assert_ne!(Format::of_fewest_bytes(&poisson, 8), Format::Symmetric);
    assert!(Format::candidates(&poisson, 32).iter().all(|(format, _)| *format != Format::Symmetric));
    assert!(Format::Symmetric.reason(&poisson).starts_with("10680 entries of the lower triangle"));
}
