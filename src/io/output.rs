//! A file to be written.
//!
//! The file has no name or a temporary one beside its place, and takes its own when it is complete.

use super::error::{Error, ErrorKind};
use super::input::expect_regular_file;
use lattice_files::destination::{destination, folder_of};
use lattice_files::temporary::{self, Temporary};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Makes sure that a file can be created at `path`, and leaves nothing behind.
///
/// Call it before a long computation.
///
/// # Errors
/// When the folder is missing or not writable, or when something other than a regular file is at
/// `path`.
pub fn check_writable(path: impl AsRef<Path>) -> Result<(), Error> {
    Output::create(path.as_ref()).map(drop)
}

/// Writes a whole file.
///
/// The file has a temporary name beside `path`, and is renamed when it is on disk.
///
/// # Errors
/// When the file cannot be created or written.
pub fn write_file(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    let mut output = Output::create(path.as_ref())?;
    output.write(bytes)?;
    output.finish()
}

/// Tells whether the path is a name for an open stream.
///
/// Examples are /dev/stdout and /proc/self/fd/1, even if the stream happens to go into a regular
/// file.
fn names_a_stream(path: &Path) -> bool {
    folder_of(path).canonicalize().is_ok_and(|folder| {
        folder == Path::new("/dev") || folder.starts_with("/dev/fd") || folder.starts_with("/proc")
    })
}

/// A file being written, which is removed if dropped before [`Output::finish`].
pub(super) struct Output {
    file: Temporary,
    /// The path that the user wrote.
    path: PathBuf,
    destination: PathBuf,
}

impl Output {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Err(Error::new(path, ErrorKind::StandardOutput));
        }
        // A rename would put a regular file in the place of a device, such as /dev/null.
        if let Ok(metadata) = std::fs::metadata(path) {
            expect_regular_file(&metadata).map_err(|kind| Error::new(path, kind))?;
        }
        let directory = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let Some(name) = path.file_name().filter(|_| !directory) else {
            return Err(Error::new(path, ErrorKind::NotAFile { found: "a directory" }));
        };
        if names_a_stream(path) {
            let found = "a device or a pipe";
            return Err(Error::new(path, ErrorKind::NotAFile { found }));
        }
        let destination = destination(path);
        let folder = folder_of(&destination);
        let not_writable =
            |source| Error::new(path, ErrorKind::NotWritable { folder: folder.to_owned(), source });
        std::fs::metadata(folder).map_err(not_writable)?;
        let file = temporary::create(folder, name)
            // The kind alone: the rest names the temporary file, which means nothing to the user.
            .map_err(|error| not_writable(error.kind().into()))?;
        Ok(Self { file, path: path.to_owned(), destination })
    }

    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.path, kind)
    }

    /// Returns the final name of the file, without its folder.
    pub(super) fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Makes a file without a name beside this one, for data on their way.
    pub(super) fn scratch(&self) -> Result<File, Error> {
        tempfile::tempfile_in(folder_of(&self.destination)).map_err(|source| self.write_error(source))
    }

    /// Appends bytes, or overwrites from the position that [`Output::seek`] set.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.as_file_mut().write_all(bytes).map_err(|source| self.write_error(source))
    }

    /// Moves to `byte`.
    pub(super) fn seek(&mut self, byte: u64) -> Result<(), Error> {
        self.file
            .as_file_mut()
            .seek(SeekFrom::Start(byte))
            .map(drop)
            .map_err(|source| self.write_error(source))
    }

    /// Brings the file to disk and renames it.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.file.as_file().sync_all().map_err(|source| self.write_error(source))?;
        let Self { file, path, destination } = self;
        file.persist(&destination).map_err(|source| {
            Error::new(&path, ErrorKind::System { action: "rename the finished file", source })
        })
    }

    pub(super) fn write_error(&self, source: std::io::Error) -> Error {
        self.error(ErrorKind::System { action: "write the file", source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_file_that_is_not_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("conf.lime");
        let mut output = Output::create(&path).unwrap();
        output.write(b"half").unwrap();
        drop(output);
        check_writable(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_finished_file_replaces_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("conf.lime");
        std::fs::write(&path, b"the old content").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.write(b"0123").unwrap();
        output.seek(1).unwrap();
        output.write(b"x").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"the old content");
        output.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"0x23");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), elsewhere.path().join("target"));
        std::fs::write(&target, b"old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert_eq!(destination(&link), destination(&target));
        let mut output = Output::create(&link).unwrap();
        output.write(b"new").unwrap();
        output.finish().unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"new");

        // The same for a link that leads to nothing yet.
        std::fs::remove_file(&target).unwrap();
        assert_eq!(destination(&link), destination(&target));
        write_file(&link, b"newer").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"newer");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn names_of_streams_are_recognised_and_refused() {
        // The paths are only looked at: /proc and /dev belong to the machine.
        for stream in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            assert!(names_a_stream(Path::new(stream)), "{stream}");
            assert!(check_writable(stream).is_err(), "{stream}");
        }
        assert!(!names_a_stream(Path::new("/tmp/stdout")));
    }

    #[test]
    fn refuses_what_cannot_be_a_file() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            folder.path().to_owned(),
            "/dev/null".into(),
            "..".into(),
            folder.path().join("no/such"),
            folder.path().join("new/"),
        ] {
            assert!(check_writable(&path).is_err(), "{}", path.display());
        }
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }
}
