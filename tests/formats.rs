//! Every format of configurations and propagators: written, read back, converted, and damaged.

use crate::common;

use common::{sample, shared};
use lattice_cl::geometry::NDIM;
use lattice_cl::host::{Matrix3, Spinor};
use lattice_cl::io::{
    ErrorKind, Format, Propagator, PropagatorFormat, PropagatorWriter, ReadOptions, WriteOptions,
    read_extents, read_gauge, read_gauge_with, read_propagator, read_results, write_gauge, write_results,
};
use lattice_cl::{Dims, GaugeConfiguration, Precision};
use num_complex::Complex;
use std::path::{Path, PathBuf};

const EXTENTS: [usize; NDIM] = [4, 2, 6, 8];

/// Tells whether files of a format need no extents from their reader.
pub(crate) fn tells_extents(format: Format) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write_gauge(&path, &sample([2, 2, 2, 4], Precision::Single), &WriteOptions::new(format)).unwrap();
    let error = read_extents(&path, &ReadOptions::default().with_format(Some(format))).err();
    !error.is_some_and(|error| matches!(error.kind, ErrorKind::MissingExtents { .. }))
}

/// What tells a format and extents where a file does not.
fn naming(format: Format) -> ReadOptions<'static> {
    let dims = (!tells_extents(format)).then(|| Dims::new(EXTENTS).unwrap());
    ReadOptions::default().with_format(Some(format)).with_dims(dims)
}

fn same_links(a: &GaugeConfiguration, b: &GaugeConfiguration) -> bool {
    let sites = a.dims().volume();
    a.dims() == b.dims()
        && (0..NDIM * sites).all(|k| a.link(k / NDIM, k % NDIM) == b.link(k / NDIM, k % NDIM))
}

#[test]
fn every_format_keeps_every_bit_of_the_links_on_the_way_through_all_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for precision in [Precision::Double, Precision::Single] {
        let config = sample(EXTENTS, precision);
        let mut last = config.clone();
        for format in Format::ALL {
            // Single precision fits into every format, double into all but MILC's.
            if format == Format::Milc && precision == Precision::Double {
                continue;
            }
            write_gauge(&path, &last, &WriteOptions::new(format)).unwrap();
            assert_eq!(read_extents(&path, &naming(format)).unwrap(), config.dims());
            let file = read_gauge_with(&path, &naming(format)).unwrap();
            assert!(same_links(&file.configuration, &config), "{format} {precision}");
            assert_eq!(file.format, format);
            last = file.configuration;
        }
    }
}

#[test]
fn a_format_is_taken_at_its_name_and_another_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let config = sample(EXTENTS, Precision::Double);
    write_gauge(&path, &config, &WriteOptions::new(Format::Npy)).unwrap();
    let error = read_gauge_with(&path, &naming(Format::Ildg)).unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::NotOfFormat { named: Format::Ildg, found: Format::Npy }),
        "{error}"
    );
    let error = read_gauge_with(&path, &naming(Format::BridgeBinary)).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::PayloadSize { .. }), "{error}");
    write_gauge(&path, &config, &WriteOptions::new(Format::BridgeBinary)).unwrap();
    assert!(read_gauge(&path).is_err());
    let without = naming(Format::BridgeBinary).with_dims(None);
    assert!(matches!(read_gauge_with(&path, &without).unwrap_err().kind, ErrorKind::MissingExtents { .. }));
}

