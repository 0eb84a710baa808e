//! Every reader against mutations of small valid files: each ends with a typed error or with data that are verified.
//!
//! The seeds are fixed, so a run is repeated exactly. `LATTICE_CL_MUTATIONS` is the number of mutations of each file, for
//! longer searches; `fuzz/` has the same for `cargo fuzz`.

use crate::common;

use common::{sample, shared};
use lattice_cl::geometry::NDIM;
use lattice_cl::host::{Links, Spinor, unitarity};
use lattice_cl::io::{
    ByteOrder, CheckpointWriter, Contents, Error, Format, PropagatorFormat, PropagatorWriter, ReadOptions,
    Rows, SignsInLinks, UNITARITY_LIMIT, WriteOptions, inspect, read_checkpoint, read_gauge_with,
    read_propagator_with, read_results, write_gauge, write_results,
};
use lattice_cl::{Dims, GaugeConfiguration, Precision};
use num_complex::Complex;
use std::path::Path;

/// Of each file, unless the environment says otherwise.
const MUTATIONS: u64 = 150;

/// A small valid file.
struct Seed {
    name: String,
    bytes: Vec<u8>,
    links: Option<Links>,
    /// Whether a checksum stands beside the data, so that what is read can only be what was written.
    summed: bool,
}

/// SplitMix64 (G. L. Steele et al., OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// What headers and records are made of, and what breaks parsers.
const WORDS: &[&[u8]] = &[
    b"<",
    b">",
    b"</",
    b"/>",
    b"<?xml",
    b"<!--",
    b"<![CDATA[",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&lt;",
    b"&#0;",
    b"&b;",
    b" xmlns:a='b'",
    b"=\"",
    b"0x",
    b"0X",
    b"-1",
    b"1e400",
    b"NaN",
    b"inf",
    b"4294967296",
    b"18446744073709551616",
    b"\xff\xfe",
    b"\0",
    b"\n",
    b"\r\n",
    b"\x45\x67\x89\xab",
    b"END_HEADER\n",
    b"CHECKSUM = 0\n",
    b"DIMENSION_1 = 2\n",
    b"IEEE64LITTLE",
    b"<suma>0</suma>",
    b"<lx>2</lx>",
    b"QUDA_DNc3_GaugeField",
    b"plaquette = 0.5",
    b"TREE",
    b"SNOD",
    b"HEAP",
    b"GCOL",
    b"OHDR",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"'shape': (4, 2",
];

/// Where LIME records begin.
fn record_starts(bytes: &[u8]) -> Vec<usize> {
    let magic = [0x45, 0x67, 0x89, 0xab];
    (0..bytes.len()).step_by(8).filter(|&at| bytes[at..].starts_with(&magic)).collect()
}

/// One change. Half of all places are in the first two thousand bytes, where most of what can go wrong stands.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let near = bytes.len().min(2000);
    let length = bytes.len();
    let place =
        |random: &mut Random| if random.below(2) == 0 { random.below(near) } else { random.below(length) };
    match random.below(12) {
        0 => {
            let at = place(random);
            bytes[at] ^= 1 << random.below(8);
        }
        1 => bytes.truncate(place(random)),
        2 => {
            let (at, word) = (place(random), random.of(WORDS));
            bytes.splice(at..at, word.iter().copied());
        }
        3 => {
            let (at, word) = (place(random), random.of(WORDS));
            for (to, from) in bytes[at..].iter_mut().zip(word) {
                *to = *from;
            }
        }
        4 => {
            let at = place(random);
            let end = (at + random.below(40)).min(length);
            bytes.drain(at..end);
        }
        5 => {
            let at = place(random);
            let end = (at + random.below(200)).min(length);
            let part = bytes[at..end].to_vec();
            let to = place(random);
            bytes.splice(to..to, part);
        }
        // A digit of a number in a text.
        6 => {
            let digits: Vec<usize> = (0..near).filter(|&at| bytes[at].is_ascii_digit()).collect();
            if !digits.is_empty() {
                bytes[digits[random.below(digits.len())]] = b"0123456789-. <"[random.below(14)];
            }
        }
        // The length of a record, and what follows from it.
        7 | 8 => {
            let starts = record_starts(bytes);
            if !starts.is_empty() {
                let at = starts[random.below(starts.len())] + 8;
                let lengths = [0, 1, 7, 8, u64::MAX, 1 << 63, 1 << 40, length as u64, random.next() >> 40];
                let value = lengths[random.below(lengths.len())].to_be_bytes();
                for (to, from) in bytes.iter_mut().skip(at).zip(value) {
                    *to = from;
                }
            }
        }
        // A record twice, or none.
        9 => {
            let mut starts = record_starts(bytes);
            starts.push(length);
            if starts.len() > 1 {
                let k = random.below(starts.len() - 1);
                let (from, to) = (starts[k], starts[k + 1]);
                let record = bytes[from..to].to_vec();
                if random.below(2) == 0 {
                    bytes.drain(from..to);
                }
                let whole: Vec<usize> = starts.into_iter().filter(|&at| at <= bytes.len()).collect();
                let to = whole[random.below(whole.len())];
                if random.below(3) > 0 {
                    bytes.splice(to..to, record);
                }
            }
        }
        // Two files in one.
        10 => {
            let at = place(random);
            bytes.splice(at.., other.iter().copied());
        }
        _ => bytes.extend_from_slice(&other[random.below(other.len())..]),
    }
}

