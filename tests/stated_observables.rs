//! Plaquette and link trace that files state: a wrong one is a mismatch in every format.

use crate::common;

use common::sample;
use lattice_cl::gauge::{link_trace, plaquette};
use lattice_cl::io::{
    ErrorKind, Format, ReadOptions, WriteOptions, inspect_gauge, read_gauge_with, write_gauge,
};
use lattice_cl::{GaugeConfiguration, Precision};
use std::path::PathBuf;

fn config() -> GaugeConfiguration {
    sample([4, 2, 6, 8], Precision::Double)
}

/// A file of this format as bytes.
fn written(format: Format) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write_gauge(&path, &config(), &WriteOptions::new(format)).unwrap();
    std::fs::read(path).unwrap()
}

/// The bytes of a LIME file with another record in front of the data, or with another text in one.
fn with_record(bytes: &[u8], kind: &str, text: &str) -> Vec<u8> {
    let mut record = 0x4567_89ab_u32.to_be_bytes().to_vec();
    record.extend([0, 1, 0, 0]);
    record.extend((text.len() as u64).to_be_bytes());
    record.extend(kind.as_bytes());
    record.resize(144, 0);
    record.extend(text.as_bytes());
    record.resize(record.len().next_multiple_of(8), 0);
    let (mut start, mut place, mut end) = (0, None, 0);
    while start < bytes.len() {
        let length = u64::from_be_bytes(bytes[start + 8..start + 16].try_into().unwrap()) as usize;
        let next = (start + 144 + length).next_multiple_of(8);
        let name = bytes[start + 16..start + 144].split(|&byte| byte == 0).next().unwrap();
        if name == kind.as_bytes() {
            (place, end) = (Some(start), next);
            break;
        }
        if name.ends_with(b"binary-data") && place.is_none() {
            (place, end) = (Some(start), start);
        }
        start = next;
    }
    [&bytes[..place.unwrap()], &record, &bytes[end..]].concat()
}

/// A line of a text header with another value.
fn with_value(bytes: &[u8], keyword: &str, value: &str) -> Vec<u8> {
    let line = format!("\n{keyword} = ");
    let at = bytes.windows(line.len()).position(|window| window == line.as_bytes()).unwrap() + line.len();
    let end = at + bytes[at..].iter().position(|&byte| byte == b'\n').unwrap();
    [&bytes[..at], value.as_bytes(), &bytes[end..]].concat()
}

/// A way in which a file states an observable.
struct Statement {
    name: &'static str,
    quantity: &'static str,
    right: f64,
    file: Box<dyn Fn(f64) -> Vec<u8>>,
}

fn statements() -> Vec<Statement> {
    let (plaquette, trace) = (plaquette(&config()).average, link_trace(&config()));
    let mut all = Vec::new();
    let mut add = |name, quantity, right, file: Box<dyn Fn(f64) -> Vec<u8>>| {
        all.push(Statement { name, quantity, right, file });
    };
    for format in [Format::Ildg, Format::SciDac] {
        let file = move |record: &str, text: String| with_record(&written(format), record, &text);
        add(
            "xlf-info",
            "plaquette",
            plaquette,
            Box::new(move |x| file("xlf-info", format!("\n plaquette = {x:.14}\n trajectory nr = 7"))),
        );
        add(
            "plaq",
            "plaquette",
            plaquette,
            Box::new(move |x| {
                let text =
                    format!("<usqcdInfo><version>1.0</version><plaq>{x:e}</plaq><linktr>{trace}</linktr>");
                file("scidac-record-xml", text + "<info></info></usqcdInfo>")
            }),
        );
        add(
            "linktr",
            "link trace",
            trace,
            Box::new(move |x| {
                let text = format!("<usqcdInfo><linktr>{x:.12}</linktr></usqcdInfo>\0garbage <");
                file("scidac-record-xml", text)
            }),
        );
    }
    for (keyword, quantity, right) in
        [("PLAQUETTE", "plaquette", plaquette), ("LINK_TRACE", "link trace", trace)]
    {
        let fortran = |x: f64| format!("{x:.12e}").replace('e', "D");
        add(
            keyword,
            quantity,
            right,
            Box::new(move |x| with_value(&written(Format::Nersc), keyword, &fortran(x))),
        );
    }
    for format in [Format::OpenQcd, Format::DdAlphaAmg] {
        let file = move |x: f64| {
            let mut bytes = written(format);
            bytes[16..24].copy_from_slice(&(3.0 * x).to_le_bytes());
            bytes
        };
        add("byte 16", "plaquette", plaquette, Box::new(file));
    }
    all
}

