//! Gauge configurations in files: those that others published, and those written here.

use crate::common;

use common::{sample, shared};
use lattice_cl::gauge::{link_trace, plaquette, polyakov_loop};
use lattice_cl::geometry::NDIM;
use lattice_cl::host::{Links, Unitarity, unitarity};
use lattice_cl::io::{
    ByteOrder, Error, ErrorKind, Format, ReadOptions, Rows, WriteOptions, read_gauge, read_gauge_with,
    write_gauge,
};
use lattice_cl::{Dims, GaugeConfiguration, Precision};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

fn with_dims(extents: [usize; NDIM]) -> ReadOptions<'static> {
    ReadOptions::default().with_dims(Some(Dims::new(extents).unwrap()))
}

fn data(name: &str) -> Option<PathBuf> {
    Some(shared()?.join("data").join(name))
}

/// Why a file is refused.
fn refusal(path: &Path, options: &ReadOptions) -> Error {
    match read_gauge_with(path, options) {
        Ok(_) => panic!("{} was read", path.display()),
        Err(error) => error,
    }
}

fn largest_difference(a: &GaugeConfiguration, b: &GaugeConfiguration) -> f64 {
    assert_eq!(a.dims(), b.dims());
    (0..NDIM * a.dims().volume())
        .map(|n| a.link(n / NDIM, n % NDIM).max_difference(&b.link(n / NDIM, n % NDIM)))
        .fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
}

