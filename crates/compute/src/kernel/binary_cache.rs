//! Compiled programs kept between runs.
//!
//! One file holds one program: the signatures of its kernels, and its binary. The file's name is a
//! blake3 hash of everything that the binary depends on. The file opens with a list of these dependencies as text, and with the hash of the
//! rest. List and hash are verified before the driver sees a single byte. A file that does not
//! verify counts as absent and is written anew.
//!
//! The hash shows damage, not origin: whoever writes into the folder decides what the driver gets.
//! So a folder that belongs to somebody else, or that everybody may write to, is not used. Neither
//! links nor fifos are followed.

use super::cache_mode::CacheMode;
use super::signature::Signatures;
use crate::select::POCL;
use lattice_files::regular::{self, Links};
use lattice_files::temporary;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The programs on disk.
#[derive(Debug)]
pub(crate) struct BinaryCache {
    directory: Option<PathBuf>,
}

const MAGIC: &[u8] = b"lattice-cl program 2\n";

/// Size limit of a binary in bytes, more than any driver's binary of a program has.
const MOST_BYTES: u64 = 1 << 28;

impl BinaryCache {
    /// Opens the cache for devices of a platform.
    ///
    /// PoCL's programs are kept in a directory that was asked for. Without such a directory PoCL's
    /// programs are left to PoCL. PoCL keeps its compiled kernels by itself, each at the kernel's
    /// first use. If a program's binary is asked for, PoCL compiles all of the program's kernels.
    pub fn new(mode: &CacheMode, platform: &str) -> Self {
        let left_to_driver = *mode == CacheMode::User && platform == POCL;
        let directory = if left_to_driver { None } else { mode.programs() };
        Self { directory: directory.filter(|directory| is_ours(directory)) }
    }

    /// Returns `true` if programs are stored at all.
    pub fn is_on(&self) -> bool {
        self.directory.is_some()
    }

    /// Returns the folder of the programs, if they are stored.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Returns `true` if there is an entry of this name. It may not be whole.
    pub fn has(&self, identity: &str) -> bool {
        self.directory.as_ref().is_some_and(|directory| path(directory, identity).is_file())
    }

    /// Returns the signatures and the binary stored under `identity`, if they are there and whole.
    pub fn load(&self, identity: &str) -> Option<(Signatures, Vec<u8>)> {
        let path = path(self.directory.as_ref()?, identity);
        let bytes = regular::read(&path, Links::Refused, MOST_BYTES).ok()?;
        let entry = verified(&bytes, identity).map(|(signatures, binary)| (signatures, binary.to_vec()));
        if entry.is_none() {
            tracing::debug!("{} is not a whole cached program; it will be written anew", path.display());
        }
        entry
    }

    /// Stores signatures and a binary under `identity`.
    ///
    /// A cache that cannot be written costs time, nothing else: failures are logged.
    pub fn store(&self, identity: &str, signatures: &Signatures, binary: &[u8]) {
        let Some(directory) = &self.directory else { return };
        let path = path(directory, identity);
        if let Err(error) = write(&path, identity, &signatures.to_string(), binary) {
            tracing::debug!("cannot keep the compiled program {}: {error}", path.display());
        }
    }
}

fn path(directory: &Path, identity: &str) -> PathBuf {
    directory.join(format!("{}.bin", blake3::hash(identity.as_bytes()).to_hex()))
}

/// Returns `true` if only this user decides what lies in a folder.
///
/// [`write`] makes a folder that is not there yet.
fn is_ours(directory: &Path) -> bool {
    let Ok(metadata) = fs::metadata(directory) else { return true };
    let complaint = match complaint(&metadata) {
        None => return true,
        Some(complaint) => complaint,
    };
    tracing::warn!(
        "compiled programs are not kept: {} {complaint}; make a folder of your own, or remove it",
        directory.display()
    );
    false
}

/// Returns the fault of a folder that binaries come from.
#[cfg(unix)]
fn complaint(metadata: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if !metadata.is_dir() {
        Some("is no folder")
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        Some("belongs to another user")
    } else if metadata.mode() & 0o002 != 0 {
        Some("can be written by everybody")
    } else {
        None
    }
}

#[cfg(not(unix))]
fn complaint(metadata: &fs::Metadata) -> Option<&'static str> {
    (!metadata.is_dir()).then_some("is no folder")
}

fn make_folder(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(directory)
}

