//! Matrix Market files: all that are valid are read, all others are refused with their line.

use crate::matrices;

use lattice_linalg::sparse::Csr;
use lattice_linalg::sparse::market::{
    AnyCsr, Entries, Field, Market, Symmetry, is_market, write_matrix, write_vectors,
};
use matrices::{json, matrices, sample};
use num_complex::Complex64;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// Reads a text as a file.
fn read(text: &[u8]) -> Result<Market, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    std::fs::write(&path, text).unwrap();
    Market::read(&path).map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"))
}

fn dense(market: &Market) -> Vec<Vec<Complex64>> {
    fn rows<T: lattice_linalg::host::level1::Arithmetic>(matrix: &Csr<T>) -> Vec<Vec<Complex64>> {
        let row = |i| (0..matrix.columns()).map(|j| matrix.at(i, j).to_complex()).collect();
        (0..matrix.rows()).map(row).collect()
    }
    match market.to_csr().unwrap() {
        AnyCsr::Real(matrix) => rows(&matrix),
        AnyCsr::Complex(matrix) => rows(&matrix),
    }
}

#[test]
fn every_form_of_the_format_is_read() {
    let Some(folder) = matrices() else { return };
    let folder = folder.join("formats");
    let number = |value: &Value| match value.as_array() {
        Some(parts) => Complex64::new(parts[0].as_f64().unwrap(), parts[1].as_f64().unwrap()),
        None => value.as_f64().unwrap().into(),
    };
    let all = json(&folder.join("dense.json"));
    for (name, rows) in all.as_object().unwrap() {
        let market = Market::read(&folder.join(name)).unwrap_or_else(|error| panic!("{error}"));
        let expected: Vec<Vec<Complex64>> = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row.as_array().unwrap().iter().map(number).collect())
            .collect();
        assert_eq!(dense(&market), expected, "{name}");
        assert!(is_market(&folder.join(name)));
    }
}

#[test]
fn every_bad_file_is_refused_with_its_line() {
    let Some(folder) = matrices() else { return };
    let folder = folder.join("bad");
    for (name, what) in json(&folder.join("what.json")).as_object().unwrap() {
        let error = Market::read(&folder.join(name)).expect_err(name).to_string();
        let what = what.as_str().unwrap();
        assert!(error.contains(name.as_str()), "{error}");
        // `line 3: what is wrong`, where a number of the description need not be said twice.
        for part in what.split(": ").flat_map(|part| part.split(", ")) {
            let part =
                part.trim_start_matches("announced entries ").trim_end_matches(" before any memory is taken");
            let part = part.trim_end_matches(": refuse");
            if part != "refuse" {
                assert!(error.contains(part), "{name}: `{part}` is missing in: {error}");
            }
        }
    }
}

#[test]
fn lines_are_counted_over_pieces_of_the_text() {
    let lines = 60_000;
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n% a comment\n\n70000 7 {lines}\n");
    for k in 0..lines {
        text.push_str(&format!("{} {} {:.12e}\r\n", k + 1, k % 7 + 1, (k as f64).sqrt()));
    }
    let market = read(text.as_bytes()).unwrap();
    let Entries::Real(coo) = &market.entries else { panic!("real numbers") };
    assert_eq!((coo.entries.len(), coo.rows, coo.columns), (lines, 70000, 7));
    let last = coo.entries[lines - 1];
    assert_eq!((last.row, last.column), (lines as u32 - 1, (lines as u32 - 1) % 7));
    // The lines in front are four, so entry k stands in line k + 5.
    let broken = text.replace("\n50001 7 ", "\n50001 8 ");
    let error = read(broken.as_bytes()).map(drop).unwrap_err();
    assert_eq!(error, "FILE, line 50005: column 8 of 7; a column from 1 to 7 expected");
    let fewer = text.replace(&format!("70000 7 {lines}"), "70000 7 41234");
    let error = read(fewer.as_bytes()).map(drop).unwrap_err();
    assert!(error.starts_with("FILE, line 41239: more entries than announced"), "{error}");
    let more = text.replace(&format!("70000 7 {lines}"), "70000 7 60001");
    assert!(read(more.as_bytes()).map(drop).unwrap_err().contains("60001 entries announced, 60000 found"));
}

