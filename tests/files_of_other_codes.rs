//! Files as other codes write them, with their habits and their mistakes.

use crate::common;

use crate::formats::tells_extents;
use common::{sample, shared};
use lattice_cl::gauge::plaquette;
use lattice_cl::geometry::NDIM;
use lattice_cl::host::{Links, Spinor};
use lattice_cl::io::{
    ByteOrder, CheckpointWriter, ErrorKind, Format, LinkSign, PropagatorFormat, PropagatorWriter,
    ReadOptions, SignsInLinks, WriteOptions, inspect_gauge, read_extents, read_gauge, read_gauge_with,
    read_propagator, write_gauge,
};
use lattice_cl::{Dims, GaugeConfiguration, Precision};
use std::path::{Path, PathBuf};

/// The records of a LIME file: their types and payloads.
type Records = Vec<(String, Vec<u8>)>;

fn records(bytes: &[u8]) -> Records {
    let mut records = Records::new();
    let mut start = 0;
    while start < bytes.len() {
        let length = u64::from_be_bytes(bytes[start + 8..start + 16].try_into().unwrap()) as usize;
        let name = bytes[start + 16..start + 144].split(|&byte| byte == 0).next().unwrap();
        let payload = bytes[start + 144..start + 144 + length].to_vec();
        records.push((String::from_utf8(name.to_vec()).unwrap(), payload));
        start = (start + 144 + length).next_multiple_of(8);
    }
    records
}

fn bytes_of(records: &Records) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, payload) in records {
        bytes.extend(0x4567_89ab_u32.to_be_bytes());
        bytes.extend([0, 1, 0, 0]);
        bytes.extend((payload.len() as u64).to_be_bytes());
        bytes.extend(kind.as_bytes());
        bytes.resize(bytes.len() + 128 - kind.len(), 0);
        bytes.extend(payload);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes
}

/// A file in a folder of its own, written again and again.
struct Scratch {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.of.others");
        Self { _folder: folder, path }
    }

    fn records(&self, config: &GaugeConfiguration, format: Format) -> Records {
        write_gauge(&self.path, config, &WriteOptions::new(format)).unwrap();
        records(&std::fs::read(&self.path).unwrap())
    }

    fn holds(&self, bytes: impl AsRef<[u8]>) -> &Path {
        std::fs::write(&self.path, bytes).unwrap();
        &self.path
    }
}

fn edit(records: &mut Records, kind: &str, change: impl Fn(&str) -> String) {
    let (_, payload) = records.iter_mut().find(|(found, _)| found == kind).unwrap();
    let before = String::from_utf8(payload.clone()).unwrap();
    let after = change(&before);
    assert_ne!(before, after, "nothing changes in {kind}");
    *payload = after.into_bytes();
}

fn config() -> GaugeConfiguration {
    sample([4, 2, 6, 8], Precision::Double)
}

fn ignoring_checksums() -> ReadOptions<'static> {
    ReadOptions::default().with_ignore_checksum(true)
}

#[test]
fn openqcd_and_ddalphaamg_files_are_the_lattice_that_milc_wrote() {
    let Some(folder) = shared().map(|shared| shared.join("data")) else { return };
    let milc = read_gauge(folder.join("lat.sample.l4444")).unwrap();
    for (name, format) in [("l4444.openqcd", Format::OpenQcd), ("l4444.ddalphaamg", Format::DdAlphaAmg)] {
        let file = read_gauge_with(folder.join(name), &ReadOptions::default()).unwrap();
        assert_eq!(file.format, format);
        assert!(file.header_checks.len() == 1 && file.header_checks[0].ok);
        for n in 0..NDIM * milc.dims().volume() {
            let (site, mu) = (n / NDIM, n % NDIM);
            assert_eq!(file.configuration.link(site, mu), milc.link(site, mu), "{name} {site} {mu}");
        }
        let other = ReadOptions::default().with_dims(Some(Dims::new([4, 4, 2, 8]).unwrap()));
        let error = read_gauge_with(folder.join(name), &other).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::OtherExtents { .. }), "{error}");

        // One bit of a link: the plaquette is the only check there is.
        let mut bytes = std::fs::read(folder.join(name)).unwrap();
        bytes[24 + 576 * 7 + 6] ^= 0x10;
        let scratch = Scratch::new();
        let error = read_gauge(scratch.holds(&bytes)).unwrap_err();
        assert!(error.is_mismatch(), "{error}");
    }
}

