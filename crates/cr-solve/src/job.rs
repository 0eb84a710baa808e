//! Job files: the options of `invert` and `spectrum` as TOML, in tables by what they are about.
//!
//! Every key is the option of the same name, and its value goes to the same parser: defaults, ranges and words are in one place only.
//! What is known here is which table a key stands in, and what type its value has in TOML.

use super::failure::{Failure, Status};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item, Value};

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Invert,
    Spectrum,
}

impl Task {
    const ALL: [Self; 2] = [Self::Invert, Self::Spectrum];
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invert => "invert",
            Self::Spectrum => "spectrum",
        })
    }
}

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// An integer, zero or more.
    Count,
    Number,
    Flag,
    /// A string or several.
    Texts,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a string",
            Self::Count => "an integer that is not negative",
            Self::Number => "a number",
            Self::Flag => "true or false",
            Self::Texts => "a string or a list of strings",
        })
    }
}

/// A key that a job may have, and with it an option of the command line.
#[derive(Debug)]
pub struct Key {
    pub table: &'static str,
    pub name: &'static str,
    pub kind: Kind,
    /// `None`: every task has it.
    only: Option<Task>,
    /// Whether it is an option of every command, and none of the task.
    pub of_program: bool,
}

impl Key {
    const fn new(table: &'static str, name: &'static str, kind: Kind) -> Self {
        Self { table, name, kind, only: None, of_program: false }
    }

    const fn only(mut self, task: Task) -> Self {
        self.only = Some(task);
        self
    }

    const fn of_program(mut self) -> Self {
        self.of_program = true;
        self
    }

    /// Whether this task has it.
    pub fn is_of(&self, task: Task) -> bool {
        self.only.is_none_or(|only| only == task)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.name)
    }
}

/// The key outside of all tables.
const COMMAND: &str = "command";

/// The one key that is no option: the file on the command line.
pub const FILE: &str = "file";

/// The devices of a job, which `--device` on the command line replaces.
const DEVICE: &str = "device";

/// A job to begin with.
pub const EXAMPLE: &str = include_str!("job_example.toml");

/// The name of standard input on the command line.
pub const STANDARD_INPUT: &str = "-";

/// Bytes of a job file at most.
const MOST_BYTES: u64 = 1 << 20;

/// All keys. Names are different in different tables too.
pub const KEYS: &[Key] = &[
    Key::new("configuration", FILE, Kind::Text),
    Key::new("configuration", "dims", Kind::Text),
    Key::new("configuration", "ignore-checksum", Kind::Flag),
    Key::new("configuration", "ignore-unitarity", Kind::Flag),
    Key::new("configuration", "signs-in-links", Kind::Text),
    Key::new("configuration", "links", Kind::Count),
    Key::new("action", "kappa", Kind::Number),
    Key::new("action", "mass", Kind::Number),
    Key::new("action", "mu", Kind::Number),
    Key::new("action", "boundary", Kind::Text),
    Key::new("sources", "source", Kind::Text),
    Key::new("sources", "spin", Kind::Count).only(Task::Invert),
    Key::new("sources", "colour", Kind::Count).only(Task::Invert),
    Key::new("solver", "solver", Kind::Text),
    Key::new("solver", "system", Kind::Text),
    Key::new("solver", "preconditioning", Kind::Text),
    Key::new("solver", "tol", Kind::Number),
    Key::new("solver", "max-iterations", Kind::Count),
    Key::new("solver", "precision", Kind::Text),
    Key::new("outputs", "along", Kind::Text).only(Task::Spectrum),
    Key::new("outputs", "output", Kind::Text),
    Key::new("outputs", "plot", Kind::Text),
    Key::new("outputs", "trace", Kind::Text),
    Key::new("outputs", "checkpoint", Kind::Text),
    Key::new("outputs", "every", Kind::Text),
    Key::new("outputs", "resume", Kind::Text),
    Key::new("outputs", "resume-if-present", Kind::Flag),
    Key::new("outputs", "force", Kind::Flag),
    Key::new("devices", DEVICE, Kind::Texts).of_program(),
];

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// Of the file, counted from 1.
    Line(usize),
    /// The text after `--set`.
    Override(String),
}