#[test]
fn observables_of_public_files_are_those_of_an_independent_program() {
    let Some(shared) = shared() else { return };
    let text = std::fs::read_to_string(shared.join("reference/computed.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty());
    for case in &cases {
        let name = case["file"].as_str().unwrap();
        let extents: [usize; NDIM] = serde_json::from_value(case["dims"].clone()).unwrap();
        let file = read_gauge_with(shared.join("data").join(name), &with_dims(extents)).unwrap();
        let config = &file.configuration;
        assert_eq!(config.dims().extents(), extents);
        let (p, loop_) = (plaquette(config), polyakov_loop(config));
        for (found, wanted) in [
            (p.average, &case["plaquette"]["average"]),
            (p.spatial, &case["plaquette"]["spatial"]),
            (p.temporal, &case["plaquette"]["temporal"]),
            (link_trace(config), &case["link_trace"]),
            (loop_.re, &case["polyakov"][0]),
            (loop_.im, &case["polyakov"][1]),
        ] {
            let wanted = wanted.as_f64().unwrap();
            assert!((found - wanted).abs() < 1e-12, "{name}: {found} is not {wanted}");
        }
        // Files in double may hold links that once were single.
        let Unitarity { unitarity_deviation, determinant_deviation } = unitarity(config);
        assert!(unitarity_deviation < 1e-6 && determinant_deviation < 1e-6, "{name}");
    }
}

#[test]
fn observables_agree_with_what_other_codes_print() {
    let Some(folder) = shared().map(|shared| shared.join("data")) else {
        return;
    };
    let near =
        |found: f64, wanted: f64, digits: f64| assert!((found - wanted).abs() < digits, "{found} {wanted}");

    let weak = read_gauge(folder.join("weak_field.lime")).unwrap();
    near(plaquette(&weak).average, 0.9948041322667, 1e-12);
    near(link_trace(&weak), 0.379449348715193, 1e-12);
    near(polyakov_loop(&weak).re, 0.878769500914111, 1e-12);
    near(polyakov_loop(&weak).im, -0.00991386113656915, 1e-12);

    let milc = plaquette(&read_gauge(folder.join("lat.sample.l4444")).unwrap());
    near(3.0 * milc.spatial, 1.794675, 1e-6);
    near(3.0 * milc.temporal, 1.774426, 1e-6);

    let nersc = read_gauge(folder.join("nersc.l8t4b3360")).unwrap();
    near(plaquette(&nersc).average, 0.5038664469, 1e-10);
    near(link_trace(&nersc), 0.005406083858, 1e-12);

    let two_rows = read_gauge(folder.join("t_nersc.cfg")).unwrap();
    near(plaquette(&two_rows).average, 0.038242289324, 1e-9);
    near(link_trace(&two_rows), 0.4630322094, 1e-8);
}

#[test]
fn checksums_of_public_files_are_the_published_ones() {
    for (name, format, kind, sums) in [
        ("weak_field.lime", Format::Ildg, "scidac", "a2c41090 11193c39"),
        ("lat.sample.l4444", Format::Milc, "milc", "02352c05 d137321d"),
        ("lat.sample.l4444.ildg", Format::Ildg, "scidac", "37affb9c 2fc07bbf"),
        ("lat.sample.l4444.scidac", Format::SciDac, "scidac", "37affb9c 2fc07bbf"),
        ("nersc.l8t4b3360", Format::Nersc, "nersc", "b379560a"),
        ("ildg.l8t4b3360", Format::Ildg, "scidac", "10d0ea1a a6a1b3b8"),
        ("t_nersc.cfg", Format::Nersc, "nersc", "717938df"),
    ] {
        let Some(path) = data(name) else { return };
        let file = read_gauge_with(path, &ReadOptions::default()).unwrap();
        assert_eq!(file.format, format, "{name}");
        let checksum = file.checksum.unwrap();
        assert_eq!((checksum.kind, checksum.stored.as_str(), checksum.ok), (kind, sums, true), "{name}");
        assert_eq!(checksum.computed, sums, "{name}");
    }
}

#[test]
fn one_field_in_three_formats_is_one_field() {
    let Some(folder) = shared().map(|shared| shared.join("data")) else {
        return;
    };
    let [milc, ildg, scidac] = ["lat.sample.l4444", "lat.sample.l4444.ildg", "lat.sample.l4444.scidac"]
        .map(|name| read_gauge(folder.join(name)).unwrap());
    assert_eq!(milc.precision(), Precision::Single);
    assert_eq!(milc, ildg);
    assert_eq!(milc, scidac);

    let nersc = read_gauge(folder.join("nersc.l8t4b3360")).unwrap();
    let ildg = read_gauge(folder.join("ildg.l8t4b3360")).unwrap();
    assert!(largest_difference(&nersc, &ildg) <= 6e-16);
}

#[test]
fn a_file_without_extents_is_read_when_they_are_given() {
    let Some(path) = data("wilson_beta5.7_kappa0.141139.ildg") else {
        return;
    };
    let error = refusal(&path, &ReadOptions::default());
    assert!(matches!(error.kind, ErrorKind::MissingExtents { .. }));
    let message = error.to_string();
    assert!(message.contains("wilson_beta5.7") && message.contains("--dims 8x8x8x16"), "{message}");

    let file = read_gauge_with(&path, &with_dims([4, 4, 4, 4])).unwrap();
    assert_eq!(file.configuration.precision(), Precision::Double);
    assert!(file.checksum.is_none());
    assert!((plaquette(&file.configuration).average - 0.565800226845).abs() < 1e-12);

    let error = refusal(&path, &with_dims([4, 4, 4, 6]));
    assert!(matches!(error.kind, ErrorKind::PayloadSize { byte: 144, found: 147456, .. }), "{error}");
}

#[test]
fn the_header_of_a_two_row_file_is_verified() {
    let Some(path) = data("t_nersc.cfg") else { return };
    let file = read_gauge_with(&path, &ReadOptions::default()).unwrap();
    assert_eq!(file.configuration.precision(), Precision::Single);
    let names: Vec<_> = file.header_checks.iter().map(|check| check.quantity).collect();
    assert_eq!(names, ["plaquette", "link trace"]);
    assert!(file.header_checks.iter().all(|check| check.ok));
    assert!(file.facts.contains(&("ENSEMBLE_LABEL".into(), "SZIN".into())));
    assert!(unitarity(&file.configuration).unitarity_deviation < 1e-6);
}

#[test]
fn extents_that_contradict_the_file_are_refused() {
    for name in ["weak_field.lime", "lat.sample.l4444", "lat.sample.l4444.scidac", "t_nersc.cfg"] {
        let Some(path) = data(name) else { return };
        let error = read_gauge_with(path, &with_dims([4, 4, 8, 8])).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::OtherExtents { .. }), "{error}");
        assert!(!error.is_mismatch());
    }
}

/// Every way to write a configuration of this precision that keeps its bits.
fn faithful_options(precision: Precision) -> Vec<WriteOptions<'static>> {
    let mut all = vec![WriteOptions::new(Format::Ildg), WriteOptions::new(Format::SciDac)];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for format in [Format::Nersc, Format::Milc] {
            all.push(WriteOptions::new(format).with_byte_order(Some(order)));
        }
    }
    all.retain(|options| precision == Precision::Single || options.format != Format::Milc);
    all
}