/// What the formats say, written by this test: unequal extents show whether x, y, z and t stand where they should.
#[test]
fn the_order_of_links_in_files_without_a_name_is_that_of_their_extents() {
    let config = config();
    let dims = config.dims();
    let scratch = Scratch::new();
    let header = |extents: [usize; NDIM]| {
        let mut bytes: Vec<u8> = extents.iter().flat_map(|&extent| (extent as i32).to_le_bytes()).collect();
        bytes.extend((3.0 * plaquette(&config).average).to_le_bytes());
        bytes
    };
    let put = |bytes: &mut Vec<u8>, site: usize, mu: usize| {
        for entry in config.link(site, mu).0.iter().flatten() {
            bytes.extend(entry.re.to_le_bytes());
            bytes.extend(entry.im.to_le_bytes());
        }
    };
    let [x, y, z, t] = dims.extents();
    let mut openqcd = header([t, x, y, z]);
    let mut ddalphaamg = header([t, z, y, x]);
    for t in 0..t {
        for x in 0..x {
            for y in 0..y {
                for z in (0..z).filter(|z| (t + x + y + z) % 2 == 1) {
                    let site = dims.site([x, y, z, t]);
                    for mu in [3, 0, 1, 2] {
                        put(&mut openqcd, site, mu);
                        put(&mut openqcd, dims.backward(site, mu), mu);
                    }
                }
            }
        }
    }
    for site in 0..dims.volume() {
        for mu in [3, 2, 1, 0] {
            put(&mut ddalphaamg, site, mu);
        }
    }
    for (bytes, format) in [(openqcd, Format::OpenQcd), (ddalphaamg, Format::DdAlphaAmg)] {
        let file = read_gauge_with(scratch.holds(&bytes), &ReadOptions::default()).unwrap();
        assert_eq!((file.format, &file.configuration), (format, &config));
        let error = read_gauge(scratch.holds(&bytes[..bytes.len() - 1])).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::UnknownFormat { .. }), "{error}");
    }
}

