//! The file of the fastest variants: JSON that people may read and edit.
//!
//! ```json
//! {
//!   "schema_version": 1,
//!   "about": "…",
//!   "entries": [
//!     {
//!       "device": "NVIDIA H200",
//!       "driver": "580.159.04",
//!       "version": "0.1.0",
//!       "kernel": "wilson",
//!       "options": "region=full precision=double links=12",
//!       "extents": "lanes=1 sites<=2^20",
//!       "variant": { "work_group": 64, … },
//!       "microseconds": 301.2,
//!       "shipped_microseconds": 310.7,
//!       "variants_tried": 25,
//!       "date": "2026-11-21"
//!     }
//!   ]
//! }
//! ```
//!
//! A writer reads first, under a lock, and changes its own entries. The writer then renames a whole
//! new file into place. Entries of other processes and of people survive. A file that is not
//! understood is never written.

use lattice_files::destination::{destination, folder_of};
use lattice_files::regular::{self, Links};
use lattice_files::temporary::{self, Temporary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SCHEMA_VERSION: u64 = 1;

const ABOUT: &str = "Kernel variants that lattice-cl found fastest, for `cr-solve tune --list`. Entries may be edited and \
removed by hand; what is missing is searched for anew.";

/// Size in bytes of the largest file that is read: some ten thousand entries.
const MOST_BYTES: u64 = 16 << 20;

/// Time that a change waits for others to finish their changes.
///
/// A change takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// The key of an entry. All fields must be equal for an entry to be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The device's name.
    pub device: String,
    /// The driver's version.
    pub driver: String,
    /// The version of this library: another one may have other kernels.
    pub version: String,
    /// The kernel.
    pub kernel: String,
    /// The kernel's options that are not tuned, `name=value name=value`.
    pub options: String,
    /// The class of extents.
    pub extents: String,
}

impl Identity {
    fn is_of(&self, entry: &Value) -> bool {
        let same = |name: &str, wanted: &str| entry.get(name).and_then(Value::as_str) == Some(wanted);
        let Self { device, driver, version, kernel, options, extents } = self;
        same("device", device)
            && same("driver", driver)
            && same("version", version)
            && same("kernel", kernel)
            && same("options", options)
            && same("extents", extents)
    }
}

/// One kernel's fastest variant, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The key of the entry.
    #[serde(flatten)]
    pub identity: Identity,
    /// The variant, in the notation of its family.
    pub variant: Value,
    /// The variant's time for one launch.
    ///
    /// The time is absent if there was no time for a search and the variant is the shipped one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microseconds: Option<f64>,
    /// The shipped variant's time for one launch, if there was a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipped_microseconds: Option<f64>,
    /// Number of variants that were timed, or failed; 0 without a search.
    pub variants_tried: usize,
    /// The date, `2026-11-21`.
    pub date: String,
}

/// The reason why a file cannot be used.
///
/// The file is left unchanged then.
#[derive(Debug, thiserror::Error)]
pub enum TuningFileError {
    /// The system does not let the file be read.
    #[error("{}: the tuning file cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file holds something else.
    #[error(
        "{}: not a tuning file: {reason}; it is left as it is: correct it, or move it away for a new one to be made",
        path.display()
    )]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The file is of another version of the format.
    #[error(
        "{}: a tuning file with schema_version {found}, but this program knows only {SCHEMA_VERSION}; it is left as it is: \
         move it away, or name another one in LATTICE_CL_TUNING_FILE",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: Value,
    },
    /// The system does not let the file be written.
    #[error("{}: the tuning file cannot be written", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// A file of fastest variants, which need not exist yet.
#[derive(Clone, Debug)]
pub struct TuningFile {
    path: PathBuf,
}

impl TuningFile {
    /// Names the file at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the file, which need not exist yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads all entries that are understood, in their order.
    ///
    /// A file that does not exist has no entries.
    ///
    /// # Errors
    /// If the file cannot be read, or is no tuning file of this version.
    pub fn entries(&self) -> Result<Vec<Entry>, TuningFileError> {
        let document = self.load()?;
        Ok(self.values(&document)?.iter().filter_map(|value| Entry::deserialize(value).ok()).collect())
    }