#[test]
fn other_wrong_lines_are_named() {
    let head = "%%MatrixMarket matrix coordinate real general\n2 2 1\n";
    for (text, wanted) in [
        ("%%MatrixMarket vector coordinate real general\n1 1 0\n".to_owned(), "line 1: object `vector`"),
        ("%%MatrixMarket matrix coordinate real\n1 1 0\n".to_owned(), "line 1: symmetry ``"),
        ("%%MatrixMarket matrix array pattern general\n1 1\n".to_owned(), "line 1: field `pattern`"),
        (
            "%%MatrixMarket matrix coordinate real general\n% only comments\n".to_owned(),
            "the end of the file",
        ),
        (format!("{head}1 1 1.0 2.0\n"), "line 3: `2.0` too many"),
        (format!("{head}1 1 1e999\n"), "line 3: `1e999` is not finite"),
        (format!("{head}1 x 1\n"), "line 3: column `x`"),
        (format!("{head}1\n"), "line 3: no column in `1`"),
        ("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n".to_owned(), "line 3: `1.5`"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n".to_owned(), "line 7: more entries"),
        ("%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n".to_owned(), "do not fit"),
        (
            "%%MatrixMarket matrix coordinate real general\n99999999 6 1\n1 1 3.0\n".to_owned(),
            "99999999 rows and 6 columns, but 1 entry",
        ),
        (format!("{head}1 \u{1b}[31m 1\n"), "line 3: column `\u{fffd}[31m`"),
        (
            "%%MatrixMarket matrix coordinate real general\n5000000000 2 0\n".to_owned(),
            "line 2: 5000000000 rows",
        ),
        (
            "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 2\n1 1 4\n2 1 -1\n".to_owned(),
            "line 4: `-1` is not a number of this kind; an integer of at least 0 expected",
        ),
        (
            "%%MatrixMarket matrix array unsigned-integer general\n1 2\n4\n-1\n".to_owned(),
            "line 4: `-1` is not a number of this kind; an integer of at least 0 expected",
        ),
        (
            "%%MatrixMarket matrix array unsigned-integer general\n1 2\n4\n1.5\n".to_owned(),
            "line 4: `1.5` is not a number of this kind",
        ),
        (
            "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n".to_owned(),
            "line 3: `1.5` is not a number of this kind; an integer expected",
        ),
        (
            "%%MatrixMarket matrix array integer general\n1 1\n1e0\n".to_owned(),
            "line 3: `1e0` is not a number of this kind; an integer expected",
        ),
        (
            "%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 2\n".to_owned(),
            "line 3: imaginary part 2 on the diagonal",
        ),
    ] {
        let error = read(text.as_bytes()).expect_err(&text);
        assert!(error.contains(wanted), "`{wanted}` is missing in: {error}");
    }
}

/// Files as other programs write them, and the matrix [[0, −a], [a, 0]] or its like.
#[test]
fn comments_marks_and_zeros_of_other_programs_are_read() {
    let of = |text: &str| dense(&read(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}")));
    let number = |re: f64, im: f64| Complex64::new(re, im);
    let diagonal = vec![vec![number(2.0, 0.0), number(0.0, 0.0)], vec![number(0.0, 0.0), number(4.0, 0.0)]];
    for text in [
        "%%MatrixMarket matrix coordinate real general\n  % blanks before it\n\t%\n\n2 2 2\n1 1 2\n2 2 4\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n % between\n\n2 2 4\n% behind\n\n",
        "\u{feff}%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 4\n",
        "\u{feff}%%MatrixMarket matrix coordinate real general\r\n %\r\n2 2 2\r\n1 1 2\r\n\r\n2 2 4",
        "%%matrixmarket MATRIX Coordinate Double General\n2 2 2\n1 1 2\n2 2 4\n",
        "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 2\n1 1 2\n2 2 4\n",
        "%%MatrixMarket matrix array unsigned-integer symmetric\n2 2\n2\n % x\n0\n4\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 0.2+001\n2 2 400.-002\n",
    ] {
        assert_eq!(of(text), diagonal, "{text:?}");
    }
    let large =
        of("%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 18446744073709551615\n");
    assert_eq!(large[0][0], number(u64::MAX as f64, 0.0));
    let skew = vec![vec![number(0.0, 0.0), number(-3.0, 0.0)], vec![number(3.0, 0.0), number(0.0, 0.0)]];
    for text in [
        "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 3\n1 1 0\n2 1 3\n2 2 -0.0e0\n",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 2\n2 1 3\n1 1 0\n",
        "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 2\n2 1 3 0\n1 1 0 0\n",
        "%%MatrixMarket matrix array real skew-symmetric\n2 2\n3\n",
    ] {
        assert_eq!(of(text), skew, "{text:?}");
    }
    let hermitian = vec![vec![number(1.0, 0.0), number(2.0, -3.0)], vec![number(2.0, 3.0), number(4.0, 0.0)]];
    for text in [
        "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 1 0\n2 1 2 3\n2 2 4 -0.0\n",
        "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0.0\n",
    ] {
        assert_eq!(of(text), hermitian, "{text:?}");
    }
    for (text, wanted) in [
        (
            "%%MatrixMarket matrix coordinate complex skew-symmetric\n1 1 1\n1 1 0 1e-300\n",
            "line 3: number on the diagonal of a skew-symmetric matrix",
        ),
        (
            "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n% a comment\n4 1\n",
            "line 6: imaginary part 1 on the diagonal",
        ),
    ] {
        let error = read(text.as_bytes()).expect_err(text);
        assert!(error.contains(wanted), "`{wanted}` is missing in: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("marked.mtx");
    std::fs::write(&path, "\u{feff}%%MatrixMarket matrix array real general\n1 1\n1\n").unwrap();
    assert!(is_market(&path));
}

#[test]
fn what_is_written_is_read_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let complex = sample(53, 31, true).to_csr().unwrap();
    let real: Csr<f64> = complex.cast();
    for name in ["a.mtx", "a.mtx.gz"] {
        let path = folder.path().join(name);
        write_matrix(&path, &complex, "two\nlines").unwrap();
        let market = Market::read(&path).unwrap();
        assert_eq!((market.header.field, market.header.symmetry), (Field::Complex, Symmetry::General));
        assert_eq!(market.to_csr().unwrap(), AnyCsr::Complex(complex.clone()));
        write_matrix(&path, &real, "").unwrap();
        assert!(is_market(&path));
        assert_eq!(Market::read(&path).unwrap().to_csr().unwrap(), AnyCsr::Real(real.clone()));
        let x: Vec<f64> = (0..7).map(|k| 1.0 / (k as f64 - 2.5)).collect();
        write_vectors(&path, 7, &[&x, &x], "").unwrap();
        let AnyCsr::Real(columns) = Market::read(&path).unwrap().to_csr().unwrap() else { panic!("real") };
        assert!((0..7).all(|i| columns.at(i, 0) == x[i] && columns.at(i, 1) == x[i]));
    }
    let missing = write_vectors::<f64>(Path::new("/nowhere/x.mtx"), 0, &[], "").unwrap_err();
    assert!(missing.to_string().starts_with("/nowhere/x.mtx: "), "{missing}");
}

#[test]
fn a_damaged_file_never_panics() {
    let text =
        b"%%MatrixMarket matrix coordinate complex hermitian\n%c\n3 3 3\n1 1 1 0\n3 1 1 2.5e0\n3 3 7 0\n";
    for k in 0..text.len() {
        for byte in [b' ', b'\n', b'-', b'9', b'%', 0xff, 0] {
            let mut damaged = text.to_vec();
            damaged[k] = byte;
            drop(read(&damaged));
        }
        drop(read(&text[..k]));
    }
    let folder = tempfile::tempdir().unwrap();
    // A hundred megabytes of nothing, in a hundred kilobytes.
    let path = folder.path().join("empty.mtx.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..100).for_each(|_| encoder.write_all(&vec![b'\n'; 1 << 20]).unwrap());
    std::fs::write(&path, encoder.finish().unwrap()).unwrap();
    let error = Market::read(&path).unwrap_err().to_string();
    assert!(error.contains("unpack the file first"), "{error}");
    let path = folder.path().join("cut.mtx.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    let whole = encoder.finish().unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(Market::read(&path).is_err());
}
