//! The places of files that are kept between runs.

use etcetera::BaseStrategy;
use std::path::{Path, PathBuf};

/// Variable that turns the cache off, if it is set to anything but `0`.
pub const NO_CACHE_VARIABLE: &str = "LATTICE_CL_NO_CACHE";

/// Variable that names another file for the fastest kernel variants.
///
/// Without the variable the file is in the user's cache directory.
pub const TUNING_FILE_VARIABLE: &str = "LATTICE_CL_TUNING_FILE";

/// The place of compiled programs and fastest kernel variants between runs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum CacheMode {
    /// The user's cache directory, unless the variable `LATTICE_CL_NO_CACHE` is set.
    ///
    /// The variable `LATTICE_CL_TUNING_FILE` may name another file for the kernel variants. PoCL
    /// keeps the programs that it compiles, so its programs are left to it.
    #[default]
    User,
    /// A directory of one's own.
    ///
    /// Drivers are asked for the binary of every program. PoCL then compiles all kernels of a
    /// program once more, for work-groups of any size. This compilation may take many times as
    /// long.
    Directory(PathBuf),
    /// A file for the kernel variants, and nothing for programs.
    TuningFile(PathBuf),
    /// No place: every program is compiled anew.
    Off,
}

impl CacheMode {
    /// Returns `true` if nothing is kept: by choice, by the variable, or because the user has no folder.
    pub fn is_off(&self) -> bool {
        match self {
            CacheMode::User => switched_off() || users_directory().is_none(),
            CacheMode::Directory(_) | CacheMode::TuningFile(_) => false,
            CacheMode::Off => true,
        }
    }

    /// Returns the directory of the compiled programs, if they are kept.
    pub(super) fn programs(&self) -> Option<PathBuf> {
        match self {
            CacheMode::User if switched_off() => None,
            CacheMode::User => Some(users_directory()?.join("programs")),
            CacheMode::Directory(path) => Some(path.clone()),
            CacheMode::TuningFile(_) | CacheMode::Off => None,
        }
    }

    /// Returns the file of the fastest kernel variants, if they are kept.
    pub fn tuning_file(&self) -> Option<PathBuf> {
        match self {
            CacheMode::User if switched_off() => None,
            CacheMode::User => match std::env::var_os(TUNING_FILE_VARIABLE).filter(|path| !path.is_empty()) {
                Some(path) => Some(path.into()),
                None => Some(users_directory()?.join("tuning.json")),
            },
            CacheMode::Directory(path) => Some(path.join("tuning.json")),
            CacheMode::TuningFile(path) => Some(path.clone()),
            CacheMode::Off => None,
        }
    }
}

fn switched_off() -> bool {
    std::env::var_os(NO_CACHE_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the user's cache directory; `None` if there is none and none can be made.
///
/// Accounts of services have no home, and nothing is kept for them.
fn users_directory() -> Option<PathBuf> {
    let directory = etcetera::choose_base_strategy().ok()?.cache_dir().join("lattice-cl");
    can_be_there(&directory).then_some(directory)
}

/// Tells whether PoCL finds no place for its cache, without which it offers no devices.
///
/// `POCL_CACHE_DIR` names another place.
pub fn pocl_lacks_a_cache() -> bool {
    if !cfg!(unix) || std::env::var_os("POCL_CACHE_DIR").is_some() {
        return false;
    }
    // Without a home PoCL takes a folder for temporary files.
    let named = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let base = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    base.is_some_and(|base| {
        let directory = base.join("pocl/kcache");
        !can_be_there(&directory) || (directory.is_dir() && !is_writable(&directory))
    })
}

/// Tells whether a directory is there or can be made.
fn can_be_there(directory: &Path) -> bool {
    if directory.is_dir() {
        return true;
    }
    let Some(above) = directory.ancestors().find(|above| above.metadata().is_ok()) else { return false };
    above.is_dir() && is_writable(above)
}

#[cfg(unix)]
fn is_writable(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_below_a_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(!can_be_there(&file) && !can_be_there(&file.join("a/b")));
        assert!(can_be_there(folder.path()) && can_be_there(&folder.path().join("a/b")));
        #[cfg(unix)]
        assert!(!can_be_there(Path::new("/dev/null/.cache/lattice-cl")));
    }

    #[test]
    fn a_directory_holds_both_a_file_variants_alone_and_off_nothing() {
        let mode = CacheMode::Directory("cache".into());
        assert_eq!(mode.programs(), Some("cache".into()));
        assert_eq!(mode.tuning_file(), Some("cache/tuning.json".into()));
        assert_eq!(CacheMode::Off.programs(), None);
        assert_eq!(CacheMode::Off.tuning_file(), None);
        assert!(CacheMode::Off.is_off() && !mode.is_off());
        let mode = CacheMode::TuningFile("found.json".into());
        assert_eq!((mode.programs(), mode.tuning_file()), (None, Some("found.json".into())));
        assert!(!mode.is_off());
    }
}