    /// Reads the variant of one entry, unchanged; `None` if there is no such entry.
    ///
    /// # Errors
    /// All errors of [`entries`](Self::entries).
    pub fn variant(&self, identity: &Identity) -> Result<Option<Value>, TuningFileError> {
        let document = self.load()?;
        let entry = self.values(&document)?.iter().find(|entry| identity.is_of(entry));
        Ok(entry.and_then(|entry| entry.get("variant").cloned()))
    }

    /// Adds an entry, in the place of an entry with the same key.
    ///
    /// # Errors
    /// All errors of [`entries`](Self::entries), and an error if the file cannot be written.
    pub fn put(&self, entry: &Entry) -> Result<(), TuningFileError> {
        self.put_unless(entry, |_| false).map(drop)
    }

    /// Adds an entry unless `keeps` wants the entry with the same key.
    ///
    /// Returns the variant of the entry that was kept.
    ///
    /// # Errors
    /// All errors of [`put`](Self::put).
    pub(super) fn put_unless(
        &self,
        entry: &Entry,
        keeps: impl Fn(&Value) -> bool,
    ) -> Result<Option<Value>, TuningFileError> {
        let value = serde_json::to_value(entry).map_err(|error| self.invalid(error.to_string()))?;
        self.change(|entries| {
            let known = entries.iter_mut().find(|old| entry.identity.is_of(old));
            let kept = known.as_ref().and_then(|old| old.get("variant")).filter(|old| keeps(old)).cloned();
            match known {
                _ if kept.is_some() => {}
                Some(old) => *old = value,
                None => entries.push(value),
            }
            kept
        })
    }

    /// Removes the entries of a device of this name, with any driver.
    ///
    /// Returns the number of these entries.
    ///
    /// # Errors
    /// All errors of [`put`](Self::put).
    pub fn remove_device(&self, device: &str) -> Result<usize, TuningFileError> {
        let is_of = |entry: &Value| entry.get("device").and_then(Value::as_str) == Some(device);
        if !self.values(&self.load()?)?.iter().any(is_of) {
            return Ok(0);
        }
        self.change(|entries| {
            let before = entries.len();
            entries.retain(|entry| !is_of(entry));
            before - entries.len()
        })
    }

    /// Checks that the file can be changed. Call it before a long search.
    ///
    /// # Errors
    /// All errors of [`put`](Self::put).
    pub fn check_writable(&self) -> Result<(), TuningFileError> {
        self.load()?;
        self.prepare().map(drop).map_err(|source| self.unwritable(source))
    }

    fn invalid(&self, reason: String) -> TuningFileError {
        TuningFileError::Invalid { path: self.path.clone(), reason }
    }

    fn unwritable(&self, source: io::Error) -> TuningFileError {
        TuningFileError::Unwritable { path: self.path.clone(), source }
    }

