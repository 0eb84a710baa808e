//! Words of damaged files in messages: no control character of a file reaches a terminal.

use lattice_cl::io::{
    ArrayFile, DenseMatrix, MeshFile, NumberArray, inspect, read_propagator, read_results, read_sparse,
};
use lattice_cl::io::{ReadOptions, read_checkpoint};
use lattice_cl::linalg::sparse::market::Market;
use lattice_cl::linalg::sparse::read_vectors;
use std::path::Path;

/// Sets the title of many terminals, and clears others.
const PAYLOAD: &str = "\u{1b}]0;owned\u{7}\u{9b}2J";

/// Everything that the readers say of a file.
fn messages(path: &Path) -> Vec<String> {
    let options = ReadOptions::default();
    let all = [
        Market::read(path).err().map(|error| error.to_string()),
        read_vectors(path).err().map(|error| error.to_string()),
        DenseMatrix::read(path).err().map(|error| error.to_string()),
        MeshFile::read(path).err().map(|error| error.to_string()),
        MeshFile::read_beside(path, "rho", [1, 1, 1]).err().map(|error| error.to_string()),
        NumberArray::read_npy(path).err().map(|error| error.to_string()),
        ArrayFile::open(path).err().map(|error| error.to_string()),
        read_sparse(path).err().map(|error| error.to_string()),
        inspect(path, &options).err().map(|error| error.to_string()),
        read_propagator(path).err().map(|error| error.to_string()),
        read_results(path).err().map(|error| error.to_string()),
        read_checkpoint(path).err().map(|error| error.to_string()),
    ];
    all.into_iter().flatten().collect()
}

fn numpy(descr: &str, shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &[0; 32]].concat()
}

#[test]
fn a_control_character_anywhere_in_a_file_reaches_no_message() {
    let seeds: [&[u8]; 8] = [
        b"%%MatrixMarket matrix coordinate real general\n% a comment\n2 2 2\n1 1 0.5\n2 2 4\n",
        b"%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 0.5 0\n2 1 4 1e-5\n",
        b"%%MatrixMarket matrix array integer skew-symmetric\n2 2\n7\n",
        b"cube\nfile\n 1 0.5 0 0\n 2 1.0 0 0\n 1 0 2.0 0\n 1 0 0 0.5\n 8 8.0 0 0 0.25\n 1 2\n",
        &numpy("<f8", "(2, 2)"),
        &numpy("|S4", "(2L, 4)"),
        b"{\"schema_version\": 1, \"command\": \"spectrum\"}\n",
        b"BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE_3x3\nFLOATING_POINT = IEEE64BIG\nEND_HEADER\n",
    ];
    let folder = tempfile::tempdir().unwrap();
    let (mut count, mut with_payload) = (0, 0);
    // The name of a file may be as bad as its content.
    for name in ["plain".to_owned(), format!("a{PAYLOAD}")] {
        let path = folder.path().join(name);
        for seed in seeds {
            for at in 0..=seed.len() {
                let damaged = [&seed[..at], PAYLOAD.as_bytes(), &seed[at..]].concat();
                std::fs::write(&path, damaged).unwrap();
                for message in messages(&path) {
                    assert!(!message.contains(char::is_control), "at byte {at}: {message:?}");
                    count += 1;
                    with_payload += usize::from(message.contains("]0;owned"));
                }
            }
        }
    }
    assert!(count > 1000 && with_payload > 500, "{with_payload} of {count}");
}
