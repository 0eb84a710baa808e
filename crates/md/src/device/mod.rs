//! Pair forces on one device.

mod constants;
mod forces;
mod places;
mod program;
mod table;

pub(crate) use forces::OnDevice;
