//! The check that all processes of a job see one file under its name.
//!
//! Folders of machines may differ. Processes that read parts of different files would compute with a
//! configuration that nobody has.

use super::error::{Error, ErrorKind};
use super::input::Input;
use crate::host::Company;
use std::path::Path;

/// Bytes of a sample.
const SAMPLE: u64 = 4096;

/// Samples of a file, at equal distances from its beginning to its end.
const SAMPLES: u64 = 64;

/// Makes sure that the files of all processes have one length and the same samples.
///
/// Two configurations differ in nearly every byte. A copy with a few damaged bytes may pass, and is found
/// by its checksum. All processes call this.
///
/// # Errors
/// [`ErrorKind::OtherFile`], on all processes.
pub(super) fn expect_same_file(input: &mut Input, company: &Company) -> Result<(), Error> {
    let Some(all) = company.all(Some(samples(input)?.as_bytes())) else { return Ok(()) };
    match all.iter().position(|sum| *sum != all[0]) {
        Some(rank) => Err(input.error(ErrorKind::OtherFile { rank })),
        None => Ok(()),
    }
}

/// Returns a text that tells a file from others: the sum of its length and its samples.
///
/// # Errors
/// When the file cannot be read.
pub fn file_identity(path: impl AsRef<Path>) -> Result<String, Error> {
    Ok(samples(&mut Input::open(path.as_ref())?)?.to_string())
}

/// Sums up the length of a file and its samples.
fn samples(input: &mut Input) -> Result<blake3::Hash, Error> {
    let length = input.length();
    let mut sum = blake3::Hasher::new();
    sum.update(&length.to_be_bytes());
    let mut bytes = vec![0; SAMPLE.min(length) as usize];
    for k in 0..SAMPLES {
        input.fill_at((length - bytes.len() as u64) * k / (SAMPLES - 1), &mut bytes)?;
        sum.update(&bytes);
    }
    Ok(sum.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Together;
    use std::sync::{Arc, Barrier, Mutex};

    /// Two threads in the place of processes.
    struct Thread {
        rank: usize,
        told: Arc<(Mutex<[Vec<u8>; 2]>, Barrier)>,
    }

    impl Together for Thread {
        fn rank(&self) -> usize {
            self.rank
        }

        fn size(&self) -> usize {
            2
        }

        fn all(&self, own: Option<&[u8]>) -> Option<Vec<Vec<u8>>> {
            let (told, barrier) = &*self.told;
            told.lock().unwrap()[self.rank] = own?.to_vec();
            barrier.wait();
            let all = told.lock().unwrap().to_vec();
            barrier.wait();
            Some(all)
        }
    }

    fn results(files: [&[u8]; 2]) -> [Result<(), Error>; 2] {
        let folder = tempfile::tempdir().unwrap();
        let told = Arc::new((Mutex::default(), Barrier::new(2)));
        std::thread::scope(|scope| {
            let threads = [0, 1].map(|rank| {
                let path = folder.path().join(rank.to_string());
                std::fs::write(&path, files[rank]).unwrap();
                let company = Company::new(Arc::new(Thread { rank, told: Arc::clone(&told) }));
                scope.spawn(move || expect_same_file(&mut Input::open(&path).unwrap(), &company))
            });
            threads.map(|thread| thread.join().unwrap())
        })
    }

    #[test]
    fn another_file_on_one_process_is_refused_by_all() {
        let file: Vec<u8> = (0..300_000_u32).map(|k| (k % 251) as u8).collect();
        let mut other_end = file.clone();
        other_end[299_999] ^= 1;
        assert!(results([&file, &file]).iter().all(Result::is_ok));
        assert!(results([b"short", b"short"]).iter().all(Result::is_ok));
        for other in [&other_end[..], &file[..299_999], &[7; 300_000]] {
            for result in results([&file, other]) {
                let error = result.unwrap_err();
                assert!(matches!(error.kind, ErrorKind::OtherFile { rank: 1 }), "{error}");
            }
        }
    }
}
