//! Where things are kept between runs.

use etcetera::BaseStrategy;
use std::path::PathBuf;

/// Setting this variable to anything but `0` turns the cache off.
pub const NO_CACHE_VARIABLE: &str = "LATTICE_CL_NO_CACHE";

/// This variable names another file for the kernel variants that were found fastest than the one in the user's cache directory.
pub const TUNING_FILE_VARIABLE: &str = "LATTICE_CL_TUNING_FILE";

/// Where compiled programs, and the kernel variants that were found fastest, are kept between runs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum CacheMode {
    /// In the user's cache directory, unless the variable `LATTICE_CL_NO_CACHE` is set. The variable
    /// `LATTICE_CL_TUNING_FILE` may name another file for the kernel variants. Programs of PoCL, which keeps what it compiles,
    /// are left to it.
    #[default]
    User,
    /// In this directory. Drivers are asked for every program as binary: for that PoCL compiles all kernels of a program once more, for
    /// work-groups of any size, which may take many times as long.
    Directory(PathBuf),
    /// The kernel variants in this file, and no programs.
    TuningFile(PathBuf),
    /// Nowhere: every program is compiled anew.
    Off,
}

impl CacheMode {
    /// Whether nothing is kept, by choice or by the variable.
    pub fn is_off(&self) -> bool {
        match self {
            CacheMode::User => switched_off(),
            CacheMode::Directory(_) | CacheMode::TuningFile(_) => false,
            CacheMode::Off => true,
        }
    }

    /// The directory of the compiled programs, if they are kept.
    pub(super) fn programs(&self) -> Option<PathBuf> {
        match self {
            CacheMode::User if switched_off() => None,
            CacheMode::User => Some(users_directory()?.join("programs")),
            CacheMode::Directory(path) => Some(path.clone()),
            CacheMode::TuningFile(_) | CacheMode::Off => None,
        }
    }

    /// The file of the kernel variants that were found fastest, if they are kept.
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

fn users_directory() -> Option<PathBuf> {
    etcetera::choose_base_strategy().ok().map(|user| user.cache_dir().join("lattice-cl"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