fn seeds() -> Vec<Seed> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    let mut seeds = Vec::new();
    let mut add = |name: String, links: Option<Links>, summed| {
        seeds.push(Seed { name, bytes: std::fs::read(&path).unwrap(), links, summed });
    };
    for precision in [Precision::Single, Precision::Double] {
        let config = sample([2, 2, 2, 4], precision);
        for format in Format::ALL {
            if format.holds(precision) && format != Format::BridgeText {
                write_gauge(&path, &config, &WriteOptions::new(format)).unwrap();
                // The sum of a NERSC file does not know the order of its words.
                let summed = ![Format::Nersc, Format::OpenQcd, Format::DdAlphaAmg].contains(&format);
                add(format!("{format} {precision}"), Some(config.links().clone()), summed);
            }
        }
        let options =
            WriteOptions::new(Format::Nersc).with_rows(Rows::Two).with_byte_order(Some(ByteOrder::Little));
        write_gauge(&path, &config, &options).unwrap();
        add(format!("nersc, two rows {precision}"), None, false);
    }
    let dims = Dims::new([2, 2, 2, 4]).unwrap();
    let mut writer = PropagatorWriter::create(&path, dims, Precision::Single, "a note").unwrap();
    for colour in 0..2 {
        let field =
            |site: usize| Spinor::from_fn(|s, c| Complex::new((site + s) as f64, (c + colour) as f64));
        writer.write(1, colour, &(0..dims.volume()).map(field).collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap();
    add("propagator".to_owned(), None, false);
    let dims = Dims::new([2, 2, 2, 2]).unwrap();
    for format in PropagatorFormat::ALL.into_iter().filter(|format| format.holds_all_columns()) {
        let mut writer =
            PropagatorWriter::create_as(&path, format, dims, Precision::Single, "a note").unwrap();
        for column in 0..12 {
            let field =
                |site: usize| Spinor::from_fn(|s, c| Complex::new((site + s) as f64, (c + column) as f64));
            let field: Vec<_> = (0..dims.volume()).map(field).collect();
            writer.write(column / 3, column % 3, &field).unwrap();
        }
        writer.finish().unwrap();
        add(format!("propagator {format}"), None, false);
    }
    for name in ["gzip.h5", "latest.h5"] {
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name), &path).unwrap();
        add(name.to_owned(), None, false);
    }
    write_results(path.with_extension("h5"), &serde_json::json!({ "a": [1, 2.5], "b": { "c": "d" } }))
        .unwrap();
    std::fs::rename(path.with_extension("h5"), &path).unwrap();
    add("results".to_owned(), None, false);
    let mut writer = CheckpointWriter::create(&path, "{\"about\": 1}").unwrap();
    writer.block(&[1; 100]).unwrap();
    writer.block(&[]).unwrap();
    writer.finish().unwrap();
    add("checkpoint".to_owned(), None, false);
    std::fs::write(&path, text(&sample([2, 2, 2, 4], Precision::Single))).unwrap();
    add("text".to_owned(), None, false);
    if let Some(shared) = shared() {
        for name in ["t_nersc.cfg", "lat.sample.l4444.scidac", "l4444_pyquda.h5"] {
            std::fs::copy(shared.join("data").join(name), &path).unwrap();
            // Whoever copies a file that may only be read may not write the copy.
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, bytes).unwrap();
            add(name.to_owned(), None, false);
        }
    }
    seeds
}

fn text(config: &GaugeConfiguration) -> String {
    let link = |index: usize| config.link(index / NDIM, index % NDIM);
    let entries = (0..NDIM * config.dims().volume()).flat_map(|index| link(index).0.into_iter().flatten());
    entries.map(|entry| format!("{:e}\n{:.16}\n", entry.re, entry.im)).collect()
}

