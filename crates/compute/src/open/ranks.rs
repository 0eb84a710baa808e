//! A team with the devices of several processes.

use super::handle::Device;
use super::peer_ways::PeerWay;
use crate::error::{DeviceError, Result};
use crate::select::DeviceInfo;
use lattice_mpi::{Post, World};
use std::sync::Arc;

/// The ranks that a team is spread over.
///
/// Each has as many devices, of the same kind in the same order.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    pub world: Arc<World>,
    /// The labels of all devices, rank by rank.
    pub labels: Arc<[String]>,
    /// The way to the memory of other ranks, and the post that hands it over.
    ///
    /// `None` if everything goes by messages.
    pub reach: Option<(PeerWay, Arc<Post>)>,
}

impl Ranks {
    /// Compares the devices of all ranks.
    ///
    /// Every rank calls this once, with its own devices.
    pub fn of(world: &Arc<World>, devices: &[Device]) -> Result<Self> {
        let described: Vec<String> = devices.iter().map(|device| description(device.info())).collect();
        let all = texts(world, &described)?;
        let first = &all[0];
        for (rank, own) in all.iter().enumerate() {
            if own.is_empty() {
                return Err(DeviceError::HostAmongRanks { rank });
            }
            if own != first {
                let lists = [first, own].map(|list| list.join(", "));
                return Err(DeviceError::UnlikeRanks { rank, devices: lists });
            }
        }
        let labels: Vec<String> = devices.iter().map(|device| device.label().to_owned()).collect();
        Ok(Self { world: Arc::clone(world), labels: texts(world, &labels)?.concat().into(), reach: None })
    }
}

/// Returns the properties that decide the memory layout of fields and the kernels.
fn description(info: &DeviceInfo) -> String {
    let [float, double] = [info.native_vector_width_float, info.native_vector_width_double];
    let DeviceInfo { kind, name, platform, compute_units, .. } = info;
    format!("{kind} {name} ({platform}) of {compute_units} units, vectors of {float} and {double}")
}

/// Returns the texts of each rank.
fn texts(world: &World, own: &[String]) -> Result<Vec<Vec<String>>> {
    let all = world.gather_any(own.join("\n").as_bytes())?;
    let lines = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect();
    Ok(all.iter().map(lines).collect())
}