fn written(folder: &Path, config: &GaugeConfiguration, options: &WriteOptions) -> PathBuf {
    let path = folder.join(format!("configuration.{}", options.format));
    write_gauge(&path, config, options).unwrap();
    path
}

#[test]
fn what_is_written_is_read_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    for precision in [Precision::Single, Precision::Double] {
        let config = sample([2, 4, 6, 2], precision);
        for options in faithful_options(precision) {
            let path = written(folder.path(), &config, &options);
            let file = read_gauge_with(&path, &ReadOptions::default()).unwrap();
            assert_eq!(file.configuration, config, "{} {precision}", options.format);
            assert_eq!(file.format, options.format);
            assert!(file.checksum.is_some_and(|checksum| checksum.ok));
            assert!(file.header_checks.iter().all(|check| check.ok));
        }
    }
}

#[test]
fn a_lattice_of_several_chunks_is_read_back_bit_for_bit() {
    // 20 000 sites are 11 MB in double precision: more than is in memory at a time.
    let folder = tempfile::tempdir().unwrap();
    let config = sample([10, 10, 10, 20], Precision::Double);
    for format in [Format::Ildg, Format::Nersc] {
        let path = written(folder.path(), &config, &WriteOptions::new(format));
        let (calls, last) = (AtomicU64::new(0), AtomicU64::new(0));
        let progress = |done: u64, total: u64| {
            assert!(done > last.load(Ordering::Relaxed) && done <= total);
            calls.fetch_add(1, Ordering::Relaxed);
            last.store(done, Ordering::Relaxed);
        };
        let options = ReadOptions::default().with_progress(Some(&progress));
        assert!(read_gauge_with(&path, &options).unwrap().configuration == config);
        assert_eq!(calls.into_inner(), 2);
        assert_eq!(last.into_inner(), 20_000 * 576);
    }
}

#[test]
fn two_rows_are_kept_bit_for_bit_and_the_third_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    for (precision, limit) in [(Precision::Single, 3e-7), (Precision::Double, 1e-15)] {
        let config = sample([2, 4, 6, 2], precision);
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let options = WriteOptions::new(Format::Nersc).with_rows(Rows::Two).with_byte_order(Some(order));
            let path = written(folder.path(), &config, &options);
            let found = read_gauge(&path).unwrap();
            for n in 0..NDIM * config.dims().volume() {
                let (a, b) = (config.link(n / NDIM, n % NDIM), found.link(n / NDIM, n % NDIM));
                assert_eq!(a.0[..2], b.0[..2]);
            }
            assert!(largest_difference(&config, &found) < limit);
            let links = || {
                let bytes = std::fs::read(&path).unwrap();
                bytes[payload_start(Format::Nersc, &bytes)..].to_vec()
            };
            let once = links();
            write_gauge(&path, &found, &options).unwrap();
            assert_eq!(links(), once);
        }
    }
}

