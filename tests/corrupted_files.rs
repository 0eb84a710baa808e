//! Corrupted files: whatever stands in a file, reading it ends with links or with an error; never with a panic, nor
//! with an allocation out of proportion.

use crate::common;

use crate::formats::tells_extents;
use common::{sample, shared};
use lattice_cl::host::Spinor;
use lattice_cl::io::{
    ByteOrder, Error, ErrorKind, Format, PropagatorWriter, ReadOptions, Rows, WriteOptions, read_gauge_with,
    read_propagator_with, write_gauge,
};
use lattice_cl::{Dims, Precision};
use proptest::prelude::*;
use std::path::Path;
use std::sync::OnceLock;

/// One way to spoil a file. Places are taken modulo the length of what they point into.
#[derive(Clone, Debug)]
enum Corruption {
    FlipBit {
        place: usize,
        bit: u32,
    },
    Truncate {
        length: usize,
    },
    Insert {
        place: usize,
        bytes: Vec<u8>,
    },
    Overwrite {
        place: usize,
        bytes: Vec<u8>,
    },
    /// One digit of a number in a header: its length stays.
    ChangeDigit {
        which: usize,
        digit: u8,
    },
    /// A whole number in a header: its length may change.
    ReplaceNumber {
        which: usize,
        text: &'static str,
    },
}

impl Corruption {
    fn apply(&self, file: &mut Vec<u8>) {
        if file.is_empty() {
            return;
        }
        let numbers = || {
            let header = &file[..file.len().min(4096)];
            let is_start =
                |k: &usize| header[*k].is_ascii_digit() && !(*k > 0 && header[k - 1].is_ascii_digit());
            (0..header.len()).filter(is_start).collect::<Vec<_>>()
        };
        match self {
            Self::FlipBit { place, bit } => {
                let place = place % file.len();
                file[place] ^= 1 << bit;
            }
            Self::Truncate { length } => file.truncate(length % file.len()),
            Self::Insert { place, bytes } => {
                let place = place % file.len();
                file.splice(place..place, bytes.iter().copied());
            }
            Self::Overwrite { place, bytes } => {
                let place = place % file.len();
                for (to, from) in file[place..].iter_mut().zip(bytes) {
                    *to = *from;
                }
            }
            Self::ChangeDigit { which, digit } => {
                let numbers = numbers();
                if let Some(&at) = numbers.get(which % numbers.len().max(1)) {
                    file[at] = *digit;
                }
            }
            Self::ReplaceNumber { which, text } => {
                let numbers = numbers();
                if let Some(&at) = numbers.get(which % numbers.len().max(1)) {
                    let length = file[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    file.splice(at..at + length, text.bytes());
                }
            }
        }
    }
}

/// Half of all places are in the header, where most of what can go wrong stands.
fn place() -> impl Strategy<Value = usize> {
    prop_oneof![0..2000usize, any::<usize>()]
}

fn corruption() -> impl Strategy<Value = Corruption> {
    let bytes = || {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 1..20),
            (0..20usize).prop_map(|count| vec![0; count]),
            (0..20usize).prop_map(|count| vec![0xff; count]),
        ]
    };
    let text =
        prop::sample::select(vec!["", "0", "-1", "7", "1e9", "2147483648", "99999999999999999999", "0x10"]);
    let digit = prop::sample::select(b"0123456789-. <".to_vec());
    prop_oneof![
        (place(), 0..8u32).prop_map(|(place, bit)| Corruption::FlipBit { place, bit }),
        place().prop_map(|length| Corruption::Truncate { length }),
        (place(), bytes()).prop_map(|(place, bytes)| Corruption::Insert { place, bytes }),
        (place(), bytes()).prop_map(|(place, bytes)| Corruption::Overwrite { place, bytes }),
        (any::<usize>(), digit).prop_map(|(which, digit)| Corruption::ChangeDigit { which, digit }),
        (any::<usize>(), text).prop_map(|(which, text)| Corruption::ReplaceNumber { which, text }),
    ]
}

/// Sound files: written here in every format, and published by others where they are at hand.
fn sound_files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sound");
        let mut files = Vec::new();
        for precision in [Precision::Single, Precision::Double] {
            let config = sample([2, 2, 2, 4], precision);
            for format in Format::ALL.into_iter().filter(|format| tells_extents(*format)) {
                write_gauge(&path, &config, &WriteOptions::new(format)).unwrap();
                files.push(std::fs::read(&path).unwrap());
            }
            let order = Some(ByteOrder::Little);
            let options = WriteOptions::new(Format::Nersc).with_rows(Rows::Two).with_byte_order(order);
            write_gauge(&path, &config, &options).unwrap();
            files.push(std::fs::read(&path).unwrap());
        }
        let dims = Dims::new([2, 2, 2, 4]).unwrap();
        let mut writer = PropagatorWriter::create(&path, dims, Precision::Single, "").unwrap();
        writer.write(1, 2, &vec![Spinor::default(); dims.volume()]).unwrap();
        writer.finish().unwrap();
        files.push(std::fs::read(&path).unwrap());
        if let Some(shared) = shared() {
            for name in
                ["t_nersc.cfg", "lat.sample.l4444", "lat.sample.l4444.ildg", "lat.sample.l4444.scidac"]
            {
                files.push(std::fs::read(shared.join("data").join(name)).unwrap());
            }
        }
        files
    })
}

/// The largest address space that this process has had, in KiB; 0 where the system does not tell.
fn peak_address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What reading says, for gauge fields and propagators; an error must have a message that names the file.
fn outcomes(path: &Path, options: &ReadOptions) -> Vec<Error> {
    let gauge = read_gauge_with(path, options).map(drop);
    let propagator = read_propagator_with(path, options).map(drop);
    [gauge, propagator].into_iter().filter_map(Result::err).collect()
}

#[test]
fn the_sound_files_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for file in sound_files() {
        std::fs::write(&path, file).unwrap();
        assert_eq!(outcomes(&path, &ReadOptions::default()).len(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_a_corrupted_file_ends_well(
        which in any::<prop::sample::Index>(),
        corruptions in prop::collection::vec(corruption(), 1..4),
        ignore_checksum in any::<bool>(),
        ignore_unitarity in any::<bool>(),
        give_dims in any::<bool>(),
    ) {
        let mut file = which.get(sound_files()).clone();
        for corruption in &corruptions {
            corruption.apply(&mut file);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, &file).unwrap();
        let dims = give_dims.then(|| Dims::new([4, 4, 4, 4]).unwrap());
        let options = ReadOptions::default().with_dims(dims).with_ignore_checksum(ignore_checksum).with_ignore_unitarity(ignore_unitarity);

        let before = peak_address_space();
        for error in outcomes(&path, &options) {
            prop_assert!(!matches!(error.kind, ErrorKind::OutOfMemory { .. }), "{error}");
            let message = error.to_string();
            prop_assert!(message.starts_with(&path.display().to_string()));
            prop_assert!(!message.chars().any(char::is_control), "{message:?}");
        }
        let grown = peak_address_space() - before;
        // A few chunks and the stacks of the threads; the smallest absurd extents would need far more.
        prop_assert!(grown < 512 << 10, "the address space grew by {grown} KiB");
    }
}
