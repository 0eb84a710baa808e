//! Files without a name, or a temporary one, which take their true name when they are complete.
//!
//! On Linux such a file has no name until then, if its file system can do that. A process that is
//! killed leaves nothing. Elsewhere the name is `.NAME.XXXXXX.part`, beside the place of the file. A
//! process that is killed leaves such a file. Each file is locked by the process that writes it. So a
//! later writer of the same name recognises abandoned files, and removes them.

use crate::leftovers::Leftover;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempPath;

const ENDING: &str = ".part";

/// Number of random characters in a name.
const RANDOM: usize = 6;

/// Time for which an empty file may be one that its process has not locked yet.
const NOT_YET_LOCKED: Duration = Duration::from_secs(10);

/// A file that is being written.
///
/// A file that is dropped before it is persisted is removed.
#[derive(Debug)]
pub struct Temporary {
    file: File,
    folder: PathBuf,
    prefix: OsString,
    /// The temporary name, if the file has one.
    name: Option<(TempPath, Leftover)>,
}

/// Creates a file in `folder` that will be called `name`.
///
/// Other temporary files of this name, left by killed processes, are removed.
///
/// The file has the permissions of any new file.
///
/// # Errors
/// Errors of the system.
pub fn create(folder: &Path, name: &OsStr) -> io::Result<Temporary> {
    let prefix = prefix(name);
    remove_abandoned(folder, &prefix);
    let temporary = match without_name(folder) {
        Some(file) => Temporary { file, folder: folder.to_owned(), prefix, name: None },
        None => named(folder, prefix)?,
    };
    if let Err(error) = lock(&temporary.file) {
        tracing::debug!("no lock on a temporary file in {}: {error}", folder.display());
    }
    Ok(temporary)
}

fn builder(prefix: &OsStr) -> tempfile::Builder<'_, '_> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(ENDING).rand_bytes(RANDOM);
    builder
}

