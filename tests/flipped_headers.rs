//! Each single bit of the headers of LIME records: a file with less in it than before is refused, or warns.

use lattice_cl::host::Spinor;
use lattice_cl::io::{Contents, Format, PropagatorWriter, ReadOptions, WriteOptions, inspect, write_gauge};
use lattice_cl::{Dims, Precision};
use num_complex::Complex;
use std::path::Path;

use crate::common;

/// What a file says: numbers and sums in one text, facts in the other.
#[derive(Debug, PartialEq)]
struct Said {
    numbers: String,
    facts: Vec<(String, String)>,
}

/// What is said of a file without a doubt; `None` if it is refused, or warns.
fn said(path: &Path) -> Option<Said> {
    match inspect(path, &ReadOptions::default()).ok()? {
        Contents::Configuration(inspection) => {
            let file = inspection.file;
            let is_sound = inspection.problem.is_none() && file.warnings.is_empty();
            let numbers = format!("{:?} {:?} {}", file.configuration.links(), file.checksum, file.format);
            is_sound.then_some(Said { numbers, facts: file.facts })
        }
        Contents::Propagator(summary) => {
            let is_sound = summary.problem.is_none() && summary.warnings.is_empty();
            is_sound.then(|| Said { numbers: format!("{:?}", summary.solutions), facts: summary.facts })
        }
    }
}

/// Where the headers of LIME records begin.
fn headers(bytes: &[u8]) -> Vec<usize> {
    let magic = [0x45, 0x67, 0x89, 0xab];
    let (mut headers, mut start) = (Vec::new(), 0);
    while start < bytes.len() {
        assert!(bytes[start..].starts_with(&magic), "byte {start}");
        headers.push(start);
        let length = u64::from_be_bytes(bytes[start + 8..start + 16].try_into().unwrap()) as usize;
        start = (start + 144 + length).next_multiple_of(8);
    }
    headers
}

/// Flips each bit that means something, and returns how many files were found to be damaged.
fn check(path: &Path) -> usize {
    let sound = std::fs::read(path).unwrap();
    let original = said(path).unwrap_or_else(|| panic!("{} is not sound", path.display()));
    let mut damaged = 0;
    for start in headers(&sound) {
        let name = sound[start + 16..start + 144].iter().position(|&byte| byte == 0).unwrap();
        // The name with the zero that ends it, and one byte that means nothing.
        for at in start..=start + 16 + name + 1 {
            for bit in 0..8 {
                let mut bytes = sound.clone();
                bytes[at] ^= 1 << bit;
                std::fs::write(path, &bytes).unwrap();
                match said(path) {
                    None => damaged += 1,
                    Some(said) => {
                        let place = format!("bit {bit} of byte {at}, in the record at {start}");
                        assert!(said == original, "{place}: {said:?} is not {original:?}");
                    }
                }
            }
        }
    }
    std::fs::write(path, sound).unwrap();
    damaged
}

#[test]
fn no_bit_of_a_header_takes_a_solution_away_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("propagator.lime");
    let dims = Dims::new([2, 2, 2, 2]).unwrap();
    let mut writer = PropagatorWriter::create(&path, dims, Precision::Single, "of a test").unwrap();
    for column in 0..3 {
        let field =
            |site: usize| Spinor::from_fn(|s, c| Complex::new((site + s) as f64, (c + column) as f64));
        writer.write(column, 1, &(0..dims.volume()).map(field).collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap();
    assert!(check(&path) > 2000);
}

#[test]
fn no_bit_of_a_header_changes_what_is_said_of_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("configuration.lime");
    for format in [Format::Ildg, Format::SciDac] {
        let config = common::sample([2, 2, 2, 2], Precision::Single);
        let description = Some("of a test".to_owned());
        write_gauge(&path, &config, &WriteOptions::new(format).with_description(description)).unwrap();
        assert!(check(&path) > 800, "{format}");
    }
}