#[test]
fn files_of_other_programs_hold_the_same_field_and_are_written_alike() {
    let Some(data) = shared().map(|shared| shared.join("data")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let config = read_gauge(data.join("lat.sample.l4444")).unwrap();
    for (name, format, start) in [
        ("l4444.openqcd", Format::OpenQcd, 24),
        ("l4444.ddalphaamg", Format::DdAlphaAmg, 24),
        ("l4444.npy", Format::Npy, 0),
        ("l4444_pyquda.h5", Format::PyQudaHdf5, usize::MAX),
    ] {
        let file = read_gauge_with(data.join(name), &ReadOptions::default()).unwrap();
        assert_eq!(file.format, format);
        assert!(same_links(&file.configuration, &config), "{name}");
        assert_eq!(file.checksum.is_some_and(|sum| sum.ok), format == Format::PyQudaHdf5);
        let double = WriteOptions::new(format).with_precision(Some(Precision::Double));
        write_gauge(&path, &config, &double).unwrap();
        if start < usize::MAX {
            // Last digits of the plaquette in a header may differ.
            let [ours, theirs] = [path.clone(), data.join(name)].map(|path| std::fs::read(path).unwrap());
            assert!(
                ours[..start.min(16)] == theirs[..start.min(16)] && ours[start..] == theirs[start..],
                "{name}"
            );
        }
    }
    let dims = Some(Dims::new([4; NDIM]).unwrap());
    let text = ReadOptions::default().with_dims(dims);
    let twin = read_gauge_with(data.join("wilson_beta5.7_kappa0.141139.txt"), &text).unwrap();
    write_gauge(&path, &twin.configuration, &WriteOptions::new(Format::BridgeBinary)).unwrap();
    let binary = text.with_format(Some(Format::BridgeBinary));
    assert!(read_gauge_with(&path, &binary).unwrap().configuration == twin.configuration);
}

/// diag(e^{ia}, e^{ib}, e^{−i(a+b)}) with a = 0.1 k and b = 0.3 k for the link k, as h5py wrote them.
#[test]
fn hdf5_files_with_chunks_and_filters_and_of_new_versions_are_read() {
    let dims = Dims::new([2, 4, 2, 4]).unwrap();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for name in ["gzip.h5", "latest.h5"] {
        let file = read_gauge_with(files.join(name), &ReadOptions::default()).unwrap();
        assert!(file.checksum.unwrap().ok && file.warnings.is_empty());
        for k in 0..NDIM * dims.volume() {
            let (a, b) = (0.1 * k as f64, 0.3 * k as f64);
            let phases = [a, b, -(a + b)].map(|angle| Complex::new(angle.cos(), angle.sin()));
            let wanted = Matrix3::<f64>::from_fn(|i, j| if i == j { phases[i] } else { Complex::default() });
            let found = file.configuration.link(k / NDIM, k % NDIM);
            let off = found.0.iter().flatten().zip(wanted.0.iter().flatten()).map(|(a, b)| (a - b).norm());
            assert!(off.fold(0.0, f64::max) < 1e-14, "{name}, link {k}");
        }
    }
}

/// Gauge fields, propagators and results in HDF5, with superblocks of the first and the newest kind.
fn hdf5_files(folder: &Path) -> Vec<PathBuf> {
    let path = |name: &str| folder.join(name);
    let config = sample(EXTENTS, Precision::Double);
    write_gauge(path("links.h5"), &config, &WriteOptions::new(Format::PyQudaHdf5)).unwrap();
    for format in [PropagatorFormat::PyQudaHdf5, PropagatorFormat::LalibeHdf5] {
        write_propagator(&path(&format!("{format}.h5")), format, Precision::Single, 12);
    }
    let rows: Vec<_> = (0..100).map(|k| serde_json::json!({ "t": 0.5 * f64::from(k) })).collect();
    write_results(path("results.h5"), &serde_json::json!({ "rows": rows, "name": "a" })).unwrap();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let names = ["links.h5", "pyquda-hdf5.h5", "lalibe-hdf5.h5", "results.h5"];
    names.iter().map(|name| path(name)).chain(["gzip.h5", "latest.h5"].map(|name| files.join(name))).collect()
}

/// Everything that readers find in a file: links, solutions and a result.
type Content = (Option<GaugeConfiguration>, Option<Vec<Vec<Spinor<f64>>>>, Option<serde_json::Value>);

fn content(path: &Path) -> Content {
    let links = read_gauge_with(path, &ReadOptions::default()).ok();
    let solutions = read_propagator(path).ok();
    (
        links.map(|file| file.configuration),
        solutions.map(|file| file.records.into_iter().map(|record| record.field).collect()),
        read_results(path).ok(),
    )
}

/// A user block holds anything, and addresses count from behind it, whatever the superblock says.
#[test]
fn hdf5_files_behind_user_blocks_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("moved.h5");
    for path in hdf5_files(folder.path()) {
        let (bytes, expected) = (std::fs::read(&path).unwrap(), content(&path));
        // The place of the base address: in superblocks 0 and 1, and in 2 and 3.
        let base = if bytes[8] < 2 { 24 } else { 12 };
        assert!(expected != (None, None, None), "{}", path.display());
        let blocks = [
            ("", 0),
            ("", 512),
            ("MATLAB 7.3 MAT-file", 512),
            ("BEGIN_HEADER\n", 1024),
            ("1.25\n", 4096),
            ("\u{4e}\u{8b}", 1 << 16),
        ];
        for (beginning, length) in blocks {
            for address in [0u64, 512, length as u64] {
                let mut moved = beginning.as_bytes().to_vec();
                moved.resize(length, 0);
                moved.extend(&bytes);
                moved[length + base..][..8].copy_from_slice(&address.to_le_bytes());
                std::fs::write(&file, &moved).unwrap();
                assert!(content(&file) == expected, "{}: {length}, {beginning:?}, {address}", path.display());
            }
        }
        // Not at a power of two, and cut off: messages name places of the whole file.
        std::fs::write(&file, [&[0; 700][..], &bytes].concat()).unwrap();
        assert!(
            read_gauge(&file).is_err() && read_propagator(&file).is_err() && read_results(&file).is_err()
        );
        let cut = [&[0; 1024][..], &bytes[..bytes.len() / 2]].concat();
        std::fs::write(&file, cut).unwrap();
        let error = read_gauge(&file).unwrap_err();
        assert!(error.to_string().contains("byte"), "{error}");
    }
}