/// Creates a file with a temporary name.
fn named(folder: &Path, prefix: OsString) -> io::Result<Temporary> {
    let mut builder = builder(&prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mode of any new file, less the umask. The default is for secrets, 0600.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let (file, path) = builder.tempfile_in(folder)?.into_parts();
    let leftover = Leftover::note(&path);
    Ok(Temporary { file, folder: folder.to_owned(), prefix, name: Some((path, leftover)) })
}

/// Creates a file without a name; `None` where that is not possible.
#[cfg(target_os = "linux")]
fn without_name(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    // A name is given through this folder.
    if !Path::new(OPEN_FILES).is_dir() {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    open(folder, flags, Mode::from_raw_mode(0o666)).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn without_name(_: &Path) -> Option<File> {
    None
}

/// The folder in which the system shows the open files of a process.
#[cfg(target_os = "linux")]
const OPEN_FILES: &str = "/proc/self/fd";

/// Gives a file without a name this one.
#[cfg(target_os = "linux")]
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let open = Path::new(OPEN_FILES).join(file.as_raw_fd().to_string());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Temporary {
    /// The file, to read from or to ask.
    pub fn as_file(&self) -> &File {
        &self.file
    }

    /// The file, to write to.
    pub fn as_file_mut(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the complete file its true name, in the place of any other file.
    ///
    /// # Errors
    /// Errors of the system. The file is removed then.
    pub fn persist(self, path: impl AsRef<Path>) -> io::Result<()> {
        let Self { file, folder, prefix, name } = self;
        let (name, _leftover) = match name {
            Some(name) => name,
            // A rename replaces another file, and a link does not.
            None => {
                let linked = builder(&prefix).make_in(&folder, |path| {
                    give_name(&file, path)?;
                    Ok(Leftover::note(path))
                })?;
                let (leftover, path) = linked.into_parts();
                (path, leftover)
            }
        };
        name.persist(path).map_err(|error| error.error)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Locks the file, on Unix only.
///
/// On other systems, such as Windows, locks keep others from writing. There nothing is locked and
/// nothing is removed.
fn lock(file: &File) -> io::Result<()> {
    if cfg!(unix) { file.lock() } else { Ok(()) }
}

/// Removes the temporary files of this prefix whose processes are gone.
///
/// A failure to remove is ignored.
fn remove_abandoned(folder: &Path, prefix: &OsStr) {
    if !cfg!(unix) {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && is_own_name(&entry.file_name(), prefix) && is_abandoned(&entry.path()) {
            tracing::debug!("removing {}, which a killed process has left", entry.path().display());
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_own_name(name: &OsStr, prefix: &OsStr) -> bool {
    let middle = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
    let middle = middle.and_then(|rest| rest.strip_suffix(ENDING.as_bytes()));
    middle.is_some_and(|middle| middle.len() == RANDOM && middle.iter().all(u8::is_ascii_alphanumeric))
}

/// Returns `true` if no process holds the lock of the file.
///
/// Without locks the file is taken to be in use.
fn is_abandoned(path: &Path) -> bool {
    let Ok(file) = File::options().read(true).write(true).open(path) else { return false };
    let Ok(metadata) = file.metadata() else { return false };
    let age = || metadata.modified().ok().and_then(|time| time.elapsed().ok());
    file.try_lock().is_ok() && (metadata.len() > 0 || age().is_some_and(|age| age > NOT_YET_LOCKED))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_abandoned_files_of_the_same_name_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).unwrap();
        // Files that kill -9 leaves: nobody holds their locks.
        write(".conf.lime.aB3xYz.part", "half a file");
        write(".conf.lime.000000.part", "half a file");
        // Files with other names, and files of people.
        let others = [
            ".conf.aB3xYz.part",
            ".conf.lime.aB3xY.part",
            ".conf.lime.aB3xYz.part.part",
            ".conf.lime.backup.old.part",
            ".conf.lime.aB3-Yz.part",
            ".other.lime.aB3xYz.part",
            "conf.lime",
            "conf.lime.aB3xYz.part",
        ];
        others.iter().for_each(|name| write(name, "of others"));
        // A file just created, perhaps not locked yet.
        write(".conf.lime.abcdef.part", "");
        let with_name = || {
            remove_abandoned(folder.path(), &prefix(OsStr::new("conf.lime")));
            let file = named(folder.path(), prefix(OsStr::new("conf.lime"))).unwrap();
            lock(&file.file).unwrap();
            let name = file.name.as_ref().unwrap().0.file_name().unwrap().to_str().unwrap().to_owned();
            (file, name)
        };
        let (mut alive, name) = with_name();
        alive.write_all(b"being written").unwrap();

        let (second, second_name) = with_name();
        let mut wanted: Vec<String> = others.iter().map(|name| (*name).to_owned()).collect();
        wanted.extend([".conf.lime.abcdef.part".to_owned(), name, second_name]);
        wanted.sort();
        assert_eq!(names(folder.path()), wanted);

        let long_ago = std::time::SystemTime::now() - 2 * NOT_YET_LOCKED;
        let unlocked =
            File::options().write(true).open(folder.path().join(".conf.lime.abcdef.part")).unwrap();
        unlocked.set_modified(long_ago).unwrap();
        drop(unlocked);
        remove_abandoned(folder.path(), &prefix(OsStr::new("conf.lime")));
        wanted.retain(|name| name != ".conf.lime.abcdef.part");
        assert_eq!(names(folder.path()), wanted);
        drop((alive, second));
    }

    #[test]
    fn a_finished_file_is_nobodys_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let makers: [&dyn Fn() -> io::Result<Temporary>; 2] =
            [&|| create(folder.path(), OsStr::new("a")), &|| named(folder.path(), prefix(OsStr::new("a")))];
        for make in makers {
            fs::write(&path, "the old content").unwrap();
            let mut file = make().unwrap();
            file.write_all(b"whole").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"the old content");
            file.persist(&path).unwrap();
            drop(make().unwrap());
            assert_eq!(names(folder.path()), ["a"]);
            assert_eq!(fs::read(&path).unwrap(), b"whole");
            // Nothing stays of a file that cannot take its name.
            fs::create_dir(folder.path().join("folder")).unwrap();
            assert!(make().unwrap().persist(folder.path().join("folder")).is_err());
            fs::remove_dir(folder.path().join("folder")).unwrap();
            assert_eq!(names(folder.path()), ["a"]);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_has_no_name_before_it_is_complete() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        // Not every file system can do that.
        if without_name(folder.path()).is_none() {
            return;
        }
        let mut file = create(folder.path(), OsStr::new("a")).unwrap();
        file.write_all(b"half").unwrap();
        assert!(names(folder.path()).is_empty());
        file.persist(folder.path().join("a")).unwrap();
        // The permissions are those of any new file.
        fs::write(folder.path().join("b"), "").unwrap();
        let mode = |name: &str| folder.path().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode("a"), mode("b"));
    }
}
