//! The variants that a device knows, in its memory and in the tuning file.

use super::date;
use super::file::{Entry, Identity, TuningFile, TuningFileError};
use super::key::Key;
use super::search::TuningResult;
use super::variant::{Variant, text_of};
use crate::sync::lock;
use crate::{Device, TUNING_FILE_VARIABLE};
use serde_json::Value;
use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The state of a key in the store.
#[derive(Debug, PartialEq)]
pub(super) enum StoredVariant<V> {
    Variant(V),
    /// The entry cannot be used. A warning was given.
    Unusable,
    Nothing,
}

/// The variants of an open device, in memory and in a file.
///
/// Variants that the file does not take stay in memory as long as the device.
pub(super) struct Store {
    device: String,
    driver: String,
    file: Option<TuningFile>,
    memory: Mutex<HashMap<Key, Value>>,
    warned: AtomicBool,
    /// Time that searches on first use have taken.
    spent: Mutex<Duration>,
}

impl Store {
    pub fn of(device: &Device) -> Arc<Self> {
        let store: Result<_, Infallible> = device.attached(|device| {
            let info = device.info();
            let file = device.options().cache.tuning_file().map(TuningFile::new);
            Ok(Self::new(&info.name, &info.driver_version, file))
        });
        match store {
            Ok(store) => store,
            Err(impossible) => match impossible {},
        }
    }

    fn new(device: &str, driver: &str, file: Option<TuningFile>) -> Self {
        Self {
            device: device.to_owned(),
            driver: driver.to_owned(),
            file,
            memory: Mutex::default(),
            warned: AtomicBool::new(false),
            spent: Mutex::default(),
        }
    }

    /// Finds the variant that was found earlier, in this process or in another.
    ///
    /// A variant that the family has a `complaint` about is not used.
    pub fn find<V: Variant>(&self, key: &Key, complaint: impl Fn(&V) -> Option<String>) -> StoredVariant<V> {
        if let Some(variant) = self.memory().get(key) {
            return understood(variant).map_or(StoredVariant::Nothing, StoredVariant::Variant);
        }
        let Some(file) = &self.file else { return StoredVariant::Nothing };
        let value = match file.variant(&self.identity(key)) {
            Ok(Some(value)) => value,
            Ok(None) => return StoredVariant::Nothing,
            Err(error) => {
                self.warn(&error);
                return StoredVariant::Nothing;
            }
        };
        let variant: Option<V> = understood(&value);
        let reason = match &variant {
            None => {
                Some("it has other fields, or fields of other types, than variants of this kernel".to_owned())
            }
            Some(variant) => complaint(variant),
        };
        match (variant, reason) {
            (Some(variant), None) => {
                tracing::debug!("{key}: {} from the tuning file", text_of(&value));
                self.memory().insert(key.clone(), value);
                StoredVariant::Variant(variant)
            }
            (_, reason) => {
                tracing::warn!(
                    "{}: the entry of {} for {key} cannot be used: {}; the shipped variant is used until the entry is \
                     corrected, removed or replaced by `cr-solve tune`",
                    file.path().display(),
                    self.device,
                    reason.unwrap_or_default()
                );
                StoredVariant::Unusable
            }
        }
    }

    /// Keeps the result of a search, in the place of the known variant.
    ///
    /// The result is kept in memory in any case, and in the file if there is one.
    pub fn keep<V: Variant>(&self, key: &Key, found: &TuningResult<V>) -> Result<(), TuningFileError> {
        self.remember(key, &found.variant);
        match (&self.file, self.entry(key, Some(found))) {
            (Some(file), Some(entry)) => file.put(&entry),
            _ => Ok(()),
        }
    }