#[test]
fn a_text_of_numbers_is_the_configuration_published_beside_it() {
    let Some(folder) = shared().map(|shared| shared.join("data")) else { return };
    let given = |extents| ReadOptions::default().with_dims(Some(Dims::new(extents).unwrap()));
    let text = folder.join("wilson_beta5.7_kappa0.141139.txt");
    let file = read_gauge_with(&text, &given([4, 4, 4, 4])).unwrap();
    let twin = read_gauge_with(text.with_extension("ildg"), &given([4, 4, 4, 4])).unwrap();
    assert_eq!((file.format, file.configuration), (Format::BridgeText, twin.configuration));
    for extents in [[4, 4, 4, 2], [4, 4, 4, 6], [4, 4, 4, 400]] {
        let error = read_gauge_with(&text, &given(extents)).unwrap_err();
        let kind = &error.kind;
        assert!(matches!(kind, ErrorKind::MissingExtents { .. } | ErrorKind::Truncated { .. }), "{error}");
    }
    let sound = std::fs::read(&text).unwrap();
    let scratch = Scratch::new();
    let read = |bytes: &[u8]| read_gauge_with(scratch.holds(bytes), &given([4, 4, 4, 4]));
    assert!(read(&[&sound, &b"\n \n"[..]].concat()).is_ok());
    let lines: Vec<&[u8]> = sound.split_inclusive(|&byte| byte == b'\n').collect();
    for (line, word) in
        [("zero\n", "line 101"), ("\n", "line 101"), ("NaN\n", "line 101"), ("1.5\n", "SU(3)")]
    {
        let changed = [&lines[..100], &[line.as_bytes()], &lines[101..]].concat().concat();
        let message = read(&changed).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
    assert!(read(&sound[..sound.len() / 2]).is_err() && read(b"1\n").is_err());
}

#[test]
fn known_formats_that_are_not_read_are_named() {
    let scratch = Scratch::new();
    for (bytes, name) in [(&b"\x1f\x8b\x08\0\0\0\0\0"[..], "gunzip"), (b"BZh91AY&SY", "bunzip2")] {
        let error = read_gauge(scratch.holds(bytes)).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::OtherFormat { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let Some(folder) = shared().map(|shared| shared.join("data")) else { return };
    for (name, word) in [
        ("lalibe_propagator_u.h5", "is a propagator"),
        ("wilson_beta5.7_kappa0.141139.txt", "--dims 8x8x8x16"),
    ] {
        let message = read_gauge(folder.join(name)).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
}

/// nissa writes `0x` before the sums, and others upper case.
#[test]
fn sums_are_compared_however_they_are_written() {
    let scratch = Scratch::new();
    let config = config();
    for format in [Format::Ildg, Format::SciDac] {
        for change in ["<suma>0x", "<suma>0X", "<suma> 0x0"] {
            let mut records = scratch.records(&config, format);
            edit(&mut records, "scidac-checksum", |xml| xml.replace("<suma>", change));
            let file = read_gauge_with(scratch.holds(bytes_of(&records)), &ReadOptions::default()).unwrap();
            assert!(file.checksum.unwrap().ok, "{change}");
            // A wrong one is a mismatch, and no missing one.
            edit(&mut records, "scidac-checksum", |xml| xml.replace("<sumb>", "<sumb>0x1</sumb><sumb>"));
            let path = scratch.holds(bytes_of(&records));
            assert!(read_gauge(path).unwrap_err().is_mismatch());
            let file = read_gauge_with(path, &ignoring_checksums()).unwrap();
            assert!(file.checksum.is_some_and(|checksum| !checksum.ok));
        }
    }
    write_gauge(&scratch.path, &config, &WriteOptions::new(Format::Nersc)).unwrap();
    let nersc = String::from_utf8_lossy(&std::fs::read(&scratch.path).unwrap()[..1000]).into_owned();
    let sum = nersc.split("CHECKSUM = ").nth(1).unwrap()[..8].to_owned();
    for (to, ok) in [(format!("0x{sum}"), true), (sum.to_uppercase(), true), ("0x0x1".to_owned(), false)] {
        let bytes = replaced(&std::fs::read(&scratch.path).unwrap(), &sum, &to);
        let read = Scratch::new();
        assert_eq!(read_gauge(read.holds(bytes)).is_ok(), ok, "{to}");
    }
}

#[test]
fn a_sum_that_is_there_is_never_a_missing_one() {
    let scratch = Scratch::new();
    for (from, to) in [("<suma>", "<suma>x"), ("<suma>", "<sumz>"), ("</scidacChecksum>", "")] {
        let mut records = scratch.records(&config(), Format::Ildg);
        edit(&mut records, "scidac-checksum", |xml| xml.replace(from, to));
        let path = scratch.holds(bytes_of(&records));
        let inspection = inspect_gauge(path, &ReadOptions::default()).unwrap();
        let problem = inspection.problem.unwrap();
        assert!(matches!(problem.kind, ErrorKind::BadRecord { .. }), "{problem}");
        let file = read_gauge_with(path, &ignoring_checksums()).unwrap();
        let checksum = file.checksum.unwrap();
        assert!(!checksum.ok && !checksum.computed.is_empty(), "{checksum:?}");
    }
}

#[test]
fn a_sum_before_the_first_data_is_compared() {
    let scratch = Scratch::new();
    let config = config();
    let mut records = scratch.records(&config, Format::Ildg);
    let at = records.iter().position(|(kind, _)| kind == "scidac-checksum").unwrap();
    let sum = records.remove(at);
    records.insert(0, sum);
    let file = read_gauge_with(scratch.holds(bytes_of(&records)), &ReadOptions::default()).unwrap();
    assert!(file.checksum.unwrap().ok);
    let data = records.iter_mut().find(|(kind, _)| kind == "ildg-binary-data").unwrap();
    data.1[1007] ^= 1;
    assert!(read_gauge(scratch.holds(bytes_of(&records))).unwrap_err().is_mismatch());

    // Behind the first data it is theirs, and not that of the second.
    let mut two = scratch.records(&config, Format::SciDac);
    let second = two.clone();
    two.extend(second.into_iter().filter(|(kind, _)| kind != "scidac-checksum"));
    for (kind, _) in two.iter_mut().take(5) {
        *kind = kind.replace("scidac-binary-data", "ildg-binary-data");
    }
    assert!(
        read_gauge_with(scratch.holds(bytes_of(&two)), &ReadOptions::default()).unwrap().checksum.is_some()
    );
}

/// QUDA's `save_gauge`, and QDP++ of twenty years ago.
#[test]
fn data_types_of_other_codes_are_read() {
    let scratch = Scratch::new();
    for (precision, own, other) in [
        (Precision::Double, "QDP_D3_ColorMatrix", "QUDA_DNc3_GaugeField"),
        (Precision::Single, "QDP_F3_ColorMatrix", "QUDA_FNc3_GaugeField"),
        (Precision::Double, "QDP_D3_ColorMatrix", "Lattice"),
        (Precision::Single, "QDP_F3_ColorMatrix", "Lattice"),
    ] {
        let config = sample([4, 2, 6, 8], precision);
        let mut records = scratch.records(&config, Format::SciDac);
        edit(&mut records, "scidac-private-record-xml", |xml| xml.replace(own, other));
        let file = read_gauge_with(scratch.holds(bytes_of(&records)), &ReadOptions::default()).unwrap();
        assert!(file.configuration == config && file.checksum.unwrap().ok, "{other}");
        for (from, to) in [("<datacount>4<", "<datacount>8<"), ("<typesize>", "<typesize>1")] {
            let mut wrong = records.clone();
            edit(&mut wrong, "scidac-private-record-xml", |xml| xml.replace(from, to));
            let error = read_gauge(scratch.holds(bytes_of(&wrong))).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Unsupported { .. }), "{error}");
        }
    }
}

/// The links with −1 on those in one direction that leave one slice.
fn with_sign(config: &GaugeConfiguration, mu: usize, slice: usize) -> GaugeConfiguration {
    let mut signed = config.clone();
    let dims = config.dims();
    for site in (0..dims.volume()).filter(|&site| dims.coordinates(site)[mu] == slice) {
        signed.set_link(site, mu, config.link(site, mu).scale(-1.0));
    }
    signed
}

/// MILC and QUDA leave the sign of antiperiodic fermions in their links.
#[test]
fn a_boundary_sign_in_the_links_is_recognised_and_never_read_in_silence() {
    let scratch = Scratch::new();
    for precision in [Precision::Double, Precision::Single] {
        let config = sample([4, 2, 6, 8], precision);
        for (mu, slice, name) in [(3, 7, "t"), (3, 0, "t"), (0, 3, "x")] {
            let signed = with_sign(&config, mu, slice);
            for format in common::WITH_HEADERS {
                if format == Format::Milc && precision == Precision::Double {
                    continue;
                }
                write_gauge(&scratch.path, &signed, &WriteOptions::new(format)).unwrap();
                let read = |signs_in_links, ignore_unitarity| {
                    let options = ReadOptions::default()
                        .with_signs_in_links(signs_in_links)
                        .with_ignore_unitarity(ignore_unitarity);
                    read_gauge_with(&scratch.path, &options)
                };
                for ignore_unitarity in [false, true] {
                    let error = read(SignsInLinks::Refuse, ignore_unitarity).unwrap_err();
                    assert!(matches!(error.kind, ErrorKind::SignsInLinks { .. }), "{error}");
                    let message = error.to_string();
                    for word in [
                        &format!("the {name}-links of the slice {name} = {slice}"),
                        "determinant -1",
                        "--signs-in-links remove",
                        "--boundary periodic",
                    ] {
                        assert!(message.contains(word), "{message}");
                    }
                    let direction = name.chars().next().unwrap();
                    let removed = read(SignsInLinks::Remove, ignore_unitarity).unwrap();
                    assert_eq!(removed.configuration, config);
                    assert_eq!(removed.signs, [LinkSign { direction, slice }]);
                    let kept = read(SignsInLinks::Keep, ignore_unitarity).unwrap();
                    assert_eq!(kept.configuration, signed);
                    assert_eq!(kept.signs, removed.signs);
                    assert!([removed, kept].iter().all(|file| file.warnings.len() == 1));
                }
            }
        }
        // Without a sign there is nothing to remove.
        write_gauge(&scratch.path, &config, &WriteOptions::new(Format::Ildg)).unwrap();
        let options = ReadOptions::default().with_signs_in_links(SignsInLinks::Remove);
        let file = read_gauge_with(&scratch.path, &options).unwrap();
        assert!(file.configuration == config && file.signs.is_empty() && file.warnings.is_empty());
    }
}

/// MILC's staggered phases: (−1)^x on y-links, (−1)^(x+y) on z-links, and so on.
#[test]
fn signs_of_another_pattern_are_told_from_damage() {
    let scratch = Scratch::new();
    let config = config();
    let dims = config.dims();
    let mut phased = config.clone();
    for site in 0..dims.volume() {
        let coordinates = dims.coordinates(site);
        for mu in 1..NDIM {
            if coordinates[..mu].iter().sum::<usize>() % 2 == 1 {
                phased.set_link(site, mu, config.link(site, mu).scale(-1.0));
            }
        }
    }
    write_gauge(&scratch.path, &phased, &WriteOptions::new(Format::Ildg)).unwrap();
    for signs_in_links in [SignsInLinks::Refuse, SignsInLinks::Remove] {
        let options = ReadOptions::default().with_signs_in_links(signs_in_links);
        let error = read_gauge_with(&scratch.path, &options).unwrap_err();
        let count = 3 * dims.volume() / 2;
        assert!(
            matches!(error.kind, ErrorKind::OtherSigns { count: found, .. } if found == count),
            "{error}"
        );
        let options = options.with_ignore_unitarity(true);
        assert!(read_gauge_with(&scratch.path, &options).unwrap().configuration == phased);
    }
}

#[test]
fn a_sign_does_not_hide_links_that_are_no_unitary_matrices() {
    let scratch = Scratch::new();
    let mut signed = with_sign(&config(), 3, 7);
    let Links::Double(links) = signed.links_mut() else { unreachable!("made in double") };
    links[9] = links[9].scale(1.001);
    write_gauge(&scratch.path, &signed, &WriteOptions::new(Format::Ildg)).unwrap();
    for signs_in_links in [SignsInLinks::Remove, SignsInLinks::Keep] {
        let options = ReadOptions::default().with_signs_in_links(signs_in_links);
        let error = read_gauge_with(&scratch.path, &options).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::NotSpecialUnitary { .. }), "{error}");
        let options = options.with_ignore_unitarity(true);
        assert_eq!(read_gauge_with(&scratch.path, &options).unwrap().signs.len(), 1);
    }
}