    /// Reads the whole file, with the parts that are not understood.
    fn load(&self) -> Result<Map<String, Value>, TuningFileError> {
        // A link to another file is the user's choice.
        let text = match regular::read(&self.path, Links::Followed, MOST_BYTES) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                let empty = json!({ "schema_version": SCHEMA_VERSION, "about": ABOUT, "entries": [] });
                return Ok(empty.as_object().cloned().unwrap_or_default());
            }
            Err(source) => return Err(TuningFileError::Unreadable { path: self.path.clone(), source }),
        };
        let document: Map<String, Value> =
            serde_json::from_slice(&text).map_err(|error| self.invalid(error.to_string()))?;
        match document.get("schema_version") {
            None => Err(self.invalid("there is no schema_version".to_owned())),
            Some(version) if version.as_u64() != Some(SCHEMA_VERSION) => {
                Err(TuningFileError::Version { path: self.path.clone(), found: version.clone() })
            }
            Some(_) => self.values(&document).map(drop).map(|()| document),
        }
    }

    fn values<'a>(&self, document: &'a Map<String, Value>) -> Result<&'a Vec<Value>, TuningFileError> {
        let entries = document.get("entries").and_then(Value::as_array);
        entries.ok_or_else(|| self.invalid("there is no list of entries".to_owned()))
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Value>) -> R) -> Result<R, TuningFileError> {
        let (destination, folder) = self.prepare().map_err(|source| self.unwritable(source))?;
        // The lock is held until the end. Without a lock, others' entries are lost only if they are
        // written in this very moment.
        let lock = regular::lock(&beside(&destination, ".lock"), LOCK_PATIENCE);
        if let Err(error) = &lock {
            tracing::warn!("{}: changed without its lock, {error}", beside(&destination, ".lock").display());
        }
        let mut document = self.load()?;
        let result = match document.get_mut("entries") {
            Some(Value::Array(entries)) => change(entries),
            _ => return Err(self.invalid("there is no list of entries".to_owned())),
        };
        write(&destination, &folder, &document).map_err(|source| self.unwritable(source))?;
        Ok(result)
    }

    /// Returns the file's path with links followed, and its folder.
    ///
    /// The folder is made if need be.
    fn prepare(&self) -> io::Result<(PathBuf, PathBuf)> {
        fs::create_dir_all(folder_of(&self.path))?;
        let destination = destination(&self.path);
        let folder = folder_of(&destination).to_owned();
        temporary_for(&destination, &folder)?;
        Ok((destination, folder))
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn temporary_for(destination: &Path, folder: &Path) -> io::Result<Temporary> {
    temporary::create(folder, destination.file_name().unwrap_or_default())
}

/// Writes a temporary file and renames it: nobody ever reads half a file.
fn write(destination: &Path, folder: &Path, document: &Map<String, Value>) -> io::Result<()> {
    let mut file = temporary_for(destination, folder)?;
    serde_json::to_writer_pretty(&mut file, document)?;
    file.write_all(b"\n")?;
    file.persist(destination)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kernel: &str, work_group: u64) -> Entry {
        Entry {
            identity: Identity {
                device: "a device".to_owned(),
                driver: "1.2".to_owned(),
                version: "0.1.0".to_owned(),
                kernel: kernel.to_owned(),
                options: "precision=double".to_owned(),
                extents: "sites<=2^10".to_owned(),
            },
            variant: json!({ "work_group": work_group, "max_registers": null }),
            microseconds: Some(1.5),
            shipped_microseconds: Some(2.25),
            variants_tried: 7,
            date: "2026-11-21".to_owned(),
        }
    }

    fn scratch() -> (tempfile::TempDir, TuningFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = TuningFile::new(folder.path().join("new folder/tuning.json"));
        (folder, file)
    }

    fn edit(file: &TuningFile, from: &str, to: &str) {
        let text = fs::read_to_string(file.path()).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(file.path(), text.replace(from, to)).unwrap();
    }

    #[test]
    fn entries_come_back_and_are_replaced_in_place() {
        let (_folder, file) = scratch();
        assert!(file.entries().unwrap().is_empty());
        assert_eq!(file.variant(&entry("a", 1).identity).unwrap(), None);
        for entry in [entry("a", 1), entry("b", 2), entry("a", 3)] {
            file.put(&entry).unwrap();
        }
        assert_eq!(file.entries().unwrap(), [entry("a", 3), entry("b", 2)]);
        assert_eq!(file.variant(&entry("b", 0).identity).unwrap(), Some(entry("b", 2).variant));
        let other_driver = Identity { driver: "1.3".to_owned(), ..entry("a", 1).identity };
        assert_eq!(file.variant(&other_driver).unwrap(), None);
    }

    #[test]
    fn the_file_reads_as_it_is_described() {
        let (_folder, file) = scratch();
        file.put(&entry("a", 64)).unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        let names: Vec<&str> =
            text.split('"').skip(1).step_by(2).filter(|word| !word.contains(' ')).collect();
        assert_eq!(names[..3], ["schema_version", "about", "entries"]);
        assert!(
            text.contains("\n      \"kernel\": \"a\",\n      \"options\": \"precision=double\",\n"),
            "{text}"
        );
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_as_it_is() {
        let (_folder, file) = scratch();
        file.put(&entry("a", 1)).unwrap();
        let good = fs::read_to_string(file.path()).unwrap();
        let refused = |content: &str, words: &[&str]| {
            fs::write(file.path(), content).unwrap();
            let errors = [
                file.entries().unwrap_err(),
                file.variant(&entry("a", 1).identity).unwrap_err(),
                file.put(&entry("b", 2)).unwrap_err(),
                file.remove_device("a device").unwrap_err(),
                file.check_writable().unwrap_err(),
            ];
            for error in errors {
                let message = error.to_string();
                assert!(message.contains("tuning.json") && message.contains("move it away"), "{message}");
                assert!(words.iter().all(|word| message.contains(word)), "{message}");
            }
            assert_eq!(fs::read_to_string(file.path()).unwrap(), content);
        };
        refused(&good.replace("\"schema_version\": 1", "\"schema_version\": 2"), &["schema_version 2"]);
        refused(
            &good.replace("\"schema_version\": 1", "\"schema_version\": \"1\""),
            &["schema_version \"1\""],
        );
        refused(&good.replace("schema_version", "version"), &["no schema_version"]);
        refused(&good.replace("\"entries\"", "\"others\""), &["no list of entries"]);
        refused(&good[..good.len() / 2], &["line"]);
        refused("", &["line 1"]);
    }

    #[test]
    fn what_people_write_survives() {
        let (_folder, file) = scratch();
        file.put(&entry("a", 1)).unwrap();
        file.put(&entry("b", 2)).unwrap();
        edit(&file, "\"work_group\": 1,", "\"work_group\": 96, \"why\": \"measured by hand\",");
        edit(
            &file,
            "\"entries\": [",
            "\"contact\": \"me\", \"entries\": [ \"a remark\", { \"kernel\": \"mine\" },",
        );
        file.put(&entry("b", 3)).unwrap();
        file.put(&entry("c", 4)).unwrap();
        let found: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
        assert_eq!(found["contact"], "me");
        assert_eq!(found["entries"][0], "a remark");
        assert_eq!(found["entries"][1], json!({ "kernel": "mine" }));
        assert_eq!(found["entries"][2]["variant"]["why"], "measured by hand");
        let groups: Vec<_> =
            file.entries().unwrap().iter().map(|e| e.variant["work_group"].clone()).collect();
        assert_eq!(groups, [96, 3, 4]);
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let (_folder, file) = scratch();
        let names: Vec<String> = (0..8).map(|n| format!("kernel {n}")).collect();
        std::thread::scope(|scope| {
            for names in names.chunks(2) {
                // Each thread has a handle of its own, like another process.
                let file = TuningFile::new(file.path());
                scope.spawn(move || names.iter().for_each(|name| file.put(&entry(name, 1)).unwrap()));
            }
        });
        let mut found: Vec<String> = file.entries().unwrap().into_iter().map(|e| e.identity.kernel).collect();
        found.sort();
        assert_eq!(found, names);
    }

    #[test]
    fn only_the_entries_of_the_device_are_removed() {
        let (_folder, file) = scratch();
        assert_eq!(file.remove_device("a device").unwrap(), 0);
        assert!(!file.path().exists(), "nothing is made to remove nothing");
        let mut others = entry("c", 3);
        others.identity.device = "another device".to_owned();
        let mut older = entry("b", 2);
        older.identity.driver = "1.1".to_owned();
        for entry in [&entry("a", 1), &others, &older] {
            file.put(entry).unwrap();
        }
        assert_eq!(file.remove_device("a device").unwrap(), 2);
        assert_eq!(file.entries().unwrap(), [others]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_leads_to_the_new_file() {
        let (folder, _) = scratch();
        let elsewhere = tempfile::tempdir().unwrap();
        let target = TuningFile::new(elsewhere.path().join("shared.json"));
        target.put(&entry("a", 1)).unwrap();
        let link = TuningFile::new(folder.path().join("link.json"));
        std::os::unix::fs::symlink(target.path(), link.path()).unwrap();
        link.put(&entry("b", 2)).unwrap();
        assert!(fs::symlink_metadata(link.path()).unwrap().is_symlink());
        assert_eq!(target.entries().unwrap().len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn what_stands_in_the_place_of_the_lock_is_left_alone() {
        let (folder, file) = scratch();
        file.put(&entry("a", 1)).unwrap();
        let lock = beside(file.path(), ".lock");
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        for target in [victim.as_path(), Path::new("/dev/full"), &folder.path().join("nowhere")] {
            fs::remove_file(&lock).unwrap();
            std::os::unix::fs::symlink(target, &lock).unwrap();
            file.put(&entry("b", 2)).unwrap();
            assert!(fs::symlink_metadata(&lock).unwrap().is_symlink(), "{}", target.display());
        }
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert!(!folder.path().join("nowhere").exists());
        assert_eq!(file.entries().unwrap(), [entry("a", 1), entry("b", 2)]);
    }

    #[cfg(unix)]
    #[test]
    fn what_never_ends_is_no_tuning_file() {
        let (folder, _) = scratch();
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for path in [Path::new("/dev/zero"), &fifo] {
            let error = TuningFile::new(path).entries().unwrap_err();
            assert!(matches!(error, TuningFileError::Unreadable { .. }), "{error}");
        }
    }
}
