//! The origin of a result: the program, the machine.

use lattice_compute::Team;
use lattice_compute::tuning::date;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// The commit that the program was built from; `None` if unknown.
pub const COMMIT: Option<&str> = option_env!("LATTICE_CL_COMMIT");

/// The run that made a result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Provenance {
    version: &'static str,
    /// The commit that the program was built from, `null` if unknown.
    commit: Option<&'static str>,
    /// The arguments of the program.
    command: Vec<String>,
    /// The start in UTC, for example 2026-11-21T09:30:05Z.
    started: String,
    /// The name of the machine, `null` if unknown.
    host: Option<String>,
    /// The devices of the run, empty for the host.
    devices: Vec<Driver>,
}

/// A device and its driver.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Driver {
    name: String,
    platform: String,
    driver: String,
}

impl Provenance {
    /// Describes this process, which computes on `team`.
    pub fn new(team: &Team, started: SystemTime) -> Self {
        let driver = |device: &lattice_compute::Device| Driver {
            name: device.info().name.clone(),
            platform: device.info().platform.clone(),
            driver: device.info().driver_version.clone(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: COMMIT,
            command: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            started: moment(started),
            host: host_name(),
            devices: team.devices().iter().map(driver).collect(),
        }
    }
}

impl Provenance {
    /// Returns program, version and moment in a few words.
    pub fn words(&self) -> String {
        let commit = self.commit.map_or_else(String::new, |commit| format!(" ({commit})"));
        format!("cr-solve {}{commit}, {}", self.version, self.started)
    }
}

/// Returns a moment in UTC, to the second.
fn moment(moment: SystemTime) -> String {
    let seconds = moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    format!("{}T{:02}:{:02}:{:02}Z", date::date(day), second / 3600, second / 60 % 60, second % 60)
}

fn host_name() -> Option<String> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named =
        kernel.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (1_793_853_005, "2026-11-05T04:30:05Z"),
        ] {
            assert_eq!(moment(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