#[test]
fn the_plaquette_that_tmlqcd_notes_is_compared() {
    let scratch = Scratch::new();
    let config = config();
    let right = plaquette(&config).average;
    let file = |noted: f64, with_sum: bool| {
        let mut records = scratch.records(&config, Format::Ildg);
        records.retain(|(kind, _)| with_sum || kind != "scidac-checksum");
        let note = format!(
            "\n plaquette = {noted:.12}\n trajectory nr = 7\n beta = 5.8, kappa = 0.1, 2*kappa*mu = 0"
        );
        records.insert(0, ("xlf-info".to_owned(), note.into_bytes()));
        read_gauge_with(scratch.holds(bytes_of(&records)), &ReadOptions::default())
    };
    for with_sum in [false, true] {
        let read = file(right, with_sum).unwrap();
        assert!(read.header_checks.len() == 1 && read.header_checks[0].ok && read.warnings.is_empty());
        assert!(file(right + 2e-7, with_sum).is_ok());
    }
    for with_sum in [false, true] {
        let error = file(right + 1e-5, with_sum).unwrap_err();
        assert!(error.is_mismatch());
        assert!(matches!(error.kind, ErrorKind::HeaderMismatch { quantity: "plaquette", .. }), "{error}");
    }
}

/// Early versions of QIO: no marks around attributes, no declaration of `xsi`, elements that others tell.
#[test]
fn early_records_of_qio_are_read() {
    let scratch = Scratch::new();
    let config = config();
    let without = |text: &str, elements: &[&str]| {
        elements.iter().fold(text.to_owned(), |text, name| {
            let (before, after) = text.split_once(&format!("<{name}>")).unwrap();
            format!("{before}{}", after.split_once(&format!("</{name}>")).unwrap().1)
        })
    };
    let garbage = |text: String| format!("{text}\0<rest of=\"a buffer\u{1}");
    for format in [Format::Ildg, Format::SciDac] {
        let mut records = scratch.records(&config, format);
        for (kind, lacks) in [
            ("scidac-private-file-xml", &["version", "spacetime", "volfmt"][..]),
            ("scidac-file-xml", &[]),
            (
                "scidac-private-record-xml",
                &["version", "recordtype", "precision", "colors", "spins", "datacount"],
            ),
            ("scidac-record-xml", &[]),
            ("ildg-format", &["version", "field", "precision", "lx", "ly", "lz", "lt"]),
            ("scidac-checksum", &["version"]),
        ] {
            if format == Format::SciDac && kind == "ildg-format" {
                continue;
            }
            edit(&mut records, kind, |xml| {
                let bare =
                    xml.replace('"', "").replace(" xmlns:xsi=http://www.w3.org/2001/XMLSchema-instance", "");
                garbage(without(&bare, lacks))
            });
        }
        let file = read_gauge_with(scratch.holds(bytes_of(&records)), &ReadOptions::default()).unwrap();
        assert!(file.configuration == config && file.checksum.unwrap().ok, "{format}");
        assert_eq!((file.format, file.warnings.as_slice()), (format, &[][..]));
        // Sizes are those of the data all the same.
        edit(&mut records, "scidac-private-file-xml", |xml| xml.replace("4 2 6 8", "4 2 6 6"));
        let error = read_gauge(scratch.holds(bytes_of(&records))).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::PayloadSize { .. } | ErrorKind::Unsupported { .. }),
            "{error}"
        );
    }
}