#[test]
fn precision_is_changed_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 4, 2], Precision::Double);
    for format in [Format::Ildg, Format::SciDac, Format::Nersc, Format::Milc] {
        let options = WriteOptions::new(format).with_precision(Some(Precision::Single));
        let found = read_gauge(written(folder.path(), &config, &options)).unwrap();
        let Links::Single(links) = found.links() else { panic!("{format} is not in single precision") };
        for (n, link) in links.iter().enumerate() {
            assert_eq!(*link, config.link(n / NDIM, n % NDIM).cast::<f32>());
        }
    }
    let single = sample([2, 2, 4, 2], Precision::Single);
    let options = WriteOptions::default().with_precision(Some(Precision::Double));
    let found = read_gauge(written(folder.path(), &single, &options)).unwrap();
    assert_eq!(found.precision(), Precision::Double);
    assert_eq!(largest_difference(&single, &found), 0.0);
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 2, 2], Precision::Double);
    let new = WriteOptions::new;
    for options in [
        new(Format::Milc).with_precision(Some(Precision::Double)),
        new(Format::Ildg).with_byte_order(Some(ByteOrder::Little)),
        new(Format::SciDac).with_rows(Rows::Two),
        new(Format::Nersc).with_lfn(Some("lfn://a".into())),
    ] {
        let error = write_gauge(folder.path().join("file"), &config, &options).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::NotInFormat { .. }), "{error}");
    }
    let mut scaled = config.clone();
    let Links::Double(links) = scaled.links_mut() else { unreachable!("made in double") };
    links[9] = links[9].scale(1.1);
    let options = new(Format::Nersc).with_rows(Rows::Two);
    let error = write_gauge(folder.path().join("file"), &scaled, &options).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::NotSpecialUnitary { .. }), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn header_texts_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 2, 2], Precision::Single);
    let options = WriteOptions::default().with_lfn(Some("lfn://here/α".into()));
    let file = read_gauge_with(written(folder.path(), &config, &options), &ReadOptions::default()).unwrap();
    assert!(file.facts.contains(&("lfn".into(), "lfn://here/α".into())), "{:?}", file.facts);
    assert_eq!(file.fields, 1);
    for (format, name) in [(Format::Nersc, "ENSEMBLE_LABEL"), (Format::Milc, "date")] {
        let options = WriteOptions::new(format).with_description(Some("beta = 6.0".into()));
        let file =
            read_gauge_with(written(folder.path(), &config, &options), &ReadOptions::default()).unwrap();
        assert!(file.facts.contains(&(name.into(), "beta = 6.0".into())), "{:?}", file.facts);
    }
}

#[test]
fn a_nersc_name_without_byte_order_is_settled_by_the_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 2, 4], Precision::Double);
    for (order, suffix) in [(ByteOrder::Big, "BIG"), (ByteOrder::Little, "LITTLE")] {
        let options = WriteOptions::new(Format::Nersc).with_byte_order(Some(order));
        let path = written(folder.path(), &config, &options);
        let bytes = replaced(&std::fs::read(&path).unwrap(), &format!("IEEE64{suffix}"), "IEEE64");
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read_gauge(&path).unwrap(), config);
    }
    // Where it settles nothing the file is taken for big-endian.
    let path = written(folder.path(), &config, &WriteOptions::new(Format::Nersc));
    let mut bytes = replaced(&std::fs::read(&path).unwrap(), "IEEE64BIG", "IEEE64");
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(refusal(&path, &ReadOptions::default()).is_mismatch());
    let ignoring = ReadOptions::default().with_ignore_checksum(true);
    let found = read_gauge_with(&path, &ignoring).unwrap().configuration;
    assert!(largest_difference(&found, &config) < 1e-12);
}

/// The bytes with one text in place of another.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
}

#[test]
fn one_flipped_bit_is_a_checksum_mismatch_with_both_sums() {
    let folder = tempfile::tempdir().unwrap();
    for precision in [Precision::Single, Precision::Double] {
        let config = sample([2, 2, 4, 2], precision);
        for options in faithful_options(precision) {
            let path = written(folder.path(), &config, &options);
            let mut bytes = std::fs::read(&path).unwrap();
            // The lowest bit of the hundredth number: every other check lets it pass.
            let little_by_default = options.format == Format::Milc;
            let little = options.byte_order.map_or(little_by_default, |order| order == ByteOrder::Little);
            let number = payload_start(options.format, &bytes) + 100 * precision.bytes();
            bytes[number + if little { 0 } else { precision.bytes() - 1 }] ^= 1;
            std::fs::write(&path, bytes).unwrap();

            let error = refusal(&path, &ReadOptions::default());
            assert!(error.is_mismatch());
            let ErrorKind::ChecksumMismatch { stored, computed, .. } = &error.kind else { panic!("{error}") };
            assert_ne!(stored, computed);
            let message = error.to_string();
            assert!(message.contains(stored) && message.contains(computed), "{message}");
            assert!(message.contains("configuration.") && message.contains("--ignore-checksum"), "{message}");

            let ignoring = ReadOptions::default().with_ignore_checksum(true);
            let file = read_gauge_with(&path, &ignoring).unwrap();
            let checksum = file.checksum.unwrap();
            assert!(!checksum.ok);
            assert_eq!((&checksum.stored, &checksum.computed), (stored, computed));
            let difference = largest_difference(&file.configuration, &config);
            assert!(difference > 0.0 && difference < 1e-6, "{difference}");
        }
    }
}

