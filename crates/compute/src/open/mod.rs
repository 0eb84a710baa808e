//! Devices that are open, and teams of them.

mod build;
mod common;
mod foreign;
mod handle;
mod known;
mod options;
mod peer_ways;
mod ranks;
mod serve;
mod team;
mod tuning_options;

pub use build::build_programs;
pub use foreign::ForeignHandle;
pub use handle::{AttachmentKey, Device, WeakDevice};
pub use known::OpenDevices;
pub use options::DeviceOptions;
pub(crate) use peer_ways::{COPIES_TO_PEERS, IMPORTS_MEMORY};
pub use peer_ways::{PEER_VARIABLE, PeerWay, PeerWays};
pub(crate) use ranks::Ranks;
pub use serve::serve_compile_requests;
pub use team::Team;
pub use tuning_options::{SearchObserver, SearchProgress, TuningMode};