#[test]
fn what_a_file_is_instead_is_said() {
    let scratch = Scratch::new();
    let dims = Dims::new([2, 2, 2, 2]).unwrap();
    let field = vec![Spinor::default(); dims.volume()];
    for format in PropagatorFormat::ALL {
        let mut writer =
            PropagatorWriter::create_as(&scratch.path, format, dims, Precision::Single, "").unwrap();
        for column in 0..12 {
            writer.write(column / 3, column % 3, &field).unwrap();
        }
        writer.finish().unwrap();
        for error in [
            read_gauge(&scratch.path).unwrap_err(),
            read_extents(&scratch.path, &ReadOptions::default()).unwrap_err(),
        ] {
            assert!(
                matches!(error.kind, ErrorKind::IsPropagator { format: found } if found == format),
                "{error}"
            );
            assert!(error.to_string().contains("is a propagator"), "{error}");
        }
    }
    for format in Format::ALL.into_iter().filter(|format| tells_extents(*format)) {
        let config = sample(
            [2, 2, 2, 4],
            if format.holds(Precision::Double) { Precision::Double } else { Precision::Single },
        );
        write_gauge(&scratch.path, &config, &WriteOptions::new(format)).unwrap();
        let error = read_propagator(&scratch.path).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::IsConfiguration), "{format}: {error}");
    }
    for (bytes, word) in [
        (&b"%%MatrixMarket matrix"[..], "a matrix"),
        (b"PK\x03\x04abc", "unzip"),
        (b"x\x1b[31m", "begins with"),
    ] {
        for error in
            [read_gauge(scratch.holds(bytes)).unwrap_err(), read_propagator(&scratch.path).unwrap_err()]
        {
            let message = error.to_string();
            assert!(message.contains(word) && !message.chars().any(char::is_control), "{message}");
        }
    }
    let mut writer = CheckpointWriter::create(&scratch.path, "{}").unwrap();
    writer.block(&[1; 100]).unwrap();
    writer.finish().unwrap();
    for error in [read_gauge(&scratch.path).unwrap_err(), read_propagator(&scratch.path).unwrap_err()] {
        assert!(error.to_string().contains("is a checkpoint"), "{error}");
    }
}