/// Writes an entry to its file.
///
/// The file holds the magic, the hash of all that follows, identity and signatures, each behind its
/// length, and the binary.
fn write(path: &Path, identity: &str, signatures: &str, binary: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    make_folder(directory)?;
    let mut body = Vec::new();
    for text in [identity, signatures] {
        body.extend_from_slice(&(text.len() as u64).to_le_bytes());
        body.extend_from_slice(text.as_bytes());
    }
    body.extend_from_slice(binary);
    // A temporary file and a rename, so that no other process ever sees half a file.
    let mut file = temporary::create(directory, path.file_name().unwrap_or_default())?;
    file.write_all(MAGIC)?;
    file.write_all(blake3::hash(&body).as_bytes())?;
    file.write_all(&body)?;
    file.persist(path)?;
    Ok(())
}

/// Returns the signatures and the binary of an entry, if it is whole and of this identity.
fn verified<'a>(bytes: &'a [u8], identity: &str) -> Option<(Signatures, &'a [u8])> {
    let (hash, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<{ blake3::OUT_LEN }>()?;
    if blake3::hash(body) != blake3::Hash::from_bytes(*hash) {
        return None;
    }
    let (stored, rest) = split_text(body)?;
    let (signatures, binary) = split_text(rest)?;
    let signatures = Signatures::parse(std::str::from_utf8(signatures).ok()?)?;
    (stored == identity.as_bytes() && !binary.is_empty()).then_some((signatures, binary))
}

/// Splits bytes into a text that stands behind its length, and the rest.
fn split_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, BinaryCache) {
        let directory = tempfile::tempdir().unwrap();
        let cache = BinaryCache::new(&CacheMode::Directory(directory.path().join("programs")), POCL);
        (directory, cache)
    }

    fn signatures() -> Signatures {
        Signatures::parse("axpy a,value,double,whole x,input,double,view\n").unwrap()
    }

    #[test]
    fn what_was_stored_comes_back_under_its_own_identity_only() {
        let (_directory, cache) = cache();
        assert_eq!(cache.load("a"), None);
        cache.store("a", &signatures(), b"binary");
        assert_eq!(cache.load("a"), Some((signatures(), b"binary".to_vec())));
        assert_eq!(cache.load("b"), None);
        let off = BinaryCache::new(&CacheMode::Off, "any");
        off.store("a", &signatures(), b"nowhere");
        assert_eq!(off.load("a"), None);
    }

    #[test]
    fn the_users_cache_leaves_pocl_to_itself() {
        assert!(!BinaryCache::new(&CacheMode::User, POCL).is_on());
        assert_eq!(
            BinaryCache::new(&CacheMode::User, "any").directory,
            CacheMode::User.programs(),
            "other drivers' programs are kept"
        );
    }

    /// Links and fifos count as absent; nothing waits for a fifo's other end.
    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_read() {
        let (folder, cache) = cache();
        cache.store("a", &signatures(), b"binary");
        let file = path(cache.directory.as_ref().unwrap(), "a");
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert_eq!(cache.load("a"), None, "a link");
        fs::remove_file(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        assert_eq!(cache.load("a"), None, "a fifo");
        cache.store("a", &signatures(), b"binary");
        assert_eq!(cache.load("a"), Some((signatures(), b"binary".to_vec())), "both are replaced");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_everybody_may_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = CacheMode::Directory(folder.path().to_owned());
        assert!(BinaryCache::new(&mode, "any").is_on());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!BinaryCache::new(&mode, "any").is_on());
    }

    #[test]
    fn a_damaged_file_is_never_trusted() {
        let (_directory, cache) = cache();
        cache.store("a", &signatures(), b"binary");
        let file = path(cache.directory.as_ref().unwrap(), "a");
        let whole = fs::read(&file).unwrap();
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 1;
            fs::write(&file, &damaged).unwrap();
            assert_eq!(cache.load("a"), None, "byte {position}");
            fs::write(&file, &whole[..position]).unwrap();
            assert_eq!(cache.load("a"), None, "cut at {position}");
        }
        // Whole by its hash, but no signatures.
        write(&file, "a", "axpy x", b"binary").unwrap();
        assert_eq!(cache.load("a"), None);
        cache.store("a", &signatures(), b"again");
        assert_eq!(cache.load("a"), Some((signatures(), b"again".to_vec())));
    }
}