/// What is wrong with a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    #[error("{}: the job file cannot be read", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{}{}: {problem}", path.display(), Written(place))]
    Invalid { path: PathBuf, place: Option<Spot>, problem: String },
}

/// A place, as messages name it.
#[derive(Clone, Debug)]
pub struct Spot(Place);

struct Written<'a>(&'a Option<Spot>);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(Spot(Place::Line(line))) => write!(f, ", line {line}"),
            Some(Spot(Place::Override(text))) => write!(f, ", --set {text}"),
        }
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        let status = match error {
            JobError::Unreadable { .. } => Status::File,
            JobError::Invalid { .. } => Status::Usage,
        };
        Failure::new(status, error)
    }
}

/// A value with its key, checked for its type.
struct Entry {
    key: &'static Key,
    value: Value,
    place: Place,
}

/// A job: a task and the values that were given for its keys.
pub struct Job {
    path: PathBuf,
    pub task: Task,
    entries: BTreeMap<&'static str, Entry>,
}

impl Job {
    /// Reads a job file; each of `overrides`, `key=value`, replaces what the file says.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, or has an unknown key or a value of another type than its key's.
    pub fn read(path: &Path, overrides: &[String]) -> Result<Self, JobError> {
        let text = text_of(path).map_err(|source| JobError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(path, &text, overrides)
    }

    fn parse(path: &Path, text: &str, overrides: &[String]) -> Result<Self, JobError> {
        let invalid = |place: Option<Place>, problem: String| JobError::Invalid {
            path: path.to_owned(),
            place: place.map(Spot),
            problem,
        };
        let line_of = |span: Option<std::ops::Range<usize>>| {
            Place::Line(1 + span.map_or(0, |span| text[..span.start].matches('\n').count()))
        };
        let document = Document::parse(text)
            .map_err(|error| invalid(Some(line_of(error.span())), error.message().to_owned()))?;

        let mut command = None;
        let mut entries = BTreeMap::new();
        // `None` stands for the key outside of all tables.
        let mut take = |key: Option<&'static Key>, value: &Value, place: Place| {
            let problem = |problem| invalid(Some(place.clone()), problem);
            match key {
                None => command = Some(task(value).map_err(problem)?),
                Some(key) => {
                    check(key, value).map_err(problem)?;
                    entries.insert(key.name, Entry { key, value: value.clone(), place });
                }
            }
            Ok(())
        };
        let root = document.as_table();
        for (name, item) in root {
            let place = line_of(root.key(name).and_then(|key| key.span()));
            if let Some(table) = item.as_table_like() {
                expect_table(name).map_err(|problem| invalid(Some(place), problem))?;
                for (key, item) in table.iter() {
                    let place = line_of(table.key(key).and_then(|key| key.span()));
                    let key = find(name, key).map_err(|problem| invalid(Some(place.clone()), problem))?;
                    let Item::Value(value) = item else {
                        return Err(invalid(
                            Some(place),
                            format!("{key} is a table, but must be {}", key.kind),
                        ));
                    };
                    take(Some(key), value, place)?;
                }
            } else if let (COMMAND, Item::Value(value)) = (name, item) {
                take(None, value, place)?;
            } else {
                return Err(invalid(Some(place), outside(name)));
            }
        }
        for text in overrides {
            let place = Place::Override(text.clone());
            let (key, value) =
                parse_override(text).map_err(|problem| invalid(Some(place.clone()), problem))?;
            take(key, &value, place)?;
        }

        let Some(task) = command else {
            let problem = format!("does not say what to do; {}", tasks());
            return Err(invalid(None, problem));
        };
        let job = Self { path: path.to_owned(), task, entries };
        if let Some(entry) = job.entries.values().find(|entry| !entry.key.is_of(task)) {
            let problem =
                format!("{} is no key of {task}; {}", entry.key, allowed(entry.key.table, Some(task)));
            return Err(invalid(Some(entry.place.clone()), problem));
        }
        job.expect_complete()?;
        Ok(job)
    }