/// The bytes with one text in place of another.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
}

#[test]
fn nersc_files_of_the_wrong_byte_order_are_read_without_a_checksum_too() {
    let scratch = Scratch::new();
    for precision in [Precision::Single, Precision::Double] {
        let config = sample([4, 2, 6, 8], precision);
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let name =
                |order: ByteOrder| format!("IEEE{}{}", precision.bits(), order.to_string().to_uppercase());
            let options = WriteOptions::new(Format::Nersc).with_byte_order(Some(order));
            write_gauge(&scratch.path, &config, &options).unwrap();
            let sound = std::fs::read(&scratch.path).unwrap();
            let other = if order == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
            for (said, warns) in
                [(name(order), false), (format!("IEEE{}", precision.bits()), false), (name(other), true)]
            {
                for checksum in ["CHECKSUM", "CHECKNONE"] {
                    let bytes = replaced(&sound, "CHECKSUM", checksum);
                    let bytes = replaced(&bytes, &name(order), &said);
                    let file = read_gauge_with(scratch.holds(bytes), &ReadOptions::default()).unwrap();
                    assert!(file.configuration == config, "{said} {order} {checksum}");
                    assert_eq!(file.warnings.len(), usize::from(warns), "{:?}", file.warnings);
                }
            }
        }
    }
}

