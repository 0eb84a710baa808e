//! Parts of the examples that time stages.

use lattice_compute::{Device, DeviceOptions, DeviceRecord, Recorder, Selector, Team};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

pub type ExampleResult<T> = Result<T, Box<dyn Error>>;

/// Most kernels that are listed.
const LISTED: usize = 14;

/// The arguments `[DEVICE] [ROUTINE] [N …]`.
pub struct Arguments {
    pub selector: Selector,
    pub routine: String,
    pub sizes: Vec<usize>,
}

impl Arguments {
    /// Reads the arguments of the program.
    pub fn read(routine: &str) -> ExampleResult<Self> {
        let mut arguments = std::env::args().skip(1);
        Ok(Self {
            selector: arguments.next().map_or(Ok(Selector::Auto), |text| text.parse())?,
            routine: arguments.next().unwrap_or_else(|| routine.to_owned()),
            sizes: arguments.map(|text| text.parse()).collect::<Result<_, _>>()?,
        })
    }
}

/// A device, and the same device with a recorder.
pub struct Devices {
    pub plain: Device,
    pub recorded: Device,
    pub recorder: Recorder,
}

impl Devices {
    /// Opens the first device of a selector twice.
    pub fn open(selector: Selector, options: DeviceOptions) -> ExampleResult<Self> {
        let first = |options: &DeviceOptions| -> ExampleResult<Device> {
            let team = Team::select_with([selector.clone()], options)?;
            Ok(team.devices().first().cloned().ok_or("there is no OpenCL device")?)
        };
        let recorder = Recorder::new();
        let plain = first(&options)?;
        let recorded = first(&options.with_recorder(recorder.clone()))?;
        Ok(Self { plain, recorded, recorder })
    }
}

/// Prints the kernels of a record, by the time that they take.
pub fn list_kernels(record: &DeviceRecord) {
    let mut kernels = BTreeMap::<&str, (usize, Duration)>::new();
    for command in &record.commands {
        let (count, time) = kernels.entry(&command.span.name).or_default();
        *count += 1;
        *time += command.span.duration;
    }
    let mut kernels: Vec<_> = kernels.into_iter().collect();
    kernels.sort_by_key(|(_, (_, time))| std::cmp::Reverse(*time));
    for (name, (count, time)) in kernels.into_iter().take(LISTED) {
        println!("  {:9.3} ms in {count:6} of {name}", 1e3 * time.as_secs_f64());
    }
}