/// An error must name the file, say something, and be fit for a terminal.
fn check_error(path: &Path, error: &Error) {
    let message = error.to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
    assert!(message.len() < 4000, "{message}");
}

fn check_links(seed: &Seed, config: &GaugeConfiguration, verified: bool) {
    let found = unitarity(config);
    assert!(found.unitarity_deviation <= UNITARITY_LIMIT, "{}", seed.name);
    assert!(found.determinant_deviation <= UNITARITY_LIMIT, "{}", seed.name);
    if let (Some(links), true) = (&seed.links, verified && seed.summed) {
        // The extents may be others: no sum is over them.
        assert!(config.links() == links, "{}: other links under a checksum that agrees", seed.name);
    }
}

fn check(seed: &Seed, path: &Path, random: &mut Random) {
    let options = ReadOptions::default()
        .with_dims((random.below(3) == 0).then(|| Dims::new([2, 2, 2, 4]).unwrap()))
        .with_format((random.below(8) == 0).then_some(Format::BridgeBinary));
    match read_gauge_with(path, &options) {
        Ok(file) => check_links(seed, &file.configuration, file.checksum.is_some_and(|checksum| checksum.ok)),
        Err(error) => check_error(path, &error),
    }
    // What is wrong is let pass, and the rest must hold all the same.
    let ignoring =
        options.with_ignore_checksum(true).with_ignore_unitarity(random.below(2) == 0).with_signs_in_links(
            [SignsInLinks::Refuse, SignsInLinks::Remove, SignsInLinks::Keep][random.below(3)],
        );
    match inspect(path, &ignoring) {
        Ok(Contents::Configuration(inspection)) => {
            inspection.problem.iter().for_each(|problem| check_error(path, problem));
            let config = &inspection.file.configuration;
            let is_finite = |index: usize| {
                let link = config.link(index / NDIM, index % NDIM);
                link.0.iter().flatten().all(|entry| entry.re.is_finite() && entry.im.is_finite())
            };
            assert!((0..NDIM * config.dims().volume()).all(is_finite), "{}", seed.name);
        }
        Ok(Contents::Propagator(summary)) => {
            summary.problem.iter().for_each(|problem| check_error(path, problem));
            let norms = summary.solutions.iter().flat_map(|solution| &solution.norm2_by_t);
            assert!(norms.into_iter().all(|norm| !norm.is_nan()), "{}", seed.name);
        }
        Err(error) => check_error(path, &error),
    }
    match read_propagator_with(path, &options) {
        Ok(propagator) => {
            let sites = propagator.dims.volume();
            assert!(propagator.records.iter().all(|record| record.field.len() == sites));
        }
        Err(error) => check_error(path, &error),
    }
    if let Err(error) = read_results(path) {
        check_error(path, &error);
    }
    if let Err(error) = read_checkpoint(path) {
        check_error(path, &error);
    }
}

#[test]
fn mutated_files_end_in_errors_or_in_verified_data() {
    let count = std::env::var("LATTICE_CL_MUTATIONS").ok().and_then(|text| text.parse().ok());
    let count = count.unwrap_or(MUTATIONS);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let seeds = seeds();
    let mut read = 0;
    for (k, seed) in seeds.iter().enumerate() {
        std::fs::write(&path, &seed.bytes).unwrap();
        check(seed, &path, &mut Random(0));
        for round in 0..count {
            let mut random = Random((k as u64) << 32 | round);
            let other = &seeds[random.below(seeds.len())].bytes;
            let mut bytes = seed.bytes.clone();
            for _ in 0..=random.below(3) {
                mutate(&mut bytes, other, &mut random);
            }
            std::fs::write(&path, &bytes).unwrap();
            check(seed, &path, &mut random);
            read += 1;
        }
    }
    assert!(read >= count * 14);
}

/// The mutations reach both outcomes: a harness whose files are all refused at the first byte finds nothing.
#[test]
fn mutations_are_neither_all_harmless_nor_all_fatal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (mut sound, mut refused) = (0, std::collections::BTreeSet::new());
    for seed in seeds().iter().filter(|seed| seed.links.is_some()) {
        for round in 0..40 {
            let mut random = Random(round + 1000);
            let mut bytes = seed.bytes.clone();
            mutate(&mut bytes, &seed.bytes, &mut random);
            std::fs::write(&path, &bytes).unwrap();
            match read_gauge_with(&path, &ReadOptions::default()) {
                Ok(_) => sound += 1,
                Err(error) => {
                    let kind = format!("{:?}", error.kind);
                    refused.insert(kind.split([' ', '(']).next().unwrap_or_default().to_owned());
                }
            }
        }
    }
    assert!(sound > 20 && refused.len() > 5, "{sound} {refused:?}");
}
