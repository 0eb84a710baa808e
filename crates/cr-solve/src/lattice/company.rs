//! The ranks that read a file together.

use lattice_cl::compute::mpi::World;
use lattice_cl::host::{Company, Together};
use lattice_cli::failure::Status;
use lattice_cli::ranks::Ranks;
use std::sync::Arc;

/// The exchange of messages about the parts of a file.
struct ByMessages(Arc<World>);

impl Together for ByMessages {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn all(&self, own: Option<&[u8]>) -> Option<Vec<Vec<u8>>> {
        let told = own.map_or_else(|| vec![0], |own| [&[1], own].concat());
        match self.0.gather_any(&told) {
            Ok(all) => all.iter().map(|told| told.strip_prefix(&[1]).map(<[u8]>::to_vec)).collect(),
            // The ranks no longer understand each other.
            Err(error) => {
                tracing::error!("{error}");
                self.0.abort(Status::Failed as u8)
            }
        }
    }
}

/// Returns the ranks that read a file in parts, or `None` if there is only one.
pub fn company(ranks: &Ranks) -> Option<Arc<Company>> {
    let world = ranks.world()?;
    Some(Arc::new(Company::new(Arc::new(ByMessages(Arc::clone(world))))))
}