#[test]
fn a_flipped_bit_is_found_by_the_sums_of_pyquda() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.h5");
    let config = sample(EXTENTS, Precision::Double);
    write_gauge(&path, &config, &WriteOptions::new(Format::PyQudaHdf5)).unwrap();
    let sound = std::fs::read(&path).unwrap();
    // The links begin behind the superblock.
    for bit in (96 * 8..8 * (96 + NDIM * 384 * 144)).step_by(99_991) {
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        let error = read_gauge(&path).unwrap_err();
        assert!(
            error.is_mismatch() || matches!(error.kind, ErrorKind::NotFinite { .. }),
            "bit {bit}: {error}"
        );
    }
}

fn field(dims: Dims, column: usize) -> Vec<Spinor<f64>> {
    let value = |site: usize, s: usize, c: usize| (1 + 97 * column + 12 * site + 3 * s + c) as f64;
    let complex = |k: f64| Complex::new((0.1 * k).cos(), (0.2 * k).sin());
    (0..dims.volume()).map(|site| Spinor::from_fn(|s, c| complex(value(site, s, c)))).collect()
}

fn write_propagator(path: &Path, format: PropagatorFormat, precision: Precision, columns: usize) {
    let dims = Dims::new(EXTENTS).unwrap();
    let mut writer = PropagatorWriter::create_as(path, format, dims, precision, "κ = 0.13 <test>").unwrap();
    // Not in order: solutions come as they are found.
    for column in (0..columns).rev() {
        writer.write(column / 3, column % 3, &field(dims, column)).unwrap();
    }
    writer.finish().unwrap();
}

/// The fields by column.
fn columns(propagator: &Propagator) -> Vec<&Vec<Spinor<f64>>> {
    let of = |column: usize| move |record: &&_| column_of(record) == column;
    (0..12).map(|column| &propagator.records.iter().find(of(column)).unwrap().field).collect()
}

fn column_of(record: &lattice_cl::io::PropagatorRecord) -> usize {
    3 * record.spin + record.colour
}

