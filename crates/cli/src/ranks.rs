//! The processes of a job under MPI.
//!
//! All of them compute. The first one speaks and writes.

use super::agreement::{About, Facts, expect_alike};
use super::failure::{Failure, Status};
use super::report::Report;
use lattice_compute::DeviceError;
use lattice_compute::mpi::{LastWords, Launcher, World};
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The time that a failed rank gives the others before it ends them.
const PATIENCE: Duration = Duration::from_secs(2);

/// The ranks of this job.
///
/// By default this process is alone.
#[derive(Clone, Debug, Default)]
pub struct Ranks(Option<Arc<World>>);

/// Waits, so that the first rank can report a failure that all ranks have.
///
/// The ranks are not connected yet. A launcher ends all ranks as soon as one has failed.
pub fn leave_the_word_to_the_first(launcher: Option<&Launcher>) {
    if launcher.is_some_and(|launcher| launcher.rank > 0) {
        thread::sleep(PATIENCE / 2);
    }
}

impl Ranks {
    /// Finds the other processes that the launcher has started.
    ///
    /// `words` are said if ranks wait in vain. The process ends then.
    ///
    /// # Errors
    /// When there is no MPI library that fits the launcher.
    pub fn open(launcher: &Launcher, words: LastWords) -> Result<Self, Failure> {
        let world = World::open_with(launcher, words).map_err(DeviceError::from)?;
        tracing::info!("{world:?}");
        if world.size() == 1 {
            world.end(Status::Fine as u8, None);
            return Ok(Self::default());
        }
        Ok(Self(Some(Arc::new(world))))
    }

    /// Compares facts that must be the same on all ranks.
    ///
    /// Every rank calls this function.
    ///
    /// # Errors
    /// The first difference, on all ranks; when the ranks no longer understand each other.
    pub fn expect_alike(&self, about: About, facts: impl FnOnce() -> Facts) -> Result<(), Failure> {
        let Some(world) = &self.0 else { return Ok(()) };
        let own = serde_json::to_vec(&facts()).map_err(|error| Failure::new(Status::Failed, error))?;
        let all = world.gather_any(&own).map_err(DeviceError::from)?;
        let all = all.iter().map(|facts| serde_json::from_slice(facts)).collect::<Result<Vec<Facts>, _>>();
        let all = all.map_err(|error| {
            let error = anyhow::Error::new(error).context("another rank is another version of cr-solve");
            Failure::new(Status::Usage, error)
        })?;
        expect_alike(about, &all)
    }

    /// Parts from the other ranks, all of which part.
    ///
    /// Returns this process alone if it is the first one, which goes on.
    pub fn part(self) -> Option<Self> {
        let is_first = self.is_first();
        if let Some(world) = &self.0 {
            world.end(Status::Fine as u8, None);
        }
        is_first.then(Self::default)
    }

    /// Ends the ranks, some of which refuse their command lines.
    ///
    /// Whoever refuses one has said so if it is the first rank.
    pub fn end_refused(&self) {
        let Some(world) = &self.0 else { return };
        if world.end(Status::Usage as u8, Some(PATIENCE)).is_none() {
            world.abort(Status::Usage as u8);
        }
    }

    /// Returns all ranks, or `None` if there is only one.
    pub fn world(&self) -> Option<&Arc<World>> {
        self.0.as_ref()
    }

    /// Tells whether this rank is the one that speaks and writes.
    pub fn is_first(&self) -> bool {
        self.0.as_ref().is_none_or(|world| world.rank() == 0)
    }

    /// Returns this process's number on its machine, and how many ranks run there.
    pub(crate) fn on_machine(&self) -> [usize; 2] {
        self.0.as_ref().map_or([0, 1], |world| [world.rank_on_node(), world.size_of_node()])
    }

    /// Waits for all ranks.
    ///
    /// # Errors
    /// When the ranks no longer understand each other.
    pub fn wait_for_all(&self) -> Result<(), Failure> {
        match &self.0 {
            Some(world) => Ok(world.barrier().map_err(DeviceError::from)?),
            None => Ok(()),
        }
    }

    /// Returns the answers of all ranks, in the order of the ranks.
    ///
    /// Every rank must call this function.
    ///
    /// # Errors
    /// When the ranks no longer understand each other.
    pub fn answers(&self, own: u8) -> Result<Vec<u8>, Failure> {
        match &self.0 {
            Some(world) => Ok(world.gather(&[own]).map_err(DeviceError::from)?),
            None => Ok(vec![own]),
        }
    }

    /// Returns the text that the first rank has read, on every rank.
    ///
    /// A launcher gives standard input to the first one only.
    ///
    /// # Errors
    /// When the text cannot be read, or the ranks no longer understand each other.
    pub fn text_of_first(&self, read: impl FnOnce() -> io::Result<String>) -> io::Result<String> {
        let Some(world) = &self.0 else { return read() };
        let own = self.is_first().then(read);
        let told = match &own {
            Some(Ok(text)) => [&[1], text.as_bytes()].concat(),
            Some(Err(_)) | None => vec![0],
        };
        let all = world.gather_any(&told).map_err(io::Error::other)?;
        match (own, all[0].split_first()) {
            (Some(own), _) => own,
            (None, Some((1, text))) => Ok(String::from_utf8_lossy(text).into_owned()),
            (None, _) => Err(io::Error::other("the first rank cannot read it")),
        }
    }

    /// Returns the value of the first rank, on every rank.
    ///
    /// The clocks of the ranks differ, so one rank decides.
    ///
    /// # Errors
    /// If the ranks cannot communicate.
    pub fn first_decides<const N: usize>(&self, mut own: [u8; N]) -> Result<[u8; N], Failure> {
        if let Some(world) = &self.0 {
            world.broadcast(0, &mut own).map_err(DeviceError::from)?;
        }
        Ok(own)
    }

    /// Ends all ranks, and returns the status of all.
    ///
    /// A failure is reported once. A rank that fails alone ends the others, which wait for it
    /// somewhere.
    pub fn end(&self, result: Result<Status, Failure>, report: &Report) -> Status {
        if self.is_first()
            && let Err(failure) = &result
        {
            report.failure(failure);
        }
        let own = result.as_ref().map_or_else(|failure| failure.status, |status| *status);
        let Some(world) = &self.0 else { return own };
        let patience = result.is_err().then_some(PATIENCE);
        let all = world.end(own as u8, patience);
        let alone = all.is_none();
        let failed = all.and_then(|all| all.iter().position(|&status| status != Status::Fine as u8));
        if let Err(failure) = &result
            && !self.is_first()
            && (alone || failed == Some(world.rank()))
        {
            report.failure_of_rank(world.rank(), failure);
        }
        if alone {
            world.abort(own as u8);
        }
        // Another rank has failed, although this one came to a good end.
        if own == Status::Fine && failed.is_some() { Status::Failed } else { own }
    }
}
