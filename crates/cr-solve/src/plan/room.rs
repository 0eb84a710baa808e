//! The memory that a job takes, beside the memory that there is.

use lattice_cl::compute::{DeviceIndex, DeviceKind};
use lattice_cl::host::available_memory;
use lattice_cl::job::Needs;
use serde::Serialize;
use std::fmt;

/// Memory of one owner: a device, or the machine with its processors.
#[derive(Clone, Debug, Serialize)]
pub struct Room {
    pub owner: String,
    pub bytes: u64,
    /// `null` if the system does not tell.
    pub available_bytes: Option<u64>,
}

impl Room {
    /// Tells whether there is as much memory as the job takes.
    pub fn fits(&self) -> bool {
        self.available_bytes.is_none_or(|available| self.bytes <= available)
    }

    /// Says what is missing.
    pub fn shortage(&self) -> String {
        format!("it takes {self}")
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, bytes, available_bytes } = self;
        match available_bytes {
            Some(available) => {
                write!(f, "{} of {} of {owner}", bytes_text(*bytes), bytes_text(*available))
            }
            None => write!(f, "{} of {owner}", bytes_text(*bytes)),
        }
    }
}

/// Compares the needs with the memory of each device and of the machine.
///
/// Processors have the memory of the machine. A device that is open several times counts once.
pub fn compare(needs: &Needs) -> Vec<Room> {
    let mut devices: Vec<(DeviceIndex, Room)> = Vec::new();
    let mut of_machine = needs.on_host;
    for need in &needs.devices {
        let info = need.device.info();
        if info.kind == DeviceKind::Cpu {
            of_machine += need.bytes;
            continue;
        }
        let index = need.device.index();
        match devices.iter_mut().find(|(known, _)| *known == index) {
            Some((_, room)) => room.bytes += need.bytes,
            None => {
                let owner = need.device.label().to_owned();
                let room = Room { owner, bytes: need.bytes, available_bytes: Some(info.memory_bytes) };
                devices.push((index, room));
            }
        }
    }
    let owner = "this machine".to_owned();
    let machine = Room { owner, bytes: of_machine, available_bytes: available_memory() };
    devices.into_iter().map(|(_, room)| room).chain([machine]).collect()
}

/// Returns bytes as text.
pub fn bytes_text(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")];
    let unit = units.into_iter().find(|(size, _)| bytes as f64 >= *size);
    let (size, name) = unit.unwrap_or((1e3, "kB"));
    format!("{:.1} {name}", bytes as f64 / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_does_not_fit() {
        let room = |bytes, available_bytes| Room { owner: "a card".to_owned(), bytes, available_bytes };
        assert!(room(5, None).fits() && room(5, Some(5)).fits());
        let short = room(3_000_000, Some(2_000_000));
        assert!(!short.fits());
        assert_eq!(short.shortage(), "it takes 3.0 MB of 2.0 MB of a card");
    }
}
