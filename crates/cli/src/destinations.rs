//! The one rule for the files that a command writes.
//!
//! All of them are checked before the work, by [`Destinations::check`].

use super::failure::Failure;
use lattice_cl::io;
use std::path::{Path, PathBuf};

/// Permission to overwrite files.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Overwriting {
    /// Overwrite files that exist
    #[arg(long, hide_short_help = true)]
    pub force: bool,
}

/// The format of a file, and the endings of names that promise this format.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What is written, with a verb: "plots are SVG".
    says: &'static str,
    endings: &'static [&'static str],
    /// `true` if a name without such an ending is fine.
    any_name: bool,
}

/// A plot.
pub const SVG: Form = Form { says: "plots are SVG", endings: &["svg"], any_name: false };
/// A table for a paper or a spreadsheet.
pub const TABLE: Form =
    Form { says: "tables are LaTeX, CSV or JSON", endings: &["tex", "csv", "json"], any_name: false };
/// An array of numbers.
pub const NPY: Form = Form { says: "arrays are written as .npy", endings: &["npy"], any_name: false };
/// A solution of linear equations.
pub const MATRIX: Form = Form {
    says: "solutions are written as .npy, .mtx or .mtx.gz",
    endings: &["npy", "mtx", "mtx.gz"],
    any_name: false,
};
/// A potential on a mesh.
pub const MESH: Form =
    Form { says: "potentials are written as .cube or .npy", endings: &["cube", "npy"], any_name: false };
/// A page with plots.
pub const HTML: Form = Form { says: "a report is HTML", endings: &["html", "htm"], any_name: true };
/// A timeline.
pub const TRACE: Form = Form { says: "a timeline is JSON", endings: &["json"], any_name: true };
/// The result of a job.
pub const RESULT: Form =
    Form { says: "a result is JSON or HDF5", endings: &["json", "h5", "hdf5"], any_name: true };
/// A trajectory of particles.
pub const XYZ: Form =
    Form { says: "a trajectory is extended XYZ", endings: &["xyz", "extxyz"], any_name: true };
/// Solutions of the Dirac equation.
pub const PROPAGATOR: Form = Form {
    says: "solutions are written as LIME, HDF5 or .npy",
    endings: &["lime", "scidac", "h5", "hdf5", "npy"],
    any_name: true,
};
/// Modes of an operator.
pub const MODES: Form =
    Form { says: "modes have a format of their own", endings: &["modes"], any_name: true };
/// A file whose format is chosen elsewhere.
pub const ANY: Form = Form { says: "", endings: &[], any_name: true };

/// Endings that promise a format to other programs.
const PROMISES: [&str; 16] = [
    "npy", "npz", "mtx", "mtx.gz", "gz", "cube", "svg", "png", "pdf", "html", "htm", "json", "csv", "h5",
    "hdf5", "xyz",
];

impl Form {
    /// Refuses a name that promises another format.
    fn expect(self, option: &str, path: &Path) -> Result<(), Failure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let ends_in = |ending: &&str| name.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.'));
        if self.says.is_empty() || self.endings.iter().any(ends_in) {
            return Ok(());
        }
        if self.any_name && !PROMISES.iter().any(ends_in) {
            return Ok(());
        }
        let promised = PROMISES.iter().find(|ending| ends_in(ending)).filter(|_| self.any_name);
        let wrong = match promised {
            Some(ending) => format!("the name promises .{ending}"),
            None => format!("the name does not end in .{}", self.endings.join(" or .")),
        };
        let better = path.with_extension(self.endings[0]);
        Err(Failure::usage(format!("{option} {}: {}, and {wrong}", path.display(), self.says))
            .hint(format!("write {option} {}", better.display())))
    }
}

/// A file that a command writes.
#[derive(Debug)]
struct Destination {
    /// The option or argument that names it.
    option: &'static str,
    path: PathBuf,
    /// `true` if the file is one of the program's own, which has a rule of its own when it exists.
    is_state: bool,
}

/// The files that a command reads and writes.
#[derive(Debug, Default)]
pub struct Destinations {
    inputs: Vec<PathBuf>,
    outputs: Vec<Destination>,
    /// The first name that promises another format.
    misnamed: Option<Failure>,
}

