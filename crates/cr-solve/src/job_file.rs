//! Job files: a job as TOML, with the place of everything that is wrong.
//!
//! The library says what a job is. This module knows the places of a job's keys in a file.

use super::job_keys::{COMMAND, Table, table_of, tables};
use lattice_cl::job::{Invalid, Job, Task};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::ranks::Ranks;
use lattice_files::input;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml_edit::{Document, DocumentMut, Item, TableLike, Value};

/// An example of a job file.
pub const EXAMPLE: &str = include_str!("job_example.toml");

/// The name of standard input on the command line.
const STANDARD_INPUT: &str = "-";

/// Most bytes of a job file.
const MOST_BYTES: u64 = 1 << 20;

/// The place in which a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting {
    /// Line of the file, counted from 1.
    Line(usize),
    /// The text after `--set`.
    Override(String),
}

/// Errors of a job file.
#[derive(Debug, thiserror::Error)]
pub enum JobFileError {
    /// The file cannot be read.
    #[error("{}: the job file cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file says something that makes no sense.
    #[error("{}{}: {problem}", path.display(), Written(place))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Place in the file.
        place: Option<Spot>,
        /// Description of the problem.
        problem: String,
    },
}

/// A place, as messages name it.
#[derive(Clone, Debug)]
pub struct Spot(Setting);

struct Written<'a>(&'a Option<Spot>);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(Spot(Setting::Line(line))) => write!(f, ", line {line}"),
            Some(Spot(Setting::Override(text))) => write!(f, ", --set {text}"),
        }
    }
}

impl From<JobFileError> for Failure {
    fn from(error: JobFileError) -> Self {
        let status = match error {
            JobFileError::Unreadable { .. } => Status::File,
            JobFileError::Invalid { .. } => Status::Usage,
        };
        Failure::new(status, error)
    }
}

/// Reads the job of a file.
///
/// # Errors
/// The errors of [`JobFile::read`].
pub fn of_file(path: &Path) -> Result<Job, Failure> {
    Ok(JobFile::read(path, &[], &Ranks::default())?.job)
}

/// Reads a job from TOML.
///
/// # Errors
/// Errors like those of [`JobFile::read`], but none of reading a file.
pub fn of_text(text: &str) -> Result<Job, Failure> {
    let file = JobFile::parse(Path::new("the job's text"), text, &[])?;
    file.check().map_err(|invalid| file.refused(invalid))?;
    Ok(file.job)
}

/// A job, and the place of everything in it.
#[derive(Debug)]
pub struct JobFile {
    path: PathBuf,
    /// The job that the file describes.
    pub job: Job,
    places: BTreeMap<String, Setting>,
}

impl JobFile {
    /// Reads a job file.
    ///
    /// All ranks get the text that the first rank reads. Each of `overrides`, `key=value`, replaces
    /// what the file says.
    ///
    /// # Errors
    /// * When the file cannot be read or is not TOML.
    /// * When the file has an unknown key, or a value of another type than its key's.
    /// * When the job makes no sense.
    pub fn read(path: &Path, overrides: &[String], ranks: &Ranks) -> Result<Self, Failure> {
        let text = ranks.text_of_first(|| text_of(path));
        let text = text.map_err(|source| JobFileError::Unreadable { path: path.to_owned(), source })?;
        let file = Self::parse(path, &text, overrides)?;
        file.check().map_err(|invalid| file.refused(invalid))?;
        Ok(file)
    }

    fn check(&self) -> Result<(), Invalid> {
        match self.job.configuration.file {
            Some(_) => self.job.check(),
            None => Err(Invalid::NoConfiguration),
        }
    }

    fn parse(path: &Path, text: &str, overrides: &[String]) -> Result<Self, JobFileError> {
        let mut reading = Reading { path, text, places: BTreeMap::new() };
        let document = Document::parse(text).map_err(|error| {
            let line = reading.line(error.span());
            reading.invalid(Some(line), error.message().to_owned())
        })?;
        reading.root(document.as_table())?;
        let mut document = document.into_mut();
        for text in overrides {
            let place = Setting::Override(text.clone());
            replace(&mut document, text, &mut reading.places)
                .map_err(|problem| reading.invalid(Some(place), problem))?;
        }
        if !document.contains_key(COMMAND) {
            return Err(reading.invalid(None, format!("does not say what to do; {}", tasks())));
        }
        let deserializer = toml_edit::de::Deserializer::from(document);
        let job = serde_path_to_error::deserialize(deserializer).map_err(|error| {
            let key = error.path().to_string();
            let name = key.rsplit('.').next().unwrap_or_default();
            let problem = format!("{name} = {}", error.inner().message());
            reading.invalid(place_of(&reading.places, &key).cloned(), problem)
        })?;
        Ok(Self { path: path.to_owned(), job, places: reading.places })
    }