#[test]
fn few_digits_of_a_stored_plaquette_are_no_licence() {
    let scratch = Scratch::new();
    let config = config();
    write_gauge(&scratch.path, &config, &WriteOptions::new(Format::Nersc)).unwrap();
    let sound = std::fs::read(&scratch.path).unwrap();
    let right = plaquette(&config).average;
    for (written, ok) in [
        (format!("{right:.4}"), true),
        (format!("{right:.3}"), true),
        (format!("{:.0}", right + 1.0), false),
        (format!("{:.1}", right + 0.1), false),
        ("1e5".to_owned(), false),
        ("5.9e400".to_owned(), false),
        ("-1e300".to_owned(), false),
        ("1e-400".to_owned(), right.abs() < 1e-3),
    ] {
        let bytes = replaced(&sound, "PLAQUETTE = ", &format!("PLAQUETTE = {written}\nOLD = "));
        let read = read_gauge(scratch.holds(bytes));
        assert_eq!(read.is_ok(), ok, "{written}: {:?}", read.err());
    }
}

/// Ends of lines, of blocks on tape, of copies by hand.
#[test]
fn what_follows_a_whole_file_is_a_warning() {
    let scratch = Scratch::new();
    let config = sample([4, 2, 6, 8], Precision::Single);
    for format in common::WITH_HEADERS {
        write_gauge(&scratch.path, &config, &WriteOptions::new(format)).unwrap();
        let whole = std::fs::read(&scratch.path).unwrap();
        for rest in [&b"\n"[..], &[0; 512], b"# copied by hand\n"] {
            let bytes = [&whole, rest].concat();
            let file = read_gauge_with(scratch.holds(bytes), &ReadOptions::default()).unwrap();
            assert!(file.configuration == config);
            assert_eq!(file.warnings.len(), 1, "{format}");
            let wanted =
                if rest.len() == 1 { "1 byte ".to_owned() } else { format!("{} bytes ", rest.len()) };
            assert!(file.warnings[0].contains(&wanted), "{:?}", file.warnings);
        }
    }
}

