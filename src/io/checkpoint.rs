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
use super::input::Input;
use super::lime::{self, Position, Record};
use super::output::Output;
use bytemuck::Pod;
use lattice_files::text::quoted;
use std::path::Path;

/// The type of the first record.
pub(super) const ABOUT: &str = "lattice-cl-checkpoint";
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

/// Bytes from which a sum is for several threads.
const MANY_BYTES: usize = 1 << 18;

/// Bytes that are read while those before them are summed up.
const READ_AT_ONCE: usize = 64 << 20;

struct Sum(blake3::Hasher);

impl Sum {
    fn new() -> Self {
        Self(blake3::Hasher::new())
    }

    /// Begins a payload of so many bytes.
    fn begin(&mut self, length: u64) {
        self.0.update(&length.to_le_bytes());
    }

    /// Adds the next bytes of the payload, by several threads if there are many.
    fn add(&mut self, bytes: &[u8]) {
        if bytes.len() >= MANY_BYTES {
            self.0.update_rayon(bytes);
        } else {
            self.0.update(bytes);
        }
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
        self.sum.begin(payload.len() as u64);
        self.sum.add(payload);
        lime::write_header(&mut self.output, kind, position, payload.len() as u64)?;
        self.output.write(payload)?;
        lime::write_padding(&mut self.output, payload.len() as u64)
    }
}

/// A checkpoint that is read block by block.
///
/// Nothing of it is to be believed before [`CheckpointReader::finish`].
pub struct CheckpointReader {
    input: Input,
    about: String,
    /// The blocks that are left.
    blocks: std::vec::IntoIter<Record>,
    /// The record of the stored sum.
    stored: Record,
    sum: Sum,
}

impl CheckpointReader {
    /// Opens a checkpoint and reads the description of its blocks.
    ///
    /// # Errors
    /// * The file cannot be read.
    /// * The file is no checkpoint.
    /// * The file is truncated.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let mut input = Input::open(path.as_ref())?;
        let mut records = lime::records(&mut input)?.records;
        let none = |wanted, records: &[Record]| {
            let records = records.iter().map(|record| record.kind.clone()).collect();
            Error::new(path.as_ref(), ErrorKind::NoSuchRecord { wanted, records })
        };
        let is_sum = |record: &Record| record.kind == SUM;
        match &records[..] {
            [about, ..] if about.kind != ABOUT => Err(none(FIRST, &records)),
            [] => Err(none(FIRST, &records)),
            [_, blocks @ .., sum] if is_sum(sum) && blocks.iter().all(|block| block.kind == BLOCK) => Ok(()),
            _ => Err(none(LAST, &records)),
        }?;
        let (Some(stored), about) = (records.pop(), records.remove(0)) else { return Err(none(LAST, &[])) };
        let mut sum = Sum::new();
        let text = input.bytes("what the checkpoint is of", about.byte, about.length as usize)?;
        sum.begin(about.length);
        sum.add(&text);
        let about = String::from_utf8_lossy(&text).into_owned();
        Ok(Self { input, about, blocks: records.into_iter(), stored, sum })
    }

    /// Returns the description of the blocks.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Returns the bytes of the next block. `None` behind the last one.
    pub fn next_length(&self) -> Option<u64> {
        self.blocks.as_slice().first().map(|block| block.length)
    }

    /// Reads the next block, as numbers of the type `T`.
    ///
    /// Several threads read, and sum up what is read. `None` if there is no block, or if its bytes are no whole
    /// numbers.
    ///
    /// # Errors
    /// * The file cannot be read, or is truncated.
    /// * There is too little memory for the block.
    pub fn block<T: Pod>(&mut self) -> Result<Option<Vec<T>>, Error> {
        let Some(Record { byte, length, .. }) = self.blocks.next() else { return Ok(None) };
        if !length.is_multiple_of(size_of::<T>() as u64) {
            return Ok(None);
        }
        let mut numbers = self.input.room::<T>("a block", byte, length)?;
        self.sum.begin(length);
        let (input, sum) = (&mut self.input, &mut self.sum);
        let mut read: &[u8] = &[];
        let mut at = byte;
        for piece in bytemuck::cast_slice_mut::<T, u8>(&mut numbers).chunks_mut(READ_AT_ONCE) {
            let (from, before) = (at, read);
            at += piece.len() as u64;
            rayon::join(|| sum.add(before), || input.fill_at(from, piece)).1?;
            read = piece;
        }
        sum.add(read);
        Ok(Some(numbers))
    }

    /// Verifies the checkpoint, with the blocks that are left.
    ///
    /// # Errors
    /// * The file cannot be read.
    /// * The sum in the file is not that of its payloads.
    pub fn finish(mut self) -> Result<(), Error> {
        while self.next_length().is_some() {
            self.block::<u8>()?;
        }
        let (computed, stored) = (self.sum.text(), lime::text(&mut self.input, &self.stored)?);
        if computed != stored {
            let stored = quoted(&stored);
            return Err(self.input.error(ErrorKind::DamagedCheckpoint { stored, computed }));
        }
        Ok(())
    }
}

const FIRST: &str = "checkpoint (lattice-cl-checkpoint, its first record)";
const LAST: &str = "sum of its data (lattice-cl-blake3) behind all lattice-cl-block";

/// Reads and verifies a checkpoint.
///
/// # Errors
/// The errors of [`CheckpointReader`].
pub fn read_checkpoint(path: impl AsRef<Path>) -> Result<Checkpoint, Error> {
    let mut reader = CheckpointReader::open(path)?;
    let about = reader.about().to_owned();
    let mut blocks = Vec::new();
    while let Some(block) = reader.block()? {
        blocks.push(block);
    }
    reader.finish()?;
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