    /// Returns the failure of a job that makes no sense, with the place.
    fn refused(&self, invalid: Invalid) -> Failure {
        let mut place = invalid.key().and_then(|key| place_of(&self.places, &key).cloned());
        // If two keys are in each other's way, the later one is at fault.
        if invalid == Invalid::BothMasses
            && let Some(kappa @ Setting::Override(_)) = self.places.get("action.kappa")
        {
            place = Some(kappa.clone());
        }
        let Failure { status, error, hints } = invalid.into();
        let problem = error.to_string();
        let error = JobFileError::Invalid { path: self.path.clone(), place: place.map(Spot), problem };
        Failure { status, error: error.into(), hints }
    }
}

/// Returns the place of a key, or of the table or list that contains it.
fn place_of<'a>(places: &'a BTreeMap<String, Setting>, key: &str) -> Option<&'a Setting> {
    let outer = |key: &str| key.rfind(['.', '[']).map(|end| key[..end].to_owned());
    let mut key = Some(key.to_owned());
    while let Some(name) = key {
        if let Some(place) = places.get(&name) {
            return Some(place);
        }
        key = outer(&name);
    }
    None
}

/// The state of a pass through a file.
struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
    places: BTreeMap<String, Setting>,
}

impl Reading<'_> {
    fn invalid(&self, place: Option<Setting>, problem: String) -> JobFileError {
        JobFileError::Invalid { path: self.path.to_owned(), place: place.map(Spot), problem }
    }

    fn line(&self, span: Option<Range<usize>>) -> Setting {
        Setting::Line(1 + span.map_or(0, |span| self.text[..span.start].matches('\n').count()))
    }

    /// Checks names and types of all keys, and notes their places.
    fn root(&mut self, root: &toml_edit::Table) -> Result<(), JobFileError> {
        for (name, item) in root {
            let place = self.line(root.key(name).and_then(|key| key.span()));
            let known = tables().iter().find(|table| table.name == name);
            match (known, item) {
                (None, Item::Value(value)) if name == COMMAND => {
                    check_task(value).map_err(|problem| self.invalid(Some(place.clone()), problem))?;
                    self.places.insert(name.to_owned(), place);
                }
                (Some(table), Item::ArrayOfTables(entries)) if table.is_list => {
                    self.places.insert(name.to_owned(), place);
                    for (number, entry) in entries.iter().enumerate() {
                        self.table(table, &format!("{name}[{number}]"), entry)?;
                    }
                }
                (Some(table), Item::Value(Value::Array(entries))) if table.is_list => {
                    self.places.insert(name.to_owned(), place.clone());
                    for (number, entry) in entries.iter().enumerate() {
                        let Some(entry) = entry.as_inline_table() else {
                            let problem = format!("{name} is a list of tables; write {}", table.header());
                            return Err(self.invalid(Some(place), problem));
                        };
                        self.table(table, &format!("{name}[{number}]"), entry)?;
                    }
                }
                (Some(table), item) if !table.is_list && item.is_table_like() => {
                    self.places.insert(name.to_owned(), place);
                    if let Some(entry) = item.as_table_like() {
                        self.table(table, name, entry)?;
                    }
                }
                _ => return Err(self.invalid(Some(place), outside(name, item.is_table_like()))),
            }
        }
        Ok(())
    }

    /// Checks the names and types of a table's keys.
    ///
    /// `key` is the name of the table, with its number in a list.
    fn table(&mut self, known: &Table, key: &str, table: &dyn TableLike) -> Result<(), JobFileError> {
        for (name, item) in table.iter() {
            let place = self.line(table.key(name).and_then(|key| key.span()));
            let problem = match (known.kind(name), item) {
                (None, _) => no_key(known, name),
                (Some(kind), Item::Value(value)) if kind.has(value) => {
                    self.places.insert(format!("{key}.{name}"), place);
                    continue;
                }
                (Some(kind), Item::Value(value)) => {
                    format!("{}.{name} is {}, but must be {kind}", known.name, shown(value))
                }
                (Some(kind), _) => format!("{}.{name} is a table, but must be {kind}", known.name),
            };
            return Err(self.invalid(Some(place), problem));
        }
        Ok(())
    }
}