#[test]
fn extents_that_are_given_are_compared_with_whatever_can_be_read() {
    let scratch = Scratch::new();
    let config = config();
    let given = |extents| ReadOptions::default().with_dims(Some(Dims::new(extents).unwrap()));
    let (right, wrong) = (given([4, 2, 6, 8]), given([8, 6, 2, 4]));
    let is_other = |path: &Path| {
        let error = read_gauge_with(path, &wrong).unwrap_err();
        matches!(error.kind, ErrorKind::OtherExtents { .. })
    };
    // Extents in the broken record itself, or in that of SciDAC.
    for (from, to) in [("</ildgFormat>", "</ildgFormal>"), ("<lx>4</lx>", "<lx>?</lx>"), ("<lx>4", "<lx>5")] {
        let mut records = scratch.records(&config, Format::Ildg);
        edit(&mut records, "ildg-format", |xml| xml.replace(from, to));
        if !to.starts_with("</") {
            records.retain(|(kind, _)| kind != "scidac-file-xml");
        } else {
            records.retain(|(kind, _)| kind != "scidac-private-file-xml");
        }
        let path = scratch.holds(bytes_of(&records));
        assert!(is_other(path), "{to}");
        let file = read_gauge_with(path, &right).unwrap();
        assert!(file.configuration == config && file.warnings.is_empty(), "{:?}", file.warnings);
    }
    // Nowhere: then only the size is checked, and that is said.
    for kind in ["ildg-format", "scidac-private-file-xml"] {
        let mut records = scratch.records(&config, Format::Ildg);
        edit(&mut records, "ildg-format", |xml| xml.replace("<lx>", "<lx>odd"));
        records.retain(|(found, _)| {
            found != "scidac-private-file-xml" && (found != kind || kind != "ildg-format")
        });
        let file = read_gauge_with(scratch.holds(bytes_of(&records)), &wrong).unwrap();
        assert!(file.warnings[0].contains("not their order"), "{:?}", file.warnings);
    }
}

/// Grid reads no ILDG file without a logical file name.
#[test]
fn an_ildg_file_has_a_logical_file_name() {
    let scratch = Scratch::new();
    let records = scratch.records(&config(), Format::Ildg);
    let (kind, name) = records.last().unwrap();
    assert_eq!((kind.as_str(), name.as_slice()), ("ildg-data-lfn", &b"file.of.others\0"[..]));
    assert!(scratch.records(&config(), Format::SciDac).iter().all(|(kind, _)| kind != "ildg-data-lfn"));
}

/// Megabytes of nested names would keep a parser of XML busy for minutes.
#[test]
fn records_that_are_much_work_are_refused_or_passed_over() {
    let scratch = Scratch::new();
    let config = config();
    let nested: String = (0..40_000).map(|n| format!("<a xmlns:p{n}='u'>")).collect();
    let attributes: String = (0..80_000).map(|n| format!(" a{n}='1'")).collect();
    for much in [nested, format!("<a{attributes}/>"), "<a>".repeat(300_000)] {
        assert!(much.len() < 1 << 20);
        // Notes are not needed.
        for kind in ["scidac-file-xml", "scidac-record-xml", "scidac-private-file-xml"] {
            let mut records = scratch.records(&config, Format::Ildg);
            edit(&mut records, kind, |_| much.clone());
            let file = read_gauge_with(scratch.holds(bytes_of(&records)), &ReadOptions::default()).unwrap();
            assert!(file.configuration == config);
        }
        for kind in ["ildg-format", "scidac-checksum"] {
            let mut records = scratch.records(&config, Format::Ildg);
            edit(&mut records, kind, |_| much.clone());
            let error = read_gauge(scratch.holds(bytes_of(&records))).unwrap_err();
            let message = error.to_string();
            assert!(["XML", "<ildgFormat>", "<suma>"].iter().any(|word| message.contains(word)), "{message}");
            assert!(message.len() < 1000 && read_propagator(&scratch.path).is_err());
        }
    }
}
