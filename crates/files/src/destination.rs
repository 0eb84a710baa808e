//! The place at which a file is written, with links followed.

use std::path::{Path, PathBuf};

/// Most links that follow each other, a limit that systems have too.
const MOST_LINKS: usize = 40;

/// Returns the location of a file written at `path`.
///
/// Links are followed: writing replaces the target of a link, never the link.
pub fn destination(path: impl AsRef<Path>) -> PathBuf {
    let path = &end_of_links(path.as_ref());
    let in_folder = || Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// Tells whether two paths lead to the same file, which need not exist.
///
/// Such paths have the same [`destination`].
pub fn is_same_file(a: impl AsRef<Path>, b: impl AsRef<Path>) -> bool {
    destination(a) == destination(b)
}

/// Returns the folder of a path, `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the target of the links that begin here, which need not exist.
fn end_of_links(path: &Path) -> PathBuf {
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        match end.read_link() {
            Ok(next) => end = folder_of(&end).join(next),
            Err(_) => break,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_destination() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("sub")).unwrap();
        assert!(is_same_file(path("new"), path("sub/../new")));
        assert!(!is_same_file(path("new"), path("other")));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_what_they_name_even_if_it_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("target", path("link")).unwrap();
        std::os::unix::fs::symlink("link", path("link to link")).unwrap();
        assert_eq!(destination(path("link to link")), destination(path("target")));
        std::fs::write(path("target"), b"").unwrap();
        assert_eq!(destination(path("link to link")), destination(path("target")));
    }
}