/// Puts the value of `table.key=value` into a document.
///
/// The table may be left out, because the name of a key tells its table.
fn replace(
    document: &mut DocumentMut,
    text: &str,
    places: &mut BTreeMap<String, Setting>,
) -> Result<(), String> {
    let place = Setting::Override(text.to_owned());
    let (key, value) =
        text.split_once('=').ok_or("is no key=value; write for example --set solver.tol=1e-8")?;
    let key = key.trim();
    let (table, name) = match key.split_once('.') {
        Some((table, name)) => (expect_table(table)?, name),
        None if key == COMMAND => {
            let value = toml_value(value)?;
            check_task(&value)?;
            places.insert(COMMAND.to_owned(), place);
            document[COMMAND] = Item::Value(value);
            return Ok(());
        }
        None => (table_of(key).ok_or_else(|| no_key_at_all(key))?, key),
    };
    let kind = table.kind(name).ok_or_else(|| no_key(table, name))?;
    if table.is_list {
        return Err(format!("{} is a list, which only the file can say", table.header()));
    }
    let value = toml_value(value)?;
    if !kind.has(&value) {
        return Err(format!("{}.{name} is {}, but must be {kind}", table.name, shown(&value)));
    }
    places.insert(format!("{}.{name}", table.name), place);
    document[table.name.as_str()][name] = Item::Value(value);
    Ok(())
}

fn no_key(table: &Table, name: &str) -> String {
    format!("there is no key {}.{name}; {}", table.name, table.allowed())
}

fn no_key_at_all(name: &str) -> String {
    let keys = tables().iter().filter(|table| !table.is_list).flat_map(|table| &table.keys);
    let names: Vec<&str> = std::iter::once(COMMAND).chain(keys.map(|(name, _)| name.as_str())).collect();
    format!("there is no key {name}; there are {}", names.join(", "))
}

/// Returns a message about an unknown item outside of all tables.
fn outside(name: &str, is_table: bool) -> String {
    if let Some(table) = tables().iter().find(|table| table.name == name) {
        let wrong = if table.is_list { "is a list of tables" } else { "is no value and no list" };
        return format!("{name} {wrong}; write {}", table.header());
    }
    match (is_table, table_of(name)) {
        (true, _) => no_table(name),
        (false, Some(table)) => {
            format!("{name} stands outside of all tables; it belongs in {}", table.header())
        }
        (false, None) => format!("there is no key {name}; outside of all tables there is only {COMMAND}"),
    }
}

fn expect_table(name: &str) -> Result<&'static Table, String> {
    tables().iter().find(|table| table.name == name).ok_or_else(|| no_table(name))
}

fn no_table(name: &str) -> String {
    let headers: Vec<String> = tables().iter().map(Table::header).collect();
    format!("there is no table [{name}]; there are {}", headers.join(", "))
}

fn check_task(value: &Value) -> Result<(), String> {
    let named = |task: &Task| value.as_str() == Some(&task.to_string());
    if Task::ALL.iter().any(named) {
        return Ok(());
    }
    Err(format!("{} is nothing to do; {}", shown(value), tasks()))
}

fn tasks() -> String {
    let names = Task::ALL.map(|task| format!("{COMMAND} = \"{task}\""));
    format!("write {}", names.join(" or "))
}

/// Parses the value of an override.
///
/// A word without quotes that is no TOML is a string.
fn toml_value(text: &str) -> Result<Value, String> {
    let text = text.trim();
    text.parse().or_else(|error: toml_edit::TomlError| {
        let word = !text.is_empty() && !text.contains(['"', '\'', '[', '{', '\n']);
        if word { Ok(Value::from(text)) } else { Err(format!("`{text}` is no value: {}", error.message())) }
    })
}

/// Reads the text of a job file, or of standard input.
fn text_of(path: &Path) -> io::Result<String> {
    let too_long = || io::Error::other("it has more than 1 MiB, so it is no job file");
    if path == Path::new(STANDARD_INPUT) {
        let mut text = String::new();
        io::stdin().lock().take(MOST_BYTES + 1).read_to_string(&mut text)?;
        return if text.len() as u64 > MOST_BYTES { Err(too_long()) } else { Ok(text) };
    }
    let bytes = input::read(path, MOST_BYTES).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => too_long(),
        _ => error,
    })?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