    /// What the command line would say too, in words of its own.
    fn expect_complete(&self) -> Result<(), JobError> {
        if !self.entries.contains_key(FILE) {
            return Err(
                self.error(None, "names no gauge configuration: give file in [configuration]".to_owned())
            );
        }
        match (self.entries.get("kappa"), self.entries.get("mass")) {
            (None, None) => {
                Err(self.error(None, "gives no quark mass: give kappa or mass in [action]".to_owned()))
            }
            (Some(kappa), Some(mass)) => {
                let place =
                    if matches!(kappa.place, Place::Override(_)) { &kappa.place } else { &mass.place };
                let problem = "gives both kappa and mass; one of them must go".to_owned();
                Err(self.error(Some(place.clone()), problem))
            }
            _ => Ok(()),
        }
    }

    /// The devices that it names, if it does.
    pub fn devices(&self) -> Vec<String> {
        match self.entries.get(DEVICE).map(|entry| &entry.value) {
            Some(Value::Array(several)) => several.iter().map(plain).collect(),
            Some(one) => vec![plain(one)],
            None => Vec::new(),
        }
    }

    /// The words of the command line that the job stands for, after the name of the subcommand.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        for Entry { key, value, .. } in self.entries.values() {
            match (key.kind, value) {
                _ if key.name == FILE || key.of_program => {}
                (Kind::Flag, Value::Boolean(set)) => {
                    if *set.value() {
                        words.push(format!("--{}", key.name).into());
                    }
                }
                _ => words.push(format!("--{}={}", key.name, plain(value)).into()),
            }
        }
        if let Some(file) = self.entries.get(FILE) {
            words.extend(["--".into(), plain(&file.value).into()]);
        }
        words
    }

    /// What is wrong with the value of the key of this name.
    pub fn error_at(&self, name: &str, problem: String) -> JobError {
        self.error(self.entries.get(name).map(|entry| entry.place.clone()), problem)
    }

    fn error(&self, place: Option<Place>, problem: String) -> JobError {
        JobError::Invalid { path: self.path.clone(), place: place.map(Spot), problem }
    }
}

/// The text of a job file, which must be a regular file, or of standard input.
fn text_of(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let read = |reader: &mut dyn Read, text: &mut String| reader.take(MOST_BYTES + 1).read_to_string(text);
    if path == Path::new(STANDARD_INPUT) {
        read(&mut std::io::stdin().lock(), &mut text)?;
    } else if std::fs::metadata(path)?.is_file() {
        read(&mut File::open(path)?, &mut text)?;
    } else {
        return Err(std::io::Error::other("it is not a regular file; give - to read standard input"));
    }
    if text.len() as u64 > MOST_BYTES {
        return Err(std::io::Error::other("it has more than 1 MiB, so it is no job file"));
    }
    Ok(text)
}

/// The text that the command line takes for a value.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.value().clone(),
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => format!("{:?}", number.value()),
        other => other.to_string(),
    }
}

/// The value of an override. A word without quotes that is no TOML is a string.
fn toml_value(text: &str) -> Result<Value, String> {
    let text = text.trim();
    text.parse().or_else(|error: toml_edit::TomlError| {
        let word = !text.is_empty() && !text.contains(['"', '\'', '[', '{', '\n']);
        if word { Ok(Value::from(text)) } else { Err(format!("`{text}` is no value: {}", error.message())) }
    })
}

fn task(value: &Value) -> Result<Task, String> {
    let named = |task: &Task| value.as_str() == Some(&task.to_string());
    Task::ALL.into_iter().find(named).ok_or_else(|| format!("{} is nothing to do; {}", shown(value), tasks()))
}

fn tasks() -> String {
    let names = Task::ALL.map(|task| format!("{COMMAND} = \"{task}\""));
    format!("write {}", names.join(" or "))
}

