//! Remarks on unexpected properties of the selected devices.

use super::discovery::DiscoveredDevice;
use super::selector::Selector;
use std::fmt;

/// A remark on a selection of devices that a program should print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// A part of a name fits several devices of one kind, and the first was taken.
    FirstOfSeveral {
        /// The part of a name.
        wanted: String,
        /// The indices of all devices that it fits, the taken one first.
        matches: Vec<String>,
    },
    /// A device was selected several times.
    Repeated {
        /// The device's label.
        device: String,
        /// Number of times that the device was selected.
        times: usize,
    },
    /// Devices are left out because each process on a machine takes as many as the others.
    Idle {
        /// The devices' labels.
        devices: Vec<String>,
        /// Number of processes.
        processes: usize,
    },
    /// A device was left out because it does not compute in double precision.
    NoDoublePrecision {
        /// The device's label.
        device: String,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::FirstOfSeveral { wanted, matches } => {
                let (first, others) = matches.split_first().expect("a name that fits a device");
                let all = if others.len() == 1 { "both" } else { "several" };
                let (count, others) = (matches.len(), others.join(", "));
                write!(f, "`{wanted}`: {count} devices match; taking {first} (name {others}, or {all})")
            }
            Remark::Repeated { device, times } => {
                let times = if *times == 2 { "twice".to_owned() } else { format!("{times} times") };
                write!(f, "device {device} was given {times}: it is opened {times}, and its shares compete")
            }
            Remark::Idle { devices, processes } => write!(
                f,
                "{} left out: each of the {processes} processes on a machine takes as many devices",
                match &devices[..] {
                    [device] => format!("device {device} is"),
                    several => format!("devices {} are", several.join(", ")),
                }
            ),
            Remark::NoDoublePrecision { device } => write!(
                f,
                "device {device} is left out: it has no double precision (cl_khr_fp64), in which all sums are made"
            ),
        }
    }
}

/// Makes the remarks on selectors and the devices that each of them fits.
///
/// The device that is taken comes first.
pub(crate) fn remarks_on(selectors: &[Selector], matches: &[Vec<&DiscoveredDevice>]) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for (selector, matches) in selectors.iter().zip(matches).filter(|(_, matches)| matches.len() > 1) {
        let matches = matches.iter().map(|found| found.index.to_string()).collect();
        remarks.push(Remark::FirstOfSeveral { wanted: selector.to_string(), matches });
    }
    for (number, device) in matches.iter().map(|found| found[0]).enumerate() {
        let same = |found: &&Vec<&DiscoveredDevice>| found[0].index == device.index;
        let times = matches.iter().filter(same).count();
        let first = matches.iter().position(|found| found[0].index == device.index) == Some(number);
        if first && times > 1 {
            remarks.push(Remark::Repeated { device: device.label(), times });
        }
    }
    remarks
}
