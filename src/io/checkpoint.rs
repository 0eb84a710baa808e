//! Checkpoints: the state of a solve on disk, so that it can go on later.
//!
//! A file is a LIME message with these records:
//! * `lattice-cl-checkpoint`, a text that describes the other records;
//! * `lattice-cl-block`, one for each block of numbers;
//! * `lattice-cl-blake3`, the BLAKE3 sum of all other payloads, in hexadecimal.
//!
//! In the sum, each payload stands behind its length (8 bytes, little-endian). Blocks are in the
//! byte order of the machine that wrote them.

use super::error::{Error, ErrorKind};
use super::input::{Input, quoted};
use super::lime::{self, Position, Record};
use super::output::Output;
use std::path::Path;

const ABOUT: &str = "lattice-cl-checkpoint";
const BLOCK: &str = "lattice-cl-block";
const SUM: &str = "lattice-cl-blake3";

/// A writer of a checkpoint.
///
/// The file has a temporary name until [`CheckpointWriter::finish`]. An earlier file of the same
/// name is kept till then. A writer that is dropped leaves nothing behind.
pub struct CheckpointWriter {
    output: Output,
    sum: Sum,
}

/// The content of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The description of the blocks.
    pub about: String,
    /// The blocks, in the order of the file.
    pub blocks: Vec<Vec<u8>>,
}

struct Sum(blake3::Hasher);

impl Sum {
    fn new() -> Self {
        Self(blake3::Hasher::new())
    }

    fn add(&mut self, payload: &[u8]) {
        self.0.update(&(payload.len() as u64).to_le_bytes());
        self.0.update(payload);
    }

    fn text(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

impl CheckpointWriter {
    /// Begins a file. `about` describes the blocks, in at most 1 MiB.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: impl AsRef<Path>, about: &str) -> Result<Self, Error> {
        let mut writer = Self { output: Output::create(path.as_ref())?, sum: Sum::new() };
        writer.record(ABOUT, Position::First, about.as_bytes())?;
        Ok(writer)
    }

    /// Appends a block.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn block(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.record(BLOCK, Position::Middle, bytes)
    }

    /// Brings the file to disk and renames it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn finish(mut self) -> Result<(), Error> {
        let sum = self.sum.text();
        self.record(SUM, Position::Last, sum.as_bytes())?;
        self.output.finish()
    }

    fn record(&mut self, kind: &str, position: Position, payload: &[u8]) -> Result<(), Error> {
        self.sum.add(payload);
        lime::write_header(&mut self.output, kind, position, payload.len() as u64)?;
        self.output.write(payload)?;
        lime::write_padding(&mut self.output, payload.len() as u64)
    }
}

/// Reads and verifies a checkpoint.
///
/// # Errors
/// * The file cannot be read.
/// * The file is no checkpoint.
/// * The file is truncated.
/// * The sum in the file is not that of its payloads.
pub fn read_checkpoint(path: impl AsRef<Path>) -> Result<Checkpoint, Error> {
    let mut input = Input::open(path.as_ref())?;
    let records = lime::records(&mut input)?.records;
    let none = |wanted| {
        let records = records.iter().map(|record| record.kind.clone()).collect();
        Error::new(path.as_ref(), ErrorKind::NoSuchRecord { wanted, records })
    };
    let (about, others) = match records.split_first() {
        Some((about, others)) if about.kind == ABOUT => (about, others),
        _ => return Err(none("checkpoint (lattice-cl-checkpoint, its first record)")),
    };
    let (last, blocks) = match others.split_last() {
        Some((last, blocks)) if last.kind == SUM && blocks.iter().all(|block| block.kind == BLOCK) => {
            (last, blocks)
        }
        _ => return Err(none("sum of its data (lattice-cl-blake3) behind all lattice-cl-block")),
    };

    let mut sum = Sum::new();
    let mut payload = |record: &Record, what: &str| {
        let bytes = input.bytes(what, record.byte, record.length as usize)?;
        sum.add(&bytes);
        Ok(bytes)
    };
    let about = String::from_utf8_lossy(&payload(about, "what the checkpoint is of")?).into_owned();
    let blocks = blocks.iter().map(|block| payload(block, "a block")).collect::<Result<_, Error>>()?;
    let (computed, stored) = (sum.text(), lime::text(&mut input, last)?);
    if computed != stored {
        let stored = quoted(&stored);
        return Err(input.error(ErrorKind::DamagedCheckpoint { stored, computed }));
    }
    Ok(Checkpoint { about, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &Path) -> Checkpoint {
        let checkpoint = Checkpoint {
            about: "{\"κ\": 0.13}".to_owned(),
            blocks: vec![vec![], (0..=255).collect(), vec![7; 3]],
        };
        let mut writer = CheckpointWriter::create(path, &checkpoint.about).unwrap();
        checkpoint.blocks.iter().for_each(|block| writer.block(block).unwrap());
        writer.finish().unwrap();
        checkpoint
    }

    #[test]
    fn a_checkpoint_is_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solve.checkpoint");
        let checkpoint = written(&path);
        assert_eq!(read_checkpoint(&path).unwrap(), checkpoint);
    }

    #[test]
    fn truncated_files_and_flipped_bits_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solve.checkpoint");
        let checkpoint = written(&path);
        let whole = std::fs::read(&path).unwrap();
        // The padding of the last record is not needed; the sum takes 64 bytes, so it has none.
        for length in (0..whole.len()).step_by(5).chain([whole.len() - 1]) {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(read_checkpoint(&path).is_err(), "{length} of {} bytes", whole.len());
        }
        let mut found = 0;
        for byte in (0..whole.len()).step_by(5) {
            let mut damaged = whole.clone();
            damaged[byte] ^= 1;
            std::fs::write(&path, damaged).unwrap();
            // Versions, flags, the rest of a type and padding mean nothing.
            match read_checkpoint(&path) {
                Ok(read) => assert_eq!(read, checkpoint, "byte {byte}"),
                Err(_) => found += 1,
            }
        }
        assert!(found > (256 + 64) / 5, "{found}");
    }

    #[test]
    fn an_unfinished_checkpoint_leaves_the_last_one_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solve.checkpoint");
        let checkpoint = written(&path);
        let mut writer = CheckpointWriter::create(&path, "another").unwrap();
        writer.block(&[1; 1000]).unwrap();
        drop(writer);
        assert_eq!(read_checkpoint(&path).unwrap(), checkpoint);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
