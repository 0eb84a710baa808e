//! Files that cannot be read: each refusal names the file, the place and the remedy.

use crate::common;

use common::sample;
use lattice_cl::host::Links;
use lattice_cl::io::{
    Error, ErrorKind, Format, Position, ReadOptions, WriteOptions, check_writable, read_gauge_with,
    read_propagator, write_gauge,
};
use lattice_cl::{Dims, GaugeConfiguration, Precision};
use std::path::{Path, PathBuf};

/// A folder with one file in it that is about to be spoilt.
struct Case {
    _folder: tempfile::TempDir,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Case {
    fn of(config: &GaugeConfiguration, format: Format) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spoilt.file");
        write_gauge(&path, config, &WriteOptions::new(format)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        Self { _folder: folder, path, bytes }
    }

    fn new(format: Format) -> Self {
        Self::of(&sample([2, 2, 2, 4], Precision::Single), format)
    }

    fn replaced(&self, from: &str, to: &str) -> Vec<u8> {
        let at = self.bytes.windows(from.len()).position(|window| window == from.as_bytes());
        let at = at.unwrap_or_else(|| panic!("no `{from}` in the file"));
        [&self.bytes[..at], to.as_bytes(), &self.bytes[at + from.len()..]].concat()
    }

    /// Why the file with these bytes is refused; the message must name the file and say all of `words`.
    fn refusal_with(&self, bytes: &[u8], options: &ReadOptions, words: &[&str]) -> ErrorKind {
        std::fs::write(&self.path, bytes).unwrap();
        refusal(&self.path, options, words)
    }

    fn refusal(&self, bytes: &[u8], words: &[&str]) -> ErrorKind {
        self.refusal_with(bytes, &ReadOptions::default(), words)
    }
}

fn refusal(path: &Path, options: &ReadOptions, words: &[&str]) -> ErrorKind {
    let Err(error) = read_gauge_with(path, options) else { panic!("{} was read", path.display()) };
    checked(path, error, words)
}

fn checked(path: &Path, error: Error, words: &[&str]) -> ErrorKind {
    let message = error.to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
    assert!(!error.is_mismatch(), "{message}");
    error.kind
}

#[test]
fn what_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let kind = refusal(&folder.path().join("missing"), &options, &["cannot open the file"]);
    assert!(
        matches!(kind, ErrorKind::System { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    );
    let kind = refusal(folder.path(), &options, &["a directory", "name a file"]);
    assert!(matches!(kind, ErrorKind::System { .. }));
    if cfg!(unix) {
        refusal(Path::new("/dev/zero"), &options, &["a device", "name a file"]);
    }
}

#[test]
fn what_is_no_configuration() {
    let case = Case::new(Format::Ildg);
    assert!(matches!(case.refusal(b"", &["empty", "copy it again"]), ErrorKind::Empty));
    let kind = case.refusal(b"# a text file\nkappa = 0.13\n", &["the text `# a text file", "LIME", "NERSC"]);
    assert!(matches!(kind, ErrorKind::UnknownFormat { .. }));
    for bytes in [&b"x"[..], b"\x45\x67\x89", b"\0\0\0\0\0\0\0\0", b"\x7fELF and so on \x1b[31m"] {
        let kind = case.refusal(bytes, &["begins with"]);
        let ErrorKind::UnknownFormat { found } = kind else { panic!("{kind}") };
        assert!(!found.contains('\x1b'));
    }
}

#[test]
fn files_that_end_too_early() {
    for format in common::WITH_HEADERS {
        let case = Case::new(format);
        let whole = &case.bytes;
        let kind = case.refusal(&whole[..90], &[]);
        match format {
            Format::Nersc => assert!(matches!(kind, ErrorKind::MissingKeyword { .. }), "{kind}"),
            _ => assert!(matches!(kind, ErrorKind::Truncated { byte: 0, found: 90, .. }), "{kind}"),
        }
        let kind = case.refusal(&whole[..whole.len() / 2], &["truncated", "at byte", "copy it again"]);
        assert!(matches!(kind, ErrorKind::Truncated { .. }), "{format}: {kind}");
        // A file that lacks its checksum alone is whole as far as links go; all shorter ones are not.
        for length in (1..whole.len() - 400).step_by(97) {
            case.refusal(&whole[..length], &[]);
        }
    }
}

#[test]
fn a_damaged_lime_record_is_placed() {
    let case = Case::new(Format::Ildg);
    let mut bytes = case.bytes.clone();
    let second = bytes.windows(4).skip(1).position(|window| window == [0x45, 0x67, 0x89, 0xab]).unwrap() + 1;
    bytes[second] = 0;
    let kind = case.refusal(&bytes, &[&format!("no LIME record at byte {second}"), "006789ab"]);
    assert!(matches!(kind, ErrorKind::NotALimeRecord { found: 0x0067_89ab, .. }));
}

#[test]
fn a_lime_file_without_a_field_lists_what_it_has() {
    let case = Case::new(Format::Ildg);
    let bytes = case.replaced("ildg-binary-data", "some-binary-data");
    let kind = case.refusal(&bytes, &["no gauge field", "some-binary-data", "ildg-format"]);
    assert!(matches!(kind, ErrorKind::NoSuchRecord { .. }));
    let case = Case::new(Format::SciDac);
    let bytes = case.replaced("<typesize>72<", "<typesize>24<");
    let kind = case.refusal(&bytes, &["QDP_F3_ColorMatrix", "typesize times datacount"]);
    assert!(matches!(kind, ErrorKind::Unsupported { .. }));
}

#[test]
fn malformed_metadata_is_overridden_by_given_extents() {
    let dims = Dims::new([2, 2, 2, 4]).unwrap();
    let given = ReadOptions::default().with_dims(Some(dims));
    let case = Case::new(Format::Ildg);
    for (from, to) in [
        ("</ildgFormat>", "</ildgFormal>"),
        ("<lx>2</lx>", "<lx>?</lx>"),
        ("<lx>2</lx>", "<lx>0</lx>"),
        ("<lx>2</lx>", "<lx>3</lx>"),
        ("<precision>32<", "<precision>16<"),
        ("su3gauge", "u1_gauge"),
        ("ildg-format", "ildg-forman"),
    ] {
        let bytes = case.replaced(from, to);
        std::fs::write(&case.path, &bytes).unwrap();
        let file = read_gauge_with(&case.path, &given).unwrap();
        assert_eq!(file.configuration.dims(), dims);
        if from != "ildg-format" {
            case.refusal(&bytes, &["byte"]);
        }
    }
    let nersc = Case::new(Format::Nersc);
    let mut milc = Case::new(Format::Milc);
    milc.bytes[4] = 3;
    for (case, bytes) in
        [(&nersc, nersc.replaced("DIMENSION_3 = 2", "DIMENSION_3 = 3")), (&milc, milc.bytes.clone())]
    {
        case.refusal(&bytes, &["extent 3", "--dims 8x8x8x16"]);
        assert_eq!(read_gauge_with(&case.path, &given).unwrap().configuration.dims(), dims);
    }

    let bytes = case.replaced("</ildgFormat>", "</ildgFormal>");
    let kind = case.refusal(&bytes, &["ildg-format at byte", "malformed", "--dims 8x8x8x16"]);
    assert!(matches!(kind, ErrorKind::MissingExtents { .. }));
}

#[test]
fn absurd_extents() {
    let ildg = Case::new(Format::Ildg);
    for (to, word) in [("0", "extent 0 in direction x"), ("3", "extent 3 in direction x")] {
        let bytes = ildg.replaced("<lx>2</lx>", &format!("<lx>{to}</lx>"));
        let kind = ildg.refusal(&bytes, &[word, "at byte"]);
        assert!(matches!(kind, ErrorKind::BadExtents { position: Position::Byte(_), .. }));
    }
    // The digits take the place of text, so that the record keeps its length.
    let from = "<version>1.0</version><field>su3gauge</field><precision>32</precision><lx>2</lx>";
    let to = "<field>su3gauge</field><precision>32</precision><lx>2147483648</lx>";
    let bytes = ildg.replaced(from, &format!("{to:0$}", from.len()));
    let kind = ildg.refusal(&bytes, &["2147483648x2x2x4", "single", "at byte"]);
    assert!(matches!(kind, ErrorKind::PayloadSize { .. }), "{kind}");

    let nersc = Case::new(Format::Nersc);
    for (to, word) in [
        ("0", "extent 0 in direction z"),
        ("3", "extent 3 in direction z"),
        ("99999999999998", "2^40"),
        ("2147483648", "(the links)"),
        ("-2", "DIMENSION_3 = -2"),
        ("99999999999999999999999", "not a whole number"),
        ("", "not a whole number"),
    ] {
        let bytes = nersc.replaced("DIMENSION_3 = 2", &format!("DIMENSION_3 = {to}"));
        nersc.refusal(&bytes, &[word]);
    }
    let bytes = nersc.replaced("DIMENSION_3 = 2", "DIMENSION_3 = 0");
    let kind = nersc.refusal(&bytes, &["at line 7"]);
    assert!(matches!(kind, ErrorKind::BadExtents { position: Position::Line(7), .. }));

    let milc = Case::new(Format::Milc);
    for (value, word) in [
        (0, "extent 0 in direction y"),
        (5, "extent 5 in direction y"),
        (1 << 31, "truncated"),
        (u32::MAX, "extent 4294967295"),
    ] {
        let mut bytes = milc.bytes.clone();
        bytes[8..12].copy_from_slice(&u32::to_le_bytes(value));
        milc.refusal(&bytes, &[word, "at byte"]);
    }
}

#[test]
fn bad_lines_of_a_nersc_header() {
    let case = Case::new(Format::Nersc);
    for (from, to, words) in [
        ("4D_SU3_GAUGE_3x3", "4D_SU2_GAUGE", &["line 3", "4D_SU2_GAUGE", "4D_SU3_GAUGE_3x3"][..]),
        ("IEEE32BIG", "VAX32", &["line", "VAX32", "IEEE32"]),
        ("DATATYPE", "DATATIPE", &["no DATATYPE"]),
        ("FLOATING_POINT", "FLOAT", &["no FLOATING_POINT"]),
        ("CHECKSUM = ", "CHECKSUM = z", &["line 9", "hexadecimal"]),
        ("PLAQUETTE = ", "PLAQUETTE = x", &["line 11", "not a number"]),
        ("DIMENSION_2", "DIMENSION", &["DIMENSION_2", "--dims"]),
        ("END_HEADER", "END_HEADED", &["no END_HEADER"]),
    ] {
        case.refusal(&case.replaced(from, to), words);
    }
}

#[test]
fn another_site_order_of_milc_is_refused() {
    let case = Case::new(Format::Milc);
    let mut bytes = case.bytes.clone();
    bytes[84] = 1;
    let kind = case.refusal(&bytes, &["site order 1 (byte 84)"]);
    assert!(matches!(kind, ErrorKind::Unsupported { .. }));
}

#[test]
fn links_that_are_not_finite() {
    for value in [f32::NAN, f32::INFINITY] {
        for format in common::WITH_HEADERS {
            let mut config = sample([2, 2, 2, 4], Precision::Single);
            let Links::Single(links) = config.links_mut() else { unreachable!("made in single") };
            // Site 5 is x = 1, z = 1.
            links[4 * 5 + 3].0[0][2].im = value;
            let case = Case::of(&config, format);
            let ignoring = ReadOptions::default().with_ignore_checksum(true).with_ignore_unitarity(true);
            for options in [ReadOptions::default(), ignoring] {
                let words = ["(x, y, z, t) = (1, 0, 1, 0)", "direction t"];
                // The header of a NERSC file has the NaN that its plaquette is: no mismatch comes before.
                let kind = case.refusal_with(&case.bytes, &options, &words);
                assert!(matches!(kind, ErrorKind::NotFinite { .. }));
            }
        }
    }
}

#[test]
fn links_far_from_special_unitary() {
    for format in common::WITH_HEADERS {
        let mut config = sample([2, 2, 2, 4], Precision::Single);
        let Links::Single(links) = config.links_mut() else { unreachable!("made in single") };
        links[4 * 5 + 1] = links[4 * 5 + 1].scale(1.5);
        links[7] = links[7].scale(1.01);
        let case = Case::of(&config, format);
        let words = ["(1, 0, 1, 0)", "direction y", "2.375e0", "1e-4", "--ignore-unitarity"];
        let kind = case.refusal(&case.bytes, &words);
        let ErrorKind::NotSpecialUnitary { deviation, .. } = kind else { panic!("{kind}") };
        assert!((deviation - (1.5f64.powi(3) - 1.0)).abs() < 1e-6);
        let ignoring = ReadOptions::default().with_ignore_unitarity(true);
        assert!(read_gauge_with(&case.path, &ignoring).unwrap().configuration == config);
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 2, 2], Precision::Single);
    let file = folder.path().join("file");
    std::fs::write(&file, b"here").unwrap();
    let missing = folder.path().join("no/such/folder/file");
    for path in [missing, folder.path().to_owned(), file.join("below-a-file")] {
        let error = check_writable(&path).unwrap_err();
        assert!(!error.to_string().contains(".part"), "{error}");
        checked(&path, error, &["name a f"]);
        checked(&path, write_gauge(&path, &config, &WriteOptions::default()).unwrap_err(), &[]);
    }
    check_writable(&file).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"here");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_configuration_is_no_propagator() {
    for format in common::WITH_HEADERS {
        let case = Case::new(format);
        let Err(error) = read_propagator(&case.path) else { panic!("{format} was read") };
        checked(&case.path, error, &[]);
    }
}