    /// Keeps a variant that nobody had asked to be searched for.
    ///
    /// `found` is the result of a search, or `None` for the merely shipped variant. If another
    /// process has kept a variant meanwhile, the other's variant stays and is returned.
    pub fn keep_unless_known<V: Variant>(
        &self,
        key: &Key,
        variant: &V,
        found: Option<&TuningResult<V>>,
    ) -> Result<V, TuningFileError> {
        self.remember(key, variant);
        let (Some(file), Some(entry)) = (&self.file, self.entry(key, found)) else {
            return Ok(variant.clone());
        };
        let known = file.put_unless(&entry, |old| understood::<V>(old).is_some())?;
        let known = known.as_ref().and_then(understood);
        if let Some(known) = &known {
            self.remember(key, known);
        }
        Ok(known.unwrap_or_else(|| variant.clone()))
    }

    /// Makes the file's entry from the variant in memory; `None` if there is none.
    fn entry<V: Variant>(&self, key: &Key, found: Option<&TuningResult<V>>) -> Option<Entry> {
        Some(Entry {
            identity: self.identity(key),
            variant: self.memory().get(key).cloned()?,
            microseconds: found.map(|found| found.time.as_secs_f64() * 1e6),
            shipped_microseconds: found.map(|found| found.shipped_time.as_secs_f64() * 1e6),
            variants_tried: found.map_or(0, |found| found.tried),
            date: date::today(),
        })
    }

    /// Keeps a variant in memory only.
    pub fn remember<V: Variant>(&self, key: &Key, variant: &V) {
        match serde_json::to_value(variant) {
            Ok(variant) => drop(self.memory().insert(key.clone(), variant)),
            Err(error) => tracing::debug!("{key}: the variant cannot be kept ({error})"),
        }
    }

    /// Runs a search on first use.
    ///
    /// `search` is told the time that other searches have taken before.
    pub fn search<T>(&self, search: impl FnOnce(Duration) -> T) -> T {
        let spent = *self.spent();
        let begun = Instant::now();
        let result = search(spent);
        *self.spent() += begun.elapsed();
        result
    }

    fn spent(&self) -> MutexGuard<'_, Duration> {
        lock(&self.spent)
    }

    /// Warns of the file's fault, once.
    pub fn warn(&self, error: &TuningFileError) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            let cause = error.source().map(|cause| format!(" ({cause})")).unwrap_or_default();
            let is_named = std::env::var_os(TUNING_FILE_VARIABLE).is_some();
            // Nobody asked for a file at the usual place.
            if is_named || !matches!(error, TuningFileError::Unwritable { .. }) {
                tracing::warn!("{error}{cause}; what is found now is not kept");
            } else {
                tracing::debug!("{error}{cause}; what is found now is not kept");
            }
        }
    }

    fn identity(&self, key: &Key) -> Identity {
        Identity {
            device: self.device.clone(),
            driver: self.driver.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: key.kernel().to_owned(),
            options: key.options().to_owned(),
            extents: key.extents().to_owned(),
        }
    }

    fn memory(&self) -> MutexGuard<'_, HashMap<Key, Value>> {
        lock(&self.memory)
    }
}

