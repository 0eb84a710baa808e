//! Files are read and written without twice their size in memory: peaks of the process, as Linux counts them.
//!
//! The tests are one function, because the peak belongs to the whole process.

use lattice_cl::Dims;
use lattice_cl::host::random;
use lattice_cl::io::{
    Format, PropagatorFormat, PropagatorWriter, ReadOptions, WriteOptions, read_gauge_with, read_propagator,
    write_gauge,
};
use lattice_cl::scalar::Precision;
use std::fs;

/// Bytes of the pieces in which files are read and written, and some more.
const PIECES: f64 = 25e6;

/// Bytes that the process has in memory: `VmRSS` now, `VmHWM` at most.
fn memory(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    1024.0 * line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap()
}

/// The bytes that some work takes at most, its result included; `None` where Linux does not tell.
fn peak_of<T>(work: impl FnOnce() -> T) -> Option<(T, f64)> {
    // 5 sets the peak to what is in memory now.
    fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = memory("VmRSS");
    let result = work();
    Some((result, memory("VmHWM") - before))
}

#[test]
fn a_field_is_in_memory_once_while_it_is_read_or_written() {
    if peak_of(|| ()).is_none() {
        eprintln!("SKIPPED: the peak of memory is not to be had here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dims = Dims::new([16, 16, 16, 16]).unwrap();
    // Threads and their memory are there before anything is measured.
    let links = random::weak(dims, 0.1, 1);
    for format in Format::ALL.into_iter().filter(|format| *format != Format::BridgeText) {
        let path = folder.path().join("links");
        let written = peak_of(|| write_gauge(&path, &links, &WriteOptions::new(format)).unwrap()).unwrap().1;
        let options = ReadOptions::default().with_dims(Some(dims)).with_format(Some(format));
        let (file, read) = peak_of(|| read_gauge_with(&path, &options).unwrap()).unwrap();
        assert_eq!(file.configuration.dims(), dims);
        let size = 576.0 * dims.volume() as f64;
        assert!(written < PIECES, "{format}: writing takes {written} bytes for {size}");
        assert!(read < size + PIECES, "{format}: reading takes {read} bytes for {size}");
    }
    let dims = Dims::new([12, 12, 12, 16]).unwrap();
    let spinors = random::spinor_field(dims, 2);
    for format in PropagatorFormat::ALL {
        let path = folder.path().join("propagator");
        let write = || {
            let mut writer = PropagatorWriter::create_as(&path, format, dims, Precision::Double, "").unwrap();
            for column in 0..12 {
                writer.write(column / 3, column % 3, &spinors).unwrap();
            }
            writer.finish().unwrap();
        };
        let written = peak_of(write).unwrap().1;
        let (propagator, read) = peak_of(|| read_propagator(&path).unwrap()).unwrap();
        assert_eq!(propagator.records.len(), 12);
        let size = 2304.0 * dims.volume() as f64;
        assert!(written < PIECES, "{format}: writing takes {written} bytes for {size}");
        assert!(read < size + PIECES, "{format}: reading takes {read} bytes for {size}");
    }
}
