//! Files under a temporary name, which take their true name when they are complete.
//!
//! The name is `.NAME.XXXXXX.part`, beside the place of the file. A process that is killed leaves
//! such a file. Each file is locked by the process that writes it. So a later writer of the same
//! name recognises abandoned files, and removes them.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;
use tempfile::NamedTempFile;

const ENDING: &str = ".part";

/// Number of random characters in a name.
const RANDOM: usize = 6;

/// Time for which an empty file may be one that its process has not locked yet.
const NOT_YET_LOCKED: Duration = Duration::from_secs(10);

/// Creates a file in `folder` that will be called `name`.
///
/// Other temporary files of this name, left by killed processes, are removed.
///
/// The file has the permissions of any new file. A file that is dropped before it is persisted is
/// removed.
pub fn create(folder: &Path, name: &OsStr) -> io::Result<NamedTempFile> {
    let prefix = prefix(name);
    remove_abandoned(folder, &prefix);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(ENDING).rand_bytes(RANDOM);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mode of any new file, less the umask. The default is for secrets, 0600.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    if let Err(error) = lock(file.as_file()) {
        tracing::debug!("no lock on {}: {error}", file.path().display());
    }
    Ok(file)
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
    use std::io::Write;

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
        let mut alive = create(folder.path(), OsStr::new("conf.lime")).unwrap();
        alive.write_all(b"being written").unwrap();
        let name = alive.path().file_name().unwrap().to_str().unwrap().to_owned();

        let second = create(folder.path(), OsStr::new("conf.lime")).unwrap();
        let second_name = second.path().file_name().unwrap().to_str().unwrap().to_owned();
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
        let mut file = create(folder.path(), OsStr::new("a")).unwrap();
        file.write_all(b"whole").unwrap();
        file.persist(folder.path().join("a")).unwrap();
        drop(create(folder.path(), OsStr::new("a")).unwrap());
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"whole");
    }
}