#[test]
fn every_format_keeps_every_bit_of_a_propagator() {
    let folder = tempfile::tempdir().unwrap();
    let dims = Dims::new(EXTENTS).unwrap();
    for precision in [Precision::Double, Precision::Single] {
        for format in PropagatorFormat::ALL {
            let path = folder.path().join("file");
            write_propagator(&path, format, precision, 12);
            let propagator = read_propagator(&path).unwrap();
            assert_eq!((propagator.format, propagator.dims, propagator.records.len()), (format, dims, 12));
            for (column, found) in columns(&propagator).into_iter().enumerate() {
                let rounded = |value: f64| match precision {
                    Precision::Double => value,
                    Precision::Single => f64::from(value as f32),
                };
                let wanted = field(dims, column).into_iter().map(|psi| {
                    Spinor::from_fn(|s, c| Complex::new(rounded(psi.0[s][c].re), rounded(psi.0[s][c].im)))
                });
                assert!(found.iter().copied().eq(wanted), "{format} {precision}, column {column}");
            }
            let is_summed = [PropagatorFormat::SciDac, PropagatorFormat::PyQudaHdf5].contains(&format);
            let sums =
                propagator.records.iter().map(|record| record.checksum.as_ref().is_some_and(|sum| sum.ok));
            assert!(sums.into_iter().all(|ok| ok == is_summed), "{format}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn formats_of_twelve_columns_lack_none() {
    let folder = tempfile::tempdir().unwrap();
    let dims = Dims::new(EXTENTS).unwrap();
    for format in PropagatorFormat::ALL.into_iter().filter(|format| format.holds_all_columns()) {
        let path = folder.path().join(format.name());
        let mut writer = PropagatorWriter::create_as(&path, format, dims, Precision::Double, "").unwrap();
        writer.write(3, 2, &field(dims, 11)).unwrap();
        let error = writer.finish().unwrap_err();
        assert!(matches!(error.kind, ErrorKind::MissingColumns { columns: 1 }), "{error}");
        assert!(!path.exists());
    }
}

#[test]
fn a_flipped_bit_of_a_propagator_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for format in [PropagatorFormat::SciDac, PropagatorFormat::PyQudaHdf5] {
        write_propagator(&path, format, Precision::Double, 12);
        let sound = std::fs::read(&path).unwrap();
        for at in (2000..12 * 384 * 192 - 2000).step_by(100_003) {
            let mut bytes = sound.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            // Between the records of SciDAC there are texts.
            match read_propagator(&path) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(_) => assert_eq!(format, PropagatorFormat::SciDac, "byte {at}"),
            }
        }
    }
}

/// Some programs write spinors without a word on their sources: source spin is slowest.
#[test]
fn twelve_spinors_without_sources_are_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let dims = Dims::new(EXTENTS).unwrap();
    for count in [11, 12] {
        let mut writer = PropagatorWriter::create(&path, dims, Precision::Single, "").unwrap();
        for column in 0..count {
            writer.write(column / 3, column % 3, &field(dims, column)).unwrap();
        }
        writer.finish().unwrap();
        let text = "usqcdPropInfo";
        let mut bytes = std::fs::read(&path).unwrap();
        for at in 0..bytes.len() - text.len() {
            if bytes[at..].starts_with(text.as_bytes()) {
                bytes[at] = b'v';
            }
        }
        std::fs::write(&path, bytes).unwrap();
        let read = read_propagator(&path);
        assert_eq!(read.is_ok(), count == 12);
        for (column, record) in read.iter().flat_map(|propagator| &propagator.records).enumerate() {
            assert_eq!(column_of(record), column);
        }
    }
}

#[test]
fn propagators_of_other_programs_are_read_and_converted() {
    let Some(data) = shared().map(|shared| shared.join("data")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let published: [(&str, &[f64]); 3] = [
        ("lalibe_propagator_u.h5", &[1.999198716217855e-1, 4.724875840411349e-2]),
        ("propagator_l4444_k0.12_csw1.2.lime", &[15.57115535, 0.94756393, 0.27975898, 0.87693191]),
        ("propagator_l4444_k0.12_csw1.2_f32.lime", &[15.57115535, 0.94756393, 0.27975898, 0.87693191]),
    ];
    for (name, sums) in published {
        let original = read_propagator(data.join(name)).unwrap();
        let dims = original.dims;
        let slice = dims.volume() / dims[NDIM - 1];
        for (t, wanted) in sums.iter().enumerate() {
            let on_slice =
                columns(&original).into_iter().flat_map(|field| &field[t * slice..(t + 1) * slice]);
            let found: f64 = on_slice.map(Spinor::norm2).sum();
            assert!((found / wanted - 1.0).abs() < 1e-7, "{name}, t = {t}: {found}, {wanted}");
        }
        let mut last = original.clone();
        for format in PropagatorFormat::ALL {
            let path: PathBuf = folder.path().join("converted");
            let mut writer = PropagatorWriter::create_as(&path, format, dims, Precision::Double, "").unwrap();
            for record in &last.records {
                writer.write(record.spin, record.colour, &record.field).unwrap();
            }
            writer.finish().unwrap();
            last = read_propagator(&path).unwrap();
            assert!(columns(&last) == columns(&original), "{name} as {format}");
        }
    }
}
