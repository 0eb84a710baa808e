//! A trajectory that grows while particles move.

use super::model::unwritten;
use lattice_cl::io;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::decimal;
use lattice_files::leftovers::Leftover;
use lattice_md::{Frame, System, xyz_frame};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Frames of extended XYZ.
///
/// They are in a file of the name with `.part` behind it, which is renamed at the end. If there is
/// a checkpoint, the file stays when the motion ends early.
pub struct Trajectory {
    file: File,
    part: PathBuf,
    path: PathBuf,
    bytes: u64,
    stays: bool,
    finished: bool,
    /// Removes the file if a signal ends the program; `None` if the file stays.
    leftover: Option<Leftover>,
}

/// Returns the file in which frames are before a trajectory is complete.
pub fn frames_beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

impl Trajectory {
    /// Opens a trajectory, and keeps so many bytes of it.
    ///
    /// # Errors
    /// When the file cannot be written, or has fewer bytes.
    pub fn open(path: &Path, bytes: u64) -> Result<Self, Failure> {
        let part = frames_beside(path);
        let failed = |error| unwritten(&part, error);
        let mut options = OpenOptions::new();
        options.append(true).create(bytes == 0);
        let file = options.open(&part).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() || metadata.len() < bytes {
            let message = format!("{}: does not have the {bytes} bytes of the checkpoint", part.display());
            return Err(Failure::new(Status::File, anyhow::Error::msg(message))
                .hint("remove the checkpoint to begin anew"));
        }
        file.set_len(bytes).map_err(failed)?;
        let stays = bytes > 0;
        let leftover = (!stays).then(|| Leftover::note(&part));
        Ok(Self { file, path: path.to_owned(), bytes, stays, finished: false, leftover, part })
    }

    /// Appends a frame.
    pub fn append(&mut self, system: &System, frame: &Frame, duration: f64) -> Result<(), Failure> {
        let Frame { step, sums, kinetic, .. } = frame;
        let time = *step as f64 * duration;
        let [energy, kinetic] = [sums.energy, *kinetic].map(|energy| decimal(energy, 12));
        let keys = format!("step={step} time={time} energy={energy} kinetic_energy={kinetic}");
        let text = xyz_frame(system, &frame.positions, &frame.velocities, &keys);
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // Half a frame is none.
            let _ = self.file.set_len(self.bytes);
            return Err(unwritten(&self.part, error));
        }
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Gives up: the file keeps its frames, and its name says that they are not all.
    pub fn give_up(mut self, failure: Failure) -> Failure {
        self.keep();
        failure.hint(format!("{} has the frames before", self.part.display()))
    }

    /// Brings all frames to disk, and returns the bytes that there are.
    pub fn sync(&mut self) -> Result<u64, Failure> {
        self.file.sync_data().map_err(|error| unwritten(&self.part, error))?;
        Ok(self.bytes)
    }

    /// Makes the file stay from now on, because a checkpoint needs it.
    pub fn keep(&mut self) {
        self.stays = true;
        self.leftover = None;
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.sync()?;
        std::fs::rename(&self.part, io::destination(&self.path))
            .map_err(|error| unwritten(&self.path, error))?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Trajectory {
    fn drop(&mut self) {
        if !self.stays && !self.finished {
            // A file that cannot be removed has a name that says what it is.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}
