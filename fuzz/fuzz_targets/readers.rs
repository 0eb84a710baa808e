//! Whatever stands in a file, every reader ends with data or with an error: `cargo +nightly fuzz run readers`.
//!
//! `tests/mutated_files.rs` does the same within every test run, with a fixed budget. Files of `../../shared/data` and those
//! that the tests write make a good corpus.

#![no_main]

use lattice_cl::io::{ReadOptions, inspect, read_checkpoint, read_gauge_with, read_propagator_with};
use libfuzzer_sys::fuzz_target;
use std::io::Write;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(bytes).expect("and written");
    for ignore in [false, true] {
        let options = ReadOptions::default().with_ignore_checksum(ignore).with_ignore_unitarity(ignore);
        let _ = read_gauge_with(file.path(), &options);
        let _ = read_propagator_with(file.path(), &options);
        let _ = inspect(file.path(), &options);
    }
    let _ = read_checkpoint(file.path());
});