/// The key, `None` for the one outside of all tables, and the value of `table.key=value`. Names are unique, so that the table may
/// be left out.
fn parse_override(text: &str) -> Result<(Option<&'static Key>, Value), String> {
    let (key, value) =
        text.split_once('=').ok_or("is no key=value; write for example --set solver.tol=1e-8")?;
    let key = match key.trim().split_once('.') {
        Some((table, name)) => {
            expect_table(table)?;
            Some(find(table, name)?)
        }
        None if key.trim() == COMMAND => None,
        None => Some(KEYS.iter().find(|known| known.name == key.trim()).ok_or_else(|| {
            let names: Vec<&str> = std::iter::once(COMMAND).chain(KEYS.iter().map(|key| key.name)).collect();
            format!("there is no key {}; there are {}", key.trim(), names.join(", "))
        })?),
    };
    Ok((key, toml_value(value)?))
}

fn find(table: &str, name: &str) -> Result<&'static Key, String> {
    let found = KEYS.iter().find(|key| key.table == table && key.name == name);
    found.ok_or_else(|| format!("there is no key {table}.{name}; {}", allowed(table, None)))
}

/// What is wrong with an item outside of all tables that is neither a table nor the command.
fn outside(name: &str) -> String {
    match KEYS.iter().find(|key| key.name == name || key.table == name) {
        Some(key) if key.table == name => format!("{name} is no value and no list; write [{name}]"),
        Some(key) => format!("{name} stands outside of all tables; it belongs in [{}]", key.table),
        None => format!("there is no key {name}; outside of all tables there is only {COMMAND}"),
    }
}

fn expect_table(name: &str) -> Result<(), String> {
    if KEYS.iter().any(|key| key.table == name) {
        return Ok(());
    }
    let mut tables: Vec<String> = KEYS.iter().map(|key| format!("[{}]", key.table)).collect();
    tables.dedup();
    Err(format!("there is no table [{name}]; there are {}", tables.join(", ")))
}

fn allowed(table: &str, task: Option<Task>) -> String {
    let keys = KEYS.iter().filter(|key| key.table == table && task.is_none_or(|task| key.is_of(task)));
    let names: Vec<&str> = keys.map(|key| key.name).collect();
    format!("[{table}] may have {}", names.join(", "))
}

fn check(key: &Key, value: &Value) -> Result<(), String> {
    let right = match key.kind {
        Kind::Text => value.is_str(),
        Kind::Count => value.as_integer().is_some_and(|number| number >= 0),
        Kind::Number => value.is_integer() || value.is_float(),
        Kind::Flag => value.is_bool(),
        Kind::Texts => {
            value.is_str() || value.as_array().is_some_and(|several| several.iter().all(Value::is_str))
        }
    };
    if right { Ok(()) } else { Err(format!("{key} is {}, but must be {}", shown(value), key.kind)) }
}