#[test]
fn a_wrong_observable_is_a_mismatch_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("file");
    for Statement { name, quantity, right, file } in statements() {
        std::fs::write(&path, file(right)).unwrap();
        let read = read_gauge_with(&path, &ReadOptions::default()).unwrap();
        let about = format!("{name} of {}", read.format);
        let check = read.header_checks.iter().find(|check| check.quantity == quantity).unwrap();
        assert!(check.ok && read.warnings.is_empty(), "{about}: {check:?} {:?}", read.warnings);
        assert!(read.configuration == config(), "{about}");

        for wrong in [right + 2e-5, right + 0.1, 3.0 * right, -right] {
            std::fs::write(&path, file(wrong)).unwrap();
            // The sums of the file are right, and say nothing of what else it states.
            let inspection = inspect_gauge(&path, &ReadOptions::default()).unwrap();
            let problem = inspection.problem.unwrap_or_else(|| panic!("{about}: {wrong} passes"));
            assert!(problem.is_mismatch(), "{about}: {problem}");
            let is_named = matches!(problem.kind, ErrorKind::HeaderMismatch { quantity: found, .. } if found == quantity);
            assert!(is_named, "{about}: {problem}");
            // The plaquette alone tells openQCD from DDalphaAMG, if nobody names the format.
            let format = Some(read.format);
            let ignoring = ReadOptions::default().with_ignore_checksum(true).with_format(format);
            let read = read_gauge_with(&path, &ignoring).unwrap();
            assert!(read.header_checks.iter().any(|check| !check.ok), "{about}");
            assert!(read.configuration == config(), "{about}");
        }
    }
}

#[test]
fn what_is_no_number_is_refused_unless_checks_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let text = "<usqcdInfo><plaq>0.5x</plaq></usqcdInfo>";
    for bytes in [
        with_record(&written(Format::Ildg), "scidac-record-xml", text),
        with_value(&written(Format::Nersc), "PLAQUETTE", "0.5x"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let message = read_gauge_with(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains("not a number") && message.contains("0.5x"), "{message}");
        let ignoring = ReadOptions::default().with_ignore_checksum(true);
        assert!(read_gauge_with(&path, &ignoring).is_ok());
    }
}

/// Grid's reader asks for most of these, and the archive for all.
#[test]
fn a_nersc_header_has_every_keyword_of_the_archive() {
    let bytes = written(Format::Nersc);
    let text = String::from_utf8_lossy(&bytes[..1000]).into_owned();
    let header = text.split("END_HEADER").next().unwrap();
    for keyword in [
        "HDR_VERSION",
        "DATATYPE",
        "STORAGE_FORMAT",
        "DIMENSION_1",
        "DIMENSION_2",
        "DIMENSION_3",
        "DIMENSION_4",
        "LINK_TRACE",
        "PLAQUETTE",
        "BOUNDARY_1",
        "BOUNDARY_2",
        "BOUNDARY_3",
        "BOUNDARY_4",
        "CHECKSUM",
        "ENSEMBLE_ID",
        "ENSEMBLE_LABEL",
        "SEQUENCE_NUMBER",
        "CREATOR",
        "CREATOR_HARDWARE",
        "CREATION_DATE",
        "ARCHIVE_DATE",
        "FLOATING_POINT",
    ] {
        let values: Vec<_> = header
            .lines()
            .filter_map(|line| line.split_once(" = "))
            .filter(|line| line.0 == keyword)
            .collect();
        assert!(values.len() == 1 && !values[0].1.trim().is_empty(), "{keyword}: {values:?}");
    }
    let number = header.lines().find_map(|line| line.strip_prefix("SEQUENCE_NUMBER = "));
    assert!(number.unwrap().parse::<i64>().is_ok());
}
