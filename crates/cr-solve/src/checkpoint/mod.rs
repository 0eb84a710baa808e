//! `--checkpoint` and `--resume`: the state of a job in a file, to go on from later.
//!
//! `document` is what such a file says, `session` keeps it while a job runs.

mod document;
mod session;

pub use session::{Found, Identity, Session};

use super::failure::Failure;
use document::Document;
use lattice_cl::host::{GaugeConfiguration, Links, plaquette};
use lattice_cl::io;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The options.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Interruptions")]
pub struct Checkpointing {
    /// Keep the state of the job in this file, every now and then and when the program is interrupted (Ctrl-C, SIGTERM), to go on from there
    /// with --resume; finished solutions are kept beside it; all of it is removed when the job is done
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// How often the state is kept: 90s, 10m, 2h [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    every: Option<Duration>,
    /// Go on from this checkpoint of the same job, to the same result; later states are kept in it too, unless --checkpoint names another file
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => f64::NAN,
    };
    let seconds = digits.parse::<f64>().map_or(f64::NAN, |number| number * unit);
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| format!("`{text}` is no length of time; write for example 90s, 10m or 2h"))
}

/// A checkpoint that was read, to go on from.
pub struct Resumed {
    path: PathBuf,
    document: Document,
    blocks: Vec<Vec<u8>>,
}

impl Checkpointing {
    /// The file that states are kept in, with the option that names it.
    pub fn file(&self) -> (&'static str, Option<&Path>) {
        match (&self.checkpoint, &self.resume) {
            (None, Some(resume)) => ("--resume", Some(resume)),
            (checkpoint, _) => ("--checkpoint", checkpoint.as_deref()),
        }
    }

    /// The files beside that one in which solutions for sources of these spins and colours are kept.
    pub fn solutions(&self, sources: impl Iterator<Item = (usize, usize)>) -> Vec<PathBuf> {
        let Some(file) = self.file().1 else { return Vec::new() };
        sources.map(|(spin, colour)| beside(file, spin, colour)).collect()
    }

    /// Reads the checkpoint of `--resume`. `solutions` are the files beside it that the job writes.
    ///
    /// # Errors
    /// When it cannot be read, is damaged or no checkpoint, and when `--checkpoint` would overwrite another one, or files beside it that are no solutions of a
    /// checkpoint.
    pub fn read(&self, solutions: &[PathBuf]) -> Result<Option<Resumed>, Failure> {
        if let Some(path) = self.checkpoint.as_deref()
            && path.exists()
            && !self.resume.as_ref().is_some_and(|resume| io::is_same_file(path, resume))
        {
            let message =
                format!("--checkpoint {} is there already, perhaps the state of another job", path.display());
            let hint = format!("go on from it with --resume {}, or remove it", path.display());
            return Err(Failure::usage(message).hint(hint));
        }
        let (option, _) = self.file();
        if let Some(path) = solutions.iter().find(|path| path.exists() && !is_kept_solution(path)) {
            let message = format!(
                "{option} keeps a solution in {}, which is there already and is something else",
                path.display()
            );
            return Err(
                Failure::usage(message).hint("give the checkpoint another name, or move that file away")
            );
        }
        let Some(path) = &self.resume else { return Ok(None) };
        let file = io::read_checkpoint(path)?;
        let document = Document::read(path, &file.about)?;
        Ok(Some(Resumed { path: path.clone(), document, blocks: file.blocks }))
    }
}

/// The file of a solution that belongs to a checkpoint.
fn beside(checkpoint: &Path, spin: usize, colour: usize) -> PathBuf {
    let mut name = checkpoint.as_os_str().to_owned();
    name.push(format!(".{spin}-{colour}.lime"));
    name.into()
}

/// How such a file says what it is.
const KEPT_SOLUTION: &str = "solution for a source, part of the checkpoint";

/// Bytes at the start of a file in which it says so.
const HEADER_BYTES: u64 = 1 << 12;

/// Whether this is such a file: one that a job has left which was killed before it kept a state.
fn is_kept_solution(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEADER_BYTES).read_to_end(&mut start));
    read.is_ok() && start.windows(KEPT_SOLUTION.len()).any(|words| words == KEPT_SOLUTION.as_bytes())
}

/// What tells a configuration from others: a sum over its links, and its plaquette for people.
pub fn fingerprint(configuration: &GaugeConfiguration) -> String {
    let mut sum = blake3::Hasher::new();
    match configuration.links() {
        Links::Single(links) => links.iter().for_each(|link| add(&mut sum, &link.0)),
        Links::Double(links) => links.iter().for_each(|link| add(&mut sum, &link.0)),
    }
    let plaquette = plaquette(configuration).average;
    format!("plaquette {plaquette:.12}, BLAKE3 {}", &sum.finalize().to_hex()[..16])
}

fn add(sum: &mut blake3::Hasher, numbers: &impl bytemuck::NoUninit) {
    sum.update(bytemuck::bytes_of(numbers));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_units() {
        let seconds = |text| duration(text).map(|time| time.as_secs_f64());
        for (text, wanted) in
            [("90s", 90.0), ("10m", 600.0), ("2h", 7200.0), ("1.5", 1.5), ("250ms", 0.25), ("0s", 0.0)]
        {
            assert_eq!(seconds(text), Ok(wanted), "{text}");
        }
        for text in ["", "s", "ten", "-1s", "1d", "NaN", "infs", "1e300h", "ß"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