/// Reads a variant that has exactly the fields that variants have now.
fn understood<V: Variant>(value: &Value) -> Option<V> {
    let variant = V::deserialize(value).ok()?;
    (serde_json::to_value(&variant).ok()? == *value).then_some(variant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use std::fs;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Group {
        work_group: usize,
        registers: Option<u32>,
    }

    /// A form that the variant might have in a later version.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Later {
        work_group: usize,
    }

    fn key() -> Key {
        Key::new("kernel", "small").option("links", 18)
    }

    fn found<V>(variant: V) -> TuningResult<V> {
        let time = Duration::from_micros(10);
        TuningResult { variant, time, shipped_time: 2 * time, tried: 3 }
    }

    /// Returns the store's variant for a key, with no complaints.
    fn find<V: Variant>(store: &Store, key: &Key) -> Option<V> {
        match store.find(key, |_| None) {
            StoredVariant::Variant(variant) => Some(variant),
            StoredVariant::Unusable | StoredVariant::Nothing => None,
        }
    }

    fn store(file: &TuningFile) -> Store {
        Store::new("a device", "1.2", Some(file.clone()))
    }

    #[test]
    fn what_one_device_keeps_the_next_one_finds() {
        let folder = tempfile::tempdir().unwrap();
        let file = TuningFile::new(folder.path().join("tuning.json"));
        let group = Group { work_group: 64, registers: None };
        assert_eq!(find::<Group>(&store(&file), &key()), None);
        store(&file).keep(&key(), &found(group.clone())).unwrap();
        assert_eq!(find(&store(&file), &key()), Some(group.clone()));
        assert_eq!(find::<Group>(&store(&file), &key().option("more", 1)), None);
        assert_eq!(find::<Group>(&Store::new("a device", "1.3", Some(file.clone())), &key()), None);
        let entry = &file.entries().unwrap()[0];
        let times = (entry.microseconds, entry.shipped_microseconds, entry.variants_tried);
        assert_eq!(times, (Some(10.0), Some(20.0), 3));
    }

    #[test]
    fn a_variant_with_other_fields_is_not_used_and_only_its_entry_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = TuningFile::new(folder.path().join("tuning.json"));
        let group = Group { work_group: 64, registers: None };
        for key in [key(), key().option("more", 1)] {
            store(&file).keep(&key, &found(group.clone())).unwrap();
        }
        // A field is gone: the variant that is left might be a slow one.
        assert_eq!(find::<Later>(&store(&file), &key()), None);
        store(&file).keep(&key(), &found(Later { work_group: 128 })).unwrap();
        // A field has come, which must not be guessed.
        assert_eq!(find::<Group>(&store(&file), &key()), None);
        assert_eq!(find(&store(&file), &key()), Some(Later { work_group: 128 }));
        assert_eq!(find(&store(&file), &key().option("more", 1)), Some(group));
    }

    #[test]
    fn an_entry_that_somebody_complains_about_is_passed_over_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = TuningFile::new(folder.path().join("tuning.json"));
        let group = Group { work_group: 0, registers: None };
        store(&file).keep(&key(), &found(group)).unwrap();
        let before = fs::read(file.path()).unwrap();
        let zero = |group: &Group| (group.work_group == 0).then(|| "work_group is at least 1".to_owned());
        assert_eq!(store(&file).find(&key(), zero), StoredVariant::Unusable);
        assert_eq!(store(&file).find::<Later>(&key(), |_| None), StoredVariant::Unusable);
        assert_eq!(store(&file).find(&key().option("more", 1), zero), StoredVariant::Nothing);
        assert_eq!(fs::read(file.path()).unwrap(), before);
    }

    #[test]
    fn what_nobody_asked_for_takes_no_others_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = TuningFile::new(folder.path().join("tuning.json"));
        let group = |work_group| Group { work_group, registers: None };
        let (searching, other) = (store(&file), store(&file));
        assert_eq!(find::<Group>(&searching, &key()), None);
        other.keep(&key(), &found(group(64))).unwrap();
        let mine = found(group(32));
        assert_eq!(searching.keep_unless_known(&key(), &mine.variant, Some(&mine)).unwrap(), group(64));
        assert_eq!(find(&searching, &key()), Some(group(64)));
        assert_eq!(find(&store(&file), &key()), Some(group(64)));
        // A variant of another form is of no use to anybody here.
        let later = Later { work_group: 128 };
        assert_eq!(searching.keep_unless_known(&key(), &later, None).unwrap(), later);
        assert_eq!(find(&store(&file), &key()), Some(later));
    }

    #[test]
    fn with_a_broken_file_results_are_kept_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let file = TuningFile::new(folder.path().join("tuning.json"));
        fs::write(file.path(), "not a tuning file").unwrap();
        let (store, group) = (store(&file), Group { work_group: 64, registers: Some(96) });
        assert_eq!(find::<Group>(&store, &key()), None);
        assert!(store.keep(&key(), &found(group.clone())).is_err());
        assert_eq!(find(&store, &key()), Some(group));
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "not a tuning file");
    }

    #[test]
    fn without_a_file_results_are_kept_in_memory() {
        let store = Store::new("a device", "1.2", None);
        store.keep(&key(), &found(Later { work_group: 32 })).unwrap();
        assert_eq!(find(&store, &key()), Some(Later { work_group: 32 }));
    }
}