impl Destinations {
    /// Begins with the files that the command reads.
    pub fn reading(inputs: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { inputs: inputs.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds files that the command writes in this form, with the option that names them.
    pub fn writing(
        mut self,
        option: &'static str,
        form: Form,
        paths: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Self {
        for path in paths {
            let path = path.into();
            if self.misnamed.is_none() {
                self.misnamed = form.expect(option, &path).err();
            }
            self.outputs.push(Destination { option, path, is_state: false });
        }
        self
    }

    /// Adds files that keep a state, which may be there from an earlier run.
    pub fn keeping(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Self {
        let states = paths.into_iter().map(|path| Destination { option, path: path.into(), is_state: true });
        self.outputs.extend(states);
        self
    }

    /// Returns the option that names this file, if the command writes it.
    pub fn option_of(&self, path: &Path) -> Option<&'static str> {
        let found = self.outputs.iter().find(|output| io::is_same_file(&output.path, path));
        found.map(|output| output.option)
    }

    /// Checks all files before any work.
    ///
    /// # Errors
    /// * A file is an input, or two options name one file.
    /// * A file cannot be created.
    /// * A name promises another format than the file has.
    /// * A file exists, and `--force` is not given.
    pub fn check(self, overwriting: Overwriting) -> Result<(), Failure> {
        for (k, Destination { option, path, .. }) in self.outputs.iter().enumerate() {
            if let Some(input) = self.inputs.iter().find(|input| io::is_same_file(path, input)) {
                let message =
                    format!("{option} {} would overwrite the input {}", path.display(), input.display());
                return Err(Failure::usage(message).hint("give it another name"));
            }
            let before = &self.outputs[..k];
            if let Some(other) = before.iter().find(|other| io::is_same_file(&other.path, path)) {
                let message = format!("{} and {option} are both the file {}", other.option, path.display());
                return Err(Failure::usage(message).hint("give one of them another name"));
            }
        }
        self.outputs.iter().try_for_each(|output| io::check_writable(&output.path))?;
        if let Some(failure) = self.misnamed {
            return Err(failure);
        }
        let is_kept = |output: &&Destination| output.path.exists() && !output.is_state && !overwriting.force;
        if let Some(Destination { option, path, .. }) = self.outputs.iter().find(is_kept) {
            let message = format!("{option} {} is there already", path.display());
            return Err(Failure::usage(message).hint("give it another name, or --force to overwrite it"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_promise_another_format_are_refused() {
        let accepts = |form: Form, name: &str| form.expect("--output", Path::new(name)).is_ok();
        for (form, good, bad) in [
            (SVG, &["a.svg", "a.SVG"][..], &["a", "a.png", "svg", ".svg.npy"][..]),
            (MATRIX, &["x.mtx", "a.b/x.mtx.gz", "x.NPY"], &["x", "x.gz", "x.npz", "x.json"]),
            (RESULT, &["a", "a.h5", "a.out", "run.10"], &["a.npy", "a.svg", "a.csv"]),
            (ANY, &["a", "a.npy"], &[]),
        ] {
            good.iter().for_each(|name| assert!(accepts(form, name), "{name}"));
            bad.iter().for_each(|name| assert!(!accepts(form, name), "{name}"));
        }
    }

    #[test]
    fn only_states_may_be_there_already() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("old"), "old").unwrap();
        let check = |force, destinations: Destinations| {
            destinations.check(Overwriting { force }).map_err(|failure| failure.to_string())
        };
        let none = || Destinations::reading([path("in")]);
        assert!(check(false, none().keeping("--checkpoint", [path("old")])).is_ok());
        assert!(check(true, none().writing("--output", ANY, [path("old")])).is_ok());
        let refused = check(false, none().writing("--output", ANY, [path("old")])).unwrap_err();
        assert!(refused.contains("--output") && refused.contains("is there already"), "{refused}");
        let twice = none().writing("--a", ANY, [path("new")]).writing("--b", ANY, [path("./new")]);
        assert!(check(true, twice).unwrap_err().contains("--a and --b"));
        let input = none().writing("--output", ANY, [path("in")]);
        assert!(check(true, input).unwrap_err().contains("would overwrite the input"));
        assert!(check(true, none().writing("--output", ANY, [path("no/such")])).is_err());
    }
}
