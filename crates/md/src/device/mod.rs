//! Pair forces on one device.

mod atoms;
mod constants;
mod forces;
mod motion;
mod neighbours;
mod places;
mod program;
mod rungs;
mod table;
mod tuning;

pub(crate) use forces::OnDevice;
pub(crate) use motion::MovingOnDevice;
pub(crate) use tuning::PairsToTune;