/// Returns a value with its type, for messages.
fn shown(value: &Value) -> String {
    let text = value.clone().decorated("", "").to_string();
    format!("{text} ({})", value.type_name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_cl::job::OneOrMore;

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
        let file = JobFile::parse(Path::new("job.toml"), text, &overrides).map_err(|e| e.to_string())?;
        file.check().map_err(|invalid| file.refused(invalid).error.to_string())?;
        Ok(file.job)
    }

    /// The README and the book have the job of `examples/hadrons.toml`.
    #[test]
    fn the_job_of_the_documents_is_the_example() {
        let example = job(include_str!("../../../examples/hadrons.toml"), &[]).unwrap();
        let documents = [include_str!("../../../README.md"), include_str!("../../../docs/hadrons.md")];
        for document in documents {
            let (_, block) = document.split_once("```toml\n").unwrap();
            let (text, _) = block.split_once("```").unwrap();
            assert_eq!(job(text, &[]).unwrap(), example);
        }
    }

    #[test]
    fn overrides_replace_values_and_add_some() {
        let overrides = [
            "action.kappa=0.12",
            "solver.tol = 1e-3",
            "ignore-checksum=true",
            "file=\"-a b\"",
            "boundary=periodic",
        ];
        let job = |overrides: &[&str]| job(JOB, overrides).unwrap();
        let plain = job(&[]);
        assert_eq!(plain.command, Task::Spectrum);
        assert_eq!(plain.action.kappa, Some(OneOrMore::One(0.13)));
        assert_eq!((plain.solver.tolerance(), plain.configuration.links.reals()), (1e-8, 12));
        let given = job(&overrides);
        assert_eq!(given.action.kappa, Some(OneOrMore::One(0.12)));
        assert_eq!(given.action.boundary, "periodic".parse().unwrap());
        assert_eq!(given.configuration.file.as_deref(), Some(Path::new("-a b")));
        assert!(given.configuration.ignore_checksum);
        assert_eq!((given.solver.tolerance(), given.solver.solver.name()), (1e-3, "cg"));
        assert_eq!(job(&["command=\"invert\""]).command, Task::Invert);
        assert_eq!(job(&["kappa=[0.1, 0.12]"]).action.couplings().unwrap().len(), 2);
    }

    #[test]
    fn lists_of_sources_and_observables_are_read_and_their_mistakes_named() {
        let lists = "[[source]]\nsource = \"point:0,0,0,0\"\n[[source]]\nsource = \"point:1,0,0,0\"\nlabel = \"b\"\n\
                     [[observable]]\nobservable = \"pion\"\nalong = \"z\"\n";
        let text = format!("{JOB}{lists}");
        let sources = job(&text, &[]).unwrap().labelled_sources().unwrap();
        assert_eq!(sources.len(), 2);
        assert_eq!(sources[1].label, "b");
        let inline = format!("source = [{{ label = \"a\" }}]\n{JOB}");
        assert_eq!(job(&inline, &[]).unwrap().labelled_sources().unwrap()[0].label, "a");
        for (old, new, wanted) in [
            (
                "label = \"b\"",
                "labels = \"b\"",
                &["line 15", "no key source.labels", "[[source]] may have"][..],
            ),
            ("label = \"b\"", "label = 7", &["line 15", "source.label is 7", "a string"]),
            ("label = \"b\"", "label = \"point 0.0.0.0\"", &["line 11", "two sources are called"]),
            ("label = \"b\"", "spin = 1", &["line 15", "source[1].spin is no key of spectrum"]),
            ("point:1,0,0,0", "wall:x", &["line 14", "source = wall:x", "point:x,y,z,t"]),
            ("\"pion\"", "\"kaon\"", &["line 17", "observable = kaon", "choose pion"]),
            ("\"z\"", "\"w\"", &["line 18", "choose x, y, z or t"]),
            ("[[observable]]", "[observable]", &["line 16", "write [[observable]]"]),
        ] {
            assert!(text.contains(old), "{old}");
            let error = job(&text.replacen(old, new, 1), &[]).unwrap_err();
            for wanted in wanted {
                assert!(error.contains(wanted), "{new}: `{wanted}` is not in: {error}");
            }
        }
        let error = job(&format!("{JOB}[source]\nlabel = \"a\"\n"), &[]).unwrap_err();
        assert!(error.contains("line 11") && error.contains("write [[source]]"), "{error}");
        let error = job(&text, &["source.label=a"]).unwrap_err();
        assert!(error.contains("only the file"), "{error}");
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
    fn devices_are_one_or_several() {
        let devices = |text: &str| {
            let job = job(&format!("{JOB}[devices]\ndevice = {text}\n"), &[])?;
            Ok::<_, String>(job.devices.device)
        };
        assert_eq!(devices("\"host\"").unwrap(), Some(OneOrMore::One("host".to_owned())));
        let two = ["0.0", "0.1"].map(str::to_owned).to_vec();
        assert_eq!(devices("[\"0.0\", \"0.1\"]").unwrap(), Some(OneOrMore::More(two)));
        assert!(job(JOB, &["device=0.1"]).unwrap_err().contains("list"));
        assert!(devices("[0, 1]").unwrap_err().contains("a list of strings"));
        assert_eq!(job(JOB, &[]).unwrap().devices.device, None);
    }
}