/// Where the links of a file begin.
fn payload_start(format: Format, bytes: &[u8]) -> usize {
    let after = |text: &str| {
        bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap() + text.len()
    };
    match format {
        Format::Ildg => after("ildg-binary-data") + 128 - "ildg-binary-data".len(),
        Format::SciDac => after("scidac-binary-data") + 128 - "scidac-binary-data".len(),
        Format::Nersc => after("END_HEADER\n"),
        Format::Milc => 96,
        Format::OpenQcd | Format::DdAlphaAmg => 24,
        other => unreachable!("no test flips bits of {other} here"),
    }
}

#[test]
fn a_wrong_plaquette_or_trace_in_a_header_is_a_mismatch() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 4, 2], Precision::Double);
    let path = written(folder.path(), &config, &WriteOptions::new(Format::Nersc));
    let good = std::fs::read(&path).unwrap();
    for (from, to, name) in [
        ("PLAQUETTE = ", "PLAQUETTE = 0.500000\nX = ", "plaquette"),
        ("LINK_TRACE = ", "LINK_TRACE = 0.500000\nX = ", "link trace"),
    ] {
        std::fs::write(&path, replaced(&good, from, to)).unwrap();
        let error = refusal(&path, &ReadOptions::default());
        assert!(error.is_mismatch());
        let found =
            matches!(error.kind, ErrorKind::HeaderMismatch { quantity, stored: 0.5, .. } if quantity == name);
        assert!(found, "{error}");
        let ignoring = ReadOptions::default().with_ignore_checksum(true);
        let file = read_gauge_with(&path, &ignoring).unwrap();
        assert_eq!(file.header_checks.iter().filter(|check| !check.ok).count(), 1);
    }
}

#[test]
fn a_file_of_several_messages_gives_its_first_field() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("several.lime");
    let (first, second) = (sample([2, 2, 4, 2], Precision::Single), sample([4, 2, 2, 6], Precision::Double));
    // A row of records after another is a row of records.
    let mut bytes = Vec::new();
    for config in [&first, &second] {
        write_gauge(&path, config, &WriteOptions::default()).unwrap();
        bytes.extend(std::fs::read(&path).unwrap());
    }
    std::fs::write(&path, &bytes).unwrap();
    let file = read_gauge_with(&path, &ReadOptions::default()).unwrap();
    assert_eq!(file.fields, 2);
    assert!(file.configuration == first && file.checksum.unwrap().ok);

    // Without a first field the second one comes with its own extents and checksum.
    std::fs::write(&path, replaced(&bytes, "ildg-binary-data", "else-binary-data")).unwrap();
    let file = read_gauge_with(&path, &ReadOptions::default()).unwrap();
    assert_eq!(file.fields, 1);
    assert!(file.configuration == second && file.checksum.unwrap().ok);
}

#[test]
fn a_checksum_may_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 4, 2], Precision::Double);
    for (format, record) in
        [(Format::Ildg, "scidac-checksum"), (Format::SciDac, "scidac-checksum"), (Format::Nersc, "CHECKSUM")]
    {
        let path = written(folder.path(), &config, &WriteOptions::new(format));
        let other = record.replace("CHECKSUM", "CHECKSAM").replace("checksum", "checksam");
        std::fs::write(&path, replaced(&std::fs::read(&path).unwrap(), record, &other)).unwrap();
        let file = read_gauge_with(&path, &ReadOptions::default()).unwrap();
        assert!(file.checksum.is_none() && file.configuration == config);
    }
}

#[test]
fn a_malformed_checksum_is_refused_unless_checksums_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 4, 2], Precision::Double);
    for (format, from, to) in
        [(Format::Ildg, "<suma>", "<sumz>"), (Format::Nersc, "CHECKSUM = ", "CHECKSUM = g")]
    {
        let path = written(folder.path(), &config, &WriteOptions::new(format));
        std::fs::write(&path, replaced(&std::fs::read(&path).unwrap(), from, to)).unwrap();
        let error = refusal(&path, &ReadOptions::default());
        assert!(matches!(error.kind, ErrorKind::BadRecord { .. } | ErrorKind::BadLine { .. }), "{error}");
        assert!(!error.is_mismatch());
        let ignoring = ReadOptions::default().with_ignore_checksum(true);
        assert!(read_gauge_with(&path, &ignoring).unwrap().checksum.is_some_and(|checksum| !checksum.ok));
    }
}
