//! `--checkpoint` and `--resume`: the state of a job in a file.
//!
//! A later run resumes the job from the file. `document` is the text of the file. `session` keeps
//! the file while a job runs, `search` while modes are searched for, `factors` while a dense matrix
//! is factorised. `keeping` has what they share.

mod document;
mod factors;
mod keeping;
mod lock;
mod search;
mod session;

pub use factors::Factoring;
pub use keeping::Identity;
pub use lock::Lock;
pub use session::Session;

use document::Document;
use lattice_cl::io;
use lattice_cl::job::{Interval, Label, Outputs};
use lattice_cli::failure::Failure;
use lattice_cli::ranks::Ranks;
use lattice_cli::report::Report;
use lattice_files::regular::{self, Links};
use std::fs::OpenOptions;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The options about checkpoints.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Interruptions")]
pub struct Checkpointing {
    /// Keep the state of the job in this file, to continue with --resume
    ///
    /// The state is kept at intervals, and when the program is interrupted (Ctrl-C, SIGTERM, SIGHUP). Finished
    /// solutions are kept beside the file. All files are removed when the job is done.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Time between two checkpoints: 90s, 10m, 2h [default: 60s]
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    every: Option<Interval>,
    /// Continue from this checkpoint of the same job, to the same result
    ///
    /// Later states are kept in the file too, unless --checkpoint names another file.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    resume: Option<PathBuf>,
    /// Continue from the file of --checkpoint if it exists, or else begin anew
    ///
    /// Scripts that run again until the job is done use this option.
    #[arg(long, requires = "checkpoint", conflicts_with = "resume", hide_short_help = true)]
    resume_if_present: bool,
}

impl Checkpointing {
    /// Takes the options from a job's outputs.
    pub fn of(outputs: &Outputs) -> Self {
        let Outputs { checkpoint, every, resume, resume_if_present, .. } = outputs.clone();
        Self { checkpoint, every, resume, resume_if_present }
    }

    /// Puts the options into a job.
    pub fn put_into(&self, outputs: &mut Outputs) {
        let Self { checkpoint, every, resume, resume_if_present } = self.clone();
        *outputs = std::mem::take(outputs)
            .with_checkpoint(checkpoint)
            .with_every(every)
            .with_resume(resume)
            .with_resume_if_present(resume_if_present);
    }
}

/// A checkpoint that was read, to resume from.
pub struct Resumed {
    path: PathBuf,
    document: Document,
    blocks: Vec<Vec<u8>>,
}

/// The checkpoints of a job, which no other running job has.
///
/// They are the checkpoint to resume from, if there is one, and the checkpoint to write.
pub struct Taken {
    resumed: Option<Resumed>,
    locks: Vec<Lock>,
    ranks: Ranks,
}

impl Checkpointing {
    /// Tells whether one of the options is given.
    pub fn is_asked(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some() || self.every.is_some()
    }

    /// Returns the file that states are kept in, with the option that names it.
    pub fn file(&self) -> (&'static str, Option<&Path>) {
        match (&self.checkpoint, &self.resume) {
            (None, Some(resume)) => ("--resume", Some(resume)),
            (checkpoint, _) => ("--checkpoint", checkpoint.as_deref()),
        }
    }

    /// Returns the files beside the checkpoint that keep solutions of these solves.
    pub fn solutions<'a>(&self, solves: impl Iterator<Item = &'a Label>) -> Vec<PathBuf> {
        let Some(file) = self.file().1 else { return Vec::new() };
        solves.map(|label| beside(file, label)).collect()
    }

    /// Returns the checkpoint to resume from.
    pub fn resumed_file(&self) -> Option<&Path> {
        let present = self.checkpoint.as_deref().filter(|path| self.resume_if_present && path.exists());
        self.resume.as_deref().or(present)
    }

    /// Takes the files of the job, and reads the checkpoint to resume from.
    ///
    /// `solutions` are the files beside the checkpoint that the job writes.
    ///
    /// # Errors
    /// * When another running job has the files.
    /// * When the checkpoint cannot be read, is damaged or is no checkpoint.
    /// * When `--checkpoint` would overwrite another checkpoint.
    /// * When `--checkpoint` would overwrite files beside it that are no solutions of a checkpoint.
    pub fn take(&self, solutions: &[PathBuf], ranks: &Ranks) -> Result<Taken, Failure> {
        let resumed = self.resumed_file();
        let mut locks = Vec::new();
        // With several processes, the first one has the lock for all.
        if let (option, Some(path)) = self.file()
            && ranks.is_first()
        {
            locks.push(Lock::take(option, path)?);
            if let Some(resume) = resumed.filter(|resume| !io::is_same_file(path, resume)) {
                locks.push(Lock::take("--resume", resume)?);
            }
        }
        if let Some(path) = self.checkpoint.as_deref()
            && path.exists()
            && !resumed.is_some_and(|resume| io::is_same_file(path, resume))
        {
            let message =
                format!("--checkpoint {} is there already, perhaps the state of another job", path.display());
            let hint = format!(
                "go on from it with --resume {}, give --resume-if-present too, or remove it",
                path.display()
            );
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
        let read = |path: &Path| {
            let file = io::read_checkpoint(path).map_err(|error| match path.exists() {
                true => Failure::from(error),
                false => Failure::from(error).hint(
                    "a job that is done removes its state; begin anew without --resume if it is not done",
                ),
            })?;
            let document = Document::read(path, &file.about)?;
            Ok::<_, Failure>(Resumed { path: path.to_owned(), document, blocks: file.blocks })
        };
        Ok(Taken { resumed: resumed.map(read).transpose()?, locks, ranks: ranks.clone() })
    }
}

/// Removes a file of a job that is done.
///
/// A job that was done before the first state was kept has no file.
fn remove(file: &Path, report: &Report) {
    if file.exists()
        && let Err(error) = std::fs::remove_file(file)
    {
        report.warning(format_args!("{} is no longer needed but stays: {error}", file.display()));
    }
}

/// Returns the file of a solution that belongs to a checkpoint.
fn beside(checkpoint: &Path, label: &Label) -> PathBuf {
    let mut name = checkpoint.as_os_str().to_owned();
    name.push(format!(".{}.lime", label.file_name()));
    name.into()
}

/// Words that mark a file as a solution of a checkpoint.
const KEPT_SOLUTION: &str = "solution for a source, part of the checkpoint";

/// Number of bytes at the start of a file that may have [`KEPT_SOLUTION`].
const HEADER_BYTES: u64 = 1 << 12;

/// Tells whether a file is a solution of a checkpoint.
///
/// A job that was killed before it kept a state leaves such files.
fn is_kept_solution(path: &Path) -> bool {
    let mut start = Vec::new();
    let file = regular::open(path, Links::Followed, OpenOptions::new().read(true));
    let read = file.and_then(|file| file.take(HEADER_BYTES).read_to_end(&mut start));
    read.is_ok() && start.windows(KEPT_SOLUTION.len()).any(|words| words == KEPT_SOLUTION.as_bytes())
}