/// A value with its type, for messages.
fn shown(value: &Value) -> String {
    let text = value.clone().decorated("", "").to_string();
    format!("{text} ({})", value.type_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = r#"
command = "spectrum"
[configuration]
file = "conf.lime"
links = 12
[action]
kappa = 0.13
[solver]
solver = "cg"
tol = 1e-8
"#;

    fn job(text: &str, overrides: &[&str]) -> Result<Job, String> {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        Job::parse(Path::new("job.toml"), text, &overrides).map_err(|error| error.to_string())
    }

    fn words(job: Result<Job, String>) -> Vec<String> {
        job.unwrap().words().into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn keys_are_options() {
        let given = words(job(JOB, &[]));
        assert_eq!(given, ["--kappa=0.13", "--links=12", "--solver=cg", "--tol=1e-8", "--", "conf.lime"]);
    }

    #[test]
    fn overrides_replace_values_and_add_some() {
        let overrides = [
            "action.kappa=0.12",
            "solver.tol = 1",
            "ignore-checksum=true",
            "file=\"-a b\"",
            "boundary=periodic",
        ];
        let given = words(job(JOB, &overrides));
        let wanted = [
            "--boundary=periodic",
            "--ignore-checksum",
            "--kappa=0.12",
            "--links=12",
            "--solver=cg",
            "--tol=1",
            "--",
            "-a b",
        ];
        assert_eq!(given, wanted);
        assert_eq!(job(JOB, &["command=\"invert\""]).unwrap().task, Task::Invert);
    }

    #[test]
    fn mistakes_are_named_with_their_line_and_what_is_allowed() {
        let cases = [
            (
                "tol = 1e-8",
                "tolerance = 1e-8",
                &["job.toml, line 10: ", "solver.tolerance", "tol, max-iterations"][..],
            ),
            ("[solver]", "[solvers]", &["line 8", "no table [solvers]", "[action]", "[outputs]"]),
            ("kappa = 0.13", "kappa = \"0.13\"", &["line 7", "action.kappa", "a number", "string"]),
            ("links = 12", "links = -12", &["line 5", "configuration.links", "-12"]),
            ("kappa = 0.13", "kappa = 0.13 0.14", &["line 7"]),
            ("kappa = 0.13", "kappa = 0.13\nmass = 0.1", &["line 8", "both kappa and mass"]),
            ("kappa = 0.13", "", &["job.toml: ", "kappa or mass"]),
            ("file = \"conf.lime\"", "", &["job.toml: ", "[configuration]"]),
            ("command = \"spectrum\"", "", &["job.toml: ", "command = \"invert\""]),
            ("\"spectrum\"", "\"invent\"", &["line 2", "\"invent\"", "command = \"spectrum\""]),
            ("[action]", "[sources]\nspin = 1\n[action]", &["line 7", "sources.spin", "spectrum"]),
            ("[action]", "[[action]]", &["line 6", "write [action]"]),
            ("command", "kappa = 0.1\ncommand", &["line 2", "belongs in [action]"]),
            ("command", "kapa = 0.1\ncommand", &["line 2", "no key kapa", "only command"]),
            ("kappa = 0.13", "[action.kappa]", &["line 7", "action.kappa is a table", "a number"]),
        ];
        for (old, new, wanted) in cases {
            assert!(JOB.contains(old), "{old}");
            let error = job(&JOB.replace(old, new), &[]).map(drop).unwrap_err();
            for wanted in wanted {
                assert!(error.contains(wanted), "{new}: `{wanted}` is not in: {error}");
            }
        }
        let overrides = [
            ("tol", &["--set tol", "key=value"][..]),
            ("tolerance=1", &["--set tolerance=1", "no key tolerance", "max-iterations"]),
            ("solver.kappa=1", &["solver.kappa", "[solver] may have"]),
            ("no.kappa=1", &["no table [no]"]),
            ("kappa=many", &["action.kappa", "many", "a number"]),
            ("file=\"half", &["no value"]),
            ("mass=0.1", &["--set mass=0.1", "both"]),
        ];
        for (text, wanted) in overrides {
            let error = job(JOB, &[text]).map(drop).unwrap_err();
            for wanted in wanted {
                assert!(error.contains(wanted), "{text}: `{wanted}` is not in: {error}");
            }
        }
    }

    #[test]
    fn devices_are_no_words_of_the_command() {
        let devices = |text: &str| {
            let job = job(&format!("{JOB}[devices]\ndevice = {text}\n"), &[])?;
            assert!(job.words().iter().all(|word| !word.to_string_lossy().contains("device")));
            Ok::<_, String>(job.devices())
        };
        assert_eq!(devices("\"host\"").unwrap(), ["host"]);
        assert_eq!(devices("[\"0.0\", \"0.1\"]").unwrap(), ["0.0", "0.1"]);
        assert!(job(JOB, &["device=0.1"]).map(|job| job.devices()).unwrap_err().contains("list"));
        assert_eq!(job(JOB, &["device=host"]).unwrap().devices(), ["host"]);
        assert!(devices("[0, 1]").unwrap_err().contains("a list of strings"));
        assert!(job(JOB, &[]).unwrap().devices().is_empty());
    }

    #[test]
    fn names_are_unique() {
        for (k, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..k].iter().all(|other| other.name != key.name), "{key}");
        }
    }
}
